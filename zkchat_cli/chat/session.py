"""One conversation: `send(text)` runs a turn and yields what happens. The only owner of a conversation's state.

Synchronous, and never prints: the screen, the one-shot command, JSON lines and tests consume the same events. Closing the generator
(Ctrl-C) stops the model and stores the partial answer as unfinished; a failure leaves the user's message stored and marked.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from zkchat_cli import events
from zkchat_cli.agents.profile import Agent
from zkchat_cli.chat import branch_navigation, pins, session_settings
from zkchat_cli.chat.agent_binding import AgentBinding
from zkchat_cli.chat.background_tasks import NoteDescriber, made_of
from zkchat_cli.chat.compactor import CompactionRequest, Compactor, can_summarize, compact_if_due
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.turn import CompletedTurn, PhaseTimer, TurnInProgress
from zkchat_cli.chat.turn_runner import TurnRunner
from zkchat_cli.citations.citable_sources import CitableSources
from zkchat_cli.citations.verify import verify_citations
from zkchat_cli.config.schema import Config
from zkchat_cli.context.branch_tree import BranchSegment
from zkchat_cli.context.budget import budget_warnings, compaction_due
from zkchat_cli.context.strategies.base import Strategy
from zkchat_cli.errors import StoreError, UsageError, VaultError, ZkchatError
from zkchat_cli.llm.base import Model
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import (
    CONTINUE_PROMPT,
    Compaction,
    ContextUsage,
    Conversation,
    FinishReason,
    IndexReport,
    MessageStatus,
    Prompt,
    TurnMetrics,
    TurnReport,
    ZkChatMessage,
)
from zkchat_cli.references.aggregate import aggregate_documents, merge_references
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import Tool
from zkchat_cli.vault.approval import ApprovalPolicy
from zkchat_cli.vault.vault import Vault

FRESH_FOR = 2.0
"""Seconds for which a scan of the vault counts as fresh, so that one command does not scan twice."""


class ZkChatSession(AgentBinding):
    """A conversation that goes on: what stands (see Standing), who leads it (see Led), and `send`, which runs a turn."""

    def __init__(self, parts: Runtime, conversation: Conversation | None = None) -> None:
        super().__init__(parts, conversation)
        self._refreshed_at = float("-inf")
        self._rebuilt: str | None = None
        self._warned: set[str] = set()
        self._unsaved: list[CompletedTurn] = []
        self._told: StoreError | None = None
        """Why they are not stored, as it was told last."""
        self._unasked: set[str] = set()
        """The questions among them that the store has never seen."""
        self.describing = NoteDescriber(self)
        self.verbose = False
        """Whether whoever shows this conversation is asked for its details."""
        self.last_prompt: Prompt | None = None
        """The prompt of the last model call."""

    def send(
        self, text: str, *, typed: str | None = None, goal: str | None = None, documents: bool = True, addressed: str | None = None
    ) -> Generator[events.Event, None, None]:
        """Run one turn and yield its events, the last one TurnCompleted or TurnFailed (see events.py). Closing it stops the turn.

        `typed` is what the user wrote of a text that came through a pipe besides: only that may import files, and call an agent by
        `@name` for this turn. `goal` is what an agent run works on. Without `documents`, what the message names is not put into the prompt:
        it is there from the turn before. `addressed` is the `@name` in the text, where it is known beforehand.
        Raises UsageError for a message without text. What cannot be stored is answered all the same, told, and stored later.
        """
        text = replace_surrogates(text)
        if not text.strip():
            raise UsageError("there is nothing to ask", "Give a question as an argument or on standard input.")
        called, notices = self.called(text if typed is None else replace_surrogates(typed)) if goal is None else (None, [])
        usual = self.parts
        if called is not None:
            self.use_agent(called.name)
        try:
            addressed = addressed or (called.locate(text, typed) if called is not None else None)
            yield from self._send(text, typed, notices, documents=documents, goal=goal, addressed=addressed)
        finally:
            if called is not None:
                self.lead(usual)

    def _send(self, text: str, typed: str | None, notices: Sequence[events.Event], **fields: Any) -> Generator[events.Event, None, None]:
        timer = PhaseTimer(self.parts.clock)
        with timer("prepare"):
            notices = [*notices, *self._refresh()]
            made = self._user_message(text, self.references, replace_surrogates(typed) if typed is not None else None, **fields)
            user = made.message
            notices += [events.Notice(*each) for each in made.told]
        with timer("store"):
            notices += self._store_user(user)
            self.memory.begin_turn(self.conversation.id, user.id)
        turn = TurnInProgress([user], timer)
        try:
            yield events.MessageStored(user.id, user.references)
            yield from notices
            with timer("model"):
                self.prepare()
            yield from self._compact_if_due(turn)
            yield from (events.Notice(*each) for each in self.memory.pop_notices())
            yield from self._answer(turn)
        except (GeneratorExit, KeyboardInterrupt):
            if not turn.closed:
                self._close(turn, "unfinished", "cancelled")
            else:  # left after the last event, or stopped in the middle of storing
                with suppress(StoreError):
                    self._save()
            raise
        except ZkchatError as e:
            yield from self._close(turn, self._came_to(turn), "error")
            yield events.TurnFailed(e, user.id, turn.text)
        except Exception:
            if not turn.closed:  # a defect of ours: the turn is stored as failed before anyone hears of it
                self._close(turn, self._came_to(turn), "error")
            raise

    def _came_to(self, turn: TurnInProgress) -> MessageStatus:
        """How a turn that failed is marked: as failed it is not sent again; one that has changed notes is, lest it be done twice."""
        writing = {tool.name for tool in self.parts.tools if tool.writes}
        return "unfinished" if any(run.ok and run.name in writing for run in turn.runs) else "failed"

    def continue_answer(self) -> Generator[events.Event, None, None]:
        """A turn in which the model goes on with an answer that was cut by its length or stopped. Raises UsageError when none was."""
        last = self.history[-1] if self.history else None
        if last is None or last.role != "assistant" or (last.finish_reason != "length" and last.status != "unfinished"):
            raise UsageError("the last answer was not cut", "There is nothing to go on with; ask for more in your own words.")
        return self.send(CONTINUE_PROMPT)

    def ask_again(self, question: ZkChatMessage, text: str | None = None) -> Generator[events.Event, None, None]:
        """A turn in which a question of this branch is asked again, or `text` instead of it, on a branch of its own; the old one stays.

        Only files that the question named when it was typed are imported again, and the agent that it called answers again. Raises as
        `send` does: then all is as it was.
        """
        self._save()
        head = self.history[-1].id
        named = " ".join(each.wikilink for each in question.references if each.reference_type == "import")
        again = question.addressed if text is None else None
        typed = (f"{again.strip()} {named or '…'}" if again else named) if text is None else None
        with closing(self.send(question.content if text is None else text, typed=typed, addressed=again)) as turn:
            self._stand_at(question.parent_id)
            try:
                first = next(turn)
            except BaseException:
                self._stand_at(head)
                raise
            yield first
            yield from turn

    def move(self, head: str | None) -> None:
        """As `Standing.move`; a turn that could not be stored when it ended is stored first, lest it be left behind."""
        self._save()
        super().move(head)

    def open_conversation(self, prefix: str | None = None) -> "ZkChatSession":
        """A session on another conversation with these notes, by its id or the beginning of it; None: on a new one.

        Raises UsageError, and StoreError also when this one would be left with what is not stored yet.
        """
        try:
            self._save()
        except StoreError as e:
            raise StoreError(f"what was said last is not stored yet, and would be lost: {e.message}", e.hint) from e
        if prefix is None:
            return ZkChatSession(self.parts)
        found = self.parts.store.find(prefix, str(self.parts.vault.root))
        if found.vault != str(self.parts.vault.root):
            hint = f"Resume it there: zkchat chat --vault {found.vault!r} --resume {found.id}"
            raise UsageError(f"{found.id} is a conversation with other notes, {found.vault}", hint)
        return ZkChatSession(self.parts, found)

    def memory_items(self, text: str = "") -> tuple[MemoryItem, ...]:
        """All memory that a prompt for `text` would hold, or without one the prompt for the last question."""
        last = tuple(message for message in self.history if message.role == "user")[-1:]
        current = (self._user_message(replace_surrogates(text), self.references.copy()).message,) if text else last
        return (*self.pinned_memory, *self.memory_beside(current))

    def _refresh(self) -> list[events.Event]:
        """See what changed in the vault since the last turn; a vault that is gone is a notice, the conversation goes on."""
        if self.parts.clock() - self._refreshed_at < FRESH_FOR:
            return []
        try:
            report = self.parts.vault.refresh()
        except VaultError as e:
            return [events.Notice(e.message, e.hint)]
        finally:
            self._refreshed_at = self.parts.clock()
        self.apply_scan(report)
        rebuilt, self._rebuilt = self._rebuilt, None
        return [events.Notice(f"the index was rebuilt: {rebuilt}")] if rebuilt else []

    def apply_scan(self, report: IndexReport) -> None:
        """Take in what a refresh of the vault found, whoever asked for it; the next turn tells that the index was rebuilt.

        It does not spare the next turn its own refresh, for this one may have been of a few notes only.
        """
        if report.added or report.changed or report.removed:
            self._summaries = self._summarised()
        self._rebuilt = report.rebuilt or self._rebuilt

    def mark_scanned(self) -> None:
        """Tell the session that the vault was scanned a moment ago."""
        self._refreshed_at = self.parts.clock()

    def invalidate_scan(self) -> None:
        """Tell the session that the vault may have changed since it was scanned."""
        self._refreshed_at = float("-inf")

    def _store_user(self, user: ZkChatMessage) -> list[events.Event]:
        self._unasked.add(user.id)
        self.left.clear()
        try:
            self._start()
            self._save()
            self._ask(user)
        except StoreError as e:
            return self._not_stored(e)
        return self._stored_now()

    def _not_stored(self, problem: StoreError) -> list[events.Event]:
        """What to tell of it: once, until it is another one or over."""
        known, self._told = self._told, problem
        if known is not None and known.hint == problem.hint:  # which is of the cause, whatever it was that failed of it
            return []
        return [events.Notice(f"what is said now is not stored yet: {problem.message}", problem.hint)]

    def _stored_now(self) -> list[events.Event]:
        told, self._told = self._told, None
        return [events.Notice("what could not be stored before is stored now")] if told is not None else []

    def _start(self) -> None:
        if not self._stored:
            self.parts.store.start(self.conversation)
            self._stored = True

    def _ask(self, user: ZkChatMessage) -> None:
        if user.id in self._unasked:
            self.parts.store.add(self.conversation.id, user.model_copy(update={"status": "pending"}))
            self._unasked.discard(user.id)

    def flush(self) -> None:
        """Store what could not be stored before, as the chat ends. Raises StoreError that says how much is lost."""
        try:
            self._save()
        except StoreError as e:
            lost = f"{n} turns are" if (n := len(self._unsaved)) > 1 else "1 turn is"
            raise StoreError(f"{lost} lost, of {self.conversation.id}: {e.message}", e.hint) from e

    def _save(self, *ended: CompletedTurn) -> None:
        """Store the turns that could not be stored when they ended, then this one."""
        late = bool(self._unsaved)
        self._unsaved += ended
        there = {message.id for message in self.log()} if late else set()
        while self._unsaved:
            turn = self._unsaved[0]
            if not turn.answer or turn.answer[-1].id not in there:  # one that was stopped while it was stored may be there after all
                self._commit(turn)
            self._unsaved.pop(0)

    def compact(
        self, *, instructions: str | None = None, target: int | None = None, keep: int | None = None, preview: bool = False
    ) -> Compaction:
        """Fold the older turns into a summary and store that; `mode` is "none", and nothing stored, when that would gain nothing.

        `target` tokens at most for the summary, `keep` newest messages stay whole (default: the settings', fewer when there are fewer or
        they do not fit). `preview` only says what would happen, though it may ask the model. Tokens are those of the prompt with all
        turns that no summary covers.
        """
        climbing = self.compaction_events(CompactionRequest(instructions=instructions, target=target, keep=keep, preview=preview))
        while True:
            try:
                next(climbing)
            except StopIteration as end:
                done: Compaction = end.value
                return done

    def compaction_events(self, wish: CompactionRequest) -> Generator[events.Event, None, Compaction]:
        """`compact`, with the events of it; closing it stops the model, and then nothing is stored."""
        return Compactor(self, wish, PhaseTimer(self.parts.clock)).climb()

    def _compact_if_due(self, turn: TurnInProgress) -> Iterator[events.Event]:
        with turn.timer("prepare"):
            usage = self.assembled((turn.user,)).usage
        yield from self._warn(usage)
        if usage.compaction.due:
            yield from compact_if_due(self, turn, usage.compaction.reason or "")

    def _compact_after(self, turn: TurnInProgress) -> Iterator[events.Event]:
        """What the next turn would have to do first is done now, while the answer is read, as far as it takes no time: without a model.

        A summary by the model waits for the next message, which may never come, or comes after the user has looked at the figures.
        """
        assert turn.prompt is not None
        if not self.parts.strategy.summarizes:
            return
        with turn.timer("prepare"):
            usage = turn.prompt.usage
            messages = usage.message_breakdown.summary + usage.message_breakdown.memory + self._recent_tokens()
            fixed = usage.system_tokens + usage.tool_tokens
            now = compaction_due(messages, fixed + messages, self.budget)
        if now.due:
            yield from compact_if_due(self, turn, now.reason or "", fold=not can_summarize(self), ask=False)

    def _recent_tokens(self) -> int:
        """Tokens of the turns that no summary covers."""
        held = self.compaction
        turns = self.shown(held)
        return turns.tokens(turns.count_through(held.last_id) if held is not None and held.summary else 0)

    def _warn(self, usage: ContextUsage) -> Iterator[events.Event]:
        """Tell once of instructions or tools that take more than their share."""
        for name, told in budget_warnings(usage, filtered=self.parts.settings.context.tool_filter == "auto").items():
            if name not in self._warned:
                self._warned.add(name)
                yield events.Notice(*told)

    def _answer(self, turn: TurnInProgress) -> Iterator[events.Event]:
        try:
            finish = yield from TurnRunner(self, turn).run()
        finally:
            self.last_prompt = turn.prompt
        with turn.timer("prepare"):
            report = self._report(turn, finish)
        with turn.timer("store"):
            told = self._close(turn, "complete", finish, report)
        yield from told
        if not self._unsaved:  # a summary of what is not stored could not be stored either
            yield from self._compact_after(turn)
        yield events.TurnCompleted(report.model_copy(update={"timings_ms": turn.timer.timings(), "compaction": turn.compaction}))

    def _close(
        self, turn: TurnInProgress, status: MessageStatus, finish: FinishReason, report: TurnReport | None = None
    ) -> list[events.Event]:
        """Take what the turn came to into the history and store it, in one transaction.

        Returns what there is to tell of that: on a full disk the turn stays in memory, and is stored with the next one.
        """
        counter = self.parts.counter
        turn.closed = True
        messages = list(turn.messages)
        if turn.text or report is not None:
            answer = self.message("assistant", turn.text, parent=messages[-1].id, status=status, finish_reason=finish)
            update = {
                "id": report.message_id if report else answer.id,
                "token_count": counter.count_raw(turn.text),
                "tool_tokens": 0,
                "model": self.parts.model.name,
                "reasoning": turn.reasoning or None,
                "references": merge_references(turn.injected, aggregate_documents(turn.chunks, self._summaries.summary)),
                "citations": report.citations if report else (),
                "uncited_statements": report.uncited_statements if report else None,
                "usage": turn.usage if report else None,
                "timings_ms": turn.timer.timings(),
            }
            messages.append(answer.model_copy(update=update))
        alone = len(messages) == 1
        messages[0] = messages[0].model_copy(update={"status": status if status == "failed" or alone else "complete"})
        self.references.add_references(messages[-1].citations)
        self._add(tuple(messages))
        learned = TurnMetrics(factors=tuple(turn.factors), facts=self.memory.finish_turn() if report else ())
        try:
            self._save(CompletedTurn(messages[0], messages[1:], turn.sent, learned))
        except StoreError as e:
            return self._not_stored(e)
        return self._stored_now()

    def _commit(self, turn: CompletedTurn) -> None:
        named = {"title": made_of(turn.user.goal or turn.user.content), "updated_at": self.parts.now()}
        self._start()
        self._ask(turn.user)
        self.parts.store.commit(self.conversation.id, turn.user, turn.answer, **named, sent=turn.sent, learned=turn.learned)

    def _report(self, turn: TurnInProgress, finish: FinishReason) -> TurnReport:
        """Verify the citations and gather all there is to say about the turn."""
        assert turn.prompt is not None
        sent = dict.fromkeys(source for m in turn.prompt.messages if m.kind in ("tool_results", "documents") for source in m.source_ids)
        history = self.turns
        earlier = (m for source in sent if (m := history.find_message(source)))
        sources = CitableSources.from_chunks(c for m in (*earlier, *(m for m in turn.messages if m.id in sent)) for c in m.chunks)
        verdict = verify_citations(turn.text, sources)
        return TurnReport(
            conversation_id=self.conversation.id,
            message_id=self.parts.new_id(),
            answer=turn.text,
            model=self.parts.model.name,
            strategy=self.parts.strategy.name,
            finish_reason=finish,
            references=merge_references(turn.user.references, aggregate_documents(turn.chunks, self._summaries.summary)),
            citations=verdict.citations,
            tools=turn.runs,
            usage=turn.usage,
            context=turn.prompt.usage,
            compaction=turn.compaction,
            timings_ms=turn.timer.timings(),
            uncited_statements=verdict.uncited,
            agent=self.parts.agent.name if self.parts.agent is not None else None,
        )

    # read-only views

    @property
    def runtime(self) -> Runtime:
        return self.parts

    @property
    def vault(self) -> Vault:
        return self.parts.vault

    @property
    def store(self) -> ChatSessionStore:
        return self.parts.store

    @property
    def settings(self) -> Config:
        return self.parts.settings

    @property
    def model(self) -> Model:
        return self.parts.model

    @property
    def agent(self) -> Agent | None:
        return self.parts.agent

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self.parts.tools

    @property
    def strategy(self) -> Strategy:
        return self.parts.strategy

    @property
    def counter(self) -> TokenCounter:
        return self.parts.counter

    @property
    def working_folder(self) -> Path | None:
        return self.parts.folder

    @property
    def approval(self) -> ApprovalPolicy:
        return self.parts.changing

    @property
    def import_roots(self) -> ImportRoots:
        return self.places

    @property
    def can_summarize(self) -> bool:
        return can_summarize(self)

    def agent_names(self) -> Sequence[str]:
        return self.parts.agents()

    def find_window(self, seconds: float) -> None:
        """Wait at most so many seconds until the model's window is known, unless the user has set one."""
        if self.parts.window is None:
            self.prepare(seconds)

    def start_background_tasks(self) -> None:
        self.describing.start()

    def stop_background_tasks(self, seconds: float = 0.0) -> None:
        self.describing.stop(seconds)

    def override_setting(self, key: str, value: str) -> Any:
        return session_settings.override(self, key, value)

    def undo(self, turns: int = 1) -> branch_navigation.BranchMove:
        return branch_navigation.undo(self, turns)

    def redo(self, turns: int = 1) -> branch_navigation.BranchMove:
        return branch_navigation.redo(self, turns)

    def clear(self) -> branch_navigation.BranchMove:
        return branch_navigation.clear(self)

    def branches(self) -> list[BranchSegment]:
        return branch_navigation.branches(self)

    def switch_branch(self, number: str) -> BranchSegment:
        return branch_navigation.switch(self, number)

    def pin(self, turn: str) -> tuple[pins.TurnPart, ...]:
        return pins.pin(self, turn)

    def unpin(self, turn: str) -> tuple[pins.TurnPart, ...]:
        return pins.unpin(self, turn)

    def set_priority(self, turn: str, priority: int | None) -> tuple[pins.TurnPart, ...]:
        return pins.set_priority(self, turn, priority)
