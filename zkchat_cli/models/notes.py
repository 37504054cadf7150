"""What is found out about notes."""

from typing import Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import ReferenceStatus


class LinkResolution(Value):
    """One link of a text and what it points to. `candidates` are paths: the nearest notes of a broken link, the losers of an ambiguous.

    `reason` says what the target of an ambiguous link has over the first of the losers.
    """

    raw: str
    kind: Literal["wikilink", "markdown"]
    target: str | None
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    status: ReferenceStatus
    candidates: tuple[str, ...] = ()
    via: Literal["alias"] | None = None
    reason: str | None = None
    line: int = 1
    text: str = ""
    """The target as it was written, trimmed: `a` for `[[a#h|b]]`."""
    end: int = 0
    """Of a wikilink: where in the text it ends."""


class IndexReport(Value):
    """What the index holds and what the last refresh did; `problems` names notes that were skipped or read with replacement."""

    notes: int
    chunks: int
    links: int
    broken_links: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0
    semantic: bool = False
    """Whether every chunk has a vector, so that all notes are found by their meaning."""
    vectors: int | None = None
    """How many chunks have one; None when there is no search by meaning."""
    problems: tuple[str, ...] = ()
    rebuilt: str | None = None
    """Why the whole index was made anew (damaged, of another version), when it was."""
