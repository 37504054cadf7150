"""Resolved links, and the state of the index."""

from typing import Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import ReferenceStatus


class LinkResolution(Value):
    """One link of a text and its target. `candidates` are paths: the nearest notes of a broken link, the other matches of an ambiguous one.

    `reason` says why an ambiguous link got its target.
    """

    raw: str
    kind: Literal["wikilink", "markdown"]
    target: str | None
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    status: ReferenceStatus
    candidates: tuple[str, ...] = ()
    via: Literal["alias", "title"] | None = None
    reason: str | None = None
    line: int = 1
    text: str = ""
    """The written target: `a` for `[[a#h|b]]`."""
    end: int = 0
    """The end of the link in the text."""


class SemanticStatus(Value):
    """How far search by meaning has come: the windows of all chunks, estimated until it is complete, and those with a vector."""

    provider: str
    model: str
    windows: int
    embedded: int
    complete: bool


class IndexReport(Value):
    """The size of the index and the changes of the last refresh; `problems` names notes that were skipped or decoded with errors."""

    notes: int
    chunks: int
    links: int
    broken_links: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0
    semantic: SemanticStatus | None = None
    """Of search by meaning; None if it is off."""
    problems: tuple[str, ...] = ()
    rebuilt: str | None = None
    """Why the whole index was rebuilt, if it was."""
