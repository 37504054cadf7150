"""A summary of documents in their own words, without a model. Pure."""

import math
from collections import Counter
from collections.abc import Sequence

from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, find_quotes
from zkchat_cli.text import words
from zkchat_cli.text.case_folder import fold

# The factor for the worth of a word in a summary that has it already
REPEATED_FACTOR = 0.1
# A shorter passage counts as having so many words
FEWEST_WORDS = 8


def summarize_excerpts(excerpts: Sequence[QuoteSource], limit: int) -> list[RankedQuote]:
    """A summary in the notes' own words: the passages that cover most of the text, in its order.

    Greedy: a passage is worth the frequent words in it that no passage before it contains, and more
    at the beginning of a note or section.
    """
    candidates = _find_candidates(excerpts)
    worth = _worth_of_words(candidates)
    remaining = list(candidates)
    selected: list[RankedQuote] = []
    while remaining and len(selected) < limit:
        best = max(remaining, key=lambda quote: _gain(quote, worth))
        if not selected:
            best = next((quote for quote in candidates if quote.is_complete), best)
        selected.append(best)
        remaining = [quote for quote in remaining if not _repeats(quote, best)]
        for word in best.words:
            worth[word] *= REPEATED_FACTOR
    return sorted(selected, key=candidates.index)


def _repeats(quote: RankedQuote, selected: RankedQuote) -> bool:
    """Whether a quote has the same words as a selected one, or is an item of a list that was
    selected, or such a list.
    """
    text = fold(quote.text)
    said = fold(selected.text)
    if quote.excerpt.source != selected.excerpt.source:
        return text == said
    return text in said or said in text


def _find_candidates(excerpts: Sequence[QuoteSource]) -> list[RankedQuote]:
    """The sentences and list items of the excerpts, in their order."""
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    # Sentence by sentence, so that no two of them come as one
    quotes = find_quotes(excerpts, languages, max_group=0)
    return [quote for quote in quotes if quote.passage.kind in ("prose", "item")]


def _worth_of_words(quotes: Sequence[RankedQuote]) -> dict[str, float]:
    """The worth of each word by how many passages have it."""
    frequency: Counter[str] = Counter()
    for quote in quotes:
        frequency.update(quote.words)
    return {word: math.log(1 + count) for word, count in frequency.items()}


def _gain(quote: RankedQuote, worth: dict[str, float]) -> float:
    """What a passage adds to a summary."""
    factor = 2.0 if quote.passage.position == 0 else 1.0
    length: float = max(len(quote.words), FEWEST_WORDS) ** 0.5
    weight = quote.quality * factor / length
    return weight * math.fsum(worth[word] for word in quote.words)
