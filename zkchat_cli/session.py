"""One conversation: `send(text)` runs a turn and yields what happens. The only owner of a conversation's state.

Synchronous, and never prints: the screen, the one-shot command, JSON lines and tests consume the same events. Closing the generator
(Ctrl-C) stops the model and stores the partial answer as unfinished; a failure leaves the user's message stored and marked.
"""

import json
from collections.abc import Generator, Iterator
from contextlib import closing, suppress

from zkchat_cli import events
from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.turns import call_tokens, render
from zkchat_cli.errors import ProviderError, StoreError, UsageError, VaultError, ZkchatError
from zkchat_cli.llm import Failed, Finished, Reasoning, Request, Text, ToolCalls
from zkchat_cli.models import (
    Conversation,
    FinishReason,
    IndexReport,
    MessageStatus,
    Prompt,
    ToolCall,
    TurnReport,
    ZkChatMessage,
)
from zkchat_cli.references.citations import verify
from zkchat_cli.references.extraction import warning
from zkchat_cli.references.manager import documents_of, merge
from zkchat_cli.references.summaries import DocumentSummaryService
from zkchat_cli.standing import Parts, Standing
from zkchat_cli.toolbox import Toolbox
from zkchat_cli.turn import Timer, TurnInProgress
from zkchat_cli.words import encodable, shorten

MEMORY_SHARE = 0.2
TITLE_LENGTH = 60
LEAST_ROOM = 300
"""Tokens below which another round of tools is not worth it: describing them takes as many."""
FRESH_FOR = 2.0
"""Seconds for which a scan of the vault counts as fresh, so that one command does not scan twice."""


class ZkChatSession(Standing):
    """A conversation that goes on: what stands (see Standing), and `send`, which runs a turn."""

    def __init__(self, parts: Parts, conversation: Conversation | None = None) -> None:
        super().__init__(parts, conversation)
        self._refreshed_at = float("-inf")
        self._rebuilt: str | None = None
        self._unsaved: list[tuple[ZkChatMessage, list[ZkChatMessage]]] = []

    def send(self, text: str) -> Generator[events.Event, None, None]:
        """Run one turn and yield its events, the last one TurnCompleted or TurnFailed (see events.py). Closing it stops the turn.

        Raises UsageError for a message without text and StoreError when the message cannot be stored: then nothing was sent.
        """
        text = encodable(text)
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
            if not turn.closed:
                self._close(turn, "unfinished", "cancelled")
            else:  # left after the last event, or stopped in the middle of storing
                with suppress(StoreError):
                    self._save()
            raise
        except ZkchatError as e:
            problem = self._close(turn, "failed", "error")
            if problem:
                yield events.Notice(problem.message, problem.hint)
            yield events.TurnFailed(e, user.id, turn.text)
        except Exception:
            if not turn.closed:  # a defect of ours: the turn is stored as failed before anyone hears of it
                self._close(turn, "failed", "error")
            raise

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
        self.vault_refreshed(report)
        rebuilt, self._rebuilt = self._rebuilt, None
        return [events.Notice(f"the index was rebuilt: {rebuilt}")] if rebuilt else []

    def vault_refreshed(self, report: IndexReport) -> None:
        """Take in what a refresh of the vault found, whoever asked for it; the next turn tells that the index was rebuilt.

        It does not spare the next turn its own refresh, for this one may have been of a few notes only.
        """
        if report.added or report.changed or report.removed:
            self._summaries = DocumentSummaryService(self.parts.vault)
        self._rebuilt = report.rebuilt or self._rebuilt

    def just_refreshed(self) -> None:
        """Tell the session that the vault was scanned a moment ago."""
        self._refreshed_at = self.parts.clock()

    def _store_user(self, user: ZkChatMessage) -> list[events.Event]:
        store = self.parts.store
        if not self._stored:
            store.start(self.conversation)
            self._stored = True
        saved = self._save()
        store.add(self.conversation.id, user)
        return [events.Notice("the answer that could not be stored before is stored now")] if saved else []

    def _save(self) -> bool:
        """Store the turns that could not be stored when they ended; whether there were any."""
        if not self._unsaved:
            return False
        there = {message.id for message in self.parts.store.log(self.conversation.id)}
        while self._unsaved:
            user, answer = self._unsaved[0]
            if not answer or answer[-1].id not in there:  # one that was stopped while it was stored may be there after all
                self._commit(user, answer)
            self._unsaved.pop(0)
        return True

    def _compact_if_due(self, turn: TurnInProgress) -> Iterator[events.Event]:
        settings = self.parts.settings.context
        with turn.timer("prepare"):
            due = self._assemble((turn.user,)).usage.compaction
            worthwhile = due.due and settings.auto_summarize and self._plan(None)
        if not worthwhile:
            return
        yield events.CompactionStarted(due.reason or "the context window fills")
        with turn.timer("prepare"):
            turn.compaction = self.compact()
        yield events.CompactionDone(turn.compaction)

    def _answer(self, turn: TurnInProgress) -> Iterator[events.Event]:
        """The tool loop: assemble, call, run tools, again, until the model answers; it gets no tools any more after `llm.max_tool_rounds`
        rounds of them, or when results have filled the window."""
        rounds, offered = 1, True
        while True:
            with turn.timer("prepare"):
                turn.prompt = self._assemble(tuple(turn.messages), offer_tools=offered)
            calls, finish = yield from self._call_model(turn, turn.prompt)
            if not calls or not offered:
                break
            room = yield from self._run_tools(turn, turn.prompt, calls)
            rounds += 1
            offered = rounds <= self.parts.settings.llm.max_tool_rounds and room >= LEAST_ROOM
        if not turn.text.strip():
            raise self._no_answer(rounds if calls else 0)
        with turn.timer("prepare"):
            report = self._report(turn, finish)
        with turn.timer("store"):
            problem = self._close(turn, "complete", finish, report)
        if problem is not None:
            yield events.TurnFailed(problem, turn.user.id, turn.text)
        else:
            yield events.TurnCompleted(report.model_copy(update={"timings_ms": turn.timer.timings()}))

    def _no_answer(self, rounds: int) -> ProviderError:
        name = self.parts.model.name
        if rounds:
            hint = "Ask in other words, or raise llm.max_tool_rounds or context.max_tokens."
            return ProviderError("empty", f"{name} asked for tools {rounds} times in a row and never answered", hint)
        return ProviderError("empty", f"{name} answered with nothing", "Try again, or ask in other words.")

    def _call_model(self, turn: TurnInProgress, prompt: Prompt) -> Generator[events.Event, None, tuple[tuple[ToolCall, ...], FinishReason]]:
        """Stream one model call; returns its tool calls and finish reason. Raises the ProviderError it ends with."""
        calls: tuple[ToolCall, ...] = ()
        with closing(self.parts.model.stream(Request(prompt.messages, prompt.tools))) as stream:
            while True:
                with turn.timer("model"):
                    delta = next(stream, None)
                match delta:
                    case Text(text):
                        turn.text += encodable(text)
                        yield events.TextDelta(encodable(text))
                    case Reasoning(text):
                        turn.reasoning += encodable(text)
                        yield events.ReasoningDelta(encodable(text))
                    case ToolCalls(new):
                        calls += tuple(self._distinct(call) for call in new)
                    case Finished(reason, usage):
                        turn.add_usage(usage, prompt, self.parts.counter)
                        return calls, reason
                    case Failed(error):
                        raise error
                    case None:
                        problem = f"{self.parts.model.name}: the stream broke off"
                        raise ProviderError("cut", problem, "What came is kept; try again for the rest.")

    def _run_tools(self, turn: TurnInProgress, prompt: Prompt, calls: tuple[ToolCall, ...]) -> Generator[events.Event, None, int]:
        """Run the calls of one reply in order. Call and result enter the turn together, so that neither is ever alone in the log.

        Returns the tokens that are left for more of them.
        """
        counter = self.parts.counter
        text_tokens, tool_tokens = counter.count(turn.text), call_tokens(calls, counter)
        asked_tokens = text_tokens + tool_tokens
        asked = self._message(
            "assistant",
            turn.text,
            parent=turn.messages[-1].id,
            tool_calls=calls,
            reasoning=turn.reasoning or None,
            finish_reason="tool_calls",
            model=self.parts.model.name,
            token_count=text_tokens,
            tool_tokens=tool_tokens,
        )
        fixed = sum(tool.tokens for tool in prompt.tools) + sum(
            m.tokens for m in prompt.messages if m.kind in ("system", "memory", "summary")
        )
        spent = sum(m.tokens for m in render(turn.messages, counter)) + asked_tokens + MESSAGE_OVERHEAD * (1 + len(calls))
        room = max(0, (self.budget.effective_limit - fixed - spent) // 2 // len(calls))
        toolbox = Toolbox(self.parts.tools, self.parts.vault, self.manager, counter, self.parts.clock)
        results: list[ZkChatMessage] = []
        for call in calls:
            yield events.ToolCallStarted(call)
            with turn.timer("tools"):
                result = toolbox.run(call, room)
            yield from (events.Notice(w.message, w.hint) for w in self.parts.vault.take_warnings())
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
        left = self.budget.effective_limit - fixed - sum(m.tokens for m in render(turn.messages, counter))
        turn.text = turn.reasoning = ""  # not before: a turn that is stopped while a tool runs keeps what was said
        return left

    def _close(
        self, turn: TurnInProgress, status: MessageStatus, finish: FinishReason, report: TurnReport | None = None
    ) -> StoreError | None:
        """Take what the turn came to into the history and store it, in one transaction.

        Returns the StoreError of a full disk, for the caller to tell; the turn stays in memory then, and is stored with the next one.
        """
        counter = self.parts.counter
        turn.closed = True
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
            self._commit(messages[0], messages[1:])
        except StoreError as e:
            self._unsaved.append((messages[0], messages[1:]))
            return e
        except KeyboardInterrupt:
            self._unsaved.append((messages[0], messages[1:]))
            raise
        return None

    def _commit(self, user: ZkChatMessage, answer: list[ZkChatMessage]) -> None:
        title = shorten(user.content, TITLE_LENGTH)
        self.parts.store.commit(self.conversation.id, user, answer, updated_at=self.parts.now(), title=title)

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

    def _distinct(self, call: ToolCall) -> ToolCall:
        """The call under an id that no other call of this conversation has: some models number theirs afresh in every process, or turn."""
        id_ = call.id if call.id and call.id not in self._call_ids else f"{call.id}-{self.parts.new_id()}".lstrip("-")
        self._call_ids.add(id_)
        arguments = json.loads(encodable(json.dumps(call.arguments, ensure_ascii=False)))
        return ToolCall(id=encodable(id_), name=encodable(call.name), arguments=arguments)
