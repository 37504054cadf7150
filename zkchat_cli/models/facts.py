"""Facts that outlast a conversation."""

from zkchat_cli.models.base import Value


class Fact(Value):
    """A remembered fact. A newer one with the same `key` replaces it; it then stays as history
    (`ended_at`).

    `source` is `user`, `model`, or the path of an imported file.
    """

    key: str
    content: str
    source: str
    conversation_id: str | None = None
    message_id: str | None = None
    created_at: str
    # When it last went into a prompt; updated once a day
    last_accessed: str | None = None
    ended_at: str | None = None
    # The agent that it belongs to; None if it is shared
    agent: str | None = None
    # Of the conversation, if it still exists
    title: str | None = None
