"""A conversation outside the store: what `context export --format json` writes and `context import` reads.

Other programs read it by the JSON Schema that is made from these classes, so each field says there what it holds. The prompts of past
calls would repeat the conversation with every call; told by places and by what changed from call to call, they grow with it and no more.
"""

from typing import Annotated, Literal

from pydantic import Field

from zkchat_cli.models.base import Value
from zkchat_cli.models.conversations import Compaction, Conversation
from zkchat_cli.models.messages import Role, ThinkingBlocks, TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.models.prompts import ContextUsage, Dropped, PromptKind, PromptTool

Count = Annotated[int, Field(ge=0)]
Place = tuple[Count, Count, Count]
"""Words that stand elsewhere: a place in the piece's `sources`, the first character (Unicode code point) there, how many characters."""
Run = tuple[Literal[0, 1], Count, Count]
"""0, a place in the same list of the call before, how many from there; or 1, a piece's number, how many count up from it."""

_RUNS = (
    "Its {0}, in their order, as runs of three numbers. [0, start, count]: {0} number start to start + count - 1 of the call before this "
    "one in `calls` (of the first call: of an empty list). [1, start, count]: the entries start to start + count - 1 of `{1}`. "
    "All counts begin at 0."
)


class ArchivedPiece(Value):
    """A message that some call was sent, exactly as the model got it. Its words are the parts of `content`, one after the other."""

    role: Role
    content: tuple[str | Place, ...] = Field(
        default=(),
        description="Words as they are, or [source, start, length]: so many characters (Unicode code points) from that one on, counted "
        "from 0, of what `sources` names at that place, from 0: of the `content` of a message, of the `summary` of a compaction.",
    )
    tool_calls: tuple[ToolCall, ...] = Field(default=(), description="Tools that the model called with this message.")
    tool_call_id: str | None = Field(default=None, description="Of a tool's answer: the call's id.")
    thinking: ThinkingBlocks | None = Field(default=None, description="Reasoning that was sent back to its provider.")
    tokens: int = Field(description="All it took; `call_tokens` and `thinking_tokens` are parts of them.")
    call_tokens: int = Field(default=0, description="What its tool calls took.")
    thinking_tokens: int = Field(default=0, description="What the reasoning took.")
    kind: PromptKind = Field(description="What it was in the prompt for.")
    sources: tuple[Count | str, ...] = Field(
        default=(),
        description="What it was made from. A number: the message at that place of the conversation's `messages`, from 0. A text: the id "
        "of a compaction (its words are its summary or, where it has none, that of the nearest one before it in `compactions` that has "
        "one), the path of a note, or the key of what was remembered.",
    )


class ArchivedCall(Value):
    """A model call: what it was sent, and what that came to."""

    question: Count = Field(description="The user's message that it was to answer: its place in the conversation's `messages`, from 0.")
    model: str = Field(description="The model's name.")
    usage: TokenUsage | None = Field(default=None, description="What the provider reported; null where it reported nothing or failed.")
    strategy: str = Field(description="How the history was made to fit.")
    dropped: tuple[Dropped, ...] = Field(
        default=(), description="What was left out of tools (`tool:NAME`) and of memory. Messages that no run names were left out as well."
    )
    figures: ContextUsage = Field(description="The prompt's tokens, by component and against the budgets of then.")
    messages: tuple[Run, ...] = Field(default=(), description=_RUNS.format("messages", "pieces"))
    tools: tuple[Run, ...] = Field(default=(), description=_RUNS.format("tools", "tools") + " Here `tools` is the list beside `calls`.")


class ArchivedPrompts(Value):
    """What the model calls were sent, in the order in which they were stored; those of one question are its first, second … call."""

    pieces: tuple[ArchivedPiece, ...] = Field(description="Every message that was in some prompt, once.")
    tools: tuple[PromptTool, ...] = Field(description="Every tool that some call offered, once; another description is another tool.")
    calls: tuple[ArchivedCall, ...] = Field(description="The calls, each told by what differs from the one before it.")


class ConversationArchive(Value):
    """A whole conversation for export and import: every branch of its log, every compaction, the prompts of its calls. Lossless."""

    format: Literal["zkchat-conversation"] = "zkchat-conversation"
    version: Literal[1, 2] = Field(
        default=2, description="1 had neither `prompts` nor compactions that were taken back; it is still read. 2 is what is written."
    )
    conversation: Conversation
    messages: tuple[ZkChatMessage, ...] = Field(description="Every message of every branch, in the order of writing: a parent comes first.")
    compactions: tuple[Compaction, ...] = Field(default=(), description="In the order in which they were made.")
    prompts: ArchivedPrompts | None = Field(
        default=None, description="What the model calls were sent; null where none was kept, as of a conversation of another program."
    )
