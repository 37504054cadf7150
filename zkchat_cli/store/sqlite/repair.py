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
from typing import Any, NamedTuple

from zkchat_cli.errors import StoreDamaged, StoreError
from zkchat_cli.fileio import scratch_file, unused_name
from zkchat_cli.models.messages import is_chat
from zkchat_cli.store import codec, conversation_rows, rows
from zkchat_cli.store.sqlite import facts, messages, sent_prompts
from zkchat_cli.store.sqlite.database import connect, insert_row, transaction
from zkchat_cli.store.sqlite.sqlite_errors import describe_store, translate_errors

_MOST_SKIPPED = 10_000
"""Row numbers that are tried one by one behind a row that cannot be read: a lost page of a tree has
the places of some thousand rows.
"""
# Bytes of a file's header, which is the same for every store
_HEADER = 100
# The bytes of the header that count the pages; if they are 0, SQLite looks at the size of the file
_PAGE_COUNT = slice(28, 32)
# The byte of the -shm file that every process with an open store holds a lock on
_LOCKED_BYTE = 128
_LOCKED_BYTES = 1
# Tables with a compressed column, which has a checksum
_COMPRESSED = {"compaction": "packed", "piece": "body", "prompt": "body"}
_ALL_COMPRESSED = """
    SELECT body FROM piece
    UNION ALL SELECT body FROM prompt
    UNION ALL SELECT packed FROM compaction
"""
_ADD_RECOVERED = """
    INSERT OR IGNORE INTO conversation (id, vault, title, created_at, updated_at, head_id)
    VALUES (
        :id,
        coalesce((SELECT vault FROM conversation LIMIT 1), ''),
        'Recovered conversation',
        :time,
        :time,
        'unknown'
    )
"""
_FIND_HEADS = """
    UPDATE conversation SET
        checksum = checksum(NULL, id, vault, title, question),
        head_id = iif(head_id IS NULL, NULL, coalesce(
            (
                SELECT message.id FROM message
                WHERE message.id = head_id AND conversation_id = conversation.id
            ),
            (
                SELECT message.id FROM message
                WHERE conversation_id = conversation.id
                ORDER BY seq DESC LIMIT 1
            )
        ))
"""


class Repaired(NamedTuple):
    """What a repair did. `damaged_file` is the damaged store under its new name; `lost` is what is
    known to be lost, and some of its messages may be saved.
    """

    damaged_file: Path
    saved: Counter[str]
    lost: Counter[str]


def check_store(file: Path) -> None:
    """Read everything that is stored. Raises StoreDamaged if some of it is not what was written,
    StoreError for other problems.
    """
    with translate_errors(file, "be read in full"), closing(connect(file)) as db:
        [result] = db.execute("PRAGMA integrity_check(1)").fetchone()
        if result != "ok":
            raise ValueError(result)
        db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        for (body,) in db.execute(_ALL_COMPRESSED):
            codec.decompress(body)
        damaged = Counter(messages=0, titles=0, facts=0)
        for columns in db.execute(rows.SELECT_MESSAGE):
            damaged["messages"] += not rows.MessageRow._make(columns).is_intact()
        for row in _readable_rows(db, "conversation"):
            damaged["titles"] += not conversation_rows.is_intact(row)
        for row in _readable_rows(db, "fact"):
            damaged["facts"] += not facts.is_intact(row)
        if damaged.total():
            found = (f"damaged {name}: {number}" for name, number in damaged.items() if number)
            raise ValueError(", ".join(found))


def repair_store(file: Path, date: str) -> Repaired | None:
    """Replace a damaged store by one with everything that can be read; None if it is not damaged.

    Raises StoreError, and then nothing has changed: another program has it open, it is not a store
    of this version, or nothing can be read.
    """
    with suppress(StoreDamaged):
        check_store(file)
        return None
    with translate_errors(file, "be repaired"), _locked(file), _scratch_database(file) as new:
        with closing(connect(new)) as target, transaction(target):
            rescue = _Rescue(target)
            rescue.save_all(file)
        if not rescue.saved["conversations"] and not rescue.saved["facts"]:
            raise StoreError(
                f"{describe_store(file)} has nothing that can be read",
                "Nothing was changed. Put a backup in its place.",
            )
        kept = unused_name(file.with_name(f"{file.name}.damaged-{date}"))
        for suffix in ("-wal", ""):
            part = Path(f"{file}{suffix}")
            if part.exists():
                part.rename(f"{kept}{suffix}")
        Path(f"{file}-shm").unlink(missing_ok=True)
        new.rename(file)
    return Repaired(kept, rescue.saved, rescue.lost)


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
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED_BYTES, _LOCKED_BYTE)
        except BlockingIOError as e:
            raise StoreError(
                f"{describe_store(file)} is open in another program",
                "Close other zkchats and try again.",
            ) from e
        yield


class _Rescue:
    """Fills a new store with what can be read of a damaged one, and counts what was saved and what
    was lost.
    """

    def __init__(self, target: sqlite3.Connection) -> None:
        self._target = target
        self.saved = Counter(conversations=0, messages=0, facts=0)
        self.lost = Counter(conversations=0, messages=0, facts=0)
        # Messages that the saved conversations have counted and that were not found so far
        self._missing = 0

    def save_all(self, file: Path) -> None:
        """Past prompts of a conversation are saved only if all of them can be read."""
        query = "SELECT sql FROM sqlite_schema WHERE name = 'message_parent'"
        [parent_trigger] = self._target.execute(query).fetchone()
        # A parent may be lost
        self._target.execute("DROP TRIGGER message_parent")
        with _damaged_copy(file, self._target) as damaged:
            self._save_conversations(damaged)
            self._save_messages(damaged)
            self._save_compressed(damaged)
            self._save_facts(damaged)
        self._delete_incomplete_prompts()
        self._target.execute(_FIND_HEADS)
        self._target.execute(parent_trigger)
        self.lost["messages"] = max(self.lost["messages"], self._missing)

    def _save_conversations(self, damaged: sqlite3.Connection) -> None:
        for row in _readable_rows(damaged, "conversation"):
            if conversation_rows.is_intact(row):
                self._missing += row["messages"]
                # The triggers count them again
                empty = row | {"messages": 0, "tokens": 0, "question": None}
                self.saved["conversations"] += self._insert("conversation", empty)

    def _save_messages(self, damaged: sqlite3.Connection) -> None:
        for row in _readable_rows(damaged, "message"):
            message = rows.to_message([row[name] for name in rows.MESSAGE])
            conversation_id = row["conversation_id"]
            # A damaged value that the table does not take
            with suppress(sqlite3.Error):
                values = {"id": conversation_id, "time": row["timestamp"]}
                recovered = self._target.execute(_ADD_RECOVERED, values).rowcount
                self.lost["conversations"] += recovered
                self.saved["conversations"] += recovered
                messages.insert(self._target, conversation_id, message, seq=row["seq"])
                if message.status == "damaged":
                    self.lost["messages"] += 1
                else:
                    self.saved["messages"] += 1
                    self._missing -= is_chat(message)

    def _save_compressed(self, damaged: sqlite3.Connection) -> None:
        for table, column in _COMPRESSED.items():
            for row in _readable_rows(damaged, table):
                with suppress(*codec.UNREADABLE):
                    codec.decompress(row[column])
                    self._insert(table, row)

    def _save_facts(self, damaged: sqlite3.Connection) -> None:
        for row in _readable_rows(damaged, "fact"):
            if facts.is_intact(row) and self._insert("fact", row):
                self.saved["facts"] += 1
            else:
                self.lost["facts"] += 1

    def _delete_incomplete_prompts(self) -> None:
        for seq, id_ in self._target.execute("SELECT seq, id FROM conversation").fetchall():
            try:
                sent_prompts.read_archive(self._target, id_)
            except codec.UNREADABLE:
                self._target.execute("DELETE FROM prompt WHERE conversation_seq = ?", (seq,))

    def _insert(self, table: str, row: dict[str, Any]) -> bool:
        """Whether the table takes the row."""
        with suppress(sqlite3.Error):
            insert_row(self._target, table, row)
            return True
        return False


@contextmanager
def _damaged_copy(file: Path, intact: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of a damaged file with the header of an intact store."""
    header = bytearray(intact.serialize()[:_HEADER])
    header[_PAGE_COUNT] = bytes(4)
    with _scratch_database(file) as copy:
        shutil.copyfile(file, copy)
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{file}-wal", f"{copy}-wal")
        with copy.open("r+b") as opened:
            opened.write(header)
        with closing(sqlite3.connect(copy)) as damaged:
            damaged.text_factory = codec.decode_leniently
            # Ignores tables that are not described well
            damaged.execute("PRAGMA writable_schema = ON")
            yield damaged


def _readable_rows(db: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """The rows of a table, past damaged pages; none if the table itself is lost."""
    query = f"SELECT * FROM {table} NOT INDEXED WHERE seq > ? ORDER BY seq"
    last = 0
    skipped = 0
    while skipped < _MOST_SKIPPED:
        try:
            found = db.execute(query, (last,))
            names = [name for name, *_ in found.description]
            for values in found:
                row = dict(zip(names, values, strict=True))
                yield row
                # The number itself may be damaged
                last = row["seq"] if last < row["seq"] < last + _MOST_SKIPPED else last + 1
                skipped = 0
            return
        except sqlite3.DatabaseError:
            last += 1
            skipped += 1
