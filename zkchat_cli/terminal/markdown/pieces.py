"""Pieces of styled text, and how wide they are on a screen.

Terminals disagree on the width of what Unicode joins: a family of emoji, a flag, a skin tone. Such a cluster counts as wide as its parts
side by side, the most that any terminal takes, and who paints it tells the terminal the column that follows (see `needs_column`): so
nothing is ever overwritten and what stands below each other stays so, at worst with a gap.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from prompt_toolkit.utils import get_cwidth

_JOINERS = "\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_FLAG = "\U0001f1e6-\U0001f1ff"
_UNSURE = re.compile(f"[\u00ad\u200b{_JOINERS}\u2060-\u2064\ufeff{_FLAG}]")
_CLUSTER = re.compile(f"(?:[{_FLAG}]{{2}}|.)(?:\u200d.|[{_JOINERS}])*+", re.DOTALL)


class Piece(NamedTuple):
    """Text of one look, harmless already. `style` names styles, `address` is what a click opens. A line end is a piece of its own."""

    text: str
    style: str = ""
    address: str | None = None


NEWLINE = Piece("\n")


def width(text: str) -> int:
    """The columns of a text without line ends."""
    return len(text) if text.isascii() else sum(map(get_cwidth, text))


def widths(pieces: Iterable[Piece]) -> int:
    return sum(width(piece.text) for piece in pieces)


def needs_column(text: str) -> bool:
    """Whether terminals disagree on how wide this is."""
    return not text.isascii() and _UNSURE.search(text) is not None


def clusters(text: str) -> Iterator[str]:
    """The characters as a person counts them: never cut in their middle."""
    if text.isascii():
        yield from text
        return
    held = ""
    for cluster in _CLUSTER.findall(text):
        if held and width(cluster):
            yield held
            held = ""
        held += cluster
    yield held


def rows(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """The pieces line by line; the last one is what follows the last line end, if anything does."""
    made: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.text == "\n":
            made.append([])
        else:
            made[-1].append(piece)
    return made if made[-1] else made[:-1]


def narrowed(pieces: list[Piece], room: int) -> list[Piece]:
    """Of what stands before a row, so much that the row has room for words."""
    while pieces and widths(pieces) > room:
        pieces = pieces[1:]
    return pieces


def cut(pieces: Sequence[Piece], room: int) -> list[list[Piece]]:
    """Rows of code, cut where the room ends: between words would change what they mean."""
    made: list[list[Piece]] = [[]]
    column = 0
    for text, style, address in pieces:
        if column + width(text) <= room:
            made[-1].append(Piece(text, style, address))
            column += width(text)
            continue
        held = ""
        for cluster in clusters(text):
            if column + width(cluster) > room:
                made[-1].append(Piece(held, style, address))
                made.append([])
                held, column = "", 0
            held += cluster
            column += width(cluster)
        made[-1].append(Piece(held, style, address))
    return [[piece for piece in row if piece.text] for row in made]
