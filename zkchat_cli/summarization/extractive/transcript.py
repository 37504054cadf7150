"""The conversation as sentences: who says each, what it means nothing without, and what was corrected later.

It grows with the conversation, so that each sentence is analyzed once.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.summarization.extractive.selection import SummaryCandidate
from zkchat_cli.summarization.extractive.sentence_scoring import ScoredSentence, score_sentences
from zkchat_cli.tokens.counter import TokenCounter

QUOTATION_FACTOR = 0.4
"""A quotation from a note can be read again there; what was said about it cannot."""
_SAME_CLAIM = 0.5
"""A correction is about a sentence if it has this share of its words."""
_MAX_CORRECTABLE = 40
"""The latest sentences with a word of the correction that are compared with it."""
DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)")
_SPEAKER = re.compile(r"(?:(\([^()\n]{1,60}\))\s*)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30})?): ?(?=\S)")


class SpeakerMessage:
    """A message as a summary shows it. Roles in `named_roles` start their messages with a speaker's name."""

    def __init__(self, message: ZkChatMessage, named_roles: frozenset[str]) -> None:
        self.role = message.role
        self.date = " ".join(message.timestamp[:10].split())
        prefix = _SPEAKER.match(message.content) if message.role in named_roles else None
        self.speaker = prefix["name"] if prefix else message.role
        skips_prefix = prefix is not None and (not prefix[1] or _has_date(prefix[1], self.date))
        self.sentences = score_sentences(message.content[prefix.end() :] if prefix and skips_prefix else message.content)
        self.is_fixed = is_fixed(message)


class SpeakerNames:
    """Which roles start their messages with a name ("Ada: …"), as in imported logs. An occasional colon is not a name."""

    def __init__(self) -> None:
        self._messages: Counter[str] = Counter()
        self._named: Counter[str] = Counter()

    def observe(self, messages: Iterable[ZkChatMessage]) -> None:
        for message in messages:
            self._messages[message.role] += 1
            self._named[message.role] += bool(_SPEAKER.match(message.content))

    @property
    def roles(self) -> frozenset[str]:
        return frozenset(role for role, n in self._named.items() if n > 1 and 2 * n >= self._messages[role])


class TranscriptIndex:
    """The messages added so far, and their sentences by position and by word."""

    def __init__(self, named_roles: frozenset[str], counter: TokenCounter) -> None:
        self.named_roles = named_roles
        self.messages: list[SpeakerMessage] = []
        self._counter = counter
        self._sentences: list[tuple[int, ScoredSentence]] = []
        """Each with the number of its message."""
        self._positions: defaultdict[str, list[int]] = defaultdict(list)
        """Of the sentences with each word."""
        self._texts: set[str] = set()
        self._last_sentence: int | None = None
        self._last_question: int | None = None

    def add(self, messages: Iterable[ZkChatMessage]) -> tuple[list[SummaryCandidate], dict[int, tuple[int, bool]]]:
        """Add messages that follow the last ones. Returns their sentences as candidates, and the corrections of earlier ones: the position
        of the correcting sentence by the corrected one, and whether it repeats the whole claim."""
        start, first = len(self._sentences), len(self.messages)
        self.messages += (SpeakerMessage(message, self.named_roles) for message in messages)
        new = self.messages[first:]
        self._sentences += ((number, sentence) for number, message in enumerate(new, first) for sentence in message.sentences)
        corrections, needs = self._find_corrections(start), self._find_needs(new, start)
        openings = {speaker: self._counter.count(f"- {speaker}:") + 1 for speaker in {message.speaker for message in new}}
        candidates = []
        for position, (number, sentence) in enumerate(self._sentences[start:], start):
            message = self.messages[number]
            factor = QUOTATION_FACTOR if sentence.is_quotation and message.role == "assistant" else 1.0
            if sentence.is_lead_in or message.is_fixed or (position not in needs and sentence.text in self._texts):
                factor = 0.0
            self._texts.add(sentence.text)
            opening = openings[message.speaker]
            candidate = SummaryCandidate(position, number, message.date, sentence, opening, needs.get(position, ()), factor)
            candidates.append(correct_candidate(candidate, *corrections.pop(position)) if position in corrections else candidate)
        return candidates, corrections

    def mark_gap(self) -> None:
        """The next messages do not follow the last ones directly."""
        self._last_sentence = self._last_question = None

    def _find_needs(self, new: Sequence[SpeakerMessage], start: int) -> dict[int, tuple[int, ...]]:
        """What each sentence means nothing without: the one before if it refers back, the question if it only answers that."""
        needs: dict[int, tuple[int, ...]] = {}
        for message in new:
            last, question = self._last_sentence, self._last_question
            for position, sentence in enumerate(message.sentences, start):
                if position > start and sentence.refers_back:
                    needs[position] = (position - 1,)
                elif position == start and question is not None and (sentence.refers_back or sentence.is_short):
                    needs[position] = (question,)
                elif last is not None and (
                    (position == start and sentence.refers_back) or (sentence.is_quotation and message.role == "assistant")
                ):
                    needs[position] = (last if question is None else question,)
            if message.sentences:
                questions = [position for position, sentence in enumerate(message.sentences, start) if sentence.is_question]
                self._last_question = questions[-1] if questions else None
                start += len(message.sentences)
                self._last_sentence = start - 1
        return needs

    def _find_corrections(self, start: int) -> dict[int, tuple[int, bool]]:
        """What the user corrects from this position on; see `add`."""
        sentences, corrections = self._sentences, dict[int, tuple[int, bool]]()
        for position, (number, sentence) in enumerate(sentences[start:], start):
            if sentence.corrects and self.messages[number].role == "user":
                shared = Counter(p for word in sentence.words for p in self._positions[word][-_MAX_CORRECTABLE:])
                same_claim = [
                    p for p, n in shared.items() if n >= _SAME_CLAIM * len(sentences[p][1].words) and not sentences[p][1].is_question
                ]
                corrections.update((p, (position, True)) for p in same_claim)
                before = position - 1
                if not same_claim and position and sentences[before][0] != number and not sentences[before][1].is_question:
                    corrections[before] = (position, False)
            for word in sentence.words:
                self._positions[word].append(position)
        return corrections


def correct_candidate(candidate: SummaryCandidate, corrected_by: int, repeats_claim: bool) -> SummaryCandidate:
    """The candidate needs its correction, and is dropped if the correction repeats the whole claim."""
    return replace(candidate, needs=(*candidate.needs, corrected_by), factor=0.0 if repeats_claim else candidate.factor)


def _has_date(text: str, date: str) -> bool:
    numbers = {int(number) for number in re.findall(r"\d{1,4}", text)}
    parts = DATE.fullmatch(date)
    return parts is not None and {int(parts[1]), int(parts[3])} <= numbers
