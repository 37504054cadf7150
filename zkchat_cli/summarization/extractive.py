"""A summary without a model: the most informative sentences of a conversation, word for word, in a
token budget.

It is deterministic, in the order of the conversation, and has dates and speakers. Its sentences
always come from the messages themselves, so that nothing fades by summarizing summaries. In a
growing conversation only the turns that the last summary quotes and the new turns are read, so that
a summary takes as long after 10,000 turns as after 100.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from zkchat_cli.context.compaction_plan import FoldPlan
from zkchat_cli.context.message_priority import PLAIN, SPEAKER, message_priority
from zkchat_cli.context.turns import Turn
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.summarization.sentence_ranker import SentenceRanker, SummaryCandidate
from zkchat_cli.summarization.sentence_scoring import ScoredSentence, light_stem, score_sentences
from zkchat_cli.text.dates import MONTHS
from zkchat_cli.text.words import content_terms
from zkchat_cli.tokens.counter import TokenCounter

# Largest share that a summary may take of what it replaces: a larger one is not worth the loss of
# detail
MAX_SUMMARY_SHARE = 0.8
# Factor for each word of the user's instructions
WORD_BONUS = 8.0
# Factor for a sentence that the summary must have: it comes before all others
REQUIRED_BONUS = 1e6
# Factor for what the user told the model: the notes may not have it, and the model's answers can be
# found again
STATED_FACTOR = 3.0
# Share of the sentences: a word in more of them selects none
_COMMON = 0.2
# Sentences that a word may be in without being common, however few sentences there are
_ALWAYS_RARE = 3
# Share of the budget that may stay unused
_MAX_UNUSED = 0.02
# Sentences that do not fit, after which the budget is regarded as spent
_MAX_MISFITS = 20
# Estimated tokens of a speaker with a date, and of the separator after a sentence
_OPENING_TOKENS = 6
_SENTENCE_TOKENS = 2
_DENIAL = re.compile(
    r"(?:nothing (?:in|about)"
    r"|(?:your|the) notes (?:do not|don['’]t|have no|say nothing|contain no)"
    r"|i (?:found|find|see) (?:no|nothing)"
    r"|i (?:could not|couldn['’]t|can(?:no|['’])t|did not|didn['’]t) find"
    r"|there (?:is|are) no(?:thing)? .{0,40}in (?:your|the) notes"
    r"|(?:in )?(?:deinen|ihren|den) notizen (?:steht|findet sich) (?:nichts|dazu nichts)"
    r"|ich (?:habe|finde|fand) (?:dazu )?(?:nichts|kein)"
    r"|(?:您的|你的)?笔记(?:中|里)?没有"
    r"|(?:sources?|quellen?|来源|参考)[ ]?[:：])",
    re.IGNORECASE,
)
"""An answer that found nothing, or a list of sources: neither says anything without the notes at
hand.
"""
_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)")


class SpeakerMessage(NamedTuple):
    """A message as a summary shows it. `is_fixed` says that every prompt has it anyway; a message
    with a higher `priority` is quoted rather.
    """

    turn_id: str
    role: str
    speaker: str
    date: str
    sentences: tuple[ScoredSentence, ...]
    is_fixed: bool
    priority: int = PLAIN

    @property
    def is_from_user(self) -> bool:
        """Whether a user told it to a model. In an imported dialogue the speakers have names, and
        both tell of themselves.
        """
        return self.speaker == self.role == "user"

    @property
    def is_from_model(self) -> bool:
        """Whether a model answered it, and nobody in an imported dialogue."""
        return self.speaker == self.role == "assistant"


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
    required: Collection[str] = (),
) -> ExtractiveSummary | None:
    """A summary of the fold in at most `target` tokens; None if it would not be clearly smaller
    than the fold. `quoted` are the turns that the last summary quotes: only they and the new turns
    are read, or all turns if there are none. Sentences with a `required` text are chosen first.
    """
    replaced = 0
    for turn in reversed(fold.turns):
        replaced += turn.foldable_tokens
        if MAX_SUMMARY_SHARE * replaced >= target:
            break
    budget = min(target, int(MAX_SUMMARY_SHARE * replaced))
    turns = (*quoted, *fold.new) if quoted else fold.turns
    return summarize(turns, budget, counter, instructions or "", required)


def summarize(
    turns: Sequence[Turn],
    budget: int,
    counter: TokenCounter,
    instructions: str = "",
    required: Collection[str] = (),
) -> ExtractiveSummary | None:
    """A summary in at most `budget` tokens, with `required` sentences first, then those that share
    words with `instructions`; None if not even one fits.
    """
    messages = speaker_messages(turn for turn in turns if not turn.failure)
    candidates = _prefer_instructed(_find_candidates(messages), instructions)
    if required:
        candidates = [_prefer_required(each, required) for each in candidates]
    # Most pieces are counted several times, which would take 3 ms of 25
    count = cache(counter.count)
    chosen = _choose_for_budget(candidates, messages, budget, count)
    text = ""
    # The parts were counted one by one, so the whole text can still be too long
    while chosen:
        text = "".join(_summary_parts(chosen, messages))
        left = budget - counter.count(text)
        if left >= 0:
            break
        while chosen and left < 0:
            left += count(chosen.pop().sentence.text)
    if not chosen:
        return None
    numbers = sorted(candidate.message for candidate in chosen)
    quoted = dict.fromkeys(messages[number].turn_id for number in numbers)
    return ExtractiveSummary(text, tuple(quoted))


def _choose_for_budget(
    candidates: Sequence[SummaryCandidate],
    messages: Sequence[SpeakerMessage],
    budget: int,
    count: Callable[[str], int],
) -> list[SummaryCandidate]:
    """The best candidates that take about `budget` tokens with what joins them, best first."""
    ranked = SentenceRanker(candidates).groups()
    chosen: list[SummaryCandidate] = []
    left = budget
    while left > _MAX_UNUSED * budget:
        added = list(_next_that_fit(ranked, left, count))
        if not added:
            break
        chosen += added
        parts = _summary_parts(chosen, messages)
        left = budget - sum(count(part.rstrip()) for part in parts)
    return chosen


class _SpokenMessage(NamedTuple):
    """A message with its turn."""

    turn: Turn
    message: ZkChatMessage


def speaker_messages(turns: Iterable[Turn]) -> list[SpeakerMessage]:
    """The messages with their speakers: the names in front of an imported log's messages ("Ada:
    …"), or else the roles.
    """
    spoken: list[_SpokenMessage] = []
    for turn in turns:
        spoken += [_SpokenMessage(turn, message) for message in turn.spoken]
    named_roles = _roles_with_names(each.message for each in spoken)
    made: list[SpeakerMessage] = []
    for turn, message in spoken:
        speaker: str = message.role
        content = message.content
        prefix = SPEAKER.match(content) if message.role in named_roles else None
        if prefix:
            speaker = prefix["name"]
            content = content[prefix.end() :]
        made.append(
            SpeakerMessage(
                turn_id=turn.id,
                role=message.role,
                speaker=speaker,
                date=" ".join(message.timestamp[:10].split()),
                sentences=score_sentences(content),
                is_fixed=message.id in turn.fixed_ids,
                priority=message_priority(message),
            )
        )
    return made


def _roles_with_names(messages: Iterable[ZkChatMessage]) -> set[str]:
    """The roles with a speaker's name in front of at least two messages, and of half of them."""
    total = Counter[str]()
    named = Counter[str]()
    for message in messages:
        total[message.role] += 1
        if SPEAKER.match(message.content):
            named[message.role] += 1
    usual: set[str] = set()
    for role, count in named.items():
        if count > 1 and 2 * count >= total[role]:
            usual.add(role)
    return usual


def _find_candidates(messages: Sequence[SpeakerMessage]) -> list[SummaryCandidate]:
    """Each sentence with the position of the one that it needs, if it needs one: the sentence
    before if it refers back, or the question before a quotation or a model's answer.
    """
    candidates: list[SummaryCandidate] = []
    # The position of the last question of the message before, if that has one
    question: int | None = None
    texts: set[str] = set()
    for number, message in enumerate(messages):
        start = len(candidates)
        for position, sentence in enumerate(message.sentences, start):
            needs: tuple[int, ...] = ()
            if sentence.refers_back and position > start:
                needs = (position - 1,)
            elif start and _needs_message_before(sentence, message, question):
                needs = (start - 1 if question is None else question,)
            factor = _sentence_factor(sentence, message)
            # A repeated sentence counts again only if it belongs to another one
            if sentence.text in texts and not needs:
                factor = 0.0
            texts.add(sentence.text)
            candidates.append(SummaryCandidate(position, number, sentence, needs, factor))
        if message.sentences:
            question = _last_question(candidates[start:])
    return candidates


def _needs_message_before(
    sentence: ScoredSentence, message: SpeakerMessage, question: int | None
) -> bool:
    """Whether a sentence of a message means nothing without the message before, which may have
    asked a `question`.
    """
    is_answer = message.is_from_model and question is not None
    return sentence.refers_back or sentence.is_quotation or is_answer


def _sentence_factor(sentence: ScoredSentence, message: SpeakerMessage) -> float:
    """The factor of a sentence by who says it, and by the priority of its message; 0 if it is left
    out.
    """
    if sentence.is_lead_in or message.is_fixed:
        return 0.0
    if message.is_from_model and _DENIAL.match(sentence.text):
        return 0.0
    factor = message.priority / PLAIN
    if message.is_from_user and not sentence.is_question:
        factor *= STATED_FACTOR
    return factor


def _last_question(candidates: Sequence[SummaryCandidate]) -> int | None:
    for candidate in reversed(candidates):
        if candidate.sentence.is_question:
            return candidate.position
    return None


def _prefer_instructed(
    candidates: list[SummaryCandidate], instructions: str
) -> list[SummaryCandidate]:
    """The candidates, with higher factors for those that share words with the user's instructions.
    Words in many sentences do not count.
    """
    words = {light_stem(term) for term in content_terms(instructions)}
    frequency = Counter[str]()
    for candidate in candidates:
        frequency.update(words.intersection(candidate.sentence.words))
    most = max(_COMMON * len(candidates), _ALWAYS_RARE)
    selective = {word for word, count in frequency.items() if count <= most}
    if not selective:
        return candidates
    preferred = []
    for candidate in candidates:
        shared = len(selective.intersection(candidate.sentence.words))
        if shared:
            candidate = candidate._replace(factor=candidate.factor * WORD_BONUS * shared)
        preferred.append(candidate)
    return preferred


def _prefer_required(candidate: SummaryCandidate, required: Collection[str]) -> SummaryCandidate:
    if candidate.sentence.text not in required:
        return candidate
    return candidate._replace(factor=candidate.factor * REQUIRED_BONUS)


def _next_that_fit(
    ranked: Iterator[list[SummaryCandidate]], tokens: int, count: Callable[[str], int]
) -> Iterator[SummaryCandidate]:
    """The next candidates that fit into about this number of tokens."""
    misfits = 0
    for group in ranked:
        cost = _OPENING_TOKENS * len({candidate.message for candidate in group})
        for candidate in group:
            cost += count(candidate.sentence.text) + _SENTENCE_TOKENS
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
    """The sentences in the order of the conversation, and the pieces that join them: a new line
    with date and speaker where these change.
    """
    parts: list[str] = []
    year = ""
    number_before = -1
    previous: SpeakerMessage | None = None
    for candidate in sorted(chosen, key=lambda each: each.position):
        message = messages[candidate.message]
        is_new_day = previous is None or previous.date != message.date
        if is_new_day or (previous is not None and previous.speaker != message.speaker):
            day = ""
            if is_new_day:
                day = _day_label(message.date, year)
                date = _DATE.fullmatch(message.date)
                year = date["year"] if date else ""
            parts += ["\n" if parts else "", f"- {day}{message.speaker}: "]
        else:
            parts.append(" " if number_before == candidate.message else " / ")
        parts.append(candidate.sentence.text)
        number_before = candidate.message
        previous = message
    return parts


def _day_label(date: str, year: str) -> str:
    """`3 May 2024, `, without the year if it is the `year` before; empty without a date."""
    found = _DATE.fullmatch(date)
    if found is None:
        return f"{date}, " if date else ""
    month = MONTHS[int(found["month"]) - 1]
    shown_year = "" if found["year"] == year else f" {found['year']}"
    return f"{int(found['day'])} {month}{shown_year}, "
