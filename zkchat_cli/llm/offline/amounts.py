"""Answers to requests for an average or a sum, with the notes that have the amounts."""

from zkchat_cli.llm.offline.amount_units import (
    amount_query,
    is_of_period,
    name_with_unit,
    units_of,
)
from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import AskedTurn, FinishedCall
from zkchat_cli.llm.offline.note_descriptions import count_of_notes, list_arguments
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.property_names import is_common_name
from zkchat_cli.llm.offline.quotes import QuoteSource, find_quotes
from zkchat_cli.llm.offline.request_handler import LIST_TOOL, RequestHandler, plain_name
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.line_phrases import LinePhrases, line_phrases
from zkchat_cli.text.note_phrases import NotePhrases, note_phrases

# Lines with amounts in an answer
MOST_LINES = 6
# Letters of a line that is shown: a longer one is a paragraph
LONGEST_LINE = 200
EXTREMES = ("highest", "lowest")


def next_amount_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The list of the lines with the amounts."""
    if turn.calls_of(LIST_TOOL):
        return []
    query = amount_query(request.amount, request.activity, request.item)
    which = request.measure if request.measure in EXTREMES else "amounts"
    shown = {"show": f"{which} of {query}", "limit": MOST_LINES}
    return [WantedCall(LIST_TOOL, list_arguments(request) | shown)]


def answer_with_amount(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """The average or the sum, of how many amounts in how many notes; None if there are none."""
    listed = turn.calls_of(LIST_TOOL)
    if not listed or listed[-1].error:
        return None
    data = listed[-1].data
    total = int(data.get("total", 0))
    phrases = note_phrases(turn.asked, turn.texts)
    of_lines = line_phrases(turn.asked, turn.texts)
    if not total:
        is_named = is_common_name(request.amount) and not units_of(request.amount)
        # "Which city has the most people?" may ask for no property
        is_property = is_named and request.measure not in EXTREMES
        said = of_lines.no_property.format(name=plain_name(request.amount))
        return OfflineAnswer(f"{said}\n", "nothing") if is_property else None
    said = _measured(request, listed[-1], of_lines, phrases)
    described = count_of_notes(int(data.get("notes", 0)), request, phrases)
    counted = of_lines.one_value if total == 1 else of_lines.values
    values = counted.format(count=phrases.number(total), notes=described)
    lines = "".join(map(_line, listed[-1].excerpts))
    left = int(data.get("shown", total)) - len(listed[-1].excerpts)
    rest = f"\n{phrases.and_more.format(count=phrases.number(left))}\n" if left > 0 else ""
    return OfflineAnswer(f"{said}. {values}\n\n{lines}{rest}", "answer")


def _measured(
    request: NoteRequest, listed: FinishedCall, of_lines: LinePhrases, phrases: NotePhrases
) -> str:
    """The wanted value, with what it is of; one for each unit or currency."""
    lines = [excerpt.text for excerpt in listed.excerpts]
    name = request.amount
    if is_of_period(name) and request.item:
        name = f"{request.item}, {name}"
    head = of_lines.average if request.measure == "average" else of_lines.total
    if request.measure in EXTREMES:
        head = of_lines.highest if request.measure == "highest" else of_lines.lowest
        # "Best rated" is no name: the line says what the notes call it
        name = next((line.partition(":")[0] for line in lines if ":" in line), name)
    said: list[str] = []
    for of_unit in listed.data["units"]:
        value = float(of_unit.get(request.measure, of_unit["sum"]))
        if request.measure == "average":
            value /= int(of_unit["total"])
        called = name_with_unit(name, of_unit["unit"])
        said.append(head.format(name=plain_name(called), value=_written(value, phrases)))
    return ". ".join(said)


def _written(value: float, phrases: NotePhrases) -> str:
    """A number with at most two decimals, as the language writes it."""
    whole, _, decimals = f"{abs(value):.2f}".partition(".")
    decimals = decimals.rstrip("0")
    # The sign apart: the whole part of -0.5 has none
    sign = "-" if round(value, 2) < 0 else ""
    shown = f"{sign}{phrases.number(int(whole))}"
    mark = "." if phrases.thousands == "," else ","
    return f"{shown}{mark}{decimals}" if decimals else shown


def _line(excerpt: QuoteSource) -> str:
    """The line of an amount, with the name of its note."""
    title = plain_name(excerpt.title)
    quotes = find_quotes([excerpt], words.detect_languages([excerpt.text]))[:1]
    if quotes and len(quotes[0].text) <= LONGEST_LINE:
        return f"- {title}: {format_quotes(quotes)}"
    return f"- {title} [{excerpt.source}]\n"


AMOUNTS = RequestHandler(frozenset((LIST_TOOL,)), next_amount_calls, answer_with_amount)
