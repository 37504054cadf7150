"""Stored conversations, compactions and facts, and what searches find in them."""

from typing import Literal

from zkchat_cli.models.base import Count, Value
from zkchat_cli.models.messages import TokenUsage, ZkChatMessage

CompactionMode = Literal["none", "masked", "full", "simple", "extractive", "truncated"]


class Compaction(Value):
    """What the prompt has in place of old messages: a summary of those from the first through `last_id`, and shortened results and
    documents of the `masked` messages. It deletes nothing.

    One that only masks has no summary; the earlier one stays in use. `mode` "none" changes nothing.
    """

    id: str
    created_at: str
    last_id: str | None = None
    tokens_before: Count
    tokens_after: Count
    messages_folded: Count
    results_masked: Count = 0
    summary: str | None = None
    summary_tokens: Count = 0
    quoted: tuple[str, ...] = ()
    """The first messages of the turns that an extractive summary quotes: the next one is chosen from them and newer turns."""
    mode: CompactionMode
    model_calls: Count = 0
    instructions: str | None = None
    preview: bool = False
    masked: tuple[str, ...] = ()
    made_after: str | None = None
    """The newest message at that time."""
    model: str | None = None
    """The model that was asked for the summary."""
    usage: TokenUsage | None = None
    """Of its model calls."""
    requested: bool = False
    """The user asked for it; `usage` is part of no answer's usage then."""
    problem: str | None = None
    """Why the first requested summary was not used."""
    state: str | None = None
    """Of a preview: a digest of everything that it was made from. A compaction of the same state uses the preview."""
    undone: bool = False
    """An undone compaction is no longer used, but earlier prompts had it."""

    def with_summary_of(self, earlier: "Compaction | None") -> "Compaction":
        """The compaction as prompts use it: one that only masks gets the earlier summary, others stay as they are."""
        if self.summary or earlier is None:
            return self
        return self.model_copy(update=earlier.model_dump(include={"summary", "summary_tokens", "quoted", "last_id"}))


class Conversation(Value):
    """`vault` is the real path of its notes, `head_id` the newest message of the current branch."""

    id: str
    vault: str
    title: str | None = None
    created_at: str
    updated_at: str
    head_id: str | None = None


class ConversationOverview(Conversation):
    """A conversation for lists: its number of questions and answers, its tokens, and the beginning of its first question."""

    messages: int
    first_line: str | None = None
    tokens: int = 0


class Fact(Value):
    """A remembered fact. A newer one with the same `key` replaces it; it then stays as history (`ended_at`).

    `source` is `user`, `model`, or the path of an imported file.
    """

    key: str
    content: str
    source: str
    conversation_id: str | None = None
    message_id: str | None = None
    created_at: str
    last_accessed: str | None = None
    """When it last went into a prompt; updated once a day."""
    ended_at: str | None = None
    agent: str | None = None
    """The agent that it belongs to; None if it is shared."""
    title: str | None = None
    """Of the conversation, if it still exists."""


class NoteUsage(Value):
    """How often the conversations about a vault used a note."""

    relative_path: str
    conversations: int
    answers: int
    citations: int
    last_used: str


class FoundMessage(Value):
    """A message that a search found; `score` is comparable within one search only."""

    conversation_id: str
    title: str | None
    message: ZkChatMessage
    score: float
