"""A summary without a model: the sentences of a conversation that carry most, word for word, under a budget of tokens.

Deterministic; in the order in which things were said, with dates and speakers. Made from the raw turns each time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from zkchat_cli.context.covering import Candidate, Cover, rarities
from zkchat_cli.context.priorities import NEUTRAL, is_fixed
from zkchat_cli.context.statements import Statement, statements
from zkchat_cli.context.turns import Turn
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.words import content_terms, stem

WANTED, QUOTED = 8.0, 1000.0
"""What a sentence is worth more for a word, or a quoted phrase, that was asked for."""
SET = 1.5
"""What each step of priority that the user set above or below the neutral one multiplies a sentence's worth by."""
_COMMON = 0.2
"""A word in more than this share of the sentences picks none out."""
QUOTATION = 0.4
"""What a quotation from the notes is worth: it can be read again there, what was said about it cannot."""
_SAME_CLAIM = 0.5
"""Of the words of a statement, those that a correction must share to be about the same."""
_LOOKED_THROUGH = 40
"""The latest statements with a word of a correction among which the corrected one is looked for."""
_LEFT = 0.02
"""Of the room may stay unused. What sentences cost is known when they are written: those that share a line cost less than they seem to."""
_MONTHS = "January February March April May June July August September October November December".split()
_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)")
_SPEAKER = re.compile(r"(?:(\([^()\n]{1,60}\))\s*)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30})?): ?(?=\S)")
_BETWEEN = " / "
"""Between what one speaker said in two messages: one token, where a line of its own takes four."""
_PHRASE = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“]{2,200})“|«([^»]{2,200})»|「([^」]{2,200})」')


class _Spoken:
    """A message as a summary has it: who says it, on which day, and what; and whether it is in every prompt without the summary."""

    def __init__(self, message: ZkChatMessage, named: frozenset[str]) -> None:
        self.role = message.role
        self.date = " ".join(message.timestamp[:10].split())
        start = _SPEAKER.match(message.content) if message.role in named else None
        self.speaker = start["name"] if start else message.role
        begin = 0
        if start and (not start[1] or _says_the_date(start[1], self.date)):
            begin = start.end()
        self.said = statements(message.content[begin:])
        self.stays = is_fixed(message)
        self.weight = SET ** (message.priority - NEUTRAL) if message.priority_set else 1.0


def summarize(turns: Sequence[Turn], room: int, counter: TokenCounter, wanted: str = "") -> str | None:
    """The summary in at most `room` tokens, or None when not even one sentence fits.

    Sentences that share words with `wanted` come first, those that hold a phrase it quotes before all others.
    """
    spoken = _spoken(turns)
    consulted = _documents(turns)
    if counter.count(consulted) > room // 4:
        consulted = ""
    candidates = _candidates(spoken, counter, wanted)
    spare = room - counter.count(consulted) - 1
    cover = Cover(candidates, rarities(candidates), spare, counter)
    text = ""
    while spare > _LEFT * room and cover.take(spare):
        text = _write(cover.chosen, spoken, consulted)
        spare = room - counter.count(text)
    while cover.chosen and spare < 0:
        cover.chosen.pop()
        text = _write(cover.chosen, spoken, consulted)
        spare = room - counter.count(text)
    return text if cover.chosen else None


def _spoken(turns: Iterable[Turn]) -> list[_Spoken]:
    messages = [m for turn in turns if not turn.failed for m in turn.messages if m.role != "tool" and m.content]
    said = Counter(m.role for m in messages)
    named = Counter(m.role for m in messages if _SPEAKER.match(m.content))
    return [_Spoken(m, frozenset(role for role, n in named.items() if n > 1 and 2 * n >= said[role])) for m in messages]


def _says_the_date(text: str, date: str) -> bool:
    numbers = {int(number) for number in re.findall(r"\d{1,4}", text)}
    known = _DATE.fullmatch(date)
    return known is not None and {int(known[1]), int(known[3])} <= numbers


def _candidates(spoken: Sequence[_Spoken], counter: TokenCounter, wanted: str) -> list[Candidate]:
    flat = [(number, said) for number, message in enumerate(spoken) for said in message.said]
    corrected = _corrected([(spoken[number], said) for number, said in flat])
    needs = _needs(spoken)
    asked_for = _asked_for([said for _, said in flat], wanted)
    opening = {speaker: counter.count(f"- {speaker}:") + 1 for speaker in {message.speaker for message in spoken}}
    seen: set[str] = set()
    found = []
    for position, (number, said) in enumerate(flat):
        message = spoken[number]
        correction = corrected.get(position)
        factor = message.weight * asked_for.get(position, 1.0)
        if correction is not None and correction[1]:
            factor = 0.0
        if said.quotes and message.role == "assistant":
            factor *= QUOTATION
        if said.announces or message.stays or (position not in needs and said.text in seen):
            factor = 0.0
        seen.add(said.text)
        needed = (*needs.get(position, ()), *([correction[0]] if correction else []))
        found.append(Candidate(position, number, message.date, said, opening[message.speaker], needed, factor))
    return found


def _needs(spoken: Sequence[_Spoken]) -> dict[int, tuple[int, ...]]:
    """What each statement means nothing without: the one before, when it points back; the question, when it is only an answer to that."""
    needs: dict[int, tuple[int, ...]] = {}
    start = 0
    last = question = None
    for message in spoken:
        for position, said in enumerate(message.said, start):
            if position > start and said.leans:
                needs[position] = (position - 1,)
            elif position == start and question is not None and (said.leans or said.brief):
                needs[position] = (question,)
            elif last is not None and ((position == start and said.leans) or (said.quotes and message.role == "assistant")):
                needs[position] = (last if question is None else question,)
        if message.said:
            asking = [position for position, said in enumerate(message.said, start) if said.asks]
            question = asking[-1] if asking else None
            start += len(message.said)
            last = start - 1
    return needs


def _corrected(flat: Sequence[tuple[_Spoken, Statement]]) -> dict[int, tuple[int, bool]]:
    """What the user corrected: which statement does, and whether it says the whole claim again."""
    telling = {word for message, said in flat if message.role == "user" and said.corrects for word in said.words}
    holding: dict[str, list[int]] = {word: [] for word in telling}
    found: dict[int, tuple[int, bool]] = {}
    for position, (message, said) in enumerate(flat):
        if message.role == "user" and said.corrects:
            shared = Counter(p for word in said.words for p in holding[word][-_LOOKED_THROUGH:])
            about = [p for p, n in shared.items() if n >= _SAME_CLAIM * len(flat[p][1].words) and not flat[p][1].asks]
            found.update((p, (position, True)) for p in about)
            if not about and position and flat[position - 1][0] is not message and not flat[position - 1][1].asks:
                found[position - 1] = (position, False)
        for word in telling.intersection(said.words):
            holding[word].append(position)
    return found


def _asked_for(flat: Sequence[Statement], wanted: str) -> dict[int, float]:
    if not wanted:
        return {}
    phrases = [next(filter(None, match)).casefold() for match in _PHRASE.findall(wanted)]
    words = {stem(t) for t in content_terms(wanted)}
    frequency = Counter(word for said in flat for word in said.words if word in words)
    telling = {word for word, n in frequency.items() if n <= max(_COMMON * len(flat), 3)}
    found = {}
    for position, said in enumerate(flat):
        if shared := len(telling.intersection(said.words)):
            found[position] = WANTED * shared
        if any(phrase in said.text.casefold() for phrase in phrases):
            found[position] = QUOTED
    return found


def _write(chosen: Sequence[Sequence[Candidate]], spoken: Sequence[_Spoken], consulted: str) -> str:
    """A list, in the order of the conversation: a line says when and who where that changes."""
    lines: list[str] = []
    year = ""
    before: int | None = None
    for candidate in sorted((c for group in chosen for c in group), key=lambda c: c.position):
        message, text = spoken[candidate.message], candidate.said.text
        previous = None if before is None else spoken[before]
        if previous is not None and (previous.date, previous.speaker) == (message.date, message.speaker):
            lines[-1] += f"{_glue(lines[-1]) if before == candidate.message else _BETWEEN}{text}"
        elif previous is not None and previous.date == message.date:
            lines.append(f"- {message.speaker}: {text}")
        else:
            day, year = _day(message.date, year, first=previous is None)
            lines.append(f"- {day}{message.speaker}: {text}")
        before = candidate.message
    return "\n".join([*lines, consulted] if consulted else lines)


def _glue(line: str) -> str:
    return "" if line.endswith(("。", "！", "？")) else " "


def _day(date: str, year: str, *, first: bool) -> tuple[str, str]:
    """A date as people write it, without the year when that is the one written last; and the year."""
    known = _DATE.fullmatch(date)
    if known is None:
        return f"{date}, " if date else "" if first else "undated, ", ""
    day = f"{int(known[3])} {_MONTHS[int(known[2]) - 1]}"
    return (f"{day}, " if known[1] == year else f"{day} {known[1]}, "), known[1]


def _documents(turns: Iterable[Turn]) -> str:
    """The documents that were consulted, their links word for word."""
    links = dict.fromkeys(r.wikilink for turn in turns for m in turn.messages for r in m.references if r.relative_path)
    return f"Documents consulted: {', '.join(links)}" if links else ""
