"""/why: show how a document came into the conversation.

NOTE is a path, a title, a [[link]] or the number of a source. It says who named the document, which search found it, and whether the model
sees it now.
"""

from itertools import groupby

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.exporters.base import DELIVERIES
from zkchat_cli.models import ContentChunk
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import Lines, citation_lines, numbered_chunk, slash_command
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import format_arguments, truncate
from zkchat_cli.views.prompts import prompt_status, sent_source_numbers
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

_NO_LONGER_SENT = "its text is not in the prompt now: it was shortened, or its turn is not sent"
MAX_ARGUMENTS = 80
MAX_EXCERPTS = 10


@slash_command("NOTE", lambda session: [*provenance.trace_documents(session.history)])
def run(session: ZkChatSession, argument: str) -> Lines:
    chunk, keys = numbered_chunk(session, argument), provenance.matching_documents(argument, session.history)
    if chunk is None and len(keys) > 1:
        raise UsageError(f"{truncate(argument, 80)} matches {len(keys)} documents", f"Give a path: {', '.join(keys[:5])}")
    key = chunk.relative_path if chunk else keys[0] if keys else session.vault.locate(argument)[0]
    document = provenance.trace_documents(session.history).get(key, provenance.Provenance(key))
    try:
        prompt, problem = session.prompt(), ""
    except ZkchatError as e:
        prompt, problem = None, e.message
    in_memory = prompt is not None and any(m.kind == "memory" and key in m.source_ids for m in prompt.messages)
    if not (document.named or document.found or document.remembered or in_memory):
        raise UsageError(f"{key} is not part of this conversation", "/refs lists the documents that are.")
    has_path = any(reference.relative_path for reference in document.references)
    deleted = has_path and not session.vault.has_file(key)
    describe = prompt_status(prompt) if prompt else lambda _: f"the prompt cannot be built now: {problem}"
    yield StyledLine((StyledSpan(key, "bold", key if in_memory or has_path else None),))
    if deleted:
        yield styled_line("  deleted since; this is what the model got", "yellow")
    if in_memory:
        yield styled_line("  project memory: included in every prompt")
    sent = sent_source_numbers(prompt) if prompt else set()
    dropped = {each.id for each in prompt.dropped} if prompt else set()
    for named in document.named:
        reference, turn = named.reference, named.turn
        how = {"import": f"imported by {reference.wikilink} in turn {turn}", "memory": f"came from memory in turn {turn}"}.get(
            reference.reference_type, f"you named it in turn {turn}: {reference.wikilink}"
        )
        if reference.relative_path is None:
            near = f"; did you mean {reference.candidate_links}?" if reference.candidate_links else ""
            yield styled_line(f"  {how}, not found{near}", "yellow")
            continue
        yield styled_line(f"  {how}")
        if delivery := DELIVERIES.get(reference.delivery):
            yield styled_line(f"      {delivery}{f': {reference.delivery_reason}' if reference.delivery_reason else ''}", indent=6)
        yield from (_chunk_line(chunk) for chunk in named.chunks[:MAX_EXCERPTS])
        missing = prompt is not None and named.message_id not in dropped and not sent.issuperset(reference.numbers)
        yield styled_line(f"      {_NO_LONGER_SENT if missing else describe(named.message_id)}", "dim", indent=6)
    for turn, reference in document.remembered:
        yield styled_line(f"  came from memory in turn {turn}{f': {text}' if (text := reference.context_snippet) else ''}", indent=4)
    for message_id, group in groupby(document.found, key=lambda each: each.message_id):  # by tool calls
        found = [*group]
        call = f"{found[0].tool} {truncate(format_arguments(found[0].arguments), MAX_ARGUMENTS)}"
        yield styled_line(f"  found in turn {found[0].turn} by {call}".rstrip())
        for each in found[:MAX_EXCERPTS]:
            score = "" if each.chunk.score is None else f", score {each.chunk.score:.2f}"
            yield _chunk_line(each.chunk, f", {each.rank} of {each.of} excerpts{score}")
        yield styled_line(f"      {describe(message_id)}", "dim", indent=6)
    for line in citation_lines(document.cited, changed=deleted, numbered=True):
        yield StyledLine((StyledSpan("  "), *line.left), indent=4)


def _chunk_line(chunk: ContentChunk, more: str = "") -> StyledLine:
    return styled_line(f"      [{chunk.number}] lines {line_range(chunk.start_line, chunk.end_line)}{more}", indent=6)
