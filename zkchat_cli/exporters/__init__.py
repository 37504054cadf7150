"""The drawer of export formats: each file here declares `EXPORTER`, and a new format is one new file.

An exporter turns a ConversationArchive into text and does nothing else; where the text goes is the caller's business.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli import drawer
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ConversationArchive


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format by the `name` one types; `suffix` (`.md`) for files of it, `help` in a few words."""

    name: str
    suffix: str
    help: str
    export: Callable[[ConversationArchive], str]


def names() -> list[str]:
    return drawer.names(sys.modules[__name__])


def exporter(name: str) -> Exporter:
    """The format of that name. Raises UsageError that names the valid ones."""
    if name not in names():
        raise UsageError(f"{name!r} is not an export format", f"Use one of: {', '.join(names())}")
    found: Exporter = drawer.take(sys.modules[__name__], name, "EXPORTER")
    return found
