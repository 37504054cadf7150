"""The pieces of an excerpt that the offline provider can quote: short groups of sentences, list items, table rows and lines of code.

A quote must occur word for word in the note, so a piece never joins lines that are not adjacent. Headings are no pieces; they say what
the pieces under them are about.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.markdown.blocks import GAP, MarkdownBlock, block_sentences, blocks, is_delimiter_row
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate

Kind = Literal["prose", "item", "row", "code"]
LONGEST = 480
"""Characters of a piece; a longer one is cut at a word and marked with an ellipsis."""
MAX_GROUP = 240
"""Characters up to which sentences that follow each other are one piece: many a sentence means little without the next."""
ITEMS = " • "
"""Between the items of a list in one piece: a mark that no note has to contain for the quotation to be verified."""
_LINK = lazy_pattern(r"<[^<>]*>|!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*\)|https?://\S+|(?<![^\s>])#[^\s#<]+|(?<![\w-])[\w-]+::")
_NUMBERED = lazy_pattern(r"\[\s*\d")
_WORD = lazy_pattern(r"[^\W\d_]{2}")
_INLINE_CODE = lazy_pattern(r"(`+(?:(?!`).)+`+)")
_LINK_WITH_CODE = lazy_pattern(r"(?P<code>`+(?:(?!`).)+`+)|\[\[(?P<target>[^\[\]]*`[^\[\]]*)\]\]|\[(?P<text>[^\[\]]*`[^\[\]]*)\]\([^()]*\)")
_HAS_MARKUP = lazy_pattern(r"[\[\]<>&^=|]|\\|^(?:[-*+]|\d+[.)])\s")


class QuotablePassage(NamedTuple):
    """`text` on one line, the headings above it within the excerpt (the innermost last), and its place in its section."""

    text: str
    kind: Kind
    headings: tuple[str, ...]
    place: int


def quotable_passages(text: str, heading: str | None = None, *, max_group: int = MAX_GROUP) -> list[QuotablePassage]:
    """The pieces of an excerpt in its order. `heading` is the one above its first line, unless that is a heading itself."""
    found: list[QuotablePassage] = []
    headings: list[tuple[int, str]] = [(0, heading)] if heading else []
    place = 0
    lead: int | None = None
    for block in blocks(text):
        if block.kind == "heading":
            headings = [*((level, name) for level, name in headings if 0 < level < block.level), (block.level, block.text)]
            place = 0
            continue
        for piece, kind in _pieces(block, max_group):
            has_words = kind == "code" or _WORD.search(_LINK.sub("", piece))
            if not has_words or (len(piece) < 10 and _NUMBERED.search(piece)):
                continue  # only links; or too short to be checked as a quotation, so its number would be taken for a citation
            piece = truncate(piece, LONGEST) if len(piece) > LONGEST else " ".join(piece.split())
            found.append(QuotablePassage(piece, kind, tuple(name for _, name in headings), place))
            place += 1
        lead = _extend_lead(found, lead, block)
    return found


def _extend_lead(found: list[QuotablePassage], lead: int | None, block: MarkdownBlock) -> int | None:
    """Quote the items of a list with the sentence above that leads in to it, as far as they fit; the index of that sentence in `found`."""
    if block.kind != "item" or lead is None:
        return len(found) - 1 if found and found[-1].text.endswith((":", "：")) else None
    above = found[lead].text
    longer = f"{above}{' ' if above.endswith((':', '：')) else ITEMS}{' '.join(block.text.split())}"
    if len(longer) > LONGEST:
        found[lead] = found[lead]._replace(text=above if above.endswith((":", "：")) else f"{above} …")
        return None
    found[lead] = found[lead]._replace(text=longer)
    return lead


def render_passage(passage: QuotablePassage, excerpt: QuotableChunk) -> str | None:
    """The passage as a reader of the note sees it: without tags, list marks and the targets of links; code stays in its backticks.

    As it is written, if the rendered words could not be verified as a quotation of the excerpt; None if neither could.
    """
    written = passage.text
    if passage.kind != "code" and _HAS_MARKUP.search(written):
        parts = _INLINE_CODE.split(_LINK_WITH_CODE.sub(_link_text, written))
        rendered = " ".join("".join(part if i % 2 else _render(part) for i, part in enumerate(parts)).split())
        if rendered and _is_verified(rendered, excerpt):
            return rendered
    return written if _is_verified(written, excerpt) else None


def _link_text(found: re.Match[str]) -> str:
    """The visible text of a link with code in it, whose backticks stay; code that contains a link is no link."""
    if found["code"]:
        return found[0]
    return found["text"] or found["target"].rpartition("|")[2].replace("#", " › ").strip()


def _is_verified(quote: str, excerpt: QuotableChunk) -> bool:
    place = excerpt.locate(quote)
    return place is not None and place.verdict == "verified"


def quotable_chunk(text: str) -> QuotableChunk:
    """An excerpt's text, to look up quotations in it."""
    return QuotableChunk(ContentChunk(id="", relative_path="", title="", start_line=1, end_line=1 + text.count("\n"), text=text))


def _render(text: str) -> str:
    """Plain text with the spaces at its ends, which separate it from the code around it."""
    begin, end = " " * text[:1].isspace(), " " * text[-1:].isspace()
    return begin + to_plain_text(text) + end


def _pieces(block: MarkdownBlock, max_group: int) -> Iterator[tuple[str, Kind]]:
    match block.kind:
        case "table":
            for row, below in zip(block.lines, (*block.lines[1:], ""), strict=True):
                if not is_delimiter_row(row) and not is_delimiter_row(below) and GAP not in row:
                    yield row, "row"
        case "code" | "indented":
            yield from ((line.strip(), "code") for line in block.lines if any(c.isalnum() for c in line))
        case "paragraph" | "item" | "callout":
            yield from ((group, "item" if block.kind == "item" else "prose") for group in _sentence_groups(block, max_group))


def _sentence_groups(block: MarkdownBlock, longest: int) -> list[str]:
    """The sentences of a block; short ones that follow each other are one group."""
    text = " ".join(block.text.split())
    groups: list[str] = []
    for sentence in block_sentences(block):
        last = groups[-1] if groups else ""
        joined = next((both for both in (f"{last} {sentence}", last + sentence) if last and both in text), "")
        if joined and len(joined) <= longest:
            groups[-1] = joined
        else:
            groups.append(sentence)
    return groups
