"""The pieces of an excerpt that the offline provider can quote: sentences, list items, table rows and lines of code.

A quote must occur word for word in the note, so a piece never joins lines that are not adjacent. Headings are no pieces; they say what
the pieces under them are about.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.markdown.blocks import GAP, MarkdownBlock, block_sentences, blocks, is_delimiter_row, split_sentences
from zkchat_cli.text.truncate import truncate

Kind = Literal["prose", "item", "row", "code", "links"]
LONGEST = 320
"""Characters of a piece; a longer one is cut at a word and marked with an ellipsis."""
_QUOTE = re.compile(r"[ \t]*+(?:>[ \t]?)*+")
_LINK = re.compile(
    r"<[^<>]*>|!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*(?:\([^()]*\)[^()]*)*\)|https?://\S+|(?<![^\s>])#[^\s#<]+|(?<![\w-])[\w-]+::"
)
_NUMBERED = re.compile(r"\[\s*\d")
_WORD = re.compile(r"[^\W\d_]{2}")


class QuotablePassage(NamedTuple):
    """`text` on one line, the headings above it within the excerpt (the innermost last), and its place in its section.

    The kind `links` is text with links and hardly anything else.
    """

    text: str
    kind: Kind
    headings: tuple[str, ...]
    place: int


def quotable_passages(text: str, heading: str | None = None) -> list[QuotablePassage]:
    """The pieces of an excerpt in its order. `heading` is the one above its first line, unless that is a heading itself."""
    lines = text.split("\n")
    found: list[QuotablePassage] = []
    headings: list[tuple[int, str]] = [(0, heading)] if heading else []
    place = 0
    every = list(blocks(text))
    for index, block in enumerate(every):
        if block.kind == "heading":
            headings = [*((level, name) for level, name in headings if 0 < level < block.level), (block.level, block.text)]
            place = 0
            continue
        for piece, kind in _pieces(block, every[index + 1 :], lines):
            if len(piece) < 10 and _NUMBERED.search(piece):
                continue  # too short to be checked as a quotation, so its number would be taken for a citation
            found.append(QuotablePassage(piece, kind, tuple(name for _, name in headings), place))
            place += 1
    return found


def _pieces(block: MarkdownBlock, following: Sequence[MarkdownBlock], lines: Sequence[str]) -> Iterator[tuple[str, Kind]]:
    match block.kind:
        case "table":
            for row, below in zip(block.lines, (*block.lines[1:], ""), strict=True):
                if not is_delimiter_row(row) and not (below and is_delimiter_row(below)) and GAP not in row and _has_letter(row):
                    yield _cut(row), "row" if _WORD.search(_LINK.sub("", row)) else "links"
        case "code" | "indented":
            yield from ((_cut(line.strip()), "code") for line in block.lines if _has_letter(line))
        case "paragraph" | "item" | "callout":
            kind: Kind = "item" if block.kind == "item" else "prose"
            sentences = block_sentences(block)
            for sentence in sentences:
                if not _WORD.search(_LINK.sub("", sentence)):
                    yield _cut(sentence), "links"
                elif sentence is sentences[-1] and sentence.endswith((":", "：")):
                    yield _cut(_with_items(sentence, following, lines)), kind
                else:
                    yield _cut(sentence), kind


def _with_items(lead: str, following: Sequence[MarkdownBlock], lines: Sequence[str]) -> str:
    """A lead-in with as many of the list items right below it as fit; an ellipsis says that there are more."""
    text = lead
    for block in following:
        if block.kind != "item" or GAP in block.text:
            break
        written = lines[block.line - 1]
        longer = f"{text} {' '.join(written[_QUOTE.match(written).end() :].split())}"  # type: ignore[union-attr]  # it matches nothing, too
        if len(longer) >= LONGEST or len(split_sentences(longer)) > 1:
            return f"{text} …" if text != lead else text
        text = longer
        if len(block.lines) > 1:
            break
    return text


def _has_letter(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _cut(text: str) -> str:
    return truncate(text, LONGEST) if len(text) > LONGEST else " ".join(text.split())
