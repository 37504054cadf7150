"""Quoted words: where an answer quotes, and where in a note these words stand.

A model quotes what it reads, not how it is written: so the words are compared without white space, case, emphasis and the difference
between one kind of quotation mark or dash and another, first as the note is written, then as a reader sees it, without the marks of lists,
tables, headings and links.
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
"""Characters from which on words in quotation marks are taken for a quotation and checked."""

_QUOTE_MARK = re.compile('[“”„‟«»「」『』﹁﹂"＂]')
_NESTING = {"“": "”", "«": "»", "「": "」", "『": "』", "﹁": "﹂"}
_CLOSING = {closing: opening for opening, closing in _NESTING.items()}
_FLAT = {'"': '"', "＂": "＂", "„": "“”‟", "‟": "”", "»": "«"}
"""Marks that may open what one of the others closes, as in German and Danish; none of them nests."""
_BLANK_LINE = re.compile(r"\n[ \t>]*+(?=\n)")
_GAP = re.compile(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")
"""Where words were left out."""
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
def _beside_cjk() -> re.Pattern[str]:
    """A space that a CJK text may have or not; compiled when first needed, as so large a class takes milliseconds."""
    return re.compile(f"(?<=[{CJK}]) | (?=[{CJK}])")


class Quotation(NamedTuple):
    """Quoted words and where they stand in the answer, quotation marks included."""

    start: int
    end: int
    words: str


def find_quotations(answer: str, text: str) -> list[Quotation]:
    """The quotations long enough to be checked, of nested ones the outermost. `text` is the answer with its code blanked out.

    They may hold `code`, but quotation marks within code are none.
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
    """Pairs of marks that differ; each closing one closes the last of its kind that is open. What nothing closes is no quotation."""
    open_: dict[str, list[int]] = {opening: [] for opening in _NESTING}
    for at, mark in marks:
        if mark in open_:
            open_[mark].append(at)
        elif waiting := open_.get(_CLOSING.get(mark, "")):
            yield waiting.pop(), at


def _flat(marks: Sequence[tuple[int, str]], text: str) -> Iterator[tuple[int, int]]:
    """Pairs of marks that look alike or may also close: one that opens stands before a word, one that closes behind it."""
    blank = [m.start() for m in _BLANK_LINE.finditer(text)]
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
    """Whether there is a Latin letter or a digit; CJK text has no spaces around its quotation marks."""
    c = text[at : at + 1]
    return c.isascii() and (c.isalnum() or c == "_")


class _Wording(NamedTuple):
    """A text for comparing, on one line, and where in it each line of the text begins."""

    text: str
    starts: list[int]


def _wording(text: str) -> _Wording:
    plain = fold(_TYPOGRAPHY.sub(lambda found: _ALIKE[found[0]], text))
    unspaced = not plain.isascii() and cjk_pattern().search(plain) is not None
    lines: list[str] = []
    starts: list[int] = []
    length = 0
    for line in plain.split("\n"):
        bare = " ".join(line.split())
        if unspaced:
            bare = _beside_cjk().sub("", bare)
        if bare and lines:
            lines.append("" if unspaced and (cjk_pattern().match(lines[-1][-1]) or cjk_pattern().match(bare)) else " ")
            length += len(lines[-1])
        starts.append(length)
        if bare:
            lines.append(bare)
            length += len(bare)
    return _Wording("".join(lines), starts)


def _as_written(text: str) -> _Wording:
    return _wording(_QUOTED_LINE.sub("", text) if ">" in text else text)


def _as_read(text: str) -> _Wording:
    shown = _BLOCK.sub("", text)
    if "|" in shown:
        shown = _WIKILINK.sub(r"\1", shown)
        shown = _ROW.sub(" ", shown)
    if "[" in shown:
        shown = _FOOTNOTE.sub("", _LINK.sub(r"\1", _WIKILINK.sub(r"\1", shown)))
    return _wording(shown.replace("==", ""))


@dataclass(frozen=True)
class QuotableChunk:
    """A chunk that quotations are looked for in; what that takes is made once."""

    chunk: ContentChunk

    @cached_property
    def _written(self) -> _Wording:
        return _as_written(self.chunk.text)

    @cached_property
    def _read(self) -> _Wording:
        return _as_read(self.chunk.text)

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The headings in the chunk, each with its line in the note."""
        text, first = self.chunk.text, self.chunk.start_line
        if not _HIDES_HEADINGS.search(text):
            text = _NO_HEADING.sub("", text)  # as nothing else matters, it need not be read
        return [(first + h.line - 1, h.text) for h in read_markup(text).headings]

    def heading_over(self, line: int) -> str | None:
        """The last heading in the chunk at or above the note's `line`."""
        above = bisect_right(self.headings, line, key=lambda heading: heading[0])
        return self.headings[above - 1][1] or None if above else None

    def locate(self, quote: str) -> tuple[int, int] | None:
        """The lines of the note on which the quoted words begin and end; None when they do not stand in the chunk.

        Of words with gaps (`…`, `[...]`) each part must stand there, in order.
        """
        for gaps in (False, True):
            for as_read in (False, True):
                parts = _parts(quote, as_read, gaps)
                place = _place(self._read if as_read else self._written, parts) if parts else None
                if place:
                    return self.chunk.start_line + place[0], self.chunk.start_line + place[1]
        return None


@lru_cache(maxsize=8)
def _parts(quote: str, as_read: bool, gaps: bool) -> tuple[str, ...]:
    """What to look for, in order; cut at its `gaps`, and nothing where it has none.

    Remembered, because one quotation may be looked for in many chunks.
    """
    if gaps and not _GAP.search(quote.strip(_ENDS)):
        return ()
    wording = _as_read if as_read else _as_written
    parts = (wording(part.strip(_ENDS)).text for part in (_GAP.split(quote) if gaps else [quote]))
    return tuple(part for part in parts if part)


def locate_quote(quote: str, chunk: ContentChunk) -> tuple[int, int] | None:
    """The lines of the note on which the quoted words begin and end; None when they do not stand in the chunk."""
    return QuotableChunk(chunk).locate(quote)


def _place(wording: _Wording, parts: Sequence[str]) -> tuple[int, int] | None:
    """The lines, from 0, on which the first of the parts begins and the last ends; several must be a quotation's length together."""
    if len(parts) > 1 and sum(map(len, parts)) < MIN_QUOTE:
        return None
    first = end = 0
    for number, part in enumerate(parts):
        at = wording.text.find(part, end)
        if at < 0:
            return None
        if number == 1:
            first = wording.text.rfind(parts[0], first, at)  # the nearest to what follows it
        elif number == 0:
            first = at
        end = at + len(part)
    return bisect_right(wording.starts, first) - 1, bisect_right(wording.starts, end - 1) - 1
