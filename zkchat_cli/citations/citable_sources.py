"""The chunks that were in the prompt of an answer, by number and by the names of their notes."""

from collections.abc import Callable, Iterable
from functools import cache, cached_property

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.citations.support import Evidence
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.links.resolver import LinkName, resolve
from zkchat_cli.vault.links.wikilinks import WrittenLink, fold_name, link_key

EarlierChunk = Callable[[int], tuple[ContentChunk, str] | None]
"""The chunk of an earlier prompt with this number, and the current text of its note."""


class CitableSources:
    """Made for one answer. Chunks without a number cannot be cited; of several with the same number the last counts."""

    def __init__(self, chunks: Iterable[ContentChunk], earlier: EarlierChunk = lambda _: None) -> None:
        self.by_number = by_number = {chunk.number: chunk for chunk in chunks if chunk.number is not None}
        self.quotable_chunk = cache(lambda number: QuotableChunk(by_number[number]))  # few of the chunks are cited
        self.evidence = cache(lambda number: Evidence(by_number[number]))
        self._earlier = earlier
        self._notes: dict[str, tuple[str, ...]] = {}

    def earlier_chunk(self, number: int, quote: str) -> QuotableChunk | None:
        """The current note behind a number of an earlier prompt, if both what was sent then and the note contain the quotation."""
        found = self._earlier(number)
        if found is None or QuotableChunk(found[0]).locate(quote) is None:
            return None
        chunk, text = found
        note = QuotableChunk(chunk.model_copy(update={"text": text, "start_line": 1, "end_line": text.count("\n") + 1}))
        return note if note.locate(quote) else None

    def matching_notes(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a link or path may mean, the likeliest first; matched as wikilinks are, then by title."""
        if name not in self._notes:
            resolved = resolve(WrittenLink("", "wikilink", name), None, lambda of: self._names.get(of, ()))
            self._notes[name] = (resolved.target, *resolved.candidates) if resolved.target else ()
        return self._notes[name]

    def choose_chunk(self, notes: Iterable[str], quote: str | None, heading: str | None, line: int | None) -> int:
        """The number of the chunk of these notes with the quoted words, else under the heading, else with the line, else the first."""
        wanted = fold_name(heading.rpartition("#")[2].strip()) if heading else "\n"

        def misses(number: int) -> tuple[bool, ...]:
            source = self.quotable_chunk(number)
            chunk, place = source.chunk, source.locate(quote) if quote else None
            headings = (chunk.heading or "", *(text for _, text in source.headings))
            return (
                place is None or place.verdict != "verified",
                place is None,
                wanted not in map(fold_name, headings),
                line is None or not chunk.start_line <= line <= chunk.end_line,
            )

        return min((number for note in notes for number in self._numbers[note]), key=misses)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number in sorted(self.by_number):
            numbers.setdefault(self.by_number[number].relative_path, []).append(number)
        return numbers

    @cached_property
    def _names(self) -> dict[str, list[LinkName]]:
        names: dict[str, dict[LinkName, None]] = {}
        for chunk in self.by_number.values():
            path, title = chunk.relative_path, chunk.title
            names.setdefault(link_key(path), {})[LinkName(path, "note", path.rpartition("/")[2])] = None
            names.setdefault(link_key(title), {})[LinkName(path, "alias", title)] = None
        return {name: list(found) for name, found in names.items()}
