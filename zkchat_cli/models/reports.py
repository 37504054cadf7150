"""The report of a finished turn."""

from zkchat_cli.models.base import Value
from zkchat_cli.models.conversations import Compaction
from zkchat_cli.models.messages import AnswerLevel, Citation, DocumentReference, FinishReason, RetrievalMode, Timings, TokenUsage, ToolRun
from zkchat_cli.models.prompts import ContextUsage


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
    uncited_statements: int = 0
    """Sentences of the answer that state something without a citation."""
    agent: str | None = None
    grounded: bool
    """Whether the answer cites a source that exists."""
    retrieval: RetrievalMode
    level: AnswerLevel | None = None
    """How sure the offline provider is of its answer; None for other providers."""

    @property
    def lacks_source(self) -> bool:
        """Whether a language model states something without any source from the notes."""
        return not self.grounded and self.uncited_statements > 0 and self.level is None and self.model != "offline"
