"""Stores as earlier versions left them: written row by row as those did, or read from a dump in `stores/` that such a version made."""

import sqlite3
from pathlib import Path

from zkchat_cli.models import ZkChatMessage
from zkchat_cli.store.database import connect
from zkchat_cli.store.migrations import SCRIPTS

NOON = "2025-05-08T12:00:00+00:00"
DUMPS = Path(__file__).parent / "stores"
COLUMNS = ("id", "parent_id", "role", "content", "status", "timestamp")


def older(file: Path, version: int, *messages: ZkChatMessage) -> sqlite3.Connection:
    """A store of a version before 6 with one conversation, `c1`, of these messages."""
    database = connect(file, SCRIPTS[:version])
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN")
    database.execute(
        "INSERT INTO conversation (id, vault, title, created_at, updated_at) VALUES ('c1', '/notes', 'Talk c1', ?, ?)", (NOON, NOON)
    )
    for message in messages:
        rest = message.model_dump_json(exclude=set(COLUMNS), exclude_defaults=True)
        values = (*(getattr(message, column) for column in COLUMNS), rest)
        database.execute(f"INSERT INTO message ({', '.join(COLUMNS)}, rest, conversation_id) VALUES (?, ?, ?, ?, ?, ?, ?, 'c1')", values)
    database.execute("UPDATE conversation SET head_id = ?", (messages[-1].id,))
    database.execute("COMMIT")
    return database


def dumped(file: Path, version: int) -> Path:
    """The store in the dump of that version."""
    database = sqlite3.connect(file)
    database.executescript((DUMPS / f"v{version}.sql").read_text(encoding="utf-8"))
    database.close()
    return file
