"""Citation marks in a text: `[1]`, `[1, 3]`, `[source 2]`, `【1】`, `[^1]`, superscripts,
`[[Note]]` and `Queries/Filters.md:12`.

This module finds what is written and does not know the sources; `verify` checks the citations.
Numbers in code, in Markdown links, in definitions (`[1]: …`) and after a letter (`a[1]`, `m²`) cite
nothing. A text is read by paragraphs, because backticks pair up within one.
"""

import re
from string import ascii_letters, digits
from typing import NamedTuple

from zkchat_cli.citations.formulas import is_interval, is_math
from zkchat_cli.markdown.block_scanner import BlockScanner, LineKind, ScannedLine
from zkchat_cli.markdown.inline import Wikilink, code_spans, match_wikilink
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk


class CitationMark(NamedTuple):
    """A citation by `numbers`, or by the `name` or path of a note, perhaps with a `heading` or
    `line`. `defines`: a definition such as `[1]: Filters.md`, which says what a number means and
    does not cite it.
    """

    start: int
    end: int
    numbers: tuple[int, ...] = ()
    name: str | None = None
    heading: str | None = None
    line: int | None = None
    defines: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """The begin and the end of the mark in the text."""
        return self.start, self.end


class MarkedText(NamedTuple):
    """The marks of a text, including definitions; the spans of its code and definitions; and the
    fence that must be added to close an open code block, empty if there is none, or if its list or
    quote ends it anyway.
    """

    marks: list[CitationMark]
    code: list[tuple[int, int]]
    closing: str


# Characters of a mark, and of a formula in which a bracket cites nothing
MAX_LENGTH = 500
MAX_PATH_LENGTH = 300
_MAX_RANGE = 50

_SPACE = r"[ \t\u00a0\u202f]{0,3}"
_BREAK = rf"{_SPACE}(?:\r?\n)?{_SPACE}"
_LABEL = r"(?i:sources?|cite|citations?|refs?\.?|references?|excerpts?)"
"""Words before a number: `[source 2]` as in the prompt, `[cite: 2]` and `[citation:2]` as some
models were trained to write.
"""
_AFTER_LABEL = (
    r"""(?i:_number|_no|_id)?[ \t\u00a0_:#=-]{0,3}(?i:n[°º]|no\.|nr\.)?[ \t\u00a0"']{0,2}"""
)
_NUMBER = (
    rf"(?:<{_SPACE})?(?:{_LABEL}{_AFTER_LABEL})?"
    rf"""[*_]{{0,3}}\^?(\d{{1,9}})["'*_]{{0,3}}(?:{_SPACE}>)?"""
)
_ITEM = lazy_pattern(rf"{_BREAK}{_NUMBER}(?:{_SPACE}(?:--?|[–—]){_SPACE}{_NUMBER})?{_BREAK}")
_SEPARATOR = lazy_pattern(r"[,;，、；](?:\s{0,3}(?:and(?=\s)|&))?|&|(?<=[\d*_>\s])and(?=[\s\d*_<])")
# All characters of a list of numbers
_LIST = r"""[\d\s,;，、；&.\-–—*_<>^:#="'°ºA-Za-zſ]*+"""
_SQUARE = lazy_pattern(rf"\[({_LIST})\]")
# A list with numbers in brackets of their own: `[[1], [2], 3]`
_NESTED = lazy_pattern(rf"\[({_LIST}(?>(?:\[{_LIST}\]{_LIST})+))\]")
_INNER_BRACKET = lazy_pattern(r"[\[\]]")
_WIDE = lazy_pattern(rf"[【［]({_LIST})(?:†[^【】［］\[\]\n`]*+)?[】］]")
_PART = lazy_pattern(r"(?<=\d):\d{1,9}\Z")
"""The number of a passage within a source, as in `【4:0†source】`; our sources have no numbered
passages.
"""
_NEVER_BEFORE = frozenset(ascii_letters + digits + "_[!")
"""Characters before `[1]` that make it an array index or an image, unless it begins with one of
`_NO_INDEX`.
"""
_NO_INDEX = frozenset("^<*sScC")
_PROSE_WORD = lazy_pattern(r"(?<![\w.])[A-Z]?[a-z]{3,}\Z")
_ARRAYS = frozenset(
    "arr array args argv buf dict elem elems idx list lst matrix nums obj ptr tmp tuple vec".split()
)
"""Usual names of arrays, in any case; `tasks[1]` is prose."""
_WORD_SEEN = 30
"""Characters to look back for a word of prose: models put marks right behind it. `rowIds[1]` and
`my.list[1]` are not prose.
"""

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = str.maketrans(RAISED, "0123456789")
# The last four continue a power
_SUPERSCRIPT = lazy_pattern(
    rf"([{RAISED}]{{1,9}}+)(?:[⁻–]([{RAISED}]{{1,9}}+))?+(?![{RAISED}⁺⁻⁄⁽ⁿ])"
)
_POWER = frozenset("⁺⁻⁄⁾₀₁₂₃₄₅₆₇₈₉=/^|‖")
_LETTERS = lazy_pattern(rf"[^\W\d_{RAISED}]++\Z")
_LETTERS_SEEN = 5
_UNITS = frozenset("sec min mol rad deg sin cos tan log exp chi yds kwh".split())
"""Units and functions of three letters that take a power. All words of two letters count as units:
`cm²`, `ft³`, `mc²`.
"""

_BARE_LABEL = lazy_pattern(
    r"(?:SOURCE[ _]?(?:[nN][°º] ?|[nN]o\. ?|#)?|[Ss]ource n[°º] ?"
    r"""|source_number=["']?)(\d{1,9})["']?(?!\w|\.\w|\]\()"""
)
_PATH_ENDS = lazy_pattern(
    r"(\.md|\.markdown)(?![\w/@-]|\.\w)(?:#([\w-]++))?(?::(\d{1,9})(?:-\d{1,9})?(?!\d))?",
    re.IGNORECASE,
)
_PATH_STOPS = frozenset(
    ' \t\r\n\u00a0\u3000[](){}<>"“”„«»「」『』【】［］（）《》，。、：；;:,|*`!?！？' + RAISED
)


_MARK_BEGINS = re.compile(rf"\\.|`++|[\[【［]|[{RAISED}]++|\.(?=[mM])|[sS](?=[oO][uU])")
"""Where a mark may begin, and what it must not be read from: an escaped character, and code."""
_NO_PROSE: frozenset[LineKind] = frozenset(
    ("blank", "definition", "fence", "code", "fence_end", "indented")
)
_CONTINUES_PARAGRAPH: frozenset[LineKind] = frozenset(
    ("paragraph", "underline", "rule", "delimiter")
)


class _Paragraph(NamedTuple):
    """A paragraph's place in the text, and where in the paragraph the texts of its lines begin,
    behind the markers of quotes and lists.
    """

    start: int
    end: int
    line_starts: set[int]


class _MarkReader:
    """Reads one text: its definitions and code blocks line by line, then its paragraphs."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._scanner = BlockScanner(lenient=True)
        self._marks: list[CitationMark] = []
        self._code: list[tuple[int, int]] = []
        self._paragraphs: list[_Paragraph] = []
        self._in_math = False
        # Whether the next line may continue the last paragraph
        self._is_open = False

    def read(self) -> MarkedText:
        position = 0
        for line in self._text.split("\n"):
            self._add_line(line, position)
            position += len(line) + 1
        for paragraph in self._paragraphs:
            self._read_paragraph(paragraph)
        fence = self._scanner.fence
        closing = fence.mark if fence and not fence.nested else ""
        return MarkedText(sorted(self._marks), sorted(self._code), closing)

    def _add_line(self, line: str, position: int) -> None:
        end = position + len(line)
        scanned = self._scan(line)
        if scanned.kind == "definition":
            self._add_definition(position, end)
        if scanned.kind in _NO_PROSE:
            if scanned.kind != "blank" and line:
                self._code.append((position, end))
            self._is_open = False
            return
        if self._is_open and scanned.kind in _CONTINUES_PARAGRAPH:
            start, _, line_starts = self._paragraphs.pop()
        else:
            start = position
            line_starts = set()
        line_starts.add(position + scanned.start - start)
        self._paragraphs.append(_Paragraph(start, end, line_starts))
        self._is_open = scanned.kind != "heading"

    def _scan(self, line: str) -> ScannedLine:
        """What the line is; lines of a block of math count as code."""
        was_in_math = self._in_math
        if self._borders_math(line):
            self._in_math = not was_in_math
        if was_in_math or self._in_math:
            return ScannedLine("code")
        return self._scanner.scan(line)

    def _borders_math(self, line: str) -> bool:
        """Whether a block of math begins or ends on a line."""
        if line.count("$$") % 2 == 0 or self._scanner.fence:
            return False
        return self._in_math or line.lstrip(" \t>").startswith("$$")

    def _add_definition(self, position: int, end: int) -> None:
        found = _SQUARE.match(self._text, self._text.index("[", position), end)
        mark = _numbered_mark(found, found[1]) if found else None
        if mark:
            self._marks.append(mark._replace(defines=True))

    def _read_paragraph(self, paragraph: _Paragraph) -> None:
        """Add the marks and the inline code of a paragraph."""
        start, end, line_starts = paragraph
        text = self._text[start:end]
        spans = code_spans(text)
        self._code += [(start + span.start, start + span.end) for span in spans]
        code_ends = {span.start: span.end for span in spans}
        at = 0
        mark_end = 0
        while found := _MARK_BEGINS.search(text, at):
            at = found.end()
            first = found.start()
            if text[first] == "`":
                at = code_ends.get(first, at)
            elif mark := _parse_mark(text, first, mark_end, begins_line=first in line_starts):
                self._marks.append(mark._replace(start=mark.start + start, end=mark.end + start))
                at = mark_end = mark.end


def read_marks(text: str) -> MarkedText:
    """The citation marks of a text, and its code."""
    return _MarkReader(text).read()


def _parse_mark(text: str, at: int, earliest: int, *, begins_line: bool) -> CitationMark | None:
    """The mark at a bracket, a raised digit, a letter s or the point of a path's suffix. A path
    begins at `earliest` or later.
    """
    match text[at]:
        case "[":
            return _parse_bracket(text, at)
        case "【" | "［":
            return _parse_wide_bracket(text, at)
        case ".":
            return _parse_path(text, at, earliest)
        case "s" | "S":
            return _parse_label(text, at)
        case "\\":
            return None
    # At the start of a line, raised digits number a footnote
    return None if begins_line else _parse_superscript(text, at)


def _parse_wide_bracket(text: str, at: int) -> CitationMark | None:
    """`【1】`, and `【1†source】` as some models are trained to write."""
    found = _WIDE.match(text, at, at + MAX_LENGTH)
    return _numbered_mark(found, _PART.sub("", found[1])) if found else None


def _parse_label(text: str, at: int) -> CitationMark | None:
    """`SOURCE 3`, `source n°1` and `source_number="2"`, but not as a part of a word or address."""
    before = text[max(0, at - 2) : at]
    if before[-1:].isalnum() or before.endswith(("_", "/", "[", "#", "](")):
        return None
    found = _BARE_LABEL.match(text, at)
    return CitationMark(*found.span(), (int(found[1]),)) if found else None


def _parse_bracket(text: str, at: int) -> CitationMark | None:
    """A number or a wikilink."""
    if is_math(text, at, MAX_LENGTH):
        return None
    link = match_wikilink(text, at, at + MAX_LENGTH)
    # `[[source 1], [source 2]]` is a list of numbers
    if link and text.find("[", at + 2, link.end) < 0:
        return _named_mark(link)
    if _is_index(text, at):
        return None
    found = _SQUARE.match(text, at, at + MAX_LENGTH) or _NESTED.match(text, at, at + MAX_LENGTH)
    # A link, or a bracket too many
    if not found or text[found.end() : found.end() + 1] in ("(", "]"):
        return _named_mark(link)
    mark = _numbered_mark(found, _INNER_BRACKET.sub(" ", found[1]))
    if mark and is_interval(mark.numbers, text, mark.start):
        return None
    return mark or _named_mark(link)


def _named_mark(link: Wikilink | None) -> CitationMark | None:
    """A mark by the name of a note; None for a link to a heading of the text itself."""
    if not link or not link.target:
        return None
    return CitationMark(link.start, link.end, name=link.target, heading=link.heading)


def _is_index(text: str, at: int) -> bool:
    """Whether a bracket is the index of an array, or belongs to an image."""
    if not at or text[at - 1] not in _NEVER_BEFORE or text[at + 1 : at + 2] in _NO_INDEX:
        return False
    word = _PROSE_WORD.search(text, max(0, at - _WORD_SEEN), at)
    return not word or word[0].lower() in _ARRAYS


def _numbered_mark(found: re.Match[str], written: str) -> CitationMark | None:
    """A mark with the numbers of a list such as `1, source 3-5`, each once; None if it is not such
    a list.
    """
    numbers: list[int] = []
    for item in _SEPARATOR.split(written):
        ends = _ITEM.fullmatch(item)
        if not ends:
            return None
        numbers += _range(int(ends[1]), int(ends[2] or ends[1]))
    return CitationMark(*found.span(), tuple(dict.fromkeys(numbers)))


def _range(first: int, last: int) -> tuple[int, ...]:
    """All from `first` to `last`; only the two ends of a range that runs backwards or is
    implausibly long.
    """
    if first <= last < first + _MAX_RANGE:
        return tuple(range(first, last + 1))
    return first, last


def _parse_superscript(text: str, at: int) -> CitationMark | None:
    """Raised digits, but not a power or a part of a unit: m², x², 10³."""
    found = _SUPERSCRIPT.match(text, at)
    if not found or _is_power(text, at, found[1]):
        return None
    first = int(found[1].translate(_LOWERED))
    last = int(found[2].translate(_LOWERED)) if found[2] else first
    return CitationMark(*found.span(), _range(first, last))


def _is_power(text: str, at: int, digits: str) -> bool:
    """Whether what precedes raised digits takes a power."""
    is_small = digits in "²³"
    before = text[at - 1]
    word = _LETTERS.search(text, max(0, at - _LETTERS_SEEN), at)
    if not word or find_cjk(before):
        return before.isdigit() or before in _POWER or (before in ")]}" and is_small)
    letters = word[0].lower()
    return len(letters) == 1 or letters in _UNITS or (len(letters) == 2 and is_small)


def _parse_path(text: str, at: int, earliest: int) -> CitationMark | None:
    """The path of a note with its suffix at `at`."""
    found = _PATH_ENDS.match(text, at)
    if not found:
        return None
    limit = max(earliest, at - MAX_PATH_LENGTH)
    start = at
    while start > limit and text[start - 1] not in _PATH_STOPS:
        start -= 1
    is_cut = start == at - MAX_PATH_LENGTH
    name = text[start:at].lstrip("'’‘")
    start = at - len(name)
    is_linked = text[max(0, start - 2) : start] in ("](", "(<")
    is_label = text.startswith("](", found.end())
    if is_cut or is_linked or is_label or not _may_be_path(name):
        return None
    line = int(found[3]) if found[3] else None
    return CitationMark(start, found.end(), name=name + found[1], heading=found[2], line=line)


def _may_be_path(name: str) -> bool:
    """Whether the part before a note's suffix is no address or path of another system."""
    return bool(name) and not name.startswith("//") and "@" not in name and "\\" not in name
