"""zk-chat's `chat_sessions.json`: conversations by their names."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from zkchat_cli.importers._imported_messages import ImportedSession
from zkchat_cli.importers.base import DocumentImporter, validate
from zkchat_cli.models.archive import ConversationArchive


def _has_sessions(document: Any) -> bool:
    if not isinstance(document, dict) or isinstance(document.get("format"), str):
        return False
    return any(isinstance(entry, dict) and "messages" in entry for entry in document.values())


def _read(
    document: Any, vault: str, new_id: Callable[[], str], now: str
) -> list[ConversationArchive]:
    zone = datetime.fromisoformat(now).tzinfo
    sessions = validate(dict[str, ImportedSession], document, zone)
    return [session.archive(vault, new_id, now) for session in sessions.values()]


IMPORTER = DocumentImporter(kind="chat sessions", recognizes=_has_sessions, read=_read)
