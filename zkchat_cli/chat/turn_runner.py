"""One turn from the user's input to the stored answer: store the question, compact if due, run the
model and its tools in a loop until it answers, verify, store the turn.

The prompt is built within budget before each call. Whatever a model does (unknown tools, arguments
that are not JSON, endless tool calls), the turn's messages stay well-formed: each tool call is
followed by its result. Closing the generator (Ctrl-C) stops the model and stores the partial answer
as unfinished; a failure leaves the question stored and marked.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from zkchat_cli import events
from zkchat_cli.chat.model_call import call_model, count_by_server, learn_count
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices, prepare_model
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.tool_executor import MIN_TOOL_TOKENS, ToolCallRunner
from zkchat_cli.chat.turn import (
    CompletedTurn,
    TurnInProgress,
    TurnRecorder,
    without_unstored_thinking,
)
from zkchat_cli.chat.user_message import UserInput, UserMessageBuilder
from zkchat_cli.citations.verify import CitableSources, VerificationResult, verify_citations
from zkchat_cli.context.budget import CompactionRequest
from zkchat_cli.context.prompt_assembly import advise_on_size
from zkchat_cli.errors import (
    PromptTooLarge,
    ProviderError,
    ProviderErrorKind,
    StoreError,
    VaultError,
    ZkchatError,
)
from zkchat_cli.llm.base import Window
from zkchat_cli.models.messages import (
    FinishReason,
    MessageStatus,
    RetrievalMode,
    ToolCall,
    sum_usage,
)
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.references.provenance import SNIPPET_LENGTH, aggregate_documents, merge_references
from zkchat_cli.text.truncate import truncate

# Share of a prompt refused as too long that is sent the second time, where the server does not tell
# its limit
RETRY_SHARE = 0.7
# Replies with calls after the last round of tools, each of which is told to answer, before the turn
# fails
MOST_REFUSED = 1
# Refusals after which another prompt may be accepted
ANSWERABLE_REFUSALS = ("context_length", "no_tools")
# How often a prompt that its server counts as too long is made smaller: another selection may have
# other languages
MAX_COUNTS = 6


@dataclass
class TurnRunner:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    recorder: TurnRecorder
    messages: UserMessageBuilder
    turn: TurnInProgress
    user_input: UserInput
    # Who searches the notes after the server has refused tools
    retrieval: RetrievalMode | None = None
    # Refusals that were answered by another call; none is twice
    answered_refusals: set[ProviderErrorKind] = field(default_factory=set)
    # Problems with documents that the user was told
    reported: set[events.Notice] = field(default_factory=set)

    def run(self, notices: Sequence[events.Event]) -> Generator[events.Event, None, None]:
        """Yield the turn's events, the last one TurnCompleted or TurnFailed (see events.py)."""
        turn = self.turn
        self._tool_calls = ToolCallRunner(self.services, self.state, self.prompts, turn)
        with turn.timer("prepare"):
            self._bare = self.messages.build_bare(turn.runtime, self.user_input)
        with turn.timer("store"):
            problems = self.recorder.begin(self._bare)
            self.prompts.memory(turn.runtime).begin_turn(self.state.conversation.id, self._bare.id)
        turn.messages.append(self._bare)
        self._references = self.state.references.copy()
        self._with_tools = turn.runtime
        try:
            # Before the documents: how much of them fits depends on the window
            with turn.timer("model"):
                prepare_model(turn.runtime.model)
                turn.calibration = self.services.store.calibration(turn.runtime.model.name)
                turn.runtime = turn.runtime.calibrated(turn.calibration)
            warnings = self._decide_documents()
            yield events.MessageStored(turn.user.id, turn.user.references)
            yield from (*notices, *warnings, *problems)
            finish = yield from self._answer()
            yield from self._complete(finish)
        except (GeneratorExit, KeyboardInterrupt):
            if not turn.closed:
                self._close("unfinished", "cancelled")
            else:
                # Closed after the last event, or stopped in the middle of storing
                with suppress(StoreError):
                    self.recorder.store_pending()
            raise
        except Exception as e:
            # It is in the history, and must not be so twice
            if turn.closed:
                raise
            writing = {tool.name for tool in self._with_tools.tools if tool.writes}
            # Then it is sent again, so that nothing is done twice
            changed = any(run.ok and run.name in writing for run in turn.runs)
            notices = self._close("unfinished" if changed else "failed", "error")
            if not isinstance(e, ZkchatError):  # a defect of zkchat
                raise
            yield from notices
            yield events.TurnFailed(e, turn.user.id, turn.text)

    def _decide_documents(self) -> list[events.Notice]:
        """Decide who searches the notes for the question, and which documents fit, by what is known
        of the model now. Returns what to tell the user that was not told before.
        """
        turn = self.turn
        with turn.timer("prepare"):
            self.state.references = self._references.copy()
            runtime = replace(
                turn.runtime,
                tools=self._with_tools.tools,
                instructions=self._with_tools.instructions,
            )
            turn.runtime = self.messages.with_retrieval(
                runtime, self.retrieval or self.user_input.retrieval
            )
            message, warnings = self.messages.add_documents(
                turn.runtime, self._bare, self.user_input, self.state.references
            )
            turn.messages[0] = message
        new = [warning for warning in warnings if warning not in self.reported]
        self.reported.update(new)
        return new

    def _answer(self) -> Generator[events.Event, None, FinishReason]:
        """Model and tools; returns why the answer ended, and leaves it in `turn.text`. Raises the
        ProviderError of a call that failed, and PromptTooLarge if the message itself is too large.

        The model gets no more tools after `llm.max_tool_rounds` rounds, or when results have filled
        the window, and is told so.
        """
        turn = self.turn
        rounds = 0
        refused = 0
        most = turn.runtime.settings.llm.max_tool_rounds
        while True:
            calls, finish = yield from self._call()
            if not calls:
                break
            if not turn.no_more_tools:
                room = yield from self._tool_calls.run(calls)
                rounds += 1
                if room < MIN_TOOL_TOKENS:
                    turn.no_more_tools = (
                        "tool results have filled the window of "
                        f"{turn.runtime.window.tokens:,} tokens"
                    )
                elif rounds >= most:
                    turn.no_more_tools = f"llm.max_tool_rounds is {most}"
                if turn.no_more_tools:
                    turn.runtime = replace(turn.runtime, tools=())
                continue
            refused += 1
            if refused > MOST_REFUSED:
                raise self._no_answer_error(finish)
            self._tool_calls.refuse(
                calls,
                f"no more tools in this turn: {turn.no_more_tools}. Answer now with what "
                "you have found",
            )
        if not turn.text.strip():
            raise self._no_answer_error(finish)
        return finish

    def _no_answer_error(self, finish: FinishReason) -> ProviderError:
        name = self.turn.runtime.model.name
        reason = self.turn.no_more_tools
        if reason:
            hint = "Ask for less at a time, or raise that limit in the settings."
            return ProviderError("empty", f"{name} never answered: {reason}", hint)
        if finish == "content_filter":
            return ProviderError(
                "content_filter",
                f"{name}: a content filter blocked the answer",
                "Ask it differently.",
            )
        if finish == "length":
            hint = "Raise llm.max_output_tokens, or lower llm.reasoning_effort."
            return ProviderError(
                "empty", f"{name} reached its length limit before it answered", hint
            )
        return ProviderError(
            "empty", f"{name} sent an empty answer", "Try again, or ask in other words."
        )

    def _call(self) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """One model call. If the server refuses the prompt as too long, or for its tools, another
        one that is decided anew.
        """
        turn = self.turn
        before = self.turn.runtime
        refused: ProviderError | None = None
        while True:
            try:
                if refused is not None:
                    yield from self._answer_refusal(refused)
                prompt = yield from self._fitting_prompt()
            except PromptTooLarge as e:
                # A guess that leaves no room would end every further turn, too
                turn.runtime = before
                if refused is None:
                    raise
                raise ProviderError("context_length", refused.message, self._advise()) from e
            try:
                return (yield from call_model(turn, prompt, self.prompts, self.state))
            except ProviderError as e:
                if (
                    turn.text
                    or e.kind not in ANSWERABLE_REFUSALS
                    or (e.kind == "no_tools" and len(turn.messages) > 1)
                ):
                    raise
                if e.kind in self.answered_refusals:
                    if e.kind == "context_length":
                        raise ProviderError(e.kind, e.message, self._advise()) from None
                    raise
                self.answered_refusals.add(e.kind)
                refused = e

    def _fitting_prompt(self) -> Generator[events.Event, None, Prompt]:
        """The prompt of the next call; the conversation is compacted before, if that is due. Raises
        PromptTooLarge.
        """
        # A model that has just refused a prompt is not asked for a summary
        turn = self.turn
        ask = not self.answered_refusals
        for _ in range(MAX_COUNTS):
            prompt = self._build_prompt()
            if (due := prompt.usage.compaction).due:
                yield from self._compact(due.reason or "", ask=ask)
                prompt = self._build_prompt()
            counted = count_by_server(turn, prompt)
            ask = False
            if counted is None or counted <= prompt.usage.effective_limit:
                return prompt
            learn_count(turn, prompt, counted)
            if len(turn.messages) == 1:
                yield from self._decide_documents()
        problem = (
            f"the prompt needs {counted:,} tokens, and its limit is "
            f"{prompt.usage.effective_limit:,}"
        )
        raise PromptTooLarge(problem, self._advise())

    def _compact(self, reason: str, *, ask: bool = True) -> Iterator[events.Event]:
        """Compact automatically, if the settings allow it and the store can be written. A problem
        is reported, and the turn continues.
        """
        turn = self.turn
        if not turn.runtime.settings.context.auto_summarize or self.recorder.problem is not None:
            return
        # 10 ms, which most turns do not need
        from zkchat_cli.chat.compactor import Compactor

        request = CompactionRequest(reason, ask=ask, current=turn.sent_messages)
        try:
            done = yield from Compactor(
                self.services, self.state, self.prompts, turn.runtime, request, turn.timer
            ).run()
        except StoreError as e:
            yield from self.recorder.report(e)
            return
        turn.usage = sum_usage((turn.usage, done.usage))
        turn.compaction = done if done.mode != "none" else turn.compaction

    def _build_prompt(self) -> Prompt:
        """Raises PromptTooLarge, if the turn does not fit without the middles of its earlier
        results either.
        """
        turn = self.turn
        sent = self.turn.sent_messages
        with turn.timer("prepare"):
            try:
                turn.prompt = self.prompts.build(turn.runtime, sent)
            except PromptTooLarge:
                self._tool_calls.shorten_results(len(turn.messages), 0, 1)
                if turn.sent_messages == sent:
                    raise
                turn.prompt = self.prompts.build(turn.runtime, turn.sent_messages)
        return turn.prompt

    def _advise(self) -> str:
        """What is largest in the last prompt, and how to make it smaller."""
        prompt = self.turn.prompt
        assert prompt is not None
        return advise_on_size(prompt.messages, prompt.usage.tool_tokens, self.turn.user.id)

    def _answer_refusal(self, refused: ProviderError) -> Iterator[events.Event]:
        """Search the notes for a model that takes no tools. For one with a smaller window, assume
        the window that the server tells, or one smaller than the refused prompt, and compact
        without asking the model, which has just refused to read so much.
        """
        # The server's answer has loaded it
        from zkchat_cli.llm.server_errors import parse_length_refusal

        turn = self.turn
        turn.sent.pop()
        if refused.kind == "no_tools":
            yield events.Notice(refused.message, refused.hint)
            self.retrieval = "before"
            yield from self._decide_documents()
            return
        assert turn.prompt is not None
        used = turn.runtime.window.tokens
        usage = turn.prompt.usage
        limit, counted = parse_length_refusal(refused.message)
        if counted is not None:
            learn_count(turn, turn.prompt, counted)
        if limit is None or limit > used or (limit == used and counted is None):
            limit = int(RETRY_SHARE * usage.total_tokens / usage.effective_limit * used)
        turn.runtime = replace(
            turn.runtime, rejected_window=Window(limit, "a refusal of the server")
        )
        if len(turn.messages) == 1:
            yield from self._decide_documents()
        yield from self._compact(refused.message, ask=False)

    def _complete(self, finish: FinishReason) -> Iterator[events.Event]:
        """Verify the answer against the chunks in the turn's last prompt, store the turn and report
        it.
        """
        turn = self.turn
        assert turn.prompt is not None
        with turn.timer("prepare"):
            sent = dict.fromkeys(
                source
                for m in turn.prompt.messages
                if m.kind in ("tool_results", "documents")
                for source in m.source_ids
            )
            earlier = (message for source in sent if (message := self.state.find_message(source)))
            chunks = (
                c for m in (*earlier, *(m for m in turn.messages if m.id in sent)) for c in m.chunks
            )
            verified = verify_citations(
                turn.text, CitableSources(chunks, self._chunk_of_earlier_prompt)
            )
        with turn.timer("store"):
            notices = self._close("complete", finish, verified)
        yield from notices
        runtime = turn.runtime
        answer = self.state.history[-1]
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

    def _close(
        self,
        status: MessageStatus,
        finish: FinishReason,
        verified: VerificationResult | None = None,
    ) -> Sequence[events.Notice]:
        """Add the turn to the history and store it, in one transaction. Returns what to tell the
        user, if it cannot be stored for now.
        """
        turn = self.turn
        runtime = self.turn.runtime
        turn.closed = True
        if (
            verified is None
            and turn.prompt is not None
            and (turn.text or turn.reasoning)
            and turn.sent[-1].usage is None
        ):
            # The server of a call that broke off counts it, too
            turn.add_usage(None, turn.prompt, ())
        messages = [without_unstored_thinking(message) for message in turn.messages]
        runs = turn.runs
        task = {
            "model_calls": len(turn.sent),
            "tools_called": len(runs),
            "tools_failed": sum(not run.ok for run in runs),
        }
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
                references=self._referenced_documents(),
                citations=verified.citations if verified else (),
                uncited_statements=verified.uncited if verified else None,
                usage=turn.usage if verified or turn.usage.prompt_tokens else None,
                timings_ms=turn.timer.timings(),
                agent=turn.user.agent,
                thinking_tokens=turn.usage.reasoning_tokens
                or (runtime.counter.count(turn.reasoning) if turn.reasoning else None),
                memory_references=turn.memory_sent,
                task=task if runs else None,
            )
            messages.append(answer)
        alone = len(messages) == 1
        at = self.services.now() if alone else messages[-1].timestamp
        messages[0] = messages[0].model_copy(
            update={
                "status": status if status == "failed" or alone else "complete",
                "updated_at": at,
            }
        )
        self.state.append(messages)
        facts = self.prompts.memory(runtime).finish_turn()
        calibrations = {runtime.model.name: turn.calibration} if turn.counted is not None else {}
        return self.recorder.commit(
            CompletedTurn(
                messages[0], messages[1:], turn.sent, calibrations, facts if verified else ()
            )
        )

    def _referenced_documents(self) -> tuple[DocumentReference, ...]:
        """The documents that the answer had: named in the question and in the prompt from the
        start, found by tools or named by memory.
        """
        turn = self.turn
        if not turn.runtime.settings.references.enabled:
            return ()
        vault = self.services.vault
        summary = self.prompts.summaries.summary
        paths = {chunk.relative_path for chunk in turn.user.chunks}
        injected = [
            reference for reference in turn.user.references if reference.relative_path in paths
        ]
        known = merge_references(
            injected, aggregate_documents(turn.chunks, summary, vault.link_name)
        )
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
                return chunk, self.services.vault.reader.read(chunk.relative_path)
        return None
