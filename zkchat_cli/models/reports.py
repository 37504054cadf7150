"""Reports of finished turns and agent runs."""

from typing import Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.conversations import Compaction
from zkchat_cli.models.messages import Citation, DocumentReference, FinishReason, Timings, TokenUsage, ToolRun
from zkchat_cli.models.prompts import ContextUsage


class RunReport(Value):
    """How an agent run ended. `unmet` is what the model named as missing of the goal.

    `stopped`: the model called `finish`, the rounds were used up, or it repeated itself.
    """

    goal: str
    iterations: int
    met: bool
    unmet: str | None = None
    stopped: Literal["finished", "rounds", "repeated"]


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
    run: RunReport | None = None
    """If this answer ends an agent run."""
