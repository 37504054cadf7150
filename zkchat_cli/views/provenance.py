"""How a document came into a conversation: who named it, which search found it, which answers cite
it, and whether the model sees it now.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from zkchat_cli.exporters.base import DELIVERIES, UNSUPPORTED, describe_misattribution
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
from zkchat_cli.views.sources import VERDICT_MARKS, number_ranges
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line, times_text

# Excerpts that are listed for each message
MAX_EXCERPTS = 10
# Source numbers of one document, or ranges of them, that are listed
MAX_RANGES = 8
# Characters of a tool call's arguments
MAX_ARGUMENTS = 80
# Characters of a quotation
MAX_QUOTE = 80


def document_lines(
    document: Provenance, path: str, link: str, summary: str | None, *, is_deleted: bool
) -> Iterator[StyledLine]:
    """A document in a list: its `link` and path, how often it was used, and its summary. Without a
    `summary` of the note as it is now, the one that the model got is shown.
    """
    where = [StyledSpan(path, "cyan", path)]
    if is_deleted:
        where.append(StyledSpan("  deleted since", "yellow"))
    yield StyledLine((StyledSpan(link, "bold"),), tuple(where))

    types = dict.fromkeys(each.reference_type for each in document.references)
    facts = (_numbers_text(document), ", ".join(types), _uses_text(document))
    yield styled_line(f"    {' · '.join(filter(None, facts))}")

    shown_summary = summary or _stored_summary(document)
    if shown_summary:
        yield styled_line(f"    {shown_summary}", "dim")


def broken_link_lines(document: Provenance) -> Iterator[StyledLine]:
    """A link without a target in a list of documents: its text, how often it was used, and notes
    with similar names.
    """
    reference = document.references[0]
    near = _did_you_mean(reference.candidate_links)
    yield styled_line(f"✗ {reference.wikilink} not found", "yellow")
    yield styled_line(f"    {_uses_text(document)}{near}", "dim")


def _uses_text(document: Provenance) -> str:
    """`named once, cited 3 times`"""
    cited = sum(max(1, len(each.citation.spans)) for each in document.cited)
    uses = {"named": len(document.named), "found": len(document.found), "cited": cited}
    texts = [f"{verb} {times_text(count)}" for verb, count in uses.items() if count]
    return ", ".join(texts)


def _numbers_text(document: Provenance) -> str:
    """The numbers of its excerpts: `[1-3, 7]`, at most MAX_RANGES ranges."""
    numbers: set[int] = set()
    for reference in document.references:
        numbers.update(reference.numbers)
    ranges = number_ranges(sorted(numbers))
    if not ranges:
        return ""
    more = ", …" if len(ranges) > MAX_RANGES else ""
    return f"[{', '.join(ranges[:MAX_RANGES])}{more}]"


def _stored_summary(document: Provenance) -> str | None:
    """The summary that the model got, if it got one."""
    summaries = (each.summary for each in document.references if each.summary is not None)
    return next(summaries, None)


def provenance_lines(
    document: Provenance, prompt: Prompt, *, is_deleted: bool
) -> Iterator[StyledLine]:
    """The uses of a document in a conversation, in order. `prompt` is the one that the next call
    would send; `is_deleted` says that the note is gone now.
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
        yield styled_line(f"  {how}, not found{_did_you_mean(reference.candidate_links)}", "yellow")
        return
    yield styled_line(f"  {how}")
    delivery = DELIVERIES.get(reference.delivery)
    if delivery:
        reason = f": {reference.delivery_reason}" if reference.delivery_reason else ""
        yield _detail_line(f"{delivery}{reason}")
    chunks = (chunk for chunk in mention.message.chunks if chunk.relative_path == key)
    for chunk in islice(chunks, MAX_EXCERPTS):
        yield _chunk_line(chunk)
    yield _detail_line(status.describe_excerpts(mention.message.id, reference.numbers), "dim")


def _did_you_mean(candidates: Iterable[str]) -> str:
    """A suggestion to put after the name of a document that was not found; empty without one."""
    listed = ", ".join(candidates)
    return f"; did you mean {listed}?" if listed else ""


def _memory_line(remembered: MemoryMention) -> StyledLine:
    text = f"  came from memory in turn {remembered.turn}"
    snippet = remembered.reference.context_snippet
    return styled_line(f"{text}: {snippet}" if snippet else text)


def _found_lines(found: FoundByTool, status: PromptStatus) -> Iterator[StyledLine]:
    message = found.message
    default = "a tool" if message.role == "tool" else "a search before the model was called"
    tool = message.tool_name or default
    arguments = ""
    if message.tool_run:
        arguments = truncate(format_arguments(message.tool_run.arguments), MAX_ARGUMENTS)
    yield styled_line(f"  found in turn {found.turn} by {tool} {arguments}".rstrip())
    for rank, chunk in islice(found.excerpts.items(), MAX_EXCERPTS):
        score = "" if chunk.score is None else f", score {chunk.score:.2f}"
        yield _chunk_line(chunk, f", {rank} of {found.total} excerpts{score}")
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
        text = f"cited in turn {turn}"
        if with_numbers:
            text += f" as [{citation.number}]"
        text += f", {_verdict_text(citation, is_changed=is_changed)}"
        if citation.is_unsupported:
            text += f"; {UNSUPPORTED}"
        sign = mark._replace(text=f"{'':{indent}}{mark.text} ")
        yield StyledLine((sign, StyledSpan(text)), indent=indent + 2)


def _verdict_text(citation: Citation, *, is_changed: bool) -> str:
    verb = "was" if is_changed else "is"
    quote = f"“{truncate(citation.quote, MAX_QUOTE)}”" if citation.quote else ""
    match citation.verdict:
        case "verified":
            return f"the quotation {verb} in the note: {quote}"
        case "cited":
            is_unchecked = "not_checked" in citation.remarks
            unchecked = f"imported, and not checked here: {quote}"
            return unchecked if is_unchecked else "without a quotation"
        case "cut":
            return f"the quotation cuts a sentence: {quote}; the note says: {citation.sentence}"
        case "misquoted":
            return f"the quotation {verb} not in the note: {quote}"
        case "misattributed":
            return f"{describe_misattribution(citation)}: {quote}"
        case "missing":
            return "but it was not in that prompt"
