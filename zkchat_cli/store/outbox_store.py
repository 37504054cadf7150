"""A store on a server that may be away: the chat goes on, and its turns are kept in an outbox until
the server takes them.

A conversation that this program has opened is known to it, so it can be continued without the
server. What needs the server (the list of all conversations, deleting, sharing) is an error that
says so, or shows what is kept here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TypeVar

from zkchat_cli.errors import StoreError, StoreUnreachable
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation, ConversationOverview, FoundMessage
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.store.known_conversation import KnownConversation
from zkchat_cli.store.outbox import Outbox
from zkchat_cli.store.outbox_journal import PendingChange
from zkchat_cli.store.outbox_parts import OutboxFacts, OutboxPrompts, OutboxVectors
from zkchat_cli.store.outbox_watch import OutboxWatch
from zkchat_cli.store.port import ConversationSharing, SessionStore, StoreChanges
from zkchat_cli.text.word_lists import ENGLISH

T = TypeVar("T")
# Seconds until a server that could not be reached is tried again
RETRY_AFTER = 5.0


class OutboxStore(SessionStore):
    """The store on the server, or the outbox while it is away."""

    write_error = None
    persistent = True

    def __init__(
        self,
        connect: Callable[[], SessionStore],
        outbox: Outbox,
        *,
        retry_after: float = RETRY_AFTER,
    ) -> None:
        self._connect = connect
        self._outbox = outbox
        self._retry_after = retry_after
        self._owns_outbox = True
        self._server: SessionStore | None = None
        self._lock = outbox.lock
        # Known conversations that may have been continued in the outbox
        self._outdated: set[str] = set()
        self._known: dict[str, KnownConversation] = {}
        self._tried_at = 0.0
        # Why the server is not reached; None if it is
        self.away: StoreUnreachable | None = None
        self.refusal: StoreError | None = None
        # How often the server came and went: then everything may be different
        self._switches = 0
        self.facts = OutboxFacts(self._ask)
        self.prompts = OutboxPrompts(self._ask)
        self.vectors = OutboxVectors(self._ask)
        self.watch = partial(OutboxWatch, self._try_again)

    def _reach_server(self) -> SessionStore:
        """The store on the server, with everything that was kept here. Raises StoreUnreachable."""
        with self._lock:
            if self.away is not None and monotonic() < self._tried_at + self._retry_after:
                raise self.away
            try:
                if self._server is None:
                    self._server = self._connect()
                    self._switches += 1
                self._outbox.deliver(self._server)
            except StoreUnreachable as e:
                self._note_absence(e)
                raise
            self.away = None
            self.refusal = self._outbox.refusal
            return self._server

    def _note_absence(self, error: StoreUnreachable) -> None:
        # Otherwise the server was not tried again
        if error is not self.away:
            self._tried_at = monotonic()
        if self.away is None:
            self._switches += 1
            self._outdated |= self._known.keys()
        self.away = error

    def _ask(self, act: Callable[[SessionStore], T], otherwise: Callable[[SessionStore], T]) -> T:
        """Act on the server; `otherwise` acts on the outbox while the server is away."""
        try:
            return act(self._reach_server())
        except StoreUnreachable as e:
            with self._lock:
                self._note_absence(e)
                return otherwise(self._outbox.store())

    def _change(self, change: PendingChange) -> None:
        """Change a conversation where it is; in the outbox the change is kept for the server."""

        def keep(store: SessionStore) -> None:
            if store is not self._server:
                self._outbox.note(change)
            change.make(store)

        self._ask_for(change.conversation_id, keep)

    def _need_server(self, action: str, act: Callable[[SessionStore], T]) -> T:
        """Act on the server, where that cannot be done without it. Raises StoreUnreachable."""
        try:
            return act(self._reach_server())
        except StoreUnreachable as e:
            self._note_absence(e)
            raise StoreUnreachable(
                f"{action} needs the server: {e.message}",
                "Nothing was changed; try again when the server answers.",
            ) from e

    def _ask_for(self, conversation_id: str, act: Callable[[SessionStore], T]) -> T:
        """Act on a conversation where it is: in the outbox if the server is away, or if it could
        not be delivered. Raises StoreUnreachable if nobody here knows it.
        """
        try:
            server = self._reach_server()
            if not self._outbox.has(conversation_id):
                done = act(server)
                if conversation_id in self._outdated:
                    self._learn(conversation_id, server)
                return done
        except StoreUnreachable as e:
            with self._lock:
                self._note_absence(e)
                if not self._outbox.has(conversation_id):
                    archive = self._last_known(conversation_id)
                    if archive is None:
                        raise
                    self._outbox.keep(archive)
        with self._lock:
            return act(self._outbox.store())

    def _last_known(self, conversation_id: str) -> ConversationArchive | None:
        """The conversation as the server had it, as far as this program knows."""
        known = self._known.get(conversation_id)
        if known is None:
            return None
        # Another part of this program may have continued it in the outbox
        delivered = self._outbox.delivered.get(conversation_id)
        if delivered is not None and delivered is not known.delivered:
            return delivered
        return known.archive()

    def _learn(self, conversation_id: str, server: SessionStore) -> None:
        delivered = self._outbox.delivered.get(conversation_id)
        self._known[conversation_id] = KnownConversation.read(server, conversation_id, delivered)
        self._outdated.discard(conversation_id)

    @property
    def waiting_turns(self) -> int:
        with self._lock:
            return self._outbox.count_turns()

    @property
    def sharing(self) -> ConversationSharing | None:
        return self._need_server("sharing", lambda store: store.sharing)

    def changes(self) -> StoreChanges:
        with self._lock:
            if self._server is None or self.away is not None:
                return StoreChanges(own=self._switches, others=-self._switches)
            own, others = self._server.changes()
            return StoreChanges(own=own, others=others + self._switches)

    def _try_again(self) -> SessionStore:
        """The store on the server, with everything that was kept here. Nobody else waits for it
        while it does not answer. Raises StoreError.
        """
        if self.away is not None:
            opened = self._connect()
            with self._lock:
                if self._server is None:
                    self._server = opened
                    self._switches += 1
                elif opened is not self._server:
                    opened.close()
                self._tried_at = float("-inf")
        return self._reach_server()

    def reopen(self) -> "OutboxStore":
        other = OutboxStore(self._connect, self._outbox, retry_after=self._retry_after)
        other._owns_outbox = False
        return other

    def close(self) -> None:
        with self._lock:
            if self._server is not None:
                self._server.close()
            if self._owns_outbox:
                self._outbox.close()

    # conversations

    def start(self, conversation: Conversation) -> None:
        self._ask(lambda store: store.start(conversation), lambda store: store.start(conversation))
        if self.away is None:
            self._known[conversation.id] = KnownConversation(conversation)

    def conversation(self, conversation_id: str) -> ConversationOverview:
        found = self._ask_for(conversation_id, lambda store: store.conversation(conversation_id))
        known = self._known.get(conversation_id)
        if known is not None:
            known.conversation = found
        return found

    def find(self, prefix: str | None, vault: str | None) -> ConversationOverview:
        def find_here(store: SessionStore) -> ConversationOverview:
            try:
                return store.find(prefix, vault)
            except StoreError as e:
                raise self.away or e from e

        return self._ask(lambda store: store.find(prefix, vault), find_here)

    def conversations(
        self, vault: str | None = None, limit: int | None = None
    ) -> list[ConversationOverview]:
        def read(store: SessionStore) -> list[ConversationOverview]:
            return store.conversations(vault, limit)

        return self._ask(read, read)

    def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        self._change(PendingChange.update(conversation_id, title, documents))

    def move_head(self, conversation_id: str, message_id: str | None) -> None:
        self._ask_for(conversation_id, lambda store: store.move_head(conversation_id, message_id))
        known = self._known.get(conversation_id)
        if known is not None:
            known.move(message_id)

    def delete(self, *conversation_ids: str) -> None:
        def delete(server: SessionStore) -> None:
            kept = [id_ for id_ in conversation_ids if self._outbox.has(id_)]
            server.delete(*(id_ for id_ in conversation_ids if id_ not in kept))
            for id_ in kept:
                # The server refuses what is kept here although it answers: it is given up
                self._outbox.drop(id_)
            self.refusal = self._outbox.refusal

        self._need_server("deleting a conversation", delete)
        for id_ in conversation_ids:
            self._known.pop(id_, None)

    # messages

    def add(self, conversation_id: str, message: ZkChatMessage) -> str | None:
        head = self._ask_for(conversation_id, lambda store: store.add(conversation_id, message))
        self._note_messages(conversation_id, [message])
        return head

    def commit(
        self,
        conversation_id: str,
        user: ZkChatMessage,
        answer: Sequence[ZkChatMessage],
        *,
        updated_at: str,
        title: str | None = None,
        sent: Sequence[SentPrompt] = (),
        calibrations: Mapping[str, Calibration] = {},
        facts_used: Sequence[str] = (),
    ) -> None:
        self._ask_for(
            conversation_id,
            lambda store: store.commit(
                conversation_id,
                user,
                answer,
                updated_at=updated_at,
                title=title,
                sent=sent,
                calibrations=calibrations,
                facts_used=facts_used,
            ),
        )
        self._note_messages(conversation_id, [user, *answer])

    def _note_messages(self, conversation_id: str, added: Sequence[ZkChatMessage]) -> None:
        known = self._known.get(conversation_id)
        # What is in the outbox is not on the server
        if known is not None and self.away is None:
            known.messages |= {message.id: message for message in added}
            known.move(added[-1].id)

    def mark(self, conversation_id: str, changed: Iterable[ZkChatMessage]) -> None:
        messages = list(changed)
        self._change(PendingChange.mark(conversation_id, messages))
        known = self._known.get(conversation_id)
        if known is not None:
            known.messages |= {message.id: message for message in messages}

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        found = self._ask_for(conversation_id, lambda store: store.log(conversation_id))
        if self.away is None and self._server is not None:
            known = KnownConversation(self._server.conversation(conversation_id))
            known.messages = {message.id: message for message in found}
            known.delivered = self._outbox.delivered.get(conversation_id)
            self._known[conversation_id] = known
        return found

    def history(self, conversation_id: str, last: int | None = None) -> tuple[ZkChatMessage, ...]:
        return self._ask_for(conversation_id, lambda store: store.history(conversation_id, last))

    def search(
        self,
        vault: str | None,
        text: str,
        *,
        conversation_id: str | None = None,
        limit: int = 10,
        languages: tuple[str, ...] = (ENGLISH,),
        tool_results: bool = True,
    ) -> tuple[FoundMessage, ...]:
        def find(store: SessionStore) -> tuple[FoundMessage, ...]:
            return store.search(
                vault,
                text,
                conversation_id=conversation_id,
                limit=limit,
                languages=languages,
                tool_results=tool_results,
            )

        return self._ask(find, find)

    # archives

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        return self._ask_for(
            conversation_id, lambda store: store.archive(conversation_id, prompts=prompts)
        )

    def restore(self, archives: Sequence[ConversationArchive]) -> list[int]:
        return self._need_server("importing", lambda store: store.restore(archives))

    # compactions

    def compact(self, conversation_id: str, compaction: Compaction) -> None:
        self._ask_for(conversation_id, lambda store: store.compact(conversation_id, compaction))

    def undo_compaction(
        self, conversation_id: str, compaction_id: str | None = None
    ) -> Compaction | None:
        in_force = self.compactions(conversation_id)
        wanted = [each for each in in_force if compaction_id in (None, each.id)]
        undone = wanted[-1] if wanted else None
        if undone is not None:
            self._change(PendingChange.undo(conversation_id, undone.id))
            self.compactions(conversation_id)
        return undone

    def compactions(self, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
        found = self._ask_for(
            conversation_id, lambda store: store.compactions(conversation_id, undone=undone)
        )
        known = self._known.get(conversation_id)
        if known is not None and self.away is None:
            known.compactions = found
        return found

    def preview(self, conversation_id: str) -> Compaction | None:
        return self._ask_for(conversation_id, lambda store: store.preview(conversation_id))


def open_outbox_store(
    connect: Callable[[], SessionStore], outbox: Outbox, *, without_server: bool
) -> OutboxStore:
    """The store on a server, after it got what was kept here. Raises StoreError: also for a server
    that is away, unless a chat can go on `without_server` or something is kept here to show.
    """
    store = OutboxStore(connect, outbox)
    try:
        store._reach_server()
    except StoreUnreachable:
        if not without_server and not outbox.is_used:
            store.close()
            raise
    except BaseException:
        store.close()
        raise
    return store
