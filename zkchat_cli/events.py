"""The events of a turn, as frozen values: the screen, the one-shot command, JSON lines and tests
read the same stream.

A turn's events come in this order, and end with exactly one of the last two:

    MessageStored, (Notice | Compacting)*,
    (PromptBuilt | Waiting | ReasoningDelta | TextDelta | TextWithdrawn | Notice | Compacting
        | ToolCallStarted+, (Notice | Change)*, ToolCallFinished+)*,
    Compacting?, TurnCompleted | TurnFailed

Compacting is CompactionStarted, Waiting*, CompactionDone | Notice. Change is ChangeProposed,
ChangeDecided.
"""

from typing import NamedTuple

from zkchat_cli.errors import ZkchatError
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import TokenUsage, ToolCall, ToolRun
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.models.reports import TurnReport


class MessageStored(NamedTuple):
    """The user's message is stored; `references` are the documents it names, missing ones
    included.
    """

    message_id: str
    references: tuple[DocumentReference, ...]


class Notice(NamedTuple):
    """A warning that stops nothing: what, why, what next."""

    message: str
    hint: str = ""


class CompactionStarted(NamedTuple):
    """The conversation is being made smaller. It needs so many `tokens`; at most `limit` are
    sent.
    """

    reason: str
    tokens: int
    limit: int


class CompactionDone(NamedTuple):
    """The conversation is smaller now, unless the compaction's mode is "none"."""

    compaction: Compaction


class PromptBuilt(NamedTuple):
    """The prompt of the next model call has been measured. This comes before each call; `speaker`
    names the agent and the model that get the prompt. `usage` has what the next turn's prompt will
    have, too: not the recalled passages and the memory for this question alone.
    """

    usage: ContextUsage
    speaker: str
    # Whether the text of the answer may turn out to be a thought; see TextWithdrawn
    may_withdraw: bool = False
    # What the turn's calls have used so far; None before the first one
    spent: TokenUsage | None = None


class Waiting(NamedTuple):
    """The model has not begun to answer, because of `reason`, and is called again in `seconds`. The
    event is repeated each second.
    """

    seconds: float
    reason: str


class ReasoningDelta(NamedTuple):
    """More of the thoughts of a model before it answers."""

    text: str


class TextDelta(NamedTuple):
    """More of the answer."""

    text: str


class TextWithdrawn(NamedTuple):
    """The text of the reply so far was a thought: the model has ended it only now."""


class ToolCallStarted(NamedTuple):
    """A tool that the model called begins to run."""

    call: ToolCall


class ChangeProposed(NamedTuple):
    """A tool wants to change notes: a one-line summary and a unified diff. It is approved or
    declined before the next event.
    """

    call: ToolCall
    summary: str
    diff: str
    note: str = ""


class ChangeDecided(NamedTuple):
    """Whether a proposed change was made, and a message about that."""

    call: ToolCall
    made: bool
    told: str


class ExcerptPlace(NamedTuple):
    """The note and the line in which an excerpt begins."""

    relative_path: str
    start_line: int


class ToolCallFinished(NamedTuple):
    """The result of a tool call, with this number of `excerpts`, has been added to the turn."""

    call: ToolCall
    run: ToolRun
    excerpts: int
    places: tuple[ExcerptPlace, ...] = ()


class CostAsked(NamedTuple):
    """The user is asked whether to send a turn that costs more than the settings allow."""

    question: str


class TurnCompleted(NamedTuple):
    """The turn ended with an answer, which is stored unless a notice said otherwise."""

    report: TurnReport


class TurnFailed(NamedTuple):
    """The turn ended without an answer: the user's message and any partial text are stored and
    marked.
    """

    error: ZkchatError
    message_id: str
    partial: str


TurnOutcome = TurnCompleted | TurnFailed
"""The end of a turn: the last event of each turn that was not closed before. A failed turn has the
error and the partial answer to show.
"""

Event = (
    MessageStored
    | Notice
    | CompactionStarted
    | CompactionDone
    | PromptBuilt
    | Waiting
    | ReasoningDelta
    | TextDelta
    | TextWithdrawn
    | ToolCallStarted
    | ChangeProposed
    | ChangeDecided
    | ToolCallFinished
    | CostAsked
    | TurnOutcome
)
