"""Search by meaning: the chunks with the vectors nearest to the query's, in addition to search by words.

Any failure (no server, a wrong key, a full disk) is a warning, reported once; search goes by words alone for the next minute. No server is
contacted before a query or `zkchat vault index` needs it. The vault's lock is held while the index is read, never while a model computes: a
slow server must not block completion.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar

from zkchat_cli.errors import ProviderError, VaultError, ZkchatError
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.index.indexer import Progress
from zkchat_cli.vault.search import vector_store
from zkchat_cli.vault.search.vector_store import Embedder, Matrix, VectorStore

MOST_EMBEDDED_BY_A_QUERY = 64
"""Chunks without a vector that a query embeds first, those of notes just written; more of them wait for `zkchat vault index`."""
RETRY_SECONDS = 60.0
"""Pause after a failure: a chat must not wait for a dead server's timeout with every question."""

FUSION_CONSTANT = 60
"""How much less the later ranks count: the constant of Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
individual rank learning methods" (SIGIR 2009)."""

T = TypeVar("T")


class Ask(Protocol):
    """Runs a query on the vault's index, with its lock held."""

    def __call__(self, question: Callable[[IndexDatabase], T], /) -> T: ...


class SemanticSearch:
    """Search by meaning in one vault. `clock` gives monotonic seconds."""

    def __init__(self, embedder: Embedder, store: VectorStore, ask: Ask, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._store = store
        self._ask = ask
        self._clock = clock
        self._retry_after = float("-inf")
        self._reported: set[str] = set()
        self._warnings: list[ZkchatError] = []
        self._matrix: tuple[object, Matrix] | None = None

    def close(self) -> None:
        self._embedder.close()
        self._store.close()

    def take_warnings(self) -> list[ZkchatError]:
        """Failures since the last call; each is reported once."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def coverage(self, index: IndexDatabase) -> int:
        """The number of the vault's chunks with a vector. Contacts no server."""
        try:
            stored = self._store.keys(self._embedder.id)
        except (ProviderError, VaultError) as e:
            self._fail(e)
            return 0
        return sum(len(ids) for key, ids in _chunks_by_key(index).items() if key in stored) if stored else 0

    def nearest(self, query: str, limit: int) -> list[ContentChunk]:
        """The chunks nearest to the query by meaning, nearest first; none after a failure, which `take_warnings` reports."""
        if self._clock() < self._retry_after:
            return []
        try:
            missing = self._ask(self._load_matrix).missing
            if len(missing) > MOST_EMBEDDED_BY_A_QUERY:
                self._warn("incomplete", f"{len(missing)} chunks are found by words only", "`zkchat vault index` embeds them.")
            else:
                self._embed(missing, None)
            if not (dimensions := self._ask(self._load_matrix).rows.shape[1]):
                return []
            [vector] = vector_store.compute_vectors(self._embedder, [vector_store.truncate_text(query)], "query")
            if len(vector) != dimensions:
                self._store.prune(())
                problem = "the model's vectors have another length than the stored ones: another model has this name now"
                raise ProviderError("bad_answer", problem, "`zkchat vault index` computes them again.")
            return self._ask(lambda index: index.chunks(self._load_matrix(index).nearest(vector, limit)))
        except (ProviderError, VaultError) as e:
            self._fail(e)
            return []

    def embed(self, progress: Progress | None = None) -> None:
        """Compute all missing vectors, and delete those that no chunk uses any more. A failure is a warning.

        Each batch is stored at once, so that an interrupted run continues where it stopped.
        """
        try:
            self._embed(self._ask(self._load_matrix).missing, progress)
            self._store.prune(self._ask(_chunks_by_key))
            self._retry_after = float("-inf")
        except (ProviderError, VaultError) as e:
            self._fail(e)

    def _embed(self, ids: list[int], progress: Progress | None) -> None:
        for done in range(0, len(ids), self._embedder.batch):
            if progress:
                progress(done, len(ids))
            texts = self._ask(partial(_texts_by_key, ids=ids[done : done + self._embedder.batch]))
            if texts:
                rows = vector_store.compute_vectors(self._embedder, list(texts.values()), "document")
                self._store.add(self._embedder.id, list(texts), rows)
        if progress:
            progress(len(ids), len(ids))

    def _load_matrix(self, index: IndexDatabase) -> Matrix:
        """The vectors of the vault, read again when the index or the store has changed."""
        stamp = index.stamp(), self._store.stamp()
        if self._matrix is None or self._matrix[0] != stamp:
            self._matrix = stamp, self._store.matrix(self._embedder.id, _chunks_by_key(index))
        return self._matrix[1]

    def _fail(self, e: ZkchatError) -> None:
        self._retry_after = self._clock() + RETRY_SECONDS
        self._warn(e.message, f"no search by meaning, only by words: {e.message}", e.hint)

    def _warn(self, kind: str, message: str, hint: str) -> None:
        if kind not in self._reported:
            self._reported.add(kind)
            self._warnings.append(ZkchatError(message, hint))


def _chunks_by_key(index: IndexDatabase) -> Mapping[bytes, list[int]]:
    """The chunks of each text, by its key."""
    chunks: dict[bytes, list[int]] = {}
    for id_, *parts in index.texts():
        chunks.setdefault(vector_store.text_key(vector_store.text_to_embed(*parts)), []).append(id_)
    return chunks


def fuse(rankings: Iterable[Iterable[str]], k: int = FUSION_CONSTANT) -> list[tuple[str, float]]:
    """Reciprocal rank fusion: all items with the sum of 1 / (k + rank) over their rankings, highest first; equal sums in first order.

    Ranks begin at 1; an item that is in a ranking twice counts once. Scores of different kinds cannot be compared, ranks can.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def fuse_results(by_words: list[ContentChunk], by_meaning: list[ContentChunk], limit: int, most_of_a_note: int) -> list[ContentChunk]:
    """The best of both rankings, at most `most_of_a_note` from one note, with their fused scores."""
    chunks = {chunk.id: chunk for chunk in (*by_meaning, *by_words)}
    counts: Counter[str] = Counter()
    best: list[ContentChunk] = []
    for id_, score in fuse([[chunk.id for chunk in ranking] for ranking in (by_words, by_meaning)]):
        path = chunks[id_].relative_path
        counts[path] += 1
        if counts[path] <= most_of_a_note and len(best) < limit:
            best.append(chunks[id_].model_copy(update={"score": score}))
    return best


def _texts_by_key(index: IndexDatabase, ids: Sequence[int]) -> dict[bytes, str]:
    """The texts of these chunks, by key."""
    texts = [vector_store.text_to_embed(*parts) for _, *parts in index.texts(ids)]
    return {vector_store.text_key(text): text for text in texts}
