"""The triggers of layout 1: they guard the log whoever writes, keep the figures of conversations,
and tell who listens that something changed.

This text never changes again (see `schema`).
"""

TRIGGERS = """
    CREATE FUNCTION message_parent() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.parent_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM message WHERE id = NEW.parent_id
                AND conversation_seq = NEW.conversation_seq
        ) THEN
            RAISE EXCEPTION 'a message''s parent is not in its conversation';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER message_parent BEFORE INSERT ON message
    FOR EACH ROW EXECUTE FUNCTION message_parent();

    CREATE FUNCTION message_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'a stored message does not change';
    END $$;
    CREATE TRIGGER message_append_only
    BEFORE UPDATE OF seq, id, conversation_seq, owner, author, parent_id, role, content, timestamp
    ON message FOR EACH ROW EXECUTE FUNCTION message_append_only();

    CREATE FUNCTION message_counts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE conversation SET
            messages = conversation.messages + added.chats,
            tokens = conversation.tokens + added.tokens,
            question = coalesce(conversation.question, added.question)
        FROM (
            SELECT conversation_seq, count(*) FILTER (WHERE is_chat) AS chats,
                sum(tokens) AS tokens,
                (array_agg(substr(ltrim(content, E' \\t\\n\\r'), 1, 240) ORDER BY seq)
                    FILTER (WHERE role = 'user'))[1] AS question
            FROM added_message GROUP BY conversation_seq
        ) AS added
        WHERE seq = added.conversation_seq;
        RETURN NULL;
    END $$;
    CREATE TRIGGER message_counts AFTER INSERT ON message
    REFERENCING NEW TABLE AS added_message
    FOR EACH STATEMENT EXECUTE FUNCTION message_counts();

    CREATE FUNCTION message_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE conversation SET tokens = tokens - OLD.tokens + NEW.tokens
        WHERE seq = NEW.conversation_seq;
        RETURN NULL;
    END $$;
    CREATE TRIGGER message_tokens AFTER UPDATE OF tokens ON message
    FOR EACH ROW WHEN (NEW.tokens <> OLD.tokens) EXECUTE FUNCTION message_tokens();

    CREATE FUNCTION conversation_head() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.head_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM message WHERE id = NEW.head_id AND conversation_seq = NEW.seq
        ) THEN
            RAISE EXCEPTION 'the head is not a message of the conversation';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER conversation_head BEFORE UPDATE OF head_id ON conversation
    FOR EACH ROW EXECUTE FUNCTION conversation_head();

    CREATE FUNCTION conversation_checksum() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.title IS DISTINCT FROM OLD.title OR NEW.question IS DISTINCT FROM OLD.question
            OR NEW.vault <> OLD.vault
        THEN
            NEW.checksum := NULL;
        END IF;
        IF NEW.owner <> OLD.owner OR NEW.id <> OLD.id OR NEW.seq <> OLD.seq THEN
            RAISE EXCEPTION 'a conversation keeps its owner and its id';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER conversation_checksum BEFORE UPDATE ON conversation
    FOR EACH ROW EXECUTE FUNCTION conversation_checksum();

    CREATE FUNCTION compaction_last() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.last_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM message
            WHERE id = NEW.last_id AND conversation_seq = NEW.conversation_seq
        ) THEN
            RAISE EXCEPTION 'the last message of a summary is not in its conversation';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER compaction_last BEFORE INSERT ON compaction
    FOR EACH ROW EXECUTE FUNCTION compaction_last();

    CREATE FUNCTION fact_vector_ended() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM fact_vector WHERE fact_seq = OLD.seq;
        RETURN NULL;
    END $$;
    CREATE TRIGGER fact_vector_ended AFTER UPDATE OF ended_at ON fact
    FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION fact_vector_ended();

    -- Who listens learns that facts, shares or summaries changed. Of messages the clients tell
    -- (postgres_connection.py): the server ends transactions that notify one after the other.
    CREATE FUNCTION tell_other_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_notify('zkchat_changes', '');
        RETURN NULL;
    END $$;
"""
