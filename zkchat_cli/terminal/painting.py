"""Styled pieces as a terminal takes them: looks and links as escape sequences, as few as will do.

It counts the columns. Where terminals disagree on the width of a character, the column that follows is told (CHA), so that what stands
below each other does so everywhere.
"""

from collections.abc import Iterable

from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece, clusters, needs_column, width
from zkchat_cli.terminal.theme import Theme


class Painter:
    """`paint` returns the bytes-to-be of pieces; `column` is where the cursor stands after them."""

    def __init__(self, theme: Theme, column: int = 0) -> None:
        self._theme = theme
        self.column = column

    def paint(self, pieces: Iterable[Piece]) -> str:
        """Ends without any look or link being on."""
        made: list[str] = []
        look, opened = "", None
        for piece in pieces:
            text, style, address = piece
            if piece is NEWLINE or text == "\n":
                if opened:
                    made.append("\x1b]8;;\x1b\\")
                if look:
                    made.append("\x1b[m")
                made.append("\n")
                look, opened, self.column = "", None, 0
                continue
            wanted = self._theme.sgr(style)
            if wanted != look and (not text.isspace() or "4" in (*wanted.split(";"), *look.split(";"))):
                made.append(f"\x1b[{';' if look and wanted else ''}{wanted}m")
                look = wanted
            if address != opened:
                made.append(f"\x1b]8;;{address or ''}\x1b\\")
                opened = address
            made.append(self._placed(text))
        if opened:
            made.append("\x1b]8;;\x1b\\")
        if look:
            made.append("\x1b[m")
        return "".join(made)

    def _placed(self, text: str) -> str:
        if not needs_column(text):
            self.column += width(text)
            return text
        made = ""
        for cluster in clusters(text):
            self.column += width(cluster)
            made += f"{cluster}\x1b[{self.column + 1}G" if needs_column(cluster) else cluster
        return made
