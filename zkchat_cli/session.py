"""One conversation: `send(text)` runs a turn and yields what happens. The only owner of a conversation's state.

Synchronous, and never prints: the screen, the one-shot command, JSON lines and tests consume the same events. Closing the generator
(Ctrl-C) stops the model and stores the partial answer as unfinished; a failure leaves the user's message stored and marked.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from zkchat_cli import events
from zkchat_cli.config import Config
from zkchat_cli.context import compaction as compacting
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.compaction import Fold
from zkchat_cli.context.instructions import INSTRUCTIONS
from zkchat_cli.context.prompt import Material, assemble
from zkchat_cli.context.strategies import Strategy
from zkchat_cli.context.turns import call_tokens, render, turns_of
from zkchat_cli.errors import ProviderError, StoreError, UsageError, VaultError, ZkchatError
from zkchat_cli.llm import Failed, Finished, Model, Reasoning, Request, Text, ToolCalls
from zkchat_cli.memory.project import ALSO_READ, MemoryItem, project_memory
from zkchat_cli.models import (
    Compaction,
    Conversation,
    DocumentReference,
    FinishReason,
    MessageStatus,
    Prompt,
    Role,
    ToolCall,
    TurnReport,
    ZkChatMessage,
)
from zkchat_cli.references.citations import verify
from zkchat_cli.references.extraction import extract, introduce, warning
from zkchat_cli.references.manager import ReferenceManager, documents_of, merge
from zkchat_cli.references.summaries import DocumentSummaryService
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.toolbox import Toolbox
from zkchat_cli.tools import Tool
from zkchat_cli.turn import Timer, TurnInProgress
from zkchat_cli.vault import Vault
from zkchat_cli.words import shorten

MEMORY_SHARE = 0.2
TITLE_LENGTH = 60
_ENDLESS = Failed(ProviderError("cut", "the model's stream broke off", "What came is kept; try again for the rest."))
FRESH_FOR = 2.0
"""Seconds for which a scan of the vault counts as fresh, so that one command does not scan twice."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session works with. `now` gives ISO 8601 with zone, `clock` monotonic seconds, `new_id` a fresh random id."""

    vault: Vault
    store: ChatSessionStore
    model: Model
    strategy: Strategy
    tools: tuple[Tool, ...]
    settings: Config
    max_context: int
    counter: TokenCounter
    now: Callable[[], str]
    clock: Callable[[], float]
    new_id: Callable[[], str]


class ZkChatSession:
    """A conversation that goes on. A new one is stored with its first message, so that opening a chat leaves nothing behind."""

    def __init__(self, parts: Parts, conversation: Conversation | None = None) -> None:
        self.parts = parts
        self._stored = conversation is not None
        self.conversation = conversation or Conversation(
            id=parts.new_id(), vault=str(parts.vault.root), created_at=parts.now(), updated_at=parts.now()
        )
        self.budget = Budget.of(parts.settings.context, parts.max_context)
        self._summaries = DocumentSummaryService(parts.vault)
        self._refreshed_at = float("-inf")
        self._unsaved: list[tuple[ZkChatMessage, list[ZkChatMessage]]] = []
        self._load()

    def _load(self) -> None:
        store, id_ = self.parts.store, self.conversation.id
        self.history = store.history(id_) if self._stored else ()
        self.compactions = store.compactions(id_) if self._stored else ()
        self.manager = ReferenceManager.of(store.log(id_) if self._stored else ())

    # what stands

    def prompt(self, next_text: str | None = None) -> Prompt:
        """What the next model call would send: with `next_text` as the user's message, or for the conversation as it stands."""
        return self._assemble((self._user_message(next_text, "pending"),) if next_text else ())

    def document_references(self) -> tuple[DocumentReference, ...]:
        """Every document that this branch of the conversation mentions or its tools brought in, each once, first mention first."""
        found: dict[str, DocumentReference] = {}
        for message in self.history:
            for reference in message.references:
                found.setdefault(reference.relative_path or reference.wikilink, reference)
        return tuple(found.values())

    @property
    def memory(self) -> tuple[MemoryItem, ...]:
        """The memory files that go into each prompt, in the order they do."""
        settings = self.parts.settings
        if not settings.context.memory_integration:
            return ()
        names = (settings.memory.project_file, ALSO_READ)
        return project_memory(self.parts.vault, names, int(MEMORY_SHARE * self.budget.messages), self.parts.counter)

    @property
    def compaction(self) -> Compaction | None:
        """The compaction that holds on this branch, the newest one."""
        on_branch = {message.id for message in self.history}
        return next((c for c in reversed(self.compactions) if c.last_id in on_branch), None)

    # a turn

    def send(self, text: str) -> Generator[events.Event, None, None]:
        """Run one turn and yield its events, the last one TurnCompleted or TurnFailed (see events.py). Closing it stops the turn.

        Raises UsageError for a message without text and StoreError when the message cannot be stored: then nothing was sent.
        """
        if not text.strip():
            raise UsageError("there is nothing to ask", "Give a question as an argument or on standard input.")
        timer = Timer(self.parts.clock)
        with timer("prepare"):
            notices = self._refresh()
            user = self._user_message(text, "pending")
            notices += [events.Notice(*w) for reference in user.references if (w := warning(reference))]
        with timer("store"):
            notices += self._store_user(user)
        turn = TurnInProgress([user], timer)
        try:
            yield events.MessageStored(user.id, user.references)
            yield from notices
            yield from self._compact_if_due(turn)
            yield from self._answer(turn)
        except (GeneratorExit, KeyboardInterrupt):
            self._close(turn, "unfinished", "cancelled")
            raise
        except ZkchatError as e:
            problem = self._close(turn, "failed", "error")
            if problem:
                yield events.Notice(problem.message, problem.hint)
            yield events.TurnFailed(e, user.id, turn.text)

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
        return [events.Notice(f"the index was rebuilt: {report.rebuilt}")] if report.rebuilt else []

    def just_refreshed(self) -> None:
        """Tell the session that the vault was scanned a moment ago."""
        self._refreshed_at = self.parts.clock()

    def _store_user(self, user: ZkChatMessage) -> list[events.Event]:
        store = self.parts.store
        if not self._stored:
            store.start(self.conversation)
            self._stored = True
        saved = bool(self._unsaved)
        while self._unsaved:
            earlier, answer = self._unsaved[0]
            store.commit(self.conversation.id, earlier, answer, updated_at=self.parts.now())
            self._unsaved.pop(0)
        store.add(self.conversation.id, user)
        return [events.Notice("the answer that could not be stored before is stored now")] if saved else []

    def _compact_if_due(self, turn: TurnInProgress) -> Iterator[events.Event]:
        settings = self.parts.settings.context
        with turn.timer("prepare"):
            due = self._assemble((turn.user,)).usage.compaction
            worthwhile = due.due and settings.auto_summarize and self._plan(settings.recent_messages_to_keep, insist=True)
        if not worthwhile:
            return
        yield events.CompactionStarted(due.reason or "the context window fills")
        with turn.timer("prepare"):
            turn.compaction = self.compact()
        yield events.CompactionDone(turn.compaction)

    def _answer(self, turn: TurnInProgress) -> Iterator[events.Event]:
        """The tool loop: assemble, call, run tools, again, until the model answers; at most `llm.max_tool_rounds` rounds of tools."""
        finish: FinishReason = "stop"
        for rounds_left in range(self.parts.settings.llm.max_tool_rounds, -1, -1):
            with turn.timer("prepare"):
                turn.prompt = self._assemble(tuple(turn.messages), offer_tools=rounds_left > 0)
            turn.text = turn.reasoning = ""
            calls, finish = yield from self._call_model(turn, turn.prompt)
            if not calls or rounds_left == 0:
                break
            yield from self._run_tools(turn, turn.prompt, calls)
        if not turn.text.strip():
            raise ProviderError("empty", f"{self.parts.model.name} answered with nothing", "Try again, or ask in other words.")
        with turn.timer("prepare"):
            report = self._report(turn, finish)
        with turn.timer("store"):
            problem = self._close(turn, "complete", finish, report)
        if problem is not None:
            yield events.TurnFailed(problem, turn.user.id, turn.text)
        else:
            yield events.TurnCompleted(report.model_copy(update={"timings_ms": turn.timer.timings()}))

    def _call_model(self, turn: TurnInProgress, prompt: Prompt) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """Stream one model call; returns its tool calls and finish reason. Raises the ProviderError it ends with."""
        calls: tuple[ToolCall, ...] = ()
        with closing(self.parts.model.stream(Request(prompt.messages, prompt.tools))) as stream:
            while True:
                with turn.timer("model"):
                    delta = next(stream, _ENDLESS)
                match delta:
                    case Text(text):
                        turn.text += text
                        yield events.TextDelta(text)
                    case Reasoning(text):
                        turn.reasoning += text
                        yield events.ReasoningDelta(text)
                    case ToolCalls(new):
                        calls += new
                    case Finished(reason, usage):
                        turn.add_usage(usage, prompt, self.parts.counter)
                        return calls, reason
                    case Failed(error):
                        raise error

    def _run_tools(self, turn: TurnInProgress, prompt: Prompt, calls: tuple[ToolCall, ...]) -> Iterator[events.Event]:
        """Run the calls of one reply in order. Call and result enter the turn together, so that neither is ever alone in the log."""
        counter = self.parts.counter
        asked = self._message(
            "assistant",
            turn.text,
            parent=turn.messages[-1].id,
            tool_calls=calls,
            reasoning=turn.reasoning or None,
            finish_reason="tool_calls",
            model=self.parts.model.name,
            token_count=counter.count(turn.text),
            tool_tokens=call_tokens(calls, counter),
        )
        turn.text = ""
        fixed = prompt.usage.total_tokens - sum(m.tokens for m in prompt.messages if m.kind in ("conversation", "tool_results"))
        spent = sum(m.tokens for m in render(turn.messages, counter))
        room = max(0, (self.budget.effective_limit - fixed - spent) // 2 // len(calls))
        toolbox = Toolbox(self.parts.tools, self.parts.vault, self.manager, counter, self.parts.clock)
        results: list[ZkChatMessage] = []
        for call in calls:
            yield events.ToolCallStarted(call)
            with turn.timer("tools"):
                result = toolbox.run(call, room)
            results.append(
                self._message(
                    "tool",
                    result.content,
                    parent=(results or [asked])[-1].id,
                    tool_call_id=call.id,
                    tool_name=call.name,
                    tool_run=result.run,
                    chunks=result.chunks,
                    token_count=result.run.tokens,
                )
            )
            yield events.ToolCallFinished(call, result.run, len(result.chunks))
        turn.messages += [asked, *results]

    def _close(
        self, turn: TurnInProgress, status: MessageStatus, finish: FinishReason, report: TurnReport | None = None
    ) -> StoreError | None:
        """Store what the turn came to, in one transaction, and take it into the history. A full disk is the caller's to tell; the turn
        stays in memory and is stored with the next one."""
        counter = self.parts.counter
        messages = list(turn.messages)
        if turn.text or report is not None:
            answer = self._message("assistant", turn.text, parent=messages[-1].id, status=status, finish_reason=finish)
            update = {
                "id": report.message_id if report else answer.id,
                "token_count": counter.count(turn.text),
                "tool_tokens": 0,
                "model": self.parts.model.name,
                "reasoning": turn.reasoning or None,
                "references": documents_of(turn.chunks, self._summaries.summary),
                "citations": report.citations if report else (),
                "usage": turn.usage if report else None,
            }
            messages.append(answer.model_copy(update=update))
        alone = len(messages) == 1
        messages[0] = messages[0].model_copy(update={"status": status if status == "failed" or alone else "complete"})
        self.history += tuple(messages)
        try:
            self.parts.store.commit(
                self.conversation.id,
                messages[0],
                messages[1:],
                updated_at=self.parts.now(),
                title=shorten(turn.user.content, TITLE_LENGTH),
            )
        except StoreError as e:
            self._unsaved.append((messages[0], messages[1:]))
            return e
        return None

    def _report(self, turn: TurnInProgress, finish: FinishReason) -> TurnReport:
        """Verify the citations and gather all there is to say about the turn."""
        assert turn.prompt is not None
        sent = {source for m in turn.prompt.messages if m.kind == "tool_results" for source in m.source_ids}
        seen = {c.number: c for m in (*self.history, *turn.messages) if m.id in sent for c in m.chunks if c.number is not None}
        verdict = verify(turn.text, seen.get)
        return TurnReport(
            conversation_id=self.conversation.id,
            message_id=self.parts.new_id(),
            answer=turn.text,
            model=self.parts.model.name,
            strategy=self.parts.strategy.name,
            finish_reason=finish,
            references=merge(turn.user.references, documents_of(turn.chunks, self._summaries.summary)),
            citations=verdict.citations,
            tools=turn.runs,
            usage=turn.usage,
            context=turn.prompt.usage,
            compaction=turn.compaction,
            timings_ms=turn.timer.timings(),
            uncited_statements=verdict.uncited,
        )

    # compaction

    def compact(
        self, *, instructions: str | None = None, target: int | None = None, keep: int | None = None, preview: bool = False
    ) -> Compaction:
        """Fold the older turns into a summary and store that; `mode` is "none", and nothing stored, when that would gain nothing.

        `target` tokens at most for the summary, `keep` newest messages stay whole (default: the settings', fewer when there are fewer).
        `preview` only says what would happen.
        """
        parts, settings = self.parts, self.parts.settings.context
        before = self.prompt().usage.total_tokens
        nothing = Compaction(
            id=parts.new_id(), created_at=parts.now(), tokens_before=before, tokens_after=before, messages_folded=0, mode="none",
            instructions=instructions, preview=preview,
        )  # fmt: skip
        fold = self._plan(settings.recent_messages_to_keep if keep is None else keep, insist=keep is None)
        limit = int(settings.summary_ratio * self.budget.effective_limit) if target is None else target
        summary = compacting.extract(fold, limit, parts.counter, instructions) if fold else None
        if fold is None or summary is None:
            return nothing
        made = {
            "last_id": fold.last_id,
            "messages_folded": fold.messages_folded,
            "summary": summary,
            "summary_tokens": parts.counter.count(summary),
            "mode": "extractive",
        }
        compaction = nothing.model_copy(update=made)
        after = self._assemble((), compaction=compaction).usage.total_tokens
        if after >= before:
            return nothing
        compaction = compaction.model_copy(update={"tokens_after": after})
        if not preview:
            parts.store.compact(self.conversation.id, compaction)
            self.compactions += (compaction,)
        return compaction

    def undo_compaction(self) -> Compaction | None:
        """Take the last compaction back: the prompt is what it was before. None when there is none."""
        undone = self.parts.store.undo_compaction(self.conversation.id) if self._stored else None
        if undone is not None:
            self.compactions = self.parts.store.compactions(self.conversation.id)
        return undone

    def _plan(self, keep: int, *, insist: bool) -> Fold | None:
        turns = [turn for turn in turns_of(self.history, self.parts.counter) if not turn.failed]
        holding = self.compaction
        covered = 0
        if holding is not None:
            covered = max((i + 1 for i, turn in enumerate(turns) if any(m.id == holding.last_id for m in turn.messages)), default=0)
        return compacting.plan(turns, covered, keep, insist=insist)

    # making values

    def _assemble(self, current: tuple[ZkChatMessage, ...], *, offer_tools: bool = True, compaction: Compaction | None = None) -> Prompt:
        material = Material(
            instructions=INSTRUCTIONS,
            history=self.history,
            current=current,
            memory=self.memory,
            compaction=compaction or self.compaction,
            descriptors=tuple(tool.descriptor for tool in self.parts.tools) if offer_tools else (),
        )
        return assemble(material, self.budget, self.parts.strategy, self.parts.counter)

    def _message(self, role: Role, content: str, parent: str | None = None, **fields: object) -> ZkChatMessage:
        values = {"id": self.parts.new_id(), "parent_id": parent, "role": role, "content": content, "timestamp": self.parts.now()}
        return ZkChatMessage.model_validate({**values, **fields})

    def _user_message(self, text: str, status: MessageStatus) -> ZkChatMessage:
        """The user's message with the documents it names; `augmented_token_count` includes the list of them that the model gets."""
        parent = self.history[-1].id if self.history else None
        references = extract(text, self.parts.vault, self._summaries)
        count = self.parts.counter.count
        tokens = count(text)
        message = self._message("user", text, parent, references=references, status=status)
        return message.model_copy(update={"token_count": tokens, "augmented_token_count": tokens + count(introduce(references))})
