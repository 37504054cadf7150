"""Finds the marks of a text that cite a source, and what its footnotes define. A number that is no
source's may be a year or an index, and a link to no note is only a link.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.citations import marks
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotations import find_quotations
from zkchat_cli.citations.sources import MatchingNotes
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER

_YEARS = range(1000, 3000)
# Words of a file name that a text may write without brackets
_MAX_NAME_WORDS = 12
_BEFORE_WORD = lazy_pattern(r"(?<!\S)[(\[{<\"'“‘«*_]*(?=\S)")
# Characters before a label on its line: markers of a list, quote or heading, and emphasis
_LABEL_MARGIN = 12
_TITLE_ENDS = lazy_pattern(r"[,;:(]|\.(?=\s|\Z)| [–—›-] |\Z")
_LABEL_BEGINS = lazy_pattern(r"(?:\A|\n)[ \t*_#>-]*\Z")
_LABEL_ENDS = lazy_pattern(r"[*_]{0,3}[ \t]?:[*_]{0,3}[ \t]{0,3}(?:\n|\Z)")


class CitingMark(NamedTuple):
    """A mark that cites; if it cites by name, the `notes` that may be meant. `defined`: those of
    its numbers that the text defines.
    """

    mark: CitationMark
    notes: tuple[str, ...] = ()
    defined: tuple[int, ...] = ()


class Footnote(NamedTuple):
    """What the definition of a number says: the notes that it names, and its quotations."""

    notes: tuple[str, ...]
    quotes: tuple[str, ...]


def read_footnotes(
    reading: marks.MarkedText, text: str, matching_notes: MatchingNotes
) -> dict[int, Footnote]:
    """What the text's definitions of numbers name and quote."""
    found: dict[int, Footnote] = {}
    for mark in reading.marks:
        if mark.defines:
            end = text.find("\n", mark.end)
            definition = text[mark.end + 1 : end if end >= 0 else len(text)]
            found |= dict.fromkeys(mark.numbers, read_footnote(definition, matching_notes))
    return found


def read_footnote(definition: str, matching_notes: MatchingNotes) -> Footnote:
    """What the text behind `[1]:` names and quotes."""
    written = [mark for mark in marks.read_marks(definition).marks if not mark.defines]
    notes: list[str] = []
    for cited in citing_marks(written, definition, matching_notes):
        notes += cited.notes
    quotations = find_quotations(definition, definition)
    return Footnote(tuple(dict.fromkeys(notes)), tuple(quotation.words for quotation in quotations))


def own_footnotes(
    reading: marks.MarkedText, text: str, matching_notes: MatchingNotes
) -> frozenset[int]:
    """The numbers of footnotes that are remarks of the text itself and name no source: `[^1]: Or so
    I believe.`
    """
    found: set[int] = set()
    for mark in reading.marks:
        if mark.defines and text.startswith("[^", mark.start):
            end = text.find("\n", mark.end)
            definition = text[mark.end + 1 : end if end >= 0 else len(text)]
            footnote = read_footnote(definition, matching_notes)
            is_empty = not footnote.notes and not footnote.quotes
            if is_empty and not _may_name_source(definition, matching_notes):
                found.update(mark.numbers)
    return frozenset(found)


def _may_name_source(definition: str, matching_notes: MatchingNotes) -> bool:
    """Whether a definition has a number, or begins with the title of a note."""
    if any(map(str.isdigit, definition)) or "://" in definition:
        return True
    titles = (definition[: end.start()].strip(' *_"“”') for end in _TITLE_ENDS.finditer(definition))
    return any(title and matching_notes(title) for title in titles)


def citing_marks(
    written: Sequence[CitationMark],
    answer: str,
    matching_notes: MatchingNotes,
    footnotes: Mapping[int, Footnote] = {},
    known: Collection[int] = (),
) -> Iterator[CitingMark]:
    """The marks that cite, paths with all their words. `known`: numbers of sources."""
    end = 0
    for mark in written:
        if mark.name is None:
            cited = _numbered(mark, answer, end, footnotes, known)
        elif answer[mark.start] == "[":
            cited = _linked(mark, answer, matching_notes)
        else:
            cited = _named_path(mark, answer, end, matching_notes)
        if cited:
            yield cited
        end = mark.end


def _numbered(
    mark: CitationMark,
    answer: str,
    end_before: int,
    footnotes: Mapping[int, Footnote],
    known: Collection[int],
) -> CitingMark | None:
    """A mark with numbers. One that only the text defines cites the notes that it names there."""
    sources: list[int] = []
    defined: list[int] = []
    notes: list[str] = []
    for number in mark.numbers:
        if number in footnotes:
            defined.append(number)
            notes += footnotes[number].notes
        if number not in footnotes or number in known:
            sources.append(number)
    if defined and not notes and _is_reference(mark, answer, end_before):
        return None
    if sources:
        if not _may_cite(mark, answer, known):
            return None
        both = tuple(number for number in defined if number in known)
        return CitingMark(mark._replace(numbers=tuple(sources)), defined=both)
    if notes:
        return CitingMark(mark._replace(numbers=()), tuple(notes), tuple(defined))
    return None


def _is_reference(mark: CitationMark, answer: str, end_before: int) -> bool:
    """Whether a mark is the second half of `[text][1]`, a link to the defined address."""
    is_behind_bracket = mark.start > 0 and answer[mark.start - 1] == "]"
    return is_behind_bracket and mark.start != end_before


def _may_cite(mark: CitationMark, answer: str, known: Collection[int]) -> bool:
    """Whether the numbers of a mark are rather sources than years or the index of an array."""
    if _are_years(mark.numbers, known):
        return False
    return not _is_index(mark, answer) or any(number in known for number in mark.numbers)


def _are_years(numbers: Iterable[int], known: Collection[int]) -> bool:
    """Whether all numbers are likelier years than sources, because there are fewer sources."""
    largest = max(known, default=0)
    return all(number in _YEARS and number > largest for number in numbers)


def _is_index(mark: CitationMark, answer: str) -> bool:
    """Whether a mark stands right behind a word, as the index of an array does."""
    before = answer[mark.start - 1 : mark.start] if mark.start else ""
    is_bare = answer[mark.start] == "[" and answer[mark.start + 1].isdigit()
    return is_bare and before.isascii() and before.isalpha()


def _linked(mark: CitationMark, answer: str, matching_notes: MatchingNotes) -> CitingMark | None:
    """A link to a note. One that labels the lines below it says what these are about."""
    assert mark.name is not None
    line_before = answer[max(0, mark.start - _LABEL_MARGIN) : mark.start]
    if _LABEL_ENDS.match(answer, mark.end) and _LABEL_BEGINS.search(line_before):
        return None
    notes = matching_notes(mark.name)
    return CitingMark(mark, notes) if notes else None


def _named_path(
    mark: CitationMark, answer: str, earliest: int, matching_notes: MatchingNotes
) -> CitingMark | None:
    """A path, from the word on with which it is that of a note."""
    assert mark.name is not None
    for start in _possible_starts(mark, answer, earliest):
        notes = matching_notes(answer[start : mark.start + len(mark.name)])
        if notes:
            return CitingMark(mark._replace(start=start), notes)
    return None


def _possible_starts(mark: CitationMark, text: str, earliest: int) -> Iterator[int]:
    """Where a path may begin: at a word before it, because file names may have several words, at
    the mark, or after CJK text before it.
    """
    assert mark.name is not None
    line = max(earliest, mark.start - marks.MAX_PATH_LENGTH, 0)
    line = max(line, text.rfind("\n", line, mark.start) + 1)
    words = [found.end() + line for found in _BEFORE_WORD.finditer(text[line : mark.start])]
    yield from words[-_MAX_NAME_WORDS:]
    yield mark.start
    for found in CJK_CHARACTER.finditer(text, mark.start, mark.start + len(mark.name)):
        yield found.end()
