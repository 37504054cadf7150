"""The state of one conversation and its only mutable owner: branch, compactions, numbered
references, undo stack.

A new conversation is stored with its first message, not before. What a long one needs for each
prompt (its messages cut into turns and rendered) is cached and only extended.
"""

import gc
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.context.turns import TurnHistory, make_turns
from zkchat_cli.errors import StoreError
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage, branch_to, split_into_exchanges
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.store.rows import paused_gc
from zkchat_cli.tokens.counter import TokenCounter

# So many new objects at once mean that a long conversation is being opened
MANY_OBJECTS = 50_000


class ConversationState:
    def __init__(self, services: SessionServices, conversation: Conversation | None = None) -> None:
        self._services = services
        self._store = services.store
        self.is_stored = conversation is not None
        self.conversation = conversation or Conversation(
            id=services.new_id(),
            vault=str(services.vault.root),
            created_at=services.now(),
            updated_at=services.now(),
        )
        # The messages of the branch in use, oldest first
        self.history: tuple[ZkChatMessage, ...] = ()
        self._messages: dict[str, ZkChatMessage] = {}
        # The same, each question with its answers
        self.exchanges: tuple[tuple[ZkChatMessage, ...], ...] = ()
        self._turns: tuple[TokenCounter | None, TurnHistory] = None, TurnHistory()
        """The turns of the history, or the first ones of them, as the counter used last counts."""
        self._turns_lock = threading.RLock()
        # Heads that undo left, the last one last; cleared by the next question
        self.undo_stack: list[str] = []
        self._load()

    def _load(self) -> None:
        id_ = self.conversation.id
        head = self._store.conversation(id_).head_id if self.is_stored else None
        with _long_lived_allocation():
            log = self.log()
            branch = branch_to(log, head)
            # Its turn was never stored, because the process was killed
            if branch and branch[-1].status == "pending":
                branch = (*branch[:-1], branch[-1].model_copy(update={"status": "unfinished"}))
            self._replace_history(branch)
            self.compactions = self._store.compactions(id_) if self.is_stored else ()
            self.preview = self._store.preview(id_) if self.is_stored else None
            self.references = ReferenceManager.from_log(log)
            self._call_ids = {call.id for message in log for call in message.tool_calls}

    @property
    def head(self) -> str | None:
        return self.history[-1].id if self.history else None

    @property
    def version(self) -> tuple[str | None, str | None]:
        """The ids of the newest message and of the compaction in use."""
        return self.head, self.compaction.id if self.compaction else None

    def log(self) -> tuple[ZkChatMessage, ...]:
        """Every stored message of every branch, in the order of writing."""
        return self._store.log(self.conversation.id) if self.is_stored else ()

    def find_message(self, message_id: str) -> ZkChatMessage | None:
        """The message of this branch with that id."""
        return self._messages.get(message_id)

    def append(self, turn: Sequence[ZkChatMessage]) -> None:
        """Add a finished turn to the branch."""
        self._messages |= {message.id: message for message in turn}
        self.history = (*self.history, *turn)
        self.exchanges = (*self.exchanges, tuple(turn))

    def checkout(self, head: str | None) -> None:
        """Continue from another message of the log (None: from the beginning), here and in the
        store. Raises StoreError.
        """
        if self.is_stored:
            self._store.move_head(self.conversation.id, head)
            self._load()

    def undo_to(self, head: str | None) -> None:
        """`checkout` that `redo` can take back. Raises StoreError."""
        left = self.head
        self.checkout(head)
        self.undo_stack += [left] if left is not None else []

    def branch_off(self, head: str | None) -> None:
        """Continue from another message here; the store follows with the next question. Raises
        StoreError.
        """
        log = self.log()
        left = self.head
        self.references = ReferenceManager.from_log(log)
        self._replace_history(branch_to(log, head))
        self.undo_stack += [left] if left is not None else []

    def update_marks(self, messages: Iterable[ZkChatMessage], *, pinned: bool) -> None:
        """Store whether these messages of this branch are sent word for word in every prompt.
        Raises StoreError.
        """
        update = {"pinned": pinned, "updated_at": self._services.now()}
        changed = {message.id: message.model_copy(update=update) for message in messages}
        self._store.mark(self.conversation.id, changed.values())
        self._replace_history(changed.get(message.id, message) for message in self.history)

    def _replace_history(self, messages: Iterable[ZkChatMessage]) -> None:
        with self._turns_lock:
            self.history = tuple(messages)
            self._messages = {message.id: message for message in self.history}
            self.exchanges = tuple(map(tuple, split_into_exchanges(self.history)))
            self._turns = None, TurnHistory()

    def turns(self, counter: TokenCounter) -> TurnHistory:
        """The branch cut into turns, as `counter` counts them; cached, since rendering them is what
        a long conversation costs.
        """
        with self._turns_lock, _long_lived_allocation():
            counted_by, turns = self._turns
            if counted_by is not counter:
                turns = TurnHistory()
            if new := self.exchanges[len(turns.turns) + len(turns.failed) :]:
                turns = make_turns(new, counter, turns)
            self._turns = counter, turns
            return turns

    def make_call_id_unique(self, given: str) -> str:
        """An id that no other tool call of this conversation has: some models number theirs afresh
        in every turn, some give none.
        """
        id_ = (
            given
            if given and given not in self._call_ids
            else f"{given}-{self._services.new_id()}".lstrip("-")
        )
        self._call_ids.add(id_)
        return id_

    def store_conversation(self) -> None:
        """Store the conversation, if that has not been done. Raises StoreError."""
        if not self.is_stored:
            self._store.start(self.conversation)
            self.is_stored = True

    def rename(self, title: str) -> None:
        """Give the conversation a title. Raises StoreError."""
        if self.is_stored:
            self._store.rename(self.conversation.id, title)
        self.conversation = self.conversation.model_copy(update={"title": title})

    @property
    def compaction(self) -> Compaction | None:
        """The newest compaction of this branch; one that only masks keeps the summary before it."""
        newest: Compaction | None = None
        for compaction in self._branch_compactions():
            newest = newest or compaction
            if compaction.summary:
                return newest.with_summary_of(compaction)
        return newest

    def _branch_compactions(self) -> Iterator[Compaction]:
        """The compactions of this branch, newest first."""
        for compaction in reversed(self.compactions):
            if compaction.mode != "none" and compaction.last_id in self._messages:
                yield compaction

    def add_compaction(self, compaction: Compaction) -> None:
        """Store a compaction and use it from now on. Raises StoreError."""
        if self.is_stored:
            self._store.compact(self.conversation.id, compaction)
        self.compactions += (compaction,)

    def keep_preview(self, preview: Compaction) -> None:
        """Keep what a preview showed, also for the next process; one that cannot be stored is only
        kept here.
        """
        self.preview = preview
        if self.is_stored:
            with suppress(StoreError):
                self._store.compact(self.conversation.id, preview)

    def undo_compaction(self) -> Compaction | None:
        """Undo the last compaction of this branch: the prompt is as it was before. None when there
        is none.
        """
        last = next(self._branch_compactions(), None)
        if last is None:
            return None
        undone = self._store.undo_compaction(self.conversation.id, last.id)
        self.compactions = self._store.compactions(self.conversation.id)
        return undone


@contextmanager
def _long_lived_allocation() -> Iterator[None]:
    """Create objects that live as long as the conversation without garbage collection: with 10 000
    turns the collector takes half a second while they are opened, and again during some later
    message.
    """
    with paused_gc():
        yield
        if gc.get_count()[0] > MANY_OBJECTS:
            gc.freeze()
