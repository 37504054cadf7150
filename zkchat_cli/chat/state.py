"""The state of one conversation and its only mutable owner: branch, compactions, numbered
references, undo stack. Others read it, and change it by its verbs.

A new conversation is stored with its first message, not before. What a long one needs for each
prompt (its messages cut into turns and rendered) is cached and only extended.
"""

import gc
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from zkchat_cli.chat.remarks import Remarks, untold_remarks
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.context.turns import TurnHistory, make_turns
from zkchat_cli.errors import ConversationExists, StoreError
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage, branch_to, split_into_exchanges
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.store.paused_gc import paused_gc
from zkchat_cli.tokens.counter import TokenCounter

# Number of new objects that shows that a long conversation is being opened
MANY_OBJECTS = 50_000


class _CountedTurns(NamedTuple):
    """Turns, and the counter that counted them."""

    counter: TokenCounter | None
    turns: TurnHistory


_NO_TURNS = _CountedTurns(None, TurnHistory())


class StoredBranch(NamedTuple):
    """A conversation as the store has it: all its messages, those of the current branch, and its
    summaries.
    """

    log: tuple[ZkChatMessage, ...] = ()
    branch: tuple[ZkChatMessage, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    preview: Compaction | None = None


class ConversationState:
    """One conversation: its current branch, and what the store has of it."""

    def __init__(self, services: SessionServices, conversation: Conversation | None = None) -> None:
        self._services = services
        self._store = services.store
        self._faults = services.faults
        self.is_stored = conversation is not None
        self.conversation = conversation or Conversation(
            id=services.new_id(),
            vault=str(services.vault.root),
            created_at=services.now(),
            updated_at=services.now(),
        )
        # The messages of the current branch, oldest first
        self.history: tuple[ZkChatMessage, ...] = ()
        self._messages: dict[str, ZkChatMessage] = {}
        # The same messages, grouped: each question with its answers
        self.exchanges: tuple[tuple[ZkChatMessage, ...], ...] = ()
        # The turns of the history, or of its beginning
        self._turns = _NO_TURNS
        self._turns_lock = threading.RLock()
        # The heads that undo left, the newest last; the next question clears them
        self._undone_heads: list[str] = []
        self._load()
        # What the next model is told below the user's words
        self.remarks = Remarks(untold_remarks(self.history), self._store_remark)

    def _load(self) -> None:
        with _long_lived_allocation():
            self.use_stored(self.read_stored())

    def read_stored(self) -> StoredBranch:
        """What the store has of the conversation now, from any thread. Raises StoreError."""
        id_ = self.conversation.id
        if not self.is_stored:
            return StoredBranch()
        head = self._store.conversation(id_).head_id
        log = self.log()
        branch = branch_to(log, head)
        # A question without the rest of its turn: the process was killed before the turn was
        # stored
        if branch and branch[-1].status == "pending":
            branch = (*branch[:-1], branch[-1].model_copy(update={"status": "unfinished"}))
        return StoredBranch(log, branch, self._store.compactions(id_), self._store.preview(id_))

    def use_stored(self, stored: StoredBranch) -> None:
        """Continue with what was read from the store."""
        self._replace_history(stored.branch)
        self.compactions = stored.compactions
        self.preview = stored.preview
        self._references = self._references_of(stored.log, stored.branch)
        self._call_ids: set[str] = set()
        for message in stored.log:
            self._call_ids.update(call.id for call in message.tool_calls)

    def _references_of(
        self, log: Sequence[ZkChatMessage], branch: Sequence[ZkChatMessage]
    ) -> ReferenceManager:
        """The numbered chunks of the log, and the references of the branch."""
        with self._faults.contain("sources"):
            return ReferenceManager.from_log(log, branch)
        return ReferenceManager.from_log(log)

    @property
    def references(self) -> ReferenceManager:
        """The chunks that this conversation has cited or may cite, and its latest references."""
        return self._references

    @property
    def head(self) -> str | None:
        """The id of the newest message of the branch; None if the branch is empty."""
        return self.history[-1].id if self.history else None

    @property
    def version(self) -> tuple[str | None, str | None]:
        """The ids of the newest message and of the compaction in use."""
        return self.head, self.compaction.id if self.compaction else None

    @property
    def last_question(self) -> ZkChatMessage | None:
        """The user's newest message of the branch; None if there is none."""
        for message in reversed(self.history):
            if message.role == "user":
                return message
        return None

    def log(self) -> tuple[ZkChatMessage, ...]:
        """Every stored message of every branch, in the order in which they were written."""
        return self._store.log(self.conversation.id) if self.is_stored else ()

    def find_message(self, message_id: str) -> ZkChatMessage | None:
        """The message of this branch with that id."""
        return self._messages.get(message_id)

    def append(self, turn: Sequence[ZkChatMessage]) -> None:
        """Add a finished turn to the branch."""
        self._messages |= {message.id: message for message in turn}
        self.history = (*self.history, *turn)
        self.exchanges = (*self.exchanges, tuple(turn))
        with self._faults.contain("sources"):
            self._references.add_references_of(turn)

    def _check_out(self, head: str | None) -> None:
        """Continue from another message of the log, here and in the store.

        None means from the beginning. Raises StoreError.
        """
        if self.is_stored:
            self._store.move_head(self.conversation.id, head)
            self._load()

    def _remember_undone(self, head: str | None) -> None:
        if head is not None:
            self._undone_heads.append(head)

    @property
    def undone_heads(self) -> tuple[str, ...]:
        """The last messages of what was undone, the newest last."""
        return tuple(self._undone_heads)

    @property
    def can_redo(self) -> bool:
        """Whether there are undone messages that `redo` can restore."""
        return bool(self._undone_heads)

    def undo_to(self, head: str | None) -> None:
        """Continue from an earlier message; `redo` reverts this.

        None means from the beginning. Raises StoreError.
        """
        left = self.head
        self._check_out(head)
        self._remember_undone(left)

    def redo(self, count: int = 1) -> None:
        """Revert the last `count` calls of `undo_to`, or all if there were fewer. Raises
        StoreError.
        """
        kept = self._undone_heads[:-count]
        restored = self._undone_heads[-count:]
        if restored:
            self._check_out(restored[0])
            self._undone_heads = kept

    def switch_to(self, head: str) -> None:
        """Continue from the last message of another branch; earlier undos can no longer be redone.

        Raises StoreError.
        """
        self._check_out(head)
        self._undone_heads = []

    def branch_off(self, head: str | None) -> None:
        """Continue from another message here; the store follows with the next question. Raises
        StoreError.
        """
        log = self.log()
        left = self.head
        branch = branch_to(log, head)
        self._references = self._references_of(log, branch)
        self._replace_history(branch)
        self._remember_undone(left)

    def begin_question(self) -> frozenset[str | None]:
        """Forget what was undone, because a question begins.

        Returns the heads that this program has given the conversation: if the store has a different
        one, another program has continued the conversation.
        """
        known = frozenset((None, self.head, *self._undone_heads))
        self._undone_heads = []
        return known

    def update_marks(
        self,
        messages: Iterable[ZkChatMessage],
        *,
        pinned: bool | None,
        priority: int | None = None,
    ) -> None:
        """Store for these messages of this branch whether every prompt has them word for word, and
        their priority; None if rules decide. Raises StoreError.
        """
        self._mark(messages, {"pinned": pinned, "priority": priority})

    def _store_remark(self, remark: str) -> None:
        """Keep a remark with the newest message, if that can be stored."""
        if self.is_stored and self.history:
            last = self.history[-1]
            with suppress(StoreError):
                self._mark([last], {"remarks": (*last.remarks, remark)})

    def _mark(self, messages: Iterable[ZkChatMessage], fields: Mapping[str, object]) -> None:
        """Store other fields of messages of this branch, which are not their words."""
        update = {**fields, "updated_at": self._services.now()}
        changed = {message.id: message.model_copy(update=update) for message in messages}
        self._store.mark(self.conversation.id, changed.values())
        self._replace_history(changed.get(message.id, message) for message in self.history)

    def _replace_history(self, messages: Iterable[ZkChatMessage]) -> None:
        with self._turns_lock:
            self.history = tuple(messages)
            self._messages = {message.id: message for message in self.history}
            self.exchanges = tuple(map(tuple, split_into_exchanges(self.history)))
            self._turns = _NO_TURNS

    def turns(self, counter: TokenCounter) -> TurnHistory:
        """The branch as turns with the tokens that `counter` counts.

        Cached, because rendering turns is what takes time in a long conversation.
        """
        with self._turns_lock, _long_lived_allocation():
            turns = self._turns.turns if self._turns.counter is counter else TurnHistory()
            new = self.exchanges[len(turns.turns) + len(turns.failed) :]
            if new:
                turns = make_turns(new, counter, turns)
            self._turns = _CountedTurns(counter, turns)
            return turns

    def make_call_id_unique(self, given: str) -> str:
        """An id that no other tool call of this conversation has.

        Some models number their calls afresh in every turn, and some give no ids.
        """
        id_ = given
        if not given or given in self._call_ids:
            id_ = f"{given}-{self._services.new_id()}".lstrip("-")
        self._call_ids.add(id_)
        return id_

    def store_conversation(self) -> None:
        """Store the conversation if it is not stored yet, under another id if another one has its
        id. Raises StoreError.
        """
        if self.is_stored:
            return
        try:
            self._store.start(self.conversation)
        except ConversationExists:
            stored = self._store.conversation(self.conversation.id)
            # Otherwise it is this one, and the answer of the server was lost
            if stored.created_at != self.conversation.created_at or stored.head_id is not None:
                new = {"id": self._services.new_id()}
                self.conversation = self.conversation.model_copy(update=new)
                self._store.start(self.conversation)
        self.is_stored = True

    def update(self, *, title: str | None = None, documents: Sequence[str] | None = None) -> None:
        """Give the conversation another title, or other documents that each prompt has. Raises
        StoreError.
        """
        if self.is_stored:
            self._store.update(self.conversation.id, title=title, documents=documents)
        changes: dict[str, object] = {}
        if title is not None:
            changes["title"] = title
        if documents is not None:
            changes["documents"] = tuple(documents)
        self.conversation = self.conversation.model_copy(update=changes)

    @property
    def compaction(self) -> Compaction | None:
        """The newest compaction of this branch. One that only masks keeps the earlier summary."""
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
        """Keep the result of a preview, also for the next process.

        If it cannot be stored, it is kept only in memory.
        """
        self.preview = preview
        if self.is_stored:
            with suppress(StoreError):
                self._store.compact(self.conversation.id, preview)

    def undo_compaction(self) -> Compaction | None:
        """Undo the last compaction of this branch, and return it; None if there is none.

        The prompt becomes what it was before.
        """
        last = next(self._branch_compactions(), None)
        if last is None:
            return None
        undone = self._store.undo_compaction(self.conversation.id, last.id)
        self.compactions = self._store.compactions(self.conversation.id)
        return undone


@contextmanager
def _long_lived_allocation() -> Iterator[None]:
    """Create the objects of a conversation without garbage collection.

    They live as long as the conversation. With 10 000 turns the collector would take half a second
    during opening, and again during a later message.
    """
    with paused_gc():
        yield
        if gc.get_count()[0] > MANY_OBJECTS:
            gc.freeze()
