"""Recall: finds earlier passages that are relevant to the new message, in turns that were folded or
dropped.

A passage is a message, or a part of a long one, which is never quoted whole. BM25 (`text/bm25.py`)
scores the passages of all messages. If a passage's vector is nearer to the question than the
average (by the cosine), its score is raised in proportion. A passage also gets shares of its
neighbours' scores, since a question and its answer use different words. In the end a score counts
in proportion to the priority of its message.

The two weights are chosen on some of LoCoMo's dialogues and judged on another one
(tests/bench/recall.py). docs/explanation/context.md has the figures, and what did not help.
"""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.context.message_priority import PLAIN, SPEAKER, kind_priority
from zkchat_cli.context.passages import RecallPassage, split_into_passages
from zkchat_cli.context.turns import Turn
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import content_stems, detect_language, main_languages
from zkchat_cli.tokens.counter import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Anserini's values for short texts: a longer message says more, it is not just wordier
BM25 = Bm25(k1=0.9, b=0.4)
# Passages on each side that get a share of a passage's score
NEIGHBOURS = 5
# Smallest share of the best score that makes a passage worth its tokens
MIN_SHARE_OF_BEST = 0.1
MAX_QUERY_WORDS = 40
# Most passages that are sorted by score: sorting 20 000 takes 4 ms
MAX_SORTED = 1000
# Most occurrences of a word in a passage that count: the number is stored in a byte
MAX_COUNT = 255
# Longest part of a question that is searched for, in characters: half from its beginning, half from
# its end
MAX_QUESTION = 4000
# Characters of each message that are read to detect a turn's language
MAX_OPENING = 500
# Number of passages that do not fit after which the search for smaller ones stops
MAX_MISFITS = 20
# Tokens of the text around the quoted passages
FRAME_TOKENS = 40
DATE_TOKENS = 8

_NOTHING_SET: Mapping[str, int] = {}

Cosines = Callable[[str, Sequence[RecallPassage]], "NDArray[np.float64] | None"]
"""How near passages are to a question in meaning.

NaN for a passage without a vector, None if nothing can be compared.
"""


def no_cosines(_question: str, _passages: Sequence[RecallPassage]) -> None:
    """The cosines of an index that compares by words only: none."""
    return


class RecallWeights(NamedTuple):
    """What counts for the score of a passage besides its own words."""

    # Share of the best score for each standard deviation by which the passage's cosine exceeds the
    # average
    meaning: float = 0.25
    # Share of a passage's score that the next one gets; those further away get a share of it
    neighbour: float = 1 / 3


USUAL_WEIGHTS = RecallWeights()


class _Scores(NamedTuple):
    """The score of each passage for a question."""

    question: str
    values: "NDArray[np.float64]"


class _Postings(NamedTuple):
    """The passages that have a word, in ascending order, and how often each one has it."""

    holders: "array[int]"
    counts: "array[int]"


def _no_postings() -> _Postings:
    return _Postings(array("I"), array("B"))


class RecallPassages(NamedTuple):
    """Passages in the order of the conversation, and the tokens that they take when formatted,
    rounded up.
    """

    passages: tuple[RecallPassage, ...]
    tokens: int


class RecallIndex:
    """An inverted index over the passages of a conversation. Each array has one entry per
    passage.
    """

    def __init__(
        self, cosines: Cosines = no_cosines, weights: RecallWeights = USUAL_WEIGHTS
    ) -> None:
        self._cosines = cosines
        self._weights = weights
        # The languages of the conversation; their rules stem the words
        self._languages: tuple[str, ...] = (ENGLISH,)
        self._clear()

    def _clear(self) -> None:
        self._turn_ids: list[str] = []
        self._turn_languages: list[str | None] = []
        self._language_counts = Counter[str]()
        # The first passage of each turn
        self._starts = array("L")
        self.passages: list[RecallPassage] = []
        self._postings: defaultdict[str, _Postings] = defaultdict(_no_postings)
        # The number of words of each passage
        self._lengths = array("I")
        # The priority of each passage's message by its kind
        self._priorities = array("B")
        # Cached because all prompts of a turn have the same question
        self._last_scores: _Scores | None = None

    def update(self, turns: Sequence[Turn]) -> None:
        """Make the index contain exactly these turns.

        Those that it has indexed already, up to the first difference, are kept.
        """
        same = self._count_same(turns)
        self._truncate(same)
        for turn in turns[same:]:
            self._add(turn)
        languages = main_languages(self._language_counts)
        # In this case all words are stemmed by the rules of other languages
        if languages != self._languages:
            self._clear()
            self._languages = languages
            for turn in turns:
                self._add(turn)

    def _count_same(self, turns: Sequence[Turn]) -> int:
        """How many of the turns, from the first, are indexed already."""
        indexed = len(self._turn_ids)
        if indexed <= len(turns) and (not indexed or self._turn_ids[-1] == turns[indexed - 1].id):
            return indexed
        # The conversation continues on another branch
        for position, (id_, turn) in enumerate(zip(self._turn_ids, turns, strict=False)):
            if id_ != turn.id:
                return position
        return min(indexed, len(turns))

    def _add(self, turn: Turn) -> None:
        position = len(self._turn_ids)
        self._last_scores = None
        self._turn_ids.append(turn.id)
        spoken = turn.spoken
        openings = [message.content[:MAX_OPENING] for message in spoken]
        language = detect_language(" ".join(openings))
        self._turn_languages.append(language)
        if language is not None:
            self._language_counts[language] += 1
        self._starts.append(len(self.passages))
        # In an imported dialogue the speakers have names, and no role is needed in front of them
        is_named = all(SPEAKER.match(message.content) for message in spoken)
        for message in spoken:
            priority = kind_priority(message)
            for passage in split_into_passages(message, position, turn.counter, is_named=is_named):
                self._add_passage(passage)
                self._priorities.append(priority)

    def _add_passage(self, passage: RecallPassage) -> None:
        number = len(self.passages)
        words = Counter(content_stems(passage.text, self._languages))
        for word, count in words.items():
            postings = self._postings[word]
            postings.holders.append(number)
            postings.counts.append(min(count, MAX_COUNT))
        self._lengths.append(words.total())
        self.passages.append(passage)

    def _truncate(self, turns: int) -> None:
        """Keep only the first `turns` turns, because another branch continues after them."""
        if turns == len(self._turn_ids):
            return
        self._last_scores = None
        start = self._starts[turns]
        for postings in self._postings.values():
            end = bisect_left(postings.holders, start)
            del postings.holders[end:]
            del postings.counts[end:]
        self._language_counts.subtract(filter(None, self._turn_languages[turns:]))
        del self._turn_ids[turns:]
        del self._turn_languages[turns:]
        del self._starts[turns:]
        del self.passages[start:]
        del self._lengths[start:]
        del self._priorities[start:]

    def search(
        self, question: str, before: int, set_priorities: Mapping[str, int] = _NOTHING_SET
    ) -> Sequence[int]:
        """The numbers of the relevant passages in the first `before` turns, the best first.

        A score counts in proportion to the priority of the message: that of its kind, or the one in
        `set_priorities` by its id.
        """
        # This import takes 0.1 s and 30 MB: only conversations that have outgrown their window need
        # it
        import numpy as np

        if self._last_scores is None or self._last_scores.question != question:
            self._last_scores = _Scores(question, self._score(question))
        scores = self._last_scores.values * self._priority_weights(set_priorities)
        least = MIN_SHARE_OF_BEST * scores.max(initial=0.0)
        relevant = np.flatnonzero((scores > 0) & (scores >= least))
        end = self._starts[before] if before < len(self._starts) else len(self.passages)
        relevant = relevant[relevant < end]
        if len(relevant) > MAX_SORTED:
            best = np.argpartition(-scores[relevant], MAX_SORTED)[:MAX_SORTED]
            relevant = np.sort(relevant[best])
        order: list[int] = relevant[np.argsort(-scores[relevant], kind="stable")].tolist()
        return order

    def _priority_weights(self, set_priorities: Mapping[str, int]) -> "NDArray[np.float64]":
        """The factor of each passage by the priority of its message."""
        # Imported here: see search
        import numpy as np

        priorities = np.array(self._priorities, np.float64)
        if set_priorities:
            for number, passage in enumerate(self.passages):
                priority = set_priorities.get(passage.message.id)
                if priority is not None:
                    priorities[number] = priority
        return priorities / PLAIN

    def _score(self, question: str) -> "NDArray[np.float64]":
        """The score of each passage."""
        # Imported here: see search

        half = MAX_QUESTION // 2
        beginning = question[:half]
        end = question[half:][-half:]
        question = f"{beginning} {end}"
        scores = self._score_words(question)
        if scores.any():
            self._add_meaning(scores, question)
        together = scores.copy()
        for distance in range(1, NEIGHBOURS + 1):
            following = self._weights.neighbour / distance
            # What was said before a hit counts as one further away: an answer follows its question
            preceding = self._weights.neighbour / (distance + 1)
            together[distance:] += following * scores[:-distance]
            together[:-distance] += preceding * scores[distance:]
        return together

    def _score_words(self, question: str) -> "NDArray[np.float64]":
        """How well the words of each passage match the question."""
        # Imported here: see search
        import numpy as np

        total = len(self.passages)
        scores = np.zeros(total)
        lengths = np.array(self._lengths, np.float64)
        average = float(lengths.mean()) if total else 1.0
        norm = BM25.norm(lengths, max(1.0, average))
        for word in self._query_words(question):
            postings = self._postings[word]
            holders = np.array(postings.holders, np.intp)
            counts = np.array(postings.counts, np.float64)
            word_weight = rarity(len(holders), total)
            scores[holders] += BM25.word_score(word_weight, counts, norm[holders])
        return scores

    def _add_meaning(self, scores: "NDArray[np.float64]", question: str) -> None:
        """Raise the scores of passages that are nearer to the question than the average."""
        # Imported here: see search
        import numpy as np

        cosines = self._cosines(question, self.passages)
        if cosines is None:
            return
        known = ~np.isnan(cosines)
        if not known.any():
            return
        spread = cosines[known].std()
        if spread > 0:
            nearness = np.maximum((cosines[known] - cosines[known].mean()) / spread, 0)
            scores[known] += self._weights.meaning * scores.max() * nearness

    def _query_words(self, question: str) -> list[str]:
        """The question's rarest indexed words."""
        frequency: dict[str, int] = {}
        for word in content_stems(question, self._languages):
            holders = len(self._postings[word].holders) if word in self._postings else 0
            if holders:
                frequency[word] = holders
        rarest = sorted(frequency, key=lambda word: (-frequency[word], word))
        return rarest[-MAX_QUERY_WORDS:]


def index_turns(turns: Sequence[Turn]) -> RecallIndex:
    """A new index of these turns that compares by words."""
    index = RecallIndex()
    index.update(turns)
    return index


def recall_passages(
    index: RecallIndex,
    question: str,
    before: int,
    budget: int,
    counter: TokenCounter,
    without: Collection[str] = (),
    set_priorities: Mapping[str, int] = _NOTHING_SET,
) -> RecallPassages:
    """The most relevant passages of the first `before` turns that fit into `budget` tokens,
    excluding the messages in `without`. `set_priorities` as in `RecallIndex.search`.
    """
    left = budget - FRAME_TOKENS
    if left <= 0:
        return RecallPassages((), tokens=0)
    chosen: list[int] = []
    days: set[str] = set()
    misfits = 0
    for number in index.search(question, before, set_priorities):
        passage = index.passages[number]
        if passage.message.id in without:
            continue
        # One token is added: a prompt that is filled to the last token may be over the limit by
        # another count
        tokens = counter.scale(passage.raw_tokens + 1)
        if passage.day not in days:
            tokens += DATE_TOKENS
        if tokens <= left:
            left -= tokens
            chosen.append(number)
            days.add(passage.day)
            continue
        misfits += 1
        if misfits == MAX_MISFITS:
            break
    passages = tuple(index.passages[number] for number in sorted(chosen))
    return RecallPassages(passages, tokens=budget - left if chosen else 0)
