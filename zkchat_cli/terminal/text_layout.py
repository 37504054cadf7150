"""Line breaking by terminal cells: words stay whole, Chinese breaks between characters, punctuation
never begins a row.

rich's own wrapping moves a run of Chinese to a row of its own and lets a row begin with a comma; it
measures the cells.
"""

import re

from rich.cells import cell_len, chop_cells
from rich.text import Text

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
_CLOSING = r"、。，．！？；：」』）】》〉’”…·〗〙〛)\]}.,;:!?%"
_OPENING = r"「『（【《〈“‘〖〘〚(\[{"
_CHUNK = re.compile(rf"[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+)?[{_CLOSING}]*\s*")
# A word that is longer than a row breaks behind one of these, if it has one
_BREAK_AFTER = "/-_.,:"


def line_breaks(text: str, width: int) -> list[int]:
    """The offsets at which a line is broken so that no row is wider than `width` cells; spaces at
    the end of a row do not count.

    A break never moves when text is added, apart from the last row's: streamed rows stay right.
    """
    width = max(1, width)
    if text.isascii() and len(text) <= width:
        return []
    breaks: list[int] = []
    column = 0
    is_blank = True
    for chunk in _CHUNK.finditer(text):
        word = chunk[0].rstrip()
        at = chunk.start()
        size = cell_len(word)
        if not is_blank and column + size > width:
            breaks.append(at)
            column = 0
        if word and column and column + cell_len(word[0]) > width:  # behind spaces only
            breaks.append(at)
            column = 0
        while word and column + size > width:
            begin = word[: 4 * width]
            # No row, if no character takes a cell
            part = next(iter(chop_cells(begin, width - column)), begin)
            cut = max(map(part.rfind, _BREAK_AFTER)) + 1 or len(part) or 1
            at += cut
            breaks.append(at)
            word = word[cut:]
            column = 0
            size = cell_len(word) if len(word) <= width else width + 1
        column += cell_len(word) + len(chunk[0]) - len(chunk[0].rstrip())
        is_blank = is_blank and not word
    return [at for at in breaks if at < len(text)]


def wrap(text: Text, width: int) -> list[Text]:
    return [
        row
        for line in text.split("\n", allow_blank=True)
        for row in line.divide(line_breaks(line.plain, width))
    ]


def last_word(row: str) -> int:
    """Where the last word begins, spaces before it included; the end of the row if spaces follow
    it.
    """
    start = (
        len(row)
        if not row or row[-1].isspace()
        else [chunk.start() for chunk in _CHUNK.finditer(row) if chunk[0]][-1]
    )
    return len(row[:start].rstrip())
