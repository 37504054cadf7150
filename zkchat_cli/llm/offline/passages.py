"""The pieces of an excerpt that the offline provider can quote: short groups of sentences, list
items, table rows and lines of code.

A quote must occur word for word in the note, so a piece never joins lines that are not adjacent.
Headings are not quoted; they say what the pieces below them are about.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
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
# Characters up to which sentences that follow each other are one piece: many a sentence means
# little without the next
MAX_GROUP = 240
# Characters of a line that says what the code below it is
MAX_LABEL = 80
# Between the items of a list in one piece; a quotation is verified although the note does not have
# this mark
ITEM_SEPARATOR = " • "
COLONS = (":", "：")
# Of a paragraph that is a list without marks: prose has longer lines, or sentences
FEWEST_LINES = 3
LONGEST_LINE = 60
_LINK = lazy_pattern(
    rf"<[^<>]*>|!?{inline.WIKILINK}|!?{inline.LOOSE_LINK}|https?://\S+|(?<![^\s>])#[^\s#<]+"
    r"|(?<![\w-])[\w-]+::"
)
_NESTED_ITEM = lazy_pattern(rf"[ \t]+(?={LIST_MARKER}[ \t])")
_PROPERTY = lazy_pattern(r"[^\W\d][\w -]{0,39}(?:::?(?:\s|$)|：)")
_WORD = lazy_pattern(r"[^\W\d_]{2}")
_WORD_OR_NUMBER = lazy_pattern(r"[^\W\d_]{2}|\d")
_HAS_MARKUP = lazy_pattern(r"[\[\]<>&^=|]|\\|^(?:[-*+]|\d+[.)])\s")


class QuotablePassage(NamedTuple):
    """`text` on one line, the headings above it within the excerpt (the innermost last), and its
    position in its section.
    """

    text: str
    kind: PassageKind
    headings: tuple[str, ...]
    position: int
    # What it is, besides the headings: the header of the table for a row, the short line above for
    # code
    label: str = ""


def quotable_passages(
    text: str, heading: str | None = None, *, max_group: int = MAX_GROUP
) -> list[QuotablePassage]:
    """The pieces of an excerpt in its order. `heading` is the one above its first line, unless that
    is a heading itself.
    """
    found: list[QuotablePassage] = []
    headings: list[tuple[int, str]] = [(0, heading)] if heading else []
    position = 0
    lead: tuple[int, int] | None = None
    above = ""
    # The text begins in the middle of a list, and its indentation would make code of it
    if begin := _NESTED_ITEM.match(text):
        text = "\n".join(line.removeprefix(begin[0]) for line in text.split("\n"))
    for block in chain.from_iterable(map(_split_properties, blocks(text))):
        if block.kind == "heading":
            above = ""
            lead = None
            headings = [
                *((level, name) for level, name in headings if 0 < level < block.level),
                (block.level, block.text),
            ]
            position = 0
            continue
        before = len(found)
        label = above if block.kind in ("code", "indented") else ""
        if block.kind == "table" and any(map(is_delimiter_row, block.lines[1:2])):
            label = block.lines[0]
        for piece, kind in _pieces(block, max_group):
            has_words = kind == "code" or (_WORD_OR_NUMBER if kind == "row" else _WORD).search(
                _LINK.sub("", piece)
            )
            if not has_words:  # only links
                continue
            piece = truncate(piece, LONGEST) if len(piece) > LONGEST else " ".join(piece.split())
            found.append(
                QuotablePassage(piece, kind, tuple(name for _, name in headings), position, label)
            )
            position += 1
        lead = _extend_lead(found, lead, block)
        last = found[-1].text if len(found) > before else ""
        is_label = (
            block.kind == "paragraph" and len(block.lines) == 1 and len(block.text) <= MAX_LABEL
        )
        above = (
            last
            if is_label or (block.kind in ("paragraph", "item") and last.endswith(COLONS))
            else ""
        )
    return found


def _split_properties(block: MarkdownBlock) -> Iterator[MarkdownBlock]:
    """The lines of a block of properties (`name: value`) as rows, below the item of a list that
    they follow; any other block as it is.
    """
    first = int(block.kind == "item")
    rows = (
        block.lines[first:] if block.kind in ("paragraph", "item") and len(block.lines) > 1 else ()
    )
    if not rows or not all(_PROPERTY.match(row) and not ends_as_sentence(row) for row in rows):
        yield block
        return
    if first:
        yield block._replace(lines=block.lines[:1])
    yield from (
        block._replace(kind="table", lines=(row,), line=block.line + i)
        for i, row in enumerate(rows, first)
    )


def _extend_lead(
    found: list[QuotablePassage], lead: tuple[int, int] | None, block: MarkdownBlock
) -> tuple[int, int] | None:
    """Quote the items of a list with the passage that leads in to it, which ends with a colon, as
    far as they fit. A lead is the index of that passage and its level: items of the same level end
    it.
    """
    if lead is None or block.kind != "item" or block.level <= lead[1]:
        return (len(found) - 1, block.level) if found and found[-1].text.endswith(COLONS) else None
    above = found[lead[0]].text
    is_bare = above.endswith(COLONS)
    longer = f"{above}{' ' if is_bare else ITEM_SEPARATOR}{' '.join(block.text.split())}"
    if len(longer) > LONGEST:
        found[lead[0]] = found[lead[0]]._replace(text=above if is_bare else f"{above} …")
        return None
    found[lead[0]] = found[lead[0]]._replace(text=longer)
    return lead


def render_passage(passage: QuotablePassage, excerpt: QuotableChunk) -> str | None:
    """The passage as a reader of the note sees it: without tags, list marks and the targets of
    links; code stays in its backticks. As it is written, if the rendered words could not be
    verified as a quotation of the excerpt; None if neither could.
    """

    def is_verified(quote: str) -> bool:
        place = excerpt.locate(quote)
        return place is not None and place.verdict == "verified"

    written = passage.text
    if passage.kind != "code" and _HAS_MARKUP.search(written):
        rendered = _render_around_code(_show_links_with_code(written.replace("![[", "[[")))
        if rendered and is_verified(rendered):
            return rendered
    return written if is_verified(written) else None


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
    return " " * text[:1].isspace() + to_plain_text(text) + " " * text[-1:].isspace()


def quotable_chunk(text: str) -> QuotableChunk:
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


def _pieces(block: MarkdownBlock, max_group: int) -> Iterator[tuple[str, PassageKind]]:
    match block.kind:
        case "table":
            for row, below in zip(block.lines, (*block.lines[1:], ""), strict=True):
                if not is_delimiter_row(row) and not is_delimiter_row(below) and GAP not in row:
                    yield row, "row"
        case "code" | "indented":
            for line in _join_continued(block.lines):
                # A fence of code that is shown in other code
                if any(map(str.isalnum, line)) and not line.startswith(("```", "~~~")):
                    yield line, "code"
        case "paragraph" | "item" | "callout":
            for lines in _split_lines(block):
                yield from (
                    (group, "item" if block.kind == "item" else "prose")
                    for group in _sentence_groups(lines, max_group)
                )


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
    is_prose = any(
        len(line) > LONGEST_LINE or ends_as_sentence(line) or len(split_sentences(line)) > 1
        for line in lines
    )
    return (
        [block]
        if is_prose or len(lines) < FEWEST_LINES
        else [block._replace(lines=(line,)) for line in lines]
    )


def _sentence_groups(block: MarkdownBlock, longest: int) -> list[str]:
    """The sentences of a block; short ones that follow each other are one group."""
    text = " ".join(block.text.split())
    groups: list[str] = []
    for sentence in block_sentences(block):
        last = groups[-1] if groups else ""
        joined = next(
            (both for both in (f"{last} {sentence}", last + sentence) if last and both in text), ""
        )
        if joined and len(joined) <= longest:
            groups[-1] = joined
        else:
            groups.append(sentence)
    return groups
