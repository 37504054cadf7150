"""Links as they can be cited: the line each stands on, word for word, as a chunk."""

from collections.abc import Callable, Iterable

from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.index.database import LinkRow, chunk
from zkchat_cli.vault.note_parser import ParsedNote


def of(rows: Iterable[LinkRow], parsed: Callable[[str], ParsedNote | None]) -> list[ContentChunk]:
    """A chunk per row, in order; links of one line share it. `parsed` is asked once per note, and may know nothing of it any more."""
    notes: dict[str, ParsedNote | None] = {}
    found: list[ContentChunk] = []
    for row in rows:
        if row.source not in notes:
            notes[row.source] = parsed(row.source)
        found.append(_quotation(row, notes[row.source]))
    return found


def _quotation(row: LinkRow, note: ParsedNote | None) -> ContentChunk:
    """The line as the note has it now; of a line cut into passages the one with the link. What is gone is quoted from the index."""
    title = note.title if note else row.source
    for passage in note.chunks if note else ():
        if passage.start_line <= row.line <= passage.end_line:
            line = passage.text.split("\n")[row.line - passage.start_line]
            if row.raw in line:
                return chunk(row.source, title, passage.heading, row.line, row.line, line)
    return chunk(row.source, title, None, row.line, row.line, row.context_snippet)
