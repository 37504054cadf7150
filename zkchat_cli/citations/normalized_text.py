"""A text prepared for looking up quotations: which differences do not matter, and where words begin
and end.

Models quote the words they read, not the markup. So white space, case, emphasis and kinds of
quotation marks or dashes do not matter; the text is compared first as it is written, then as a
reader sees it, without the markup of lists, tables, headings and links. All else matters: a number
is one word with its sign, separators and unit, `10²` is not `102`, and `2*3` is not `23`.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from zkchat_cli.markdown import inline
from zkchat_cli.markdown.plain_text import BLOCK_TAGS, ENTITY
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import find_cjk, fold

_ALIKE = {
    **dict.fromkeys('‘’‚‛“”„‟«»‹›「」『』﹁﹂"＂´', "'"),
    **dict.fromkeys("‐‑‒–—―−⁻", "-"),
    **dict.fromkeys("*_`~\\\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f™®", ""),
}
_TYPOGRAPHY = lazy_pattern(f"[{re.escape(''.join(_ALIKE))}]")
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

_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
"""Scripts without spaces between words. Korean has them."""
_KATAKANA = "\u30a1-\u30fa\u30fc"
_UNIT = (
    r"(?:%|‰|°[cfk]?|[$€£¥₹]|mega(?:wh?|v|a|pa|j|g|l)|[kmgt]i?byte"
    r"|[kmgtcdnpμ]?(?:wh|wp|w|g|m|l|s|v|hz|b|j|n|pa|k|ah|bar|bit|cal|mol|ω)(?:\^?[23])?"
    r"(?:/[a-z]+)?|h|ha|ft|lbs?|oz|min|sec|ppm|rpm|db|ps|hp|mph|inch(?:es)?"
    r"|eur|euros?|usd|dollars?|gbp|pounds?|chf|per ?cent|prozent"
    r"|degrees?|grad|hundred|thousand|million(?:en)?|billion|trillion|tausend|milliarden?|mio|mrd)"
)
_LETTERS = rf"(?:[^\W{_SPACELESS}]|[\u0900-\u0963\u0966-\u0dff])++"
_SIGN = r"(?:(?<![\w)%°-])(?:[-+.]|[±≈≤≥<>]\ ?)(?=[$€£¥₹.]?\ ?\d)\.?)"
_JOINED = (
    r"(?:(?<=[^\W\d_])'(?=[^\W\d_])|\.(?=\w)|(?<=\d)[,:'/^*×·⁄]-?(?=\d)|(?<=\d)-(?=\d)"
    r"|(?<=\d)(?<!\d{4})\ (?=\d{3}(?!\d))"
    r"|(?<=enty|irty|orty|ifty|ixty|ghty|nety)-)"
)
_QUOTABLE_WORD = lazy_pattern(
    rf"[{_KATAKANA}]+|{_SIGN}?(?:[$€£¥₹]\ "
    rf"?(?=[\d.]))?{_LETTERS}(?:{_JOINED}{_LETTERS})*(?:(?<=\d)[ -]?{_UNIT}(?!{_LETTERS}))?"
)
_SPACELESS_CHARACTER = lazy_pattern(f"[{_SPACELESS}]")
_SPACE_WITHOUT_MEANING = lazy_pattern(f"(?<=[{_SPACELESS}]) | (?=[{_SPACELESS}])")
_PLAIN_BORDER = lazy_pattern(r"(?<![0-9] )(?<= )(?=[a-z])|(?<=[a-z])(?:[ )]|[.,;:!?](?: |\Z))")
"""The border of a word without digits, as most are: looking for all words around a position takes
an eighth of the verification.
"""
# Characters on each side of a position that decide whether it is inside a word
BORDER_REACH = 80


class NormalizedText(NamedTuple):
    """A text normalized for comparison on one line, and where each line of the original begins in
    it.
    """

    text: str
    starts: list[int]

    def line_at(self, position: int) -> int:
        """The line of the original, from 0."""
        return bisect_right(self.starts, position) - 1


def normalize_source(text: str) -> NormalizedText:
    """The text as it is written."""
    return _normalize(_QUOTED_LINE.sub("", text))


def normalize_rendered(text: str) -> NormalizedText:
    """The text of a note as a reader sees it."""
    return normalize_quoted(
        ENTITY.sub(lambda entity: html.unescape(entity[0]), _TAG.sub(_tag_text, text))
    )


def normalize_quoted(text: str) -> NormalizedText:
    """A quotation of what a reader sees, which is without HTML; it may have the Markdown of the
    note.
    """
    rendered = inline.replace_wikilinks(
        _BLOCK.sub(_without_block_marks, text), lambda link: link.shown(folders=True)
    )
    rendered = inline.show_links(_BULLET.sub(" ", _ROW.sub(" ", rendered)))
    rendered = _EMPHASIS.sub(r"\2", _FOOTNOTE.sub("", rendered))
    return _normalize(_HIGHLIGHT.sub("", rendered))


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


def find_words(
    text: NormalizedText, words: str, start: int = 0, end: int | None = None
) -> Iterator[int]:
    """Where the normalized words are in the text, from border to border of its words."""
    at = text.text.find(words, start, end)
    while at >= 0:
        if is_word_border(text.text, at) and is_word_border(text.text, at + len(words)):
            yield at
        at = text.text.find(words, at + 1, end)


def is_word_border(text: str, at: int) -> bool:
    """Whether no word of a normalized text goes on at this position."""
    if not 0 < at < len(text) or _PLAIN_BORDER.match(text, at):
        return True
    words = _QUOTABLE_WORD.finditer(text, max(0, at - BORDER_REACH), at + BORDER_REACH)
    return not any(word.start() < at < word.end() for word in words)


def _normalize(text: str) -> NormalizedText:
    plain = _TYPOGRAPHY.sub(_plain_mark, _CASED_UNIT.sub(_spelled_unit, text))
    if not plain.isascii():
        plain = _FRACTION.sub(" ", _LOWERED.sub("_", _RAISED.sub("^", plain)))
    plain = fold(plain)
    has_cjk = bool(find_cjk(plain))
    joined = ""
    starts: list[int] = []
    for line in plain.split("\n"):
        bare = " ".join(line.split())
        if has_cjk:
            bare = _SPACE_WITHOUT_MEANING.sub("", bare)
        if bare and joined and not (has_cjk and _joins_without_space(joined, bare)):
            joined += " "
        starts.append(len(joined))
        joined += bare
    return NormalizedText(joined, starts)


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
