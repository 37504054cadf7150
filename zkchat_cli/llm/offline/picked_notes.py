"""Answers to "the second one", "open it" and "what did we decide in the last one?": about one of
the notes that were listed before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.llm.offline.answer import (
    OfflineAnswer,
    WantedCall,
    answering_quotes,
    format_quotes,
)
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, AskedTurn
from zkchat_cli.llm.offline.list_positions import last_page, place_in_list
from zkchat_cli.llm.offline.note_descriptions import count_of_notes, list_arguments
from zkchat_cli.llm.offline.note_lists import format_note, listed_notes, page_size
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.outlines import answer_with_outline
from zkchat_cli.llm.offline.property_answers import find_property
from zkchat_cli.llm.offline.question import analyze_text
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.ranking import rank_passages
from zkchat_cli.llm.offline.request_handler import (
    LIST_TOOL,
    RequestHandler,
    explain_error,
    plain_name,
)
from zkchat_cli.llm.offline.selection import MAX_QUOTES
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.note_phrases import note_phrases


def next_pick_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The list again, from the wanted note on, and the reading of that note."""
    lists = turn.calls_of(LIST_TOOL)
    size = page_size(request)
    if not lists:
        place = place_in_list(request.pick, request.page, size)
        return [WantedCall(LIST_TOOL, list_arguments(request) | place)]
    shown = last_page(request.page, int(lists[-1].data.get("total", 0)), size)
    if shown < request.page and len(lists) == 1:
        place = place_in_list(request.pick, shown, size)
        return [WantedCall(LIST_TOOL, list_arguments(request) | place)]
    documents = lists[-1].data.get("documents", ())
    if not documents or turn.calls_of(READ_TOOL):
        return []
    return [WantedCall(READ_TOOL, {"relative_path": _picked(documents)["path"]})]


def _picked(documents: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The wanted note of those that were listed again: only the last one has others before it."""
    return documents[-1]


def answer_with_pick(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """What the note says of the question, else its outline; or how many notes there are if it has
    none of that number.
    """
    lists = turn.calls_of(LIST_TOOL)
    if not lists:
        return None
    phrases = note_phrases(turn.asked, turn.texts)
    if lists[-1].error:
        return explain_error(lists[-1], phrases)
    documents = lists[-1].data.get("documents")
    if not documents:
        total = int(lists[-1].data.get("total", 0))
        return OfflineAnswer(f"{count_of_notes(total, request, phrases)}.\n", "nothing")
    read = [excerpt for call in turn.calls_of(READ_TOOL) for excerpt in call.excerpts]
    if request.question and (said := _answer_from_note(request.question, read, similarities)):
        return said
    path = str(_picked(documents)["path"])
    outline = answer_with_outline(NoteRequest("outline", note=path), turn, similarities)
    if outline is not None:
        return outline
    shown = [format_note(note) for note in listed_notes(lists[-1])[-1:]]
    return OfflineAnswer("".join(f"- {note}\n" for note in shown), "answer")


def _answer_from_note(
    text: str, excerpts: Sequence[QuoteSource], similarities: Similarities | None
) -> OfflineAnswer | None:
    """The sentences of a note that answer a question, below its name; None if none surely does."""
    of_property = find_property(text, excerpts)
    if of_property is not None:
        said = f"{plain_name(excerpts[0].title)}: {format_quotes([of_property])}"
        return OfflineAnswer(said, "answer")
    ranked = rank_passages(analyze_text(text), excerpts, similarities)
    if not ranked.is_answer:
        return None
    quotes = format_quotes(answering_quotes(ranked, MAX_QUOTES, ""))
    return OfflineAnswer(f"{plain_name(excerpts[0].title)}:\n\n{quotes}", "answer")


PICK = RequestHandler(frozenset((LIST_TOOL, READ_TOOL)), next_pick_calls, answer_with_pick)
