"""Comparisons of notes: "the two cars", and "tea, coffee and cocoa in a table", with the properties
that their notes have.
"""

from collections.abc import Sequence

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import SEARCH_TOOL, AskedTurn
from zkchat_cli.llm.offline.comparisons import (
    answer_with_comparison,
    next_comparison_calls,
    sides_of,
)
from zkchat_cli.llm.offline.note_descriptions import list_arguments
from zkchat_cli.llm.offline.note_lists import ListedNote, listed_notes
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.quotes import comparable_words
from zkchat_cli.llm.offline.request_handler import LIST_TOOL, RequestHandler
from zkchat_cli.llm.offline.tables import render_properties
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.request_phrases import request_phrases
from zkchat_cli.text.word_lists import REQUEST_LANGUAGES

# Notes that are looked at for those of a kind, or for the one with the name of a side
MOST_LISTED = 10
# Notes of a list that are compared: more are no longer side by side
MOST_COMPARED = 4
_LIMITS = {"limit": MOST_LISTED, "excerpts": MOST_LISTED}


def next_table_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The notes about each side, with their properties, and the searches of the comparison."""
    if turn.documents or turn.calls_of(LIST_TOOL):
        return []
    named = [
        WantedCall(LIST_TOOL, {"about": side, "show": "*", **_LIMITS}) for side in sides_of(request)
    ]
    return [*named, *next_comparison_calls(request, turn)]


def answer_in_table(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """The properties of the notes that are called like the sides, and what is said of either; or
    that there is no table where not all sides have such a note.
    """
    compared = answer_with_comparison(request, turn, similarities)
    if compared is None:
        return None
    listed = [note for call in turn.calls_of(LIST_TOOL) for note in listed_notes(call)]
    named = [_note_named(side, listed) for side in sides_of(request)]
    notes = [note for note in named if note is not None]
    table = render_properties(notes, turn) if len(notes) == len(named) else ""
    no_table = f"{request_phrases(turn.asked, turn.texts).no_table_of_sides}\n"
    return compared._replace(text=f"{table or no_table}\n{compared.text}")


def _note_named(side: str, listed: Sequence[ListedNote]) -> ListedNote | None:
    wanted = comparable_words(side, REQUEST_LANGUAGES)
    fitting = [note for note in listed if wanted <= comparable_words(note.title, REQUEST_LANGUAGES)]
    return min(fitting, key=lambda note: len(note.title), default=None)


def next_calls_for_kind(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The notes of the kind, then the searches for them if there are as many as are wanted."""
    if not turn.calls_of(LIST_TOOL):
        return [WantedCall(LIST_TOOL, list_arguments(request) | {"show": "*", **_LIMITS})]
    notes = _notes_of_kind(request, turn)
    if not notes or turn.calls_of(SEARCH_TOOL):
        return []
    return next_comparison_calls(_comparison_of(notes), turn)


def _notes_of_kind(request: NoteRequest, turn: AskedTurn) -> list[ListedNote]:
    """The notes of the kind, of several with the subject those that are called so; none unless
    there are as many as are wanted. Without a number, any few are.
    """
    notes = listed_notes(turn.calls_of(LIST_TOOL)[-1])
    if request.newest or request.oldest:
        notes = notes[: request.limit]
    if request.limit and len(notes) != request.limit and request.about:
        wanted = comparable_words(request.about, REQUEST_LANGUAGES)
        notes = [
            note for note in notes if wanted <= comparable_words(note.title, REQUEST_LANGUAGES)
        ]
    if not request.limit and len(notes) > 1:
        return notes if len(notes) <= MOST_COMPARED else []
    return notes if len(notes) == request.limit else []


def _comparison_of(notes: Sequence[ListedNote]) -> NoteRequest:
    titles = [note.title.replace(",", " ") for note in notes]
    return NoteRequest("compare", left=", ".join(titles[:-1]), right=titles[-1])


def answer_with_kind(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """The properties of the notes of a kind, and what is said of either; None where there are not
    as many as are wanted.
    """
    lists = turn.calls_of(LIST_TOOL)
    notes = _notes_of_kind(request, turn) if lists else []
    if lists and not notes and not request.limit:
        phrases = request_phrases(turn.asked, turn.texts)
        return OfflineAnswer(f"{phrases.name_sides}\n", "nothing")
    if not notes:
        return None
    compared = answer_with_comparison(_comparison_of(notes), turn, similarities)
    if compared is None:
        return None
    table = render_properties(notes, turn)
    return compared._replace(text=f"{table}\n{compared.text}" if table else compared.text)


COMPARE_IN_TABLE = RequestHandler(
    frozenset((LIST_TOOL, SEARCH_TOOL)), next_table_calls, answer_in_table
)
COMPARE_KIND = RequestHandler(
    frozenset((LIST_TOOL, SEARCH_TOOL)), next_calls_for_kind, answer_with_kind
)
