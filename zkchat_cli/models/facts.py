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
    # When the fact was last part of a prompt; updated once a day
    last_accessed: str | None = None
    ended_at: str | None = None
    # The agent that the fact belongs to; None if all agents share it
    agent: str | None = None
    # The title of the conversation in which it was learned, if that still exists
    title: str | None = None
