"""Prompts and their token usage."""

from typing import Any, Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import DocumentReference, Role, ThinkingBlocks, TokenUsage, ToolCall

PromptKind = Literal["system", "memory", "summary", "documents", "tool_results", "conversation"]


class PromptMessage(Value):
    """A message exactly as the model gets it; `source_ids` are the log messages or note paths it was made from."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    tokens: int
    """Including `call_tokens` (tool calls) and `thinking_tokens` (reasoning sent back)."""
    call_tokens: int = 0
    thinking_tokens: int = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()


class PromptTool(Value):
    """A tool as the model gets it: `descriptor` in the OpenAI function form."""

    name: str
    descriptor: dict[str, Any]
    tokens: int


class BudgetStatus(Value):
    used: int
    budget: int
    percentage: float


class MessageBreakdown(Value):
    summary: int = 0
    memory: int = 0
    documents: int = 0
    tool_results: int = 0
    conversation: int = 0


class PromptComponents(Value):
    """All tokens of a prompt by purpose. `content` are instructions, memory, summary, documents, results and conversation; `overhead` is
    the provider's cost for each message."""

    content: int = 0
    tools: int = 0
    tool_calls: int = 0
    reasoning: int = 0
    overhead: int = 0


class BudgetStatuses(Value):
    system: BudgetStatus
    tools: BudgetStatus
    messages: BudgetStatus


class CompactionDue(Value):
    due: bool
    reason: str | None = None
    at: int | None = None
    """Tokens of a prompt above which it is due; None if the strategy does not summarize."""


class ContextUsage(Value):
    """Tokens of a prompt by component; `total = system + tool + message`, `message` is the sum of its breakdown.

    At most `effective_limit` is sent: 90 % of `max_context`; the rest is for the answer.
    """

    system_tokens: int
    tool_tokens: int
    message_tokens: int
    total_tokens: int
    available_tokens: int
    max_context: int
    effective_limit: int
    estimated: bool
    message_breakdown: MessageBreakdown
    budget_status: BudgetStatuses
    compaction: CompactionDue
    window_source: str | None = None
    """Where `max_context` comes from."""
    components: PromptComponents = PromptComponents()
    calibration: float = 1.0
    """Tokens of this model for each that zkchat counts, as its provider reported."""


class Dropped(Value):
    id: str
    reason: str


class Prompt(Value):
    """What one model call sends, and what was dropped."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    usage: ContextUsage
    dropped: tuple[Dropped, ...] = ()
    documents: tuple[DocumentReference, ...] = ()
    """The documents that its messages name, and how each is delivered."""
    strategy: str


class TurnMetrics(Value):
    """What a turn measured: for each call, the model and its tokens for each that zkchat counted; and the keys of the facts it used."""

    factors: tuple[tuple[str, float], ...] = ()
    facts: tuple[str, ...] = ()


class SentPrompt(Value):
    """What one model call of a turn was sent; `call` counts from 1.

    `prompt.dropped` has no messages; `context/prompt_history` derives them from the log.
    """

    question_id: str
    call: int
    model: str
    prompt: Prompt
    usage: TokenUsage | None = None
    """As the provider reported; None if it did not, or failed."""
    summarised_through: str | None = None
    """The last message that the prompt's summary covers."""
