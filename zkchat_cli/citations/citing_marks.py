"""The marks of a text that cite: which notes a name, a path or a footnote means, and which marks are links, years or array indexes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from zkchat_cli.citations import mark_syntax, marks
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.citations.quotation_marks import find_quotations
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER

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


def read_footnotes(reading: marks.MarkedText, text: str, sources: Sources) -> dict[int, Footnote]:
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
    end = 0
    for mark in written:
        defined = tuple(number for number in mark.numbers if number in footnotes)
        numbers = tuple(number for number in mark.numbers if number not in footnotes or number in sources.by_number)
        if defined and answer[mark.start - 1 : mark.start] == "]" and mark.start != end and any(footnotes[n].page for n in defined):
            pass  # `[text][1]` is a link to the defined address
        elif mark.numbers and not numbers:
            if notes := tuple(note for number in defined for note in footnotes[number].notes):
                yield CitingMark(mark._replace(numbers=()), notes, defined)
        elif mark.name is None:
            is_year = all(number in _YEARS and number > max(sources.by_number, default=0) for number in mark.numbers)
            if not is_year and not _is_array_index(mark, answer, sources):
                yield CitingMark(mark._replace(numbers=numbers), defined=tuple(n for n in defined if n in numbers))
        elif answer[mark.start] == "[":
            if not _is_label(mark, answer) and (notes := sources.matching_notes(mark.name)):
                yield CitingMark(mark, notes)
        else:
            for start in _possible_starts(mark, answer, end):
                if notes := sources.matching_notes(answer[start : mark.start + len(mark.name)]):
                    yield CitingMark(mark._replace(start=start), notes)
                    break
        end = mark.end


def _is_array_index(mark: CitationMark, answer: str, sources: Sources) -> bool:
    """Whether an unknown number directly after a word is an array index."""
    before = answer[mark.start - 1 : mark.start] if mark.start else ""
    after_word = answer[mark.start] == "[" and answer[mark.start + 1].isdigit() and before.isascii() and before.isalpha()
    return after_word and not sources.by_number.keys() & set(mark.numbers)


def _is_label(mark: CitationMark, answer: str) -> bool:
    """Whether a link is a line of its own with a colon: it names the subject of the lines below and cites nothing."""
    return bool(_LABEL_ENDS.match(answer, mark.end) and _LABEL_BEGINS.search(answer[max(0, mark.start - _LABEL_MARGIN) : mark.start]))


def _possible_starts(mark: CitationMark, text: str, earliest: int) -> Iterator[int]:
    """Where a path may begin: at a word before it, because file names may have several words, at the mark, or after CJK text before it."""
    assert mark.name is not None
    line = max(earliest, mark.start - mark_syntax.MAX_PATH_LENGTH, 0)
    line = max(line, text.rfind("\n", line, mark.start) + 1)
    yield from [found.end() + line for found in _BEFORE_WORD.finditer(text[line : mark.start])][-_MAX_NAME_WORDS:]
    yield mark.start
    for found in CJK_CHARACTER.finditer(text, mark.start, mark.start + len(mark.name)):
        yield found.end()
