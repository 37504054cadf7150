"""/why: show how a document came into the conversation.

NOTE is a path, a title, a [[link]] or the number of a source. It says who named the document, which search found it, and whether the model
sees it now.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.exporters.base import DELIVERIES
from zkchat_cli.models import Prompt
from zkchat_cli.references import provenance
from zkchat_cli.references.provenance import FoundByTool, NamedByUser, Provenance
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.arguments import format_arguments
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.context_usage import sent_source_numbers
from zkchat_cli.views.prompts import prompt_status
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

_NO_LONGER_SENT = "its text is not in the prompt now: it was shortened, or its turn is not sent"
MAX_ARGUMENTS = 80
MAX_EXCERPTS = 10
"""Excerpts of one tool call that are listed."""


def _why(session: ZkChatSession, argument: str) -> CommandResult:
    key = _find_document(session, argument)
    document = provenance.trace_documents(session.history).get(key, Provenance(key))
    try:
        prompt, problem = session.prompt(), ""
    except ZkchatError as e:
        prompt, problem = None, e.message
    in_memory = prompt is not None and any(m.kind == "memory" and document.key in m.source_ids for m in prompt.messages)
    if not (document.named or document.found or document.remembered or in_memory):
        raise UsageError(f"{document.key} is not part of this conversation", "/refs lists the documents that are.")
    deleted = document.has_path and not session.vault.has_file(document.key)
    return CommandResult(lines=list(_provenance_lines(document, prompt, problem, in_memory=in_memory, is_deleted=deleted)))


def _find_document(session: ZkChatSession, argument: str) -> str:
    """The document that the user means: one of this conversation, else one of the vault."""
    chunk = base.numbered_chunk(session, argument)
    if chunk is not None:
        return chunk.relative_path
    keys = provenance.matching_documents(argument, session.history)
    if len(keys) > 1:
        raise UsageError(f"{truncate(argument, 80)} matches {len(keys)} documents", f"Give a path: {', '.join(keys[:5])}")
    if keys:
        return keys[0]
    return session.vault.locate(argument)[0]


def _provenance_lines(
    document: Provenance, prompt: Prompt | None, problem: str, *, in_memory: bool, is_deleted: bool
) -> Iterable[StyledLine]:
    describe = prompt_status(prompt) if prompt else lambda _: f"the prompt cannot be built now: {problem}"
    is_path = in_memory or document.has_path
    yield StyledLine((StyledSpan(document.key, "bold", document.key if is_path else None),))
    if is_deleted:
        yield styled_line("  deleted since; this is what the model got", "yellow")
    if in_memory:
        yield styled_line("  project memory: included in every prompt")
    sent = sent_source_numbers(prompt) if prompt else set()
    dropped = {each.id for each in prompt.dropped} if prompt else set()
    for named in document.named:
        missing = prompt is not None and named.message_id not in dropped and not sent.issuperset(named.reference.numbers)
        yield from _named_lines(named, _NO_LONGER_SENT if missing else describe(named.message_id))
    for turn, reference in document.remembered:
        text = f": {reference.context_snippet}" if reference.context_snippet else ""
        yield styled_line(f"  came from memory in turn {turn}{text}", indent=4)
    for message_id, found in groupby(document.found, key=lambda each: each.message_id):
        yield from _tool_call_lines(list(found), describe(message_id))
    for line in base.citation_lines(document.cited, changed=is_deleted, numbered=True):
        yield StyledLine((StyledSpan("  "), *line.left), indent=4)


def _named_lines(named: NamedByUser, in_prompt: str) -> Iterable[StyledLine]:
    reference = named.reference
    how = {"import": f"imported by {reference.wikilink} in turn {named.turn}", "memory": f"came from memory in turn {named.turn}"}.get(
        reference.reference_type, f"you named it in turn {named.turn}: {reference.wikilink}"
    )
    if reference.relative_path is None:
        near = reference.candidate_links
        yield styled_line(f"  {how}, not found{f'; did you mean {near}?' if near else ''}", "yellow")
        return
    yield styled_line(f"  {how}")
    if delivery := DELIVERIES.get(reference.delivery):
        yield styled_line(f"      {delivery}{f': {reference.delivery_reason}' if reference.delivery_reason else ''}", indent=6)
    for chunk in named.chunks[:MAX_EXCERPTS]:
        yield styled_line(f"      [{chunk.number}] lines {line_range(chunk.start_line, chunk.end_line)}", indent=6)
    yield styled_line(f"      {in_prompt}", "dim", indent=6)


def _tool_call_lines(found: Sequence[FoundByTool], in_prompt: str) -> Iterable[StyledLine]:
    first = found[0]
    arguments = truncate(format_arguments(first.arguments), MAX_ARGUMENTS)
    yield styled_line(f"  found in turn {first.turn} by {first.tool} {arguments}".rstrip())
    for each in found[:MAX_EXCERPTS]:
        chunk = each.chunk
        score = "" if chunk.score is None else f", score {chunk.score:.2f}"
        lines = line_range(chunk.start_line, chunk.end_line)
        yield styled_line(f"      [{chunk.number}] lines {lines}, {each.rank} of {each.of} excerpts{score}", indent=6)
    yield styled_line(f"      {in_prompt}", "dim", indent=6)


COMMAND = SlashCommand(_why, "NOTE", lambda session: [*provenance.trace_documents(session.history)])
