"""What a finished turn reports."""

from typing import Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.citations import Citation, FoundSentence
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import FinishReason, RetrievalMode, Timings, TokenUsage, ToolRun
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import ContextUsage


class TurnWarning(Value):
    """What the user was warned of during a turn: what, why, what next."""

    message: str
    hint: str = ""


RequestKind = Literal[
    "lookup",
    "list",
    "links",
    "outline",
    "compare",
    "definition",
    "how_to",
    "table",
    "more",
    "count",
    "when",
]
"""What a question asks of the offline provider."""
AnswerLevel = Literal["answer", "most_likely", "nothing"]
"""How sure the offline provider is: it found sentences that answer, only some that are near, or
nothing about the question.
"""


class TurnReport(Value):
    """A finished turn; `ask --json` prints it."""

    conversation_id: str
    message_id: str
    answer: str
    model: str
    strategy: str
    finish_reason: FinishReason
    references: tuple[DocumentReference, ...]
    citations: tuple[Citation, ...]
    tools: tuple[ToolRun, ...]
    usage: TokenUsage
    context: ContextUsage
    compaction: Compaction | None
    timings_ms: Timings
    # Number of sentences in the answer that state something without a citation
    uncited_statements: int = 0
    # Sentences that zkchat has found for an answer without a source
    evidence: tuple[FoundSentence, ...] = ()
    agent: str | None = None
    # Whether the answer cites a source that exists
    grounded: bool
    retrieval: RetrievalMode
    # How sure the offline provider is of its answer; None for other providers
    level: AnswerLevel | None = None
    # What the offline provider took the question for; None for other providers, and for what only a
    # language model can do
    request: RequestKind | None = None
    # What the user was warned of, such as a document that was sent in part
    warnings: tuple[TurnWarning, ...] = ()

    @property
    def lacks_source(self) -> bool:
        """Whether a language model states something without citing any note."""
        return (
            not self.grounded
            and self.uncited_statements > 0
            and self.level is None
            and self.model != "offline"
        )
