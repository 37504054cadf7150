"""Conversations on disk: nothing that was said is ever lost, and no SQL leaves this package.

`sessions` is the store itself, `opened` how one is worked with while it is open, `file` opens and checks its database (`waiting` reads its
log where SQLite cannot), `migrations` is its schema's history, `rows` the border between values and rows, `conversations` their labels,
`archives` a conversation as one value, `erasing` its deletion for good, `typed` the lines that were typed in chats, `mentions` which
answers used a note, `facts` what is to be remembered, `spoken` full-text search over what was said, `faults` what SQLite's errors mean to a
person. `imports` reads conversations that other programs or we exported (`foreign` their messages, `places` says on which line something
stands), `titles` are for a shell's completion.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zkchat_cli.store.chat_session_store import ChatSessionStore

__all__ = ["ChatSessionStore"]


def __getattr__(name: str) -> Any:
    """The store when it is asked for: `titles` must not load pydantic, as a shell waits for it while somebody types."""
    if name == "ChatSessionStore":
        from zkchat_cli.store.chat_session_store import ChatSessionStore

        return ChatSessionStore
    raise AttributeError(name)
