"""Conversations, as lists and searches show them."""

from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import ZkChatMessage


class Conversation(Value):
    """A conversation. `vault` is the real path of its notes, `head_id` the newest message of the
    current branch. `documents` are in each prompt until they are dropped: paths in the vault, and
    absolute paths of other files.
    """

    id: str
    vault: str
    title: str | None = None
    created_at: str
    updated_at: str
    head_id: str | None = None
    documents: tuple[str, ...] = ()


class ConversationOverview(Conversation):
    """A conversation as a list shows it: with its number of questions and answers, its tokens, and
    the beginning of its first question. `owner` is who shares it on a server; None for one of the
    user's own.
    """

    messages: int
    first_line: str | None = None
    tokens: int = 0
    owner: str | None = None


class FoundMessage(Value):
    """A message that a search found; `score` is comparable within one search only."""

    conversation_id: str
    title: str | None
    message: ZkChatMessage
    score: float
