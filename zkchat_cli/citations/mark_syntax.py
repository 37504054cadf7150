"""The syntax of citation marks: one function for each way to cite, given the text of a paragraph and where a mark may begin."""

import re
from string import ascii_letters, digits
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk


class CitationMark(NamedTuple):
    """A citation by `numbers`, or by the `name` or path of a note, perhaps with a `heading` or `line`.

    `defines`: a definition such as `[1]: Filters.md`, which says what a number means and does not cite it.
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
        return self.start, self.end


MAX_LENGTH = 500
"""Characters of a mark, and of a formula in which a bracket cites nothing."""
MAX_PATH_LENGTH = 300
_MAX_RANGE = 50
_MAX_DIGITS = 9

_SPACE = r"[ \t\u00a0\u202f]{0,3}"
_BREAK = rf"{_SPACE}(?:\r?\n)?{_SPACE}"
_LABEL = r"(?i:sources?|cite|citations?|refs?\.?|references?|excerpts?)"
"""Words before a number: `[source 2]` as in the prompt, `[cite: 2]` and `[citation:2]` as some models were trained to write."""
_AFTER_LABEL = r"""(?i:_number|_no|_id)?[ \t\u00a0_:#=-]{0,3}(?i:n[°º]|no\.|nr\.)?[ \t\u00a0"']{0,2}"""
_NUMBER = rf"""(?:<{_SPACE})?(?:{_LABEL}{_AFTER_LABEL})?[*_]{{0,3}}\^?(\d{{1,9}})["'*_]{{0,3}}(?:{_SPACE}>)?"""
_ITEM = lazy_pattern(rf"{_BREAK}{_NUMBER}(?:{_SPACE}(?:--?|[–—]){_SPACE}{_NUMBER})?{_BREAK}")
_SEPARATOR = lazy_pattern(r"[,;，、；](?:\s{0,3}(?:and(?=\s)|&))?|&|(?<=[\d*_>\s])and(?=[\s\d*_<])")
_LIST = r"""[\d\s,;，、；&.\-–—*_<>^:#="'°ºA-Za-zſ]*+"""
"""All characters of a list of numbers."""
_SQUARE = lazy_pattern(rf"\[({_LIST})\]")
_NESTED = lazy_pattern(rf"\[({_LIST}(?>(?:\[{_LIST}\]{_LIST})+))\]")
"""A list with numbers in brackets of their own: `[[1], [2], 3]`."""
_INNER_BRACKET = lazy_pattern(r"[\[\]]")
_WIDE = lazy_pattern(rf"[【［]({_LIST})(?:†[^【】［］\[\]\n`]*+)?[】］]")
_PART = lazy_pattern(r"(?<=\d):\d{1,9}\Z")
"""The number of a passage within a source, as in `【4:0†source】`; our sources have no numbered passages."""
_WIKILINK = lazy_pattern(r"\[\[([^\[\]\n`]++)\]\]")
_NEVER_BEFORE = frozenset(ascii_letters + digits + "_[!")
"""Characters before `[1]` that make it an array index or an image, unless it begins with one of `_NO_INDEX`."""
_NO_INDEX = frozenset("^<*sScC")
_WORD = lazy_pattern(r"(?<![\w.])[A-Z]?[a-z]{3,}\Z")
_ARRAYS = frozenset("arr array args argv buf dict elem elems idx list lst matrix nums obj ptr tmp tuple vec".split())
"""Usual names of arrays, in any case; `tasks[1]` is prose."""
_WORD_SEEN = 30
"""Characters to look back for a word of prose: models put marks right behind it. `rowIds[1]` and `my.list[1]` are not prose."""

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = str.maketrans(RAISED, "0123456789")
_SUPERSCRIPT = lazy_pattern(rf"([{RAISED}]++)(?:[⁻–]([{RAISED}]++))?")
_CONTINUES_POWER = frozenset("⁺⁻⁄⁽ⁿ")
"""Characters that continue a power or a fraction after raised digits."""
_POWER = frozenset("⁺⁻⁄⁾₀₁₂₃₄₅₆₇₈₉=/^")
_LETTERS = lazy_pattern(rf"[^\W\d_{RAISED}]++\Z")
_LETTERS_SEEN = 5
_UNITS = frozenset("sec min mol rad deg sin cos tan log exp chi yds kwh".split())
"""Units and functions of three letters that take a power. All words of two letters count as units: `cm²`, `ft³`, `mc²`."""

_BARE_LABEL = lazy_pattern(
    r"""(?:SOURCE[ _]?(?:[nN][°º] ?|[nN]o\. ?|#)?|[Ss]ource n[°º] ?|source_number=["']?)(\d{1,9})["']?(?!\w|\.\w|\]\()"""
)
_DOLLAR = lazy_pattern(r"(?<![\\$])\$\$?")

_PATH_ENDS = lazy_pattern(r"(\.md|\.markdown)(?![\w/@-]|\.\w)(?:#([\w-]++))?(?::(\d{1,9})(?:-\d{1,9})?(?!\d))?", re.IGNORECASE)
_PATH_STOPS = frozenset(' \t\r\n\u00a0\u3000[](){}<>"“”„«»「」『』【】［］（）《》，。、：；;:,|*`!?！？' + RAISED)


def parse_mark(text: str, at: int, *, earliest: int, begins_line: bool) -> CitationMark | None:
    """The mark at a bracket, a raised digit, a letter s or the point of a path's suffix. A path begins at `earliest` or later."""
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
        case _:
            return None if begins_line else _parse_superscript(text, at)  # at the start of a line they number a footnote


def _parse_bracket(text: str, at: int) -> CitationMark | None:
    """A number or a wikilink."""
    if _is_math(text, at):
        return None
    if link := _WIKILINK.match(text, at, at + MAX_LENGTH):
        return _wikilink_mark(link)
    if at and text[at - 1] in _NEVER_BEFORE and text[at + 1 : at + 2] not in _NO_INDEX:
        word = _WORD.search(text, max(0, at - _WORD_SEEN), at)
        if not word or word[0].lower() in _ARRAYS:
            return None
    found = _SQUARE.match(text, at, at + MAX_LENGTH) or _NESTED.match(text, at, at + MAX_LENGTH)
    if not found or text[found.end() : found.end() + 1] in ("(", "]"):  # a link; a bracket too many
        return None
    return _numbered_mark(found, _INNER_BRACKET.sub(" ", found[1]))


def _parse_wide_bracket(text: str, at: int) -> CitationMark | None:
    """`【1】`, and `【1†source】` as some models are trained to write."""
    found = _WIDE.match(text, at, at + MAX_LENGTH)
    return _numbered_mark(found, _PART.sub("", found[1])) if found else None


def _numbered_mark(found: re.Match[str], written: str) -> CitationMark | None:
    numbers = _parse_numbers(written)
    return CitationMark(*found.span(), numbers) if numbers else None


def parse_definition(line: str) -> CitationMark | None:
    """The definition of a number at the beginning of a line: `[1]: Filters.md`."""
    found = _SQUARE.match(line, line.index("["))
    mark = _numbered_mark(found, found[1]) if found else None
    return mark._replace(defines=True) if mark else None


def _wikilink_mark(link: re.Match[str]) -> CitationMark | None:
    name, _, heading = link[1].partition("|")[0].removesuffix("\\").partition("#")
    return CitationMark(link.start(), link.end(), name=name.strip(), heading=heading.strip() or None) if name.strip() else None


def _is_math(text: str, at: int) -> bool:
    """Whether a bracket is inside `$…$` on its line."""
    start = max(text.rfind("\n", 0, at) + 1, at - MAX_LENGTH)
    dollars = [found.end() for found in _DOLLAR.finditer(text, start, at)]
    if len(dollars) % 2 == 0 or text[dollars[-1]].isspace() or (text[dollars[-1]].isdigit() and "\\" not in text[dollars[-1] : at]):
        return False
    closing, line_end = text.find("$", at, at + MAX_LENGTH), text.find("\n", at, at + MAX_LENGTH)
    return closing >= 0 and not 0 <= line_end < closing and not text[closing - 1].isspace()


def _parse_label(text: str, at: int) -> CitationMark | None:
    """A number of a source without brackets: `SOURCE 3`, `source n°1`, `source_number="2"`."""
    if at and (text[at - 1].isalnum() or text[at - 1] in "_/[#" or text[max(0, at - 2) : at] == "]("):
        return None
    found = _BARE_LABEL.match(text, at)
    return CitationMark(*found.span(), (int(found[1]),)) if found else None


def _parse_numbers(written: str) -> tuple[int, ...]:
    """The numbers of a list such as `1, source 3-5`, each once; none if it is not such a list."""
    found: list[int] = []
    for item in _SEPARATOR.split(written):
        if not (ends := _ITEM.fullmatch(item)):
            return ()
        found += _range(int(ends[1]), int(ends[2] or ends[1]))
    return tuple(dict.fromkeys(found))


def _range(first: int, last: int) -> tuple[int, ...]:
    """All from `first` to `last`; only the two ends of a range that runs backwards or is implausibly long."""
    return tuple(range(first, last + 1)) if first <= last < first + _MAX_RANGE else (first, last)


def _parse_superscript(text: str, at: int) -> CitationMark | None:
    found = _SUPERSCRIPT.match(text, at)
    assert found
    first, last = found[1], found[2] or found[1]
    following = text[found.end() : found.end() + 1]
    if max(len(first), len(last)) > _MAX_DIGITS or following in _CONTINUES_POWER or _is_power(text, at, first):
        return None
    return CitationMark(*found.span(), _range(int(first.translate(_LOWERED)), int(last.translate(_LOWERED))))


def _is_power(text: str, at: int, raised: str) -> bool:
    """Whether raised digits are a power or part of a unit: m², x², 10³."""
    before = text[at - 1]
    word = _LETTERS.search(text, max(0, at - _LETTERS_SEEN), at)
    if not word or find_cjk(before):
        return before.isdigit() or before in _POWER or (before in ")]}" and raised in "²³")
    letters = word[0].lower()
    return len(letters) == 1 or letters in _UNITS or (len(letters) == 2 and raised in "²³")


def _parse_path(text: str, at: int, earliest: int) -> CitationMark | None:
    """The path of a note with its suffix at `at`."""
    found = _PATH_ENDS.match(text, at)
    if not found:
        return None
    limit = max(earliest, at - MAX_PATH_LENGTH)
    start = at
    while start > limit and text[start - 1] not in _PATH_STOPS:
        start -= 1
    cut = start == at - MAX_PATH_LENGTH
    name = text[start:at].lstrip("'’‘")
    start = at - len(name)
    linked = text[max(0, start - 2) : start] in ("](", "(<") or text.startswith("](", found.end())
    if not name or cut or linked or name.startswith("//") or "@" in name or "\\" in name:
        return None
    line = int(found[3]) if found[3] else None
    return CitationMark(start, found.end(), name=name + found[1], heading=found[2], line=line)
