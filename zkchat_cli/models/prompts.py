"""What a model is sent, and what of its window that takes."""

from typing import Any, Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import DocumentReference, Role, ThinkingBlocks, TokenUsage, ToolCall

PromptKind = Literal["system", "memory", "summary", "documents", "tool_results", "conversation"]


class PromptMessage(Value):
    """A message exactly as the model gets it; `source_ids` are the log's messages (or the vault's paths) it was made from."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    tokens: int
    """All it takes; `call_tokens` and `thinking_tokens` of them are its tool calls and the reasoning that is sent back."""
    call_tokens: int = 0
    thinking_tokens: int = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()


class PromptTool(Value):
    """A tool as the model is told of it: `descriptor` in the OpenAI function form."""

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
    """The tokens of a prompt by what they are spent on; together they are all of it. `content` is what is said: instructions, memory,
    summary, documents, results and talk, by themselves in the other figures. `overhead` is what a provider takes for each message."""

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
    """Tokens of a prompt from which on it is due; None with a strategy that does not summarise."""


class ContextUsage(Value):
    """Tokens of a prompt by component; `total = system + tool + message`, `message` is the sum of its breakdown.

    `effective_limit` is the most that is ever sent (90 % of `max_context`; the rest is for the answer).
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
    """Who says that the window (`max_context`) is that large."""
    components: PromptComponents = PromptComponents()
    calibration: float = 1.0
    """How many tokens this model makes of each that zkchat counts, by what its provider has reported."""


class Dropped(Value):
    id: str
    reason: str


class Prompt(Value):
    """What one model call sends, and what it left out."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    usage: ContextUsage
    dropped: tuple[Dropped, ...] = ()
    documents: tuple[DocumentReference, ...] = ()
    """What its messages name, and how each document is delivered."""
    strategy: str


class TurnMetrics(Value):
    """What a turn taught besides what was said in it: by model, how many tokens it made of each that zkchat counted, call by call; and the
    keys of the facts that were of use."""

    factors: tuple[tuple[str, float], ...] = ()
    facts: tuple[str, ...] = ()


class SentPrompt(Value):
    """What one model call of a turn was sent, as it was then: the `call`-th (from 1) since the question.

    Of the messages that the prompt left out, `prompt.dropped` says nothing: they are what else stood above the question (see context/past).
    """

    question_id: str
    call: int
    model: str
    prompt: Prompt
    usage: TokenUsage | None = None
    """What the provider reported; None where it reported nothing or failed."""
    summarised_through: str | None = None
    """The last message that the prompt's summary stands for."""
