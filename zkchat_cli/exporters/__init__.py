"""The registry of export formats: each module declares `EXPORTER`, and a new format is one new
module.
"""

from zkchat_cli.errors import UsageError
from zkchat_cli.exporters.base import Exporter
from zkchat_cli.registry import Registry

EXPORTERS: Registry[Exporter] = Registry(__name__, "EXPORTER")
names = EXPORTERS.names


def exporter(name: str) -> Exporter:
    """The format with this name. Raises UsageError, which names the valid ones."""
    if name not in names():
        raise UsageError(f"{name!r} is not an export format", f"Use one of: {', '.join(names())}")
    return EXPORTERS.load(name)
