"""What the store keeps: conversations with their summaries, facts that outlast them, and what is found in them again."""

from typing import Literal

from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import TokenUsage, ZkChatMessage

MentionKind = Literal["named", "import", "link", "memory", "found", "cited"]
CompactionMode = Literal["none", "masked", "full", "simple", "extractive", "truncated"]


class Compaction(Value):
    """What stands in the prompt in place of what was said: a summary for the messages from the conversation's start through `last_id`, and
    shortened versions of the results and documents that the `masked` messages brought in. It deletes nothing.

    One that only masks has no summary: an earlier one goes on to hold. `mode` "none" is stored where a model was asked in vain, so that it
    is not asked again at once; it holds nothing.
    """

    id: str
    created_at: str
    last_id: str | None = None
    tokens_before: int
    tokens_after: int
    messages_folded: int
    results_masked: int = 0
    summary: str | None = None
    summary_tokens: int = 0
    mode: CompactionMode
    model_calls: int = 0
    instructions: str | None = None
    preview: bool = False
    masked: tuple[str, ...] = ()
    made_after: str | None = None
    """The newest message when it was made."""
    usage: TokenUsage | None = None
    """What its model calls cost."""
    problem: str | None = None
    """Why it is not the summary that the model was asked for first."""
    undone: bool = False
    """Whether it was taken back: then it holds no more, but prompts from before had it."""


class Conversation(Value):
    """A conversation's label: `vault` is the real path of its notes, `head_id` the newest message of the current branch."""

    id: str
    vault: str
    title: str | None = None
    created_at: str
    updated_at: str
    head_id: str | None = None


class ConversationSummary(Conversation):
    """A conversation as a list shows it: how many questions and answers its log has (what tools were asked and returned is none), what all
    of it says in tokens, and how its first question begins."""

    messages: int
    first_line: str | None = None
    tokens: int = 0


class Mention(Value):
    """How one answer used one note; or how a question did, whose answer did not (`message_id` is then the question's).

    `how` it came in, each once: named by the user, with an import or as a linked note, from memory, found by a tool, cited. `numbers` are
    those of the note's chunks that were found or cited; of the `citations`, so many `held`.
    """

    conversation_id: str
    title: str | None
    message_id: str
    timestamp: str
    question: str | None
    """The user's words, shortened; None where nobody asked (an imported conversation may begin with an answer)."""
    how: tuple[MentionKind, ...]
    numbers: tuple[int, ...] = ()
    citations: int = 0
    held: int = 0


class Fact(Value):
    """Something that somebody asked to remember. A newer one with its `key` takes its place; it is then kept as history (`ended_at`).

    `source` is who asked: `user`, `model`, or the path of the file it was imported from; the conversation and the message say where.
    """

    key: str
    content: str
    source: str
    conversation_id: str | None = None
    message_id: str | None = None
    created_at: str
    last_accessed: str | None = None
    """When it last went into a prompt, to the day."""
    ended_at: str | None = None
    title: str | None = None
    """Of the conversation, where it has one and is still there."""


class MostCitedNote(Value):
    """A note that answers in several conversations cited; `last_cited` is when, the newest time."""

    relative_path: str
    conversations: int
    answers: int
    last_cited: str


class FoundMessage(Value):
    """A message of some conversation that a search found; `score` is higher for better, comparable within one search only."""

    conversation_id: str
    title: str | None
    message: ZkChatMessage
    score: float
