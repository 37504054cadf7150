"""The drawer of export formats: each file here declares `EXPORTER`, and a new format is one new file.

An exporter turns a conversation into text and does nothing else; where the text goes is the caller's business. Most of them are made
from the ConversationArchive, and what the readable ones ask of it stands here once.
"""

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
