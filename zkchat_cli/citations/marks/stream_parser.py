"""Reads the marks of a text that comes in pieces. It goes from mark to mark, never backwards, and gives each mark once, when it is certain.

Held back is only what the next words may still change: the start of a line, an open bracket, and what stands behind a backtick until that
is closed or its paragraph ends. What is held back is read again only when it has grown by an eighth, so that no text takes more than
linear time, whatever it is and however it is cut.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from zkchat_cli.citations.marks import patterns
from zkchat_cli.citations.marks.patterns import CitationMark
from zkchat_cli.markdown.scanner import BlockScanner, LineKind

_TOKEN = re.compile(rf"[\n\\`\[【［{patterns.RAISED}]|\.(?=[mM]|\Z)")
_NO_PROSE: frozenset[LineKind] = frozenset(("blank", "definition", "fence", "code", "fence_end", "indented"))
_CONTINUES_PARAGRAPH: frozenset[LineKind] = frozenset(("paragraph", "underline", "rule", "delimiter"))
_TICKS = re.compile(r"`++")


class _Run(NamedTuple):
    """A run of backticks. After a backslash the first of them opens nothing, but the whole run closes."""

    start: int
    length: int
    escaped: bool

    @property
    def opens(self) -> int:
        return self.length - self.escaped


class CitationMarkParser:
    """`feed` it all pieces of a text, then `close` it: their marks together are those of the whole text, however it is cut.

    With `definitions` these are marks, too. `code` grows with the text: the places of code and definitions so far.
    """

    def __init__(self, *, definitions: bool = False) -> None:
        self.code: list[tuple[int, int]] = []
        self._definitions = definitions
        self._scanner = BlockScanner(lenient=True)
        self._text = ""
        self._begin = 0
        """Where `_text` begins in the whole. Of what was read so much is kept as a mark may look back."""
        self._at = 0
        self._waiting: list[str] = []
        self._waiting_size = 0
        self._line_text: int | None = None
        """Where in the whole the text of the current line begins; None before it is known what the line is."""
        self._line_ends_block = False
        self._skips = self._hides = False
        """Whether the rest of the line is no prose, and whether it is code or a definition rather than blank."""
        self._mark_end = 0
        self._open: list[_Run | CitationMark] = []
        """From the first run of backticks on that nothing has closed yet."""
        self._found: list[CitationMark] = []

    @property
    def closing(self) -> str:
        """The fence that must be added to close an open code block; empty if there is none, or if its list or quote ends it anyway."""
        fence = self._scanner.fence
        return fence.mark if fence and not fence.nested else ""

    def feed(self, text: str) -> list[CitationMark]:
        """Take the next piece; the marks that are certain now."""
        self._waiting.append(text)
        self._waiting_size += len(text)
        held = len(self._text) - self._at
        return self._read(final=False) if self._waiting_size > held // 8 else []

    def close(self) -> list[CitationMark]:
        """The marks that waited for the text's end."""
        found = self._read(final=True)
        self._end_paragraph()
        return found + self._found

    def _read(self, *, final: bool) -> list[CitationMark]:
        self._text += "".join(self._waiting)
        self._waiting, self._waiting_size = [], 0
        while self._at < len(self._text) and (self._line(final) if self._line_text is None else self._inline(final)):
            pass
        cut = max(0, self._at - patterns.LOOKS_BACK)
        self._text, self._begin, self._at = self._text[cut:], self._begin + cut, self._at - cut
        found, self._found = self._found, []
        return found

    def _line(self, final: bool) -> bool:
        """Read the start of a line of prose, or what is known of another line; whether anything could be decided."""
        text, at = self._text, self._at
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline
        if not self._skips:
            start = text[at:end]
            line = self._scanner.scan(start) if final or newline >= 0 else self._scanner.scan_prefix(start)
            if line is None:
                return False
            if line.kind not in _CONTINUES_PARAGRAPH:
                self._end_paragraph()
            if line.kind not in _NO_PROSE:
                self._line_text, self._line_ends_block = self._begin + at + line.start, line.kind == "heading"
                return True
            if line.kind == "definition" and self._definitions and (mark := patterns.definition(text, text.index("[", at))):
                self._found.append(self._placed(mark))
            self._hides = line.kind != "blank"
        if self._hides and end > at:
            self._hide(self._begin + at, self._begin + end)
        self._skips = newline < 0
        self._at = end + (newline >= 0)
        return True

    def _inline(self, final: bool) -> bool:
        """Read on behind the next thing in the line that may matter; whether anything could be decided."""
        token = _TOKEN.search(self._text, self._at)
        self._at = token.start() if token else len(self._text)
        step = self._step(token[0], final) if token else None
        if step is None:
            return False
        self._at, mark = step
        if mark:
            self._mark_end = self._begin + mark.end
            (self._open or self._found).append(self._placed(mark))
        return True

    def _step(self, token: str, final: bool) -> patterns.Step:
        text, at = self._text, self._at
        match token:
            case "\n":
                self._line_text = None
                if self._line_ends_block:
                    self._end_paragraph()
                return at + 1, None
            case "\\":
                return self._escape(final)
            case "`":
                return self._backticks(at, final, escaped=False)
            case "[":
                return patterns.bracket(text, at, final=final)
            case "【" | "［":
                return patterns.broad_bracket(text, at, final=final)
            case ".":
                return patterns.path(text, at, final=final, earliest=self._mark_end - self._begin)
            case _:
                return patterns.superscript(text, at, final=final, first_in_line=self._begin + at == self._line_text)

    def _escape(self, final: bool) -> patterns.Step:
        escaped = self._text[self._at + 1 : self._at + 2]
        if not escaped and not final:
            return None
        if escaped == "`":
            return self._backticks(self._at + 1, final, escaped=True)
        return self._at + 1 + (escaped not in ("", "\n")), None

    def _backticks(self, at: int, final: bool, *, escaped: bool) -> patterns.Step:
        ticks = _TICKS.match(self._text, at)
        assert ticks
        if ticks.end() == len(self._text) and not final:
            return None
        run = _Run(self._begin + at, len(ticks[0]), escaped)
        first = self._open[0] if self._open else None
        if not isinstance(first, _Run):
            self._open = [run] if run.opens else []
        elif first.opens == run.length:
            self._open = []
            self._hide(first.start + first.escaped, run.start + run.length)
        else:
            self._open.append(run)
        return ticks.end(), None

    def _end_paragraph(self) -> None:
        """Let go what waited for a closing run: each run is closed by the next of its length, and one that none closes is text."""
        waiting, self._open = self._open, []
        next_of_length: dict[int, int] = {}
        closed_by: dict[int, int] = {}
        for i in range(len(waiting) - 1, -1, -1):
            if isinstance(run := waiting[i], _Run):
                closed_by[i] = next_of_length.get(run.opens, i)
                next_of_length[run.length] = i
        i = 0
        while i < len(waiting):
            if isinstance(item := waiting[i], CitationMark):
                self._found.append(item)
            elif closed_by[i] > i:
                i = closed_by[i]
                closing = waiting[i]
                self._hide(item.start + item.escaped, closing.start + closing.length)  # type: ignore[union-attr]
            i += 1

    def _hide(self, start: int, end: int) -> None:
        if self.code and self.code[-1][1] == start:
            start = self.code.pop()[0]
        self.code.append((start, end))

    def _placed(self, mark: CitationMark) -> CitationMark:
        return replace(mark, start=self._begin + mark.start, end=self._begin + mark.end) if self._begin else mark
