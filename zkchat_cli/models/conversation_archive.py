"""A conversation outside the store: what `context export --format json` writes and `context import` reads.

Other programs read it, too: docs/reference/export.md says where, and the fields are described here.
"""

from typing import Any, Literal

from pydantic import Field

from zkchat_cli.models.base import Count, Value
from zkchat_cli.models.conversations import Compaction, Conversation
from zkchat_cli.models.messages import TokenUsage, ZkChatMessage
from zkchat_cli.models.prompts import ContextUsage, DroppedItem, PromptMessage, PromptTool


class ArchivedCall(Value):
    """One model call: what it was sent."""

    question_id: str = Field(description="The id of the user's message that the call answers.")
    model: str = Field(description="The model's name.")
    usage: TokenUsage | None = Field(default=None, description="The usage that the provider reported; null if it reported none or failed.")
    request: dict[str, Any] | None = Field(
        default=None, description="The body of the call, null for each part made of the prompt; null for a model without a server."
    )
    strategy: str = Field(description="The context strategy.")
    dropped: tuple[DroppedItem, ...] = Field(default=(), description="Tools (`tool:NAME`) and memories that were left out.")
    figures: ContextUsage = Field(description="The prompt's tokens by component, against the budgets of that time.")
    messages: tuple[Count, ...] = Field(default=(), description="The prompt's messages in order: indexes into `prompts.messages`, from 0.")
    tools: tuple[Count, ...] = Field(default=(), description="The prompt's tools in order: indexes into `prompts.tools`, from 0.")


class ArchivedPrompts(Value):
    """What the model calls were sent, in the order in which they were made."""

    messages: tuple[PromptMessage, ...] = Field(description="Every message of the prompts, once.")
    tools: tuple[PromptTool, ...] = Field(description="Every tool of the prompts, once; another description is another tool.")
    calls: tuple[ArchivedCall, ...] = Field(description="The calls; those of one question are its first, second … call.")


class ConversationArchive(Value):
    """A whole conversation for export and import: every branch of its log, every compaction, the prompts of its calls. Lossless."""

    format: Literal["zkchat-conversation"] = "zkchat-conversation"
    version: Literal[3] = 3
    conversation: Conversation
    messages: tuple[ZkChatMessage, ...] = Field(description="Every message of every branch, in the order of writing: a parent comes first.")
    compactions: tuple[Compaction, ...] = Field(default=(), description="In the order they were made.")
    prompts: ArchivedPrompts | None = Field(
        default=None, description="What the model calls were sent; null if none were stored, for example in an imported conversation."
    )
