"""Line breaking by terminal cells: words stay whole, Chinese breaks between characters, punctuation
never begins a row.

rich's own wrapping moves a run of Chinese to a row of its own and lets a row begin with a comma; it
measures the cells.
"""

import re

from rich.cells import cell_len, chop_cells
from rich.text import Text

# Ranges of characters that are two cells wide
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff"
    "\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_CLOSING = r"、。，．！？；：」』）】》〉’”…·〗〙〛)\]}.,;:!?%"
_OPENING = r"「『（【《〈“‘〖〘〚(\[{"
_CHUNK = re.compile(rf"[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+)?[{_CLOSING}]*\s*")
# A word that is longer than a row breaks after one of these characters, if it has one
_BREAK_AFTER = "/-_.,:"
# How many rows' worth of characters are measured to find the end of a row: some characters take no
# cell
_MEASURED_SHARE = 4


def line_breaks(text: str, width: int) -> list[int]:
    """The offsets at which a line is broken so that no row is wider than `width` cells.

    Spaces at the end of a row do not count. A break never moves when text is added, except that of
    the last row: streamed rows stay right.
    """
    width = max(1, width)
    if text.isascii() and len(text) <= width:
        return []
    breaks: list[int] = []
    column = 0
    is_blank = True
    for chunk in _CHUNK.finditer(text):
        word = chunk[0].rstrip()
        spaces = len(chunk[0]) - len(word)
        at = chunk.start()
        size = cell_len(word)
        if not is_blank and column + size > width:
            breaks.append(at)
            column = 0
        # After spaces only, a long word begins in their row if one character fits
        if word and column and column + cell_len(word[0]) > width:
            breaks.append(at)
            column = 0
        if word and column + size > width:
            cuts = _cuts(word, width, column)
            breaks += [at + cut for cut in cuts]
            word = word[cuts[-1] :]
            size = cell_len(word)
            column = 0
        column += size + spaces
        is_blank = is_blank and not word
    return [at for at in breaks if at < len(text)]


def _cuts(word: str, width: int, column: int) -> list[int]:
    """The offsets at which a word is cut if it does not fit into its row, where it begins at
    `column`.
    """
    cuts: list[int] = []
    at = 0
    size = cell_len(word)
    while at < len(word) and column + size > width:
        begin = word[at : at + _MEASURED_SHARE * width]
        # There is no row if no character takes a cell
        row = next(iter(chop_cells(begin, width - column)), begin)
        last_break = max(map(row.rfind, _BREAK_AFTER)) + 1
        at += last_break or len(row) or 1
        cuts.append(at)
        column = 0
        # A word may be very long: if it has more characters than a row has cells, it is not
        # measured
        size = cell_len(word[at:]) if len(word) - at <= width else width + 1
    return cuts


def wrap(text: Text, width: int) -> list[Text]:
    """The rows of a text in `width` cells; at least one."""
    rows: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        rows += line.divide(line_breaks(line.plain, width))
    return rows


def last_word(row: str) -> int:
    """The position of the last word, including the spaces before it; the end of the row if spaces
    follow the word.
    """
    start = len(row)
    if row and not row[-1].isspace():
        for chunk in _CHUNK.finditer(row):
            if chunk[0]:
                start = chunk.start()
    return len(row[:start].rstrip())
