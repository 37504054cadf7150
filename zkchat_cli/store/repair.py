"""Finding damage in a store, and saving what can be read of it into a new one.

The tables are read row by row, past the pages that SQLite cannot read. A damaged message is saved
as one that says so, other damaged rows are left out. A message that is missing is in its place when
the conversation is read (see `rows.to_messages`).
"""

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from zkchat_cli.errors import StoreDamaged, StoreError
from zkchat_cli.fileio import scratch_file
from zkchat_cli.store import conversations, facts, rows, sent_prompts
from zkchat_cli.store.database import connect, describe_store, transaction, translate_errors

_MOST_SKIPPED = 10_000
"""Row numbers that are tried one by one behind a row that cannot be read: a lost page of a tree has
the places of some thousand rows.
"""
# Bytes of a file's header, which is the same for every store
_HEADER = 100
# Of the -shm file: every process that has the store open holds a lock on it
_LOCKED_BYTE = 128
_ADD_RECOVERED = """
    INSERT OR IGNORE INTO conversation (id, vault, title, created_at, updated_at, head_id)
    VALUES (?, coalesce((SELECT vault FROM conversation LIMIT 1), ''), 'Recovered conversation', ?, ?, 'unknown')"""
_FIND_HEADS = """
    UPDATE conversation SET checksum = checksum(NULL, id, vault, title, question), head_id = iif(head_id IS NULL, NULL, coalesce(
        (SELECT message.id FROM message WHERE message.id = head_id AND conversation_id = conversation.id),
        (SELECT message.id FROM message WHERE conversation_id = conversation.id ORDER BY seq DESC LIMIT 1)))"""


def check_store(file: Path) -> None:
    """Read everything that is stored. Raises StoreDamaged if some of it is not what was written,
    StoreError for other problems.
    """
    with translate_errors(file, "be read in full"), closing(connect(file)) as db:
        [result] = db.execute("PRAGMA integrity_check(1)").fetchone()
        if result != "ok":
            raise ValueError(result)
        db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        for (body,) in db.execute(
            "SELECT body FROM piece UNION ALL SELECT body FROM prompt UNION ALL SELECT "
            "packed FROM compaction"
        ):
            rows.decompress(body)
        damaged = {
            "messages": sum(not rows.is_intact(row) for row in db.execute(rows.SELECT_MESSAGE)),
            "titles": sum(
                not conversations.is_intact(row) for row in _readable_rows(db, "conversation")
            ),
            "facts": sum(not facts.is_intact(row) for row in _readable_rows(db, "fact")),
        }
        if any(damaged.values()):
            raise ValueError(
                ", ".join(f"damaged {name}: {number}" for name, number in damaged.items() if number)
            )


def repair_store(file: Path, date: str) -> tuple[Path, Counter[str], Counter[str]] | None:
    """Replace a damaged store by one with everything that can be read; None if it is not damaged.

    Gives the damaged file under its new name, what was saved, and what is known to be lost, of
    which some messages may be saved. Raises StoreError, and then nothing has changed: another
    program has it open, it is not a store of this version, or nothing can be read.
    """
    with suppress(StoreDamaged):
        check_store(file)
        return None
    with translate_errors(file, "be repaired"), _locked(file), _scratch_database(file) as new:
        with closing(connect(new)) as target, transaction(target):
            saved, lost = _save_rows(file, target)
        if not saved["conversations"] and not saved["facts"]:
            raise StoreError(
                f"{describe_store(file)} has nothing that can be read",
                "Nothing was changed. Put a backup in its place.",
            )
        names = (
            file.with_name(f"{file.name}.damaged-{date}{f'-{n}' if n else ''}") for n in range(1000)
        )
        kept = next(name for name in names if not name.exists())
        for suffix in ("-wal", ""):
            if (part := Path(f"{file}{suffix}")).exists():
                part.rename(f"{kept}{suffix}")
        Path(f"{file}-shm").unlink(missing_ok=True)
        new.rename(file)
    return kept, saved, lost


@contextmanager
def _scratch_database(file: Path) -> Iterator[Path]:
    """A new name beside `file`; what is there afterwards is deleted."""
    scratch = scratch_file(file)
    try:
        yield scratch
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{scratch}{suffix}").unlink(missing_ok=True)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Raises StoreError while another process has the store open: it would go on writing to the
    damaged file.
    """
    shared = Path(f"{file}-shm")
    if os.name != "posix" or not shared.exists():
        yield
        return
    import fcntl  # not on Windows

    with shared.open("r+b") as opened:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _LOCKED_BYTE)
        except BlockingIOError as e:
            raise StoreError(
                f"{describe_store(file)} is open in another program",
                "Close other zkchats and try again.",
            ) from e
        yield


def _save_rows(file: Path, target: sqlite3.Connection) -> tuple[Counter[str], Counter[str]]:
    """Fill a new store with what can be read; past prompts of a conversation only if all can. Gives
    what was saved and what was lost.
    """
    saved, lost = (Counter(conversations=0, messages=0, facts=0) for _ in range(2))
    stored = 0
    [parent_trigger] = target.execute(
        "SELECT sql FROM sqlite_schema WHERE name = 'message_parent'"
    ).fetchone()
    target.execute("DROP TRIGGER message_parent")  # a parent may be lost
    with _damaged_copy(file, target) as damaged:
        for row in _readable_rows(damaged, "conversation"):
            if conversations.is_intact(row):
                stored += row["messages"]
                saved["conversations"] += _insert(
                    target, "conversation", row | {"messages": 0, "tokens": 0, "question": None}
                )
        for row in _readable_rows(damaged, "message"):
            message = rows.to_message(tuple(row[name] for name in rows.MESSAGE))
            talk = row["conversation_id"]
            time = row["timestamp"]
            # A damaged value that the table does not take
            with suppress(sqlite3.Error):
                recovered = target.execute(_ADD_RECOVERED, (talk, time, time)).rowcount
                lost["conversations"] += recovered
                saved["conversations"] += recovered
                conversations.insert_message(target, talk, message, seq=row["seq"])
                (lost if message.status == "damaged" else saved)["messages"] += 1
                stored -= message.status != "damaged" and rows.is_chat(message)
        for table, column in (("compaction", "packed"), ("piece", "body"), ("prompt", "body")):
            for row in _readable_rows(damaged, table):
                with suppress(*rows.UNREADABLE):
                    rows.decompress(row[column])
                    _insert(target, table, row)
        for row in _readable_rows(damaged, "fact"):
            (saved if facts.is_intact(row) and _insert(target, "fact", row) else lost)["facts"] += 1
    for seq, id_ in target.execute("SELECT seq, id FROM conversation").fetchall():
        try:
            sent_prompts.read_archive(target, id_)
        except rows.UNREADABLE:
            target.execute("DELETE FROM prompt WHERE conversation_seq = ?", (seq,))
    target.execute(_FIND_HEADS)
    target.execute(parent_trigger)
    lost["messages"] = max(lost["messages"], stored)
    return saved, lost


def _insert(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> bool:
    """Whether the table takes the row."""
    with suppress(sqlite3.Error):
        rows.insert(db, table, row)
        return True
    return False


@contextmanager
def _damaged_copy(file: Path, intact: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of a damaged file with the header of an intact store."""
    header = bytearray(intact.serialize()[:_HEADER])
    # The number of pages: SQLite looks at the size of the file
    header[28:32] = bytes(4)
    with _scratch_database(file) as copy:
        shutil.copyfile(file, copy)
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{file}-wal", f"{copy}-wal")
        with copy.open("r+b") as opened:
            opened.write(header)
        with closing(sqlite3.connect(copy)) as damaged:
            damaged.text_factory = rows.decode_leniently
            # Ignores tables that are not described well
            damaged.execute("PRAGMA writable_schema = ON")
            yield damaged


def _readable_rows(db: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """The rows of a table, past damaged pages; none if the table itself is lost."""
    last = 0
    skipped = 0
    while skipped < _MOST_SKIPPED:
        try:
            found = db.execute(
                f"SELECT * FROM {table} NOT INDEXED WHERE seq > ? ORDER BY seq", (last,)
            )
            names = [column[0] for column in found.description]
            for row in found:
                yield dict(zip(names, row, strict=True))
                last = row[0] if last < row[0] < last + _MOST_SKIPPED else last + 1
                skipped = 0
            return
        except sqlite3.DatabaseError:
            last = last + 1
            skipped = skipped + 1
