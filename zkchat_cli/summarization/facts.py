"""The facts of a text that another text can be compared with: names, numbers, links and sources."""

import re
from collections.abc import Iterable
from itertools import chain

from zkchat_cli.markdown import inline
from zkchat_cli.summarization.stated_numbers import find_numbers
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.numbers import may_count
from zkchat_cli.text.words import STOPWORDS, detect_language, stem, terms

_SOURCE = re.compile(r"\[(\d{1,6}(?:\s?[,;]\s?\d{1,6}){0,20})\]")
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
_CALENDAR = frozenset((*MONTHS, *(month[:3] for month in MONTHS), *WEEKDAYS))


def find_facts(text: str) -> dict[str, frozenset[str]]:
    """The names, numbers, [[links]] and [sources] of a text, each with the words of the name or
    link; without small whole numbers.
    """
    plain = without_marks(text)
    lines = [_LABEL.sub("", line, count=1) for line in plain.split("\n")]
    facts: dict[str, frozenset[str]] = {}
    # German capitalizes all nouns
    if detect_language(text) != "german":
        for name in _find_names(lines):
            facts[name] = stems(name)
    for number in sorted(set(chain.from_iterable(map(find_numbers, lines)))):
        if not may_count(number):
            facts[number] = frozenset()
    for target in sorted(_link_targets(text)):
        facts[f"[[{target}]]"] = stems(target)
    for source in sorted(_source_numbers(text)):
        facts[f"[{source}]"] = frozenset()
    return facts


def _link_targets(text: str) -> set[str]:
    """The targets of the links in a text, without case and accents."""
    links = inline.wikilinks(text)
    return {fold(link.target) for link in links if link.target}


def without_marks(text: str) -> str:
    """The text without its [[links]] and [sources]."""
    return _SOURCE.sub(" ", inline.replace_wikilinks(text, lambda _: " "))


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


def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset(map(stem, terms(text)))
