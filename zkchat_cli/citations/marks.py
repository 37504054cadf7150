"""Citation marks in a text: `[1]`, `[1, 3]`, `[source 2]`, `【1】`, `[^1]`, superscripts, `[[Note]]` and `Queries/Filters.md:12`.

This module finds what is written and does not know the sources; `verify` checks the citations. Numbers in code, in Markdown links, in
definitions (`[1]: …`) and after a letter (`a[1]`, `m²`) cite nothing.

The parser reads a text that comes in pieces, never goes backwards, and returns each mark once it is certain. It waits only for what the
next words may change: the start of a line, an open bracket, and marks behind a backtick until that is closed or its paragraph ends. Text
that waits is read again only when it has grown by an eighth, so the time is linear however the text is cut.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations import mark_syntax
from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.markdown.plain_text import pair_code_marks
from zkchat_cli.markdown.scanner import BlockScanner, LineKind
from zkchat_cli.models import Citation

_TOKEN = re.compile(rf"[\n\\`\[【［{mark_syntax.RAISED}]|\.(?=[mM]|\Z)|[sS](?=[oO][uU]|[oO]?\Z)")
_NO_PROSE: frozenset[LineKind] = frozenset(("blank", "definition", "fence", "code", "fence_end", "indented"))
_CONTINUES_PARAGRAPH: frozenset[LineKind] = frozenset(("paragraph", "underline", "rule", "delimiter"))
_TICKS = re.compile(r"`++")
_NOT_NEWLINE = re.compile(r"[^\n]")


class _Backticks(NamedTuple):
    """A run of backticks. After a backslash the first of them opens nothing, but the whole run closes."""

    start: int
    length: int
    escaped: bool

    @property
    def opens(self) -> int:
        return self.length - self.escaped


class CitationMarkParser:
    """`feed` all pieces of a text, then `close`: together they return the marks of the whole text, however it is cut.

    With `definitions`, definitions are returned, too. `code` grows with the text: the spans of code and definitions so far.
    """

    def __init__(self, *, definitions: bool = False) -> None:
        self.code: list[tuple[int, int]] = []
        self._definitions = definitions
        self._scanner = BlockScanner(lenient=True)
        self._text = ""
        self._begin = 0
        """Where `_text` begins in the whole text. It keeps as many characters as a mark may look back."""
        self._at = 0
        self._waiting: list[str] = []
        self._waiting_size = 0
        self._line_text: int | None = None
        """Where in the whole text the current line's text begins; None before the line's kind is known."""
        self._line_ends_block = False
        self._skips = self._hides = False
        """Whether the rest of the line is not prose, and whether it is code or a definition."""
        self._in_math = False
        """Whether a `$$` that begins a line is not closed yet."""
        self._mark_end = 0
        self._open: list[_Backticks | CitationMark] = []
        """Everything from the first run of backticks on that is not closed yet."""
        self._found: list[CitationMark] = []

    @property
    def closing(self) -> str:
        """The fence that must be added to close an open code block; empty if there is none, or if its list or quote ends it anyway."""
        fence = self._scanner.fence
        return fence.mark if fence and not fence.nested else ""

    def feed(self, text: str) -> list[CitationMark]:
        """Add the next piece; returns the marks that are certain now."""
        self._waiting.append(text)
        self._waiting_size += len(text)
        unread = len(self._text) - self._at
        return self._read(final=False) if self._waiting_size > unread // 8 else []

    def close(self) -> list[CitationMark]:
        """End the text; returns the remaining marks."""
        found = self._read(final=True)
        self._end_paragraph()
        return found + self._found

    def _read(self, *, final: bool) -> list[CitationMark]:
        self._text += "".join(self._waiting)
        self._waiting, self._waiting_size = [], 0
        while self._at < len(self._text) and (self._read_line(final) if self._line_text is None else self._read_token(final)):
            pass
        cut = max(0, self._at - mark_syntax.LOOKS_BACK)
        self._text, self._begin, self._at = self._text[cut:], self._begin + cut, self._at - cut
        found, self._found = self._found, []
        return found

    def _read_line(self, final: bool) -> bool:
        """Read the start of a line of prose, or another line as far as it is known. Returns False to wait for more text."""
        text, at = self._text, self._at
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline
        if not self._skips:
            start = text[at:end]
            bare = start.lstrip(" \t>")
            if not self._scanner.fence and (self._in_math or bare.startswith("$$") or bare == "$"):
                if newline < 0 and not final:
                    return False
                if self._in_math or start.count("$$") % 2:
                    self._end_paragraph()
                    self._in_math ^= bool(start.count("$$") % 2)
                    self._hide(self._begin + at, self._begin + end)
                    self._at = end + (newline >= 0)
                    return True
            line = self._scanner.scan(start) if final or newline >= 0 else self._scanner.scan_prefix(start)
            if line is None:
                return False
            if line.kind not in _CONTINUES_PARAGRAPH:
                self._end_paragraph()
            if line.kind not in _NO_PROSE:
                self._line_text, self._line_ends_block = self._begin + at + line.start, line.kind == "heading"
                return True
            if line.kind == "definition" and self._definitions and (mark := mark_syntax.parse_definition(text, text.index("[", at))):
                self._found.append(self._in_whole_text(mark))
            self._hides = line.kind != "blank"
        if self._hides and end > at:
            self._hide(self._begin + at, self._begin + end)
        self._skips = newline < 0
        self._at = end + (newline >= 0)
        return True

    def _read_token(self, final: bool) -> bool:
        """Read to the end of the line's next token. Returns False to wait for more text."""
        token = _TOKEN.search(self._text, self._at)
        self._at = token.start() if token else len(self._text)
        step = self._parse_token(token[0], final) if token else None
        if step is None:
            return False
        self._at, mark = step
        if mark:
            self._mark_end = self._begin + mark.end
            (self._open or self._found).append(self._in_whole_text(mark))
        return True

    def _parse_token(self, token: str, final: bool) -> mark_syntax.Step:
        text, at = self._text, self._at
        match token:
            case "\n":
                self._line_text = None
                if self._line_ends_block:
                    self._end_paragraph()
                return at + 1, None
            case "\\":
                return self._parse_escape(final)
            case "`":
                return self._parse_backticks(at, final, escaped=False)
            case "[":
                return mark_syntax.parse_bracket(text, at, final=final)
            case "【" | "［":
                return mark_syntax.parse_wide_bracket(text, at, final=final)
            case ".":
                return mark_syntax.parse_path(text, at, final=final, earliest=self._mark_end - self._begin)
            case "s" | "S":
                return mark_syntax.parse_label(text, at, final=final)
            case _:
                return mark_syntax.parse_superscript(text, at, final=final, first_in_line=self._begin + at == self._line_text)

    def _parse_escape(self, final: bool) -> mark_syntax.Step:
        escaped = self._text[self._at + 1 : self._at + 2]
        if not escaped and not final:
            return None
        if escaped == "`":
            return self._parse_backticks(self._at + 1, final, escaped=True)
        return self._at + 1 + (escaped not in ("", "\n")), None

    def _parse_backticks(self, at: int, final: bool, *, escaped: bool) -> mark_syntax.Step:
        ticks = _TICKS.match(self._text, at)
        assert ticks
        if ticks.end() == len(self._text) and not final:
            return None
        run = _Backticks(self._begin + at, len(ticks[0]), escaped)
        first = self._open[0] if self._open else None
        if not isinstance(first, _Backticks):
            self._open = [run] if run.opens else []
        elif first.opens == run.length:
            self._open = []
            self._hide(first.start + first.escaped, run.start + run.length)
        else:
            self._open.append(run)
        return ticks.end(), None

    def _end_paragraph(self) -> None:
        """Release the marks that waited for closing backticks: the next run of its length closes each run; without one it is text."""
        waiting, self._open = self._open, []
        at = [i for i, item in enumerate(waiting) if isinstance(item, _Backticks)]
        runs = [item for item in waiting if isinstance(item, _Backticks)]
        hidden: set[int] = set()
        for i, j in pair_code_marks([(run.opens, run.length) for run in runs]):
            self._hide(runs[i].start + runs[i].escaped, runs[j].start + runs[j].length)
            hidden.update(range(at[i], at[j]))
        self._found += [item for i, item in enumerate(waiting) if isinstance(item, CitationMark) and i not in hidden]

    def _hide(self, start: int, end: int) -> None:
        if self.code and self.code[-1][1] == start:
            start = self.code.pop()[0]
        self.code.append((start, end))

    def _in_whole_text(self, mark: CitationMark) -> CitationMark:
        return mark._replace(start=self._begin + mark.start, end=self._begin + mark.end) if self._begin else mark


class MarkedText(NamedTuple):
    """`code`: spans of code and definitions. `closing`: the fence that an open code block at the end still needs."""

    marks: tuple[CitationMark, ...]
    code: tuple[tuple[int, int], ...]
    closing: str


def find_marks(text: str) -> list[CitationMark]:
    """The marks of a text in its order, without definitions."""
    return [mark for mark in read_marks(text).marks if not mark.defines]


def read_marks(text: str) -> MarkedText:
    """The marks of a text, including definitions, and its code."""
    reader = CitationMarkParser(definitions=True)
    found = [*reader.feed(text), *reader.close()]
    return MarkedText(tuple(found), tuple(reader.code), reader.closing)


def blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these spans, so that all positions and lines stay the same."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], _NOT_NEWLINE.sub(" ", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def split_at_marks(text: str, marks: Iterable[CitationMark]) -> Iterator[tuple[str, CitationMark | None]]:
    """Split the text into its marks and the pieces between them, none of them empty. Marks that overlap or lie outside are left out."""
    at = 0
    for mark in marks:
        if at <= mark.start < mark.end <= len(text):
            if at < mark.start:
                yield text[at : mark.start], None
            yield text[mark.start : mark.end], mark
            at = mark.end
    if at < len(text):
        yield text[at:], None


def cited_marks(text: str, citations: Sequence[Citation]) -> list[CitationMark]:
    """The marks of an answer that belong to its citations, in the answer's order, and the definitions of their numbers.

    A mark by name also gets the number of its citation. Citations of imported messages have no spans: there every mark with a cited number
    counts.
    """
    at: dict[tuple[int, int], list[int]] = {}
    for citation in citations:
        for span in citation.spans:
            at.setdefault(span, []).append(citation.number)
    known = {citation.number for citation in citations}
    written = {mark.span: mark for mark in read_marks(text).marks}
    found = {span: mark for span, mark in written.items() if (mark.defines or not at) and known.intersection(mark.numbers)}
    for (start, end), numbers in at.items():
        if 0 <= start < end <= len(text):
            mark = written.get((start, end)) or CitationMark(start, end, name=text[start:end])
            found[start, end] = mark._replace(numbers=tuple(n for n in mark.numbers if n in numbers) or tuple(dict.fromkeys(numbers)))
    return [found[span] for span in sorted(found)]
