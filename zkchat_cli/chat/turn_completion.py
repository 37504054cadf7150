"""The end of a turn, as values: which sources its answer may cite, the answer as a message, its
documents, and the report. Nothing here stores anything.
"""

from contextlib import suppress
from datetime import datetime
from functools import partial

from zkchat_cli.chat.evidence import find_evidence
from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import TurnInProgress, count_thinking
from zkchat_cli.citations.outdated_citations import mark_outdated
from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import VerificationResult, verify_citations
from zkchat_cli.context.prompt_messages import sent_images
from zkchat_cli.errors import VaultError
from zkchat_cli.llm.base import Model
from zkchat_cli.models.messages import FinishReason, MessageStatus, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.references.documents import SNIPPET_LENGTH, aggregate_documents, merge_references
from zkchat_cli.text.truncate import truncate


def verify_answer(
    turn: TurnInProgress, prompt: Prompt, state: ConversationState, services: SessionServices
) -> VerificationResult:
    """The citations of the turn's answer, verified against the chunks in its last prompt. Without
    any, the turn gets evidence of its own.
    """

    def chunk_of_earlier_prompt(number: int) -> tuple[ContentChunk, str] | None:
        """A chunk that a compaction folded, with the current text of its note."""
        chunk = state.references.chunk(number)
        if chunk is not None:
            with suppress(VaultError):
                return chunk, services.vault.reader.read(chunk.relative_path)
        return None

    chunks = _chunks_in_prompt(turn, prompt, state)
    verified = VerificationResult((), 0)
    with services.faults.contain("citations"):
        verified = verify_citations(turn.text, CitableSources(chunks, chunk_of_earlier_prompt))
        verified = _mark_outdated(verified, services)
    with services.faults.contain("evidence"):
        turn.use_evidence(find_evidence(turn, verified, state, services))
    return verified


def _mark_outdated(verified: VerificationResult, services: SessionServices) -> VerificationResult:
    """The citations with what their notes say of themselves at this time."""

    def now() -> datetime:
        return datetime.fromisoformat(services.now())

    read_note = services.vault.reader.read_if_there
    return verified._replace(citations=mark_outdated(verified.citations, read_note, now))


def _chunks_in_prompt(
    turn: TurnInProgress, prompt: Prompt, state: ConversationState
) -> list[ContentChunk]:
    """The chunks behind the documents and tool results in a prompt.

    Those of earlier turns come in the order of the prompt, then those of this turn.
    """
    sent: dict[str, None] = {}
    for message in prompt.messages:
        if message.kind in ("tool_results", "documents"):
            sent |= dict.fromkeys(message.source_ids)
    chunks: list[ContentChunk] = []
    for source in sent:
        earlier = state.find_message(source)
        if earlier is not None:
            chunks += earlier.chunks
    for own in turn.messages:
        if own.id in sent:
            chunks += own.chunks
    return chunks


def make_answer(
    turn: TurnInProgress,
    parent: str,
    status: MessageStatus,
    finish: FinishReason,
    verified: VerificationResult | None,
    services: SessionServices,
    prompts: PromptBuilder,
) -> ZkChatMessage:
    """The message of the answer.

    For a stopped turn it has the text so far, and is not `verified`.
    """
    runtime = turn.runtime
    counter = runtime.counter
    has_cost = verified is not None or turn.usage.prompt_tokens > 0
    return services.new_message(
        "assistant",
        turn.text,
        parent,
        status=status,
        finish_reason=finish,
        token_count=counter.count_to_store(turn.text),
        tool_tokens=0,
        model=runtime.model.name,
        reasoning=turn.reasoning or None,
        references=referenced_documents(turn, services, prompts),
        citations=verified.citations if verified is not None else (),
        uncited_statements=_count_uncited(runtime.model, verified),
        evidence=turn.evidence,
        usage=turn.usage if has_cost else None,
        timings_ms=turn.timer.timings(),
        agent=turn.user.agent,
        thinking_tokens=count_thinking(turn),
        memory_references=turn.memory_sent,
        task=summarize_tool_use(turn),
    )


def _count_uncited(model: Model, verified: VerificationResult | None) -> int | None:
    """The statements without a citation; None if they were not looked for. What the offline
    provider says beside its quotations is about them.
    """
    if verified is None:
        return None
    return 0 if model.searches_itself else verified.uncited


def summarize_tool_use(turn: TurnInProgress) -> dict[str, int] | None:
    """The calls and tokens of the tools that a turn used; None if it used none."""
    runs = turn.runs
    if not runs:
        return None
    return {
        "model_calls": len(turn.sent),
        "tools_called": len(runs),
        "tools_failed": sum(not run.ok for run in runs),
        "tool_tokens": sum(run.tokens for run in runs),
    }


def referenced_documents(
    turn: TurnInProgress, services: SessionServices, prompts: PromptBuilder
) -> tuple[DocumentReference, ...]:
    """The documents that the answer could use.

    They were named in the question and in the prompt from the start, found by tools, or named by
    memory.
    """
    if not turn.runtime.settings.references.enabled:
        return ()
    with services.faults.contain("sources"):
        return _find_documents(turn, services, prompts)
    return ()


def _find_documents(
    turn: TurnInProgress, services: SessionServices, prompts: PromptBuilder
) -> tuple[DocumentReference, ...]:
    vault = services.vault
    summary = partial(prompts.summary, turn.runtime)
    paths = {chunk.relative_path for chunk in turn.user.chunks}
    paths.update(image.relative_path for image in sent_images(turn.user))
    injected = [each for each in turn.user.references if each.relative_path in paths]
    found = aggregate_documents(turn.chunks, summary, vault.link_name)
    remembered: list[DocumentReference] = []
    sources = prompts.memory(turn.runtime).find_sources(turn.memory_sent)
    for path, text in sources.items():
        remembered.append(
            DocumentReference(
                wikilink=vault.link_to(path),
                relative_path=path,
                reference_type="memory",
                summary=summary(path),
                context_snippet=truncate(text, SNIPPET_LENGTH) or None,
            )
        )
    return merge_references(merge_references(injected, found), remembered)


def make_report(
    turn: TurnInProgress,
    prompt: Prompt,
    answer: ZkChatMessage,
    conversation_id: str,
    faults: FaultGuard,
) -> TurnReport:
    """What a completed turn reports."""
    runtime = turn.runtime
    references = answer.references
    with faults.contain("sources"):
        references = merge_references(turn.user.references, references)
    return TurnReport(
        conversation_id=conversation_id,
        message_id=answer.id,
        answer=answer.content,
        model=runtime.model.name,
        strategy=runtime.strategy.name,
        finish_reason=answer.finish_reason or "stop",
        references=references,
        citations=answer.citations,
        tools=turn.runs,
        usage=turn.usage,
        context=prompt.usage,
        compaction=turn.compaction,
        timings_ms=turn.timer.timings(),
        uncited_statements=answer.uncited_statements or 0,
        evidence=answer.evidence,
        agent=runtime.agent.name if runtime.agent is not None else None,
        grounded=any(citation.relative_path is not None for citation in answer.citations),
        retrieval=turn.user.retrieval or "none",
        level=turn.level,
        request=turn.request,
    )
