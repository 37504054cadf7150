"""What the editor is told while a turn runs: its events as updates, and the figures after it."""

from collections.abc import Iterator
from contextlib import suppress

from zkchat_cli import events
from zkchat_cli.acp.connection import Json
from zkchat_cli.acp.updates import (
    Features,
    answer_chunk,
    compaction_update,
    notice,
    place_values,
    reply_id,
    sources_text,
    thought_chunk,
    tool_progress,
    tool_started,
)
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.models.money import Money
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.conversation_cost import money_spent
from zkchat_cli.views.turn_steps import describe_compaction


class TurnUpdates:
    """The updates for the editor about the events of one turn, or of a command such as /compact.

    A reply of the model is a message for the editor. Its id is made of the question's id and the
    reply's number, so a conversation that is shown again has the same ids.
    """

    def __init__(self, session: ZkChatSession, features: Features) -> None:
        self._session = session
        self._features = features
        self._message_id = session.services.new_id()
        self._question_id = self._message_id
        self._replies = 1
        self._is_new_reply = False
        # The compaction that has begun and not ended
        self._compaction_id: str | None = None
        self._earlier_compactions = {each.id for each in session.state.compactions}

    def of(self, event: events.Event) -> Iterator[Json]:
        """The updates about an event."""
        match event:
            case events.TextDelta(text):
                yield answer_chunk(text, self._message_id)
            case events.ReasoningDelta(text):
                yield thought_chunk(text, self._thought_id)
            case events.TextWithdrawn():
                told = "The text above was the model's reasoning; its answer follows.\n"
                yield thought_chunk(told, self._thought_id)
            case events.ToolCallStarted(call):
                self._is_new_reply = True
                yield tool_started(call)
            case events.ToolCallFinished(call, run, _, places):
                status = "completed" if run.ok else "failed"
                found = place_values(places, self._session.vault.root)
                yield tool_progress(call.id, run.outcome, found, status=status)
            case _:
                yield from self._of_rarer(event)

    def _of_rarer(self, event: events.Event) -> Iterator[Json]:
        """The updates about an event that few turns have, or that each has once."""
        match event:
            case events.MessageStored(message_id):
                self._question_id = message_id
                self._message_id = reply_id(message_id, 1)
            case events.PromptBuilt(usage, spent=spent):
                self._begin_reply()
                yield from _usage_update(self._session, usage, spent)
            case events.Notice(message, hint):
                yield from self._notice(message, hint)
            case events.CompactionStarted(reason):
                yield from self._compaction_started(reason)
            case events.CompactionDone(compaction):
                yield from self._compaction_done(compaction)
            case events.TurnCompleted(report):
                yield from self._turn_completed(report)

    def _begin_reply(self) -> None:
        """Give the next reply an id of its own, unless this prompt only replaces a refused one."""
        if self._is_new_reply:
            self._replies += 1
            self._message_id = reply_id(self._question_id, self._replies)
            self._is_new_reply = False

    def end(self, status: str) -> Iterator[Json]:
        """The end of a compaction, if no event has told it: a command has requested it, or it was
        stopped, or failed.
        """
        if self._compaction_id is None:
            return
        done = None
        if status == "completed":
            done = next(iter(self.new_compactions()), None)
        yield compaction_update(self._compaction_id, status, done)
        self._compaction_id = None

    def new_compactions(self) -> list[Compaction]:
        """The compactions that were made since the beginning, the newest first."""
        found = [
            each
            for each in self._session.state.compactions
            if each.id not in self._earlier_compactions
        ]
        return found[::-1]

    @property
    def _thought_id(self) -> str:
        return f"{self._message_id}-thought"

    def _notice(self, message: str, hint: str) -> Iterator[Json]:
        if self._compaction_id is not None:
            yield {
                **compaction_update(self._compaction_id, "failed"),
                "error": on_one_line(message, hint),
            }
            self._compaction_id = None
        if self._features.notices:
            yield notice(message, hint)
        else:
            yield thought_chunk(f"{on_one_line(message, hint)}\n", self._thought_id)

    def _compaction_started(self, reason: str) -> Iterator[Json]:
        if self._features.compactions:
            self._compaction_id = self._session.services.new_id()
            yield compaction_update(self._compaction_id, "in_progress")
        else:
            yield thought_chunk(f"Compacting: {reason}\n", self._thought_id)

    def _compaction_done(self, compaction: Compaction) -> Iterator[Json]:
        if self._compaction_id is not None:
            yield compaction_update(self._compaction_id, "completed", compaction)
            self._compaction_id = None
        else:
            yield thought_chunk(f"{describe_compaction(compaction)}\n", self._thought_id)

    def _turn_completed(self, report: TurnReport) -> Iterator[Json]:
        """Below the answer its sources; the figures; the title of the conversation."""
        sources = sources_text(report)
        if sources:
            yield answer_chunk(sources, self._message_id)
        yield session_info(self._session)


def session_info(session: ZkChatSession) -> Json:
    """The title of a conversation, and when it was used last."""
    conversation = session.conversation
    title = sanitize_name(conversation.title) if conversation.title else None
    return {
        "sessionUpdate": "session_info_update",
        "title": title,
        "updatedAt": conversation.updated_at,
    }


def usage_updates(session: ZkChatSession) -> Iterator[Json]:
    """How many tokens the next prompt will have, of those that are sent at most, and what the
    conversation has cost.

    Nothing if the settings hide tokens, or if there is no such prompt.
    """
    if session.runtime.settings.context.show_token_count:
        with suppress(ZkchatError):
            yield from _usage_update(session, session.usage, None)


def _usage_update(
    session: ZkChatSession, usage: ContextUsage, running: TokenUsage | None
) -> Iterator[Json]:
    if not session.runtime.settings.context.show_token_count:
        return
    update: Json = {
        "sessionUpdate": "usage_update",
        "used": usage.total_tokens,
        "size": usage.effective_limit,
    }
    spent: Money | None = None
    with suppress(ZkchatError):
        spent = money_spent(session, running)
    if spent is not None:
        update["cost"] = {"amount": spent.amount, "currency": spent.currency}
    yield update
