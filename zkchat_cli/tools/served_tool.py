"""The interface of a tool for other programs: a function of the served vault and the arguments.

The Model Context Protocol's SDK makes the schemas from the function's signature: pydantic's `Field`
says what an argument may be, and a `TypedDict` what the result is. (A docstring of a `TypedDict`
would become part of the schema, so they have none.)
"""

import inspect
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypedDict

from pydantic import Field

from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault.index.values import LinkRow, Progress
from zkchat_cli.vault.vault import SCAN_SECONDS, Vault

# Links of a note in one answer
MOST_LINKS = 100
Document = dict[str, Any]
Note = Annotated[
    str,
    Field(description="Path of a note in the vault, its name, or a [[wikilink]].", max_length=4096),
]
Query = Annotated[str, Field(description="Words to search for.", max_length=20_000)]
Text = Annotated[str, Field(max_length=1_000_000)]
Day = Annotated[
    str | None,
    Field(description='A date such as 2024-05-01, 2024-05 or "last week".', max_length=100),
]
Tag = Annotated[
    str | None, Field(description="Only notes with this tag or one nested in it.", max_length=1000)
]


@dataclass(slots=True)
class ServedVault:
    """The vault that a server serves. Its tools run in several threads at the same time.

    `search_conversations` searches the stored conversations with these notes for words, and returns
    at most the given number of messages. Without it, clients have no conversations to search.
    """

    vault: Vault
    search_conversations: Callable[[str, int], list[Document]] | None = None
    counter: TokenCounter = field(default_factory=TokenCounter)
    _scanned_at: float = float("-inf")
    _scanning: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, progress: Progress | None = None) -> None:
        """Update the index, unless that was done just now. Raises VaultError if the vault is
        missing.
        """
        with self._scanning:
            if time.monotonic() - self._scanned_at >= SCAN_SECONDS:
                self.vault.refresh(progress=progress)
                self._scanned_at = time.monotonic()


class ServedTool(NamedTuple):
    """What other programs may call. It never changes anything."""

    name: str
    description: str
    # Called with the ServedVault and the arguments by name; returns a TypedDict
    run: Callable[..., Any]
    # Position in the list of tools, most used first; positions are in steps of ten, so that others
    # fit between
    order: int
    # Whether the vault must exist, and is scanned before a call
    reads_notes: bool = True
    # Whether it needs the conversations, which not every client may search
    reads_conversations: bool = False


def declare_served_tool(
    run: Callable[..., Any],
    *,
    order: int,
    reads_notes: bool = True,
    reads_conversations: bool = False,
) -> ServedTool:
    """The tool that a function describes by its docstring and its parameters after the first."""
    # A docstring is wrapped for readers of the code; blank lines separate its paragraphs.
    paragraphs = (inspect.getdoc(run) or "").split("\n\n")
    description = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return ServedTool(run.__name__, description, run, order, reads_notes, reads_conversations)


class NoteLinks(TypedDict):
    relative_path: str
    links: list[Document]
    more: str | None


def note_links(path: str, rows: list[LinkRow]) -> NoteLinks:
    """The document of a note's links, up to MOST_LINKS of them."""
    left = len(rows) - MOST_LINKS
    more = None
    if left > 0:
        more = f"{left} more are not shown; `zkchat vault links` and `backlinks` print all."
    shown = [row._asdict() for row in rows[:MOST_LINKS]]
    return {"relative_path": path, "links": shown, "more": more}
