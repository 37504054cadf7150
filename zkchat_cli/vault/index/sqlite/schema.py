"""The tables of an index.

`words` and `note_words` are contentless FTS5 tables of what `to_index_text` makes of a text (CJK
runs as bigrams). A row of them is deleted by giving its old values again, so the version must be
raised when the tokens of a text change; the Unicode tables are checked, too.
"""

import unicodedata

from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.values import IndexSizes

# Raise it whenever the tables, the chunks, the links or `to_index_text` change
VERSION = 24

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    -- of the bytes read; NULL if they could not be read
    hash BLOB,
    title TEXT NOT NULL,
    -- one per line, as the tags and the anchors, which are the aliases of the links to this note,
    -- and the aliases, with the names of the file and its folder
    aliases TEXT NOT NULL, tags TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT ''
);
CREATE TABLE names (
    key TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, spelled TEXT NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL,
    -- all headings above and within, one per line
    heading TEXT, headings TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- of its vectors, see `chunk_key`
    key INTEGER NOT NULL,
    -- the line that opens the code it begins within
    fence TEXT
);
CREATE TABLE links (
    note_id INTEGER NOT NULL, line INTEGER NOT NULL,
    kind TEXT NOT NULL, raw TEXT NOT NULL, text TEXT NOT NULL, alias TEXT, embed INTEGER NOT NULL,
    key TEXT NOT NULL, target TEXT,
    -- NULL: a Markdown link to no note
    status TEXT
);
CREATE TABLE problems (
    path TEXT PRIMARY KEY, text TEXT NOT NULL, from_scan INTEGER NOT NULL
) WITHOUT ROWID;
-- folded
CREATE TABLE tags (
    tag TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (tag, note_id)
) WITHOUT ROWID;
-- how many chunks and names of notes have a word, once for each language of the vault
CREATE TABLE vocabulary (
    language TEXT NOT NULL, stem TEXT NOT NULL, term TEXT NOT NULL,
    chunks INTEGER NOT NULL, notes INTEGER NOT NULL,
    PRIMARY KEY (language, stem, term)
) WITHOUT ROWID;
-- of properties or the name of a note or, with a chunk, of the heading above it; as ISO days
CREATE TABLE dates (
    note_id INTEGER NOT NULL, chunk_id INTEGER,
    first TEXT NOT NULL, last TEXT NOT NULL,
    -- 'day' or 'month', whichever is written first; '' if the date does not tell
    written TEXT NOT NULL,
    -- whether it has no other reading with the other order
    certain INTEGER NOT NULL
);
-- without the readings that are not the vault's order
CREATE VIEW current_dates AS
    SELECT note_id, chunk_id, first, last FROM dates
    WHERE certain OR written = (SELECT value FROM meta WHERE key = 'day_order');
-- a row per chunk
CREATE VIRTUAL TABLE words USING fts5 (headings, body, content='', tokenize='ascii');
-- a row per note
CREATE VIRTUAL TABLE note_words USING fts5 (
    title, aliases, tags, anchors, content='', tokenize='ascii'
);
-- a row per name; detail=full, because without positions bm25 is 0
CREATE VIRTUAL TABLE name_pairs USING fts5 (pairs, content='', tokenize="ascii");
"""

_INDEXES = (
    "CREATE INDEX IF NOT EXISTS names_by_key ON names (key)",
    "CREATE INDEX IF NOT EXISTS names_by_path ON names (path)",
    "CREATE INDEX IF NOT EXISTS chunks_by_note ON chunks (note_id, start_line)",
    "CREATE INDEX IF NOT EXISTS chunks_by_key ON chunks (key)",
    "CREATE INDEX IF NOT EXISTS links_by_note ON links (note_id)",
    "CREATE INDEX IF NOT EXISTS dates_by_note ON dates (note_id)",
    "CREATE INDEX IF NOT EXISTS dates_by_chunk ON dates (chunk_id) WHERE chunk_id IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS links_by_key ON links (key)",
    "CREATE INDEX IF NOT EXISTS links_by_target ON links (target) WHERE target IS NOT NULL",
)
_FTS_TABLES = ("words", "note_words", "name_pairs")
# FTS5's write buffer: with the default of 1 MB a build takes twice as long
_HASH_BYTES = 16 << 20


def stored_version(database: IndexDatabase) -> int:
    """The version of the tables; 0 before there are any."""
    [[version]] = database.rows("PRAGMA user_version")
    return int(version)


def is_usable(database: IndexDatabase, formats: str) -> bool:
    """Whether the tables are there, of this version of zkchat and of Python's Unicode tables, and
    with dates by these formats of daily notes.
    """
    if stored_version(database) != VERSION or database.meta("formats") != formats:
        return False
    return database.meta("unicode") == unicodedata.unidata_version


def create_tables(database: IndexDatabase, formats: str) -> None:
    """Create empty tables in place of the old ones; call it in a transaction."""
    database.rows("DROP VIEW IF EXISTS current_dates")
    # The virtual ones first, which drop those behind them
    tables = """
        SELECT name FROM sqlite_master WHERE type = 'table'
        ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'
    """
    for (table,) in database.rows(tables):
        database.rows(f'DROP TABLE IF EXISTS "{table}"')
    for statement in _SCHEMA.split(";\n"):
        database.rows(statement)
    database.rows(f"PRAGMA user_version = {VERSION}")
    meta = {
        "unicode": unicodedata.unidata_version,
        "day_order": "day",
        "formats": formats,
        **dict.fromkeys(IndexSizes._fields, "0"),
    }
    database.connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    for table in _FTS_TABLES:
        database.rows(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", _HASH_BYTES)


def create_indexes(database: IndexDatabase) -> None:
    """Create the SQL indexes that are missing. Call it when the notes are inserted: sorting half a
    million rows once is faster than keeping them sorted.
    """
    for statement in _INDEXES:
        database.rows(statement)


def optimize_words(database: IndexDatabase) -> None:
    """Leave one segment in each FTS5 table, so that no later refresh has to merge everything."""
    for table in _FTS_TABLES:
        database.rows(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
