"""Answers to "the second one" and "open it": one of the notes that were listed before."""

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, AskedTurn
from zkchat_cli.llm.offline.note_descriptions import count_of_notes, list_arguments
from zkchat_cli.llm.offline.note_lists import format_note, listed_notes
from zkchat_cli.llm.offline.outlines import answer_with_outline
from zkchat_cli.llm.offline.request_handler import LIST_TOOL, RequestHandler, explain_error
from zkchat_cli.llm.offline.requests import NoteRequest
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.note_phrases import note_phrases


def next_pick_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The list again, from the wanted note on, and the reading of that note."""
    lists = turn.calls_of(LIST_TOOL)
    if not lists:
        arguments = list_arguments(request) | {"offset": request.pick - 1, "limit": 1}
        return [WantedCall(LIST_TOOL, arguments)]
    documents = lists[-1].data.get("documents", ())
    if not documents or turn.calls_of(READ_TOOL):
        return []
    return [WantedCall(READ_TOOL, {"relative_path": documents[0]["path"]})]


def answer_with_pick(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """The outline of the note, or how many notes there are if it has none of that number."""
    lists = turn.calls_of(LIST_TOOL)
    if not lists:
        return None
    phrases = note_phrases(turn.asked, turn.texts)
    if lists[-1].error:
        return explain_error(lists[-1], phrases)
    if not lists[-1].data.get("documents"):
        total = int(lists[-1].data.get("total", 0))
        return OfflineAnswer(f"{count_of_notes(total, request, phrases)}.\n", "nothing")
    path = str(lists[-1].data["documents"][0]["path"])
    outline = answer_with_outline(NoteRequest("outline", note=path), turn, similarities)
    if outline is not None:
        return outline
    shown = [format_note(note) for note in listed_notes(lists[-1])]
    return OfflineAnswer("".join(f"- {note}\n" for note in shown), "answer")


PICK = RequestHandler(frozenset((LIST_TOOL, READ_TOOL)), next_pick_calls, answer_with_pick)
