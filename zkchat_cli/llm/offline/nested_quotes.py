"""Quotations of what leads in to something with what is below it: an item with those nested in it,
the title of a callout with its text. Pure.

"The server was down" says little without "cause: the disk was full" below it.
"""

from collections.abc import Sequence

from zkchat_cli.llm.offline.quoted_lists import CUT, ITEM_SEPARATOR, LONGEST_LIST
from zkchat_cli.llm.offline.quotes import RankedQuote
from zkchat_cli.llm.offline.rendered_passages import quotable_chunk
from zkchat_cli.llm.offline.selection import fits_screen


def with_nested(quotes: Sequence[RankedQuote], ranked: Sequence[RankedQuote]) -> list[RankedQuote]:
    """The quotes; what is nested in one of them stands behind it, as far as that fits a screen with
    the quotes above. A quote that another one then contains is left out.
    """
    found: list[RankedQuote] = []
    for position, quote in enumerate(quotes):
        if any(_contains(other, quote) for other in found):
            continue
        longer = _with_its_nested(quote, ranked)
        if not fits_screen([*found, longer]):
            longer = quote
        rest = [each for each in quotes[position + 1 :] if not _contains(longer, each)]
        if not fits_screen([*found, longer, *rest[:1]]):
            longer = quote
        found = [each for each in found if not _contains(longer, each)]
        if fits_screen([*found, longer]):
            found.append(longer)
    return found


def _contains(longer: RankedQuote, quote: RankedQuote) -> bool:
    return longer.excerpt.path == quote.excerpt.path and quote.text in longer.text


def _with_its_nested(quote: RankedQuote, ranked: Sequence[RankedQuote]) -> RankedQuote:
    """The quote with the passages below it, in their order, which can be quoted together; the quote
    itself without any.
    """
    passage = quote.passage
    names = (*passage.parents, passage.text)
    nested = [
        each
        for each in ranked
        if each.excerpt == quote.excerpt
        and each.order > quote.order
        and each.passage.kind in ("item", "prose")
        and not each.passage.is_below_heading
        and each.passage.parents[: len(names)] == names
    ]
    nested.sort(key=lambda each: each.order)
    chunk = quotable_chunk(quote.excerpt.text)
    text = quote.text
    for position, each in enumerate(nested):
        if each.text in text:
            # An item of a list that its lead-in has already
            continue
        longer = f"{text}{ITEM_SEPARATOR}{each.text}"
        location = chunk.locate(longer)
        is_verified = location is not None and location.verdict == "verified"
        if len(longer) > LONGEST_LIST or not is_verified:
            return quote._replace(text=f"{text}{CUT}" if position else text)
        text = longer
    return quote._replace(text=text)
