BEGIN;
CREATE TABLE conversation (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        vault TEXT NOT NULL,
        title TEXT,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        head_id TEXT
    ) STRICT;
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
CREATE TABLE compaction (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        created_at TEXT NOT NULL,
        last_id TEXT,
        undone INTEGER NOT NULL DEFAULT 0,
        rest TEXT NOT NULL
    ) STRICT;
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
INSERT INTO conversation (seq, id, vault, title, created_at, updated_at, head_id) VALUES (1, 'c1', '/notes', 'How do I use [[Filters]]?', '2025-05-08T12:00:00+00:00', '2025-05-08T12:00:00+00:00', 'q2');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest) VALUES (1, 'q1', 'c1', NULL, 'user', 'How do I use [[Filters]]?', 'complete', '2025-05-08T12:00:00+00:00', '{"references":[{"wikilink":"[[Filters]]","relative_path":"Filters.md","reference_type":"direct","summary":"About filters","context_snippet":"Filters say …"}],"token_count":9,"augmented_token_count":30}');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest) VALUES (2, 'k1', 'c1', 'q1', 'assistant', '', 'complete', '2025-05-08T12:00:00+00:00', '{"tool_calls":[{"id":"call-1","name":"find_excerpts","arguments":{"query":"filters 過濾"}}],"finish_reason":"tool_calls"}');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest) VALUES (3, 't1', 'c1', 'k1', 'tool', '{"excerpts": [{"source": 1, "text": "Filters say which tasks you want to see; a filter''s line is one condition."}]}', 'complete', '2025-05-08T12:00:00+00:00', '{"chunks":[{"id":"k1","relative_path":"Filters.md","title":"Filters","heading":"Use","start_line":3,"end_line":4,"text":"Filters say which tasks you want to see; a filter''s line is one condition.","number":1}],"tool_call_id":"call-1","tool_name":"find_excerpts","token_count":25}');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest) VALUES (4, 'a1', 'c1', 't1', 'assistant', '“A line is one condition” [1]. 一行一個條件。', 'complete', '2025-05-08T12:00:00+00:00', '{"citations":[{"number":1,"relative_path":"Filters.md","start_line":3,"end_line":4,"valid":true,"status":"cited","spans":[[0,29]]}],"model":"offline","finish_reason":"stop","usage":{"prompt_tokens":100,"completion_tokens":12},"token_count":12}');
INSERT INTO message (seq, id, conversation_id, parent_id, role, content, status, timestamp, rest) VALUES (5, 'q2', 'c1', 'a1', 'user', 'Never mind.', 'pending', '2025-05-08T12:00:00+00:00', '{}');
INSERT INTO compaction (seq, id, conversation_id, created_at, last_id, undone, rest) VALUES (1, 's1', 'c1', '2025-05-08T12:00:00+00:00', 'a1', 0, '{"tokens_before":90,"tokens_after":20,"messages_folded":4,"results_masked":1,"summary":"They spoke of filters.","summary_tokens":6,"mode":"extractive","masked":["t1"]}');
INSERT INTO compaction (seq, id, conversation_id, created_at, last_id, undone, rest) VALUES (2, 's2', 'c1', '2025-05-08T12:00:00+00:00', 'a1', 1, '{"tokens_before":90,"tokens_after":20,"messages_folded":4,"summary":"Taken back","mode":"full"}');
INSERT INTO calibration (model, factor, calls) VALUES ('openai/m', 1.25, 1);
INSERT INTO mention (message_seq, relative_path, how, number, citations, held) VALUES (1, 'Filters.md', 'named', 0, 0, 0);
INSERT INTO mention (message_seq, relative_path, how, number, citations, held) VALUES (4, 'Filters.md', 'cited', 1, 1, 1);
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
PRAGMA application_id = 2053858152;
PRAGMA user_version = 3;
COMMIT;
