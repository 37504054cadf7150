"""The steps that notes have for a task: the items of a numbered list, or those nested in an item
that names the task. Pure.
"""

import re
from collections.abc import Iterable, Sequence

from zkchat_cli.llm.offline.quotes import (
    QuoteSource,
    RankedQuote,
    comparable_words,
    find_quotes,
)
from zkchat_cli.llm.offline.ranking import RankedPassages
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern

FEWEST_STEPS = 2
# Letters by which a step and its line in the note are compared
COMPARED = 20
# Two forms of a verb begin with as many letters, and end with as many others at most
SHORTEST_STEM = 4
LONGEST_ENDING = 3
_ITEM = lazy_pattern(r"^([ \t]*)[-*+] +(.*)$", re.MULTILINE)
# In an outline, a number may stand behind the mark of an item
_NUMBERED = lazy_pattern(r"^\s*(?:[-*+]\s+)?\d{1,2}[.)]\s+(.*)$", re.MULTILINE)
_LIGHT_VERBS = frozenset(
    "make do cook bake prepare create machen mache koche kochen backen backe zubereiten bereite"
    " hacer hago preparar preparo cocinar cocino faire fais preparer prepare cuisiner fazer faco"
    " cozinhar".split()
)
"""What is done with the thing that a note is named after: "make bread" is in the note Bread."""


def note_named(subject: str, excerpts: Sequence[QuoteSource]) -> str | None:
    """The best note among those with the shortest title that has all words of the subject."""
    subject = without_light_verbs(subject)
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    wanted = comparable_words(subject, languages)
    titles = {each.path: comparable_words(each.title, languages) for each in excerpts}
    named = [path for path, title in titles.items() if wanted <= title]
    return min(named, key=lambda path: len(titles[path]), default=None)


def may_have_steps(excerpt: QuoteSource) -> bool:
    """Whether a passage may have steps: it has a numbered list."""
    return len(_NUMBERED.findall(excerpt.text)) >= FEWEST_STEPS


def without_light_verbs(task: str) -> str:
    """A task without "make" and its like, unless nothing is left."""
    named = [word for word in task.split() if bare_text(word) not in _LIGHT_VERBS]
    return " ".join(named) or task


def are_of_other_section(
    steps: Sequence[RankedQuote],
    task: str,
    ranked: RankedPassages,
    languages: tuple[str, ...],
) -> bool:
    """Whether their note has a section that is named in the task, and they are in another: steps
    for Windows answer no question about Linux.
    """
    if not steps:
        return False
    wanted = comparable_words(_without_common_words(task, languages), languages)
    lacking = wanted - steps[0].above
    for quote in ranked.all:
        if quote.excerpt.path == steps[0].excerpt.path and quote.passage.headings:
            heading = comparable_words(quote.passage.headings[-1], languages)
            if heading & lacking and heading <= wanted:
                return True
    return False


def steps_of_named(
    subject: str,
    ranked: RankedPassages,
    excerpts: Sequence[QuoteSource],
    languages: tuple[str, ...],
) -> list[RankedQuote]:
    """The steps of the section or the note that is named after a subject, from its best passage
    with steps; none without such a note.
    """
    wanted = comparable_words(_without_common_words(subject, languages), languages)
    path = note_named(subject, excerpts)
    is_numbered = any(excerpt.path == path and may_have_steps(excerpt) for excerpt in excerpts)
    for excerpt in () if is_numbered else excerpts:
        nested = _items_below(wanted, excerpt, languages)
        if len(nested) >= FEWEST_STEPS:
            return nested
    for quote in ranked.all:
        if not may_have_steps(quote.excerpt):
            continue
        items = _all_numbered_items(quote.excerpt, languages)
        below = [item for item in items if _is_named(wanted, item.above)]
        of_note = items if quote.excerpt.path == path else []
        for steps in (below, of_note):
            first = [item for item in steps if item.passage.headings == steps[0].passage.headings]
            if len(first) >= FEWEST_STEPS:
                return first
    return []


def _without_common_words(task: str, languages: Iterable[str]) -> str:
    """A task without articles and pronouns of the notes' languages, which are in no heading. "té"
    is tea, and none.
    """
    common = {word for language in languages for word in words.stopwords(language)}
    return " ".join(word for word in task.split() if word.lower() not in common)


def _is_named(wanted: frozenset[str], names: frozenset[str]) -> bool:
    """Whether each wanted word has a form among the names: verbs have more of them than stems
    tell ("füttert", "füttern").
    """
    return bool(wanted) and all(any(_is_form(word, name) for name in names) for word in wanted)


def _is_form(word: str, other: str) -> bool:
    """Whether two words begin alike and hardly differ at their ends."""
    longest = max(len(word), len(other))
    begin = max(SHORTEST_STEM, longest - LONGEST_ENDING)
    return word == other or (len(word) >= begin and word[:begin] == other[:begin])


def numbered_items(best: RankedQuote, languages: tuple[str, ...]) -> list[RankedQuote]:
    """The items of the numbered list in the section of a quote."""
    items = _all_numbered_items(best.excerpt, languages)
    return [item for item in items if item.passage.headings == best.passage.headings]


def _items_below(
    wanted: frozenset[str], excerpt: QuoteSource, languages: tuple[str, ...]
) -> list[RankedQuote]:
    """The items of an outline that are nested in one that names the task, as outliners write
    steps.
    """
    items = _ITEM.findall(excerpt.text)
    nested: list[str] = []
    depth = -1
    for indentation, text in items:
        if depth >= 0 and len(indentation) > depth:
            nested.append(letters_of(to_plain_text(text)))
        elif nested:
            break
        elif _is_named(wanted, comparable_words(text, languages)):
            depth = len(indentation)
    quotes = find_quotes([excerpt], languages, max_group=0) if nested else []
    return [quote for quote in quotes if letters_of(quote.text) in nested]


def _all_numbered_items(excerpt: QuoteSource, languages: tuple[str, ...]) -> list[RankedQuote]:
    written = _NUMBERED.findall(excerpt.text)
    numbered = {letters_of(each) for item in written for each in (item, to_plain_text(item))}
    items: list[RankedQuote] = []
    for quote in find_quotes([excerpt], languages, max_group=0):
        begin = letters_of(quote.text)[:COMPARED]
        if quote.passage.kind != "item" or quote.passage.is_below_heading or not begin:
            continue
        items += [quote] if any(item.startswith(begin) for item in numbered) else []
    return items


def letters_of(text: str) -> str:
    """A text without marks, so that an item and its line in the note compare equal."""
    return re.sub(r"\W+", "", bare_text(text))
