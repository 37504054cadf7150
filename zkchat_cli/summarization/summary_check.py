"""The check of a summary that a model made: numbers, dates, names and sources of the summary must
occur in the turns, and those of the user's decisions in the summary.

The model gets one request to correct that. Then sentences with invented facts are left out, and
decisions are added word for word.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from zkchat_cli.context.turns import Turn
from zkchat_cli.markdown import inline
from zkchat_cli.summarization.sentence_scoring import score_sentences
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.numbers import DIGITS, NUMBER_WORDS, may_count, number_parts
from zkchat_cli.text.sentences import split_sentences
from zkchat_cli.text.words import STOPWORDS, detect_language, fold, stem, terms
from zkchat_cli.tokens.counter import TokenCounter

# How many wrong facts, and how many missing decisions, the request for a correction names
MOST_NAMED = 12
_HYPHENATED_WORD = re.compile(r"\w[\w’'-]*\w")
_SOURCE = re.compile(r"\[(\d{1,6}(?:\s?[,;]\s?\d{1,6}){0,20})\]")
_NUMBER = re.compile(r"(?<![0-9A-Za-z_.,])" + DIGITS)
# A capitalized word that does not begin a line or a sentence
_NAME = re.compile(r"(?<=[\w,;)’'”\"] )[A-Z][\w’'-]*\w")
_LABEL = re.compile(
    r"[ \t]*"
    r"(?:#{1,6}[ \t]+.*"
    r"|(?:[-*+][ \t]+|\d{1,2}[.)][ \t]+)?"
    r"(?:\*\*)?(?:[^\d.\n:：]{1,60}[:：]|[^\d.\n:：]{1,60}$)(?:\*\*)?)"
)
"""A heading, or what comes before the colon of a line: words of the section, not of the
conversation.
"""
_LATIN_WORD = re.compile(r"[a-z]+")
_MONTH_NUMBERS = {month.lower(): str(number) for number, month in enumerate(MONTHS, 1)}
_NUMBER_OF = {
    **_MONTH_NUMBERS,
    **{month[:3]: number for month, number in _MONTH_NUMBERS.items()},
    **NUMBER_WORDS,
}
_TITLES = frozenset("mr mrs ms dr prof".split())
_CALENDAR = frozenset((*MONTHS, *(month[:3] for month in MONTHS), *WEEKDAYS))
_DECISION = re.compile(
    r"\b(?:decided|decision|agreed|settled on|chose|chosen|opted|go(?:ing)? with"
    r"|beschlossen|entschieden|entscheidung)\b"
    r"|决定|同意",
    re.IGNORECASE,
)


class SummaryCheck(NamedTuple):
    """What is wrong with a summary. `invented` are facts that the turns do not have; `missing` are
    decisions of the user with facts that the summary does not have.
    """

    invented: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def problems(self) -> int:
        """The number of invented facts and missing decisions."""
        return len(self.invented) + len(self.missing)


class _DecisionFacts(NamedTuple):
    """What a decision is about: its numbers, and the words of its names and links."""

    numbers: frozenset[str]
    words: frozenset[str]


def find_facts(text: str) -> dict[str, frozenset[str]]:
    """The names, numbers, [[links]] and [sources] of a text, each with the words of the name or
    link; without small whole numbers.
    """
    without_marks = _SOURCE.sub(" ", _without_links(text))
    lines = [_LABEL.sub("", line, count=1) for line in without_marks.split("\n")]
    facts: dict[str, frozenset[str]] = {}
    # German capitalizes all nouns
    if detect_language(text) != "german":
        for name in _find_names(lines):
            facts[name] = _stems(name)
    for number in sorted(set(chain.from_iterable(map(_numbers, lines)))):
        if not may_count(number):
            facts[number] = frozenset()
    for target in sorted(_link_targets(text)):
        facts[f"[[{target}]]"] = _stems(target)
    for source in sorted(_source_numbers(text)):
        facts[f"[{source}]"] = frozenset()
    return facts


def _link_targets(text: str) -> set[str]:
    """The targets of the links in a text, without case and accents."""
    links = inline.wikilinks(text)
    return {fold(link.target) for link in links if link.target}


def _without_links(text: str) -> str:
    return inline.replace_wikilinks(text, lambda _: " ")


def _find_names(lines: Iterable[str]) -> list[str]:
    """The capitalized words in the middle of a sentence, without months and weekdays."""
    names: list[str] = []
    for line in lines:
        names += _NAME.findall(line)
    return [name for name in names if name not in _CALENDAR and name.lower() not in STOPWORDS]


def _source_numbers(text: str) -> set[str]:
    """The numbers in `[1, 3]`."""
    numbers: set[str] = set()
    for group in _SOURCE.findall(text):
        numbers.update(re.findall(r"\d+", group))
    return numbers


def _numbers(text: str) -> list[str]:
    """The numbers in a text; a date has several."""
    return list(chain.from_iterable(map(number_parts, _NUMBER.findall(text))))


def _known_numbers(text: str) -> set[str]:
    """The numbers in a text, those of its months, and small ones that are written as words."""
    numbers = set(_numbers(text))
    for word in _LATIN_WORD.findall(text.lower()):
        if word in _NUMBER_OF:
            numbers.add(_NUMBER_OF[word])
    return numbers


def source_text(turns: Iterable[Turn], earlier: str | None = None) -> str:
    """The text that a summary of these turns is compared with: their messages, as stored and as
    sent, with their dates and sources.
    """
    texts = [earlier or ""]
    for turn in turns:
        for message in turn.messages:
            texts += [message.timestamp[:10], message.content]
            texts += [reference.wikilink for reference in message.references]
        for sent in turn.prompt:
            if sent.kind in ("documents", "tool_results"):
                texts.append(sent.content)
    return "\n".join(texts)


def find_decisions(turns: Iterable[Turn]) -> tuple[str, ...]:
    """The user's sentences that state a decision with a number, a date, a name or a source."""
    decisions: dict[str, None] = {}
    for turn in turns:
        if turn.failure:
            continue
        for message in turn.messages:
            if message.role == "user" and message.id not in turn.fixed_ids:
                decisions |= dict.fromkeys(_stated_decisions(message.content))
    return tuple(decisions)


def _stated_decisions(text: str) -> list[str]:
    stated: list[str] = []
    for sentence in score_sentences(text):
        if sentence.is_question or not _DECISION.search(sentence.text):
            continue
        if any(_decision_facts(sentence.text)):
            stated.append(sentence.text)
    return stated


def _decision_facts(sentence: str) -> _DecisionFacts:
    numbers = frozenset(_numbers(_without_links(sentence)))
    words = frozenset[str]().union(*find_facts(sentence).values())
    return _DecisionFacts(numbers, words - _TITLES)


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, terms(text)))


def check_summary(summary: str, source: str, decisions: Sequence[str] = ()) -> SummaryCheck:
    """Compare a summary with `source`, the text that its facts must be in, and with the `decisions`
    that it must have.
    """
    known = {*find_facts(source), *_known_numbers(source)}
    known_words = _stems(source)
    invented: list[str] = []
    for fact, words in find_facts(summary).items():
        is_known = fact in known
        if words:
            is_known = words <= known_words
        if not is_known:
            invented.append(fact)
    own_numbers = _known_numbers(summary)
    own_words = _stems(summary)
    missing: list[str] = []
    for decision in decisions:
        numbers, words = _decision_facts(decision)
        if not (numbers <= own_numbers and words <= own_words):
            missing.append(decision)
    return SummaryCheck(tuple(invented), tuple(missing))


def correction_request(check: SummaryCheck) -> str:
    """The request to the model for a corrected summary, sent after the wrong one."""
    lines = [
        "Correct this summary and answer with all of it in "
        "<conversation-summary>…</conversation-summary>."
    ]
    if check.invented:
        lines.append(
            f"The conversation does not have: {', '.join(check.invented[:MOST_NAMED])}. "
            "Leave out or correct what says so."
        )
    lines += [
        f"It lacks this decision of the user: {decision}" for decision in check.missing[:MOST_NAMED]
    ]
    return "\n".join(lines)


def repair_summary(
    summary: str, source: str, decisions: Sequence[str], limit: int, counter: TokenCounter
) -> str:
    """The summary without the sentences that state invented facts, and with the missing decisions
    that fit into `limit` tokens.
    """
    invented = check_summary(summary, source).invented
    if invented:
        summary = _leave_out(summary, frozenset(invented))
    for decision in check_summary(summary, source, decisions).missing:
        longer = f"{summary}\n- user: {decision}".lstrip("\n")
        if counter.count(longer) <= limit:
            summary = longer
    return summary


def _leave_out(summary: str, invented: frozenset[str]) -> str:
    """The summary without the sentences that state invented facts, and without the lines that have
    no other sentences.
    """
    kept: list[str] = []
    for line in summary.split("\n"):
        stated = split_sentences(line)
        true = [sentence for sentence in stated if not _states_any(sentence, invented)]
        if len(true) == len(stated):
            kept.append(line)
        elif true:
            kept.append(" ".join(true))
    return "\n".join(kept)


def _states_any(sentence: str, facts: Collection[str]) -> bool:
    said = {*find_facts(sentence), *_HYPHENATED_WORD.findall(sentence)}
    return not said.isdisjoint(facts)
