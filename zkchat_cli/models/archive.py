"""A whole conversation as one value: what the lossless export holds."""

from typing import Literal

from pydantic import ConfigDict

from zkchat_cli.models.base import Count, Value
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import TokenUsage, ZkChatMessage
from zkchat_cli.models.prompts import ContextUsage, DroppedItem, PromptMessage, PromptTool


class ArchivedCall(Value):
    """What one model call was sent (see SentPrompt): its messages and tools in order, as indexes
    into those of `prompts`, from 0.
    """

    # Older versions of zkchat also stored the request here
    model_config = ConfigDict(extra="ignore")

    question_id: str
    model: str
    usage: TokenUsage | None = None
    strategy: str
    dropped: tuple[DroppedItem, ...] = ()
    figures: ContextUsage
    messages: tuple[Count, ...] = ()
    tools: tuple[Count, ...] = ()


class ArchivedPrompts(Value):
    """What the model calls were sent, in the order in which they were made; each message and each
    tool of the prompts is listed once.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    calls: tuple[ArchivedCall, ...]


class ConversationArchive(Value):
    """A whole conversation for export and import: every branch of its log, every compaction, the
    prompts of its calls. Lossless.

    Messages are in the order of writing, a parent before its children. `prompts` is None if none
    were stored.
    """

    format: Literal["zkchat-conversation"] = "zkchat-conversation"
    version: Literal[3] = 3
    conversation: Conversation
    messages: tuple[ZkChatMessage, ...]
    compactions: tuple[Compaction, ...] = ()
    prompts: ArchivedPrompts | None = None
