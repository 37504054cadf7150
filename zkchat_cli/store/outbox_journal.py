"""What else the outbox has to deliver besides messages: changes of conversations, in their order.

A file beside the outbox's store has them. A change is written there before it is made, and making
it twice does no harm, so a kill loses none.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field

from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.port import SessionStore

_MOST_BYTES = 50_000_000


class PendingChange(Value):
    """A change of a conversation: another title or other documents, messages with other marks (such
    as a pin), or a summary that was taken back.
    """

    conversation_id: str
    kind: Literal["update", "mark", "undo_compaction"]
    title: str | None = None
    documents: tuple[str, ...] | None = None
    compaction_id: str | None = None
    messages: tuple[ZkChatMessage, ...] = ()

    @classmethod
    def update(
        cls, conversation_id: str, title: str | None, documents: Sequence[str] | None
    ) -> "PendingChange":
        """Another title or other documents; None: the same."""
        return cls(
            conversation_id=conversation_id,
            kind="update",
            title=title,
            documents=None if documents is None else tuple(documents),
        )

    @classmethod
    def mark(cls, conversation_id: str, messages: Iterable[ZkChatMessage]) -> "PendingChange":
        """Messages with other marks."""
        return cls(conversation_id=conversation_id, kind="mark", messages=tuple(messages))

    @classmethod
    def undo(cls, conversation_id: str, compaction_id: str) -> "PendingChange":
        """A summary that is taken back."""
        return cls(
            conversation_id=conversation_id, kind="undo_compaction", compaction_id=compaction_id
        )

    def make(self, store: SessionStore) -> None:
        """Make the change. Raises StoreError."""
        match self.kind:
            case "update":
                store.update(self.conversation_id, title=self.title, documents=self.documents)
            case "mark":
                store.mark(self.conversation_id, self.messages)
            case "undo_compaction":
                store.undo_compaction(self.conversation_id, self.compaction_id)


class OutboxJournal(Value):
    """How many messages of each conversation the server had, and the changes."""

    counts: dict[str, int] = Field(default_factory=dict)
    changes: tuple[PendingChange, ...] = ()

    def with_count(self, conversation_id: str, count: int) -> "OutboxJournal":
        """The journal after the server was found to have so many messages of a conversation."""
        return self.model_copy(update={"counts": self.counts | {conversation_id: count}})

    def with_change(self, change: PendingChange) -> "OutboxJournal":
        """The journal with one more change."""
        return self.model_copy(update={"changes": (*self.changes, change)})

    def changes_of(self, conversation_id: str) -> list[PendingChange]:
        """The changes of a conversation, in their order."""
        return [each for each in self.changes if each.conversation_id == conversation_id]

    def without(self, conversation_id: str) -> "OutboxJournal":
        """The journal without a conversation."""
        counts = {id_: count for id_, count in self.counts.items() if id_ != conversation_id}
        changes = [each for each in self.changes if each.conversation_id != conversation_id]
        return OutboxJournal(counts=counts, changes=tuple(changes))


def read_journal(file: Path) -> OutboxJournal:
    """The journal in a file; empty if there is none or if it is damaged."""
    with suppress(OSError, ValueError):
        return OutboxJournal.model_validate_json(read_file(file, _MOST_BYTES))
    return OutboxJournal()


def write_journal(file: Path, journal: OutboxJournal) -> None:
    """Replace the file."""
    atomic_write(file, journal.model_dump_json(exclude_defaults=True), private=True)
