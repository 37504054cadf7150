"""The tables of layout 1, which is the first that was released.

The fields that are queried are columns; the rest of a value is JSON in `rest`, so a new field of a
message changes no table. Triggers guard the log whoever writes: a message's words never change, and
its parent is an earlier message of the same conversation.

This text never changes again: a new table or column is a function in `migrations.py`.
"""

_TOKENS = """(
            CASE WHEN json_valid({0}.rest)
            THEN max(0, min(1000000000, CAST(
                coalesce(json_extract({0}.rest, '$.token_count'), 0) AS INTEGER
            )))
            ELSE 0 END
        )"""
"""A message's token count. In an imported message it can be any number, and the sum of all must fit
into 64 bits.
"""

_IS_CHAT = """(
            NEW.role = 'user'
            OR NEW.role = 'assistant' AND NEW.content <> '' AND instr(NEW.rest, '"tool_calls":') = 0
        )"""
"""Whether a message is a question or an answer, not a tool call or its result. A `"` within a text
of `rest` is escaped.
"""

_QUESTION = "substr(ltrim(NEW.content, ' ' || char(9, 10, 13)), 1, 240)"

# Checksums find damage on the disk; see `codec.checksum`. `messages`, `tokens` and `question` of a
# conversation are kept by triggers, so a list of conversations reads no message. Conversation and
# piece numbers are never reused (AUTOINCREMENT), because a process caches them.
LAYOUT_1 = f"""
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
        AND NOT EXISTS (
            SELECT 1 FROM message
            WHERE id = NEW.parent_id AND conversation_id = NEW.conversation_id
        )
    BEGIN
        SELECT RAISE(ABORT, 'a message''s parent is not in its conversation');
    END;

    CREATE TRIGGER message_append_only
    BEFORE UPDATE OF seq, id, conversation_id, parent_id, role, content, timestamp ON message
    BEGIN
        SELECT RAISE(ABORT, 'a stored message does not change');
    END;

    CREATE TRIGGER conversation_head BEFORE UPDATE OF head_id ON conversation
    WHEN NEW.head_id IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM message WHERE id = NEW.head_id AND conversation_id = NEW.id
        )
    BEGIN
        SELECT RAISE(ABORT, 'the head is not a message of the conversation');
    END;

    CREATE TRIGGER compaction_last BEFORE INSERT ON compaction
    WHEN NEW.last_id IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM message
            WHERE id = NEW.last_id AND conversation_id = NEW.conversation_id
        )
    BEGIN
        SELECT RAISE(ABORT, 'the last message of a summary is not in its conversation');
    END;

    CREATE TRIGGER message_counts AFTER INSERT ON message
    BEGIN
        UPDATE conversation SET
            messages = messages + {_IS_CHAT},
            tokens = tokens + {_TOKENS.format("NEW")},
            question = coalesce(question, CASE NEW.role WHEN 'user' THEN {_QUESTION} END)
        WHERE id = NEW.conversation_id;
    END;

    CREATE TRIGGER message_counts_updated AFTER UPDATE OF rest ON message WHEN NEW.rest <> OLD.rest
    BEGIN
        UPDATE conversation
        SET tokens = tokens - {_TOKENS.format("OLD")} + {_TOKENS.format("NEW")}
        WHERE id = NEW.conversation_id;
    END;

    CREATE TRIGGER conversation_checksum AFTER UPDATE OF title, question ON conversation
    WHEN NEW.title IS NOT OLD.title OR NEW.question IS NOT OLD.question
    BEGIN
        UPDATE conversation SET checksum = NULL WHERE id = NEW.id;
    END;

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

    -- Which message used which note: a question about a note does not read every conversation.
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

    -- Full-text search, see `message_search`. `unindexed` messages wait for the next search, so
    -- that storing a turn stays cheap. The indexed words are stored only if they differ from the
    -- content (`index_words`).
    CREATE TABLE index_words (
        message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE,
        words TEXT NOT NULL
    ) STRICT;
    CREATE VIEW indexed_message (seq, words) AS
        SELECT message.seq, coalesce(index_words.words, message.content)
        FROM message LEFT JOIN index_words ON index_words.message_seq = message.seq;
    CREATE VIRTUAL TABLE message_index USING fts5 (
        words, tokenize = 'ascii', content = 'indexed_message', content_rowid = 'seq'
    );
    CREATE TABLE unindexed (
        message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE
    ) STRICT;

    CREATE TRIGGER message_unindexed AFTER INSERT ON message WHEN NEW.content <> ''
    BEGIN
        INSERT INTO unindexed VALUES (NEW.seq);
    END;

    CREATE TRIGGER message_deleted BEFORE DELETE ON message
    WHEN OLD.content <> '' AND NOT EXISTS (SELECT 1 FROM unindexed WHERE message_seq = OLD.seq)
    BEGIN
        DELETE FROM message_index WHERE rowid = OLD.seq;
    END;

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

    -- Vectors of messages, for recall by meaning; see `passage_vectors`.
    CREATE TABLE message_vector (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_seq INTEGER NOT NULL REFERENCES conversation (seq) ON DELETE CASCADE,
        message_seq INTEGER NOT NULL UNIQUE REFERENCES message (seq) ON DELETE CASCADE,
        embedder TEXT NOT NULL,
        passages BLOB NOT NULL
    ) STRICT;
    CREATE INDEX message_vector_conversation ON message_vector (conversation_seq);

    -- Vectors of facts, which are compared with a question like those of messages. Only current
    -- facts have one.
    CREATE TABLE fact_vector (
        fact_seq INTEGER PRIMARY KEY REFERENCES fact (seq) ON DELETE CASCADE,
        embedder TEXT NOT NULL,
        passages BLOB NOT NULL
    ) STRICT;
    CREATE TRIGGER fact_vector_ended AFTER UPDATE OF ended_at ON fact
    WHEN NEW.ended_at IS NOT NULL
    BEGIN
        DELETE FROM fact_vector WHERE fact_seq = OLD.seq;
    END;

    CREATE TABLE pending_cleanup (seq INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;
    """
