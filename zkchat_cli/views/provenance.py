"""How a document came into a conversation: who named it, which search found it, which answers cite
it, and whether the model sees it now.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from zkchat_cli.exporters.base import DELIVERIES, UNSUPPORTED
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.references.provenance import (
    DocumentMention,
    FoundByTool,
    MemoryMention,
    Provenance,
    TurnCitation,
)
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import format_arguments, truncate
from zkchat_cli.views.prompt_status import PromptStatus
from zkchat_cli.views.sources import VERDICT_MARKS
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_EXCERPTS = 10  # excerpts that are listed for each message
MAX_ARGUMENTS = 80  # characters of a tool call's arguments
MAX_QUOTE = 80


def provenance_lines(
    document: Provenance, prompt: Prompt, *, is_deleted: bool
) -> Iterator[StyledLine]:
    """The uses of a document in a conversation, in order. `prompt`: what the next call would send;
    `is_deleted`: its note is gone since.
    """
    status = PromptStatus(prompt)
    in_memory = is_project_memory(document.key, prompt)
    link = document.key if in_memory or document.has_path else None
    yield StyledLine((StyledSpan(document.key, "bold", link),))
    if is_deleted:
        yield styled_line("  deleted since; this is what the model got", "yellow")
    if in_memory:
        yield styled_line("  project memory: included in every prompt")
    for mention in document.named:
        yield from _mention_lines(mention, document.key, status)
    for remembered in document.remembered:
        yield _memory_line(remembered)
    for found in document.found:
        yield from _found_lines(found, status)
    yield from citation_lines(document.cited, is_changed=is_deleted, with_numbers=True, indent=2)


def is_project_memory(key: str, prompt: Prompt) -> bool:
    """Whether the document is a memory file that this prompt includes."""
    return any(
        message.kind == "memory" and key in message.source_ids for message in prompt.messages
    )


def _mention_lines(
    mention: DocumentMention, key: str, status: PromptStatus
) -> Iterator[StyledLine]:
    reference = mention.reference
    if reference.reference_type == "import":
        how = f"imported by {reference.wikilink} in turn {mention.turn}"
    else:
        how = f"you named it in turn {mention.turn}: {reference.wikilink}"
    if reference.relative_path is None:
        yield styled_line(f"  {how}, not found{did_you_mean(reference.candidate_links)}", "yellow")
        return
    yield styled_line(f"  {how}")
    if delivery := DELIVERIES.get(reference.delivery):
        reason = f": {reference.delivery_reason}" if reference.delivery_reason else ""
        yield _detail_line(f"{delivery}{reason}")
    chunks = (chunk for chunk in mention.message.chunks if chunk.relative_path == key)
    for chunk in islice(chunks, MAX_EXCERPTS):
        yield _chunk_line(chunk)
    yield _detail_line(status.describe_excerpts(mention.message.id, reference.numbers), "dim")


def did_you_mean(candidates: str) -> str:
    """A suggestion to put after the name of a document that was not found; empty without one."""
    return f"; did you mean {candidates}?" if candidates else ""


def _memory_line(remembered: MemoryMention) -> StyledLine:
    snippet = remembered.reference.context_snippet
    return styled_line(
        f"  came from memory in turn {remembered.turn}{f': {snippet}' if snippet else ''}"
    )


def _found_lines(found: FoundByTool, status: PromptStatus) -> Iterator[StyledLine]:
    message = found.message
    tool = message.tool_name
    if not tool:
        is_tool = message.role == "tool"
        tool = "a tool" if is_tool else "a search before the model was called"
    arguments = ""
    if message.tool_run:
        arguments = truncate(format_arguments(message.tool_run.arguments), MAX_ARGUMENTS)
    yield styled_line(f"  found in turn {found.turn} by {tool} {arguments}".rstrip())
    for rank, chunk in islice(found.excerpts.items(), MAX_EXCERPTS):
        score = "" if chunk.score is None else f", score {chunk.score:.2f}"
        yield _chunk_line(chunk, f", {rank} of {found.of} excerpts{score}")
    yield _detail_line(status.describe_message(message.id), "dim")


def _chunk_line(chunk: ContentChunk, more: str = "") -> StyledLine:
    return _detail_line(
        f"[{chunk.number}] lines {line_range(chunk.start_line, chunk.end_line)}{more}"
    )


def _detail_line(text: str, style: str = "") -> StyledLine:
    """A line below a use of the document."""
    return styled_line(f"      {text}", style, indent=6)


def citation_lines(
    citations: Sequence[TurnCitation],
    *,
    is_changed: bool,
    with_numbers: bool = False,
    indent: int = 0,
) -> Iterator[StyledLine]:
    """A line for each citation of a document or an excerpt. `is_changed`: the note has been edited
    or deleted since the answers were checked.
    """
    if not citations:
        yield styled_line(f"{'':{indent}}No answer cites it.", "dim")
    for turn, citation in citations:
        mark = VERDICT_MARKS[citation.verdict]
        number = f" as [{citation.number}]" if with_numbers else ""
        support = f"; {UNSUPPORTED}" if citation.is_unsupported else ""
        result = _verdict_text(citation, is_changed=is_changed)
        yield StyledLine(
            (
                mark._replace(text=f"{'':{indent}}{mark.text} "),
                StyledSpan(f"cited in turn {turn}{number}, {result}{support}"),
            ),
            indent=indent + 2,
        )


def _verdict_text(citation: Citation, *, is_changed: bool) -> str:
    verb = "was" if is_changed else "is"
    quote = f"“{truncate(citation.quote, MAX_QUOTE)}”" if citation.quote else ""
    match citation.verdict:
        case "verified":
            return f"the quotation {verb} in the note: {quote}"
        case "cited":
            return "without a quotation"
        case "cut":
            return f"the quotation cuts a sentence: {quote}; the note says: {citation.sentence}"
        case "misquoted":
            return f"the quotation {verb} not in the note: {quote}"
        case "missing":
            return "but it was not in that prompt"
