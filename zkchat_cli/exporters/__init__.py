"""Registry of export formats: each module declares `EXPORTER`, and a new format is one new module."""

import sys

from zkchat_cli import registry
from zkchat_cli.errors import UsageError
from zkchat_cli.exporters.base import Exporter


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def exporter(name: str) -> Exporter:
    """The format of that name. Raises UsageError that names the valid ones."""
    if name not in names():
        raise UsageError(f"{name!r} is not an export format", f"Use one of: {', '.join(names())}")
    found: Exporter = registry.load(sys.modules[__name__], name, "EXPORTER")
    return found
