"""Stores the questions and turns of a conversation. What cannot be stored (a full disk) is kept in memory and stored with the next turn."""

from collections.abc import Callable

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import CompletedTurn
from zkchat_cli.errors import StoreError
from zkchat_cli.events import Notice
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.truncate import truncate

TITLE_LENGTH = 60


def default_title(question: str) -> str:
    """The title of a conversation that nobody has named."""
    return truncate(question, TITLE_LENGTH)


class TurnRecorder:
    def __init__(self, store: ChatSessionStore, state: ConversationState, now: Callable[[], str]) -> None:
        self._store, self._state, self._now = store, state, now
        self._pending_turns: list[CompletedTurn] = []
        self._pending_questions: set[str] = set()
        self.problem: StoreError | None = None
        """Why nothing is stored for now, as reported."""

    @property
    def unstored(self) -> tuple[ZkChatMessage, ...]:
        """The messages of the turns that could not be stored when they ended."""
        return tuple(message for turn in self._pending_turns for message in (turn.user, *turn.answer))

    def begin(self, question: ZkChatMessage) -> list[Notice]:
        """Store the question of a turn that begins. Returns what to tell the user: a problem stops nothing."""
        self._pending_questions.add(question.id)
        known = (None, self._state.head, *self._state.undo_stack)
        self._state.undo_stack = []
        try:
            self._state.store_conversation()
            self.store_pending()
            head = self._store_question(question)
        except StoreError as e:
            return self.report_problem(e)
        if head in known:
            return self._report_recovery()
        other = "another program has continued this conversation; yours is another branch"
        return [Notice(other, "/branches lists both; nothing is lost."), *self._report_recovery()]

    def commit(self, turn: CompletedTurn) -> list[Notice]:
        """Store a finished turn in one transaction, after those that could not be stored before. Returns what to tell the user."""
        try:
            self.store_pending(turn)
        except StoreError as e:
            return self.report_problem(e)
        return self._report_recovery()

    def store_pending(self, *finished: CompletedTurn) -> None:
        """Store the turns that could not be stored when they ended, then these. Raises StoreError."""
        # one that was stopped while it was stored may be there after all
        stored = {message.id for message in self._state.log()} if self._pending_turns else set()
        self._pending_turns += finished
        while self._pending_turns:
            turn = self._pending_turns[0]
            if not turn.answer or turn.answer[-1].id not in stored:
                self._state.store_conversation()
                self._store_question(turn.user)
                self._store.commit(
                    self._state.conversation.id, turn.user, turn.answer, updated_at=self._now(), title=default_title(turn.user.content),
                    sent=turn.sent, calibrations=turn.calibrations, facts_used=turn.facts,
                )  # fmt: skip
            self._pending_turns.pop(0)

    def flush(self) -> None:
        """Store what is pending, at the end of a chat. Raises StoreError that says how much is lost."""
        try:
            self.store_pending()
        except StoreError as e:
            lost = f"{n} turns are" if (n := len(self._pending_turns)) > 1 else "1 turn is"
            raise StoreError(f"{lost} lost (conversation {self._state.conversation.id}): {e.message}", e.hint) from e

    def _store_question(self, question: ZkChatMessage) -> str | None:
        """Returns the head before it; None if it has been stored."""
        if question.id not in self._pending_questions:
            return None
        head = self._store.add(self._state.conversation.id, question.model_copy(update={"status": "pending"}))
        self._pending_questions.discard(question.id)
        return head

    def report_problem(self, problem: StoreError) -> list[Notice]:
        """Tell the user once, until the problem is another one or over. The hint names the cause, whatever it was that failed."""
        known, self.problem = self.problem, problem
        if known is not None and known.hint == problem.hint:
            return []
        return [Notice(f"this conversation is not stored for now: {problem.message}", problem.hint)]

    def _report_recovery(self) -> list[Notice]:
        reported, self.problem = self.problem, None
        return [Notice("everything is stored again")] if reported is not None else []
