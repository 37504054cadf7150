"""Code in an answer, in the colors of its language."""

from itertools import accumulate
from typing import NamedTuple

from rich.cells import chop_cells
from rich.console import Console
from rich.text import Text

from zkchat_cli.text.sanitize import sanitize

# Fewest columns for text, on the narrowest screen
MIN_TEXT = 8
# Longest line of code, in characters, that is colored: some pygments lexers are slow with longer
# lines
MAX_HIGHLIGHTED_LINE = 1000
MAX_LANGUAGE = 40
TAB = 4
MARGIN = "  "
_CODE_STYLES = {
    ("Comment",): "comment",
    ("Keyword",): "magenta",
    ("Operator", "Word"): "magenta",
    ("Name", "Function"): "bold",
    ("Name", "Class"): "bold",
    ("Name", "Tag"): "magenta",
    ("Literal", "String"): "green",
    ("Literal", "Number"): "cyan",
    ("Generic", "Deleted"): "red",
    ("Generic", "Inserted"): "green",
}


class CodeRows(NamedTuple):
    """The rows of a block of code, and how many of them its last line uses."""

    rows: list[Text]
    last_line: int


def code_rows(source: str, info: str, width: int, console: Console) -> CodeRows:
    """The rows of code with a margin, in `width` columns; `info` follows the opening fence."""
    if not source:
        return CodeRows([], 0)
    code = sanitize(source).expandtabs(TAB).removesuffix("\n")
    room = max(MIN_TEXT, width - len(MARGIN))
    rows: list[Text] = []
    last_line = 0
    for line in _highlight(code, _language(info), console).split("\n", allow_blank=True):
        # A line is cut exactly at the margin: breaking between words would lose the spaces between
        # them
        pieces = chop_cells(line.plain, room)
        parts = line.divide(accumulate(len(piece) for piece in pieces[:-1]))
        rows += [Text(MARGIN) + part for part in parts]
        last_line = len(parts)
    return CodeRows(rows, last_line)


def _language(info: str) -> str:
    for word in info.split():
        return word.strip("{}.").lower()[:MAX_LANGUAGE]
    return ""


def _highlight(code: str, language: str, console: Console) -> Text:
    """Code in the colors of its language; unchanged if the language is unknown."""
    if not language or any(len(line) > MAX_HIGHLIGHTED_LINE for line in code.split("\n")):
        return Text(code)
    # Importing pygments takes 30 ms, and only an answer with code needs it
    from rich.syntax import ANSISyntaxTheme, Syntax

    theme = ANSISyntaxTheme(
        {token: console.get_style(style) for token, style in _CODE_STYLES.items()}
    )
    text = Syntax(code, language, theme=theme).highlight(code)
    text.rstrip()
    return text if text.plain == code.rstrip() else Text(code)
