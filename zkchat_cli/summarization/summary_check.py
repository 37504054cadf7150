"""Checks a model's summary against the turns that it replaces. Pure; `chat/summary_writer` asks the model once to correct what is wrong.

Numbers, dates, names and sources of the summary must occur in the turns, and those that the user stated in a decision must be in the
summary. What is still wrong then is put right here: sentences with invented facts are left out, decisions are added word for word. Pinned
messages and standing instructions are not looked for: every prompt has them beside the summary. Small whole numbers may count
things, and German writes every noun like a name.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.context.turns import Turn
from zkchat_cli.markdown.blocks import split_sentences
from zkchat_cli.summarization.sentence_scoring import score_sentences
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.numbers import DIGITS, NUMBER_WORDS, may_count, number_parts
from zkchat_cli.text.words import STOPWORDS, detect_language, fold, stem, terms
from zkchat_cli.tokens.counter import TokenCounter

MOST_NAMED = 12
"""How many wrong facts, and how many missing decisions, the request for a correction names."""
GERMAN = "german"
_WORD = re.compile(r"\w[\w’'-]*\w")
_LINK = re.compile(r"\[\[([^\[\]|#]{1,200})[^\[\]]{0,200}\]\]")
_SOURCE = re.compile(r"\[(\d{1,6}(?:\s?[,;]\s?\d{1,6}){0,20})\]")
_NUMBER = re.compile(r"(?<![0-9A-Za-z_.,])" + DIGITS)
_NAME = re.compile(r"(?<=[\w,;)’'”\"] )[A-Z][\w’'-]*\w")
"""A capitalized word that does not begin a line or a sentence."""
_LABEL = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+.*|(?:[-*+][ \t]+|\d{1,2}[.)][ \t]+)?(?:\*\*)?(?:[^\d.\n:：]{1,60}[:：]|[^\d.\n:：]{1,60}$)(?:\*\*)?)"
)
"""A heading, or what comes before the colon of a line: words of the section, not of the conversation."""
_NUMBER_OF = {**{word: str(n) for n, month in enumerate(MONTHS, 1) for word in (month.lower(), month[:3].lower())}, **NUMBER_WORDS}
_TITLES = frozenset("mr mrs ms dr prof".split())
_CALENDAR = frozenset((*MONTHS, *(m[:3] for m in MONTHS), *WEEKDAYS))
_DECISION = re.compile(
    r"\b(?:decided|decision|agreed|settled on|chose|chosen|opted|go(?:ing)? with|beschlossen|entschieden|entscheidung)\b|决定|同意",
    re.IGNORECASE,
)


class SummaryFacts(NamedTuple):
    """What a text states that can be compared word for word."""

    numbers: frozenset[str]
    links: frozenset[str]
    sources: frozenset[str]
    names: tuple[str, ...]


class SummaryCheck(NamedTuple):
    """`invented`: facts of the summary that the turns do not have. `missing`: the user's decisions that the summary lacks facts of."""

    invented: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def problems(self) -> int:
        return len(self.invented) + len(self.missing)


def find_facts(text: str) -> SummaryFacts:
    """The facts of a text; small whole numbers are left out."""
    plain = _SOURCE.sub(" ", _LINK.sub(" ", text))
    lines = [_LABEL.sub("", line, count=1) for line in plain.split("\n")]
    german = detect_language(text) == GERMAN
    names = () if german else (found[0] for line in lines for found in _NAME.finditer(line))
    return SummaryFacts(
        numbers=frozenset(n for line in lines for n in _numbers(line) if not may_count(n)),
        links=frozenset(fold(name.strip()) for name in _LINK.findall(text)),
        sources=frozenset(n for group in _SOURCE.findall(text) for n in re.findall(r"\d+", group)),
        names=tuple(dict.fromkeys(name for name in names if name not in _CALENDAR and name.lower() not in STOPWORDS)),
    )


def _numbers(text: str) -> list[str]:
    return [part for found in _NUMBER.findall(text) for part in number_parts(found)]


def _known_numbers(text: str) -> set[str]:
    """Its numbers, with those of months and small ones in words."""
    return {*_numbers(text), *(_NUMBER_OF[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _NUMBER_OF)}


def source_text(turns: Iterable[Turn], earlier: str | None = None) -> str:
    """All that a summary of these turns may state: their messages, as stored and as sent, their dates and sources."""
    parts = [earlier or ""]
    for turn in turns:
        for message in turn.messages:
            parts += message.timestamp[:10], message.content, *(reference.wikilink for reference in message.references)
        parts += (message.content for message in turn.prompt if message.kind in ("documents", "tool_results"))
    return "\n".join(parts)


def find_decisions(turns: Iterable[Turn]) -> tuple[str, ...]:
    """The user's sentences that state a decision with a number, a date, a name or a source."""
    user_messages = (m for turn in turns if not turn.failed for m in turn.messages if m.role == "user" and m.id not in turn.fixed_ids)
    stated = (s.text for m in user_messages for s in score_sentences(m.content) if not s.is_question and _DECISION.search(s.text))
    return tuple(dict.fromkeys(text for text in stated if any(_required(text))))


def _required(sentence: str) -> tuple[set[str], set[str]]:
    """The numbers and the words of names and links that a decision is about."""
    facts = find_facts(sentence)
    return {*_numbers(_LINK.sub(" ", sentence))}, {word for name in (*facts.names, *facts.links) for word in _stems(name)} - _TITLES


def _stems(text: str) -> set[str]:
    return set(map(stem, terms(text)))


def check_summary(summary: str, source: str, decisions: Sequence[str] = ()) -> SummaryCheck:
    """Compare a summary with `source`, what it may state, and with the `decisions` that it must have."""
    facts, known, known_words = find_facts(summary), find_facts(source), _stems(source)
    numbers = _known_numbers(source)
    invented = [
        *(name for name in facts.names if not _stems(name) <= known_words),
        *sorted(number for number in facts.numbers if number not in numbers),
        *(f"[[{link}]]" for link in sorted(facts.links - known.links) if not _stems(link) <= known_words),
        *(f"[{number}]" for number in sorted(facts.sources - known.sources)),
    ]
    own_numbers, own_words = _known_numbers(summary), _stems(summary)
    wanted = ((decision, *_required(decision)) for decision in decisions)
    missing = [decision for decision, figures, words in wanted if not (figures <= own_numbers and words <= own_words)]
    return SummaryCheck(tuple(invented), tuple(missing))


def correction_request(check: SummaryCheck) -> str:
    """The request to the model for a corrected summary, sent after the wrong one."""
    lines = ["Correct this summary and answer with all of it in <conversation-summary>…</conversation-summary>."]
    if check.invented:
        lines.append(f"The conversation does not have: {', '.join(check.invented[:MOST_NAMED])}. Leave out or correct what says so.")
    lines += (f"It lacks this decision of the user: {decision}" for decision in check.missing[:MOST_NAMED])
    return "\n".join(lines)


def repair_summary(summary: str, source: str, decisions: Sequence[str], limit: int, counter: TokenCounter) -> str:
    """The summary without the sentences that state invented facts, and with the missing decisions as far as they fit into `limit`."""
    invented = {*check_summary(summary, source).invented}
    kept: list[str] = []
    for line in summary.split("\n") if invented else ():
        stated = [(sentence, find_facts(sentence)) for sentence in split_sentences(line)]
        true = [sentence for sentence, facts in stated if invented.isdisjoint((*_as_written(facts), *_WORD.findall(sentence)))]
        if len(true) == len(stated):
            kept.append(line)
        elif true:
            kept.append(" ".join(true))
    summary = "\n".join(kept) if invented else summary
    for decision in check_summary(summary, source, decisions).missing:
        longer = f"{summary}\n- user: {decision}".lstrip("\n")
        if counter.count(longer) <= limit:
            summary = longer
    return summary


def _as_written(facts: SummaryFacts) -> Iterable[str]:
    return *facts.numbers, *(f"[[{link}]]" for link in facts.links), *(f"[{number}]" for number in facts.sources)
