"""The blocks of other places that the lines of an excerpt show by their ids (`![[Note#^id]]`,
`((uuid))`). Pure.

The tools give such a block as an excerpt of its own, which is cited by itself; its title says which
lines show it: "Pump, shown in Pool:6".
"""

from collections.abc import Iterator
from typing import NamedTuple

from zkchat_cli.models.notes import SHOWN_IN
from zkchat_cli.text.embedded_data import HIDDEN
from zkchat_cli.text.patterns import lazy_pattern

_MARKS = lazy_pattern(r"^[ \t>]*(?:[-*+][ \t]+)?(?:\[.\][ \t]+)?")
_BETWEEN = lazy_pattern(r"(?<=:\d), |(?<=\d\d), ")
_ONLY_BLOCKS = lazy_pattern(rf"(?:\s|{HIDDEN}|!\[\[[^\[\]]*\]\])+")


class BlockTitle(NamedTuple):
    """The title of an excerpt, and the lines that show it, if it is a block."""

    title: str
    shown_in: tuple[str, ...] = ()


def read_block_title(written: str) -> BlockTitle:
    """The title of an excerpt without the lines that show it."""
    title, mark, places = written.rpartition(SHOWN_IN)
    return BlockTitle(title, tuple(_BETWEEN.split(places))) if mark else BlockTitle(written)


def lines_of_passage(passage: str, excerpt: str) -> Iterator[int]:
    """The lines of an excerpt, from 0, that a passage of it is made of; a line that only shows a
    block belongs to the one above it.
    """
    above = ""
    for number, line in enumerate(excerpt.split("\n")):
        text = _MARKS.sub("", line).strip()
        if text and not _ONLY_BLOCKS.fullmatch(text):
            above = text
        if text and above and above in passage:
            yield number
