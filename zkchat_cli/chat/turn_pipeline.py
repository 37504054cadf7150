"""One turn from the user's input to the stored answer: store the question, compact if due, run the model, verify, store the turn.

Closing the generator (Ctrl-C) stops the model and stores the partial answer as unfinished; a failure leaves the question stored and marked.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices, prepare_model
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import CompletedTurn, TurnInProgress, TurnRecorder, stored_message
from zkchat_cli.chat.turn_runner import DecideDocuments, TurnRunner
from zkchat_cli.chat.user_message import UserInput, UserMessageBuilder
from zkchat_cli.citations.verify import CitableSources, VerificationResult, verify_citations
from zkchat_cli.errors import StoreError, VaultError, ZkchatError
from zkchat_cli.models import (
    ContentChunk,
    DocumentReference,
    FinishReason,
    MessageStatus,
    RetrievalMode,
    TurnReport,
)
from zkchat_cli.references.provenance import SNIPPET_LENGTH, aggregate_documents, merge_references
from zkchat_cli.text.truncate import truncate


@dataclass(frozen=True, slots=True)
class TurnPipeline:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    recorder: TurnRecorder
    messages: UserMessageBuilder

    def run(self, turn: TurnInProgress, user_input: UserInput, notices: Sequence[events.Event]) -> Generator[events.Event, None, None]:
        """Yield the turn's events, the last one TurnCompleted or TurnFailed (see events.py)."""
        with turn.timer("prepare"):
            user = bare = self.messages.build_bare(turn.runtime, user_input)
        with turn.timer("store"):
            problems = self.recorder.begin(user)
            self.prompts.memory(turn.runtime).begin_turn(self.state.conversation.id, user.id)
        turn.messages.append(user)
        try:
            with turn.timer("model"):  # before the documents: how much of them fits depends on the window
                prepare_model(turn.runtime.model)
                turn.calibration = self.services.store.calibration(turn.runtime.model.name)
                turn.runtime = turn.runtime.calibrated(turn.calibration)
            references, with_tools = self.state.references.copy(), turn.runtime
            reported: set[events.Notice] = set()

            def decide_documents(retrieval: RetrievalMode | None) -> Sequence[events.Notice]:
                """By what is known of the model now. Returns what to tell the user that was not told before."""
                with turn.timer("prepare"):
                    self.state.references = references.copy()
                    runtime = replace(turn.runtime, tools=with_tools.tools, instructions=with_tools.instructions)
                    turn.runtime = self.messages.with_retrieval(runtime, retrieval or user_input.retrieval)
                    turn.messages[0], warnings = self.messages.add_documents(turn.runtime, bare, user_input, self.state.references)
                new = [warning for warning in warnings if warning not in reported]
                reported.update(new)
                return new

            warnings = decide_documents(None)
            user = turn.user
            yield events.MessageStored(user.id, user.references)
            yield from (*notices, *warnings, *problems)
            yield from self._answer(turn, decide_documents)
        except (GeneratorExit, KeyboardInterrupt):
            if not turn.closed:
                self._close(turn, "unfinished", "cancelled")
            else:  # closed after the last event, or stopped in the middle of storing
                with suppress(StoreError):
                    self.recorder.store_pending()
            raise
        except Exception as e:
            if turn.closed:  # it is in the history, and must not be so twice
                raise
            writing = {tool.name for tool in turn.runtime.tools if tool.writes}
            changed = any(run.ok and run.name in writing for run in turn.runs)  # then it is sent again, so that nothing is done twice
            notices = self._close(turn, "unfinished" if changed else "failed", "error")
            if not isinstance(e, ZkchatError):  # a defect of zkchat
                raise
            yield from notices
            yield events.TurnFailed(e, user.id, turn.text)

    def _answer(self, turn: TurnInProgress, decide_documents: DecideDocuments) -> Iterator[events.Event]:
        finish = yield from TurnRunner(self.services, self.state, self.prompts, self.recorder, turn, decide_documents).run()
        with turn.timer("prepare"):
            verified = self._verify(turn)
        with turn.timer("store"):
            notices = self._close(turn, "complete", finish, verified)
        yield from notices
        assert turn.prompt is not None
        self.state.record_usage(turn.prompt.usage)
        runtime, answer = turn.runtime, self.state.history[-1]
        report = TurnReport(
            conversation_id=self.state.conversation.id,
            message_id=answer.id,
            answer=answer.content,
            model=runtime.model.name,
            strategy=runtime.strategy.name,
            finish_reason=finish,
            references=merge_references(turn.user.references, answer.references),
            citations=answer.citations,
            tools=turn.runs,
            usage=turn.usage,
            context=turn.prompt.usage,
            compaction=turn.compaction,
            timings_ms=turn.timer.timings(),
            uncited_statements=answer.uncited_statements or 0,
            agent=runtime.agent.name if runtime.agent is not None else None,
            grounded=any(citation.relative_path is not None for citation in answer.citations),
            retrieval=turn.user.retrieval or "none",
            level=turn.level,
        )
        yield events.TurnCompleted(report)

    def _verify(self, turn: TurnInProgress) -> VerificationResult:
        """The answer's citations, verified against the chunks in the turn's last prompt."""
        assert turn.prompt is not None
        sent = dict.fromkeys(source for m in turn.prompt.messages if m.kind in ("tool_results", "documents") for source in m.source_ids)
        earlier = (message for source in sent if (message := self.state.find_message(source)))
        chunks = (c for m in (*earlier, *(m for m in turn.messages if m.id in sent)) for c in m.chunks)
        return verify_citations(turn.text, CitableSources(chunks, self._chunk_of_earlier_prompt))

    def _close(
        self, turn: TurnInProgress, status: MessageStatus, finish: FinishReason, verified: VerificationResult | None = None
    ) -> Sequence[events.Notice]:
        """Add the turn to the history and store it, in one transaction. Returns what to tell the user, if it cannot be stored for now."""
        runtime = turn.runtime
        turn.closed = True
        if verified is None and turn.prompt is not None and (turn.text or turn.reasoning) and turn.sent[-1].usage is None:
            turn.add_usage(None, turn.prompt, ())  # the server of a call that broke off counts it, too
        messages, runs = [stored_message(message) for message in turn.messages], turn.runs
        task = {"model_calls": len(turn.sent), "tools_called": len(runs), "tools_failed": sum(not run.ok for run in runs)}
        task["tool_tokens"] = sum(run.tokens for run in runs)
        if turn.text or turn.reasoning or verified is not None:
            answer = self.services.new_message(
                "assistant",
                turn.text,
                messages[-1].id,
                status=status,
                finish_reason=finish,
                token_count=runtime.counter.count_raw(turn.text),
                tool_tokens=0,
                model=runtime.model.name,
                reasoning=turn.reasoning or None,
                references=self._referenced_documents(turn),
                citations=verified.citations if verified else (),
                uncited_statements=verified.uncited if verified else None,
                usage=turn.usage if verified or turn.usage.prompt_tokens else None,
                timings_ms=turn.timer.timings(),
                agent=turn.user.agent,
                thinking_tokens=turn.usage.reasoning_tokens or (runtime.counter.count(turn.reasoning) if turn.reasoning else None),
                memory_references=turn.memory_sent,
                task=task if runs else None,
            )
            messages.append(answer)
        alone = len(messages) == 1
        at = self.services.now() if alone else messages[-1].timestamp
        messages[0] = messages[0].model_copy(update={"status": status if status == "failed" or alone else "complete", "updated_at": at})
        self.state.append(messages)
        facts = self.prompts.memory(runtime).finish_turn()
        calibrations = {runtime.model.name: turn.calibration} if turn.counted is not None else {}
        return self.recorder.commit(CompletedTurn(messages[0], messages[1:], turn.sent, calibrations, facts if verified else ()))

    def _referenced_documents(self, turn: TurnInProgress) -> tuple[DocumentReference, ...]:
        """The documents that the answer had: named in the question and in the prompt from the start, found by tools or named by memory."""
        if not turn.runtime.settings.references.enabled:
            return ()
        vault, summary = self.services.vault, self.prompts.summaries.summary
        paths = {chunk.relative_path for chunk in turn.user.chunks}
        injected = [reference for reference in turn.user.references if reference.relative_path in paths]
        known = merge_references(injected, aggregate_documents(turn.chunks, summary, vault.link_name))
        sources = self.prompts.memory(turn.runtime).find_sources(turn.memory_sent)
        remembered = [
            DocumentReference(
                wikilink=vault.link_to(path),
                relative_path=path,
                reference_type="memory",
                summary=summary(path),
                context_snippet=truncate(text, SNIPPET_LENGTH) or None,
            )
            for path, text in sources.items()
        ]
        return merge_references(known, remembered)

    def _chunk_of_earlier_prompt(self, number: int) -> tuple[ContentChunk, str] | None:
        """A chunk that a compaction folded, with the current text of its note."""
        if (chunk := self.state.references.chunk(number)) is not None:
            with suppress(VaultError):
                return chunk, self.services.vault.read(chunk.relative_path)
        return None
