"""Passages as a reader of the note sees them; their words must still be found in it. Pure."""

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.llm.offline.passages import QuotablePassage
from zkchat_cli.llm.offline.quoted_lists import ITEM_SEPARATOR
from zkchat_cli.markdown import inline
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern

# What joins a heading and the first item below it, or a later one
JOINTS = (ITEM_SEPARATOR, " … ")
_HAS_MARKUP = lazy_pattern(r"[\[\]<>&^=|]|\\|^(?:[-*+]|\d+[.)])\s")


def render_passage(passage: QuotablePassage, excerpt: QuotableChunk) -> str | None:
    """The passage as a reader of the note sees it: without tags, list marks and the targets of
    links; code stays in its backticks. It is left as written if the rendered words could not be
    verified as a quotation of the excerpt; None if neither form could.
    """
    written = passage.text
    if passage.kind != "code" and _HAS_MARKUP.search(written):
        rendered = _render_around_code(_show_links_with_code(_show_embeds(written)))
        if rendered and _is_verified(rendered, excerpt):
            return rendered
        # The numbers of a list are only found in a text that has no other markup
        if passage.without_numbers:
            numberless = passage._replace(text=passage.without_numbers, without_numbers="")
            return render_passage(numberless, excerpt)
    if _is_verified(written, excerpt):
        return written
    return _render_below_heading(passage, excerpt) if passage.kind == "item" else None


def _render_below_heading(passage: QuotablePassage, excerpt: QuotableChunk) -> str | None:
    """An item with the heading above it, without which its words would say something else: "What
    not to put there • Drafts of letters". None if that cannot be verified either.
    """
    for heading in passage.headings[-1:]:
        for joint in JOINTS:
            below = f"{heading}{joint}{_render_around_code(_show_links_with_code(passage.text))}"
            if _is_verified(below, excerpt):
                return below
    return None


def _is_verified(quote: str, excerpt: QuotableChunk) -> bool:
    location = excerpt.locate(quote)
    return location is not None and location.verdict == "verified"


def _show_embeds(text: str) -> str:
    """The text with the names of embedded notes and pictures as links; code stays as it is."""
    pieces: list[str] = []
    at = 0
    for span in inline.code_spans(text):
        pieces += [text[at : span.start].replace("![[", "[["), text[span.start : span.end]]
        at = span.end
    return "".join([*pieces, text[at:].replace("![[", "[[")])


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
