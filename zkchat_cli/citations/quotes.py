"""Quotations: where an answer quotes, and where a note contains these words.

Models quote the words they read, not the markup. So words are compared without white space, case, emphasis and kinds of quotation marks or
dashes: first with the note as it is written, then as a reader sees it, without the markup of lists, tables, headings and links.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from zkchat_cli.models import ContentChunk
from zkchat_cli.text.words import CJK, cjk_pattern, fold
from zkchat_cli.vault.markup import read_markup

MIN_QUOTE = 10
"""Characters from which on words in quotation marks count as a quotation."""

_QUOTE_MARK = re.compile('[“”„‟«»「」『』﹁﹂"＂]')
_NESTING = {"“": "”", "«": "»", "「": "」", "『": "』", "﹁": "﹂"}
_CLOSING = {closing: opening for opening, closing in _NESTING.items()}
_FLAT = {'"': '"', "＂": "＂", "„": "“”‟", "‟": "”", "»": "«"}
"""Opening marks with the marks that close them, as in German and Danish; these do not nest."""
BLANK_LINE = re.compile(r"\n[ \t>]*+(?=\n)")
_GAP = re.compile(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")
"""An omission in a quotation."""
_ENDS = " \t\r\n.…,;:，。；：、"

_ALIKE = {
    **dict.fromkeys('‘’‚‛“”„‟«»‹›「」『』﹁﹂"＂´', "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("*_`~\\\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f", ""),
}
_TYPOGRAPHY = re.compile(f"[{re.escape(''.join(_ALIKE))}]")
_QUOTED_LINE = re.compile(r"^[ \t]*+>[ \t>]*+", re.MULTILINE)
_BLOCK = re.compile(r"^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++(?:\[.\][ \t]++)?|#{1,6}[ \t]++)*+", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*+\|(?:[ \t:|-]++$)?|\|", re.MULTILINE)
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*+\|)?([^\[\]|\n]*+)\]\]")
_LINK = re.compile(r"!?\[([^\[\]\n]*+)\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)?\)")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]++\]")
_HIDES_HEADINGS = re.compile(r"```|~~~|<!--|%%|\$\$|^ {0,3}(?:=|--)", re.MULTILINE)
_NO_HEADING = re.compile(r"^(?![ \t>]*+#).++", re.MULTILINE)


@cache
def _space_next_to_cjk() -> re.Pattern[str]:
    """A space next to a CJK character, which is optional. Compiled when first needed: so large a class takes milliseconds."""
    return re.compile(f"(?<=[{CJK}]) | (?=[{CJK}])")


class Quotation(NamedTuple):
    """Quoted words and their span in the answer, including the quotation marks."""

    start: int
    end: int
    words: str


def find_quotations(answer: str, text: str) -> list[Quotation]:
    """The quotations long enough to be checked; of nested ones the outermost. `text` is the answer with spaces in place of its code.

    A quotation may contain `code`, but quotation marks inside code do not count.
    """
    marks = [(m.start(), m[0]) for m in _QUOTE_MARK.finditer(text)]
    found: list[Quotation] = []
    end = 0
    for first, last in sorted([*_nested(marks), *_flat(marks, text)]) if marks else ():
        if first >= end:
            end = last + 1
            if last - first > MIN_QUOTE:
                found.append(Quotation(first, end, answer[first + 1 : last]))
    return found


def _nested(marks: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    """Pairs of different marks. Each closing mark closes the last open one of its kind; an unclosed mark is no quotation."""
    open_: dict[str, list[int]] = {opening: [] for opening in _NESTING}
    for at, mark in marks:
        if mark in open_:
            open_[mark].append(at)
        elif waiting := open_.get(_CLOSING.get(mark, "")):
            yield waiting.pop(), at


def _flat(marks: Sequence[tuple[int, str]], text: str) -> Iterator[tuple[int, int]]:
    """Pairs of marks that can open and close: an opening mark is before a word, a closing mark after one."""
    blank = [m.start() for m in BLANK_LINE.finditer(text)]
    for opening, closings in _FLAT.items():
        first = -1
        for at, mark in marks:
            if mark != opening and mark not in closings:
                continue
            closes = first >= 0 and mark in closings and not text[at - 1].isspace() and not _in_word(text, at + 1)
            if closes and bisect_right(blank, first) == bisect_right(blank, at):
                yield first, at
                first = -1
            elif mark == opening:
                opens = not text[at + 1 : at + 2].isspace() and not (at and _in_word(text, at - 1)) and at + 1 < len(text)
                first = at if opens else -1


def _in_word(text: str, at: int) -> bool:
    """Whether there is a Latin letter or digit. CJK letters do not count: CJK text has no spaces around quotation marks."""
    c = text[at : at + 1]
    return c.isascii() and (c.isalnum() or c == "_")


class _NormalizedText(NamedTuple):
    """A text normalized for comparison on one line, and where each line of the original begins in it."""

    text: str
    starts: list[int]


def _normalize(text: str) -> _NormalizedText:
    plain = fold(_TYPOGRAPHY.sub(lambda found: _ALIKE[found[0]], text))
    has_cjk = not plain.isascii() and cjk_pattern().search(plain) is not None
    lines: list[str] = []
    starts: list[int] = []
    length = 0
    for line in plain.split("\n"):
        bare = " ".join(line.split())
        if has_cjk:
            bare = _space_next_to_cjk().sub("", bare)
        if bare and lines:
            lines.append("" if has_cjk and (cjk_pattern().match(lines[-1][-1]) or cjk_pattern().match(bare)) else " ")
            length += len(lines[-1])
        starts.append(length)
        if bare:
            lines.append(bare)
            length += len(bare)
    return _NormalizedText("".join(lines), starts)


def _normalize_source(text: str) -> _NormalizedText:
    return _normalize(_QUOTED_LINE.sub("", text) if ">" in text else text)


def _normalize_rendered(text: str) -> _NormalizedText:
    rendered = _BLOCK.sub("", text)
    if "|" in rendered:
        rendered = _WIKILINK.sub(r"\1", rendered)
        rendered = _ROW.sub(" ", rendered)
    if "[" in rendered:
        rendered = _FOOTNOTE.sub("", _LINK.sub(r"\1", _WIKILINK.sub(r"\1", rendered)))
    return _normalize(rendered.replace("==", ""))


@dataclass(frozen=True)
class QuotableChunk:
    """A chunk to search for quotations; its normalized text is computed once."""

    chunk: ContentChunk

    @cached_property
    def _source(self) -> _NormalizedText:
        return _normalize_source(self.chunk.text)

    @cached_property
    def _rendered(self) -> _NormalizedText:
        return _normalize_rendered(self.chunk.text)

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The headings in the chunk with their lines in the note."""
        text, first = self.chunk.text, self.chunk.start_line
        if not _HIDES_HEADINGS.search(text):
            text = _NO_HEADING.sub("", text)  # other lines need not be read
        return [(first + h.line - 1, h.text) for h in read_markup(text).headings]

    def heading_above(self, line: int) -> str | None:
        """The last heading in the chunk at or above the note's `line`."""
        above = bisect_right(self.headings, line, key=lambda heading: heading[0])
        return self.headings[above - 1][1] or None if above else None

    def locate(self, quote: str) -> tuple[int, int] | None:
        """The lines of the note where the quoted words begin and end; None if the chunk does not contain them.

        A quotation with omissions (`…`, `[...]`) must have all its parts in the chunk, in order.
        """
        for gaps in (False, True):
            for rendered in (False, True):
                parts = _parts(quote, rendered, gaps)
                lines = _find_parts(self._rendered if rendered else self._source, parts) if parts else None
                if lines:
                    return self.chunk.start_line + lines[0], self.chunk.start_line + lines[1]
        return None


@lru_cache(maxsize=8)
def _parts(quote: str, rendered: bool, gaps: bool) -> tuple[str, ...]:
    """The normalized parts to search for, split at omissions if `gaps`; empty if there are none. Cached for searches in many chunks."""
    if gaps and not _GAP.search(quote.strip(_ENDS)):
        return ()
    normalize = _normalize_rendered if rendered else _normalize_source
    parts = (normalize(part.strip(_ENDS)).text for part in (_GAP.split(quote) if gaps else [quote]))
    return tuple(part for part in parts if part)


def _find_parts(normalized: _NormalizedText, parts: Sequence[str]) -> tuple[int, int] | None:
    """The lines, from 0, where the first part begins and the last ends; several parts must have the length of a quotation together."""
    if len(parts) > 1 and sum(map(len, parts)) < MIN_QUOTE:
        return None
    first = end = 0
    for number, part in enumerate(parts):
        at = normalized.text.find(part, end)
        if at < 0:
            return None
        if number == 1:
            first = normalized.text.rfind(parts[0], first, at)  # the last one before the second part
        elif number == 0:
            first = at
        end = at + len(part)
    return bisect_right(normalized.starts, first) - 1, bisect_right(normalized.starts, end - 1) - 1
