"""Lists as one passage: the items of a list together, below what leads in to it.

An item says little without its neighbours, and "the fallacies are:" says nothing without its items.
Pure.
"""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.markdown.blocks import MarkdownBlock
from zkchat_cli.text.patterns import lazy_pattern

COLONS = (":", "：")
# Separates the items of a list in one passage; a quotation is verified although the note does not
# have this mark
ITEM_SEPARATOR = " • "
# Characters of a list in one passage; of a longer one, the first items are quoted
LONGEST_LIST = 640
# A list without a lead-in of items that are longer on average is prose in points
LONGEST_ITEM = 100
CUT = " …"
_NUMBER = lazy_pattern(r"[ \t>]*(?:(?!\d)" + LIST_MARKER + r"[ \t]+)*(\d{1,9}[.)])[ \t]")


class ListItem(NamedTuple):
    """An item of a list on one line. `number` is as it is written, empty for a bullet."""

    text: str
    number: str
    level: int


def read_item(block: MarkdownBlock, lines: Sequence[str]) -> ListItem:
    """The item in a block; `lines` are those of the whole text."""
    number = _NUMBER.match(lines[block.line - 1])
    return ListItem(" ".join(block.text.split()), number[1] if number else "", block.level)


class QuotedList(NamedTuple):
    """A list as far as it is read, with its lead-in, which may be empty."""

    lead: str
    items: tuple[ListItem, ...] = ()

    def extended(self, item: ListItem) -> "QuotedList | None":
        """The list with another item; None if the item does not fit any more."""
        longer = self._replace(items=(*self.items, item))
        return longer if len(longer.text) <= LONGEST_LIST else None

    @property
    def text(self) -> str:
        """All that is read, on one line: "Bring: a spade • a rake", "Then: 1. dig 2. sow"."""
        if not all(item.number for item in self.items):
            return self.text_without_numbers
        return " ".join([self.lead, *(f"{item.number} {item.text}" for item in self.items)]).strip()

    @property
    def text_without_numbers(self) -> str:
        """The same with marks between the items."""
        text = self.lead
        for item in self.items:
            if text.endswith(COLONS) or not text:
                text = f"{text} {item.text}"
            else:
                text = f"{text}{ITEM_SEPARATOR}{item.text}"
        return text.strip()

    @property
    def is_worth_quoting(self) -> bool:
        """Whether a list without a lead-in says more than its items: several short ones."""
        characters = sum(len(item.text) for item in self.items)
        return len(self.items) > 1 and characters <= LONGEST_ITEM * len(self.items)
