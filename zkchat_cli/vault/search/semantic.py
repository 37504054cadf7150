"""Search by meaning: the vectors of the notes, and the chunks nearest to a query.

Any failure (no model, no server, a full disk) is a warning, reported once; search goes by words
alone for the next minute. Nothing is loaded and no server is contacted before a vector is needed.
The vault's lock is held while the index is read, never while a model computes.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from zkchat_cli.errors import ProviderError, VaultError, ZkchatError
from zkchat_cli.models.notes import SemanticModelStatus, SemanticStatus
from zkchat_cli.text.languages import likely_language
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import is_latin
from zkchat_cli.vault.index.values import Progress
from zkchat_cli.vault.search.embedder import Embedder, compute_vectors
from zkchat_cli.vault.search.semantic_match import SemanticMatch
from zkchat_cli.vault.search.waiting_time import WaitingTime
from zkchat_cli.vault.search.windows import windows_of_chunk

if TYPE_CHECKING:
    from zkchat_cli.vault.index.manager import IndexManager
    from zkchat_cli.vault.index.vector_store import VectorStore
    from zkchat_cli.vault.search.vector_math import Vector

_log = logging.getLogger(__name__)

# Windows compared exactly, chosen by their signs
NEAREST = 400
# The same if only some notes may be found
NEAREST_FILTERED = 4_000
# Chunks embedded and stored together, in a quarter of a second: what a killed process loses
CHUNKS_OF_CLAIM = 8
# Pause after a failure: a chat must not wait for a dead server's timeout with every question
RETRY_SECONDS = 60.0
# Pause while another process computes
WAIT_SECONDS = 0.2
LONGEST_QUERY = 2_000
# From this percentage of chunks with vectors on, a search counts as complete: a note was changed
READY_PERCENT = 99
# Named notes that come first
MOST_NAMED = 50
# Vectors of queries that are kept: a question is often searched, compared and searched again
MOST_QUERIES = 64


class SemanticSearch:
    """Search by meaning in one vault, with its vectors in `store`. `clock` gives monotonic
    seconds. `wanted` gives the keys of the chunks to embed, without it all; `waiting` may be shared
    with another model. `lost` says what a failure costs.
    """

    def __init__(
        self,
        embedder: Embedder,
        store: "VectorStore",
        index: "IndexManager",
        clock: Callable[[], float] = time.monotonic,
        *,
        wanted: Callable[[], list[int]] | None = None,
        waiting: WaitingTime | None = None,
        lost: str = "no search by meaning, only by words",
    ) -> None:
        self.embedder = embedder
        self.store = store
        self._ask = index.ask
        self._clock = clock
        # After a failure: when the embedder is tried again
        self._retry_after = float("-inf")
        self._wanted_keys = wanted or self.all_keys
        self.waiting = waiting or WaitingTime(clock)
        self._lost = lost
        self._then_by_words = False
        # How many searches have gone by meaning, or would have if there were vectors
        self.searches = 0
        # The stamp of the index when all its chunks had vectors
        self._complete_at: object = None
        self._named: tuple[str, ...] = ()
        self._reported: set[str] = set()
        self._warnings: list[ZkchatError] = []
        self._query_vector = lru_cache(MOST_QUERIES)(
            lambda query: compute_vectors(embedder, [query], "query")[0]
        )

    def close(self) -> None:
        """End connections, and close the file of vectors."""
        self.embedder.close()
        self.store.close()

    def take_warnings(self) -> list[ZkchatError]:
        """Failures since the last call; each is reported once."""
        warnings = self._warnings
        self._warnings = []
        return warnings

    @property
    def has_failed(self) -> bool:
        """Whether the embedder has failed less than a minute ago."""
        return self._clock() < self._retry_after

    def index_stamp(self) -> object:
        """A value that changes whenever notes change."""
        return self._ask(lambda index: index.stamp())

    def load(self) -> None:
        """Get ready for a query, if there are vectors. Contacts no server."""
        with self.failures_reported():
            if not self.store.is_empty:
                self.embedder.load()

    def status(self) -> SemanticStatus:
        """What has been computed; a missing chunk counts for as many windows as the others have on
        average.
        """
        provider = ""
        model = ""
        windows = 0
        expected = 0
        complete = False
        with self.failures_reported():
            provider, _, model = self.embedder.id.partition("/")
            wanted = self._wanted_keys()
            missing = len(self.store.missing_keys(wanted))
            windows = self.store.count_windows()
            done = len(wanted) - missing
            expected = round(missing * windows / done) if windows and done else missing
            complete = missing == 0
        languages = self.embedder.languages
        found = SemanticModelStatus(
            provider=provider,
            model=model,
            languages=None if languages is None else tuple(languages),
            windows=windows + expected,
            embedded=windows,
            share=windows / (windows + expected) if windows + expected else 1.0,
            complete=complete,
        )
        return SemanticStatus(
            provider=provider,
            model=model,
            windows=found.windows,
            embedded=found.embedded,
            complete=complete,
            models=(found,),
        )

    @property
    def scope(self) -> str:
        """What `unready_percent` is about."""
        return "search by meaning"

    def unready_percent(self) -> int | None:
        """The share of the chunks that have vectors, in percent, if a search lacks some that count.
        None after a failure, which is a warning.
        """
        if self.has_failed:
            return None
        percent = 100
        with self.failures_reported():
            stamp = self.index_stamp()
            if stamp != self._complete_at:
                wanted = self._wanted_keys()
                missing = len(self.store.missing_keys(wanted))
                self._complete_at = self._complete_at if missing else stamp
                percent = 100 * (len(wanted) - missing) // max(len(wanted), 1)
        return percent if percent < READY_PERCENT else None

    def begin_batch(self) -> None:
        """The searches from now on wait for vectors for a moment, all together. If there are none
        at all yet, the others go by words: each would need the vector of its query.
        """
        self.waiting.begin_batch()
        with self.failures_reported():
            self._then_by_words = self.store.is_empty

    def matches(self, query: str, *, filtered: bool = False) -> list[SemanticMatch]:
        """`match` in a list, as several models give it."""
        match = self.match(query, filtered=filtered)
        return [match] if match else []

    def match(self, query: str, *, filtered: bool = False) -> SemanticMatch | None:
        """The chunks nearest to a query; None without vectors, in a script the model does not know,
        or after a failure.
        """
        with self.failures_reported():
            self.searches += self._can_read(query)
            if self.store.is_empty or (self._then_by_words and self.waiting.is_over):
                return None
            with self.waiting.measured_in_batch():
                vector = self.embed_query(query)
            if vector is None:
                return None
            nearest = self.store.nearest(vector, NEAREST_FILTERED if filtered else NEAREST)
            sample = self.store.sample_cosines(vector) if nearest else []
            if sample:
                cosines = partial(self.store.cosines, vector)
                return SemanticMatch(nearest, cosines, fmean(sample), pstdev(sample))
        return None

    def similarities(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """The cosine of each text with the query; None for a script or texts in a language the
        model does not know, or after a failure.
        """
        with self.failures_reported():
            if not texts or not self._knows("\n".join(texts)):
                return None
            vector = self.embed_query(query)
            if vector is not None:
                return [float(each @ vector) for each in self._vectors(texts)]
        return None

    def stored_similarities(self, query: str, packed: Mapping[str, bytes]) -> dict[str, float]:
        """The cosine of the query with the best of each text's packed vectors, without texts that
        have none; none at all if the query has no vector.
        """
        vector = self.embed_query(query) if packed else None
        if vector is None:
            return {}
        from zkchat_cli.vault.search.vector_math import best_cosines  # imports numpy

        # Vectors of another model may have other dimensions
        dimensions = len(vector)
        usable = [
            (key, windows)
            for key, windows in packed.items()
            if windows and len(windows) % dimensions == 0
        ]
        return best_cosines(vector, usable)

    def embed_query(self, query: str) -> "Vector | None":
        """The vector of a query; None without a model, for a script it does not know, or after a
        failure.
        """
        vector: Vector | None = None
        if not self.has_failed and self._can_read(query):
            with self.failures_reported():
                vector = self._query_vector(query[:LONGEST_QUERY].strip())
        return vector

    def embed_texts(self, texts: Sequence[tuple[str, Sequence[str]]]) -> "list[list[Vector]]":
        """The vectors of the parts of each text, none for a text in a language that the model does
        not know. Raises ProviderError.
        """
        return self._vectors_of_each([parts if self._knows(text) else () for text, parts in texts])

    @contextmanager
    def failures_reported(self) -> Iterator[None]:
        """Report a failure in the block as a warning, and pause."""
        try:
            yield
        except (ProviderError, VaultError) as e:
            self._report(e.message, e.hint)
        except ZkchatError:
            raise
        except Exception as e:  # noqa: BLE001  # search by words does not need this one
            _log.exception("search by meaning failed")
            self._report(f"unexpected {type(e).__name__}: {e}", "")

    def _report(self, message: str, hint: str) -> None:
        self._retry_after = self._clock() + RETRY_SECONDS
        if message not in self._reported:
            self._reported.add(message)
            self._warnings.append(ZkchatError(f"{self._lost}: {message}", hint))

    def compute_missing(
        self, progress: Progress | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Compute missing vectors, those of named, new and much linked notes first, and delete
        unused ones; whether none is missing. Each claim is stored at once, so that an interrupted
        run continues where it stopped. A failure is a warning.
        """
        complete = False
        with self.failures_reported():
            while True:
                begun_at = self.index_stamp()
                wanted = self._wanted_keys()
                missing = self.store.missing_keys(wanted)
                if progress:
                    progress(len(wanted) - len(missing), len(wanted))
                if not missing:
                    self.store.prune(set(self.all_keys()))
                    self._retry_after = float("-inf")
                    self._complete_at = begun_at
                    complete = True
                    break
                stamp = self.index_stamp()
                while missing and self.index_stamp() == stamp:
                    if stopped():
                        return False
                    if not self._embed_some(missing):
                        time.sleep(WAIT_SECONDS)
                    elif progress and missing:
                        progress(len(wanted) - len(missing), len(wanted))
        return complete

    def compute_first(self, query: str, keys: Sequence[int]) -> bool:
        """Compute the vectors that these chunks lack, in their order, if the query can be compared
        with them; whether any was computed. All searches of a question together wait for about a
        second.
        """
        computed = False
        with self.failures_reported():
            missing: list[int] = []
            if keys and not self.has_failed and self._can_read(query):
                missing = self.store.missing_keys(keys)
            if missing and self.waiting.may_begin:
                with self.waiting.measured_in_batch():
                    self.embedder.load()
                self.waiting.begin_search()
            while missing and not self.waiting.is_over:
                with self.waiting.measured():
                    # Another thread or process may write for a moment
                    computed |= self._embed_some(missing)
        return computed

    def all_keys(self) -> list[int]:
        """The keys of all chunks, each once: those of named, new and much linked notes first."""
        return list(dict.fromkeys(self._ask(lambda index: index.chunks.keys(self._named))))

    def note_named(self, paths: Iterable[str]) -> None:
        """Compute the vectors of these notes first from now on: a message has named them."""
        self._named = tuple(dict.fromkeys((*paths, *self._named)))[:MOST_NAMED]

    def _embed_some(self, missing: list[int]) -> bool:
        """Store the vectors of the first of these chunks, and take them off the list; False while
        another process computes.
        """
        with self.store.claim(missing[:CHUNKS_OF_CLAIM]) as keys:
            if keys is None:
                return False
            texts = self._ask(lambda index: index.chunks.texts(keys))
            windows: list[list[str]] = []
            for chunk in texts.values():
                is_known = self.knows(chunk.language)
                made = windows_of_chunk(chunk.title, chunk.headings, chunk.text)
                windows.append(made if is_known else [])
            embedded = self._vectors_of_each(windows)
            for key, vectors in zip(texts, embedded, strict=True):
                self.store.add(key, vectors)
            del missing[:CHUNKS_OF_CLAIM]
        return True

    def _vectors_of_each(self, texts: Sequence[Sequence[str]]) -> "list[list[Vector]]":
        """The vectors of the parts of each text."""
        vectors = iter(self._vectors([part for parts in texts for part in parts]))
        return [[next(vectors) for _ in parts] for parts in texts]

    def _vectors(self, texts: Sequence[str]) -> "list[Vector]":
        """The vectors of texts, in batches of about equal length, because the longest text of a
        batch costs as much as all.
        """
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        found: dict[int, Vector] = {}
        for start in range(0, len(order), self.embedder.batch):
            numbers = order[start : start + self.embedder.batch]
            batch = [texts[number] for number in numbers]
            vectors = compute_vectors(self.embedder, batch, "document")
            found.update(zip(numbers, vectors, strict=True))
        lengths = {len(vector) for vector in found.values()}
        if len(lengths) > 1:
            problem = f"{self.embedder.id} answered with vectors of different lengths"
            raise ProviderError("bad_answer", problem, "See semantic.model.")
        return [found[number] for number in range(len(texts))]

    def _knows(self, text: str) -> bool:
        """Whether the model knows the language of a text. Too short a text counts as English."""
        return self.knows(likely_language(text))

    def knows(self, language: str | None) -> bool:
        """Whether the model knows a language. One that nothing tells counts as English."""
        languages = self.embedder.languages
        return languages is None or (language or ENGLISH) in languages

    def _can_read(self, query: str) -> bool:
        """Whether the model knows the script. A question in another language of the script finds
        more by meaning than without.
        """
        return is_latin(query) or self._knows(query)
