"""Selects the ranked quotes for an answer: quotes that differ and fit a screen, or sections if no
quote is sure enough. Pure.
"""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.quotes import RankedQuote
from zkchat_cli.llm.offline.ranking import RankedPassages
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.sentences import ends_as_sentence

MAX_QUOTES = 5
MAX_CHARACTERS = 1_300
SOURCE_CHARACTERS = 160
"""Characters of the quotes in an answer and of each row in the list of their sources: they fit a
screen of 24 rows. A source often takes two rows.
"""
# Most notes that are cited for the same sentence
MAX_SOURCES = 2
# A further quote must be worth at least this share of the best one
MIN_SHARE = 0.6
# An already selected quote may contain at most this share of another one's words
MAX_OVERLAP = 0.6


class SectionOfNote(NamedTuple):
    """A section of one of the notes found: the rank of its excerpt, and its names."""

    rank: int
    names: tuple[str, ...]


def select_quotes(
    quotes: Sequence[RankedQuote], limit: int = MAX_QUOTES, first: Sequence[RankedQuote] = ()
) -> list[RankedQuote]:
    """The best quotes that differ and fit a screen, best first, after the `first`. The same words
    in several notes are one quote with several sources.
    """
    selected = list(first)
    for quote in quotes:
        if quote.value < MIN_SHARE * quotes[0].value:
            break
        same = _find_same(quote, selected)
        if same is not None:
            sources = dict.fromkeys((*selected[same].sources, *quote.sources))
            selected[same] = selected[same]._replace(sources=tuple(sources)[:MAX_SOURCES])
        elif not selected or (len(selected) < limit and _adds_to(selected, quote)):
            selected.append(quote)
    return selected


def _find_same(quote: RankedQuote, selected: Sequence[RankedQuote]) -> int | None:
    """The index of the selected quote with the same words."""
    text = fold(quote.text)
    for index, other in enumerate(selected):
        if fold(other.text) == text:
            return index
    return None


def _adds_to(selected: Sequence[RankedQuote], quote: RankedQuote) -> bool:
    """Whether a quote fits a screen with the selected ones, and differs from each of them."""
    if not _fit([*selected, quote]):
        return False
    return not any(_overlap(quote, other) for other in selected)


def _overlap(one: RankedQuote, other: RankedQuote) -> bool:
    shorter = min(len(one.words), len(other.words))
    return len(one.words & other.words) > MAX_OVERLAP * shorter


def select_sections(ranked: RankedPassages) -> list[list[RankedQuote]]:
    """The best quotes by their sections, the likeliest first, which also has its opening if that is
    a sentence; each section in the order of the note.
    """
    best = [quote for quote in ranked.all if quote.passage.kind != "code"] or ranked.all
    if not best:
        return []
    selected = select_quotes(best, first=[_opening(best)])
    sections: dict[SectionOfNote, list[RankedQuote]] = {}
    for quote in add_code(selected, ranked.all):
        sections.setdefault(_section_of(quote), []).append(quote)
    return [sorted(quotes, key=lambda quote: quote.order) for quotes in sections.values()]


def _section_of(quote: RankedQuote) -> SectionOfNote:
    return SectionOfNote(quote.order.rank, quote.section)


def _opening(best: Sequence[RankedQuote]) -> RankedQuote:
    """The first passage of the best quote's section if that is a sentence, else the best quote."""
    section = _section_of(best[0])
    opening = min(
        (quote for quote in best if _section_of(quote) == section), key=lambda quote: quote.order
    )
    is_prose = opening.passage.kind == "prose" and not opening.is_question
    if is_prose and ends_as_sentence(opening.text):
        return opening
    return best[0]


def add_code(quotes: Sequence[RankedQuote], ranked: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The quotes; each that is the label of code is followed by that code, if all of it fits a
    screen with them.
    """
    found = list(quotes)
    for label in quotes:
        added = [quote for quote in ranked if _is_code_of(quote, label) and quote not in found]
        added.sort(key=lambda quote: quote.order)
        if _fit([*found, *added]):
            after = found.index(label) + 1
            found[after:after] = added
    return found


def _is_code_of(quote: RankedQuote, label: RankedQuote) -> bool:
    passage = quote.passage
    is_labelled = passage.kind == "code" and passage.label == label.passage.text
    return is_labelled and quote.excerpt == label.excerpt


def _fit(quotes: Sequence[RankedQuote]) -> bool:
    """Whether quotes and the list of their sources fit a screen."""
    sources = {source for quote in quotes for source in quote.sources}
    characters = sum(len(quote.text) for quote in quotes)
    return characters + SOURCE_CHARACTERS * len(sources) <= MAX_CHARACTERS
