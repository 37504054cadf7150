"""A summary without a model: the most informative sentences of a conversation, word for word, in a
token budget.

Deterministic; in the order of the conversation, with dates and speakers. It is always chosen from
the messages, so that nothing fades by summarizing summaries. In a growing conversation they are
those of the turns that the last summary quotes and of the new turns, so that a summary takes as
long after 10,000 turns as after 100.

Greedy maximum coverage, by Lin & Bilmes, *A Class of Submodular Functions for Document
Summarization* (2011): the gain of a sentence is the weight of its rare words that no chosen
sentence has yet, for its length.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from zkchat_cli.context.compaction_plan import FoldPlan
from zkchat_cli.context.turns import Turn
from zkchat_cli.summarization.sentence_scoring import ScoredSentence, light_stem, score_sentences
from zkchat_cli.text.dates import MONTHS
from zkchat_cli.text.words import content_terms
from zkchat_cli.tokens.counter import TokenCounter

# A summary may take at most this share of what it replaces; otherwise the loss of detail is not
# worth it
MAX_SUMMARY_SHARE = 0.8
# Factor for each word of the user's instructions
WORD_BONUS = 8.0
# Factor for what the user told the model: the notes may not have it, and the model's answers can be
# found again
STATED_FACTOR = 3.0
# Each repetition multiplies the value of a word by this
REPEAT_FACTOR = 0.03
# Gain is divided by length to this power: below 1, since a long sentence brings its own context
LENGTH_POWER = 0.95
# A sentence next to a chosen one of its message gains so much: neighbours are understood together
NEIGHBOUR_BONUS = 1.5
# What the speaker and the date in front of a message's first sentence cost
OPENING_BYTES = 30
# A long run of "She … She …" is taken from its beginning or not at all
_MAX_GROUP = 4
# A word in more than this share of the sentences selects none
_COMMON = 0.2
# Share of the budget that may stay unused
_MAX_UNUSED = 0.02
# After so many sentences that do not fit, the budget is spent
_MAX_MISFITS = 20
# Estimates of what a speaker with a date, and the separator of a sentence, take
_OPENING_TOKENS = 6
_SENTENCE_TOKENS = 2
_DENIAL = re.compile(
    r"(?:nothing (?:in|about)|(?:your|the) notes (?:do not|don['’]t|have no|say "
    r"nothing|contain no)|i (?:found|find|see) (?:no|nothing)|"
    r"i (?:could not|couldn['’]t|can(?:no|['’])t|did not|didn['’]t) find|there (?:is|are) "
    r"no(?:thing)? .{0,40}in (?:your|the) notes|"
    r"(?:in )?(?:deinen|ihren|den) notizen (?:steht|findet sich) (?:nichts|dazu "
    r"nichts)|ich (?:habe|finde|fand) (?:dazu )?(?:nichts|kein)|"
    r"(?:您的|你的)?笔记(?:中|里)?没有|(?:sources?|quellen?|来源|参考)[ ]?[:：])",
    re.IGNORECASE,
)
"""An answer that found nothing, or a list of sources: neither says anything without the notes at
hand.
"""
_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)")
_SPEAKER = re.compile(
    r"(?:\([^()\n]{1,60}\)\s*)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: "
    r"[^\W\d_a-z][\w.'’-]{0,30})?): ?(?=\S)"
)


class SpeakerMessage(NamedTuple):
    """A message as a summary shows it."""

    turn_id: str
    role: str
    speaker: str
    date: str
    sentences: tuple[ScoredSentence, ...]
    is_fixed: bool


class SummaryCandidate(NamedTuple):
    """A sentence that can be chosen unless its `factor` is 0. `needs` are the positions of
    sentences without which it means nothing.
    """

    position: int
    message: int
    sentence: ScoredSentence
    needs: tuple[int, ...] = ()
    factor: float = 1.0


class ExtractiveSummary(NamedTuple):
    """A summary, and the ids of the turns that it quotes."""

    text: str
    quoted: tuple[str, ...]


def extract_summary(
    fold: FoldPlan,
    target: int,
    counter: TokenCounter,
    instructions: str | None = None,
    quoted: Sequence[Turn] = (),
) -> ExtractiveSummary | None:
    """A summary of the fold in at most `target` tokens; None if it would not be clearly smaller
    than the fold. Of the turns that the last summary covers it reads those that this one `quoted`,
    or all if there are none.
    """
    replaced = 0
    for turn in reversed(fold.turns):
        replaced += turn.foldable_tokens
        if MAX_SUMMARY_SHARE * replaced >= target:
            break
    budget = min(target, int(MAX_SUMMARY_SHARE * replaced))
    return summarize(
        (*quoted, *fold.new) if quoted else fold.turns, budget, counter, instructions or ""
    )


def summarize(
    turns: Sequence[Turn], budget: int, counter: TokenCounter, instructions: str = ""
) -> ExtractiveSummary | None:
    """A summary in at most `budget` tokens, with sentences that share words with `instructions`
    first; None if not even one fits.
    """
    messages = _speaker_messages(turn for turn in turns if not turn.failure)
    ranked = rank_sentences(_prefer_instructed(_find_candidates(messages), instructions))
    # Most pieces are counted several times: 3 ms of 25
    count = cache(counter.count)
    chosen: list[SummaryCandidate] = []
    text = ""
    left = budget
    while left > _MAX_UNUSED * budget and (added := list(_next_that_fit(ranked, left, count))):
        chosen += added
        left = budget - sum(map(count, map(str.rstrip, _summary_parts(chosen, messages))))
    while (
        chosen
        and (left := budget - counter.count(text := "".join(_summary_parts(chosen, messages)))) < 0
    ):
        while chosen and left < 0:
            left += count(chosen.pop().sentence.text)
    quoted = dict.fromkeys(
        messages[number].turn_id for number in sorted(candidate.message for candidate in chosen)
    )
    return ExtractiveSummary(text, tuple(quoted)) if chosen else None


def _speaker_messages(turns: Iterable[Turn]) -> list[SpeakerMessage]:
    """The messages with their speakers: the names in front of an imported log's messages ("Ada:
    …"), or else the roles.
    """
    spoken = [(turn, message) for turn in turns for message in turn.spoken]
    named = Counter(message.role for _, message in spoken if _SPEAKER.match(message.content))
    total = Counter(message.role for _, message in spoken)
    made = []
    for turn, message in spoken:
        prefix = (
            _SPEAKER.match(message.content)
            if named[message.role] > 1 and 2 * named[message.role] >= total[message.role]
            else None
        )
        sentences = score_sentences(message.content[prefix.end() :] if prefix else message.content)
        speaker = prefix["name"] if prefix else message.role
        date = " ".join(message.timestamp[:10].split())
        made.append(
            SpeakerMessage(
                turn.id, message.role, speaker, date, sentences, message.id in turn.fixed_ids
            )
        )
    return made


def _find_candidates(messages: Sequence[SpeakerMessage]) -> list[SummaryCandidate]:
    """Each sentence with what it needs: the one before if it refers back, or the question before a
    quotation or a model's answer.
    """
    candidates: list[SummaryCandidate] = []
    question: int | None = None
    texts: set[str] = set()
    for number, message in enumerate(messages):
        start = len(candidates)
        # In an imported dialogue both speakers tell of themselves
        with_model = message.speaker == message.role
        is_answer = with_model and message.role == "assistant" and question is not None
        for position, sentence in enumerate(message.sentences, start):
            needs: tuple[int, ...] = ()
            if sentence.refers_back and position > start:
                needs = (position - 1,)
            elif start and (sentence.refers_back or sentence.is_quotation or is_answer):
                needs = (start - 1 if question is None else question,)
            repeated = sentence.text in texts and not needs
            texts.add(sentence.text)
            left_out = repeated or sentence.is_lead_in or message.is_fixed
            if with_model and message.role == "assistant":
                left_out = left_out or bool(_DENIAL.match(sentence.text))
            stated = with_model and message.role == "user" and not sentence.is_question
            factor = 0.0 if left_out else STATED_FACTOR if stated else 1.0
            candidates.append(SummaryCandidate(position, number, sentence, needs, factor))
        if message.sentences:
            question = max(
                (c.position for c in candidates[start:] if c.sentence.is_question), default=None
            )
    return candidates


def _prefer_instructed(
    candidates: list[SummaryCandidate], instructions: str
) -> list[SummaryCandidate]:
    """The candidates with higher factors for those with words of the user's instructions, unless
    these are in many sentences.
    """
    words = {light_stem(t) for t in content_terms(instructions)}
    frequency = Counter(
        word for candidate in candidates for word in candidate.sentence.words if word in words
    )
    selective = {word for word, n in frequency.items() if n <= max(_COMMON * len(candidates), 3)}
    shared = ((c, len(selective.intersection(c.sentence.words))) for c in candidates)
    return (
        [c._replace(factor=c.factor * WORD_BONUS * n) if n else c for c, n in shared]
        if selective
        else candidates
    )


def _next_that_fit(
    ranked: Iterator[list[SummaryCandidate]], tokens: int, count: Callable[[str], int]
) -> Iterator[SummaryCandidate]:
    """The next candidates that fit into about so many tokens."""
    misfits = 0
    for group in ranked:
        cost = sum(
            count(c.sentence.text) + _SENTENCE_TOKENS for c in group
        ) + _OPENING_TOKENS * len({c.message for c in group})
        if cost <= tokens:
            tokens -= cost
            yield from group
        else:
            misfits += 1
            if misfits == _MAX_MISFITS:
                return


def _summary_parts(
    chosen: Iterable[SummaryCandidate], messages: Sequence[SpeakerMessage]
) -> list[str]:
    """The sentences in the order of the conversation and what joins them: a new line gives date and
    speaker where they change.
    """
    parts: list[str] = []
    year = ""
    before: int | None = None
    for candidate in sorted(chosen, key=lambda c: c.position):
        message = messages[candidate.message]
        previous = None if before is None else messages[before]
        if previous is not None and (previous.date, previous.speaker) == (
            message.date,
            message.speaker,
        ):
            parts += (" " if before == candidate.message else " / "), candidate.sentence.text
        else:
            day = ""
            if previous is None or previous.date != message.date:
                date = _DATE.fullmatch(message.date)
                day = f"{message.date}, " if message.date else ""
                if date:
                    day = (
                        f"{int(date[3])} "
                        f"{MONTHS[int(date[2]) - 1]}{'' if date[1] == year else f' {date[1]}'}, "
                    )
                year = date[1] if date else ""
            parts += ("\n" if parts else ""), f"- {day}{message.speaker}: ", candidate.sentence.text
        before = candidate.message
    return parts


def rank_sentences(candidates: Sequence[SummaryCandidate]) -> Iterator[list[SummaryCandidate]]:
    """The candidates, best first, each with the sentences it needs that did not come before. The
    heap is lazy: gains fall as others are chosen, so only the top is computed again. Where a gain
    rises, because a neighbour was chosen, a second entry is pushed.
    """
    frequency = Counter(chain.from_iterable(candidate.sentence.words for candidate in candidates))
    values = {word: math.log(1 + len(candidates) / n) for word, n in frequency.items()}
    chosen: set[int] = set()
    # The positions next to a chosen sentence of the same message
    near_chosen: set[int] = set()
    opened: set[int] = set()

    def group_of(position: int) -> list[SummaryCandidate]:
        """The candidate and what it needs that is not chosen yet; empty if that is too much."""
        group = [position]
        for member in group:  # grows while it is read
            group += [
                need
                for need in candidates[member].needs
                if need not in chosen and need not in group
            ]
        return [candidates[member] for member in group] if len(group) <= _MAX_GROUP else []

    def gain(group: Sequence[SummaryCandidate]) -> float:
        total = 0.0
        length = OPENING_BYTES * len({c.message for c in group} - opened)
        counted: set[str] = set()
        for c in group:
            total += (
                c.sentence.weight
                * c.factor
                * sum(values[word] for word in c.sentence.words if word not in counted)
            )
            length += c.sentence.size
            counted.update(c.sentence.words)
        bonus = NEIGHBOUR_BONUS if group and group[0].position in near_chosen else 1.0
        return float(bonus * total / (1 + length) ** LENGTH_POWER)

    heap = [
        (-gain(group_of(c.position)), c.position)
        for c in candidates
        if c.sentence.words and c.factor > 0
    ]
    heapq.heapify(heap)
    while heap:
        before, position = heapq.heappop(heap)
        if position in chosen or not (group := group_of(position)):
            continue
        now = -gain(group)
        if heap and now > heap[0][0] and now > before:
            heapq.heappush(heap, (now, position))
            continue
        yield group
        chosen.update(c.position for c in group)
        opened.update(c.message for c in group)
        for word in (word for c in group for word in c.sentence.words):
            values[word] *= REPEAT_FACTOR
        for c in group:
            for near in candidates[max(0, c.position - 1) : c.position + 2]:
                if near.message == c.message:
                    near_chosen.add(near.position)
                elif not near.needs:
                    continue
                if near.position not in chosen and near.factor > 0 and near.sentence.words:
                    heapq.heappush(heap, (-gain(group_of(near.position)), near.position))
