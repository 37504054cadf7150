"""Answers to "the second one" after quotations: what else the section of that quotation says."""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, AskedTurn, read_excerpts
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, find_quotes
from zkchat_cli.llm.offline.request_handler import RequestHandler, plain_name
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern

# Lines of a section in an answer
MOST_LINES = 8
# A quotation with the number of its first source
_QUOTATION = lazy_pattern(
    r"(?m)^(?:- |\d+\. )?[^„“«「\n]*[„“«「](?P<text>[^\n]+?)[“”»」] ?\[(?P<source>\d+)\]"
)


class _Quotation(NamedTuple):
    """What the last answer has quoted, and from where."""

    text: str
    excerpt: QuoteSource


def next_passage_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The reading of the note that was quoted at the place."""
    quotation = _picked_quotation(request, turn)
    if quotation is None or turn.calls_of(READ_TOOL):
        return []
    return [WantedCall(READ_TOOL, {"relative_path": quotation.excerpt.path})]


def _picked_quotation(request: NoteRequest, turn: AskedTurn) -> _Quotation | None:
    """The quotation at the place in the last answer; None if it has fewer, or its source is no
    longer known.
    """
    if not turn.answers:
        return None
    found = list(_QUOTATION.finditer(turn.answers[-1]))
    index = request.pick - 1 if request.pick > 0 else len(found) - 1
    if not 0 <= index < len(found):
        return None
    sources = {excerpt.source: excerpt for excerpt in read_excerpts(turn.before)}
    excerpt = sources.get(int(found[index]["source"]))
    return excerpt and _Quotation(found[index]["text"], excerpt)


def answer_with_passage(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """The lines of the section in their order; None where a look-up answers better."""
    quotation = _picked_quotation(request, turn)
    read = [excerpt for call in turn.calls_of(READ_TOOL) for excerpt in call.excerpts]
    if quotation is None or not read:
        return None
    lines = _lines_around(quotation, read)
    if not lines:
        return None
    place = plain_name(" › ".join(lines[0].section))
    return OfflineAnswer(f"{place}:\n\n{format_quotes(lines)}", "answer")


def _lines_around(quotation: _Quotation, read: Sequence[QuoteSource]) -> list[RankedQuote]:
    """The quotation and the lines of its section, from the first one that fits with it."""
    quotes = find_quotes(read, words.detect_languages(excerpt.text for excerpt in read))
    index = next((i for i, each in enumerate(quotes) if _is_same(each, quotation)), None)
    if index is None:
        return []
    picked = quotes[index]
    of_section = [
        each
        for each in quotes
        if each.section == picked.section and (each is picked or each.passage.kind != "code")
    ]
    place = of_section.index(picked)
    first = max(0, place + 1 - MOST_LINES)
    return of_section[first : first + MOST_LINES]


def _is_same(quote: RankedQuote, quotation: _Quotation) -> bool:
    return quote.text in quotation.text or quotation.text in quote.text


PASSAGE = RequestHandler(frozenset((READ_TOOL,)), next_passage_calls, answer_with_passage)
