"""Where the blocks of Logseq are, by their ids.

Logseq writes an id below its block, and nothing says in which file. So the newest notes are read
once, at the first text that shows a block, and again after notes have changed: 0.11 ms for each.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.program_marks import UUID
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.note_reader import NoteReader
from zkchat_cli.vault.sections import LineSpan

# Notes that are looked through for ids, which takes a second
MOST_NOTES = 10_000
# Lines of a block that belong to it
MOST_LINES = 12
_ID = lazy_pattern(rf"[ \t]*(?:[-*+][ \t]+)?id::[ \t]*(?P<id>{UUID})[ \t]*")
_ITEM = lazy_pattern(rf"[ \t]*{LIST_MARKER}[ \t]")


class BlockPlace(NamedTuple):
    """Where a block is: the lines of a note."""

    path: str
    lines: LineSpan


class BlockPlaces:
    """Where the blocks of the newest notes are, by their ids; read again if notes have changed."""

    def __init__(self, reader: NoteReader) -> None:
        self._reader = reader
        self._places: dict[str, BlockPlace] = {}
        self._newest: tuple[int, int] | None = None

    def find(self, notes: Sequence[NoteEntry], wanted: Iterable[str]) -> dict[str, BlockPlace]:
        """The places of these blocks that there are in the notes."""
        newest = (len(notes), max((note.changed for note in notes), default=0))
        if newest != self._newest:
            self._newest = newest
            self._places = {}
            for note in notes:
                text = self._reader.read_if_there(note.path) or ""
                for block_id, lines in _blocks_with_ids(text):
                    self._places.setdefault(block_id, BlockPlace(note.path, lines))
        return {each: self._places[each] for each in wanted if each in self._places}


def _blocks_with_ids(text: str) -> Iterator[tuple[str, LineSpan]]:
    """The ids in a text, and the lines of the block of each."""
    if "id::" not in text:
        return
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if "id::" in line and (found := _ID.fullmatch(line)):
            yield found["id"].lower(), _block_around(number, lines)


def _block_around(line: int, lines: Sequence[str]) -> LineSpan:
    """The lines of the item that an id belongs to, without what is nested in it."""
    first = line
    while first > 1 and not _ITEM.match(lines[first - 1]) and line - first < MOST_LINES:
        first -= 1
    last = line
    while last < len(lines) and last - line < MOST_LINES and _continues(lines[last]):
        last += 1
    return LineSpan(first, last)


def _continues(line: str) -> bool:
    return bool(line.strip()) and line[:1].isspace() and not _ITEM.match(line)
