"""A whole conversation as one value: what the lossless export holds."""

from typing import Literal

from pydantic import ConfigDict

from zkchat_cli.models.base import Count, Value
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import TokenUsage, ZkChatMessage
from zkchat_cli.models.prompts import ContextUsage, DroppedItem, PromptMessage, PromptTool


class ArchivedCall(Value):
    """The prompt of one model call (see SentPrompt). Its messages and tools are indexes, from 0,
    into those of `prompts`.
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
    """The prompts of the model calls, in the order of the calls. Each message and each tool of the
    prompts is listed once.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    calls: tuple[ArchivedCall, ...]


class ConversationArchive(Value):
    """A whole conversation for lossless export and import.

    It has every branch of the log, every compaction and the prompts of the calls. A parent message
    comes before its children, and messages are in the order in which they were written. `prompts`
    is None if none were stored.
    """

    format: Literal["zkchat-conversation"] = "zkchat-conversation"
    version: Literal[3] = 3
    conversation: Conversation
    messages: tuple[ZkChatMessage, ...]
    compactions: tuple[Compaction, ...] = ()
    prompts: ArchivedPrompts | None = None
