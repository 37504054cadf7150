BEGIN;
CREATE TABLE conversation (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        vault TEXT NOT NULL,
        title TEXT,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        head_id TEXT
    , messages INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, question TEXT) STRICT;
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
    , packed BLOB) STRICT;
CREATE TABLE compaction (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        created_at TEXT NOT NULL,
        last_id TEXT,
        undone INTEGER NOT NULL DEFAULT 0,
        rest TEXT NOT NULL
    , packed BLOB) STRICT;
CREATE TABLE calibration (
        model TEXT PRIMARY KEY,
        factor REAL NOT NULL,
        calls INTEGER NOT NULL
    ) STRICT;
CREATE TABLE mention (
        message_seq INTEGER NOT NULL REFERENCES message (seq) ON DELETE CASCADE,
        relative_path TEXT NOT NULL,
        how TEXT NOT NULL,
        number INTEGER NOT NULL,
        citations INTEGER NOT NULL,
        held INTEGER NOT NULL,
        PRIMARY KEY (message_seq, relative_path, how, number)
    ) STRICT, WITHOUT ROWID;
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
CREATE TABLE unspoken (message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE) STRICT;
CREATE TABLE piece (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_seq INTEGER NOT NULL REFERENCES conversation (seq) ON DELETE CASCADE,
        hash BLOB NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
CREATE TABLE prompt (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_seq INTEGER NOT NULL REFERENCES conversation (seq) ON DELETE CASCADE,
        question_seq INTEGER NOT NULL,
        whole INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
CREATE TABLE erased (conversation_id TEXT PRIMARY KEY, typed_in TEXT NOT NULL, lines BLOB NOT NULL) STRICT;
CREATE TABLE spelling (message_seq INTEGER PRIMARY KEY REFERENCES message (seq) ON DELETE CASCADE, words TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE spoken USING fts5 (words, tokenize = 'ascii', content = 'spelled', content_rowid = 'seq');
INSERT INTO conversation (seq, id, vault, title, created_at, updated_at, head_id, messages, tokens, question) VALUES (1, 'c1', '/notes', 'How do I use [[Filters]]?', '2025-05-08T12:00:00+00:00', '2025-05-08T12:00:00+00:00', 'q3', 4, 46, 'How do I use [[Filters]]?');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest, packed) VALUES (1, 'q1', 'c1', NULL, 'user', 'How do I use [[Filters]]?', 'complete', '2025-05-08T12:00:00+00:00', '{"references":[{"wikilink":"[[Filters]]","relative_path":"Filters.md","reference_type":"direct"}],"token_count":9,"augmented_token_count":30}', X'AB062684B4D4A2D43C4842442A56941C938011A190969953023456091A2815C0E2222F1398A44009C50D2207CA6A0A8F1A9629D5C6D60200');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest, packed) VALUES (2, 'k1', 'c1', 'q1', 'assistant', '', 'complete', '2025-05-08T12:00:00+00:00', '{"tool_calls":[{"id":"call-1","name":"find_excerpts","arguments":{"query":"filters 過濾"}}],"finish_reason":"tool_calls"}', NULL);
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest, packed) VALUES (3, 't1', 'c1', 'k1', 'tool', '{"excerpts": [{"source": 1, "text": "Filters say which tasks you want to see; a filter''s line is one condition."}]}', 'complete', '2025-05-08T12:00:00+00:00', '{"tool_call_id":"call-1","tool_name":"find_excerpts","token_count":25}', X'03A6FC8CD2BC6C2477661B8253474E22B8982A482CC9000ABA65E694000DD7CB0525DB92CC12B0095041A008282B80738652683124B1271695C48353BE9531308502FD0BE1980075838BC26863331D7333A0BBF24A7393800EB132AC8DAD0500');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest, packed) VALUES (4, 'a1', 'c1', 't1', 'assistant', '“A line is one condition” [1]. 一行一個條件。', 'complete', '2025-05-08T12:00:00+00:00', '{"citations":[{"number":1,"relative_path":"Filters.md","start_line":3,"end_line":4,"valid":true,"status":"cited","spans":[[0,29]]}],"model":"offline","finish_reason":"stop","usage":{"prompt_tokens":100,"completion_tokens":12},"token_count":12}', NULL);
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest, packed) VALUES (5, 'q2', 'c1', 'a1', 'user', 'Never mind.', 'pending', '2025-05-08T12:00:00+00:00', '{}', NULL);
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest, packed) VALUES (6, 'q3', 'c1', 'a1', 'user', 'And dates?', 'pending', '2025-05-08T12:00:00+00:00', '{}', NULL);
INSERT INTO compaction (seq, id, conversation_id, created_at, last_id, undone, rest, packed) VALUES (1, 's1', 'c1', '2025-05-08T12:00:00+00:00', 'a1', 0, '', X'AB864AC427A5A6E51701C52D0D606AE313D34A804AAC8C0C1079383E2D3F2705949C4C402908EC9EF8DCC4E26C9090A10EA24C520AC948AD54282E001AA4909FA69096990334AA584F09AE041E4F663AE0CC02D4022C228B12C185A312A8DC84181A6D1C5B0B00');
INSERT INTO compaction (seq, id, conversation_id, created_at, last_id, undone, rest, packed) VALUES (2, 's2', 'c1', '2025-05-08T12:00:00+00:00', 'a1', 1, '', X'AB864AC427A5A6E51701C52D0D606AE313D34A804AAC8C0C1079383E2D3F2705949C4C7410059052482250BD4252627236D06250D20779B23407E4B8DCC4E26C70F28BAD0500');
INSERT INTO calibration (model, factor, calls) VALUES ('openai/m', 1.25, 1);
INSERT INTO mention (message_seq, relative_path, how, number, citations, held) VALUES (1, 'Filters.md', 'named', 0, 0, 0);
INSERT INTO mention (message_seq, relative_path, how, number, citations, held) VALUES (4, 'Filters.md', 'cited', 1, 1, 1);
INSERT INTO fact (seq, vault, key, content, source, conversation_id, message_id, created_at, last_accessed, ended_at) VALUES (1, '/notes', 'roof', 'The roof is slate', 'user', 'c1', 'q1', '2025-05-08T12:00:00+00:00', NULL, '2025-05-08T13:00:00+02:00');
INSERT INTO fact (seq, vault, key, content, source, conversation_id, message_id, created_at, last_accessed, ended_at) VALUES (2, '/notes', 'roof', 'The roof is tin', 'user', 'c1', 'q1', '2025-05-08T13:00:00+02:00', NULL, NULL);
INSERT INTO unspoken (message_seq) VALUES (6);
INSERT INTO piece (seq, conversation_seq, hash, body) VALUES (1, 1, X'8B902E665E0B3C46A5C077EE005D14C0', X'AB8671A1591F391D0482E2121C67C03C955AACA7F074CFD4E7535628210C3346842A447B2D00');
INSERT INTO piece (seq, conversation_seq, hash, body) VALUES (2, 1, X'EA552C1A671FF4BD4D61773EF9032263', X'AB46E162F8DCC8341649AF31519619C442F2AA612D00');
INSERT INTO piece (seq, conversation_seq, hash, body) VALUES (3, 1, X'782B29A11C44F331B942BA13D06901F6', X'AB86390AE4EC94D4E2E4A2CC8292FC22904B128189B916A1D1A81600');
INSERT INTO sqlite_sequence (name, seq) VALUES ('piece', 3);
INSERT INTO sqlite_sequence (name, seq) VALUES ('prompt', 1);
INSERT INTO prompt (seq, conversation_seq, question_seq, whole, body) VALUES (1, 1, 1, 1, X'8DD4CB09C0400845D18624F8140253CC5412EC3DD9193FC9CC52D0DDF55C1E210824AF12414A78E6DAF257A0606E1B8558FF005EE70CD5268B913096AAB1668ECFCE634D20831B92C736C11154DD11156EDF88F80107AAABCBFDAAEBE2E4C75833BB01');
INSERT INTO spelling (message_seq, words) VALUES (4, 'a line is one condition 1 一行 行一 一個 個條 條件');
INSERT INTO spoken (rowid, words) VALUES (1, 'How do I use [[Filters]]?');
INSERT INTO spoken (rowid, words) VALUES (2, '');
INSERT INTO spoken (rowid, words) VALUES (3, '{"excerpts": [{"source": 1, "text": "Filters say which tasks you want to see; a filter''s line is one condition."}]}');
INSERT INTO spoken (rowid, words) VALUES (4, 'a line is one condition 1 一行 行一 一個 個條 條件');
INSERT INTO spoken (rowid, words) VALUES (5, 'Never mind.');
INSERT INTO spoken (rowid, words) VALUES (6, 'And dates?');
CREATE INDEX conversation_vault ON conversation (vault);
CREATE INDEX message_conversation ON message (conversation_id);
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
CREATE UNIQUE INDEX fact_holding ON fact (vault, key) WHERE ended_at IS NULL;
CREATE TRIGGER message_unspoken AFTER INSERT ON message WHEN NEW.content <> ''
    BEGIN INSERT INTO unspoken VALUES (NEW.seq); END;
CREATE TRIGGER message_listed AFTER INSERT ON message
    BEGIN
        UPDATE conversation SET messages = messages + (NEW.role = 'user' OR NEW.role = 'assistant' AND NEW.content <> '' AND instr(NEW.rest, '"tool_calls":') = 0), tokens = tokens + (CASE WHEN json_valid(NEW.rest)
    THEN max(0, min(1000000000, CAST(coalesce(json_extract(NEW.rest, '$.token_count'), 0) AS INTEGER))) ELSE 0 END),
            question = coalesce(question, CASE NEW.role WHEN 'user' THEN substr(ltrim(NEW.content, ' ' || char(9, 10, 13)), 1, 240) END)
        WHERE id = NEW.conversation_id;
    END;
CREATE TRIGGER message_listed_again AFTER UPDATE OF rest ON message WHEN NEW.rest <> OLD.rest
    BEGIN
        UPDATE conversation SET tokens = tokens - (CASE WHEN json_valid(OLD.rest)
    THEN max(0, min(1000000000, CAST(coalesce(json_extract(OLD.rest, '$.token_count'), 0) AS INTEGER))) ELSE 0 END) + (CASE WHEN json_valid(NEW.rest)
    THEN max(0, min(1000000000, CAST(coalesce(json_extract(NEW.rest, '$.token_count'), 0) AS INTEGER))) ELSE 0 END) WHERE id = NEW.conversation_id;
    END;
CREATE UNIQUE INDEX piece_hash ON piece (conversation_seq, hash);
CREATE INDEX prompt_conversation ON prompt (conversation_seq);
CREATE INDEX prompt_question ON prompt (question_seq);
CREATE VIEW spelled (seq, words) AS SELECT message.seq, coalesce(spelling.words, message.content)
        FROM message LEFT JOIN spelling ON spelling.message_seq = message.seq;
CREATE TRIGGER message_gone BEFORE DELETE ON message
    WHEN OLD.content <> '' AND NOT EXISTS (SELECT 1 FROM unspoken WHERE message_seq = OLD.seq)
    BEGIN DELETE FROM spoken WHERE rowid = OLD.seq; END;
PRAGMA application_id = 2053858152;
PRAGMA user_version = 8;
COMMIT;
