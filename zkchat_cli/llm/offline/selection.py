"""Selects the ranked quotes for an answer: quotes that differ, and fit a screen. Pure."""

import unicodedata
from collections.abc import Sequence

from zkchat_cli.llm.offline.quotes import RankedQuote
from zkchat_cli.text.case_folder import fold

MAX_QUOTES = 6
MAX_ROWS = 15
"""Rows of a screen of 24 for the quotes of an answer and their first `SOURCES_ON_SCREEN` sources.
The others are the question, what the search found, the beginning of the answer and empty ones. With
12 rows for the quotes and all sources, 29 and 16 answers of two sets of questions were quoted
instead of 34 and 20.
"""
SOURCES_ON_SCREEN = 2
# The same for the quotes and all their sources: `ask` prints no question
MAX_ROWS_WITH_SOURCES = 18
# Letters of title, heading and path that fit one row in the list of sources; others take two
LETTERS_OF_SOURCE = 55
# Columns of 80 for a quote: its mark and its citation take the others
COLUMNS = 74
# Most notes that are cited for the same sentence
MAX_SOURCES = 2
# A further quote must be worth at least this share of the best one
MIN_SHARE = 0.6
# An already selected quote may contain at most this share of another one's words
MAX_OVERLAP = 0.6


def select_quotes(quotes: Sequence[RankedQuote], limit: int = MAX_QUOTES) -> list[RankedQuote]:
    """The best quotes that differ and fit a screen: the one that is worth most as the first, then
    the others, best first. The same words in several notes are one quote with several sources.
    """
    selected: list[RankedQuote] = []
    for quote in quotes:
        if quote.value < MIN_SHARE * quotes[0].value:
            break
        same = _find_same(quote, selected)
        if same is not None and _are_block_and_note(quote, selected[same]):
            if not quote.excerpt.shown_in:
                selected[same] = quote
        elif same is not None:
            selected[same] = _with_sources_of(quote, selected[same])
        elif not selected or (len(selected) < limit and _adds_to(selected, quote)):
            selected.append(quote)
    return _best_first(selected)


def _with_sources_of(other: RankedQuote, quote: RankedQuote) -> RankedQuote:
    """A quote with the sources of another one with the same words, as far as they are cited."""
    if len(quote.sources) >= MAX_SOURCES:
        return quote
    sources = tuple(dict.fromkeys((*quote.sources, *other.sources)))[:MAX_SOURCES]
    titles = (*quote.other_titles, other.excerpt.title)
    return quote._replace(sources=sources, other_titles=titles)


def _best_first(selected: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The quotes, with the one first that is worth most there. Code stays behind what says what it
    does.
    """
    others = list(selected)
    texts = [quote for quote in selected[1:] if quote.passage.kind != "code"]
    first = max((*selected[:1], *texts), key=lambda quote: quote.value_as_first, default=None)
    if first is None:
        return []
    others.remove(first)
    return [first, *others]


def _find_same(quote: RankedQuote, selected: Sequence[RankedQuote]) -> int | None:
    """The index of the selected quote with the same words."""
    text = fold(quote.text)
    for index, other in enumerate(selected):
        if fold(other.text) == text:
            return index
    return None


def _are_block_and_note(one: RankedQuote, other: RankedQuote) -> bool:
    """Whether one of two quotes with the same words is from a block, and the other from the part of
    its note that was found, too.
    """
    is_same_note = one.excerpt.path == other.excerpt.path
    return is_same_note and bool(one.excerpt.shown_in or other.excerpt.shown_in)


def _adds_to(selected: Sequence[RankedQuote], quote: RankedQuote) -> bool:
    """Whether a quote fits a screen with the selected ones, and differs from each of them."""
    if not fits_screen([*selected, quote]):
        return False
    return not any(_overlap(quote, other) for other in selected)


def _overlap(one: RankedQuote, other: RankedQuote) -> bool:
    shorter = min(len(one.words), len(other.words))
    return len(one.words & other.words) > MAX_OVERLAP * shorter


def nearest_quotes(ranked: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The best quotes of all, whether they answer or not. Code says too little for that, unless
    there is nothing else.
    """
    texts = [quote for quote in ranked if quote.passage.kind != "code"] or ranked
    return add_code(select_quotes(texts), ranked) if texts else []


def add_code(quotes: Sequence[RankedQuote], ranked: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The quotes; each that is the label of code is followed by that code, if all of it fits a
    screen with them.
    """
    found = list(quotes)
    for label in quotes:
        added = [quote for quote in ranked if _is_code_of(quote, label) and quote not in found]
        added.sort(key=lambda quote: quote.order)
        if fits_screen([*found, *added]):
            after = found.index(label) + 1
            found[after:after] = added
    return found


def _is_code_of(quote: RankedQuote, label: RankedQuote) -> bool:
    passage = quote.passage
    is_labelled = passage.kind == "code" and passage.label == label.passage.text
    return is_labelled and quote.excerpt == label.excerpt


def fits_screen(quotes: Sequence[RankedQuote]) -> bool:
    """Whether quotes and the first of their sources fit a screen with the question, and with all
    sources a screen without it.
    """
    rows_of_sources: dict[int, int] = {}
    for quote in quotes:
        rows_of_sources |= dict.fromkeys(quote.sources, _rows_of_source(quote))
    rows = list(rows_of_sources.values())
    rows_of_quotes = sum(map(_rows_of_quote, quotes))
    if rows_of_quotes + sum(rows[:SOURCES_ON_SCREEN]) > MAX_ROWS:
        return False
    return rows_of_quotes + sum(rows) <= MAX_ROWS_WITH_SOURCES


def _rows_of_source(quote: RankedQuote) -> int:
    """How many rows the source of a quote takes in the list below the answer."""
    source = quote.excerpt
    letters = len(source.title) + len(source.heading or "") + len(source.path)
    return 1 if letters <= LETTERS_OF_SOURCE else 2


def _rows_of_quote(quote: RankedQuote) -> int:
    """How many rows a quote takes on a screen, with what is shown in front of it; a Chinese
    character is two columns wide.
    """
    before = quote.header or quote.owner
    text = f"{before}: {quote.text}" if before else quote.text
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return -(-(len(text) + wide) // COLUMNS)
