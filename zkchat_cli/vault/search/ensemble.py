"""Search by meaning with two models: the one that is set, which may know only English, and one for
many languages.

A question in another language is compared by the second model, which also knows English: with the
first alone, one of five questions in Russian finds its English note. English notes keep the first
model for questions in English, because it is better at them, and its order of them is not changed.
What the second model costs (80 MB of memory, 4 ms for a window) is paid where it is used: for the
passages that the first cannot read, and for all others from the first question in another language
on.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING

from zkchat_cli.errors import ZkchatError
from zkchat_cli.models.notes import SemanticStatus
from zkchat_cli.text import words
from zkchat_cli.text.languages import language_of_query, language_of_script, likely_language
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import MIN_SHARE
from zkchat_cli.vault.index.values import Progress
from zkchat_cli.vault.search.embedder import Embedder, KnowsWords
from zkchat_cli.vault.search.fusion import MeaningWeight
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.search.semantic_match import SemanticMatch
from zkchat_cli.vault.search.waiting_time import WaitingTime
from zkchat_cli.vault.search.word_forms import known_words

if TYPE_CHECKING:
    from zkchat_cli.vault.index.manager import IndexManager
    from zkchat_cli.vault.index.vector_store import VectorStore

# The least cosine of the second model. 95 % of the right notes in six languages have .11 or more
# with their questions, 95 % of all notes less than .25
LEAST_COSINE = 0.1
# Where all notes are in the question's language, words that fit are the better judge: of questions
# in Chinese on Chinese notes, the usual weight finds .935 first, this one .972, as words alone do.
# In other vaults, words lead to the notes in the question's language, whatever these are about
WEIGHT = MeaningWeight(most=2.0, exponent=5.0)
# Passages that show in which languages a vault is
SAMPLED_CHUNKS = 50
SCOPE = "search in other languages"


class SemanticEnsemble:
    """Search by meaning in one vault with the model of `first`, and with another one where a text
    is in a language that the first does not know.
    """

    def __init__(
        self,
        first: SemanticSearch,
        embedder: Embedder,
        store: "VectorStore",
        index: "IndexManager",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = first
        self._ask = index.ask
        self._second = SemanticSearch(
            embedder,
            store,
            index,
            clock,
            wanted=self._wanted_by_second,
            waiting=first.waiting,
            lost=f"no {SCOPE}",
        )
        self._wants_all = False
        # Whether the last query was in a language that only the second model knows
        self._was_foreign = False
        # The languages of some passages, and the stamp of the index that had them
        self._languages: Counter[str] | None = None
        self._languages_at: object = None
        # The stamp of the index when the second model had the vectors of all passages
        self._complete: object = None

    def close(self) -> None:
        """End connections, and close the files of vectors."""
        self._first.close()
        self._second.close()

    def take_warnings(self) -> list[ZkchatError]:
        """Failures since the last call; each is reported once."""
        return [*self._first.take_warnings(), *self._second.take_warnings()]

    @property
    def has_failed(self) -> bool:
        """Whether the first model has failed less than a minute ago."""
        return self._first.has_failed

    @property
    def waiting(self) -> WaitingTime:
        """The time that searches wait for vectors of both models."""
        return self._first.waiting

    @property
    def searches(self) -> int:
        """How many searches have gone by meaning, or would have if there were vectors."""
        return self._first.searches + self._second.searches

    @property
    def scope(self) -> str:
        """What `unready_percent` is about, by the language of the last query."""
        return SCOPE if self._was_foreign else self._first.scope

    def unready_percent(self) -> int | None:
        """The share of the chunks that have vectors of the model which compared the last query, in
        percent, if a search lacks some that count. None after a failure, which is a warning.
        """
        used = self._second if self._was_foreign else self._first
        return used.unready_percent()

    def begin_batch(self) -> None:
        """The searches from now on wait for vectors for a moment, all together."""
        self._first.begin_batch()
        self._second.begin_batch()

    def index_stamp(self) -> object:
        """A value that changes whenever notes change."""
        return self._first.index_stamp()

    def load(self) -> None:
        """Get ready for a query, if there are vectors. Contacts no server."""
        self._first.load()
        self._second.load()

    def status(self) -> SemanticStatus:
        """What has been computed by both models."""
        first = self._first.status()
        second = self._second.status()
        keys = self._all_keys()
        # Some passages have vectors of both, or none has
        total: Callable[[int, int], int] = max if self._has_begun(keys) else add
        return first.model_copy(
            update={
                "windows": total(first.windows, second.windows),
                "embedded": total(first.embedded, second.embedded),
                "complete": first.complete and second.complete,
                "models": (*first.models, *second.models),
            }
        )

    def matches(self, query: str, *, filtered: bool = False) -> list[SemanticMatch]:
        """The chunks nearest to a query by each model that can tell; of a chunk that several know,
        the first counts.
        """
        self._was_foreign = self._is_foreign(query)
        if self._was_foreign:
            found = [self._match_by_second(query, filtered=filtered)]
            if not self._is_complete():
                found.append(self._first.match(query, filtered=filtered))
        else:
            found = [self._first.match(query, filtered=filtered)]
            if not self._second.store.is_empty and self._has_other_languages:
                found.append(self._match_others(query, filtered=filtered))
        return [match for match in found if match is not None]

    def similarities(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """The cosine of each text with the query, by the first model that knows both languages;
        None if neither does.
        """
        is_foreign = self._is_foreign(query) or self._is_foreign("\n".join(texts))
        if is_foreign and not self._second.has_failed:
            found = self._second.similarities(query, texts)
            if found is not None:
                return found
        return self._first.similarities(query, texts)

    def compute_first(self, query: str, keys: Sequence[int]) -> bool:
        """Compute the vectors that these chunks lack and that the query can be compared with;
        whether any was computed. For a query in another language those of all others follow, first
        of the nearest by the first model: no word leads to them. All together take about a second.
        """
        if not self._is_foreign(query):
            if self._is_vault_in_other_languages():
                keys = [*keys, *self._all_keys()]
            computed = self._first.compute_first(query, keys)
            others = self._first.store.keys_without_vectors(keys)
            if others and self._has_other_languages:
                computed |= self._second.compute_first(query, others)
            return computed
        if self._is_complete():
            return False
        by_first = self._first.match(query)
        near = by_first.nearest if by_first else ()
        return self._second.compute_first(query, [*keys, *near, *self._all_keys()])

    def want_all_languages(self) -> None:
        """Let the second model embed all passages, as for a question in another language."""
        self._wants_all = True

    def compute_missing(
        self, progress: Progress | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Compute missing vectors; whether none is missing. A failure is a warning."""
        # The first model tells which passages it does not know
        complete = self._first.compute_missing(progress, stopped)
        if self._first.has_failed or self._second.has_failed or stopped():
            return complete
        return self._second.compute_missing(progress, stopped) and complete

    def _is_foreign(self, text: str) -> bool:
        """Whether a text is in a language that only the second model knows. If nothing tells its
        language, it is if its words are strange to the notes and to the first model.
        """
        language = language_of_query(text)
        if language is None and self._first.embedder.languages is not None:
            return self._has_strange_words(text)
        return not self._first.knows(language) and self._second.knows(language or ENGLISH)

    def _has_strange_words(self, text: str) -> bool:
        """Whether no word of a text is in the notes, and most are not in the vocabulary of the
        first model: "Einkaufsliste", in a vault in English. Of a text with other letters than
        English ones, one such word is enough.
        """
        judge = self._first.embedder
        wanted = [word for word in words.content_terms(text) if word.isalpha()]
        if not wanted or not isinstance(judge, KnowsWords):
            return False
        known = self._ask(lambda index: known_words(index.vocabulary, wanted))
        if known and text.isascii():
            return False
        strange = 0
        with self._first.failures_reported():
            strange = sum(word not in known and not judge.knows_word(word) for word in wanted)
        return 2 * strange > len(wanted) or (strange > 0 and not text.isascii())

    @property
    def _has_other_languages(self) -> bool:
        """Whether so many passages are in languages which the first model does not know that an
        English question should find them. A few may be lists of names.
        """
        return self._first.store.share_without_vectors >= MIN_SHARE

    def _match_by_second(self, query: str, *, filtered: bool) -> SemanticMatch | None:
        match = self._second.match(query, filtered=filtered)
        if match is None:
            return None
        # A question in Chinese may be more than half Latin names
        spoken = (likely_language(query), language_of_script(query))
        is_own = any(map(self._is_language_of_vault, spoken))
        return match._replace(least=LEAST_COSINE, weight=WEIGHT if is_own else match.weight)

    def _is_language_of_vault(self, language: str) -> bool:
        """Whether nearly all passages that tell their language are in this one."""
        found = self._sampled_languages()
        return found[language] > (1 - MIN_SHARE) * found.total()

    def _is_vault_in_other_languages(self) -> bool:
        """Whether most passages that tell their language are in one that the first model does not
        know: then no word leads from a question in English to them.
        """
        found = self._sampled_languages()
        known = sum(count for language, count in found.items() if self._first.knows(language))
        return 2 * known < found.total()

    def _sampled_languages(self) -> Counter[str]:
        """How many of some passages are in each language."""
        stamp = self.index_stamp()
        if self._languages is None or self._languages_at != stamp:
            keys = self._all_keys()
            sampled = keys[:: max(1, len(keys) // SAMPLED_CHUNKS)]
            texts = self._ask(lambda index: index.chunks.texts(sampled))
            self._languages = Counter(each.language for each in texts.values() if each.language)
            self._languages_at = stamp
        return self._languages

    def _match_others(self, query: str, *, filtered: bool) -> SemanticMatch | None:
        """The nearest chunks that the first model cannot compare, by the second."""
        match = self._match_by_second(query, filtered=filtered)
        if match is None:
            return None
        unknown = {*self._first.store.keys_without_vectors([*match.nearest])}
        nearest = {key: cosine for key, cosine in match.nearest.items() if key in unknown}

        def cosines(keys: Sequence[int]) -> Mapping[int, float]:
            return match.cosines(self._first.store.keys_without_vectors(keys))

        return match._replace(nearest=nearest, cosines=cosines)

    def _is_complete(self) -> bool:
        """Whether the second model has the vectors of all passages."""
        stamp = self.index_stamp()
        if self._complete != stamp and not self._second.store.missing_keys(self._all_keys()):
            self._complete = stamp
        return self._complete == stamp

    def _all_keys(self) -> list[int]:
        return self._first.all_keys()

    def _wanted_by_second(self) -> list[int]:
        """The chunks that the second model embeds: all of them once a question in another language
        has begun it, else those that the first cannot read.
        """
        keys = self._all_keys()
        if self._wants_all or self._has_begun(keys):
            return keys
        return self._first.store.keys_without_vectors(keys) if self._has_other_languages else []

    def _has_begun(self, keys: Sequence[int]) -> bool:
        """Whether the second model has vectors of some chunks that the first can read."""
        others = {*self._first.store.keys_without_vectors(keys)}
        readable = [key for key in keys if key not in others]
        return len(self._second.store.missing_keys(readable)) < len(readable)
