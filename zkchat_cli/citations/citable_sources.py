"""What a text may cite, and the marks that cite it: which notes a name, a path or a footnote means, and which marks are only links, years
or array indexes."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple, Protocol

from zkchat_cli.citations import marks
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotations import find_quotations
from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.citations.support import Evidence
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER
from zkchat_cli.vault.links.resolver import LinkName, resolve
from zkchat_cli.vault.links.wikilinks import WrittenLink, fold_name, link_key

_YEARS = range(1000, 3000)
_MAX_NAME_WORDS = 12
"""Words of a file name that a text may write without brackets."""
_BEFORE_WORD = lazy_pattern(r"(?<!\S)[(\[{<\"'“‘«*_]*(?=\S)")
PAGE = lazy_pattern(r"(?:https?://|\bwww\.|\bdoi\.org/|\bdoi:\s?)[^\s<>()\[\]\"“”]+(?<![.,;:])", re.IGNORECASE)
"""The address of a page of the web."""
_LABEL_MARGIN = 12
"""Characters before a label on its line: markers of a list, quote or heading, and emphasis."""
_LABEL_BEGINS = lazy_pattern(r"(?:\A|\n)[ \t*_#>-]*\Z")
_LABEL_ENDS = lazy_pattern(r"[*_]{0,3}[ \t]?:[*_]{0,3}[ \t]{0,3}(?:\n|\Z)")


class Sources(Protocol):
    """The notes that a text may cite: the chunks by number, and by a link or path the notes that it may mean, the likeliest first."""

    @property
    def by_number(self) -> Mapping[int, ContentChunk]: ...

    def matching_notes(self, name: str) -> tuple[str, ...]: ...


class CitableSources:
    """Made for one answer. Chunks without a number cannot be cited; of several with the same number the last counts."""

    def __init__(self, chunks: Iterable[ContentChunk], earlier: Callable[[int], tuple[ContentChunk, str] | None] = lambda _: None) -> None:
        """`earlier`: the chunk of an earlier prompt with this number, and the current text of its note."""
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


class CitingMark(NamedTuple):
    """A mark that cites; if it cites by name, the `notes` that may be meant."""

    mark: CitationMark
    notes: tuple[str, ...] = ()
    defined: tuple[int, ...] = ()
    """Its numbers that the text defines."""


class Footnote(NamedTuple):
    """What the definition of a number says: the notes that it names, its quotations, and the address of a page in it, if any."""

    notes: tuple[str, ...]
    quotes: tuple[str, ...]
    page: str


def read_footnotes(reading: marks.CitationMarkParser, text: str, sources: Sources) -> dict[int, Footnote]:
    """What the text's definitions of numbers name and quote."""
    found: dict[int, Footnote] = {}
    for mark in reading.marks:
        if mark.defines:
            end = text.find("\n", mark.end)
            definition = text[mark.end + 1 : end if end >= 0 else len(text)]
            found |= dict.fromkeys(mark.numbers, read_footnote(definition, sources))
    return found


def read_footnote(definition: str, sources: Sources) -> Footnote:
    named = citing_marks(marks.find_marks(definition), definition, sources, {})
    notes = tuple(dict.fromkeys(note for cited in named for note in cited.notes))
    quotes = tuple(quotation.words for quotation in find_quotations(definition, definition))
    page = PAGE.search(definition)
    return Footnote(notes, quotes, page[0] if page else "")


def citing_marks(written: Sequence[CitationMark], answer: str, sources: Sources, footnotes: Mapping[int, Footnote]) -> Iterator[CitingMark]:
    """The marks that cite, paths with all their words. A link to a note that is no source is only a link."""
    known = sources.by_number
    end = 0
    for mark in written:
        before = answer[mark.start - 1 : mark.start] if mark.start else ""
        defined = tuple(number for number in mark.numbers if number in footnotes)
        numbers = tuple(number for number in mark.numbers if number not in footnotes or number in known)
        if defined and before == "]" and mark.start != end and any(footnotes[n].page for n in defined):
            pass  # `[text][1]` is a link to the defined address
        elif mark.numbers and not numbers:
            if notes := tuple(note for number in defined for note in footnotes[number].notes):
                yield CitingMark(mark._replace(numbers=()), notes, defined)
        elif mark.name is None:
            is_year = all(number in _YEARS and number > max(known, default=0) for number in mark.numbers)
            after_word = answer[mark.start] == "[" and answer[mark.start + 1].isdigit() and before.isascii() and before.isalpha()
            if not is_year and (not after_word or known.keys() & set(mark.numbers)):  # else it is an array index
                yield CitingMark(mark._replace(numbers=numbers), defined=tuple(n for n in defined if n in numbers))
        elif answer[mark.start] == "[":
            line_before = answer[max(0, mark.start - _LABEL_MARGIN) : mark.start]
            names_subject = _LABEL_ENDS.match(answer, mark.end) and _LABEL_BEGINS.search(line_before)  # of the lines below
            if not names_subject and (notes := sources.matching_notes(mark.name)):
                yield CitingMark(mark, notes)
        else:
            for start in _possible_starts(mark, answer, end):
                if notes := sources.matching_notes(answer[start : mark.start + len(mark.name)]):
                    yield CitingMark(mark._replace(start=start), notes)
                    break
        end = mark.end


def _possible_starts(mark: CitationMark, text: str, earliest: int) -> Iterator[int]:
    """Where a path may begin: at a word before it, because file names may have several words, at the mark, or after CJK text before it."""
    assert mark.name is not None
    line = max(earliest, mark.start - marks.MAX_PATH_LENGTH, 0)
    line = max(line, text.rfind("\n", line, mark.start) + 1)
    yield from [found.end() + line for found in _BEFORE_WORD.finditer(text[line : mark.start])][-_MAX_NAME_WORDS:]
    yield mark.start
    for found in CJK_CHARACTER.finditer(text, mark.start, mark.start + len(mark.name)):
        yield found.end()
