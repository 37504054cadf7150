"""Everything a turn can say, as frozen values: the screen, the one-shot command, JSON lines and tests read the same stream.

A turn's events come in this order, and end with exactly one of the last two:

    MessageStored, (Notice | Compacting)*,
    (Waiting | ReasoningDelta | TextDelta | Cited | Compacting | ToolCallStarted+, (Notice | Change)*, ToolCallFinished+)*,
    Compacting?, TurnCompleted | TurnFailed

Compacting is CompactionStarted, Waiting*, CompactionDone | Notice. Change is ChangeProposed, ChangeDecided.

An agent run (see solving.py) is several turns in one stream: each begins with IterationStarted, what the model says meanwhile is a
ReasoningDelta (`aloud`), and only at the end come its answer, as TextDelta and Cited, and the one TurnCompleted or TurnFailed.
"""

from dataclasses import dataclass

from zkchat_cli.errors import ZkchatError
from zkchat_cli.models import Compaction, DocumentReference, ToolCall, ToolRun, TurnReport


@dataclass(frozen=True, slots=True)
class MessageStored:
    """The user's message is safe; these are the documents it names (broken ones included)."""

    message_id: str
    references: tuple[DocumentReference, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that stops nothing: what, why, what next."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    reason: str


@dataclass(frozen=True, slots=True)
class CompactionDone:
    compaction: Compaction


@dataclass(frozen=True, slots=True)
class Waiting:
    """The model has not begun to answer and is asked again in so many seconds, because of `reason`; said anew each second."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """`aloud`: said to the user, not thought, but in the middle of an agent run: it is no answer yet."""

    text: str
    aloud: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A place in the streamed text that cites, told as soon as it is certain: by `numbers` of excerpts, or by the `name` of a note.

    `start` and `end` count the characters of the text since the turn began or tools last ran. Whether it holds is told at the turn's end.
    """

    numbers: tuple[int, ...]
    name: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ChangeProposed:
    """A tool would change notes: what it would do in a line, and as a unified diff. Whether it does is decided before the next event."""

    call: ToolCall
    summary: str
    diff: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChangeDecided:
    """What became of a proposed change: made or not, and what there is to tell of that."""

    call: ToolCall
    made: bool
    told: str


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    call: ToolCall
    run: ToolRun
    excerpts: int
    """How many chunks of notes the result brought in."""


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """An agent run begins its next turn, `number` of at most `of`."""

    number: int
    of: int
    goal: str


@dataclass(frozen=True, slots=True)
class IterationFinished:
    """A turn of an agent run is over: how many tools it called, and how many excerpts they found that were not there before."""

    number: int
    tools: int
    excerpts: int


@dataclass(frozen=True, slots=True)
class TurnCompleted:
    report: TurnReport


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended without an answer: the user's message and any partial text are stored and marked."""

    error: ZkchatError
    message_id: str
    partial: str


Event = (
    MessageStored
    | Notice
    | CompactionStarted
    | CompactionDone
    | Waiting
    | ReasoningDelta
    | TextDelta
    | Cited
    | ToolCallStarted
    | ChangeProposed
    | ChangeDecided
    | ToolCallFinished
    | IterationStarted
    | IterationFinished
    | TurnCompleted
    | TurnFailed
)
