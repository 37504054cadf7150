"""The exact prompt of a model call, and its tokens by component."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from zkchat_cli.models.base import Count, Quantity, Value, _LogValue
from zkchat_cli.models.images import Image
from zkchat_cli.models.messages import RetrievalMode, Role, ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.models.notes import ContentChunk, DocumentReference

PromptKind = Literal[
    "system", "summary", "memory", "documents", "tool_results", "recalled", "conversation"
]
"""The kinds of messages in a prompt. `recalled` messages quote passages of older turns for the
current question.
"""


class PromptMessage(_LogValue):
    """A message exactly as the model gets it. `source_ids` are the log messages or note paths that
    it was made from.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    # Tokens of the whole message, including `call_tokens` (tool calls) and `thinking_tokens`
    # (reasoning that is sent back)
    tokens: Count
    call_tokens: Count = 0
    thinking_tokens: Count = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()
    # The pictures that go with `content`; their tokens are in `tokens`, too
    images: tuple[Image, ...] = ()
    image_tokens: Count = 0
    chunks: tuple[ContentChunk, ...] = Field((), exclude=True)
    """The numbered excerpts in `content`, in the same order, for a provider that takes them as
    values.

    Empty if their text has been shortened in `content`. Neither stored nor exported.
    """

    def as_stored(self) -> "PromptMessage":
        """The message as the store returns it: excerpts as text only, and no reasoning that is
        useless after the turn.
        """
        thinking = self.thinking
        if thinking is not None and not thinking.stored:
            thinking = None
        if thinking is self.thinking and not self.chunks:
            return self
        return self.model_copy(update={"thinking": thinking, "chunks": ()})

    def thinking_for(self, provider: str) -> tuple[dict[str, Any], ...]:
        """The blocks of reasoning that this provider gets back: its own."""
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
    """The tokens that one part of a prompt uses, its budget, and their ratio in percent, which is
    above 100 if the budget is exceeded.
    """

    used: Count
    budget: Count
    percentage: Quantity
    # Tokens of the budget that other parts have lent, because they do not use them
    lent: Count = 0


class CompactionDue(Value):
    """Whether a conversation should be compacted, and why."""

    due: bool
    reason: str | None = None
    # Tokens of a prompt above which compaction is due; None if the strategy does not summarize
    at: Count | None = None
    # Tokens of a prompt with all turns that no summary covers; this is compared with `at`
    tokens: Count | None = None
    # Whether it runs before this prompt would be sent
    runs_first: bool = False


_MESSAGE_KINDS = tuple(kind for kind in get_args(PromptKind) if kind != "system")

_COMPONENTS = ("content", "tools", "tool_calls", "reasoning", "images", "overhead")


def _with_all(names: Sequence[str]) -> Callable[[dict[str, int]], dict[str, int]]:
    """A validator that gives figures exactly these names, in this order.

    Figures that an earlier version stored lack the zeros.
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
    # Tokens by kind of message, without the instructions
    message_breakdown: Annotated[dict[PromptKind, Count], AfterValidator(_with_all(_MESSAGE_KINDS))]
    # The budgets of `system`, `tools` and `messages`
    budget_status: dict[str, BudgetStatus]
    compaction: CompactionDue
    # Where `max_context` comes from
    window_source: str | None = None
    components: Annotated[dict[str, Count], AfterValidator(_with_all(_COMPONENTS))] = dict.fromkeys(
        _COMPONENTS, 0
    )
    """All tokens by purpose. `content` is what is said, `overhead` the provider's cost for each
    message; the others are tools, tool calls and reasoning.
    """
    # Tokens that this model counts for each token that zkchat counts, as its provider reported
    calibration: Quantity = 1.0
    # The same for descriptions of tools
    tool_calibration: Quantity = 1.0
    # Whether tokens are estimated by characters, because a file of the tokenizer cannot be read
    by_characters: bool = False

    @property
    def message_budget(self) -> int:
        """Tokens that messages may take before compaction is due, with those that are lent."""
        return self.budget_status["messages"].budget


class DroppedItem(Value):
    """A message (by its id), a tool (`tool:NAME`) or memory (its path or `fact:KEY`) that a prompt
    leaves out.
    """

    id: str
    reason: str
    kind: Literal["message", "tool", "memory"] = "message"


class Retrieval(Value):
    """Who searches the notes for a turn, and why."""

    mode: RetrievalMode
    reason: str


class Prompt(Value):
    """What one model call sends, and what was left out."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    usage: ContextUsage
    dropped: tuple[DroppedItem, ...] = ()
    # The documents that its messages name, and how each one is delivered
    documents: tuple[DocumentReference, ...] = ()
    # The paths of those documents that no longer exist
    deleted: tuple[str, ...] = ()
    # Who searches the notes in this turn; None in a stored prompt
    retrieval: Retrieval | None = None
    strategy: str


class Calibration(Value):
    """How many tokens a model counts for each token that zkchat counts, in texts and in
    descriptions of tools.
    """

    text: Quantity = 1.0
    # None until a call has shown it. Until then descriptions count like text, but never less than
    # zkchat counts
    tools: Quantity | None = None
    # Number of calls so far that have measured text alone
    calls: Count = 0

    @property
    def tool_factor(self) -> float:
        return max(1.0, self.text) if self.tools is None else self.tools


class SentPrompt(Value):
    """The prompt of one model call of a turn. `call` counts from 1.

    `prompt.dropped` has no messages (see `context/prompt_history`).
    """

    question_id: str
    call: Count
    model: str
    prompt: Prompt
    # As the provider reported it; None if the provider did not, or if the call failed
    usage: TokenUsage | None = None
    # The last message that the prompt's summary covers
    summarized_through: str | None = None
