"""The schema's history. Scripts are only ever appended: a store that some release wrote must be openable by all later ones.

`PRAGMA user_version` says how many of them a store has been through. What one queries is a column; the rest of a value is JSON in
`rest`, so that a new field of a message needs no migration. The log's laws are triggers, because they must hold whoever writes:
a message never changes but in its status and figures, and its parent stands earlier in the same conversation, so a branch has no cycle.
"""

import sqlite3
from collections.abc import Iterator, Sequence

APPLICATION_ID = 0x7A6B6368
"""`zkch`, in the database's header: tells our store from some other program's database."""

SECURE_SINCE = 5
"""The version since which what is deleted is overwritten: a store that comes from before it is written anew once."""

_TOKENS = """(CASE WHEN json_valid({0}.rest)
    THEN max(0, min(1000000000, CAST(coalesce(json_extract({0}.rest, '$.token_count'), 0) AS INTEGER))) ELSE 0 END)"""
"""What a message says it counts; an import may say anything, and the sum must stay a number of 64 bits."""
_SPOKEN = """{0}.role = 'user' OR {0}.role = 'assistant' AND {0}.content <> '' AND instr({0}.rest, '"tool_calls":') = 0"""
"""Whether a message is a question or an answer; a model that calls tools answers after them. Inside a text of `rest` a `"` is escaped."""
_BLANK = "' ' || char(9, 10, 13)"

SCRIPTS: tuple[str, ...] = (
    """
    CREATE TABLE conversation (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        vault TEXT NOT NULL,
        title TEXT,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        head_id TEXT
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
        rest TEXT NOT NULL
    ) STRICT;
    CREATE INDEX message_conversation ON message (conversation_id);

    CREATE TABLE compaction (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        created_at TEXT NOT NULL,
        last_id TEXT,
        undone INTEGER NOT NULL DEFAULT 0,
        rest TEXT NOT NULL
    ) STRICT;
    CREATE INDEX compaction_conversation ON compaction (conversation_id);

    CREATE TRIGGER message_parent BEFORE INSERT ON message
    WHEN NEW.parent_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE id = NEW.parent_id AND conversation_id = NEW.conversation_id)
    BEGIN SELECT RAISE(ABORT, 'a message''s parent is not in its conversation'); END;

    CREATE TRIGGER message_append_only BEFORE UPDATE OF seq, id, conversation_id, parent_id, role, content, timestamp ON message
    BEGIN SELECT RAISE(ABORT, 'what was said does not change'); END;

    CREATE TRIGGER conversation_head BEFORE UPDATE OF head_id ON conversation
    WHEN NEW.head_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE id = NEW.head_id AND conversation_id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the head is not a message of the conversation'); END;

    CREATE TRIGGER compaction_last BEFORE INSERT ON compaction
    WHEN NEW.last_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message WHERE id = NEW.last_id AND conversation_id = NEW.conversation_id)
    BEGIN SELECT RAISE(ABORT, 'the last message a summary covers is not in the conversation'); END;
    """,
    """
    CREATE TABLE calibration (
        model TEXT PRIMARY KEY,
        factor REAL NOT NULL,
        calls INTEGER NOT NULL
    ) STRICT;
    """,
    # Which message used which note, so that no question about a note has to read every conversation. Kept by triggers from what is in
    # `rest` (which leaves out what is at its default), so that it is the same for messages of then and of now. A `rest` that is no JSON,
    # or no message's, mentions nothing: it is told when the message is read. STRICT tables take no number beyond 64 bits, hence the CAST.
    """
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

    CREATE VIEW mentioned (message_seq, relative_path, how, number, citations, held) AS
    WITH source (seq, list, value) AS (
        SELECT message.seq, list.value, CASE item.type WHEN 'object' THEN item.value ELSE '{}' END
        FROM message, json_each('["references","citations"]') AS list,
            json_each(CASE WHEN json_valid(message.rest) THEN message.rest ELSE '{}' END, '$.' || list.value) AS item
        WHERE message.role IN ('user', 'assistant')
    ), entry (seq, path, how, number, held) AS (
        SELECT seq, CAST(json_extract(value, '$.relative_path') AS TEXT),
            CASE WHEN list = 'citations' THEN 'cited' ELSE CASE json_extract(value, '$.reference_type')
                WHEN 'direct' THEN 'named' WHEN 'search' THEN 'found' ELSE CAST(json_extract(value, '$.reference_type') AS TEXT) END END,
            CAST(coalesce(json_extract(value, '$.number'), 0) AS INTEGER), coalesce(json_extract(value, '$.valid'), 0) = 1
        FROM source
    )
    SELECT seq, path, how, number, CASE how WHEN 'cited' THEN count(*) ELSE 0 END, sum(held)
    FROM entry WHERE path IS NOT NULL AND how IS NOT NULL GROUP BY seq, path, how, number;

    CREATE TRIGGER message_mentions AFTER INSERT ON message WHEN instr(NEW.rest, '"relative_path"')
    BEGIN INSERT INTO mention SELECT * FROM mentioned WHERE message_seq = NEW.seq; END;

    CREATE TRIGGER message_mentions_again AFTER UPDATE OF rest ON message
    WHEN NEW.rest <> OLD.rest AND instr(NEW.rest || OLD.rest, '"relative_path"')
    BEGIN
        DELETE FROM mention WHERE message_seq = NEW.seq;
        INSERT INTO mention SELECT * FROM mentioned WHERE message_seq = NEW.seq;
    END;

    INSERT INTO mention SELECT * FROM mentioned;
    """,
    # What somebody asked to remember: a fact outlasts the conversation it comes from, hence no foreign key; of each key one holds. And the
    # words of what was said, as `words.indexed` makes them, which SQL cannot: `unspoken` are the messages that wait for it until somebody
    # searches, so that storing a turn costs no more than it did.
    """
    CREATE TABLE fact (
        seq INTEGER PRIMARY KEY,
        vault TEXT NOT NULL,
        key TEXT NOT NULL,
        content TEXT NOT NULL,
        source TEXT NOT NULL,
        conversation_id TEXT,
        message_id TEXT,
        created_at TEXT NOT NULL,
        last_accessed TEXT,
        ended_at TEXT
    ) STRICT;
    CREATE UNIQUE INDEX fact_holding ON fact (vault, key) WHERE ended_at IS NULL;

    CREATE VIRTUAL TABLE spoken USING fts5 (words, tokenize = 'ascii');
    CREATE TABLE unspoken (message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE) STRICT;
    INSERT INTO unspoken SELECT seq FROM message WHERE content <> '';

    CREATE TRIGGER message_unspoken AFTER INSERT ON message WHEN NEW.content <> ''
    BEGIN INSERT INTO unspoken VALUES (NEW.seq); END;

    CREATE TRIGGER message_gone AFTER DELETE ON message
    BEGIN DELETE FROM spoken WHERE rowid = OLD.seq; END;
    """,
    # What a list of conversations shows of each, kept by triggers, so that a list reads one short row a conversation and no message. The
    # tokens are those of what was said; a `rest` that is no JSON has none.
    f"""
    ALTER TABLE conversation ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE conversation ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE conversation ADD COLUMN question TEXT;

    CREATE TRIGGER message_listed AFTER INSERT ON message
    BEGIN
        UPDATE conversation SET messages = messages + 1, tokens = tokens + {_TOKENS.format("NEW")},
            question = coalesce(question, CASE NEW.role WHEN 'user' THEN substr(ltrim(NEW.content, {_BLANK}), 1, 240) END)
        WHERE id = NEW.conversation_id;
    END;

    CREATE TRIGGER message_listed_again AFTER UPDATE OF rest ON message WHEN NEW.rest <> OLD.rest
    BEGIN
        UPDATE conversation SET tokens = tokens - {_TOKENS.format("OLD")} + {_TOKENS.format("NEW")} WHERE id = NEW.conversation_id;
    END;

    UPDATE conversation SET
        messages = (SELECT count(*) FROM message WHERE conversation_id = conversation.id),
        tokens = (SELECT coalesce(sum({_TOKENS.format("message")}), 0) FROM message WHERE conversation_id = conversation.id),
        question = (SELECT substr(ltrim(content, {_BLANK}), 1, 240) FROM message
            WHERE conversation_id = conversation.id AND role = 'user' ORDER BY seq LIMIT 1);
    """,
    # What the model was sent, by pieces; see prompts. Numbers are never given twice, because a process remembers the newest. And the
    # words of what was said stand in `message` already: only where they are others than the content (see words.indexed) are they kept.
    """
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
        whole INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX prompt_conversation ON prompt (conversation_seq);
    CREATE INDEX prompt_question ON prompt (question_seq);

    ALTER TABLE compaction ADD COLUMN packed BLOB;
    ALTER TABLE message ADD COLUMN packed BLOB;

    CREATE TABLE spelling (message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE, words TEXT NOT NULL) STRICT;
    CREATE VIEW spelled (seq, words) AS SELECT message.seq, coalesce(spelling.words, message.content)
        FROM message LEFT JOIN spelling ON spelling.message_seq = message.seq;

    DROP TRIGGER message_gone;
    DROP TABLE spoken;
    CREATE VIRTUAL TABLE spoken USING fts5 (words, tokenize = 'ascii', content = 'spelled', content_rowid = 'seq');
    INSERT OR IGNORE INTO unspoken SELECT seq FROM message WHERE content <> '';

    CREATE TRIGGER message_gone BEFORE DELETE ON message
    WHEN OLD.content <> '' AND NOT EXISTS (SELECT 1 FROM unspoken WHERE message_seq = OLD.seq)
    BEGIN DELETE FROM spoken WHERE rowid = OLD.seq; END;
    """,
    # A list counts what a person would: questions and answers, not what tools were asked and returned between them.
    f"""
    DROP TRIGGER message_listed;
    CREATE TRIGGER message_listed AFTER INSERT ON message
    BEGIN
        UPDATE conversation SET messages = messages + ({_SPOKEN.format("NEW")}), tokens = tokens + {_TOKENS.format("NEW")},
            question = coalesce(question, CASE NEW.role WHEN 'user' THEN substr(ltrim(NEW.content, {_BLANK}), 1, 240) END)
        WHERE id = NEW.conversation_id;
    END;

    UPDATE conversation SET
        messages = (SELECT count(*) FROM message WHERE conversation_id = conversation.id AND ({_SPOKEN.format("message")}));
    """,
    # Deletions that are not over: a process that is killed meanwhile leaves words that the next one has to clear. `lines` are hashes of
    # what was asked, as the words themselves may stand nowhere any more; see erasing.
    """
    CREATE TABLE erased (conversation_id TEXT PRIMARY KEY, typed_in TEXT NOT NULL, lines BLOB NOT NULL) STRICT;
    """,
)


def run(connection: sqlite3.Connection, scripts: Sequence[str], start: int) -> None:
    """Bring a store of version `start` up to `len(scripts)`, inside the caller's transaction."""
    for script in scripts[start:]:
        for statement in _statements(script):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(scripts)}")


def _statements(script: str) -> Iterator[str]:
    """One at a time, because `executescript` commits the transaction it finds, and a half migrated store would stay."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if statement.strip() != ";" and sqlite3.complete_statement(statement):
            yield statement
            statement = ""
