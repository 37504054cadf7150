"""Decisions and numbers with their names, and whether a text states them.

A text states them in a sentence of its own: the number of one sentence and the words of another say
nothing together.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.citations.support import is_negated
from zkchat_cli.context.turns import Turn
from zkchat_cli.summarization.extractive import speaker_messages
from zkchat_cli.summarization.facts import find_facts, stems, without_marks
from zkchat_cli.summarization.stated_numbers import find_numbers, known_numbers
from zkchat_cli.text.decisions import CHANGE, DECISION
from zkchat_cli.text.numbers import DIGITS, may_count
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import split_sentences
from zkchat_cli.text.words import STOPWORDS, stem, terms

# Statements that stay compared: each compaction compares those that it carries with all new ones
CACHED_STATEMENTS = 1024
# Share of a statement's words that a sentence with its numbers and names must have, and one with
# the words of a statement that has neither
SHARE_BESIDE_FACTS = 0.5
SHARE_OF_WORDS = 0.7
# Fewest words of a decision without numbers and names: "We agreed." decides nothing
_LEAST_WORDS = 2
_TITLES = frozenset("mr mrs ms dr prof".split())
# Words that do not say what was decided, or what a number belongs to
_EMPTY = _TITLES | frozenset(
    map(
        stem,
        """
        user decided decide decision agreed settled chose chosen opted go going will shall let
        let's now instead change changed actually correct correction corrected rather raise raised
        lower lowered increase increased reduce reduced make buy pay cost costs use take order may
        should want beschlossen entschieden entscheidung jetzt nun stattdessen geändert korrektur
        """.split(),
    )
)
_UNIT = lazy_pattern(rf"{DIGITS}\s?([^\W\d_]+)")
_BULLET = lazy_pattern(
    r"^[\s>]*(?:[-*+•]\s+|\d{1,2}[.)]\s+)?"
    r"(?:(?:\d{1,2} \w{3,9}(?: \d{4})?, )[^:\n]{1,60}: |(?:user|assistant): )?"
)
"""What is in front of a line's statement: a list mark, and the date and the speaker of an extract.
"""
_POINTING = frozenset("it its they their them this that these those he she er sie es".split())


class StatementFacts(NamedTuple):
    """What a statement is about: its numbers, the words of its names and links, all words that mean
    something, and whether it is negated.
    """

    numbers: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    negated: bool

    @property
    def has_facts(self) -> bool:
        """Whether it has a number or a name."""
        return bool(self.numbers or self.names)


@lru_cache(maxsize=CACHED_STATEMENTS)
def statement_facts(text: str) -> StatementFacts:
    """The facts of a statement."""
    plain = without_marks(text)
    words: set[str] = set()
    for term in terms(plain):
        is_word = len(term) > 1 or not term.isascii()
        if is_word and term not in STOPWORDS and not term.isdigit():
            words.add(stem(term))
    names = frozenset[str]().union(*find_facts(text).values())
    words -= _EMPTY
    # "378 euros": other things have euros, too
    units = stems(" ".join(_UNIT.findall(plain)))
    return StatementFacts(
        frozenset(find_numbers(plain)),
        names - _TITLES,
        frozenset(words - units or words),
        is_negated(text),
    )


class StatedText:
    """A text that may state statements."""

    def __init__(self, text: str) -> None:
        self._sentences = tuple(_sentence_facts(text))

    def states(self, wanted: StatementFacts, replaced: Sequence[str] = ()) -> bool:
        """Whether a sentence has these facts, and the numbers that were `replaced`."""
        numbers = wanted.numbers.union(*map(find_numbers, replaced))
        share = SHARE_BESIDE_FACTS if wanted.has_facts else SHARE_OF_WORDS
        least = math.ceil(share * len(wanted.words))
        for sentence in self._sentences:
            if not (numbers <= sentence.numbers and wanted.names <= sentence.words):
                continue
            if len(wanted.words & sentence.words) >= least and (sentence.negated == wanted.negated):
                return True
        return False


def _sentence_facts(text: str) -> Iterator[StatementFacts]:
    """The facts of each sentence. One that begins with "it" has those of the sentence before, and
    the items below a label have its words.
    """
    label = ""
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped:
            label = ""
        before = ""
        for sentence in split_sentences(line):
            first = next(iter(terms(sentence)), "")
            whole = f"{before} {sentence}" if first in _POINTING else sentence
            yield _stated_facts(whole, label)
            before = whole
        if stripped.endswith((":", "：")):
            label = stripped


@lru_cache(maxsize=CACHED_STATEMENTS)
def _stated_facts(sentence: str, label: str) -> StatementFacts:
    """What a sentence below a label states, with all its words."""
    return StatementFacts(
        frozenset(known_numbers(without_marks(sentence))),
        frozenset(),
        stems(f"{label} {sentence}"),
        is_negated(sentence),
    )


def user_statements(turns: Iterable[Turn]) -> Iterator[str]:
    """The sentences of these turns that say what the user decided or changed. An imported dialogue
    with names of speakers has no user.
    """
    for message in speaker_messages(turn for turn in turns if not turn.failure):
        if message.is_from_user:
            for sentence in message.sentences:
                is_statement = not (sentence.is_question or sentence.is_lead_in)
                if is_statement and (is_decision(sentence.text) or is_change(sentence.text)):
                    yield sentence.text


def is_decision(text: str) -> bool:
    """Whether a sentence decides something: about a number or a name, or in words that say what."""
    if not DECISION.search(text):
        return False
    facts = statement_facts(text)
    return facts.has_facts or len(facts.words) >= _LEAST_WORDS


def is_change(text: str) -> bool:
    """Whether a sentence says that a number is different now."""
    has_number = any(map(str.isdigit, text))
    return has_number and bool(CHANGE.search(text) or DECISION.search(text))


def find_decisions(turns: Iterable[Turn]) -> tuple[str, ...]:
    """The user's sentences that state a decision, word for word."""
    return tuple(dict.fromkeys(text for text in user_statements(turns) if is_decision(text)))


def stated_in_summary(summary: str) -> tuple[str, ...]:
    """The sentences of a summary that state a decision, or a number with its name."""
    found: dict[str, None] = {}
    for line in summary.split("\n"):
        for sentence in split_sentences(_BULLET.sub("", line, count=1)):
            text = sentence.strip(" /")
            if not text.endswith(("?", "？", ":", "：")) and (
                is_decision(text) or _names_number(text)
            ):
                found[text] = None
    return tuple(found)


def _names_number(text: str) -> bool:
    """Whether a sentence has a number that counts nothing, and words beside it."""
    facts = statement_facts(text)
    return bool(facts.words) and not all(map(may_count, facts.numbers))
