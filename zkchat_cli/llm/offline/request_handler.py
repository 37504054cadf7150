"""What answers one kind of request: the tools to call, and the answer made of their results."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import AskedTurn
from zkchat_cli.llm.offline.requests import NoteRequest
from zkchat_cli.llm.offline.small_talk import QUOTE_MARKS
from zkchat_cli.models.notes import Similarities

LIST_TOOL = "list_zk_documents"


class RequestHandler(NamedTuple):
    """`next_calls` are the calls that the finished ones of the turn lead to; none if it can be
    answered. The answer is None where a look-up answers better.
    """

    tools: frozenset[str]
    next_calls: Callable[[NoteRequest, AskedTurn], Sequence[WantedCall]]
    answer: Callable[[NoteRequest, AskedTurn, Similarities | None], OfflineAnswer | None]


def first_upper(text: str) -> str:
    """A text that begins a sentence."""
    return text[:1].upper() + text[1:]


def plain_name(text: str) -> str:
    """What a user wrote, without marks that would make it a quotation or a citation."""
    return " ".join(QUOTE_MARKS.sub("", text).split())
