"""A text prepared for looking up quotations: which differences do not matter, and where words begin
and end.

Models quote the words they read, not the markup. So white space, case, emphasis and kinds of
quotation marks or dashes do not matter; the text is compared first as it is written, then as a
reader sees it, without the markup of lists, tables, headings and links. All else matters: a number
is one word with its sign, separators and unit, `10²` is not `102`, and `2*3` is not `23`.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from typing import NamedTuple

from zkchat_cli.citations.accents import Accents, bare_letter
from zkchat_cli.citations.quotable_words import SPACELESS, UNIT
from zkchat_cli.citations.shown_text import show_inline
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.plain_text import BLOCK_TAGS, ENTITY
from zkchat_cli.text.hidden_characters import without_hidden
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk

_ALIKE = {
    **dict.fromkeys('‘’‚‛“”„‟«»‹›「」『』﹁﹂"＂´❛❜❝❞〝〞〟′ʹʺʻʼ׳״＇', "'"),
    **dict.fromkeys("‐‑‒–—―−⁻⸗⸚⸺⸻﹘﹣－⁃", "-"),
    **dict.fromkeys("*_`~\\™®ـ", ""),
}
_TYPOGRAPHY = lazy_pattern(f"[{re.escape(''.join(_ALIKE))}]")
_LONG_DASH = lazy_pattern(r"(?<=[^\W\d])(?:[ \t]*[—―⸺⸻]+[ \t]*|-{2,3}| -{2,3} )(?=[^\W\d])")
"""A dash between words that is longer than a hyphen: with spaces or not."""
_LONG_DASHES = frozenset("—―⸺⸻")
_GUILLEMETS = frozenset("«»‹›")
_INCHES = lazy_pattern(r"(?<=[0-9])(?:″|''|\"(?![^\W\d]))")
_SPACE_IN_MARKS = lazy_pattern(
    r"(?<=[«‹])[ \u00a0\u202f](?=\S)|[\u00a0\u202f](?=[»›])|(?<=\S) (?=[»›](?!\w))"
)
_SPACE_BEFORE_SIGN = lazy_pattern(
    rf" (?:(?<=\d )(?=(?:[%‰€£¥]|°[cfCF]?|{UNIT})(?![^\W_]))"
    r"|(?<=[\w'»”)] )(?=[:;!?][:;!?.,…]*+(?:\s|'|\Z))"
    r"|(?<=[$€£¥§] )(?=\d))",
    re.IGNORECASE,
)
"""The space before a unit, and before a colon in French."""
_SPACELESS_CHARACTER = lazy_pattern(f"[{SPACELESS}]")
_SPACE_WITHOUT_MEANING = lazy_pattern(f"(?<=[{SPACELESS}]) | (?=[{SPACELESS}])")
_STRUCK_OUT = lazy_pattern(
    r"(?P<code>`[^`\n]*+`)|(?<!~)~~(?=[^\s~])(?:(?!\n[ \t]*\n|~~).)+(?<=\S)~~(?!~)"
    r"|<(?P<tag>del|s|strike)>(?:(?!\n[ \t]*\n).)*?</(?P=tag)>",
    re.DOTALL | re.IGNORECASE,
)
_RAISED = lazy_pattern("(?<=[0-9])(?=[²³¹⁰⁴-⁹⁺⁻])")
_LOWERED = lazy_pattern("(?<=[0-9])(?=[₀-₉])")
_FRACTION = lazy_pattern("(?<=[0-9])(?=[¼-¾⅐-⅞])")
_CASED_UNIT = lazy_pattern(
    r"([0-9][ \u00a0\u202f]?)"
    r"(?:M(?=(?:Wh?|V|A|Pa|J|g|l|L)(?![A-Za-z0-9]))|([kKMGT]i?)B(?![A-Za-z0-9]))"
)
"""Units that differ in case only: mW and MW, kb and kB."""
_QUOTED_LINE = lazy_pattern(r"^[ \t]*+>[ \t>]*+", re.MULTILINE)
_BLOCK = lazy_pattern(
    r"^[ \t>]*+(?>(?:[-*+][ \t]++|(?P<number>\d{1,9}[.)][ \t]++)|#{1,6}[ \t]++){0,100})"
    r"(?:\[.\][ \t]++)?",
    re.MULTILINE,
)
_CHECKBOX = lazy_pattern(
    r"(?:^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+|•[ ])\[(.)\](?=[ \t])", re.MULTILINE
)
_ITEM = lazy_pattern(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t>]*\Z")
_ROW = lazy_pattern(r"^[ \t]*+\|(?:[ \t:|-]++$)?|\|", re.MULTILINE)
_BULLET = lazy_pattern(r"(?<!\S)•(?: \[.\])?(?!\S)")
"""A bullet, at the start of a line or between the items of a list that is quoted on one line, with
the checkbox of a task.
"""
_TAG = lazy_pattern(
    r"`[^`\n]*+`|<(?P<address>https?://[^<>\s]*+)>|</?(?P<name>a|abbr|b|big|br|center|code|del|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|li"
    r"|mark|ol|p|q|s|small|span|strong|sub|summary|sup|table|td|th|tr|u|ul)(?![\w-])[^<>\n]*+>",
    re.IGNORECASE,
)
_FOOTNOTE = lazy_pattern(inline.FOOTNOTE)
_EMPHASIS = lazy_pattern(
    r"(?<![0-9*\\])(\*{1,3})(?=[A-Za-z])([^*\n]{3,}+)(?<=[A-Za-z.,!?])\1(?![0-9*])"
)
"""Emphasis of words, even within a word: `the*inner*word`."""
_HIGHLIGHT = lazy_pattern(r"(?<![0-9A-Za-z=])==(?=[^\s=])|(?<=[^\s=])==(?![0-9A-Za-z=])")

# Between the cells of a row, and the items of a list that is quoted on one line
_CELL_BORDER = "\x1f"
_CELL_TAGS = BLOCK_TAGS - {"br"}


class NormalizedText(NamedTuple):
    """A text normalized for comparison on one line, and where each line of the original, and each
    cell within a line, begins in it. `accents`: its letters with their accents.
    """

    text: str
    starts: list[int]
    cells: list[int]
    accents: Accents

    def line_at(self, position: int) -> int:
        """The line of the original, from 0."""
        return bisect_right(self.starts, position) - 1

    @property
    def written(self) -> str:
        """The text with case and accents, each letter where it is in `text`."""
        return self.accents.written


def normalize_source(text: str) -> NormalizedText:
    """The text as it is written, without what is struck out."""
    return _normalize(_QUOTED_LINE.sub("", without_struck_out(without_hidden(text))))


def normalize_rendered(text: str, *, struck_out: bool = False) -> NormalizedText:
    """The text of a note as a reader sees it; `struck_out`: with what is struck out."""
    shown = without_hidden(text)
    shown = shown if struck_out else without_struck_out(shown)
    shown = _unescape(_TAG.sub(_tag_text, shown))
    return _normalize_markdown(show_inline(shown))


def normalize_quoted(text: str) -> NormalizedText:
    """A quotation of what a reader sees, which is without HTML; it may have the Markdown of the
    note.
    """
    shown = without_struck_out(without_hidden(text))
    return _normalize_markdown(show_inline(shown, quoted=True))


def _normalize_markdown(text: str) -> NormalizedText:
    rendered = inline.replace_wikilinks(
        _BLOCK.sub(_without_block_marks, text), lambda link: link.shown(folders=True)
    )
    rendered = _ROW.sub(_CELL_BORDER, rendered)
    if "•" in rendered:
        rendered = _BULLET.sub(_CELL_BORDER, rendered)
    rendered = inline.show_links(rendered)
    rendered = _EMPHASIS.sub(r"\2", _FOOTNOTE.sub("", rendered))
    if "==" in rendered:
        rendered = _HIGHLIGHT.sub("", rendered)
    return _normalize(rendered)


def without_struck_out(text: str) -> str:
    """The text without what its author has struck out; code stays."""
    if "~~" not in text and "</" not in text:
        return text
    return _STRUCK_OUT.sub(lambda found: found["code"] or "\n" * found[0].count("\n"), text)


def _unescape(text: str) -> str:
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def task_states(text: str) -> list[str]:
    """What is in the checkboxes of the tasks in a text: a space, an x."""
    return _CHECKBOX.findall(text.lower()) if "[" in text else []


def _tag_text(tag: re.Match[str]) -> str:
    """What a reader sees of a tag; code stays."""
    name = tag["name"]
    if name is None:
        return tag["address"] or tag[0]
    if tag[0].lower().startswith("<sup") and tag.string[tag.start() - 1 : tag.start()].isdigit():
        return "^"
    if name.lower() in _CELL_TAGS:
        return _CELL_BORDER
    return " " if name.lower() in BLOCK_TAGS else ""


def _without_block_marks(marks: re.Match[str]) -> str:
    """An empty text; but the number stays if it only looks like a list's, because a line was broken
    before it: `in` / `1950. Then`.
    """
    if marks["number"] is None or marks["number"][:2] in ("1.", "1)") or not marks.start():
        return ""
    text = marks.string
    before = text[text.rfind("\n", 0, marks.start() - 1) + 1 : marks.start() - 1]
    return "" if _ITEM.match(before) or before[:1] in "#| \t" else marks[0]


def _normalize(text: str) -> NormalizedText:
    plain = _CASED_UNIT.sub(_spelled_unit, _with_plain_spaces(text))
    plain = _TYPOGRAPHY.sub(_plain_mark, plain)
    if not plain.isascii():
        plain = _FRACTION.sub(" ", _LOWERED.sub("_", _RAISED.sub("^", plain)))
        plain = unicodedata.normalize("NFKC", plain).replace("⁄", "/")
    return _folded(_join_lines(plain))


def _with_plain_spaces(text: str) -> str:
    """The text without spaces of a kind of dash or quotation marks, and inches as two marks."""
    if '"' in text or "″" in text or "''" in text:
        text = _INCHES.sub(_inches, text)
    # Searching for a mark takes a tenth of the time of a pattern that looks behind each character
    if not _GUILLEMETS.isdisjoint(text):
        text = _SPACE_IN_MARKS.sub("", text)
    if "--" in text or not _LONG_DASHES.isdisjoint(text):
        text = _LONG_DASH.sub(" - ", text)
    return text


def _inches(mark: re.Match[str]) -> str:
    """Two marks for inches; but a straight mark that may close a quotation stays."""
    if mark[0] == '"':
        text = mark.string
        line_start = text.rfind("\n", 0, mark.start()) + 1
        if text.count('"', line_start, mark.start()) % 2:
            return mark[0]
    return "''"


class _JoinedLines(NamedTuple):
    """The lines of a text as one, and where each line and each cell begins in it."""

    text: str
    starts: list[int]
    cells: list[int]


def _join_lines(plain: str) -> _JoinedLines:
    has_cjk = bool(find_cjk(plain))
    pieces: list[str] = []
    starts: list[int] = []
    cells: list[int] = []
    last = ""
    size = 0
    for line in plain.split("\n"):
        is_first = True
        for cell in line.split(_CELL_BORDER):
            bare = _SPACE_BEFORE_SIGN.sub("", " ".join(without_hidden(cell).split()))
            if has_cjk:
                bare = _SPACE_WITHOUT_MEANING.sub("", bare)
            if bare and last and not _joins_closely(last, bare, has_cjk=has_cjk):
                pieces.append(" ")
                size += 1
            (starts if is_first else cells).append(size)
            is_first = False
            pieces.append(bare)
            size += len(bare)
            last = bare[-2:] or last
    return _JoinedLines("".join(pieces), starts, cells)


def _joins_closely(before: str, after: str, *, has_cjk: bool) -> bool:
    """Whether no space belongs between two lines."""
    if has_cjk and _joins_without_space(before, after):
        return True
    if not before[-1].isdigit() and after[0] not in ":;!?":
        return False
    return _SPACE_BEFORE_SIGN.search(f"{before} {after[:20]}") is not None


def _folded(joined: _JoinedLines) -> NormalizedText:
    """The joined lines in lower case and without accents, which are kept beside them."""
    text, starts, cells = joined
    if text.isascii():
        return NormalizedText(text.lower(), starts, cells, Accents(text, {}))
    bare = {character: bare_letter(character) for character in set(text)}
    if all(len(letters) == 1 for letters in bare.values()):
        lowered = text.translate({ord(c): letter for c, letter in bare.items()})
        return NormalizedText(lowered, starts, cells, Accents(text, {}))
    letters: list[str] = []
    written: list[str] = []
    loose: dict[int, str] = {}
    positions = [0]
    size = 0
    for character in text:
        own = bare[character]
        letters.append(own)
        size += len(own)
        positions.append(size)
        if own:
            written.append(character if len(own) == 1 else own)
        else:
            loose[size - 1] = loose.get(size - 1, "") + character
    return NormalizedText(
        "".join(letters),
        [positions[at] for at in starts],
        [positions[at] for at in cells],
        Accents("".join(written), loose),
    )


def _joins_without_space(before: str, after: str) -> bool:
    """Whether one of two lines has a character of a script without spaces where they meet."""
    return any(map(_SPACELESS_CHARACTER.match, (before[-1], after)))


def _spelled_unit(unit: re.Match[str]) -> str:
    """A number with a unit in which case counts, spelled so that it still counts when folded."""
    return f"{unit[1]}{unit[2]}byte" if unit[2] else f"{unit[1]}mega"


def _plain_mark(mark: re.Match[str]) -> str:
    """The mark in plain typography; nothing for emphasis, but not for the marks in `2*3`, `2 * 3`,
    `my_list` and `~5`.
    """
    if mark[0] not in "*_~":
        return _ALIKE[mark[0]]
    text = mark.string
    before = text[max(0, mark.start() - 2) : mark.start()]
    after = text[mark.end() : mark.end() + 1]
    if mark[0] == "~":
        is_about = after.isdigit() and not before.endswith("~")
        return "≈" if is_about else ""
    left = before.removesuffix("\\")[-1:]
    in_word = _is_ascii_alnum(left) and _is_ascii_alnum(after)
    is_times = mark[0] == "*" and left in (" ", "\t") and after.isspace()
    return mark[0] if in_word or is_times else ""


def _is_ascii_alnum(character: str) -> bool:
    return character.isascii() and character.isalnum()
