"""Finding damage in a store, and saving what can be read of it into a new one.

The tables are read row by row, past the pages that SQLite cannot read, and put into a store in memory, where nothing checks them. Reading
conversations from there is reading them from any store: damaged messages say so, and one that is missing is in its place.
"""

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.errors import StoreDamaged, StoreError
from zkchat_cli.fileio import scratch_file
from zkchat_cli.models import Conversation, Fact
from zkchat_cli.store import compactions, conversations, facts, rows
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.database import StoreConnection, connect
from zkchat_cli.store.sqlite_errors import describe_store, translate_errors

_TABLES = ("conversation", "message", "compaction", "fact", "piece", "prompt")
_MOST_SKIPPED = 10_000
"""Row numbers that are tried one by one behind a row that cannot be read: a lost page of a tree has the places of some thousand rows."""
_HEADER = 100
"""Bytes of a file's header, which is the same for every store."""
_LOCKED_BYTE = 128
"""Of the -shm file: every process that has the store open holds a lock on it."""
_RECOVERED_TITLE = "Recovered conversation"
_UNKNOWN = "unknown"


class RowCounts(NamedTuple):
    conversations: int = 0
    messages: int = 0
    facts: int = 0


def check_store(file: Path) -> None:
    """Read everything that is stored. Raises StoreDamaged if some of it is not what was written, StoreError for other problems."""
    with translate_errors(file, "be read in full"), closing(connect(file)) as db:
        [result] = db.execute("PRAGMA integrity_check(1)").fetchone()
        if result != "ok":
            raise ValueError(result)
        db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        for (body,) in db.execute("SELECT body FROM piece UNION ALL SELECT body FROM prompt UNION ALL SELECT packed FROM compaction"):
            rows.decompress(body)
        damaged = {
            "messages": sum(not rows.is_intact(row) for row in db.execute(f"SELECT {', '.join(rows.MESSAGE)} FROM message")),
            "titles": sum(not conversations.is_intact(row) for row in _row_dicts(db, "conversation")),
            "facts": sum(not facts.is_intact(row) for row in _row_dicts(db, "fact")),
        }
        if any(damaged.values()):
            raise ValueError(", ".join(f"damaged {name}: {number}" for name, number in damaged.items() if number))


def repair_store(file: Path, date: str, new_id: Callable[[], str]) -> tuple[Path, RowCounts, RowCounts] | None:
    """Replace a damaged store by one with everything that can be read; None if it is not damaged.

    Gives the damaged file under its new name, what was saved, and what is known to be lost, of which some messages may be saved. Raises
    StoreError, and then nothing has changed: another program has it open, it is not a store of this version, or nothing can be read.
    """
    try:
        check_store(file)
        return None
    except StoreDamaged:
        pass
    with translate_errors(file, "be repaired"), _locked(file):
        new = scratch_file(file)
        try:
            with closing(ChatSessionStore.open(new)) as target:
                saved, lost = _save_rows(file, target, new_id)
            if not saved.conversations and not saved.facts:
                raise StoreError(f"{describe_store(file)} has nothing that can be read", "Nothing was changed. Put a backup in its place.")
            names = (file.with_name(f"{file.name}.damaged-{date}{f'-{n}' if n else ''}") for n in range(1000))
            kept = next(name for name in names if not name.exists())
            for suffix in ("-wal", ""):
                if (part := Path(f"{file}{suffix}")).exists():
                    part.rename(f"{kept}{suffix}")
            Path(f"{file}-shm").unlink(missing_ok=True)
            new.rename(file)
        finally:
            _delete_database(new)
    return kept, saved, lost


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Raises StoreError while another process has the store open: it would go on writing to the damaged file."""
    shared = Path(f"{file}-shm")
    if os.name != "posix" or not shared.exists():
        yield
        return
    import fcntl  # not on Windows

    with shared.open("r+b") as opened:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _LOCKED_BYTE)
        except BlockingIOError as e:
            raise StoreError(f"{describe_store(file)} is open in another program", "Close other zkchats and try again.") from e
        yield


def _save_rows(file: Path, target: ChatSessionStore, new_id: Callable[[], str]) -> tuple[RowCounts, RowCounts]:
    """Fill a new store with what can be read; gives what was saved and what was lost.

    Past prompts of a conversation are saved only if all can be read, summaries only of messages that are there.
    """
    saved, lost = Counter[str](), Counter[str]()
    with closing(connect(None)) as db:
        _copy_rows(db, file)
        _drop_damaged(db, lost)
        source = ChatSessionStore(StoreConnection(db))
        for overview in reversed(source.conversations()):
            try:
                archive = source.archive(overview.id, prompts=True)
            except StoreError:
                archive = source.archive(overview.id)
            ids = [None, *(message.id for message in archive.messages)]
            head = archive.conversation.head_id if archive.conversation.head_id in ids else ids[-1]
            values = {
                "compactions": tuple(each for each in archive.compactions if each.last_id in ids),
                "conversation": archive.conversation.model_copy(update={"head_id": head}),
            }
            target.restore_all([archive.model_copy(update=values)], new_id)
            intact = [message for message in archive.messages if message.status != "damaged"]
            saved.update(conversations=1, messages=len(intact))
            lost["messages"] += max(len(archive.messages) - len(intact), overview.messages - sum(map(rows.is_chat, intact)))
        for row in _row_dicts(db, "fact"):
            target.remember(row["vault"], Fact.model_validate({name: row[name] for name in facts.COLUMNS}))
            saved["facts"] += 1
    return RowCounts(**saved), RowCounts(**{name: lost[name] for name in RowCounts._fields})


def _copy_rows(db: sqlite3.Connection, file: Path) -> None:
    """Fill an empty store with the rows of a damaged file, unchecked; they are read from a copy with an intact header."""
    header = bytearray(db.serialize()[:_HEADER])
    header[28:32] = bytes(4)  # the number of pages: SQLite looks at the size of the file
    db.execute("PRAGMA foreign_keys = OFF")
    for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    copy = scratch_file(file)
    try:
        shutil.copyfile(file, copy)
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{file}-wal", f"{copy}-wal")
        with copy.open("r+b") as opened:
            opened.write(header)
        with closing(sqlite3.connect(copy)) as damaged:
            damaged.text_factory = rows.decode_leniently
            damaged.execute("PRAGMA writable_schema = ON")  # ignores tables that are not described well
            for table in _TABLES:
                with suppress(sqlite3.DatabaseError):
                    for row in _readable_rows(damaged, table):
                        with suppress(sqlite3.Error):  # a damaged value that the table does not take
                            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    finally:
        _delete_database(copy)


def _readable_rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, past damaged pages. Raises DatabaseError if the table itself is lost."""
    db.execute(f"SELECT 1 FROM {table} LIMIT 0")
    last, skipped = 0, 0
    while skipped < _MOST_SKIPPED:
        try:
            for row in db.execute(f"SELECT * FROM {table} NOT INDEXED WHERE seq > ? ORDER BY seq", (last,)):
                yield row
                last, skipped = row[0] if last < row[0] < last + _MOST_SKIPPED else last + 1, 0
            return
        except sqlite3.DatabaseError:
            last, skipped = last + 1, skipped + 1


def _drop_damaged(db: sqlite3.Connection, lost: Counter[str]) -> None:
    """Leave out what is damaged, except messages, and count it. A conversation that has only messages left gets a new title."""
    damaged = {
        "fact": [row["seq"] for row in _row_dicts(db, "fact") if not facts.is_intact(row)],
        "conversation": [row["seq"] for row in _row_dicts(db, "conversation") if not conversations.is_intact(row)],
        "compaction": [],
    }
    lost["facts"] += len(damaged["fact"])
    for row in _row_dicts(db, "compaction"):
        try:
            compactions.to_compaction([row[name] for name in compactions.COLUMNS])
        except rows.UNREADABLE:
            damaged["compaction"].append(row["seq"])
    for table, seqs in damaged.items():
        db.executemany(f"DELETE FROM {table} WHERE seq = ?", [(seq,) for seq in seqs])
    [vault] = db.execute("SELECT vault FROM conversation GROUP BY vault ORDER BY count(*) DESC LIMIT 1").fetchone() or ("",)
    orphans = """SELECT conversation_id, min(timestamp), max(timestamp) FROM message
        WHERE conversation_id NOT IN (SELECT id FROM conversation) GROUP BY conversation_id"""
    for id_, first, last in db.execute(orphans).fetchall():
        lost["conversations"] += 1
        found = Conversation(id=id_, vault=vault, title=_RECOVERED_TITLE, created_at=first, updated_at=last, head_id=_UNKNOWN)
        rows.insert(db, "conversation", rows.column_values(found, rows.CONVERSATION))


def _row_dicts(db: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    found = db.execute(f"SELECT * FROM {table} ORDER BY seq")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def _delete_database(file: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
