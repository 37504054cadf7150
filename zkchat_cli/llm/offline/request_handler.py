"""What answers one kind of request: the tools to call, and the answer made of their results."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import AskedTurn, FinishedCall
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.small_talk import QUOTE_MARKS
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.note_phrases import NotePhrases
from zkchat_cli.text.patterns import lazy_pattern

LIST_TOOL = "list_zk_documents"


class RequestHandler(NamedTuple):
    """`next_calls` are the calls that the finished ones of the turn lead to; none if it can be
    answered. The answer is None where a look-up answers better.
    """

    tools: frozenset[str]
    next_calls: Callable[[NoteRequest, AskedTurn], Sequence[WantedCall]]
    answer: Callable[[NoteRequest, AskedTurn, Similarities | None], OfflineAnswer | None]


def explain_error(call: FinishedCall, phrases: NotePhrases) -> OfflineAnswer:
    """Why a call has failed: in the language of the question if it names what does not exist."""
    problem = plain_name(call.error)
    for pattern, sentence in _UNKNOWN_NAMES:
        if found := pattern.match(problem):
            said = [getattr(phrases, sentence).format(name=found["name"], names=found["rest"])]
            for mark, names in _NEAR_NAMES:
                before, _, known = found["rest"].partition(mark)
                if known and not before.strip():
                    said.append(getattr(phrases, names).format(names=known))
            return OfflineAnswer(f"{' '.join(said)}\n", "nothing")
    return OfflineAnswer(f"{problem[:1].upper()}{problem[1:]}\n", "nothing")


_UNKNOWN_NAMES = (
    (lazy_pattern(r"no note has the tag (?P<name>.+?)\. ?(?P<rest>.*)"), "no_tag"),
    (lazy_pattern(r"no note has the folder (?P<name>.+?)\. ?(?P<rest>.*)"), "no_folder"),
    (lazy_pattern(r"there is no note (?P<name>.+?)\. ?(?P<rest>.*)"), "no_note"),
    (lazy_pattern(r"(?P<name>.+) may mean \d+ notes\. Give a path: (?P<rest>.*)"), "ambiguous"),
)
_NEAR_NAMES = (("There are: ", "existing"), ("Nearest: ", "nearest_names"))
"""The errors of the vault about names, and what follows them."""


def plain_name(text: str) -> str:
    """What a user wrote, without marks that would make it a quotation or a citation."""
    return " ".join(QUOTE_MARKS.sub("", text).split())
