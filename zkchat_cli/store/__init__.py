"""Conversations on disk: nothing that was said is ever lost, and no SQL leaves this package.

`sessions` is the store itself, `file` opens and checks its database, `migrations` is its schema's history, `rows` the border between
values and rows, `conversations` their labels, `archives` a conversation as one value, `erasing` its deletion for good, `mentions` which
answers used a note, `facts` what is to be remembered, `spoken` full-text search over what was said, `faults` what SQLite's errors mean to
a person. `imports` reads conversations that we or other programs exported.
"""

from zkchat_cli.store.sessions import ChatSessionStore

__all__ = ["ChatSessionStore"]
