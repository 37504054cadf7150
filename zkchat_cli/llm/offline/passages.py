"""The pieces of an excerpt that the offline provider can quote: short groups of sentences, list
items, table rows and lines of code.

A quote must occur word for word in the note, so a piece never joins lines that are not adjacent.
Headings are not quoted; they say what the pieces below them are about.
"""

import re
from typing import NamedTuple

from zkchat_cli.llm.offline.passage_pieces import PassageKind, PassagePiece, bare_row, pieces_of
from zkchat_cli.llm.offline.property_rows import FIELD, PROPERTY, split_properties
from zkchat_cli.llm.offline.quoted_lists import COLONS, CUT, QuotedList, read_item
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.markdown.blocks import (
    MarkdownBlock,
    blocks,
)
from zkchat_cli.markdown.tables import is_delimiter_row
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate

# Characters of a piece; a longer one is cut at a word and marked with an ellipsis
LONGEST = 480
# Most characters of sentences that are joined to one piece: many a sentence means little without
# the next
MAX_GROUP = 240
# Characters of a line that says what the code below it is
MAX_LABEL = 80
# From this share of letters outside of its links on, a piece is more than a collection of links
MOST_LINKS = 0.3
_LINK = lazy_pattern(
    rf"<[^<>]*>|!?{inline.WIKILINK}|!?{inline.LOOSE_LINK}|https?://\S+|(?<![^\s>])#[^\s#<]+"
    r"|(?<![\w-])[\w-]+::"
)
_WITHOUT_WORDS = lazy_pattern(
    rf"<[^<>]*>|!{inline.WIKILINK}|!{inline.LOOSE_LINK}|https?://\S+|(?<![^\s>])#[^\s#<]+"
    r"|(?<![\w-])[\w-]+::\s*$"
)
"""What says nothing to a reader: addresses, pictures, tags, and a field without a value. The name
of a linked note does: a map of content and a reading list have nothing else.
"""
_NESTED_ITEM = lazy_pattern(rf"[ \t]+(?={LIST_MARKER}[ \t])")
_LOOSE_ITEM = lazy_pattern(rf"\n(?:[ \t]*\n)+(?=[ \t]+{LIST_MARKER}[ \t])")
# Properties of front matter that are no answers, as they are written there
_NAME_OF_NOTE = lazy_pattern(
    r"(?:title|desc|description|summary|alias|aliases|tags?|css_?class(?:es)?|layout|slug"
    r"|permalink|etiquetas?|[eé]tiquettes?|schlagw[oö]rter|typ|type|tipo)[ \t]*:(?!:)",
    re.IGNORECASE,
)
# The level of the title of a callout, which items may be below
_TITLE = -1
_INDENTATION = (" ", "\t")
# Kinds of blocks that end no list: they are rather parts of its items
_WITHIN_ITEMS = ("table", "code", "indented")
# The same of an outliner's page
_NAME_OF_PAGE = lazy_pattern(r"(?:tags?|alias(?:es)?|type|icon|public|template|filters)::")
# How a line begins that belongs to the property above it
_CONTINUES_PROPERTY = ("", " ", "\t", "-", "#")
_HEADING = lazy_pattern(r"(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t#]*")
_LETTER = lazy_pattern(r"[^\W\d_]")
_TWO_LETTERS_OR_DIGIT = lazy_pattern(r"[^\W\d_]{2}|\d")


class QuotablePassage(NamedTuple):
    """`text` on one line, the headings above it within the excerpt (the innermost last), and its
    position in its section.
    """

    text: str
    kind: PassageKind
    headings: tuple[str, ...]
    position: int
    # The header of the table for a row; the short line above for code
    label: str = ""
    # What leads in to a list: the passage above it, or else its heading; empty for no list
    lead: str = ""
    # A numbered list without its numbers
    without_numbers: str = ""
    # The items of the list that it is nested in, or the title of its callout; the outermost first
    parents: tuple[str, ...] = ()

    @property
    def is_below_heading(self) -> bool:
        """Whether it is a whole list that only its heading leads in to; its items are passages."""
        return bool(self.lead) and self.lead in self.headings[-1:]

    @property
    def is_mostly_links(self) -> bool:
        """Whether little is left of it without its links: it says where something is, unless that
        is the value of a field.
        """
        if self.kind == "code" or FIELD.match(self.text):
            return False
        letters = len(_LETTER.findall(self.text))
        others = len(_LETTER.findall(_LINK.sub("", self.text)))
        return others < MOST_LINKS * letters


def quotable_passages(
    text: str, heading: str | None = None, *, max_group: int = MAX_GROUP
) -> list[QuotablePassage]:
    """The pieces of an excerpt in its order. `heading` is the one above its first line, unless that
    is a heading itself. Sentences that follow each other are one piece, up to `max_group`
    characters.
    """
    # An empty line in a nested list says nothing, and could make code of the next item
    text = _LOOSE_ITEM.sub("\n", _without_names(text))
    # The text begins in the middle of a list, and its indentation would make code of it
    if begin := _NESTED_ITEM.match(text):
        text = "\n".join(line.removeprefix(begin[0]) for line in text.split("\n"))
    reader = _PassageReader(text, heading, max_group)
    is_line = "\n" not in text.strip()
    for block in map(_heading_of_item, blocks(text)):
        for part in split_properties(block, is_whole=is_line):
            reader.read(part)
    return reader.finish()


def _heading_of_item(block: MarkdownBlock) -> MarkdownBlock:
    """A list item that is a heading, as outliners write them (`- ## Bands`), as that heading; any
    other block as it is.
    """
    heading = _HEADING.fullmatch(block.lines[0]) if block.kind == "item" else None
    if heading is None or len(block.lines) > 1:
        return block
    return block._replace(kind="heading", lines=(heading["text"],), level=len(heading["marks"]))


def _without_names(text: str) -> str:
    """The properties in front matter without those that only name, describe or file the note: they
    are no answers. Any other text as it is.
    """
    lines = text.split("\n")
    if not all(line[:1] in _CONTINUES_PROPERTY or PROPERTY.match(line) for line in lines):
        return text
    kept: list[str] = []
    is_name = False
    for line in lines:
        if line[:1] not in _CONTINUES_PROPERTY:
            is_name = _NAME_OF_NOTE.match(line) is not None
        if not is_name:
            kept.append(line)
    return "\n".join(kept)


class _Heading(NamedTuple):
    level: int
    text: str


class _Parent(NamedTuple):
    """An item that further ones may be nested in, or the title of a callout, which is at `level`
    `_TITLE`.
    """

    level: int
    text: str


class _OpenList(NamedTuple):
    """A list that the next block may continue. `position` is that of its lead-in among the passages
    or, without one, of its first item. Items of the level of the lead-in, or above, end it.
    """

    position: int
    level: int
    content: QuotedList


def _as_passage(content: QuotedList, place: QuotablePassage, end: str = "") -> QuotablePassage:
    """A list as a passage at the place of its lead-in or first item."""
    without_numbers = content.text_without_numbers + end
    text = content.text + end
    return place._replace(
        text=text,
        lead=content.lead or place.headings[-1],
        without_numbers=without_numbers if text != without_numbers else "",
    )


class _PassageReader:
    """Collects the passages of an excerpt, block by block."""

    def __init__(self, text: str, heading: str | None, max_group: int) -> None:
        self.found: list[QuotablePassage] = []
        self._lines = text.split("\n")
        self._max_group = max_group
        self._headings = [_Heading(0, heading)] if heading else []
        # The position of the next passage in its section
        self._position = 0
        self._list: _OpenList | None = None
        # The short line above, which says what code below it is
        self._above = ""
        # The items and the title of a callout that the next passage may belong to
        self._parents: list[_Parent] = []

    def read(self, block: MarkdownBlock) -> None:
        """Add the passages of the next block."""
        if block.kind == "heading":
            self._begin_section(block)
            return
        is_first = self._position == 0
        begin = len(self.found)
        label = self._label_of(block)
        last = ""
        self._end_parents(block)
        for piece in pieces_of(block, self._max_group):
            if _has_words(piece):
                last = _shorten(piece.text)
                self._add(last, piece.kind, label)
        if last and block.kind in ("item", "callout"):
            level = block.level if block.kind == "item" else _TITLE
            self._parents.append(_Parent(level, last))
        self._continue_list(block)
        if self._list is None:
            self._begin_list(block, begin, is_first=is_first)
        if last:
            # The lead may have got another item
            last = self.found[-1].text
        self._above = last if _may_be_label(block, last) else ""

    def finish(self) -> list[QuotablePassage]:
        """All passages, at the end of the excerpt."""
        self._end_list()
        return self.found

    def _begin_section(self, heading: MarkdownBlock) -> None:
        self._end_list()
        above = [each for each in self._headings if 0 < each.level < heading.level]
        self._headings = [*above, _Heading(heading.level, heading.text)]
        self._position = 0
        self._above = ""
        self._parents = []

    def _end_parents(self, block: MarkdownBlock) -> None:
        """Forget the items and the callout that the next block is not a part of."""
        if block.kind == "item":
            self._parents = [each for each in self._parents if each.level < block.level]
        elif block.kind == "callout" or not (block.quoted or block.kind in _WITHIN_ITEMS):
            self._parents = []

    def _begin_list(self, block: MarkdownBlock, position: int, *, is_first: bool) -> None:
        """Begin a list below a passage that ends with a colon or, with its first item, below a
        heading.
        """
        if self.found and self.found[-1].text.endswith(COLONS):
            lead = QuotedList(self.found[-1].text)
            self._list = _OpenList(len(self.found) - 1, block.level, lead)
        elif is_first and block.kind == "item" and self._headings and len(self.found) > position:
            content = QuotedList("", (read_item(block, self._lines),))
            self._list = _OpenList(position, block.level - 1, content)

    def _continue_list(self, block: MarkdownBlock) -> None:
        """Quote the items of a list with what leads in to it, as far as they fit."""
        if self._list is None:
            return
        if block.kind != "item" or block.level <= self._list.level:
            self._end_list()
            return
        position, level, content = self._list
        longer = content.extended(read_item(block, self._lines))
        if longer is not None:
            self._list = _OpenList(position, level, longer)
            if longer.lead:
                self.found[position] = _as_passage(longer, self.found[position])
            return
        if content.items and content.lead:
            self.found[position] = _as_passage(content, self.found[position], CUT)
        self._list = None

    def _end_list(self) -> None:
        """Add a list without a lead-in, before its items: the heading leads in to it."""
        ended = self._list
        self._list = None
        if ended is not None and not ended.content.lead and ended.content.is_worth_quoting:
            whole = _as_passage(ended.content, self.found[ended.position])
            self.found.insert(ended.position, whole)

    def _label_of(self, block: MarkdownBlock) -> str:
        if block.kind == "table" and any(map(is_delimiter_row, block.lines[1:2])):
            return bare_row(block.lines[0])
        if block.kind not in ("code", "indented"):
            return ""
        # Code below a list is only part of its last item if it is indented as that
        is_outside = self._parents and not self._lines[block.line - 1].startswith(_INDENTATION)
        return "" if is_outside and not self._above.endswith(COLONS) else self._above

    def _add(self, text: str, kind: PassageKind, label: str) -> None:
        names = tuple(heading.text for heading in self._headings)
        parents = tuple(parent.text for parent in self._parents)
        self.found.append(
            QuotablePassage(text, kind, names, self._position, label, parents=parents)
        )
        self._position += 1


def _has_words(piece: PassagePiece) -> bool:
    """Whether a piece says something: words, names of notes, figures; no property that only names
    or files the note.
    """
    if piece.kind == "code":
        return True
    if piece.kind == "row" and _NAME_OF_PAGE.match(piece.text):
        return False
    return _TWO_LETTERS_OR_DIGIT.search(_WITHOUT_WORDS.sub("", piece.text)) is not None


def _shorten(text: str) -> str:
    """A piece on one line, of at most `LONGEST` characters."""
    return truncate(text, LONGEST) if len(text) > LONGEST else " ".join(text.split())


def _may_be_label(block: MarkdownBlock, last: str) -> bool:
    """Whether the last passage of a block says what code below it is."""
    if block.kind not in ("paragraph", "item"):
        return False
    if last.endswith(COLONS):
        return True
    return len(block.lines) == 1 and len(block.text) <= MAX_LABEL
