"""What an answer may cite: the chunks that were in its prompt, by number and by the name of their
note.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache, cached_property

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.citations.support import Evidence
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.links.wikilinks import LinkName, WrittenLink, fold_name, link_key, resolve

MatchingNotes = Callable[[str], tuple[str, ...]]
"""The notes that a link or path may mean, the likeliest first."""


class CitableSources:
    """The chunks that one answer may cite. Those without a number cannot be cited; of several with
    the same number the last counts.
    """

    def __init__(
        self,
        chunks: Iterable[ContentChunk],
        earlier: Callable[[int], tuple[ContentChunk, str] | None] = lambda _: None,
    ) -> None:
        """`earlier`: the chunk of an earlier prompt with this number, and the current text of its
        note.
        """
        self.by_number = by_number = {
            chunk.number: chunk for chunk in chunks if chunk.number is not None
        }
        # Few of the chunks are cited
        self.quotable_chunk = cache(lambda number: QuotableChunk(by_number[number]))
        self.evidence = cache(lambda number: Evidence(by_number[number]))
        self.matching_notes = cache(self._matching_notes)
        self._earlier = earlier

    def source(self, number: int, quote: str | None) -> QuotableChunk | None:
        """The chunk with this number; for one of an earlier prompt the current note, if both what
        was sent then and the note contain the quotation.
        """
        if number in self.by_number:
            return self.quotable_chunk(number)
        if quote is None:
            return None
        earlier = self._earlier(number)
        if earlier is None:
            return None
        chunk, text = earlier
        if QuotableChunk(chunk).locate(quote) is None:
            return None
        whole = {"text": text, "start_line": 1, "end_line": text.count("\n") + 1}
        note = QuotableChunk(chunk.model_copy(update=whole))
        return note if note.locate(quote) else None

    def _matching_notes(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a link or path may mean, the likeliest first; matched as
        wikilinks are, then by title.
        """
        link = WrittenLink("", "wikilink", name)
        resolved = resolve(link, None, lambda key: self._names.get(key, ()))
        return (resolved.target, *resolved.candidates) if resolved.target else ()

    def choose_chunk(
        self, notes: Iterable[str], quote: str | None, heading: str | None, line: int | None
    ) -> int:
        """The number of the chunk of these notes with the quoted words, else under the heading,
        else with the line, else the first.
        """
        wanted = fold_name(heading.rpartition("#")[2].strip()) if heading else "\n"

        def misses(number: int) -> tuple[bool, ...]:
            """What the chunk lacks of it, the most important first."""
            source = self.quotable_chunk(number)
            chunk = source.chunk
            place = source.locate(quote) if quote else None
            headings = (chunk.heading or "", *(text for _, text in source.headings))
            return (
                place is None or place.verdict != "verified",
                place is None,
                wanted not in map(fold_name, headings),
                line is None or not chunk.start_line <= line <= chunk.end_line,
            )

        numbers = [number for note in notes for number in self._numbers[note]]
        return min(numbers, key=misses)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The numbers of each note's chunks, sorted."""
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for number in sorted(self.by_number):
            numbers[self.by_number[number].relative_path].append(number)
        return numbers

    @cached_property
    def _names(self) -> dict[str, list[LinkName]]:
        names: defaultdict[str, list[LinkName]] = defaultdict(list)
        for path in dict.fromkeys(chunk.relative_path for chunk in self.by_number.values()):
            names[link_key(path)].append(LinkName(path, "note", path.rpartition("/")[2]))
        titles = ((chunk.relative_path, chunk.title) for chunk in self.by_number.values())
        for path, title in dict.fromkeys(titles):
            names[link_key(title)].append(LinkName(path, "alias", title))
        return names
