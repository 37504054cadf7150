"""The exact prompt of a model call, and its tokens by component."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from zkchat_cli.models.base import Count, Quantity, Value, _LogValue
from zkchat_cli.models.messages import RetrievalMode, Role, ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.models.notes import ContentChunk, DocumentReference

PromptKind = Literal[
    "system", "summary", "memory", "documents", "tool_results", "recalled", "conversation"
]
"""What a message of a prompt has: `recalled` are passages of older turns, quoted for this message.
"""


class PromptMessage(_LogValue):
    """A message exactly as the model gets it; `source_ids` are the log messages or note paths it
    was made from.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    # Including `call_tokens` (tool calls) and `thinking_tokens` (reasoning sent back)
    tokens: Count
    call_tokens: Count = 0
    thinking_tokens: Count = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()
    chunks: tuple[ContentChunk, ...] = Field((), exclude=True)
    """The numbered excerpts in `content`, in its order, for a provider that takes them as values;
    empty if `content` has lost the middle of their text. Neither stored nor exported.
    """

    def as_stored(self) -> "PromptMessage":
        """The message as the store returns it: without reasoning that is of no use after the turn,
        and with its excerpts as text only.
        """
        thinking = self.thinking
        if thinking is not None and not thinking.stored:
            thinking = None
        if thinking is self.thinking and not self.chunks:
            return self
        return self.model_copy(update={"thinking": thinking, "chunks": ()})

    def thinking_for(self, provider: str) -> tuple[dict[str, Any], ...]:
        """The blocks of reasoning that go back to a provider: its own."""
        return (
            self.thinking.blocks
            if self.thinking is not None and self.thinking.provider == provider
            else ()
        )


class PromptTool(Value):
    """A tool as the model gets it: `descriptor` in the OpenAI function form."""

    name: str
    descriptor: dict[str, Any]
    tokens: Count


class BudgetStatus(Value):
    used: Count
    budget: Count
    percentage: Quantity


class CompactionDue(Value):
    due: bool
    reason: str | None = None
    # Tokens of a prompt above which it is due; None if the strategy does not summarize
    at: Count | None = None
    # What the prompt would take with all turns that no summary covers, which is compared with `at`
    tokens: Count | None = None


_MESSAGE_KINDS = tuple(kind for kind in get_args(PromptKind) if kind != "system")

_COMPONENTS = ("content", "tools", "tool_calls", "reasoning", "overhead")


def _with_all(names: Sequence[str]) -> Callable[[dict[str, int]], dict[str, int]]:
    """Figures of exactly these names, in this order: those that were stored by an earlier version
    are without zeros.
    """
    return lambda found: {name: found.get(name, 0) for name in names}


class ContextUsage(Value):
    """Tokens of a prompt by component: total = system + tool + message. At most `effective_limit`
    is sent; the rest is for the answer.
    """

    system_tokens: Count
    tool_tokens: Count
    message_tokens: Count
    total_tokens: Count
    available_tokens: Count
    max_context: Count
    effective_limit: Count
    estimated: bool
    # Of every kind but the instructions
    message_breakdown: Annotated[dict[PromptKind, Count], AfterValidator(_with_all(_MESSAGE_KINDS))]
    budget_status: dict[str, BudgetStatus]  # of system, tools and messages
    compaction: CompactionDue
    window_source: str | None = None  # where `max_context` comes from
    components: Annotated[dict[str, Count], AfterValidator(_with_all(_COMPONENTS))] = dict.fromkeys(
        _COMPONENTS, 0
    )
    """All tokens by purpose: `content` is what is said, `overhead` the provider's cost for each
    message; tools, tool calls, reasoning.
    """
    # How many tokens this model counts for each that zkchat counts, as its provider reported
    calibration: Quantity = 1.0


class DroppedItem(Value):
    """A message (by its id), a tool (`tool:NAME`) or a memory (its path, `fact:KEY`) that is not in
    a prompt.
    """

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
    # The documents that its messages name, and how each is delivered
    documents: tuple[DocumentReference, ...] = ()
    # The paths of those documents that are no longer there
    deleted: tuple[str, ...] = ()
    # How the turn gets passages; None in a stored prompt
    retrieval: Retrieval | None = None
    strategy: str


class Calibration(Value):
    """How many tokens a model counts for each that zkchat counts, in texts and in descriptions of
    tools.
    """

    text: Quantity = 1.0
    # None until a call has shown it: descriptions then count like text, but never less than zkchat
    # counts
    tools: Quantity | None = None
    calls: Count = 0  # measurements of text alone so far

    @property
    def tool_factor(self) -> float:
        return max(1.0, self.text) if self.tools is None else self.tools


class SentPrompt(Value):
    """What one model call of a turn was sent; `call` counts from 1. `prompt.dropped` has no
    messages (see `context/prompt_history`).
    """

    question_id: str
    call: Count
    model: str
    prompt: Prompt
    # As the provider reported; None if it did not, or failed
    usage: TokenUsage | None = None
    # The last message that the prompt's summary covers
    summarized_through: str | None = None
