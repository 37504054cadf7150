"""Stores questions and turns, and keeps what could not be stored until it can."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.errors import StoreError
from zkchat_cli.events import Notice
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.store.port import SessionStore
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate

# Most characters of a title
TITLE_LENGTH = 60


def default_title(question: str) -> str:
    """The title of a conversation that nobody has named."""
    return truncate(question, TITLE_LENGTH)


class CompletedTurn(NamedTuple):
    """A turn in the form in which it is stored.

    It has the messages, the prompts of the calls, the calibration of models, and the keys of the
    facts that it used.
    """

    user: ZkChatMessage
    answer: Sequence[ZkChatMessage]
    sent: Sequence[SentPrompt]
    calibrations: Mapping[str, Calibration]
    facts: Sequence[str]


def waiting_notices(store: SessionStore) -> list[Notice]:
    """What to say about turns that are kept on this machine until a server takes them."""
    waiting = store.waiting_turns
    refusal = store.refusal
    if refusal is not None:
        return [Notice(refusal.message, f"It is kept on this machine. {refusal.hint}")]
    if not waiting:
        return []
    hint = "It is kept on this machine until the server answers."
    if waiting > 1:
        hint = "They are kept on this machine until the server answers."
    return [Notice(f"{plural(waiting, 'turn')} not on the server yet", hint)]


class TurnRecorder:
    """Stores the turns of one conversation. A failing store stops no turn."""

    def __init__(
        self, store: SessionStore, state: ConversationState, now: Callable[[], str]
    ) -> None:
        self._store = store
        self._state = state
        self._now = now
        self._pending_turns: list[CompletedTurn] = []
        self._pending_questions: set[str] = set()
        # Why nothing can be stored at present, if the user was told
        self.problem: StoreError | None = None
        # Whether turns were kept on this machine when the user was last told
        self._had_waiting_turns = False

    @property
    def unstored(self) -> tuple[ZkChatMessage, ...]:
        """The messages of the turns that could not be stored when they ended."""
        messages: list[ZkChatMessage] = []
        for turn in self._pending_turns:
            messages += [turn.user, *turn.answer]
        return tuple(messages)

    def begin(self, question: ZkChatMessage) -> list[Notice]:
        """Store the question of a turn that begins. Returns what to tell the user."""
        self._pending_questions.add(question.id)
        known = self._state.begin_question()
        try:
            self._state.store_conversation()
            self.store_pending()
            head = self._store_question(question)
        except StoreError as e:
            return self.report(e)
        if head in known:
            return self.report()
        other = "another program has continued this conversation; yours is another branch"
        return [Notice(other, "/branches lists both; nothing is lost."), *self.report()]

    def commit(self, turn: CompletedTurn) -> list[Notice]:
        """Store a finished turn in one transaction, after those that could not be stored before.
        Returns what to tell the user.
        """
        try:
            self.store_pending(turn)
        except StoreError as e:
            return self.report(e)
        return [*self.report(), *self._report_waiting()]

    def _report_waiting(self) -> list[Notice]:
        """How many turns the server does not have yet, and when it has all."""
        notices = waiting_notices(self._store)
        if self._had_waiting_turns and not notices:
            notices = [Notice("all turns are on the server now")]
            self._had_waiting_turns = False
            return notices
        self._had_waiting_turns = bool(notices)
        return notices

    def store_pending(self, *finished: CompletedTurn) -> None:
        """Store the turns that could not be stored when they ended, then these. Raises
        StoreError.
        """
        stored: set[str] = set()
        # A turn that was interrupted while it was being stored may be in the store after all
        if self._pending_turns:
            stored = {message.id for message in self._state.log()}
        self._pending_turns += finished
        while self._pending_turns:
            turn = self._pending_turns[0]
            if not turn.answer or turn.answer[-1].id not in stored:
                self._state.store_conversation()
                self._store_question(turn.user)
                self._store.commit(
                    self._state.conversation.id,
                    turn.user,
                    turn.answer,
                    updated_at=self._now(),
                    title=default_title(turn.user.content),
                    sent=turn.sent,
                    calibrations=turn.calibrations,
                    facts_used=turn.facts,
                )
            self._pending_turns.pop(0)

    def flush(self) -> None:
        """Store what is pending, at the end of a conversation. Raises StoreError that says how much
        would be lost.
        """
        try:
            self.store_pending()
        except StoreError as e:
            lost = (
                f"{plural(len(self._pending_turns), 'turn')} of conversation "
                f"{self._state.conversation.id} cannot be stored"
            )
            raise StoreError(f"{lost}: {e.message}", e.hint) from e

    def _store_question(self, question: ZkChatMessage) -> str | None:
        """Store a question and return the head before it; None if it is stored already."""
        if question.id not in self._pending_questions:
            return None
        head = self._store.add(
            self._state.conversation.id, question.model_copy(update={"status": "pending"})
        )
        self._pending_questions.discard(question.id)
        return head

    def report(self, problem: StoreError | None = None) -> list[Notice]:
        """What to tell the user: each problem once, and when it is over.

        Two problems are the same if their hints are equal: these name the cause, while the message
        names what failed.
        """
        known = self.problem
        self.problem = problem
        if problem is None:
            return [Notice("everything is stored again")] if known is not None else []
        if known is not None and known.hint == problem.hint:
            return []
        return [Notice(f"this conversation is not stored for now: {problem.message}", problem.hint)]
