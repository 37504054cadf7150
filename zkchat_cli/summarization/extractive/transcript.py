"""What was told in a conversation, sentence by sentence: who says it, what it means nothing without, and what was corrected since.

It is kept with the conversation and only added to, so that a sentence is looked at once.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from zkchat_cli.context.message_priority import NEUTRAL, is_fixed
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.summarization.extractive.selection import SummaryCandidate
from zkchat_cli.summarization.extractive.sentence_scoring import ScoredSentence, score_sentences
from zkchat_cli.tokens.counter import TokenCounter

SET = 1.5
"""What each step of priority that the user set above or below the neutral one multiplies a sentence's worth by."""
QUOTATION = 0.4
"""What a quotation from the notes is worth: it can be read again there, what was said about it cannot."""
_SAME_CLAIM = 0.5
"""Of the words of a statement, those that a correction must share to be about the same."""
_LOOKED_THROUGH = 40
"""The latest statements with a word of a correction among which the corrected one is looked for."""
DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)")
_SPEAKER = re.compile(r"(?:(\([^()\n]{1,60}\))\s*)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30})?): ?(?=\S)")


class SpeakerMessage:
    """A message as a summary has it: who says it, on which day, and what; and whether it is in every prompt without the summary."""

    def __init__(self, message: ZkChatMessage, named: frozenset[str]) -> None:
        self.role = message.role
        self.date = " ".join(message.timestamp[:10].split())
        start = _SPEAKER.match(message.content) if message.role in named else None
        self.speaker = start["name"] if start else message.role
        begin = 0
        if start and (not start[1] or _says_the_date(start[1], self.date)):
            begin = start.end()
        self.sentences = score_sentences(message.content[begin:])
        self.is_fixed = is_fixed(message)
        self.weight = SET ** (message.priority - NEUTRAL) if message.priority_set else 1.0


class SpeakerNames:
    """Which roles begin what they say with their name ("Ada: …"), as in an imported log; a colon now and then makes no name."""

    def __init__(self) -> None:
        self._said: Counter[str] = Counter()
        self._named: Counter[str] = Counter()

    def observe(self, messages: Iterable[ZkChatMessage]) -> None:
        for message in messages:
            self._said[message.role] += 1
            self._named[message.role] += bool(_SPEAKER.match(message.content))

    @property
    def roles(self) -> frozenset[str]:
        return frozenset(role for role, n in self._named.items() if n > 1 and 2 * n >= self._said[role])


class TranscriptIndex:
    """The messages that were told, and their sentences as candidates for a summary. The roles `named` begin with a speaker's name."""

    def __init__(self, named: frozenset[str], counter: TokenCounter) -> None:
        self.named = named
        self.messages: list[SpeakerMessage] = []
        self._counter = counter
        self._flat: list[tuple[int, ScoredSentence]] = []
        """Every statement, with the number of its message."""
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        """The statements that have each word."""
        self._texts: set[str] = set()
        self._last: int | None = None
        self._question: int | None = None

    def add(self, messages: Iterable[ZkChatMessage]) -> tuple[list[SummaryCandidate], dict[int, tuple[int, bool]]]:
        """Go on with these messages. Returns their statements as candidates, and what they correct of earlier ones: by its position, the
        statement that does, and whether that says the whole claim again."""
        start, first = len(self._flat), len(self.messages)
        self.messages += (SpeakerMessage(message, self.named) for message in messages)
        new = self.messages[first:]
        self._flat += ((number, said) for number, message in enumerate(new, first) for said in message.sentences)
        corrected, needs = self._corrected(start), self._needs(new, start)
        opening = {speaker: self._counter.count(f"- {speaker}:") + 1 for speaker in {message.speaker for message in new}}
        found = []
        for position, (number, said) in enumerate(self._flat[start:], start):
            message = self.messages[number]
            factor = message.weight * (QUOTATION if said.is_quotation and message.role == "assistant" else 1.0)
            if said.is_lead_in or message.is_fixed or (position not in needs and said.text in self._texts):
                factor = 0.0
            self._texts.add(said.text)
            candidate = SummaryCandidate(position, number, message.date, said, opening[message.speaker], needs.get(position, ()), factor)
            found.append(amended(candidate, *corrected.pop(position)) if position in corrected else candidate)
        return found, corrected

    def mark_gap(self) -> None:
        """What is added next did not follow at once."""
        self._last = self._question = None

    def _needs(self, new: Sequence[SpeakerMessage], start: int) -> dict[int, tuple[int, ...]]:
        """What each statement means nothing without: the one before, when it points back; the question, when it only answers that."""
        needs: dict[int, tuple[int, ...]] = {}
        for message in new:
            last, question = self._last, self._question
            for position, said in enumerate(message.sentences, start):
                if position > start and said.refers_back:
                    needs[position] = (position - 1,)
                elif position == start and question is not None and (said.refers_back or said.is_short):
                    needs[position] = (question,)
                elif last is not None and ((position == start and said.refers_back) or (said.is_quotation and message.role == "assistant")):
                    needs[position] = (last if question is None else question,)
            if message.sentences:
                asking = [position for position, said in enumerate(message.sentences, start) if said.is_question]
                self._question = asking[-1] if asking else None
                start += len(message.sentences)
                self._last = start - 1
        return needs

    def _corrected(self, start: int) -> dict[int, tuple[int, bool]]:
        """What the user corrects from this statement on: by which statement, and whether that says the whole claim again."""
        flat, found = self._flat, dict[int, tuple[int, bool]]()
        for position, (number, said) in enumerate(flat[start:], start):
            if said.corrects and self.messages[number].role == "user":
                shared = Counter(p for word in said.words for p in self._holding[word][-_LOOKED_THROUGH:])
                about = [p for p, n in shared.items() if n >= _SAME_CLAIM * len(flat[p][1].words) and not flat[p][1].is_question]
                found.update((p, (position, True)) for p in about)
                if not about and position and flat[position - 1][0] != number and not flat[position - 1][1].is_question:
                    found[position - 1] = (position, False)
            for word in said.words:
                self._holding[word].append(position)
        return found


def amended(candidate: SummaryCandidate, by: int, again: bool) -> SummaryCandidate:
    """The candidate when the statement at `by` corrects it: not to be said without that, and not at all when that says it all `again`."""
    return replace(candidate, needs=(*candidate.needs, by), factor=0.0 if again else candidate.factor)


def _says_the_date(text: str, date: str) -> bool:
    numbers = {int(number) for number in re.findall(r"\d{1,4}", text)}
    known = DATE.fullmatch(date)
    return known is not None and {int(known[1]), int(known[3])} <= numbers
