"""A plain list of messages, `[{"role", "content", …}]`."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from zkchat_cli.importers._imported_messages import ImportedMessage, ImportedSession
from zkchat_cli.importers.base import DocumentImporter, validate
from zkchat_cli.models.archive import ConversationArchive


def _is_message_list(document: Any) -> bool:
    return isinstance(document, list) and bool(document)


def _read(
    document: Any, vault: str, new_id: Callable[[], str], now: str
) -> list[ConversationArchive]:
    zone = datetime.fromisoformat(now).tzinfo
    session = ImportedSession(messages=validate(list[ImportedMessage], document, zone))
    return [session.archive(vault, new_id, now)]


IMPORTER = DocumentImporter(kind="messages", recognizes=_is_message_list, read=_read)
