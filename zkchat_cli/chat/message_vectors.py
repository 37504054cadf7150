"""Recall by meaning: vectors of the passages of messages, and how near passages are to a question.

A passage takes 10 ms to embed, so vectors are stored, and computed ahead: in the background of a
chat, after an import, and after `ask` at a terminal. A passage without a vector is found by its
words.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.context.passages import RecallPassage, split_message
from zkchat_cli.errors import StoreError
from zkchat_cli.store.port import SessionStore, StoredMessageVectors
from zkchat_cli.vault.search.semantic import SemanticSearch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Passages embedded per message: of a pasted book only the beginning is embedded
MOST_EMBEDDED_PER_MESSAGE = 50
# Messages that are embedded and stored together
BATCH = 8
# A vector of zeros has no direction, and must not be divided by its length
_LEAST_LENGTH = 1


class MessageVectors:
    """The vectors of one conversation's passages. A RecallIndex compares by its method
    `cosines`.
    """

    def __init__(
        self,
        store: SessionStore,
        semantic: SemanticSearch,
        conversation_id: str,
        faults: FaultGuard,
    ) -> None:
        self._store = store
        self._faults = faults
        self._semantic = semantic
        self._conversation_id = conversation_id
        self._last_read = 0
        # The row of each passage, by its message's id and its part
        self._row_of: dict[tuple[str, int], int] = {}
        # The rows, as the store has them
        self._packed = bytearray()

    def cosines(
        self, question: str, passages: Sequence[RecallPassage]
    ) -> "NDArray[np.float64] | None":
        """The cosine of each passage with the question, NaN for a passage without a vector.

        None if nothing can be compared, or if that fails.
        """
        with self._faults.contain("vectors"):
            return self._compare(question, passages)
        return None

    def _compare(
        self, question: str, passages: Sequence[RecallPassage]
    ) -> "NDArray[np.float64] | None":
        new = self._read_new()
        # Embedding takes 10 ms: do it only if there are vectors to compare with
        vector = self._semantic.embed_query(question) if new or self._packed else None
        if vector is None:
            return None
        # Imported here for the reason that RecallIndex gives
        import numpy as np

        size = len(vector)
        for message in new:
            self._add(message, size)
        if not self._packed:
            return None
        row_of = self._row_of
        rows = np.array(
            [row_of.get((passage.message.id, passage.part), -1) for passage in passages]
        )
        vectors = np.frombuffer(self._packed, np.int8).reshape(-1, size).astype(np.float32)
        lengths = np.maximum(np.linalg.norm(vectors, axis=1), _LEAST_LENGTH)
        cosines = vectors @ vector / lengths
        return np.where(rows < 0, np.nan, cosines[np.maximum(rows, 0)])

    def _read_new(self) -> Sequence[StoredMessageVectors]:
        """The vectors that were stored since the last call; none if they cannot be read.

        In that case the vectors that were read before stay in use.
        """
        if not self._semantic.has_failed:
            with self._semantic.failures_reported(), suppress(StoreError):
                return self._store.vectors.of_messages(
                    self._conversation_id, self._semantic.embedder.id, self._last_read
                )
        return ()

    def _add(self, message: StoredMessageVectors, size: int) -> None:
        """Add the vectors of a message, each `size` bytes long."""
        self._last_read = message.row
        count, rest = divmod(len(message.passages), size)
        # A row with a rest is damaged
        if rest:
            return
        first = len(self._packed) // size
        for part in range(count):
            self._row_of[message.message_id, part] = first + part
        self._packed += message.passages


class _Batch(NamedTuple):
    """What one step has embedded: how many messages, and the row of the oldest. `is_last`: nothing
    was missing.
    """

    messages: int = 0
    oldest: int = 0
    is_last: bool = False


class MessageEmbedder:
    """Computes the missing vectors of the messages and facts about a vault.

    It has its own connection to the store.
    """

    def __init__(self, store: SessionStore, vault: str, semantic: SemanticSearch) -> None:
        self._session_store = store
        self._vault = vault
        self._semantic = semantic
        self._store: SessionStore | None = None
        self._complete_at: int | None = None

    def compute_missing(
        self,
        stopped: Callable[[], bool],
        progress: Callable[[int], None] = lambda _: None,
        most: float = float("inf"),
    ) -> bool:
        """Embed and store the facts and about `most` messages, the newest first.

        Returns whether none is missing now. `progress` gets the number of messages so far. Search
        by meaning reports its own failures, and pauses after one.
        """
        if not self._session_store.persistent:
            # Conversations in memory are found by words
            return True
        # The next turn reports a store that cannot be written
        with self._semantic.failures_reported(), suppress(StoreError):
            store = self._store or self._session_store.reopen()
            self._store = store
            version = store.changes().others
            before: int | None = None
            done = 0
            while version != self._complete_at:
                if done >= most or stopped() or self._semantic.has_failed:
                    return False
                batch = self._compute_batch(store, before)
                # Another process is computing
                if batch is None:
                    return False
                if batch.is_last:
                    self._complete_at = version
                elif batch.messages:
                    before = batch.oldest
                    done += batch.messages
                    progress(done)
            return True
        return False

    def _compute_batch(self, store: SessionStore, before: int | None) -> "_Batch | None":
        """Embed and store some facts; if none are missing, some messages older than row `before`,
        or the newest (None).

        Returns None while another process computes.
        """
        embedder = self._semantic.embedder.id
        with self._semantic.store.claim(()) as claimed:
            if claimed is None:
                return None
            facts = store.vectors.facts_without(self._vault, embedder, BATCH)
            if facts:
                packed = _pack_vectors(self._semantic, facts.values())
                store.vectors.add_for_facts(embedder, dict(zip(facts, packed, strict=True)))
                return _Batch()
            found = store.vectors.messages_without(self._vault, embedder, before, BATCH)
            if not found:
                return _Batch(is_last=True)
            packed = _pack_vectors(self._semantic, [message.content for message in found])
            ids = [message.message_id for message in found]
            store.vectors.add_for_messages(embedder, dict(zip(ids, packed, strict=True)))
            return _Batch(messages=len(found), oldest=found[-1].row)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._store:
            self._store.close()
        self._store = None


def _pack_vectors(semantic: SemanticSearch, contents: Iterable[str]) -> list[bytes]:
    """The vectors of each message's passages, one after the other. Raises ProviderError."""
    # This module imports numpy, which takes 0.1 s
    from zkchat_cli.vault.search.vector_math import pack_integers

    parts = [split_message(content)[:MOST_EMBEDDED_PER_MESSAGE] for content in contents]
    vectors = semantic.embed_texts([("\n".join(some), some) for some in parts])
    return [pack_integers(some) if some else b"" for some in vectors]
