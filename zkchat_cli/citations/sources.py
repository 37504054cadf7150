"""What an answer may cite: the chunks that were in its prompt, by number and by the name of their
note.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import NamedTuple

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.citations.support import Evidence
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.links.wikilinks import LinkName, WrittenLink, fold_name, link_key, resolve

MatchingNotes = Callable[[str], tuple[str, ...]]
"""The notes that a link or path may mean, the likeliest first."""


class _Misfit(NamedTuple):
    """What a chunk lacks of what a mark says about it, the most important first: sorted, the chunk
    that fits best is the first.
    """

    lacks_uncut_words: bool
    lacks_words: bool
    lacks_heading: bool
    lacks_line: bool


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
        self.by_number = {chunk.number: chunk for chunk in chunks if chunk.number is not None}
        # Few of the chunks are cited
        self.quotable_chunk = cache(lambda number: QuotableChunk(self.by_number[number]))
        self.evidence = cache(lambda number: Evidence(self.by_number[number]))
        self.matching_notes = cache(self._matching_notes)
        self.numbers_with = cache(self._numbers_with)
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

    def _numbers_with(self, quote: str) -> tuple[int, ...]:
        """The numbers of the sources with these words, even if they are cut."""
        return tuple(
            number for number in sorted(self.by_number) if self.quotable_chunk(number).locate(quote)
        )

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
        numbers = [number for note in notes for number in self._numbers[note]]
        return min(
            numbers,
            key=lambda number: _misfit(self.quotable_chunk(number), quote, heading, line),
        )

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


def _misfit(
    source: QuotableChunk, quote: str | None, heading: str | None, line: int | None
) -> _Misfit:
    chunk = source.chunk
    place = source.locate(quote) if quote else None
    return _Misfit(
        lacks_uncut_words=place is None or place.verdict != "verified",
        lacks_words=place is None,
        lacks_heading=not heading or not _has_heading(source, heading),
        lacks_line=line is None or not chunk.start_line <= line <= chunk.end_line,
    )


def _has_heading(source: QuotableChunk, heading: str) -> bool:
    """Whether this heading, or the last of `A#B`, is above the chunk or in it."""
    wanted = fold_name(heading.rpartition("#")[2].strip())
    texts = [each.text for each in source.headings]
    return wanted in map(fold_name, [source.chunk.heading or "", *texts])
