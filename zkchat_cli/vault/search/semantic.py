"""Search by meaning: the chunks with the vectors nearest to the query's, in addition to search by words.

Any failure (no server, a wrong key, a full disk) is a warning, reported once; search goes by words alone for the next minute. No server is
contacted before a query or `zkchat vault index` needs it. The vault's lock is held while the index is read, never while a model computes: a
slow server must not block completion.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

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
SAME_MODEL = 0.9
"""The least cosine of two vectors of one text by the same model: rounding costs a thousandth, another model far more."""

FUSION_CONSTANT = 60
"""How much less the later ranks count: the constant of Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
individual rank learning methods" (SIGIR 2009)."""

T = TypeVar("T")


class Ask(Protocol):
    """Runs a query on the vault's index, with its lock held."""

    def __call__(self, question: Callable[[IndexDatabase], T], /) -> T: ...


@dataclass(slots=True)
class _Cached(Generic[T]):
    """A value that is valid as long as its source has the same stamp."""

    stamp: object = None
    value: T | None = None

    def get(self, stamp: object, make: Callable[[], T]) -> T:
        if self.value is None or self.stamp != stamp:
            self.stamp, self.value = stamp, make()
        return self.value


class _Coverage(NamedTuple):
    """The number of chunks with a vector, and one chunk for each text without, in the vault's order."""

    chunks: int
    missing: list[int]


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
        self._chunks_by_key = _Cached[Mapping[bytes, list[int]]]()
        self._coverage = _Cached[_Coverage]()
        self._matrix = _Cached[Matrix]()

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
            return self._compare(index).chunks
        except (ProviderError, VaultError) as e:
            self._fail(e)
            return 0

    def nearest(self, query: str, limit: int) -> list[ContentChunk]:
        """The chunks nearest to the query by meaning, nearest first; none after a failure, which `take_warnings` reports."""
        if self._clock() < self._retry_after:
            return []
        try:
            missing = self._ask(self._missing)
            if len(missing) <= MOST_EMBEDDED_BY_A_QUERY:
                self._embed(missing, None)
            if not self._ask(self._load_matrix).chunks:
                self._warn_incomplete(len(missing))
                return []
            [vector] = vector_store.compute_vectors(self._embedder, [vector_store.truncate_text(query)], "query")
            chunks = self._ask(lambda index: index.chunks(self._load_matrix(index).nearest(vector, limit)))
        except (ProviderError, VaultError) as e:
            self._fail(e)
            return []
        if len(missing) > MOST_EMBEDDED_BY_A_QUERY:
            self._warn_incomplete(len(missing))
        return chunks

    def embed(self, progress: Progress | None = None, *, verify: bool = False) -> None:
        """Compute all missing vectors, and delete those that no chunk uses any more. A failure is a warning.

        Each batch is stored at once, so that an interrupted run continues where it stopped. `verify` computes one stored vector again, and
        all of them if it has changed.
        """
        try:
            if verify:
                self._forget_other_model()
            self._embed(self._ask(self._missing), progress)
            self._store.prune(self._ask(self._chunks))
            self._retry_after = float("-inf")
        except (ProviderError, VaultError) as e:
            self._fail(e)

    def _embed(self, ids: list[int], progress: Progress | None) -> None:
        for done in range(0, len(ids), self._embedder.batch):
            if progress:
                progress(done, len(ids))
            texts = self._ask(partial(_texts_by_key, ids=ids[done : done + self._embedder.batch]))
            stored = self._store.keys(self._embedder.id, list(texts))  # another process may have paid for some meanwhile
            texts = {key: text for key, text in texts.items() if key not in stored}
            if texts:
                rows = vector_store.compute_vectors(self._embedder, list(texts.values()), "document")
                self._store.add(self._embedder.id, list(texts), rows)
        if progress:
            progress(len(ids), len(ids))

    def _forget_other_model(self) -> None:
        """Delete all vectors if one that is computed again has changed: another model has this name now."""
        import numpy as np  # 0.1 s

        stored = self._store.keys(self._embedder.id)
        chunks = self._ask(self._chunks)
        key = next((key for key in chunks if key in stored), None)
        old = self._store.vector(self._embedder.id, key) if key else None
        if key is None or old is None:
            return
        text = self._ask(partial(_texts_by_key, ids=chunks[key])).get(key)
        if text is not None:
            [vector] = vector_store.compute_vectors(self._embedder, [text], "document")
            before = np.frombuffer(old, dtype="<f4")
            if len(before) != len(vector) or before @ vector < SAME_MODEL:
                self._store.forget(self._embedder.id)

    def _chunks(self, index: IndexDatabase) -> Mapping[bytes, list[int]]:
        """The chunks of each text, by its key."""

        def read() -> Mapping[bytes, list[int]]:
            chunks: dict[bytes, list[int]] = {}
            for id_, *parts in index.texts():
                chunks.setdefault(vector_store.text_key(vector_store.text_to_embed(*parts)), []).append(id_)
            return chunks

        return self._chunks_by_key.get(index.stamp(), read)

    def _compare(self, index: IndexDatabase) -> "_Coverage":
        def compare() -> _Coverage:
            stored = self._store.keys(self._embedder.id)
            chunks = self._chunks(index)
            missing = [ids[0] for key, ids in chunks.items() if key not in stored]
            return _Coverage(sum(len(ids) for key, ids in chunks.items() if key in stored), missing)

        return self._coverage.get(self._stamp(index), compare)

    def _missing(self, index: IndexDatabase) -> list[int]:
        return self._compare(index).missing

    def _load_matrix(self, index: IndexDatabase) -> Matrix:
        return self._matrix.get(self._stamp(index), lambda: self._store.matrix(self._embedder.id, self._chunks(index)))

    def _stamp(self, index: IndexDatabase) -> object:
        return index.stamp(), self._store.stamp()

    def _fail(self, e: ZkchatError) -> None:
        self._retry_after = self._clock() + RETRY_SECONDS
        self._warn(e.message, f"no search by meaning, only by words: {e.message}", e.hint)

    def _warn_incomplete(self, missing: int) -> None:
        if missing:
            self._warn("incomplete", f"{missing} chunks are found by words only", "`zkchat vault index` embeds them.")

    def _warn(self, kind: str, message: str, hint: str) -> None:
        if kind not in self._reported:
            self._reported.add(kind)
            self._warnings.append(ZkchatError(message, hint))


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
