"""Search by meaning: the chunks whose vectors lie nearest to the query's. Beside search by words, never instead of it.

Whatever goes wrong here (no server, a wrong key, a full disk) is a warning that is told once; search goes by words alone then, until the
model has rested for a while. Nothing is contacted before a query or `zkchat vault index` needs it. The vault's lock is held while the index
is read, never while a model computes: a slow server must not keep completion waiting.
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
from zkchat_cli.vault.search.vector_store import Embedder, Matrix, VectorStore, batches

FEW = 64
"""Chunks without a vector that a query waits for, those of notes that were just written; more of them are `zkchat vault index`'s to do."""
REST_SECONDS = 60.0
"""How long a model that failed is left alone: a chat should not wait for a dead server's time-out with every question."""
SAME_MODEL = 0.9
"""Cosine of two vectors of one text from which on one model made both: rounding costs it a thousandth, another model far more."""

FUSION_CONSTANT = 60
"""How much less the later ranks count: the constant of Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
individual rank learning methods" (SIGIR 2009)."""

T = TypeVar("T")


class Ask(Protocol):
    """Asks the vault's index a question, with its lock held."""

    def __call__(self, question: Callable[[IndexDatabase], T], /) -> T: ...


@dataclass(slots=True)
class _Remembered(Generic[T]):
    """A value that holds as long as what it was made from has the same stamp."""

    stamp: object = None
    value: T | None = None

    def get(self, stamp: object, make: Callable[[], T]) -> T:
        if self.value is None or self.stamp != stamp:
            self.stamp, self.value = stamp, make()
        return self.value


class _Coverage(NamedTuple):
    """How many chunks have a vector, and one chunk for each text that has none, in the vault's order."""

    chunks: int
    missing: list[int]


class SemanticSearch:
    """Search by meaning in one vault. `clock` gives monotonic seconds."""

    def __init__(self, embedder: Embedder, store: VectorStore, ask: Ask, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._store = store
        self._ask = ask
        self._clock = clock
        self._resting_until = float("-inf")
        self._told: set[str] = set()
        self._warnings: list[ZkchatError] = []
        self._catalogue = _Remembered[Mapping[bytes, list[int]]]()
        self._coverage = _Remembered[_Coverage]()
        self._matrix = _Remembered[Matrix]()

    def close(self) -> None:
        self._embedder.close()
        self._store.close()

    def take_warnings(self) -> list[ZkchatError]:
        """What has gone wrong since this was last asked; each thing is told once."""
        taken, self._warnings = self._warnings, []
        return taken

    def coverage(self, index: IndexDatabase) -> int:
        """How many of the vault's chunks have a vector. Contacts nothing."""
        try:
            return self._covered(index).chunks
        except (ProviderError, VaultError) as e:
            self._fail(e)
            return 0

    def nearest(self, query: str, limit: int) -> list[ContentChunk]:
        """The chunks nearest to the query by meaning, nearest first; none where that cannot be said, and `take_warnings` knows why."""
        if self._clock() < self._resting_until:
            return []
        try:
            missing = self._ask(self._missing)
            if len(missing) <= FEW:
                self._embed(missing, None)
            if not self._ask(self._loaded).chunks:
                self._tell_incomplete(len(missing))
                return []
            [vector] = vector_store.vectors(self._embedder, [vector_store.cut(query)], "query")
            chunks = self._ask(lambda index: index.chunks(self._loaded(index).nearest(vector, limit)))
        except (ProviderError, VaultError) as e:
            self._fail(e)
            return []
        if len(missing) > FEW:
            self._tell_incomplete(len(missing))
        return chunks

    def embed(self, progress: Progress | None = None, *, verify: bool = False) -> None:
        """Compute every vector that is missing, and drop those that no chunk uses any more. What fails is a warning.

        Each batch is kept as it comes: an interrupted run is taken up where it stopped. `verify` computes one vector that is there again,
        and all of them when it has become another.
        """
        try:
            if verify:
                self._forget_another_models()
            self._embed(self._ask(self._missing), progress)
            self._store.prune(self._ask(self._chunks))
            self._resting_until = float("-inf")
        except (ProviderError, VaultError) as e:
            self._fail(e)

    def _embed(self, ids: list[int], progress: Progress | None) -> None:
        for done, batch in enumerate(batches(ids, self._embedder.batch)):
            if progress:
                progress(done * self._embedder.batch, len(ids))
            texts = self._ask(partial(_texts, ids=batch))
            having = self._store.keys(self._embedder.id, list(texts))  # what another process computed meanwhile is not paid for twice
            texts = {key: text for key, text in texts.items() if key not in having}
            if texts:
                rows = vector_store.vectors(self._embedder, list(texts.values()), "document")
                self._store.add(self._embedder.id, list(texts), rows)
        if progress:
            progress(len(ids), len(ids))

    def _forget_another_models(self) -> None:
        """Drop all vectors if one that is computed again is not what it was: another model goes by the name now."""
        import numpy as np  # 0.1 s that only search by meaning pays

        having = self._store.keys(self._embedder.id)
        chunks = self._ask(self._chunks)
        key = next((key for key in chunks if key in having), None)
        kept = self._store.vector(self._embedder.id, key) if key else None
        if key is None or kept is None:
            return
        text = self._ask(partial(_texts, ids=chunks[key])).get(key)
        if text is not None:
            [vector] = vector_store.vectors(self._embedder, [text], "document")
            was = np.frombuffer(kept, dtype="<f4")
            if len(was) != len(vector) or was @ vector < SAME_MODEL:
                self._store.forget(self._embedder.id)

    def _chunks(self, index: IndexDatabase) -> Mapping[bytes, list[int]]:
        """The chunks of each embedded text, by its key."""

        def read() -> Mapping[bytes, list[int]]:
            chunks: dict[bytes, list[int]] = {}
            for id_, *parts in index.texts():
                chunks.setdefault(vector_store.key(vector_store.embedded(*parts)), []).append(id_)
            return chunks

        return self._catalogue.get(index.stamp(), read)

    def _covered(self, index: IndexDatabase) -> "_Coverage":
        def compare() -> _Coverage:
            having = self._store.keys(self._embedder.id)
            chunks = self._chunks(index)
            missing = [ids[0] for key, ids in chunks.items() if key not in having]
            return _Coverage(sum(len(ids) for key, ids in chunks.items() if key in having), missing)

        return self._coverage.get(self._stamp(index), compare)

    def _missing(self, index: IndexDatabase) -> list[int]:
        return self._covered(index).missing

    def _loaded(self, index: IndexDatabase) -> Matrix:
        """All vectors, in memory."""
        return self._matrix.get(self._stamp(index), lambda: self._store.matrix(self._embedder.id, self._chunks(index)))

    def _stamp(self, index: IndexDatabase) -> object:
        return index.stamp(), self._store.stamp()

    def _fail(self, e: ZkchatError) -> None:
        self._resting_until = self._clock() + REST_SECONDS
        self._tell(e.message, f"no search by meaning, only by words: {e.message}", e.hint)

    def _tell_incomplete(self, missing: int) -> None:
        if missing:
            self._tell("incomplete", f"{missing} pieces of the notes are found by words only", "`zkchat vault index` prepares them.")

    def _tell(self, what: str, message: str, hint: str) -> None:
        if what not in self._told:
            self._told.add(what)
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


def _texts(index: IndexDatabase, ids: Sequence[int]) -> dict[bytes, str]:
    """What is embedded of these chunks, by key."""
    texts = [vector_store.embedded(*parts) for _, *parts in index.texts(ids)]
    return {vector_store.key(text): text for text in texts}
