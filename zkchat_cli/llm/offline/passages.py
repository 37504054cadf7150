"""The pieces of an excerpt that the offline provider can quote: short groups of sentences, list
items, table rows and lines of code.

A quote must occur word for word in the note, so a piece never joins lines that are not adjacent.
Headings are not quoted; they say what the pieces below them are about.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.block_scanner import LIST_MARKER
from zkchat_cli.markdown.blocks import (
    GAP,
    MarkdownBlock,
    block_sentences,
    blocks,
    is_delimiter_row,
)
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import ends_as_sentence, split_sentences
from zkchat_cli.text.truncate import truncate

PassageKind = Literal["prose", "item", "row", "code"]
# Characters of a piece; a longer one is cut at a word and marked with an ellipsis
LONGEST = 480
# Most characters of sentences that are joined to one piece: many a sentence means little without
# the next
MAX_GROUP = 240
# Characters of a line that says what the code below it is
MAX_LABEL = 80
# Separates the items of a list in one piece; a quotation is verified although the note does not
# have this mark
ITEM_SEPARATOR = " • "
COLONS = (":", "：")
# A paragraph of at least so many lines, all of them short, is a list without marks: prose has
# longer lines, or sentences
FEWEST_LINES = 3
LONGEST_LINE = 60
_LINK = lazy_pattern(
    rf"<[^<>]*>|!?{inline.WIKILINK}|!?{inline.LOOSE_LINK}|https?://\S+|(?<![^\s>])#[^\s#<]+"
    r"|(?<![\w-])[\w-]+::"
)
_NESTED_ITEM = lazy_pattern(rf"[ \t]+(?={LIST_MARKER}[ \t])")
_PROPERTY = lazy_pattern(r"[^\W\d][\w -]{0,39}(?:::?(?:\s|$)|：)")
_TWO_LETTERS = lazy_pattern(r"[^\W\d_]{2}")
_TWO_LETTERS_OR_DIGIT = lazy_pattern(r"[^\W\d_]{2}|\d")
_HAS_MARKUP = lazy_pattern(r"[\[\]<>&^=|]|\\|^(?:[-*+]|\d+[.)])\s")


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


def quotable_passages(
    text: str, heading: str | None = None, *, max_group: int = MAX_GROUP
) -> list[QuotablePassage]:
    """The pieces of an excerpt in its order. `heading` is the one above its first line, unless that
    is a heading itself. Sentences that follow each other are one piece, up to `max_group`
    characters.
    """
    reader = _PassageReader(heading, max_group)
    # The text begins in the middle of a list, and its indentation would make code of it
    if begin := _NESTED_ITEM.match(text):
        text = "\n".join(line.removeprefix(begin[0]) for line in text.split("\n"))
    for block in blocks(text):
        for part in _split_properties(block):
            reader.read(part)
    return reader.found


class _Heading(NamedTuple):
    level: int
    text: str


class _Lead(NamedTuple):
    """The index of a passage that leads in to a list, and the level of its block. Items of the same
    level end it.
    """

    position: int
    level: int


class _PassageReader:
    """Collects the passages of an excerpt, block by block."""

    def __init__(self, heading: str | None, max_group: int) -> None:
        self.found: list[QuotablePassage] = []
        self._max_group = max_group
        self._headings = [_Heading(0, heading)] if heading else []
        # The position of the next passage in its section
        self._position = 0
        self._lead: _Lead | None = None
        # The short line above, which says what code below it is
        self._above = ""

    def read(self, block: MarkdownBlock) -> None:
        """Add the passages of the next block."""
        if block.kind == "heading":
            self._begin_section(block)
            return
        label = self._label_of(block)
        last = ""
        for piece in _pieces(block, self._max_group):
            if _has_words(piece):
                last = _shorten(piece.text)
                self._add(last, piece.kind, label)
        self._lead = _extend_lead(self.found, self._lead, block)
        if last:
            # The lead may have got another item
            last = self.found[-1].text
        self._above = last if _may_be_label(block, last) else ""

    def _begin_section(self, heading: MarkdownBlock) -> None:
        above = [each for each in self._headings if 0 < each.level < heading.level]
        self._headings = [*above, _Heading(heading.level, heading.text)]
        self._position = 0
        self._lead = None
        self._above = ""

    def _label_of(self, block: MarkdownBlock) -> str:
        if block.kind == "table" and any(map(is_delimiter_row, block.lines[1:2])):
            return block.lines[0]
        return self._above if block.kind in ("code", "indented") else ""

    def _add(self, text: str, kind: PassageKind, label: str) -> None:
        names = tuple(heading.text for heading in self._headings)
        self.found.append(QuotablePassage(text, kind, names, self._position, label))
        self._position += 1


class _Piece(NamedTuple):
    text: str
    kind: PassageKind


def _has_words(piece: _Piece) -> bool:
    """Whether a piece is more than links; a row may have numbers only."""
    if piece.kind == "code":
        return True
    pattern = _TWO_LETTERS_OR_DIGIT if piece.kind == "row" else _TWO_LETTERS
    return pattern.search(_LINK.sub("", piece.text)) is not None


def _shorten(text: str) -> str:
    """A piece on one line, of at most `LONGEST` characters."""
    return truncate(text, LONGEST) if len(text) > LONGEST else " ".join(text.split())


def _may_be_label(block: MarkdownBlock, last: str) -> bool:
    """Whether the last passage of a block says what code below it is."""
    if block.kind not in ("paragraph", "item"):
        return False
    if last.endswith(COLONS):
        return True
    return block.kind == "paragraph" and len(block.lines) == 1 and len(block.text) <= MAX_LABEL


def _split_properties(block: MarkdownBlock) -> Iterator[MarkdownBlock]:
    """The lines of a block of properties (`name: value`) as rows, below the item of a list that
    they follow; any other block as it is.
    """
    first = 1 if block.kind == "item" else 0
    rows = block.lines[first:]
    may_have_rows = block.kind in ("paragraph", "item") and len(block.lines) > 1
    if not may_have_rows or not all(map(_is_property, rows)):
        yield block
        return
    if first:
        yield block._replace(lines=block.lines[:first])
    for i, row in enumerate(rows, first):
        yield block._replace(kind="table", lines=(row,), line=block.line + i)


def _is_property(line: str) -> bool:
    return _PROPERTY.match(line) is not None and not ends_as_sentence(line)


def _extend_lead(
    found: list[QuotablePassage], lead: _Lead | None, block: MarkdownBlock
) -> _Lead | None:
    """Quote the items of a list with the passage that leads in to it, which ends with a colon, as
    far as they fit. Returns the lead that the next block may extend.
    """
    if lead is None or block.kind != "item" or block.level <= lead.level:
        begins = bool(found) and found[-1].text.endswith(COLONS)
        return _Lead(len(found) - 1, block.level) if begins else None
    above = found[lead.position].text
    is_bare = above.endswith(COLONS)
    separator = " " if is_bare else ITEM_SEPARATOR
    longer = f"{above}{separator}{' '.join(block.text.split())}"
    fits = len(longer) <= LONGEST
    if fits:
        found[lead.position] = found[lead.position]._replace(text=longer)
    elif not is_bare:
        found[lead.position] = found[lead.position]._replace(text=f"{above} …")
    return lead if fits else None


def render_passage(passage: QuotablePassage, excerpt: QuotableChunk) -> str | None:
    """The passage as a reader of the note sees it: without tags, list marks and the targets of
    links; code stays in its backticks. It is left as written if the rendered words could not be
    verified as a quotation of the excerpt; None if neither form could.
    """
    written = passage.text
    if passage.kind != "code" and _HAS_MARKUP.search(written):
        rendered = _render_around_code(_show_links_with_code(written.replace("![[", "[[")))
        if rendered and _is_verified(rendered, excerpt):
            return rendered
    return written if _is_verified(written, excerpt) else None


def _is_verified(quote: str, excerpt: QuotableChunk) -> bool:
    location = excerpt.locate(quote)
    return location is not None and location.verdict == "verified"


def _show_links_with_code(text: str) -> str:
    """The text with what a reader sees of its links with code in them; code that contains a link
    stays as it is.
    """
    pieces: list[str] = []
    at = 0
    for token in inline.InlineReader(text).read(0, len(text)):
        link = token.link
        if link and token.start >= at and "`" in text[token.start : token.end]:
            shown = link.label if isinstance(link, inline.MarkdownLink) else link.shown()
            pieces += [text[at : token.start], shown]
            at = token.end
    return "".join([*pieces, text[at:]])


def _render_around_code(text: str) -> str:
    """The plain text, on one line, but code keeps its backticks."""
    pieces: list[str] = []
    at = 0
    for span in inline.code_spans(text):
        pieces += [_render_piece(text[at : span.start]), text[span.start : span.end]]
        at = span.end
    return " ".join("".join([*pieces, _render_piece(text[at:])]).split())


def _render_piece(text: str) -> str:
    """Plain text with the spaces at its ends, which separate it from the code around it."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return f"{before}{to_plain_text(text)}{after}"


def quotable_chunk(text: str) -> QuotableChunk:
    """A text in which quotations can be looked up."""
    return QuotableChunk(
        ContentChunk(
            id="",
            relative_path="",
            title="",
            start_line=1,
            end_line=1 + text.count("\n"),
            text=text,
        )
    )


def _pieces(block: MarkdownBlock, max_group: int) -> Iterator[_Piece]:
    match block.kind:
        case "table":
            for row in _table_rows(block.lines):
                yield _Piece(row, "row")
        case "code" | "indented":
            for line in filter(_is_line_of_code, _join_continued(block.lines)):
                yield _Piece(line, "code")
        case "paragraph" | "item" | "callout":
            kind: PassageKind = "item" if block.kind == "item" else "prose"
            for lines in _split_lines(block):
                for group in _sentence_groups(lines, max_group):
                    yield _Piece(group, kind)


def _is_line_of_code(line: str) -> bool:
    """Whether a line is more than the fence of a code block that is shown in other code."""
    return not line.startswith(("```", "~~~")) and any(map(str.isalnum, line))


def _table_rows(lines: Sequence[str]) -> Iterator[str]:
    """The rows of a table without its header; a row with a gap in it cannot be quoted."""
    for row, below in zip(lines, (*lines[1:], ""), strict=True):
        if not is_delimiter_row(row) and not is_delimiter_row(below) and GAP not in row:
            yield row


def _join_continued(lines: Sequence[str]) -> Iterator[str]:
    """The lines of code; those that end in a backslash with the next one."""
    begun = ""
    for line in lines:
        begun = f"{begun} {line.strip()}".strip()
        if begun.endswith("\\"):
            begun = begun[:-1].rstrip()
        else:
            yield begun
            begun = ""
    yield begun


def _split_lines(block: MarkdownBlock) -> list[MarkdownBlock]:
    """Each line of a block by itself if its lines are no prose: short, and without the end of a
    sentence.
    """
    lines = block.lines
    if len(lines) < FEWEST_LINES or any(map(_is_line_of_prose, lines)):
        return [block]
    return [block._replace(lines=(line,)) for line in lines]


def _is_line_of_prose(line: str) -> bool:
    return len(line) > LONGEST_LINE or ends_as_sentence(line) or len(split_sentences(line)) > 1


def _sentence_groups(block: MarkdownBlock, longest: int) -> list[str]:
    """The sentences of a block; short ones that follow each other are one group."""
    text = " ".join(block.text.split())
    groups: list[str] = []
    for sentence in block_sentences(block):
        joined = _join_in(text, groups[-1], sentence) if groups else ""
        if joined and len(joined) <= longest:
            groups[-1] = joined
        else:
            groups.append(sentence)
    return groups


def _join_in(text: str, last: str, sentence: str) -> str:
    """Two sentences as they follow each other in a text; empty if they do not."""
    for joined in (f"{last} {sentence}", last + sentence):
        if joined in text:
            return joined
    return ""
