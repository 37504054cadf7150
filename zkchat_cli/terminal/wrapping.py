"""Lines broken between words, also while they are still being said.

A word is held back until its end has come, which in a stream is a token or two, so that it never begins on one line and ends on the next.
Code blocks and table rows are left as they are: there a line break would change what they mean to whoever copies them.
"""

import re

from prompt_toolkit.utils import get_cwidth

from zkchat_cli.terminal.markdown.pieces import clusters
from zkchat_cli.text.sanitize import sanitize

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
_CLOSING = "、。，．！？；：」』）】》〉’”…"
_PIECE = rf"\r?\n|[ \t]+|[{_WIDE}][{_CLOSING}]*|(?:[^ \t\r\n{_WIDE}]|\r(?!\n))+"
"""A newline, a gap, a character of a script without gaps (with the marks that must not begin a line), or a word. It is compiled with the
first answer: these classes take 5 ms, which the first prompt can do without."""
_FENCE = ("```", "~~~")
TAB = 8
_PARTING = "/-_.,:"


class Wrapper:
    """Turns a stream of text into text that fits `width` columns; `indent` begins every line but the first.

    A word that is wider than a line is left to the terminal, which breaks it so that it can be copied whole; with `chops` it is broken
    here, and goes on behind the indent.
    """

    def __init__(self, width: int, indent: str = "", *, chops: bool = False) -> None:
        self._width = max(width, 1)
        self._indent = indent
        self._chops = chops
        self._held = ""
        self._gap = ""
        self._column = 0
        self._line_is_empty = True
        self._in_fence = False
        self._verbatim = False
        self._word_goes_on = False

    def feed(self, text: str) -> str:
        """What of all the text so far may be shown now; neutralised."""
        *whole, last = re.findall(_PIECE, self._held + text) or [""]
        if last.endswith("\n"):
            whole, last = [*whole, last], ""
        too_long = len(last) > self._width  # no word, and nothing to wait for: the terminal will break it anyway
        if too_long:
            whole, last = [*whole, last], ""
        self._held = last
        shown = "".join(map(self._place, whole))
        self._word_goes_on = too_long or (self._word_goes_on and not whole)
        return shown

    def close(self) -> str:
        """The rest."""
        rest, self._held = self._held, ""
        return self._place(rest) if rest else ""

    def _place(self, piece: str) -> str:
        if piece.endswith("\n"):
            self._column, self._gap, self._line_is_empty = 0, "", True
            self._verbatim, self._word_goes_on = self._in_fence, False
            return "\n"
        if piece[0] in " \t":
            self._gap, self._word_goes_on = piece, False
            return ""
        if self._line_is_empty:
            self._begin(piece)
        word = sanitize(piece)
        gap, self._gap = self._gap, ""
        first, self._line_is_empty = self._line_is_empty, False
        end = self._column + len(gap.expandtabs(TAB)) + get_cwidth(word)
        room = self._width - max(len(self._indent), len(gap.expandtabs(TAB)) if first else 0)
        if self._chops and not self._verbatim and get_cwidth(word) > room > 0:
            parts = chopped(word, room)
            self._column = len(self._indent) + get_cwidth(parts[-1])
            return (gap if first else f"\n{self._indent}") + f"\n{self._indent}".join(parts)
        if first or self._verbatim or self._word_goes_on or end <= self._width:
            self._column = end if end <= self._width else end % self._width  # the terminal itself breaks what is too long
            return gap + word
        self._column = len(self._indent) + get_cwidth(word)
        return "\n" + self._indent + word

    def _begin(self, word: str) -> None:
        """A line begins with this word: is it a fence, code or a row of a table?"""
        if word.startswith(_FENCE):
            self._in_fence = not self._in_fence
        self._verbatim = self._in_fence or word.startswith((*_FENCE, "|"))


def chopped(word: str, width: int) -> list[str]:
    """A word in parts of at most `width` columns, each as long as can be; where it has marks that part, behind one of them."""
    parts, part, column, mark = [], "", 0, 0
    for cluster in clusters(word):
        if part and column + get_cwidth(cluster) > width:
            cut = mark or len(part)
            parts.append(part[:cut])
            part = part[cut:]
            column, mark = get_cwidth(part), 0
        part += cluster
        column += get_cwidth(cluster)
        if cluster in _PARTING:
            mark = len(part)
    return [*parts, part]


def fit(text: str, width: int) -> str:
    """Lines of our own making in `width` columns: what does not fit goes on below, indented; a column of its own goes there whole."""
    return "\n".join(_fit_line(line, width) for line in text.split("\n"))


def _fit_line(line: str, width: int) -> str:
    if get_cwidth(line) <= width:
        return line
    body = line.lstrip(" ")
    own = len(line) - len(body)
    indent = " " * min(own if own > 4 else own + 4, width // 2)
    head, column, tail = body.rpartition("   ")
    if column and get_cwidth(tail) + len(indent) <= width:
        return f"{_fit_line(line[:own] + head.rstrip(), width)}\n{indent}{tail}"
    wrapper = Wrapper(width, indent)
    return wrapper.feed(line) + wrapper.close()
