"""Words placed on rows while they are still being said.

A word is placed when its end has come, so it never begins on one row and ends on the next; a row is final when it is full. So what has been
placed is never taken back, however the text came in.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from copy import copy

from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece, clusters, rows, width, widths

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
_CLOSING = frozenset("、。，．！？；：」』）】》〉’”…·）」』】〗〙〛)]}.,;:!?%")
_OPENING = frozenset("「『（【《〈“‘〖〘〚([{")
_TOKEN = re.compile(rf"\n|[ \t]+|[{_WIDE}]|[^ \t\n{_WIDE}]+")
_IS_WIDE = re.compile(f"[{_WIDE}]")
LEAST = 8
"""Columns that text has on the narrowest of screens, whatever stands before it."""


class Flow:
    """Rows of `columns`, the first of which begins with `first` and the others with `rest`; `out` gets what is placed."""

    def __init__(self, columns: int, first: Sequence[Piece] = (), rest: Sequence[Piece] = ()) -> None:
        self.columns = columns
        self._before: Sequence[Piece] = first
        self._rest = rest
        self._start, self._margin = widths(first), widths(rest)
        """The columns that stand before the text of this row, and of the next."""
        self._word: list[Piece] = []
        self._word_width = 0
        self._long = False
        """Whether the word has been longer than a row, and its beginning is placed."""
        self._gap: Piece | None = None
        self._column = -1
        """-1 before the row has begun."""
        self.out: list[Piece] = []

    def fork(self) -> "Flow":
        """One that goes on from here without this one; nothing is placed in it yet."""
        other = copy(self)
        other._word, other.out = [*self._word], []
        return other

    def feed(self, pieces: Iterable[Piece]) -> None:
        for text, style, address in pieces:
            for token in _TOKEN.findall(text):
                self._take(Piece(token, style, address))

    def close(self) -> None:
        """Place the last word and end the row, if one has begun."""
        self._finish()
        if self._column >= 0:
            self._end()
        self._gap = None

    def _take(self, token: Piece) -> None:
        first = token.text[0]
        if first == "\n":
            self._finish()
            if self._column < 0:
                self._begin()
            self._end()
            self._gap = None
        elif first in " \t":
            self._finish()
            self._gap = self._gap or token._replace(text=" ")
        else:
            if self._word and self._may_break(self._word[-1].text[-1], first):
                self._finish()
            if self._word and self._word[-1][1:] == token[1:]:
                self._word[-1] = token._replace(text=self._word[-1].text + token.text)  # what joins must not be parted
            else:
                self._word.append(token)
            self._word_width += width(token.text)
            if self._long or self._word_width > self._room:
                self._fill(hold_back=True)

    def _may_break(self, last: str, first: str) -> bool:
        if first in _CLOSING or last in _OPENING or unicodedata.combining(first):
            return False
        return bool(_IS_WIDE.match(last) or _IS_WIDE.match(first))

    @property
    def _room(self) -> int:
        return max(self.columns - self._margin, min(LEAST, self.columns))

    @property
    def _limit(self) -> int:
        """The column at which a row ends; for it to end nowhere else, what stands before the text may not take all of it."""
        return self._margin + self._room

    def _finish(self) -> None:
        if not self._word:
            self._long = False
            return
        if self._long or self._word_width > self._room:
            self._fill(hold_back=False)
        else:
            self._put(self._word, self._word_width)
        self._word, self._word_width, self._long = [], 0, False

    def _put(self, word: Sequence[Piece], size: int) -> None:
        gap = self._gap if self._column > self._start else None
        if self._column > self._start and self._column + (gap is not None) + size > self._limit:
            self._end()
            gap = None
        if self._column < 0:
            self._begin()
        if gap:
            self.out.append(gap)
            self._column += 1
        self._gap = None
        self.out += word
        self._column += size

    def _fill(self, *, hold_back: bool) -> None:
        """Place a word that is longer than a row, row by row; the last character may still become another one."""
        if not self._long and self._column > self._start:
            self._end()
        self._long, self._gap = True, None
        parts = [Piece(cluster, style, address) for text, style, address in self._word for cluster in clusters(text)]
        self._word = parts[-1:] if hold_back else []
        self._word_width = widths(self._word)
        for part in parts[:-1] if hold_back else parts:
            size = width(part.text)
            if self._column > self._start and self._column + size > self._limit:
                self._end()
            if self._column < 0:
                self._begin()
            if self.out and self.out[-1][1:] == part[1:] and self.out[-1].text != "\n" and self._column > self._start:
                self.out[-1] = part._replace(text=self.out[-1].text + part.text)
            else:
                self.out.append(part)
            self._column += size

    def _begin(self) -> None:
        self.out += self._before
        self._column = self._start

    def _end(self) -> None:
        self.out.append(NEWLINE)
        self._column, self._before, self._start = -1, self._rest, self._margin


def folded(pieces: Iterable[Piece], columns: int) -> list[list[Piece]]:
    """The rows of a short text."""
    flow = Flow(columns)
    flow.feed(pieces)
    flow.close()
    return rows(flow.out)
