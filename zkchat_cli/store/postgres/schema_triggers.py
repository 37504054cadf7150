"""The triggers of layout 1: they guard the log whoever writes, keep checksums of conversations, and
tell who listens that something changed.

This text never changes again (see `schema`).
"""

TRIGGERS = """
    CREATE FUNCTION message_parent() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NOT EXISTS (
            SELECT 1 FROM message WHERE id = NEW.parent_id
                AND conversation_seq = NEW.conversation_seq
        ) THEN
            RAISE EXCEPTION 'a message''s parent is not in its conversation';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER message_parent BEFORE INSERT ON message
    FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION message_parent();

    CREATE FUNCTION message_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'a stored message does not change';
    END $$;
    CREATE TRIGGER message_append_only
    BEFORE UPDATE OF seq, id, conversation_seq, owner, author, parent_id, role, content, timestamp
    ON message FOR EACH ROW EXECUTE FUNCTION message_append_only();

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
        IF NOT EXISTS (
            SELECT 1 FROM message WHERE id = NEW.head_id AND conversation_seq = NEW.seq
        ) THEN
            RAISE EXCEPTION 'the head is not a message of the conversation';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER conversation_head BEFORE UPDATE OF head_id ON conversation
    FOR EACH ROW WHEN (NEW.head_id <> coalesce(OLD.head_id, ''))
    EXECUTE FUNCTION conversation_head();

    -- CRC-32 of columns, as in `codec.py`
    CREATE FUNCTION zkchat_checksum(blob bytea, VARIADIC texts text[]) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
        bytes bytea := coalesce(blob, '');
        crc bigint := 4294967295;
    BEGIN
        FOR number IN 1 .. array_length(texts, 1) LOOP
            IF number > 1 THEN
                bytes := bytes || '\\x00'::bytea;
            END IF;
            bytes := bytes || convert_to(coalesce(texts[number], ''), 'UTF8');
        END LOOP;
        FOR place IN 0 .. length(bytes) - 1 LOOP
            crc := crc # get_byte(bytes, place);
            FOR bit IN 1 .. 8 LOOP
                crc := (crc >> 1) # (3988292384 * (crc & 1));
            END LOOP;
        END LOOP;
        RETURN crc # 4294967295;
    END $$;

    CREATE FUNCTION conversation_checksum() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.checksum := zkchat_checksum(NULL, NEW.id, NEW.vault, NEW.title, NEW.question);
        RETURN NEW;
    END $$;
    CREATE TRIGGER conversation_first_checksum BEFORE INSERT ON conversation
    FOR EACH ROW EXECUTE FUNCTION conversation_checksum();
    -- A damaged conversation stays damaged where something else changes
    CREATE TRIGGER conversation_checksum BEFORE UPDATE ON conversation
    FOR EACH ROW WHEN (
        NEW.title IS DISTINCT FROM OLD.title OR NEW.question IS DISTINCT FROM OLD.question
        OR NEW.vault <> OLD.vault
    ) EXECUTE FUNCTION conversation_checksum();

    CREATE FUNCTION conversation_keeps() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'a conversation keeps its owner and its id';
    END $$;
    CREATE TRIGGER conversation_keeps BEFORE UPDATE ON conversation
    FOR EACH ROW WHEN (
        NEW.owner <> OLD.owner OR NEW.id <> OLD.id OR NEW.seq <> OLD.seq
    ) EXECUTE FUNCTION conversation_keeps();

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

    -- Tells who listens, in a transaction of its own that does not wait for the disk: the server
    -- ends transactions that notify one after the other.
    CREATE FUNCTION tell_changes(names text[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM set_config('synchronous_commit', 'off', true);
        PERFORM pg_notify('zkchat_changes', name) FROM unnest(names) AS name;
    END $$;

    -- Who listens learns that facts, shares or summaries changed. Of messages the clients tell
    -- (postgres_connection.py): the server ends transactions that notify one after the other.
    CREATE FUNCTION tell_other_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_notify('zkchat_changes', '');
        RETURN NULL;
    END $$;
"""
