"""Prompts and their token usage."""

from typing import Any, Literal

from zkchat_cli.models.base import Count, Quantity, Value
from zkchat_cli.models.messages import DocumentReference, RetrievalMode, Role, ThinkingBlocks, TokenUsage, ToolCall

PromptKind = Literal["system", "memory", "summary", "documents", "tool_results", "recalled", "conversation"]


class PromptMessage(Value):
    """A message exactly as the model gets it; `source_ids` are the log messages or note paths it was made from."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    tokens: Count
    """Including `call_tokens` (tool calls) and `thinking_tokens` (reasoning sent back)."""
    call_tokens: Count = 0
    thinking_tokens: Count = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()

    def thinking_for(self, provider: str) -> tuple[dict[str, Any], ...]:
        """The blocks of reasoning that go back to a provider: its own."""
        return self.thinking.blocks if self.thinking is not None and self.thinking.provider == provider else ()


class PromptTool(Value):
    """A tool as the model gets it: `descriptor` in the OpenAI function form."""

    name: str
    descriptor: dict[str, Any]
    tokens: Count


class BudgetStatus(Value):
    used: Count
    budget: Count
    percentage: Quantity


class MessageBreakdown(Value):
    summary: Count = 0
    memory: Count = 0
    documents: Count = 0
    tool_results: Count = 0
    recalled: Count = 0
    """Passages of older turns, quoted for this message."""
    conversation: Count = 0


class PromptComponents(Value):
    """All tokens of a prompt by purpose. `content` are instructions, memory, summary, documents, results and conversation; `overhead` is
    the provider's cost for each message."""

    content: Count = 0
    tools: Count = 0
    tool_calls: Count = 0
    reasoning: Count = 0
    overhead: Count = 0


class BudgetStatuses(Value):
    system: BudgetStatus
    tools: BudgetStatus
    messages: BudgetStatus


class CompactionDue(Value):
    due: bool
    reason: str | None = None
    at: Count | None = None
    """Tokens of a prompt above which it is due; None if the strategy does not summarize."""
    tokens: Count | None = None
    """What the prompt would take with all turns that no summary covers, which is compared with `at`."""


class ContextUsage(Value):
    """Tokens of a prompt by component; `total = system + tool + message`, `message` is the sum of its breakdown.

    At most `effective_limit` is sent: 90 % of `max_context`; the rest is for the answer.
    """

    system_tokens: Count
    tool_tokens: Count
    message_tokens: Count
    total_tokens: Count
    available_tokens: Count
    max_context: Count
    effective_limit: Count
    estimated: bool
    message_breakdown: MessageBreakdown
    budget_status: BudgetStatuses
    compaction: CompactionDue
    window_source: str | None = None
    """Where `max_context` comes from."""
    components: PromptComponents = PromptComponents()
    calibration: Quantity = 1.0
    """How many tokens this model counts for each that zkchat counts, as its provider reported."""


class DroppedItem(Value):
    """A message (by its id), a tool (`tool:NAME`) or a memory (its path, `fact:KEY`) that is not in a prompt."""

    id: str
    reason: str
    kind: Literal["message", "tool", "memory"] = "message"


class Retrieval(Value):
    """Who searches the notes for a turn, and why."""

    mode: RetrievalMode
    reason: str


class Prompt(Value):
    """What one model call sends, and what was dropped."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    usage: ContextUsage
    dropped: tuple[DroppedItem, ...] = ()
    documents: tuple[DocumentReference, ...] = ()
    """The documents that its messages name, and how each is delivered."""
    deleted: tuple[str, ...] = ()
    """The paths of those documents that are no longer there."""
    retrieval: Retrieval | None = None
    """How the turn gets passages; None in a stored prompt."""
    strategy: str


class Calibration(Value):
    """How many tokens a model counts for each that zkchat counts, in texts and in descriptions of tools."""

    text: Quantity = 1.0
    tools: Quantity | None = None
    """None until a call has shown it: descriptions then count like text, but never less than zkchat counts."""
    calls: Count = 0
    """Measurements of text alone so far."""

    @property
    def tool_factor(self) -> float:
        return max(1.0, self.text) if self.tools is None else self.tools


class TurnMetrics(Value):
    """What a turn measured: how its models count, and the keys of the facts it used."""

    calibrations: tuple[tuple[str, Calibration], ...] = ()
    facts: tuple[str, ...] = ()


class SentPrompt(Value):
    """What one model call of a turn was sent; `call` counts from 1.

    `prompt.dropped` has no messages; `context/prompt_history` derives them from the log.
    """

    question_id: str
    call: Count
    model: str
    prompt: Prompt
    usage: TokenUsage | None = None
    """As the provider reported; None if it did not, or failed."""
    request: dict[str, Any] | None = None
    """The body of the call, with null for each part that is made of the prompt; None for a model without a server."""
    summarized_through: str | None = None
    """The last message that the prompt's summary covers."""
