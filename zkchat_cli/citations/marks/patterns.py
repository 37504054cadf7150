"""What a mark looks like where one may begin. Each way of citing is a function of the text and a place in it.

It gives a `Step`: where reading goes on, and the mark if there was one; or None when that is certain only with more text, which there may
be unless the text is `final`. So much of the text before the place as `LOOKS_BACK` must be there, and no more is looked at.
"""

import re
from dataclasses import dataclass
from string import ascii_letters, digits

from zkchat_cli.text.words import cjk_pattern


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A place in a text that cites: by `numbers`, or by the `name` (or path) of a note, with the `heading` or `line` it says.

    `defines`: it stands before a colon at the start of a line (`[1]: Filters.md`), and says what a number means rather than to cite it.
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


Step = tuple[int, CitationMark | None] | None

LONGEST = 500
"""Characters of a mark; what is longer is none. So much is held back of a text that begins like one."""
LONGEST_PATH = 300
LOOKS_BACK = LONGEST_PATH + 2
_LARGEST_RANGE = 50
_MOST_DIGITS = 9

_SPACE = r"[ \t\u00a0\u202f]{0,3}"
_BREAK = rf"{_SPACE}(?:\r?\n)?{_SPACE}"
_LABEL = r"(?i:sources?|cite|citations?|refs?\.?|references?|excerpts?)"
"""What is put before a number: `[source 2]` as the prompt says it, `[cite: 2]` and `[citation:2]` as some models were taught."""
_NUMBER = rf"(?:<{_SPACE})?(?:{_LABEL}[ \t\u00a0_:#-]{{0,3}})?[*_]{{0,3}}\^?(\d{{1,9}})[*_]{{0,3}}(?:{_SPACE}>)?"
_ITEM = re.compile(rf"{_BREAK}{_NUMBER}(?:{_SPACE}(?:--?|[–—]){_SPACE}{_NUMBER})?{_BREAK}")
_SEPARATOR = re.compile(r"[,;，、；](?:\s{0,3}(?:and(?=\s)|&))?|&|(?<=[\d*_>\s])and(?=[\s\d*_<])")
_LIST = r"[\d\s,;，、；&.\-–—*_<>^:#A-Za-zſ]*+"
"""All characters that a list of numbers may be made of."""
_SQUARE = re.compile(rf"\[({_LIST})\]")
_SQUARE_BEGINS = re.compile(rf"\[{_LIST}\Z")
_BROAD = re.compile(rf"[【［]({_LIST})(?:†[^【】［］\[\]\n`]*+)?[】］]")
_BROAD_BEGINS = re.compile(rf"[【［]{_LIST}(?:†[^【】［］\[\]\n`]*+)?\Z")
_PART = re.compile(r"(?<=\d):\d{1,9}\Z")
"""In `【4:0†source】` the number of a passage within a source; ours have none."""
_WIKILINK = re.compile(r"\[\[([^\[\]\n`]++)\]\]")
_WIKILINK_BEGINS = re.compile(r"\[\[[^\[\]\n`]*+\]?\Z")
_NEVER_BEFORE = frozenset(ascii_letters + digits + "_[!")
"""What makes `[1]` an index of an array, or a picture; but not what begins with one of `_NO_INDEX`."""
_NO_INDEX = frozenset("^<*sScC")
_WORD = re.compile(r"(?<![\w.])[A-Z]?[a-z]{3,}\Z")
_WORD_SEEN = 30
"""Characters in which a word of prose ends, behind which models put a mark without a space. `rowIds[1]` and `my.list[1]` are none."""

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = str.maketrans(RAISED, "0123456789")
_SUPERSCRIPT = re.compile(rf"([{RAISED}]++)(?:[⁻–]([{RAISED}]++))?")
_GOES_ON = frozenset("⁺⁻⁄⁽ⁿ")
"""What goes on with a power or a fraction behind raised digits."""
_POWER = frozenset("⁺⁻⁄⁾₀₁₂₃₄₅₆₇₈₉=/^")
_LETTERS = re.compile(rf"[^\W\d_{RAISED}]++\Z")
_LETTERS_SEEN = 5
_UNITS = frozenset("sec min mol rad deg sin cos tan log exp chi yds kwh".split())
"""Words of three letters that are raised to a power. All of two letters are taken for some: `cm²`, `ft³`, `mc²`."""

_PATH_ENDS = re.compile(r"(\.md|\.markdown)(?![\w/@-]|\.\w)(?:#([\w-]++))?(?::(\d{1,9})(?:-\d{1,9})?(?!\d))?", re.IGNORECASE)
_PATH_STOPS = frozenset(' \t\r\n\u00a0\u3000[](){}<>"“”„«»「」『』【】［］（）《》，。、：；;:,|*`!?！？' + RAISED)


def bracket(text: str, at: int, *, final: bool) -> Step:
    """What `[` begins: a number, or a wikilink."""
    following = text[at + 1 : at + 2]
    if not following:
        return (at + 1, None) if final else None
    if following == "[":
        return _wikilink(text, at, final)
    if at and text[at - 1] in _NEVER_BEFORE and following not in _NO_INDEX and not _WORD.search(text, max(0, at - _WORD_SEEN), at):
        return at + 1, None
    found = _SQUARE.match(text, at, at + LONGEST)
    if not found:
        return _nothing(_SQUARE_BEGINS, text, at, final)
    end = found.end()
    if end == len(text) and not final:
        return None
    cited = () if text[end : end + 1] in ("(", "]") else numbers(found[1])  # a link; a bracket too many
    return (end, CitationMark(at, end, cited)) if cited else (at + 1, None)


def broad_bracket(text: str, at: int, *, final: bool) -> Step:
    """`【1】`, and `【1†source】` as some models are taught to write."""
    found = _BROAD.match(text, at, at + LONGEST)
    if not found:
        return _nothing(_BROAD_BEGINS, text, at, final)
    cited = numbers(_PART.sub("", found[1]))
    return (found.end(), CitationMark(at, found.end(), cited)) if cited else (at + 1, None)


def definition(text: str, at: int) -> CitationMark | None:
    """The number that a line defines, whose `[` stands at `at`."""
    found = _SQUARE.match(text, at, at + LONGEST)
    cited = numbers(found[1]) if found else ()
    return CitationMark(at, text.index("]", at) + 1, cited, defines=True) if cited else None


def _wikilink(text: str, at: int, final: bool) -> Step:
    link = _WIKILINK.match(text, at, at + LONGEST)
    if not link:
        return _nothing(_WIKILINK_BEGINS, text, at, final)
    name, _, heading = link[1].partition("|")[0].removesuffix("\\").partition("#")
    mark = CitationMark(at, link.end(), name=name.strip(), heading=heading.strip() or None) if name.strip() else None
    return link.end(), mark


def _nothing(begins: re.Pattern[str], text: str, at: int, final: bool) -> Step:
    """No mark, unless what follows may still make one."""
    return None if not final and len(text) - at < LONGEST and begins.match(text, at) else (at + 1, None)


def numbers(written: str) -> tuple[int, ...]:
    """The numbers of `1, source 3-5`, each once; none when it is no such list."""
    found: list[int] = []
    for item in _SEPARATOR.split(written):
        if not (ends := _ITEM.fullmatch(item)):
            return ()
        found += _range(int(ends[1]), int(ends[2] or ends[1]))
    return tuple(dict.fromkeys(found))


def _range(first: int, last: int) -> tuple[int, ...]:
    """All from `first` to `last`; of a range that runs backwards or is too long to be meant, its two ends."""
    return tuple(range(first, last + 1)) if first <= last < first + _LARGEST_RANGE else (first, last)


def superscript(text: str, at: int, *, final: bool, first_in_line: bool) -> Step:
    """Raised digits. At a line's start they are the number of a note under the text, which cites nothing."""
    found = _SUPERSCRIPT.match(text, at)
    assert found
    end = found.end()
    following = text[end : end + 1]
    if not final and (not following or (following in "⁻–" and end + 1 == len(text))):
        return None
    first, last = found[1], found[2] or found[1]
    if max(len(first), len(last)) > _MOST_DIGITS or following in _GOES_ON or first_in_line or _is_power(text, at, first):
        return end, None
    return end, CitationMark(at, end, _range(int(first.translate(_LOWERED)), int(last.translate(_LOWERED))))


def _is_power(text: str, at: int, raised: str) -> bool:
    """Whether raised digits are a power or belong to a unit (m², x², 10³) rather than to a word."""
    before = text[at - 1]
    word = _LETTERS.search(text, max(0, at - _LETTERS_SEEN), at)
    if not word or cjk_pattern().match(before):
        return before.isdigit() or before in _POWER or (before in ")]}" and raised in "²³")
    letters = word[0].lower()
    return len(letters) == 1 or letters in _UNITS or (len(letters) == 2 and raised in "²³")


def path(text: str, at: int, *, final: bool, earliest: int) -> Step:
    """The path of a note whose suffix begins at `at`; it does not begin before `earliest`, where the mark before it ends."""
    found = _PATH_ENDS.match(text, at)
    if not final and (found.end() + 2 > len(text) if found else ".markdown".startswith(text[at : at + 9].lower())):
        return None
    if not found:
        return at + 1, None
    start, limit = at, max(earliest, at - LONGEST_PATH, 0)
    while start > limit and text[start - 1] not in _PATH_STOPS:
        start -= 1
    cut = start == at - LONGEST_PATH
    name = text[start:at].lstrip("'’‘")
    start = at - len(name)
    linked = text[max(0, start - 2) : start] in ("](", "(<") or text.startswith("](", found.end())
    if not name or cut or linked or name.startswith("//") or "@" in name or "\\" in name:
        return found.end(), None
    line = int(found[3]) if found[3] else None
    return found.end(), CitationMark(start, found.end(), name=name + found[1], heading=found[2], line=line)
