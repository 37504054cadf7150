"""Registry: one command, or group of commands, per file. Each declares `COMMAND`; the first line of
its docstring is its help.
"""

from typing import Any

from zkchat_cli.registry import Registry

COMMANDS: Registry[Any] = Registry(__name__, "COMMAND")
