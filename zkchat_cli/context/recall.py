"""Recall: finds earlier passages relevant to the new message, in turns that are folded or dropped.
A passage is a message, or a part of a long one, which is never quoted whole.

BM25 (`text/bm25.py`) over the passages of all messages. A passage gets a share of its neighbours'
scores, since a question and its answer use different words, and a little of the best score of its
day. The score of a passage that is nearer to the question than the average, by the cosine of their
vectors, is raised in proportion.

Words alone find .825 of LoCoMo's answers in 4,000 tokens, one evidence turn for .958 of the
questions, all for .867; words and vectors of all passages .864 / .979 / .914. Chosen by score for
size, they find .851 / .977 / .888: the fragments took the room of what they belong to.
"""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.context.turns import Turn
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import ENGLISH, content_stems, detect_language, main_languages, stem
from zkchat_cli.tokens.counter import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Anserini's values for short texts: longer messages say more rather than being wordier
BM25 = Bm25(k1=0.9, b=0.4)
# Of the scores of passages one to five positions away
NEIGHBOUR_SHARES = (0.4, 0.2, 0.1, 0.05, 0.025)
# Of the score of the passage before, if that ends with a question: an answer need not repeat its
# topic
ANSWER_SHARE = 0.3
# Characters at the end of a passage in which the question mark may be: a caption or greeting may
# follow it
QUESTION_END = 60
# Of the best score of the day
SAME_DAY_SHARE = 0.03
QUESTION_WORDS = frozenset(
    "kind type sort name mention describe say think tell many much thing".split()
)
"""Words that say what the user wants to know, not what was said about it."""
QUESTION_WORD_WEIGHT = 0.3
RELATED_WEIGHT = 0.3
"""Of words that begin like a word of the question ("adoption" for "adopt")."""
PREFIX_LENGTH = 5  # letters that related words share
# Passages with a lower share are not worth their tokens
MIN_SHARE_OF_BEST = 0.1
MAX_QUERY_WORDS = 40
MAX_SORTED = 1000  # passages that are sorted by score
# Characters: half from the beginning, half from the end
MAX_QUESTION = 4000
# Characters of each message that show a turn's language
MAX_OPENING = 500
# After so many passages that do not fit, the budget is spent
MAX_MISFITS = 20
# Of the best score, for each standard deviation by which a passage's cosine is above the average
MEANING_WEIGHT = 0.25
# Bytes of a message that stays in one piece (some 200 tokens)
MAX_WHOLE = 800
# Bytes of a part of a longer message
PART_SIZE = 480
FRAME_TOKENS = 40  # tokens around the quoted passages
DATE_TOKENS = 8
_SOFT_BREAK = lazy_pattern(r"(?<=[.!?…])[ ]?\n[ ]{0,3}(?=[^\W\d_]|\[)")
"""Between two sentences of one paragraph, where Markdown shows a space."""
_FENCES = ("```", "~~~")
_INTRODUCTION = (
    "Said earlier in this conversation; quoted because it may help with the message below. […] "
    "marks what is left out."
)


class RecallPassage(NamedTuple):
    """Part `part` of `parts` of a message in turn `turn` (both from 0); `text` is verbatim except
    for soft line breaks.
    """

    message: ZkChatMessage
    text: str
    turn: int
    part: int = 0
    parts: int = 1
    # With speaker, line end, and a gap mark if it is a part; exact for a whole message
    raw_tokens: int = 0

    @property
    def day(self) -> str:
        return self.message.timestamp[:10]

    @property
    def text_with_speaker(self) -> str:
        return f"{self.message.role}: {'' if self.part == 0 else '[…] '}{self.text}"

    def precedes_directly(self, other: "RecallPassage") -> bool:
        """Whether the other passage is the next part of the same message."""
        return self.message.id == other.message.id and self.part + 1 == other.part


def split_into_passages(
    message: ZkChatMessage, turn: int, counter: TokenCounter
) -> Iterator[RecallPassage]:
    texts = split_message(message.content) if message.content.strip() else []
    for part, text in enumerate(texts):
        passage = RecallPassage(message, text, turn, part, len(texts))
        tokens = counter.count_raw(f"{passage.text_with_speaker}\n") + (0 if len(texts) == 1 else 3)
        yield passage._replace(raw_tokens=tokens)


def split_message(text: str) -> list[str]:
    """The text in parts of about `PART_SIZE` bytes, split at lines, else between words; a short
    text in one part.
    """
    # Each paragraph's sentences on one line, so that none looks like another speaker's
    if not any(fence in text for fence in _FENCES):
        text = _SOFT_BREAK.sub(" ", text)
    if _size(text) <= MAX_WHOLE:
        return [text.strip()]
    parts: list[str] = []
    lines: list[str] = []
    size = 0
    for line in _short_lines(text):
        length = _size(line) + 1
        if lines and size + length > PART_SIZE:
            parts.append("\n".join(lines))
            lines = []
            size = 0
        lines.append(line)
        size += length
    return [*parts, "\n".join(lines)] if lines else parts


def _short_lines(text: str) -> Iterator[str]:
    """The lines that are not blank; a line longer than a part in several, split between words if
    possible.
    """
    for line in text.splitlines():
        start = 0
        end = len(line)
        while _size(line[start : start + PART_SIZE]) > PART_SIZE or end - start > PART_SIZE:
            width = (
                PART_SIZE
                * len(line[start : start + PART_SIZE])
                // _size(line[start : start + PART_SIZE])
            )
            cut = line.rfind(" ", start + width // 2, start + width)
            cut = cut if cut > 0 else start + width
            if piece := line[start:cut].rstrip():
                yield piece
            start = cut
        if piece := line[start:].rstrip():
            yield piece


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def format_passages(passages: Sequence[RecallPassage]) -> str:
    """The passages as the model gets them: by day, with speakers; gaps within a message are
    marked.
    """
    lines = [_INTRODUCTION]
    for before, passage, after in zip(
        (None, *passages), passages, (*passages[1:], None), strict=False
    ):
        if before is None or passage.day != before.day:
            day = passage.day
            # The weekday makes "last Friday" understandable
            with suppress(ValueError):
                when = date.fromisoformat(day)
                day = f"{WEEKDAYS[when.weekday()]}, {when.day} {MONTHS[when.month - 1]} {when.year}"
            lines.append(f"{day}:")
        continues = before is not None and before.precedes_directly(passage)
        is_cut = passage.part + 1 < passage.parts and not (
            after is not None and passage.precedes_directly(after)
        )
        lines.append(
            (passage.text if continues else passage.text_with_speaker) + (" […]" if is_cut else "")
        )
    return "\n".join(lines)


Cosines = Callable[[str, Sequence[RecallPassage]], "NDArray[np.float64] | None"]
"""How near passages are to a question by meaning; NaN for a passage without a vector, None if
nothing can be told.
"""


class RecallIndex:
    """An inverted index over the passages of a conversation. Arrays hold one entry for each
    passage.
    """

    def __init__(self, cosines: Cosines = lambda _question, _passages: None) -> None:
        self._cosines = cosines
        # Those of the conversation, by whose rules words are stemmed
        self._languages: tuple[str, ...] = (ENGLISH,)
        self._clear()

    def _clear(self) -> None:
        self._turn_ids: list[str] = []
        self._turn_languages: list[str | None] = []
        self._language_counts = Counter[str]()
        self._starts = array("L")  # the first passage of each turn
        self.passages: list[RecallPassage] = []
        self._postings: defaultdict[str, tuple[array[int], array[int]]] = defaultdict(
            lambda: (array("I"), array("B"))
        )
        """The passages with each word, ascending, and how often each has it."""
        self._by_prefix: defaultdict[str, list[str]] = defaultdict(list)
        self._lengths = array("I")  # their numbers of words
        self._day_numbers: dict[str, int] = {}
        self._days = array("I")  # the number of each passage's day
        self._ends_with_question = array("B")
        # All prompts of a turn ask the same question
        self._last_scores: tuple[str, NDArray[np.float64]] | None = None

    def update(self, turns: Sequence[Turn]) -> None:
        """Index exactly these turns. Up to the newest turn that is the same, all are indexed
        already.
        """
        same = len(self._turn_ids)
        # Another branch
        if same > len(turns) or (same and self._turn_ids[-1] != turns[same - 1].id):
            pairs = zip(self._turn_ids, turns, strict=False)
            same = next(
                (i for i, (id_, turn) in enumerate(pairs) if id_ != turn.id), min(same, len(turns))
            )
            self._truncate(same)
        for turn in turns[same:]:
            self._add(turn)
        languages = main_languages(self._language_counts)
        # All words are stemmed by the rules of other languages
        if languages != self._languages:
            self._clear()
            self._languages = languages
            for turn in turns:
                self._add(turn)

    def _add(self, turn: Turn) -> None:
        position = len(self._turn_ids)
        self._last_scores = None
        self._turn_ids.append(turn.id)
        spoken = turn.spoken
        language = detect_language(" ".join(message.content[:MAX_OPENING] for message in spoken))
        self._turn_languages.append(language)
        if language is not None:
            self._language_counts[language] += 1
        self._starts.append(len(self.passages))
        for message in spoken:
            for passage in split_into_passages(message, position, turn.counter):
                words = Counter(content_stems(passage.text, self._languages))
                for word, count in words.items():
                    if word not in self._postings and len(word) >= PREFIX_LENGTH:
                        self._by_prefix[word[:PREFIX_LENGTH]].append(word)
                    holders, counts = self._postings[word]
                    holders.append(len(self.passages))
                    counts.append(min(count, 255))
                self._lengths.append(words.total())
                self._days.append(self._day_numbers.setdefault(passage.day, len(self._day_numbers)))
                self._ends_with_question.append(
                    any(mark in passage.text[-QUESTION_END:] for mark in "?？")
                )
                self.passages.append(passage)

    def _truncate(self, turns: int) -> None:
        """Keep only the first `turns` turns: another branch continues from there."""
        if turns == len(self._turn_ids):
            return
        self._last_scores = None
        start = self._starts[turns]
        for holders, counts in self._postings.values():
            end = bisect_left(holders, start)
            del holders[end:], counts[end:]
        self._language_counts.subtract(filter(None, self._turn_languages[turns:]))
        del (
            self._turn_ids[turns:],
            self._turn_languages[turns:],
            self._starts[turns:],
            self.passages[start:],
        )
        del self._lengths[start:], self._days[start:], self._ends_with_question[start:]

    def search(self, question: str, before: int) -> Sequence[int]:
        """The relevant passages of the first `before` turns by their numbers, the best first."""
        # 0.1 s and 30 MB: only for conversations that have outgrown their window
        import numpy as np

        if self._last_scores is None or self._last_scores[0] != question:
            self._last_scores = question, self._score(question)
        scores = self._last_scores[1]
        relevant = np.flatnonzero(
            (scores > 0) & (scores >= MIN_SHARE_OF_BEST * scores.max(initial=0.0))
        )
        end = self._starts[before] if before < len(self._starts) else len(self.passages)
        relevant = relevant[relevant < end]
        if len(relevant) > MAX_SORTED:  # sorting 20 000 takes 4 ms
            relevant = np.sort(
                relevant[np.argpartition(-scores[relevant], MAX_SORTED)[:MAX_SORTED]]
            )
        order: list[int] = relevant[np.argsort(-scores[relevant], kind="stable")].tolist()
        return order

    def _score(self, question: str) -> "NDArray[np.float64]":
        """The score of each passage."""
        import numpy as np  # as above

        question = (
            question[: MAX_QUESTION // 2]
            + " "
            + question[MAX_QUESTION // 2 :][-MAX_QUESTION // 2 :]
        )
        total = len(self.passages)
        scores = np.zeros(total)
        lengths = np.array(self._lengths, np.float64)
        norm = BM25.norm(lengths, max(1.0, float(lengths.mean()) if total else 1.0))
        for word, weight in self._query_words(question).items():
            holders = np.array(self._postings[word][0], np.intp)
            counts = np.array(self._postings[word][1], np.float64)
            word_weight = weight * rarity(len(holders), total)
            scores[holders] += BM25.word_score(word_weight, counts, norm[holders])
        answers = ANSWER_SHARE * scores * np.array(self._ends_with_question, np.float64)
        scores[1:] += answers[:-1]
        cosines = self._cosines(question, self.passages) if scores.any() else None
        if cosines is not None and not np.isnan(cosines).all():
            known = ~np.isnan(cosines)
            spread = cosines[known].std()
            if spread > 0:
                scores[known] += (
                    MEANING_WEIGHT
                    * scores.max()
                    * np.maximum((cosines[known] - cosines[known].mean()) / spread, 0)
                )
        together = scores.copy()
        for distance, share in enumerate(NEIGHBOUR_SHARES, 1):
            together[distance:] += share * scores[:-distance]
            together[:-distance] += share * scores[distance:]
        days = np.array(self._days, np.intp)
        best_of_day = np.zeros(len(self._day_numbers))
        np.maximum.at(best_of_day, days, scores)
        return together + SAME_DAY_SHARE * best_of_day[days]

    def _query_words(self, question: str) -> dict[str, float]:
        """The weights of the rarest indexed words of the question and of related words."""
        words = dict.fromkeys(content_stems(question, self._languages))
        related = {
            other: RELATED_WEIGHT
            for word in words
            if len(word) >= PREFIX_LENGTH
            for other in self._by_prefix.get(word[:PREFIX_LENGTH], ())
        }
        question_words = {stem(word, self._languages) for word in QUESTION_WORDS}
        weights = {
            **related,
            **{word: QUESTION_WORD_WEIGHT if word in question_words else 1.0 for word in words},
        }
        frequency = {
            word: len(self._postings[word][0]) for word in weights if word in self._postings
        }
        rarest = sorted(
            (w for w in frequency if frequency[w]),
            key=lambda w: (weights[w] > RELATED_WEIGHT, -frequency[w], w),
        )
        return {word: weights[word] for word in rarest[-MAX_QUERY_WORDS:]}


def recall_passages(
    index: RecallIndex,
    question: str,
    before: int,
    budget: int,
    counter: TokenCounter,
    without: Collection[str] = (),
) -> tuple[tuple[RecallPassage, ...], int]:
    """The most relevant passages of the first `before` turns that fit into `budget` tokens,
    `without` these messages, in the order of the conversation; and the tokens that they take as
    formatted, rather too many.
    """
    left = budget - FRAME_TOKENS
    chosen: list[int] = []
    days: set[str] = set()
    misfits = 0
    for number in index.search(question, before) if left > 0 else ():
        passage = index.passages[number]
        if passage.message.id in without:
            continue
        # one too many: a prompt that is filled to the last token is over the limit by another count
        tokens = counter.scale(passage.raw_tokens + 1) + (0 if passage.day in days else DATE_TOKENS)
        if tokens <= left:
            left -= tokens
            chosen.append(number)
            days.add(passage.day)
            continue
        misfits += 1
        if misfits == MAX_MISFITS:
            break
    return tuple(
        index.passages[number] for number in sorted(chosen)
    ), budget - left if chosen else 0
