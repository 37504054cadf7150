"""Answers to requests for a comparison: what the notes say about either side, and which side they
do not know.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_amounts import has_price
from zkchat_cli.llm.offline.asked_turn import SEARCH_TOOL, AskedTurn
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.passage_languages import are_english, is_foreign, languages_of
from zkchat_cli.llm.offline.question import analyze_text
from zkchat_cli.llm.offline.quotes import (
    QuoteSource,
    RankedQuote,
    comparable_words,
    find_quotes,
)
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.llm.offline.request_handler import RequestHandler, plain_name
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.llm.offline.selection import select_quotes
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import PHRASES, language_for
from zkchat_cli.text.request_phrases import RequestPhrases, request_phrases
from zkchat_cli.text.word_lists import ENGLISH

# Quotes about either side, and about both
MOST_OF_A_SIDE = 2
MOST_OF_BOTH = 2
# Rows of a table with a column for either side
MOST_ROWS = 8
# Words of a side between commas, as in "tea, coffee and cocoa"
LONGEST_OF_SEVERAL = 3
# A quote with so much similarity to the aspect is on it, although it has other words: "runs for
# fifteen hours" is near to "battery life" by .37, and what is on something else by .24 at most. The
# second model, which compares other languages, has lower cosines
LEAST_NEAR = 0.28
LEAST_NEAR_BY_SECOND_MODEL = 0.2


class ComparedSide(NamedTuple):
    """One side of a comparison, and what the notes say about it. Without quotes, it may still be
    known: then nothing is on the aspect that is compared.
    """

    name: str
    quotes: Sequence[RankedQuote]
    is_known: bool = False


def next_comparison_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """A search for both sides together, and one for either; with an aspect, for either with it,
    too.
    """
    # Named documents are read, and summarized one below the other
    if turn.documents or turn.calls_of(SEARCH_TOOL):
        return []
    queries = [f"{request.left} {request.right} {request.aspect}".strip()]
    sides = sides_of(request)
    if request.aspect:
        queries += [f"{side} {request.aspect}" for side in sides]
    queries += sides
    return [WantedCall(SEARCH_TOOL, {"query": query, "limit": EXCERPTS}) for query in queries]


def sides_of(request: NoteRequest) -> list[str]:
    """The sides of a comparison: "tea, coffee and cocoa" has three."""
    several = [side.strip() for side in request.left.split(",")]
    if "," in request.right or any(len(side.split()) > LONGEST_OF_SEVERAL for side in several):
        several = [request.left]
    return [*filter(None, several), request.right]


def answer_with_comparison(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """What is about both sides first, then either side; None if neither is known."""
    if turn.documents:
        return None
    found = _found_excerpts(turn)
    if not request.aspect:
        return _compare_sides(request, turn, found, similarities)
    if _is_part_of_name(request, found):
        return _compare_sides(_with_whole_names(request), turn, found, similarities)
    return _compare_aspect(request, turn, found, similarities)


def _is_part_of_name(request: NoteRequest, found: Sequence[QuoteSource]) -> bool:
    """Whether the words of the aspect are in the name of a note, as in "Lord of the Rings"."""
    names = {bare_text(each.title) for each in found}
    whole = {bare_text(request.whole_left), bare_text(request.whole_right)}
    whole -= {bare_text(request.left), bare_text(request.right)}
    return not whole.isdisjoint(names)


def _with_whole_names(request: NoteRequest) -> NoteRequest:
    return request._replace(left=request.whole_left, right=request.whole_right, aspect="")


def _compare_aspect(
    request: NoteRequest,
    turn: AskedTurn,
    found: Sequence[QuoteSource],
    similarities: Similarities | None,
) -> OfflineAnswer | None:
    """What the notes say about either side on the aspect; where they say nothing on it about both,
    that, and what they say about them at all. None if neither side is known.
    """
    sides = [
        _side_on_aspect(name, request.aspect, found, similarities) for name in sides_of(request)
    ]
    known = [side for side in sides if side.is_known]
    if len(known) < len(sides) and is_foreign(turn.question, found):
        return _compare_nearest(request, turn, found, similarities)
    if not known:
        return None
    if any(side.quotes for side in sides):
        is_whole = all(side.quotes for side in sides)
        text = _format_sides(sides, (), turn, request.aspect)
        return OfflineAnswer(text, "answer" if is_whole else "most_likely")
    if request.whole_left:
        named = _compare_sides(_with_whole_names(request), turn, found, similarities)
        if named is not None and named.level == "answer":
            return named
    return _compare_without_aspect(request, sides, turn, found, similarities)


def _compare_without_aspect(
    request: NoteRequest,
    sides: Sequence[ComparedSide],
    turn: AskedTurn,
    found: Sequence[QuoteSource],
    similarities: Similarities | None,
) -> OfflineAnswer | None:
    """That nothing is on the aspect, and what the notes say about both sides, if they do."""
    if not all(side.is_known for side in sides):
        return OfflineAnswer(_format_sides(sides, (), turn, request.aspect), "most_likely")
    compared = _compare_sides(request, turn, found, similarities)
    if compared is None:
        return None
    aspect, left, right = map(plain_name, (request.aspect, request.left, request.right))
    said = request_phrases(turn.asked, turn.texts).unknown_to_both
    said = said.format(aspect=aspect, left=left, right=right)
    return OfflineAnswer(f"{said}\n\n{compared.text}", "most_likely")


def _compare_sides(
    request: NoteRequest,
    turn: AskedTurn,
    found: Sequence[QuoteSource],
    similarities: Similarities | None,
) -> OfflineAnswer | None:
    """What is about both sides first, then either side; None if neither is known."""
    names = sides_of(request)
    rows = _rows_with_columns(names, found)
    if rows:
        phrases = request_phrases(turn.asked, turn.texts)
        return OfflineAnswer(f"{phrases.both}\n\n{_as_list(rows)}", "answer")
    # What has the words of three sides says little of any of them
    both = _quotes_with_both(request, found, similarities) if len(names) == 2 else []
    sides = [_side(name, found, both, similarities) for name in names]
    known = [side for side in sides if side.quotes]
    if request.may_be_lookup and len(known) < len(sides):
        return None
    if not both and len(known) < len(sides) and is_foreign(turn.question, found):
        return _compare_nearest(request, turn, found, similarities)
    if not known and not both:
        return None
    text = _format_sides(sides, both, turn)
    is_whole = bool(both) or len(known) == len(sides)
    return OfflineAnswer(text, "answer" if is_whole else "most_likely")


def _format_sides(
    sides: Sequence[ComparedSide],
    both: Sequence[RankedQuote],
    turn: AskedTurn,
    aspect: str = "",
) -> str:
    """What is about both sides, then either side; one that is not known, or not on the aspect, is
    named, unless something is about both.
    """
    phrases = request_phrases(turn.asked, turn.texts)
    parts = [f"{phrases.both}\n\n{_as_list(both)}"] if both else []
    for side in sides:
        label = phrases.side.format(name=plain_name(side.name))
        if side.quotes:
            parts.append(f"{label}\n\n{_as_list(side.quotes)}")
        elif side.is_known:
            names = {"aspect": plain_name(aspect), "name": plain_name(side.name)}
            parts.append(f"{label} {phrases.unknown_aspect.format(**names)}\n")
        elif not both:
            parts.append(f"{label} {_why_missing(turn, phrases)}\n")
    return "\n".join(parts)


def _compare_nearest(
    request: NoteRequest,
    turn: AskedTurn,
    found: Sequence[QuoteSource],
    similarities: Similarities | None,
) -> OfflineAnswer | None:
    """What is nearest in meaning to either side, in notes that have other words for it; None if
    there is nothing to quote.
    """
    parts: list[str] = []
    phrases = request_phrases(turn.asked, turn.texts)
    for name in sides_of(request):
        subject = f"{name} {request.aspect}".strip()
        ranked = _ranked(subject, found, similarities)
        complete = [quote for quote in ranked.all if quote.is_complete]
        if complete:
            quotes = select_quotes(complete, MOST_OF_A_SIDE)
            label = phrases.side.format(name=plain_name(name))
            parts.append(f"{label}\n\n{_as_list(quotes)}")
    if len(parts) < 2:
        return None
    not_sure = PHRASES[language_for(turn.asked, turn.texts)].not_sure
    return OfflineAnswer(f"{not_sure}\n\n" + "\n".join(parts), "most_likely")


def _found_excerpts(turn: AskedTurn) -> list[QuoteSource]:
    """The excerpts of all searches, each once."""
    excerpts = [excerpt for call in turn.calls_of(SEARCH_TOOL) for excerpt in call.excerpts]
    return list({excerpt.source: excerpt for excerpt in excerpts}.values())


def _why_missing(turn: AskedTurn, phrases: RequestPhrases) -> str:
    """Why nothing is said about a side."""
    lacks_room = any(call.lacks_room for call in turn.calls_of(SEARCH_TOOL))
    return phrases.side_without_room if lacks_room else phrases.unknown_side


def _side(
    name: str,
    excerpts: Sequence[QuoteSource],
    shown: Sequence[RankedQuote],
    similarities: Similarities | None,
) -> ComparedSide:
    """The best quotes about one side that are not shown yet."""
    texts = {quote.text for quote in shown}
    quotes = [each for each in _quotes_with(name, excerpts, similarities) if each.text not in texts]
    return ComparedSide(name, quotes[:MOST_OF_A_SIDE])


def _side_on_aspect(
    name: str, aspect: str, excerpts: Sequence[QuoteSource], similarities: Similarities | None
) -> ComparedSide:
    """The best quotes about one side that are on the aspect."""
    ranked = _ranked(f"{name} {aspect}", excerpts, similarities)
    about = _about_side(name, ranked.all, excerpts)
    if not about:
        return ComparedSide(name, (), bool(_quotes_with(name, excerpts, similarities)))
    fitting = _on_aspect(aspect, about, similarities)
    quotes = select_quotes(fitting, MOST_OF_A_SIDE) if fitting else []
    return ComparedSide(name, quotes, is_known=True)


def _on_aspect(
    aspect: str, quotes: Sequence[RankedQuote], similarities: Similarities | None
) -> list[RankedQuote]:
    """The quotes with most words of an aspect or, if it is the price, with an amount of money;
    without any, those that are near to it in meaning.
    """
    excerpts = [quote.excerpt for quote in quotes]
    language = words.language_of(words.terms(aspect))
    wanted = comparable_words(aspect, languages_of(excerpts, language))
    said = [
        quote
        for quote in quotes
        if 2 * len(wanted & (quote.words | quote.above)) > len(wanted)
        or has_price(aspect, quote.text)
    ]
    if said or similarities is None:
        return said
    is_english = language == ENGLISH and are_english(excerpts)
    least = LEAST_NEAR if is_english else LEAST_NEAR_BY_SECOND_MODEL
    cosines = similarities(aspect, [quote.text for quote in quotes]) or ()
    return [quote for quote, cosine in zip(quotes, cosines, strict=False) if cosine >= least]


def _ranked(
    subject: str, excerpts: Sequence[QuoteSource], similarities: Similarities | None
) -> RankedPassages:
    return rank_passages(analyze_text(subject), excerpts, similarities)


def _about_side(
    name: str, quotes: Iterable[RankedQuote], excerpts: Sequence[QuoteSource]
) -> list[RankedQuote]:
    """The whole quotes with all words of a side in them or in the headings above."""
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    wanted = comparable_words(name, languages)
    fitting = [
        quote for quote in quotes if wanted <= quote.words | quote.above and quote.is_complete
    ]
    # What the note with that name says is about it more than what mentions it elsewhere
    fitting.sort(key=lambda quote: not _is_of_note(quote, wanted, languages))
    fitting.sort(key=lambda quote: quote.passage.kind == "code" or _is_property(quote))
    return fitting


def _quotes_with(
    subject: str, excerpts: Sequence[QuoteSource], similarities: Similarities | None
) -> list[RankedQuote]:
    """The best quotes about a side."""
    ranked = _ranked(subject, excerpts, similarities)
    fitting = _about_side(subject, ranked.on_topic, excerpts)
    return select_quotes(fitting, MOST_OF_A_SIDE) if fitting else []


def _quotes_with_both(
    request: NoteRequest, excerpts: Sequence[QuoteSource], similarities: Similarities | None
) -> list[RankedQuote]:
    """The best quotes with the words of both sides in the passage itself."""
    ranked = _ranked(f"{request.left} {request.right}", excerpts, similarities)
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    # One by one, because "thé" beside another word is taken for the article
    wanted = comparable_words(request.left, languages) | comparable_words(request.right, languages)
    fitting = [quote for quote in ranked.on_topic if wanted <= quote.words and quote.is_complete]
    return select_quotes(fitting, MOST_OF_BOTH) if fitting else []


def _rows_with_columns(names: Sequence[str], excerpts: Sequence[QuoteSource]) -> list[RankedQuote]:
    """The rows of a table with a column for each side, "Basic" and "Plus"; none without one."""
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    wanted = [comparable_words(name, languages) for name in names]
    rows: dict[str, list[RankedQuote]] = {}
    for quote in find_quotes(excerpts, languages):
        columns = comparable_words(quote.passage.label, languages)
        is_row = quote.passage.kind == "row" and bool(columns)
        is_known = all(each <= columns | quote.above for each in wanted)
        if is_row and is_known and not any(columns.isdisjoint(each) for each in wanted):
            rows.setdefault(quote.passage.label, []).append(quote)
    return next(iter(rows.values()), [])[:MOST_ROWS]


def _is_of_note(quote: RankedQuote, wanted: frozenset[str], languages: tuple[str, ...]) -> bool:
    """Whether a quote is from the note with this name, or a name with more words, and no property
    of it.
    """
    is_titled = wanted <= comparable_words(quote.excerpt.title, languages)
    return is_titled and not _is_property(quote)


def _is_property(quote: RankedQuote) -> bool:
    return quote.passage.kind == "row" and not quote.passage.label


def _as_list(quotes: Sequence[RankedQuote]) -> str:
    return "".join(f"- {format_quotes([quote])}" for quote in quotes)


COMPARE = RequestHandler(frozenset((SEARCH_TOOL,)), next_comparison_calls, answer_with_comparison)
