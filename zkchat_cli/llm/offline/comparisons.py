"""Answers to requests for a comparison: what the notes say about either side, and which side they
do not know.
"""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import SEARCH_TOOL, AskedTurn
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.passage_languages import is_foreign
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, comparable_words
from zkchat_cli.llm.offline.ranking import rank_passages
from zkchat_cli.llm.offline.request_handler import RequestHandler, plain_name
from zkchat_cli.llm.offline.selection import select_quotes
from zkchat_cli.models.notes import Similarities
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import PHRASES, language_for
from zkchat_cli.text.request_phrases import RequestPhrases, request_phrases

# Quotes about either side, and about both
MOST_OF_A_SIDE = 2
MOST_OF_BOTH = 2


class ComparedSide(NamedTuple):
    """One side of a comparison, and what the notes say about it."""

    name: str
    quotes: Sequence[RankedQuote]


def next_comparison_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """A search for both sides together, and one for either."""
    # Named documents are read, and summarized one below the other
    if turn.documents or turn.calls_of(SEARCH_TOOL):
        return []
    queries = (f"{request.left} {request.right}", request.left, request.right)
    return [WantedCall(SEARCH_TOOL, {"query": query, "limit": EXCERPTS}) for query in queries]


def answer_with_comparison(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """What is about both sides first, then either side; None if neither is known."""
    if turn.documents:
        return None
    found = _found_excerpts(turn)
    both = _quotes_with(f"{request.left} {request.right}", found, similarities, request)
    both = both[:MOST_OF_BOTH]
    sides = [_side(name, found, both, similarities) for name in (request.left, request.right)]
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
    sides: Sequence[ComparedSide], both: Sequence[RankedQuote], turn: AskedTurn
) -> str:
    """What is about both sides, then either side; one that is not known is named, unless something
    is about both.
    """
    phrases = request_phrases(turn.asked, turn.texts)
    parts = [f"{phrases.both}\n\n{_as_list(both)}"] if both else []
    for side in sides:
        label = phrases.side.format(name=plain_name(side.name))
        if side.quotes:
            parts.append(f"{label}\n\n{_as_list(side.quotes)}")
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
    for name in (request.left, request.right):
        ranked = rank_passages(analyze_question([_as_message(name)], 0), found, similarities)
        complete = [quote for quote in ranked.all if quote.is_complete]
        if complete:
            quotes = select_quotes(complete, MOST_OF_A_SIDE)
            label = phrases.side.format(name=plain_name(name))
            parts.append(f"{label}\n\n{_as_list(quotes)}")
    if len(parts) < 2:
        return None
    not_sure = PHRASES[language_for(turn.asked, turn.texts)].not_sure
    return OfflineAnswer(f"{not_sure}\n\n" + "\n".join(parts), "most_likely")


def _as_message(text: str) -> PromptMessage:
    return PromptMessage(role="user", content=text, kind="conversation", tokens=0)


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


def _quotes_with(
    subject: str,
    excerpts: Sequence[QuoteSource],
    similarities: Similarities | None,
    both: NoteRequest | None = None,
) -> list[RankedQuote]:
    """The best passages with all words of a subject in them or in the headings above; with `both`,
    those with the words of both its sides in the passage itself.
    """
    question = analyze_question([_as_message(subject)], 0)
    ranked = rank_passages(question, excerpts, similarities)
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    sides = (both.left, both.right) if both else (subject,)
    # One by one, because "thé" beside another word is taken for the article
    wanted = frozenset[str]().union(*(comparable_words(side, languages) for side in sides))
    fitting = []
    for quote in ranked.on_topic:
        said = quote.words if both else quote.words | quote.above
        if wanted <= said and quote.is_complete:
            fitting.append(quote)
    if not both:
        # What the note with that name says is about it more than what mentions it elsewhere
        fitting.sort(key=lambda quote: not _is_of_note(quote, wanted, languages))
        fitting.sort(key=lambda quote: quote.passage.kind == "code")
    return select_quotes(fitting, MOST_OF_A_SIDE) if fitting else []


def _is_of_note(quote: RankedQuote, wanted: frozenset[str], languages: tuple[str, ...]) -> bool:
    """Whether a quote is from the note with this name, or a name with more words, and no property
    of it.
    """
    is_property = quote.passage.kind == "row" and not quote.passage.label
    return wanted <= comparable_words(quote.excerpt.title, languages) and not is_property


def _as_list(quotes: Sequence[RankedQuote]) -> str:
    return "".join(f"- {format_quotes([quote])}" for quote in quotes)


COMPARE = RequestHandler(frozenset((SEARCH_TOOL,)), next_comparison_calls, answer_with_comparison)
