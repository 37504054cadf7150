"""The tables of layout 1 on a server, in a schema of their own.

They are those of the store in SQLite. What differs: each row has an owner, and row-level security
decides who sees it, whatever a client asks for. A conversation's rows belong to its owner, also
those that somebody else wrote into it (`message.author`).

`me()` is the role that logged in or that was chosen with SET ROLE; people who share one role are
told apart by the setting `zkchat.user`, and are `role/user`. No client can be another role. Tables
force row-level security on their owner, too; only `message_index` and `vocabulary` do not, because
PostgreSQL uses no full-text index under row-level security. Nobody but their owner may read them:
the functions `search_…`, which run with their owner's rights (a superuser's, perhaps), look in the
caller's rows only and name them in each query.

This text never changes again: a new table or column is a function in `migrations.py`.
"""

from zkchat_cli.store.postgres.row_security import ROW_SECURITY
from zkchat_cli.store.postgres.schema_search import SEARCH
from zkchat_cli.store.postgres.schema_triggers import TRIGGERS
from zkchat_cli.store.postgres.schema_turns import TURNS

SCHEMA = "zkchat"
CHANNEL = "zkchat_changes"

_IDENTITY = """
    CREATE TABLE layout (number integer NOT NULL);

    CREATE FUNCTION me() RETURNS text LANGUAGE plpgsql STABLE AS $$
    DECLARE
        role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    BEGIN
        IF position('/' IN role) > 0 THEN
            RAISE EXCEPTION 'a role with a slash in its name cannot use the store';
        END IF;
        RETURN role || coalesce('/' || nullif(current_setting('zkchat.user', true), ''), '');
    END $$;

    CREATE FUNCTION zkchat_time(written text) RETURNS timestamptz
    LANGUAGE plpgsql STABLE SET timezone = 'UTC' AS $$
    BEGIN
        RETURN written::timestamptz;
    EXCEPTION WHEN data_exception THEN
        -- An imported conversation can have any text as its time
        RETURN '-infinity';
    END $$;
"""

_TABLES = """
    CREATE TABLE conversation (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        owner text NOT NULL DEFAULT me(),
        id text NOT NULL COLLATE "C",
        vault text NOT NULL,
        title text,
        created_at text NOT NULL,
        updated_at text NOT NULL,
        -- The order of lists: the server's clock, never a time in the future of a client's
        changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        head_id text,
        messages bigint NOT NULL DEFAULT 0,
        tokens bigint NOT NULL DEFAULT 0,
        question text,
        checksum bigint,
        indexed_messages bigint NOT NULL DEFAULT 0,
        indexed_words bigint NOT NULL DEFAULT 0,
        UNIQUE (id, owner),
        UNIQUE (seq, owner)
    );
    CREATE INDEX conversation_vault ON conversation (owner, vault, changed_at DESC);

    CREATE TABLE share (
        conversation_seq bigint NOT NULL,
        owner text NOT NULL DEFAULT me(),
        with_user text NOT NULL,  -- '*': everybody
        may_write boolean NOT NULL DEFAULT false,
        PRIMARY KEY (conversation_seq, with_user),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );
    CREATE INDEX share_user ON share (with_user);

    CREATE TABLE message (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        author text NOT NULL DEFAULT me(),
        id text NOT NULL COLLATE "C",
        parent_id text,
        role text NOT NULL,
        content text NOT NULL,
        status text NOT NULL,
        timestamp text NOT NULL,
        rest text NOT NULL,
        packed bytea,
        checksum bigint NOT NULL DEFAULT 0,
        -- What the conversation's figures are made of
        is_chat boolean NOT NULL DEFAULT false,
        tokens bigint NOT NULL DEFAULT 0 CHECK (tokens BETWEEN 0 AND 1000000000),
        UNIQUE (id, owner),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );
    CREATE INDEX message_conversation ON message (conversation_seq, seq);

    CREATE TABLE compaction (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        id text NOT NULL COLLATE "C",
        created_at text NOT NULL,
        last_id text,
        undone smallint NOT NULL DEFAULT 0,
        packed bytea NOT NULL,
        UNIQUE (id, owner),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );
    CREATE INDEX compaction_conversation ON compaction (conversation_seq);

    CREATE TABLE calibration (
        owner text NOT NULL DEFAULT me(),
        model text NOT NULL,
        factor double precision NOT NULL,
        calls bigint NOT NULL,
        tools double precision,
        PRIMARY KEY (owner, model)
    );

    CREATE TABLE fact (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        owner text NOT NULL DEFAULT me(),
        shared boolean NOT NULL DEFAULT false,  -- everybody reads it, its owner changes it
        vault text NOT NULL,
        key text NOT NULL,
        content text NOT NULL,
        source text NOT NULL,
        conversation_id text,  -- no foreign key: a fact outlasts its conversation
        message_id text,
        created_at text NOT NULL,
        last_accessed text,
        ended_at text,
        checksum bigint NOT NULL DEFAULT 0,
        agent text  -- the agent that has the fact; NULL: all have it
    );
    CREATE UNIQUE INDEX fact_current ON fact (owner, vault, key) WHERE ended_at IS NULL;
    CREATE INDEX fact_vault ON fact (vault);

    CREATE TABLE mention (
        message_seq bigint NOT NULL,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        relative_path text NOT NULL COLLATE "C",
        how text NOT NULL,
        number bigint NOT NULL,
        citations bigint NOT NULL,
        held bigint NOT NULL,
        PRIMARY KEY (message_seq, owner, relative_path, how, number),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );
    CREATE INDEX mention_conversation ON mention (conversation_seq);

    CREATE TABLE piece (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        hash bytea NOT NULL,
        body bytea NOT NULL,
        UNIQUE (conversation_seq, hash),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );

    CREATE TABLE prompt (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        question_seq bigint NOT NULL,
        body bytea NOT NULL,
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );
    CREATE INDEX prompt_conversation ON prompt (conversation_seq);
    CREATE INDEX prompt_question ON prompt (question_seq);

    CREATE TABLE message_vector (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        message_seq bigint NOT NULL,
        embedder text NOT NULL,
        passages bytea NOT NULL,
        UNIQUE (message_seq, owner),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );
    CREATE INDEX message_vector_conversation ON message_vector (conversation_seq);

    CREATE TABLE fact_vector (
        fact_seq bigint NOT NULL REFERENCES fact (seq) ON DELETE CASCADE,
        owner text NOT NULL DEFAULT me(),
        embedder text NOT NULL,
        passages bytea NOT NULL,
        PRIMARY KEY (fact_seq, owner)
    );
"""

LAYOUT_1 = f"{_IDENTITY}{_TABLES}{SEARCH}{TRIGGERS}{TURNS}{ROW_SECURITY}"
