"""The functions of layout 1 that store what a turn has, each in one round trip and with statements
that a connection plans once. They have their caller's rights.

This text never changes again (see `schema`).
"""

# What is added is JSON, which a client writes in a tenth of the time of arrays
TURNS = """
    -- Appends messages to the log of a conversation, with the notes they use and the words by which
    -- they are found. With a head the conversation ends there, and was changed at that time.
    CREATE FUNCTION add_messages(
        number bigint, conversation_owner text, added json,
        new_head text DEFAULT NULL, changed text DEFAULT NULL, new_title text DEFAULT NULL
    ) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        new record;
        new_seq bigint;
        chats bigint := 0;
        sum_of_tokens bigint := 0;
        indexed bigint := 0;
        sum_of_words bigint := 0;
        first_question text;
    BEGIN
        FOR new IN
            SELECT * FROM json_to_recordset(added) AS message (
                id text, parent_id text, role text, content text, status text, "timestamp" text,
                rest text, packed bytea, checksum bigint, is_chat boolean, tokens bigint,
                words tsvector, length integer, uses json
            )
        LOOP
            INSERT INTO message (
                conversation_seq, owner, id, parent_id, role, content, status, "timestamp", rest,
                packed, checksum, is_chat, tokens
            ) VALUES (
                number, conversation_owner, new.id, new.parent_id, new.role, new.content,
                new.status, new.timestamp, new.rest, new.packed, new.checksum, new.is_chat,
                new.tokens
            ) RETURNING seq INTO new_seq;
            IF new.words IS NOT NULL THEN
                INSERT INTO message_index (message_seq, conversation_seq, owner, words, length)
                VALUES (new_seq, number, conversation_owner, new.words, new.length);
                indexed := indexed + 1;
                sum_of_words := sum_of_words + new.length;
            END IF;
            IF new.uses IS NOT NULL THEN
                PERFORM add_mentions(new_seq, number, conversation_owner, new.uses);
            END IF;
            chats := chats + new.is_chat::integer;
            sum_of_tokens := sum_of_tokens + new.tokens;
            IF new.role = 'user' AND first_question IS NULL THEN
                first_question := substr(ltrim(new.content, E' \\t\\n\\r'), 1, 240);
            END IF;
        END LOOP;
        UPDATE conversation SET
            messages = messages + chats,
            tokens = tokens + sum_of_tokens,
            question = coalesce(question, first_question),
            indexed_messages = indexed_messages + indexed,
            indexed_words = indexed_words + sum_of_words,
            head_id = coalesce(new_head, head_id),
            updated_at = coalesce(changed, updated_at),
            changed_at = CASE WHEN changed IS NULL THEN changed_at ELSE clock_timestamp() END,
            title = coalesce(title, new_title)
        WHERE seq = number;
    END $$;

    CREATE FUNCTION add_mentions(
        new_seq bigint, number bigint, conversation_owner text, uses json
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO mention (
            message_seq, conversation_seq, owner, relative_path, how, number, citations, held
        )
        SELECT new_seq, add_mentions.number, conversation_owner, note.relative_path, note.how,
            note.number, note.citations, note.held
        FROM json_to_recordset(uses) AS note (
            relative_path text, how text, number bigint, citations bigint, held bigint
        )
        ON CONFLICT DO NOTHING;
    END $$;

    -- Appends one message to a conversation, which ends there then. Its parent was given up by its
    -- process if it is still pending. Returns the head before; nothing for a conversation that the
    -- caller does not see or may not write.
    CREATE FUNCTION append_message(
        conversation_id text, added json, message_id text, parent text, changed text
    ) RETURNS TABLE (head text) LANGUAGE plpgsql AS $$
    DECLARE
        number bigint;
        conversation_owner text;
    BEGIN
        SELECT seq, owner, head_id INTO number, conversation_owner, head FROM conversation
        WHERE id = conversation_id ORDER BY owner = me() DESC, seq LIMIT 1 FOR NO KEY UPDATE;
        IF number IS NULL THEN
            RETURN;
        END IF;
        IF parent IS NOT NULL THEN
            UPDATE message SET status = 'unfinished'
            WHERE id = parent AND conversation_seq = number AND status = 'pending';
        END IF;
        PERFORM add_messages(number, conversation_owner, added, message_id, changed);
        RETURN NEXT;
    END $$;

    -- Changes what is not the words of a message
    CREATE FUNCTION update_message(number bigint, changed json, with_status boolean)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        new record;
        changed_seq bigint;
        message_owner text;
    BEGIN
        SELECT * INTO new FROM json_to_record(changed) AS message (
            id text, parent_id text, role text, content text, status text, "timestamp" text,
            rest text, packed bytea, checksum bigint, tokens bigint, uses json
        );
        UPDATE message SET
            rest = new.rest,
            packed = new.packed,
            status = CASE WHEN with_status THEN new.status ELSE status END,
            tokens = new.tokens,
            checksum = CASE
                WHEN (parent_id, role, content, "timestamp")
                    IS NOT DISTINCT FROM (new.parent_id, new.role, new.content, new.timestamp)
                THEN new.checksum
                WHEN checksum = zkchat_checksum(
                    packed, id, parent_id, role, content, "timestamp", rest
                )
                THEN zkchat_checksum(
                    new.packed, id, parent_id, role, content, "timestamp", new.rest
                )
                -- A damaged message stays damaged
                ELSE checksum
            END
        WHERE id = new.id AND conversation_seq = number
        RETURNING seq, owner INTO changed_seq, message_owner;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'The message % is not in conversation %', new.id,
                (SELECT id FROM conversation WHERE seq = number);
        END IF;
        DELETE FROM mention WHERE message_seq = changed_seq;
        IF new.uses IS NOT NULL THEN
            PERFORM add_mentions(changed_seq, number, message_owner, new.uses);
        END IF;
    END $$;

    -- The numbers of a conversation's pieces by their hashes, those of new ones as well
    CREATE FUNCTION number_pieces(conversation_id text, hashes bytea[])
    RETURNS TABLE (hash bytea, seq bigint, is_new boolean) LANGUAGE plpgsql AS $$
    DECLARE
        number bigint := (
            SELECT conversation.seq FROM conversation WHERE id = conversation_id
            ORDER BY owner = me() DESC, conversation.seq LIMIT 1
        );
    BEGIN
        RETURN QUERY
            SELECT wanted.hash, coalesce(piece.seq, nextval('piece_seq_seq')), piece.seq IS NULL
            FROM unnest(hashes) AS wanted (hash)
            LEFT JOIN piece ON piece.conversation_seq = number AND piece.hash = wanted.hash;
    END $$;

    CREATE FUNCTION add_prompts(
        number bigint, conversation_owner text,
        new_seqs bigint[], hashes bytea[], pieces bytea[], questions text[], prompts bytea[]
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO piece (seq, conversation_seq, owner, hash, body) OVERRIDING SYSTEM VALUE
        SELECT seq, number, conversation_owner, hash, body
        FROM unnest(new_seqs, hashes, pieces) AS new (seq, hash, body);
        INSERT INTO prompt (conversation_seq, owner, question_seq, body)
        SELECT number, conversation_owner, message.seq, new.body
        FROM unnest(questions, prompts) WITH ORDINALITY AS new (id, body, place)
        LEFT JOIN message ON message.id = new.id AND message.conversation_seq = number
        ORDER BY place;
    END $$;
"""
