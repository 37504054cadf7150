"""What other programs write into the conversation that is open here.

If they continue it where this chat ends, the chat follows them: its next question comes after their
answer. If they began another branch, this chat stays on its own, and its user is told.
"""

from typing import NamedTuple

from zkchat_cli.chat.state import ConversationState, StoredBranch
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.port import SessionStore

# Messages that are read to find what is new
LATEST = 20


class OtherMessages(NamedTuple):
    """The newest messages of the conversation, which another program stored after message `after`.

    Without `stored` they are on another branch.
    """

    messages: tuple[ZkChatMessage, ...]
    after: str | None = None
    stored: StoredBranch | None = None


class OtherPrograms:
    """Reads in one thread what is new in the store, and applies it in the session's."""

    def __init__(self, store: SessionStore, state: ConversationState) -> None:
        self._store = store
        self._state = state
        # The last messages of other branches that the user was told of
        self._told: set[str] = set()

    def read(self) -> OtherMessages | None:
        """What the user does not know yet; None if there is nothing, or if its answer is still
        missing. Raises StoreError.
        """
        state = self._state
        if not state.is_stored:
            return None
        own = state.head
        latest = self._store.history(state.conversation.id, LATEST)
        newest = latest[-1] if latest else None
        if newest is None or newest.status == "pending" or self._is_known(newest):
            return None
        if own is not None and all(message.id != own for message in latest):
            latest = self._store.history(state.conversation.id)
        new = _after(latest, own)
        undone = {*state.undone_heads}
        if not new or any(message.id in undone for message in new):
            self._told.add(newest.id)
            return OtherMessages(tuple(latest))
        return OtherMessages(new, own, state.read_stored())

    def _is_known(self, message: ZkChatMessage) -> bool:
        state = self._state
        return (
            state.find_message(message.id) is not None
            or message.id in state.undone_heads
            or message.id in self._told
        )

    def follow(self, other: OtherMessages) -> bool:
        """Continue after these messages; False if this chat has gone on meanwhile."""
        if other.stored is None or self._state.head != other.after:
            return False
        self._state.use_stored(other.stored)
        return True


def _after(history: tuple[ZkChatMessage, ...], head: str | None) -> tuple[ZkChatMessage, ...]:
    """The messages after the one with the id `head`, or all (None); none if it is not there."""
    if head is None:
        return history
    ids = [message.id for message in history]
    return history[ids.index(head) + 1 :] if head in ids else ()
