"""The tables of the store, and opening its SQLite file.

The fields that are queried are columns; the rest of a value is JSON in `rest`, so a new field of a
message changes no table. Triggers guard the log whoever writes: a message's words never change, and
its parent is an earlier message of the same conversation.

Nobody outside the store sees an `sqlite3.Error`: each operation runs inside `translate_errors`. A
file of another program or of another version of zkchat is refused before the first write.
Everything is private to its user: new folders get mode 0700, new files 0600 (SQLite gives its -wal
and -shm files the database's mode).
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from zkchat_cli.errors import StoreDamaged, StoreError, StoreUnwritable
from zkchat_cli.fileio import can_lock, create_database, lock_timeout, make_private_folder
from zkchat_cli.store import rows

# `zkch`, in the file's header: a store of ours, not another program's database
APPLICATION_ID = 0x7A6B6368
# `PRAGMA user_version` of a store with the tables of `SCHEMA`; others are refused
VERSION = 14

_TOKENS = """(CASE WHEN json_valid({0}.rest)
    THEN max(0, min(1000000000, CAST(coalesce(json_extract({0}.rest, '$.token_count'), 0) AS INTEGER))) ELSE 0 END)"""
"""A message's token count; an imported one may be any number, and the sum must fit into 64 bits."""
_IS_CHAT = """NEW.role = 'user' OR NEW.role = 'assistant' AND NEW.content <> '' AND instr(NEW.rest, '"tool_calls":') = 0"""
"""Whether a message is a question or an answer, not a tool call or its result. A `"` within a text
of `rest` is escaped.
"""

# Checksums find damage on the disk; see rows.checksum. `messages`, `tokens` and `question` of a
# conversation are kept by triggers, so a list of conversations reads no message. Conversation and
# piece numbers are never reused (AUTOINCREMENT), because a process caches them.
SCHEMA = f"""
    CREATE TABLE conversation (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        vault TEXT NOT NULL,
        title TEXT,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        head_id TEXT,
        messages INTEGER NOT NULL DEFAULT 0,
        tokens INTEGER NOT NULL DEFAULT 0,
        question TEXT,
        checksum INTEGER  -- a conversation without one waits for the end of its transaction
    ) STRICT;
    CREATE INDEX conversation_vault ON conversation (vault);

    CREATE TABLE message (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        parent_id TEXT,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        status TEXT NOT NULL,
        timestamp TEXT NOT NULL,
        rest TEXT NOT NULL,
        packed BLOB,
        checksum INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX message_conversation ON message (conversation_id);

    CREATE TABLE compaction (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        created_at TEXT NOT NULL,
        last_id TEXT,
        undone INTEGER NOT NULL DEFAULT 0,
        packed BLOB NOT NULL
    ) STRICT;
    CREATE INDEX compaction_conversation ON compaction (conversation_id);

    CREATE TRIGGER message_parent BEFORE INSERT ON message
    WHEN NEW.parent_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE id = NEW.parent_id AND conversation_id = NEW.conversation_id)
    BEGIN SELECT RAISE(ABORT, 'a message''s parent is not in its conversation'); END;

    CREATE TRIGGER message_append_only BEFORE UPDATE OF seq, id, conversation_id, parent_id, role, content, timestamp ON message
    BEGIN SELECT RAISE(ABORT, 'a stored message does not change'); END;

    CREATE TRIGGER conversation_head BEFORE UPDATE OF head_id ON conversation
    WHEN NEW.head_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE id = NEW.head_id AND conversation_id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the head is not a message of the conversation'); END;

    CREATE TRIGGER compaction_last BEFORE INSERT ON compaction
    WHEN NEW.last_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE id = NEW.last_id AND conversation_id = NEW.conversation_id)
    BEGIN SELECT RAISE(ABORT, 'the last message of a summary is not in its conversation'); END;

    CREATE TRIGGER message_counts AFTER INSERT ON message
    BEGIN
        UPDATE conversation SET messages = messages + ({_IS_CHAT}), tokens = tokens + {_TOKENS.format("NEW")},
            question = coalesce(question, CASE NEW.role WHEN 'user' THEN substr(ltrim(NEW.content, ' ' || char(9, 10, 13)), 1, 240) END)
        WHERE id = NEW.conversation_id;
    END;

    CREATE TRIGGER message_counts_updated AFTER UPDATE OF rest ON message WHEN NEW.rest <> OLD.rest
    BEGIN
        UPDATE conversation SET tokens = tokens - {_TOKENS.format("OLD")} + {_TOKENS.format("NEW")} WHERE id = NEW.conversation_id;
    END;

    CREATE TRIGGER conversation_checksum AFTER UPDATE OF title, question ON conversation
    WHEN NEW.title IS NOT OLD.title OR NEW.question IS NOT OLD.question
    BEGIN UPDATE conversation SET checksum = NULL WHERE id = NEW.id; END;

    CREATE TABLE calibration (
        model TEXT PRIMARY KEY,
        factor REAL NOT NULL,
        calls INTEGER NOT NULL,
        tools REAL
    ) STRICT;

    CREATE TABLE fact (
        seq INTEGER PRIMARY KEY,
        vault TEXT NOT NULL,
        key TEXT NOT NULL,
        content TEXT NOT NULL,
        source TEXT NOT NULL,
        conversation_id TEXT,  -- no foreign key: a fact outlasts its conversation
        message_id TEXT,
        created_at TEXT NOT NULL,
        last_accessed TEXT,
        ended_at TEXT,
        checksum INTEGER NOT NULL DEFAULT 0,
        agent TEXT  -- the agent that has the fact; NULL: all have it
    ) STRICT;
    CREATE UNIQUE INDEX fact_current ON fact (vault, key) WHERE ended_at IS NULL;

    -- which message used which note, so that a question about a note does not read every conversation
    CREATE TABLE mention (
        message_seq INTEGER NOT NULL REFERENCES message (seq) ON DELETE CASCADE,
        relative_path TEXT NOT NULL,
        how TEXT NOT NULL,
        number INTEGER NOT NULL,
        citations INTEGER NOT NULL,
        held INTEGER NOT NULL,
        PRIMARY KEY (message_seq, relative_path, how, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX mention_path ON mention (relative_path);

    -- full-text search, see `conversations`. `unindexed` messages wait for the next search, so that storing a turn stays cheap. The indexed
    -- words are stored only if they differ from the content (`index_words`)
    CREATE TABLE index_words (message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE, words TEXT NOT NULL) STRICT;
    CREATE VIEW indexed_message (seq, words) AS SELECT message.seq, coalesce(index_words.words, message.content)
        FROM message LEFT JOIN index_words ON index_words.message_seq = message.seq;
    CREATE VIRTUAL TABLE message_index USING fts5 (words, tokenize = 'ascii', content = 'indexed_message', content_rowid = 'seq');
    CREATE TABLE unindexed (message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE) STRICT;

    CREATE TRIGGER message_unindexed AFTER INSERT ON message WHEN NEW.content <> ''
    BEGIN INSERT INTO unindexed VALUES (NEW.seq); END;

    CREATE TRIGGER message_deleted BEFORE DELETE ON message
    WHEN OLD.content <> '' AND NOT EXISTS (SELECT 1 FROM unindexed WHERE message_seq = OLD.seq)
    BEGIN DELETE FROM message_index WHERE rowid = OLD.seq; END;

    CREATE TABLE piece (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_seq INTEGER NOT NULL REFERENCES conversation (seq) ON DELETE CASCADE,
        hash BLOB NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX piece_hash ON piece (conversation_seq, hash);

    CREATE TABLE prompt (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_seq INTEGER NOT NULL REFERENCES conversation (seq) ON DELETE CASCADE,
        question_seq INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX prompt_conversation ON prompt (conversation_seq);
    CREATE INDEX prompt_question ON prompt (question_seq);

    -- vectors of messages, for recall by meaning, see `conversations`
    CREATE TABLE message_vector (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_seq INTEGER NOT NULL REFERENCES conversation (seq) ON DELETE CASCADE,
        message_seq INTEGER NOT NULL UNIQUE REFERENCES message (seq) ON DELETE CASCADE,
        embedder TEXT NOT NULL,
        passages BLOB NOT NULL
    ) STRICT;
    CREATE INDEX message_vector_conversation ON message_vector (conversation_seq);

    -- vectors of facts, which are compared with a question like those of messages; only current facts have one
    CREATE TABLE fact_vector (
        fact_seq INTEGER PRIMARY KEY REFERENCES fact (seq) ON DELETE CASCADE,
        embedder TEXT NOT NULL,
        passages BLOB NOT NULL
    ) STRICT;
    CREATE TRIGGER fact_vector_ended AFTER UPDATE OF ended_at ON fact WHEN NEW.ended_at IS NOT NULL
    BEGIN DELETE FROM fact_vector WHERE fact_seq = OLD.seq; END;

    CREATE TABLE pending_cleanup (seq INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;
    """

# Seconds to wait for another process's write; a write takes milliseconds
BUSY_TIMEOUT = 10.0

_Cause = tuple[type[StoreError], str, str]
_FULL: _Cause = (
    StoreUnwritable,
    "the disk is full",
    "Free some space and try again; what was stored before is safe.",
)
_UNWRITABLE: _Cause = (
    StoreUnwritable,
    "it may not be written",
    "Make the file and its folder writable for you, set ZKCHAT_HOME to another folder, or "
    "use --no-store.",
)
_DAMAGED: _Cause = (
    StoreDamaged,
    "the file is damaged or not a zkchat store",
    "`zkchat doctor --repair` saves what can be read and keeps the damaged file; or "
    "restore a backup.",
)
_NO_LOCKS: _Cause = (
    StoreUnwritable,
    "its file system cannot lock files",
    "Network file systems often cannot: set ZKCHAT_HOME to a folder on a local disk, or "
    "use --no-store.",
)
_LOCKED: _Cause = (
    StoreError,
    "another program keeps it locked",
    "Close that program (a backup or a database browser) and try again.",
)
_BROKEN_DISK: _Cause = (
    StoreUnwritable,
    "reading or writing the disk failed",
    "Check the disk, its space and your quota, then try again.",
)
_CAUSES: dict[str | tuple[str, ...], _Cause] = {
    # The second: no space for the -shm file
    ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"): _FULL,
    ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"): _UNWRITABLE,
    ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"): _LOCKED,
    # Our own SQL is right
    ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH"): _DAMAGED,
    "SQLITE_IOERR": _BROKEN_DISK,
    "SQLITE_CONSTRAINT": (StoreError, "it contradicts what is stored", "Nothing was changed."),
    "": (
        StoreError,
        "an unexpected error",
        "Run `zkchat doctor`; if it finds nothing, please report this.",
    ),
}


def describe_store(file: Path | None) -> str:
    return f"The store {file}" if file else "The store in memory"


@contextmanager
def translate_errors(file: Path | None, action: str) -> Iterator[None]:
    """Raise StoreError for any error inside; `action` completes "The store FILE cannot …"."""
    error: Exception
    try:
        yield
        return
    except sqlite3.Error as e:
        error = e
        detail = str(e)
        cause = next(
            cause
            for prefixes, cause in _CAUSES.items()
            if (getattr(e, "sqlite_errorname", None) or "").startswith(prefixes)
        )
        if cause in (_LOCKED, _BROKEN_DISK) and file is not None and not can_lock(file.parent):
            cause = _NO_LOCKS
    except rows.UNREADABLE as e:
        # A row that is not a valid value
        error = e
        cause = _DAMAGED
        detail = next(iter(str(e).splitlines()), type(e).__name__)
    except OSError as e:
        error = e
        cause = _FULL if e.errno in (errno.ENOSPC, errno.EDQUOT) else _UNWRITABLE
        detail = e.strerror or str(e)
    kind, why, hint = cause
    raise kind(f"{describe_store(file)} cannot {action}: {why} ({detail})", hint) from error


def connect(file: Path | None) -> sqlite3.Connection:
    """A connection to the store at `file`, which is created if it is missing (None: in memory).
    Raises StoreError.
    """
    with translate_errors(file, "be opened"):
        if file is None:
            return _prepare(_connect(":memory:"), None)
        make_private_folder(file.parent)
        create_database(file)
        # SQLite would open it, and refuse the first write after the question was answered
        if not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return _prepare(_connect(file, lock_timeout(file, BUSY_TIMEOUT)), file)


def connect_to_copy(file: Path) -> sqlite3.Connection:
    """A connection to a copy in memory of a store that cannot be written. Raises StoreError if it
    cannot be read either.

    SQLite reads a write-ahead log only if it may use a file beside it; `immutable` needs none, and
    is correct if the log is empty.
    """
    log = file.with_name(f"{file.name}-wal")
    with translate_errors(file, "be read"):
        mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
        copy = _connect(":memory:")
        with closing(
            sqlite3.connect(
                f"{file.absolute().as_uri()}?{mode}",
                uri=True,
                timeout=lock_timeout(file, BUSY_TIMEOUT),
            )
        ) as source:
            source.backup(copy)
        return _prepare(copy, file)


@contextmanager
def transaction(
    connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Iterator[None]:
    """All or nothing. A writer is IMMEDIATE: SQLite refuses a reader that becomes a writer at once,
    without waiting.
    """
    # Commits, or rolls back after any exception
    with connection:
        connection.execute(f"BEGIN {kind}")
        yield


def _connect(file: Path | str, timeout: float = 0.0) -> sqlite3.Connection:
    """Opened for all threads: a chat opens the store in a background thread and uses it in
    another.
    """
    return sqlite3.connect(
        file,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=rows.StoreDatabase,
    )


def _prepare(connection: sqlite3.Connection, file: Path | None) -> sqlite3.Connection:
    """Set the connection up and create the tables of a new store. A store of another version is
    refused before the first write.
    """
    try:
        connection.text_factory = rows.decode_leniently
        connection.create_function("checksum", -1, rows.checksum, deterministic=True)
        _check_version(connection, file)
        connection.execute("PRAGMA foreign_keys = ON")
        # Deleted rows are overwritten with zeros; see secure_delete.py
        connection.execute("PRAGMA secure_delete = ON")
        # Acknowledged turns survive a power cut; measured at 0.3 ms a transaction
        connection.execute("PRAGMA synchronous = FULL")
        # KB; 4,000 messages are read in the same time with 16,000
        connection.execute("PRAGMA cache_size = -4000")
        # Another process is setting it, which counts for the file
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        # A write even if there are tables: a store that cannot be written must fail now
        with transaction(connection):
            if connection.execute("PRAGMA user_version").fetchone() == (0,):
                # One at a time, because `executescript` commits the open transaction, and half of
                # the tables would remain
                statement = ""
                for line in SCHEMA.splitlines(keepends=True):
                    statement += line
                    if sqlite3.complete_statement(statement):
                        connection.execute(statement)
                        statement = ""
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, file: Path | None) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return  # a new one
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        problem = f"{describe_store(file)} is a database of another program; it was not changed"
        raise StoreError(problem, "Move it away, or set ZKCHAT_HOME to another folder.")
    if version != VERSION:
        step = "Update zkchat" if version > VERSION else "Export it with the zkchat that wrote it"
        layout = f"layout {version}, this one knows {VERSION}"
        problem = (
            f"{describe_store(file)} was written by another version of zkchat ({layout}); it "
            "was not changed"
        )
        raise StoreError(problem, f"{step}, or set ZKCHAT_HOME to another folder to keep both.")
