"""One turn from the user's input to the stored answer: store the question, compact if due, run the
model and its tools in a loop until it answers, verify, store the turn.

`next_step.py` decides what is next, and this file does it. The prompt is built within budget before
each call. Whatever a model does (unknown tools, arguments that are not JSON, endless tool calls),
the turn's messages stay well-formed: each tool call is followed by its result. Closing the
generator (Ctrl-C) stops the model and stores the partial answer as unfinished; a failure leaves the
question stored and marked.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.model_call import call_model
from zkchat_cli.chat.next_step import (
    Call,
    Compact,
    RefuseTools,
    Reply,
    RunTools,
    Stop,
    TurnProgress,
    next_step,
    why_no_more_tools,
)
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import SessionServices, prepare_model
from zkchat_cli.chat.server_count import assume_smaller_window, count_by_server, learn_count
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.storable import without_unstored_thinking
from zkchat_cli.chat.tool_call_runner import ToolCallRunner
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.chat.turn_completion import make_answer, make_report, verify_answer
from zkchat_cli.chat.turn_recorder import CompletedTurn, TurnRecorder
from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.chat.user_message import UserMessageBuilder
from zkchat_cli.citations.verify import VerificationResult
from zkchat_cli.context.prompt_size import advise_on_size
from zkchat_cli.errors import (
    PromptTooLarge,
    ProviderError,
    ProviderErrorKind,
    StoreError,
)
from zkchat_cli.models.messages import FinishReason, MessageStatus, RetrievalMode, ZkChatMessage
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.vault.search.search_watch import SearchWatch

# How often a prompt that its server counts as too long is made smaller. A single time is not
# enough: the new selection may be in other languages
MAX_COUNTS = 6


class ClosedTurn(NamedTuple):
    """A turn that has been added to the history. It has the answer, if there is one, and notices
    about a failing store.
    """

    answer: ZkChatMessage | None
    notices: Sequence[events.Notice]


@dataclass
class TurnRunner:
    """Runs one turn; `run` may be called once."""

    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    recorder: TurnRecorder
    messages: UserMessageBuilder
    turn: TurnInProgress
    user_input: UserInput
    # Who searches the notes after the server has refused tools
    retrieval: RetrievalMode | None = None
    # The kinds of refusals that led to another call
    answered_refusals: set[ProviderErrorKind] = field(default_factory=set)
    # Problems with documents that the user has been told about
    reported: set[events.Notice] = field(default_factory=set)

    def run(self, notices: Sequence[events.Event]) -> Generator[events.Event, None, None]:
        """Yield the turn's events, the last one TurnCompleted or TurnFailed (see events.py)."""
        turn = self.turn
        contain = self.services.faults.contain
        self._watch = SearchWatch(self.services.vault.semantic)
        self._tool_calls = ToolCallRunner(self.services, self.state, self.prompts, turn)
        with turn.timer("prepare"):
            self._bare = self.messages.build_bare(turn.runtime, self.user_input)
        with turn.timer("store"):
            problems = self.recorder.begin(self._bare)
            with contain("memory"):
                memory = self.prompts.memory(turn.runtime)
                memory.begin_turn(self.state.conversation.id, self._bare.id)
        turn.begin(self._bare)
        self._with_tools = turn.runtime
        try:
            # Before the documents are chosen: the window decides how much of them fits
            with turn.timer("model"):
                prepare_model(turn.runtime.model)
                with contain("calibration"):
                    turn.calibrate(self.services.store.prompts.calibration(turn.runtime.model.name))
            warnings = self._decide_documents()
            yield events.MessageStored(turn.user.id, turn.user.references)
            yield from (*notices, *warnings, *problems, *self.services.faults.take_notices())
            finish = yield from self._answer()
            yield from self._complete(finish)
        except (GeneratorExit, KeyboardInterrupt):
            self._stop()
            raise
        except Exception as e:  # noqa: BLE001  # the chat continues after a turn that failed
            failure = self.services.faults.describe_failure(e)
            # A turn that was added to the history must not be added twice
            if not turn.closed:
                closed = self._close(self._status_after_failure(), "error")
                yield from closed.notices
            yield events.TurnFailed(failure, turn.user.id, turn.text)

    def _stop(self) -> None:
        """Store the unfinished turn that the user stopped."""
        if not self.turn.closed:
            self._close("unfinished", "cancelled")
            return
        # The user may stop a turn after its last event, or while it is being stored
        with suppress(StoreError):
            self.recorder.store_pending()

    def _status_after_failure(self) -> MessageStatus:
        """The status of a turn that failed. A turn that has changed notes stays in the prompt, so
        that the model does nothing twice; any other failed turn leaves it.
        """
        writing = {tool.name for tool in self._with_tools.tools if tool.writes}
        changed = any(run.ok and run.name in writing for run in self.turn.runs)
        return "unfinished" if changed else "failed"

    def _decide_documents(self) -> list[events.Notice]:
        """Decide who searches the notes for the question, and which documents fit. The decision
        depends on what is known about the model now. Returns what the user has not been told yet.
        """
        turn = self.turn
        with turn.timer("prepare"):
            with_tools = replace(
                turn.runtime,
                tools=self._with_tools.tools,
                instructions=self._with_tools.instructions,
            )
            wanted = self.retrieval or self.user_input.retrieval
            turn.use_runtime(self.messages.with_retrieval(with_tools, wanted))
            message, warnings = self.messages.add_documents(
                turn.runtime, self._bare, self.user_input, self.state.references
            )
            turn.replace_question(message)
        new = [warning for warning in warnings if warning not in self.reported]
        self.reported.update(new)
        return new

    # the loop

    def _answer(self) -> Generator[events.Event, None, FinishReason]:
        """Call the model and its tools in a loop; returns why the answer ended, and leaves its text
        in `turn.text`.

        Raises the ProviderError of a call that failed, and PromptTooLarge if the message itself is
        too large.
        """
        reply: Reply | None = None
        refusal: ProviderError | None = None
        rounds = 0
        refused_replies = 0
        while True:
            step = next_step(self._progress(reply, refused_replies), refusal)
            match step:
                case Call() | Compact():
                    outcome = yield from self._call(step, refusal)
                    reply = outcome if isinstance(outcome, Reply) else None
                    refusal = outcome if isinstance(outcome, ProviderError) else None
                case RunTools(calls):
                    room = yield from self._tool_calls.run(calls)
                    rounds += 1
                    self._end_tools_if_due(room, rounds)
                    reply = None
                case RefuseTools(calls, reason):
                    refused_replies += 1
                    self._tool_calls.refuse(calls, reason)
                    reply = None
                case Stop(finish=finish, error=None):
                    assert finish is not None
                    return finish
                case Stop(error=error, too_long=True):
                    assert error is not None
                    raise ProviderError(error.kind, error.message, self._advise())
                case Stop(error=error):
                    assert error is not None
                    raise error

    def _progress(self, reply: Reply | None, refused_replies: int) -> TurnProgress:
        turn = self.turn
        return TurnProgress(
            model=turn.runtime.model.name,
            text=turn.text,
            reply=reply,
            only_question=len(turn.messages) == 1,
            no_more_tools=turn.no_more_tools,
            refused_replies=refused_replies,
            answered_refusals=frozenset(self.answered_refusals),
        )

    def _end_tools_if_due(self, room: int, rounds: int) -> None:
        runtime = self.turn.runtime
        most = runtime.settings.llm.max_tool_rounds
        reason = why_no_more_tools(room, rounds, most, runtime.window.tokens)
        if reason:
            self.turn.end_tools(reason)

    def _call(
        self, step: Call | Compact, refusal: ProviderError | None
    ) -> Generator[events.Event, None, Reply | ProviderError]:
        """Call the model, with another prompt if the server refuses one; returns the reply or the
        call's error. Raises PromptTooLarge, or the refusal if no smaller prompt fits.
        """
        turn = self.turn
        if refusal is None:
            self._before_refusals = turn.runtime
        try:
            if refusal is not None:
                yield from self._answer_refusal(step, refusal)
            prompt = yield from self._fitting_prompt()
        except PromptTooLarge as e:
            # A wrong guess that leaves no room would end every further turn too
            turn.use_runtime(self._before_refusals)
            if refusal is None:
                raise
            raise ProviderError("context_length", refusal.message, self._advise()) from e
        try:
            return (yield from call_model(turn, prompt, self.prompts, self.state, self.services))
        except ProviderError as e:
            return e

    def _answer_refusal(
        self, step: Call | Compact, refusal: ProviderError
    ) -> Iterator[events.Event]:
        """Do what is necessary after a refusal by the server, before the next call."""
        turn = self.turn
        self.answered_refusals.add(refusal.kind)
        turn.forget_refused_call()
        match step:
            case Call():
                yield events.Notice(refusal.message, refusal.hint)
                if step.search_first:
                    self.retrieval = "before"
                # The model may count pictures as nothing now
                turn.calibrate(turn.calibration)
                if len(turn.messages) == 1:
                    yield from self._decide_documents()
            case Compact(reason):
                assume_smaller_window(turn, refusal)
                if len(turn.messages) == 1:
                    yield from self._decide_documents()
                yield from self._compact(reason, ask=False)

    # the prompt

    def _fitting_prompt(self) -> Generator[events.Event, None, Prompt]:
        """The prompt of the next call; compacts the conversation first if that is due. Raises
        PromptTooLarge.
        """
        turn = self.turn
        # A model that has just refused a prompt gets no request for a summary
        ask = not self.answered_refusals
        for _ in range(MAX_COUNTS):
            prompt = self._build_prompt()
            due = prompt.usage.compaction
            if due.due:
                yield from self._compact(due.reason or "", ask=ask)
                prompt = self._build_prompt()
            counted = count_by_server(turn, prompt, self.prompts.images)
            ask = False
            if counted is None or counted <= prompt.usage.effective_limit:
                return prompt
            learn_count(turn, prompt, counted)
            if len(turn.messages) == 1:
                yield from self._decide_documents()
        limit = prompt.usage.effective_limit
        problem = f"the prompt needs {counted:,} tokens, and its limit is {limit:,}"
        raise PromptTooLarge(problem, self._advise())

    def _compact(self, reason: str, *, ask: bool) -> Iterator[events.Event]:
        """Compact automatically, if the settings allow it and the store can be written. A problem
        is reported, and the turn continues.
        """
        turn = self.turn
        if not turn.runtime.settings.context.auto_summarize or self.recorder.problem is not None:
            return
        # These imports take 10 ms, and most turns do not need them
        from zkchat_cli.chat.compactor import Compactor
        from zkchat_cli.context.compaction_plan import CompactionRequest

        request = CompactionRequest(reason, ask=ask, current=turn.sent_messages)
        compactor = Compactor(
            self.services, self.state, self.prompts, turn.runtime, request, turn.timer
        )
        with self.services.faults.contain("compaction"):
            try:
                turn.add_compaction((yield from compactor.run()))
            except StoreError as e:
                yield from self.recorder.report(e)

    def _build_prompt(self) -> Prompt:
        """The prompt, with shortened results if necessary. Raises PromptTooLarge if the turn does
        not fit even without the middles of its earlier results.
        """
        turn = self.turn
        sent = turn.sent_messages
        with turn.timer("prepare"):
            try:
                prompt = self.prompts.build(turn.runtime, sent)
            except PromptTooLarge:
                self._tool_calls.shorten_all_results()
                if turn.sent_messages == sent:
                    raise
                prompt = self.prompts.build(turn.runtime, turn.sent_messages)
        turn.use_prompt(prompt)
        return prompt

    def _advise(self) -> str:
        """Advice: what is largest in the last prompt, and how to make it smaller."""
        prompt = self.turn.prompt
        assert prompt is not None
        return advise_on_size(prompt.messages, prompt.usage.tool_tokens, self.turn.user.id)

    # the end

    def _complete(self, finish: FinishReason) -> Iterator[events.Event]:
        """Verify the answer against the chunks in the turn's last prompt, store the turn and report
        it.
        """
        turn = self.turn
        prompt = turn.prompt
        assert prompt is not None
        with turn.timer("prepare"):
            verified = verify_answer(turn, prompt, self.state, self.services)
        with turn.timer("store"):
            status: MessageStatus = "unfinished" if finish == "cancelled" else "complete"
            closed = self._close(status, finish, verified)
        yield from closed.notices
        yield from self._readiness()
        assert closed.answer is not None
        conversation = self.state.conversation.id
        faults = self.services.faults
        report = make_report(turn, prompt, closed.answer, conversation, faults)
        yield events.TurnCompleted(report)

    def _readiness(self) -> list[events.Notice]:
        """What to tell about the searches of the turn, if they lacked vectors."""
        with self.services.faults.contain("vectors"):
            unready = self._watch.warning()
            if unready is not None:
                return [events.Notice(unready.message, unready.hint)]
        return []

    def _close(
        self,
        status: MessageStatus,
        finish: FinishReason,
        verified: VerificationResult | None = None,
    ) -> ClosedTurn:
        """Add the turn to the history and store it in one transaction."""
        turn = self.turn
        turn.close()
        if verified is None:
            turn.add_broken_call()
        question, *replies = map(without_unstored_thinking, turn.messages)
        answer: ZkChatMessage | None = None
        if turn.text or turn.reasoning or verified is not None:
            last = replies[-1] if replies else question
            answer = make_answer(
                turn, last.id, status, finish, verified, self.services, self.prompts
            )
            replies.append(answer)
        at = replies[-1].timestamp if replies else self.services.now()
        own_status = status if status == "failed" or not replies else "complete"
        question = question.model_copy(update={"status": own_status, "updated_at": at})
        self.state.append((question, *replies))
        facts = self._finish_memory()
        used_facts = facts if verified is not None else ()
        calibrations = {}
        if turn.counted is not None:
            calibrations[turn.runtime.model.name] = turn.calibration
        notices = self.recorder.commit(
            CompletedTurn(question, replies, turn.sent, calibrations, used_facts)
        )
        return ClosedTurn(answer, [*notices, *self.services.faults.take_notices()])

    def _finish_memory(self) -> tuple[str, ...]:
        """The keys of the facts that the turn used."""
        with self.services.faults.contain("memory"):
            return self.prompts.memory(self.turn.runtime).finish_turn()
        return ()
