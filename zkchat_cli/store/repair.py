"""Finding damage in a store, and saving what can be read of it into a new one.

The rows that the pages still hold are put into a store in memory, where nothing checks them. Reading conversations from there is reading
them from any store: damaged messages say so, and one that is missing is in its place.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.errors import StoreDamaged, StoreError
from zkchat_cli.fileio import scratch_file
from zkchat_cli.models import Conversation, ConversationArchive, Fact
from zkchat_cli.store import codec, compactions, conversations, facts, page_scan, rows
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.database import StoreConnection, connect
from zkchat_cli.store.sqlite_errors import describe_store, translate_errors

_LOCKED_BYTE = 128
"""Of the -shm file: every process that has the store open holds a lock on it."""
_RECOVERED_TITLE = "Recovered conversation"
_UNKNOWN = "unknown"


class RowCounts(NamedTuple):
    conversations: int = 0
    messages: int = 0
    facts: int = 0


class RepairReport(NamedTuple):
    """`kept` is the damaged file under its new name. `lost` counts what left traces; some messages of a lost conversation may be saved."""

    kept: Path
    saved: RowCounts
    lost: RowCounts


def check_store(file: Path) -> None:
    """Read everything that is stored. Raises StoreDamaged if some of it is not what was written, StoreError for other problems."""
    with translate_errors(file, "be read in full"), closing(connect(file)) as db:
        db.text_factory = rows.decode_leniently
        [result] = db.execute("PRAGMA integrity_check(1)").fetchone()
        if result != "ok":
            raise ValueError(result)
        db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        for (body,) in db.execute("SELECT body FROM piece UNION ALL SELECT body FROM prompt UNION ALL SELECT packed FROM compaction"):
            codec.decompress(body)
        damaged = {
            "messages": sum(not rows.is_intact(row) for row in db.execute(f"SELECT {', '.join(rows.MESSAGE)} FROM message")),
            "titles": sum(not conversations.is_intact(row) for row in _row_dicts(db, "conversation")),
            "facts": sum(not facts.is_intact(row) for row in _row_dicts(db, "fact")),
        }
        if any(damaged.values()):
            raise ValueError(", ".join(f"damaged {name}: {number}" for name, number in damaged.items() if number))


def repair_store(file: Path, date: str, new_id: Callable[[], str]) -> RepairReport | None:
    """Replace a damaged store by one with everything that can be read; None if it is not damaged.

    Raises StoreError, and then nothing has changed: another program has it open, it is not a store of this version, or nothing can be read.
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
            kept = _free_name(file, date)
            for suffix in ("-wal", ""):
                if (part := Path(f"{file}{suffix}")).exists():
                    part.rename(f"{kept}{suffix}")
            Path(f"{file}-shm").unlink(missing_ok=True)
            new.rename(file)
        finally:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{new}{suffix}").unlink(missing_ok=True)
    return RepairReport(kept, saved, lost)


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


def _free_name(file: Path, date: str) -> Path:
    names = (file.with_name(f"{file.name}.damaged-{date}{f'-{n}' if n else ''}") for n in range(1000))
    return next(name for name in names if not name.exists())


def _save_rows(file: Path, target: ChatSessionStore, new_id: Callable[[], str]) -> tuple[RowCounts, RowCounts]:
    """What was saved, and what was lost."""
    saved, lost = Counter[str](), Counter[str]()
    with closing(connect(None)) as db:
        _copy_rows(db, file)
        _drop_damaged(db, lost)
        source = ChatSessionStore(StoreConnection(db))
        for overview in reversed(source.conversations()):
            archive = _restorable_archive(source, overview.id)
            target.restore(archive, new_id)
            intact = [message for message in archive.messages if message.status != "damaged"]
            saved.update(conversations=1, messages=len(intact))
            lost["messages"] += max(len(archive.messages) - len(intact), overview.messages - sum(map(rows.is_chat, intact)))
        for row in _row_dicts(db, "fact"):
            target.remember(row["vault"], Fact.model_validate({name: row[name] for name in facts.COLUMNS}))
            saved["facts"] += 1
    return RowCounts(**saved), RowCounts(**{name: lost[name] for name in RowCounts._fields})


def _restorable_archive(source: ChatSessionStore, conversation_id: str) -> ConversationArchive:
    """A conversation as it can be restored: past prompts only if they can be read, summaries only of messages that are there."""
    try:
        archive = source.archive(conversation_id, prompts=True)
    except StoreError:
        archive = source.archive(conversation_id)
    ids = [message.id for message in archive.messages]
    head = archive.conversation.head_id
    if head is not None and head not in ids:
        head = ids[-1] if ids else None
    made = tuple(each for each in archive.compactions if each.last_id is None or each.last_id in ids)
    return archive.model_copy(update={"compactions": made, "conversation": archive.conversation.model_copy(update={"head_id": head})})


def _copy_rows(db: sqlite3.Connection, file: Path) -> None:
    """Fill an empty store with the rows in a file's pages, unchecked."""
    db.execute("PRAGMA foreign_keys = OFF")
    for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    columns = {table: _columns(db, table) for table in ("conversation", "message", "compaction", "fact", "piece", "prompt")}
    for number, values in page_scan.read_rows(file, Path(f"{file}-wal")):
        for table, names in columns.items():
            if len(names) == len(values) and _belongs_to(table, row := dict(zip(names, values, strict=True))):
                with suppress(sqlite3.Error):  # a damaged value that the table does not take
                    rows.insert(db, table, {**row, "seq": number})
                break


def _belongs_to(table: str, row: dict[str, Any]) -> bool:
    """Whether the columns of a row, which may be damaged, look like those of a table."""
    match table:
        case "conversation":
            return isinstance(row["messages"], int) and isinstance(row["tokens"], int)
        case "message":
            return isinstance(row["rest"], str) and row["rest"].startswith("{") and isinstance(row["conversation_id"], str)
        case "fact":
            return isinstance(row["content"], str) and isinstance(row["created_at"], str)
        case "compaction":
            return isinstance(row["packed"], bytes) and row["undone"] in (0, 1)
        case "piece":
            return isinstance(row["hash"], bytes)
        case _:
            return isinstance(row["question_seq"], int) and isinstance(row["body"], bytes)


def _drop_damaged(db: sqlite3.Connection, lost: Counter[str]) -> None:
    """Leave out what is damaged, except messages, and count it. A conversation that has only messages left gets a new title."""
    for row in _row_dicts(db, "fact"):
        if not facts.is_intact(row):
            lost["facts"] += 1
            db.execute("DELETE FROM fact WHERE seq = ?", (row["seq"],))
    for row in _row_dicts(db, "conversation"):
        if not conversations.is_intact(row):
            db.execute("DELETE FROM conversation WHERE seq = ?", (row["seq"],))
    [vault] = db.execute("SELECT vault FROM conversation GROUP BY vault ORDER BY count(*) DESC LIMIT 1").fetchone() or ("",)
    orphans = """SELECT conversation_id, min(timestamp), max(timestamp) FROM message
        WHERE conversation_id NOT IN (SELECT id FROM conversation) GROUP BY conversation_id"""
    for id_, first, last in db.execute(orphans).fetchall():
        lost["conversations"] += 1
        found = Conversation(id=id_, vault=vault, title=_RECOVERED_TITLE, created_at=first, updated_at=last, head_id=_UNKNOWN)
        rows.insert(db, "conversation", rows.column_values(found, rows.CONVERSATION))
    readers: dict[str, Callable[[dict[str, Any]], object]] = {
        "compaction": lambda row: compactions.to_compaction([row[name] for name in compactions.COLUMNS]),
        "piece": lambda row: codec.decompress(row["body"]),
        "prompt": lambda row: _read_prompt(db, row),
    }
    for table, read in readers.items():
        for row in _row_dicts(db, table):
            try:
                read(row)
            except rows.UNREADABLE:
                db.execute(f"DELETE FROM {table} WHERE seq = ?", (row["seq"],))


def _read_prompt(db: sqlite3.Connection, row: dict[str, Any]) -> None:
    """Raises one of `UNREADABLE` for a prompt that is damaged or not complete."""
    document = codec.decompress(row["body"])
    needed = [("message", row["question_seq"]), *(("piece", seq) for name in ("messages", "tools") for seq in accumulate(document[name]))]
    for table, seq in needed:
        if db.execute(f"SELECT 1 FROM {table} WHERE seq = ?", (seq,)).fetchone() is None:
            raise LookupError(f"{table} {seq} is missing")


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _row_dicts(db: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    names = _columns(db, table)
    return [dict(zip(names, row, strict=True)) for row in db.execute(f"SELECT * FROM {table} ORDER BY seq")]
