"""A block of code between fences."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

from zkchat_cli.terminal.markdown.flow import LEAST
from zkchat_cli.terminal.markdown.highlight import Highlighter
from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece, cut, widths


@dataclass(frozen=True, slots=True)
class Fence:
    """It was opened by `mark`, set in by `indent` columns."""

    mark: str
    indent: int
    code: Highlighter

    @classmethod
    def opened(cls, mark: str, indent: int, said: str) -> "Fence":
        """`said` is what stands behind the mark: the language first, if anything."""
        return cls(mark, indent, Highlighter((said.split() or [""])[0].strip("{}.").lower()[:40]))

    def fork(self) -> "Fence":
        return replace(self, code=copy(self.code))

    def ends_with(self, line: str) -> bool:
        bare = line.strip(" \t")
        return bare.startswith(self.mark) and not bare.strip(self.mark[0])

    def rows(self, line: str, before: Sequence[Piece], columns: int) -> Iterator[Piece]:
        """A line of code, each of its rows behind what stands `before` it, in `columns` altogether."""
        own = len(line) - len(line.lstrip(" "))
        line = line[min(own, self.indent) :].expandtabs(4)
        margin = [*before, Piece("  ")]
        for row in cut(self.code.line(line), max(LEAST, columns - widths(margin))):
            yield from (*(margin if row else before), *row, NEWLINE)
