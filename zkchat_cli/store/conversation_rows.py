"""What stores have in common where they read the table `conversation`: the overview that is made of
a row, the choice by the beginning of an id, and the errors where there is none.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zkchat_cli.errors import ConversationExists, StoreError
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.store import rows
from zkchat_cli.store.codec import checksum
from zkchat_cli.text.truncate import truncate

COLUMNS = (*rows.CONVERSATION, "messages", "tokens", "question", "checksum")
# Conversations that a hint lists, and the characters of their titles
MOST_LISTED = 5
_TITLE_IN_HINT = 60


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether title and question of a conversation are as they were stored."""
    now = checksum(None, row["id"], row["vault"], row["title"], row["question"])
    return row["checksum"] in (None, now)


def to_overview(row: Sequence[Any], owner: str | None = None) -> ConversationOverview:
    """The overview of a row with `COLUMNS`, of the user's own or of another `owner`. A damaged
    title is replaced by one that says so.
    """
    values = dict(zip(COLUMNS, row, strict=True))
    if not is_intact(values):
        values["title"] = rows.DAMAGED_TITLE
        values["question"] = None
    values["documents"] = rows.from_json_list(values["documents"])
    lines = str(values["question"] or "").strip().splitlines()
    values["first_line"] = lines[0].strip() if lines else None
    values["owner"] = owner
    return ConversationOverview.model_validate(
        {name: values[name] for name in ConversationOverview.model_fields}
    )


def taken_id(conversation_id: str) -> ConversationExists:
    """What `start` raises for an id that a stored conversation has."""
    return ConversationExists(
        f"There is a conversation {conversation_id} already", "Nothing was stored."
    )


Recent = Callable[[], Sequence[ConversationOverview]]
"""Reads the conversations that a hint lists: the `MOST_LISTED` most recent ones."""


def choose(prefix: str, found: Sequence[ConversationOverview], recent: Recent) -> str:
    """The id of the one of the found conversations that `prefix` names. Raises StoreError if there
    is none, or if there are several.
    """
    if any(conversation.id == prefix for conversation in found):
        return prefix
    if not found:
        raise StoreError(
            f"no conversation has an id that begins with {prefix!r}", recent_hint(recent())
        )
    if len(found) > 1:
        raise StoreError(
            f"{prefix!r} is the beginning of {len(found)} conversations: {_format_list(found)}",
            "Give more of the id.",
        )
    [only] = found
    return only.id


def unknown_conversation(
    conversation_id: str, recent: Sequence[ConversationOverview]
) -> StoreError:
    """The error for an id that is not stored."""
    return StoreError(f"there is no conversation {conversation_id}", recent_hint(recent))


def no_conversation_yet(vault: str | None, recent: Sequence[ConversationOverview]) -> StoreError:
    """The error if the vault has no conversation that could be the most recent one."""
    where = f" with {vault}" if vault else ""
    hint = f'Start one: zkchat ask "…", or name one by its id. {recent_hint(recent)}'
    return StoreError(f"there is no conversation{where} yet", hint)


def recent_hint(recent: Sequence[ConversationOverview]) -> str:
    """A hint that lists these conversations."""
    return f"The most recent ones: {_format_list(recent)}" if recent else "The store is empty."


def _format_list(conversations: Sequence[ConversationOverview]) -> str:
    listed = ", ".join(_describe(each) for each in conversations[:MOST_LISTED])
    others = len(conversations) - MOST_LISTED
    return f"{listed} and {others} more" if others > 0 else listed


def _describe(conversation: ConversationOverview) -> str:
    title = truncate(conversation.title or conversation.first_line or "untitled", _TITLE_IN_HINT)
    date = conversation.updated_at[:10]
    return f"{conversation.id} ({title}, {date})"
