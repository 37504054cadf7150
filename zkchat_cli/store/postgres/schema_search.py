"""The full-text index of layout 1, and the functions that search it for their caller.

This text never changes again (see `schema`).
"""

# A lexeme's position is how often the word occurs in the message, which a tsvector cannot say of
# more than 255 occurrences.
SEARCH = r"""
    CREATE TABLE message_index (
        message_seq bigint NOT NULL,
        conversation_seq bigint NOT NULL,
        owner text NOT NULL,
        words tsvector NOT NULL,
        length integer NOT NULL,
        PRIMARY KEY (message_seq, owner),
        FOREIGN KEY (conversation_seq, owner) REFERENCES conversation (seq, owner)
            ON DELETE CASCADE
    );

    -- What the index has of a message: each word after a short hash of the owner, so a search reads
    -- nothing of what others wrote, and the conversation as `#…`
    CREATE FUNCTION indexed_words(words tsvector, owner text, conversation_seq bigint)
    RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
        RETURN array_to_tsvector(
            ARRAY(SELECT left(md5(owner), 8) || lexeme FROM unnest(words))
            || ('#' || conversation_seq)
        );
    END $$;
    -- A search reads what waits to be sorted in as well, from its beginning to its end
    CREATE INDEX message_index_words ON message_index
        USING gin (indexed_words(words, owner, conversation_seq))
        WITH (gin_pending_list_limit = 512);
    CREATE INDEX message_index_conversation ON message_index (conversation_seq);

    CREATE TABLE vocabulary (
        owner text NOT NULL,
        term text NOT NULL COLLATE "C",
        PRIMARY KEY (owner, term)
    );

    CREATE FUNCTION message_index_words() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = zkchat, pg_temp AS $$
    BEGIN
        -- In one order: two clients that add the same words wait for each other in turn
        INSERT INTO vocabulary
            SELECT NEW.owner, lexeme FROM unnest(NEW.words)
            WHERE NOT EXISTS (
                SELECT 1 FROM vocabulary AS known
                WHERE known.owner = NEW.owner AND known.term = lexeme
            )
            ORDER BY lexeme COLLATE "C"
            ON CONFLICT DO NOTHING;
        RETURN NULL;
    END $$;
    CREATE TRIGGER message_index_words AFTER INSERT ON message_index
    FOR EACH ROW EXECUTE FUNCTION message_index_words();

    -- The condition that this word is there
    CREATE FUNCTION search_word(word text) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
        RETURN ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery;
    END $$;

    -- The same condition with the words as the index has them for the messages of one owner
    CREATE FUNCTION search_of_owner(wanted tsquery, owner text) RETURNS tsquery
    LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
        -- As text, each word is in quotes, and a quote within one is doubled
        RETURN regexp_replace(
            wanted::text, '''([^'']*)''', '''' || left(md5(owner), 8) || '\1''', 'g'
        )::tsquery;
    END $$;

    -- The conversations of others that the caller sees
    CREATE FUNCTION search_shared() RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
    BEGIN
        RETURN ARRAY(
            SELECT conversation_seq FROM share
            WHERE with_user IN (me(), '*') AND owner <> me()
        );
    END $$;

    -- What to look for in the index. It chooses quickly: whether the caller sees a message is
    -- asked of the message itself, because a hash or a negation may let others through.
    CREATE FUNCTION search_scoped(wanted tsquery) RETURNS tsquery LANGUAGE plpgsql STABLE AS $$
    DECLARE
        scoped tsquery := search_of_owner(wanted, me());
        sharer text;
        conversations tsquery;
    BEGIN
        FOR sharer, conversations IN
            SELECT owner, string_agg(quote_literal('#' || conversation_seq), '|')::tsquery
            FROM share WHERE conversation_seq = ANY (search_shared()) GROUP BY owner
        LOOP
            scoped := scoped || (search_of_owner(wanted, sharer) && conversations);
        END LOOP;
        RETURN scoped;
    END $$;

    -- In how many of the caller's messages `wanted` is true, but `most` at most. These functions
    -- are in PL/pgSQL, so a connection plans their queries once. They walk through the index,
    -- whatever statistics say of the table; a condition with CASE is none that an index could help
    -- with.
    CREATE FUNCTION search_count(wanted tsquery, most integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = zkchat, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        scoped tsquery := search_scoped(wanted);
        mine text := me();
        shared bigint[] := search_shared();
    BEGIN
        RETURN (
            SELECT count(*) FROM (
                SELECT 1 FROM message_index
                WHERE indexed_words(words, owner, conversation_seq) @@ scoped
                    AND CASE WHEN owner = mine THEN true ELSE conversation_seq = ANY (shared) END
                LIMIT most
            ) AS found
        );
    END $$;

    -- The words that begin with each prefix, of messages that the caller sees
    CREATE FUNCTION search_vocabulary(prefixes text[], most integer)
    RETURNS TABLE (prefix text, term text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = zkchat, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        last text;
        mine text := me();
        others text[] := ARRAY(
            SELECT DISTINCT share.owner FROM share
            WHERE with_user IN (mine, '*') AND share.owner <> mine
        );
    BEGIN
        FOREACH prefix IN ARRAY prefixes LOOP
            last := prefix || chr(1114111);
            RETURN QUERY
                SELECT prefix, vocabulary.term FROM vocabulary
                WHERE owner = mine AND vocabulary.term >= prefix AND vocabulary.term < last
                ORDER BY vocabulary.term
                LIMIT most;
            IF others <> '{}' THEN
                RETURN QUERY
                    SELECT DISTINCT prefix, vocabulary.term FROM vocabulary
                    WHERE owner = ANY (others)
                        AND vocabulary.term >= prefix AND vocabulary.term < last
                        AND search_count(search_word(vocabulary.term), 1) > 0
                    LIMIT most;
            END IF;
        END LOOP;
    END $$;

    -- The scores of the caller's messages by BM25, with the constants of SQLite's FTS5. `wanted` is
    -- the condition, `phrases` are the words that count; how many messages have one is counted in
    -- what is found, but for those in `parts`, which other messages have as well. `size` and `mean`
    -- are the number of the caller's messages and their mean length. With more than `most` hits,
    -- the answer is one row of NULL.
    CREATE FUNCTION search_scores(
        wanted tsquery, phrases text[], parts text[], most bigint,
        size double precision, mean double precision
    ) RETURNS TABLE (message_seq bigint, score double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path = zkchat, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        scoped tsquery := search_scoped(wanted);
        mine text := me();
        shared bigint[] := search_shared();
    BEGIN
        RETURN QUERY
            WITH found AS MATERIALIZED (
                SELECT message_index.message_seq AS seq, length,
                    ts_filter(setweight(words, 'A', phrases), '{a}') AS hits
                FROM message_index
                WHERE indexed_words(words, owner, conversation_seq) @@ scoped
                    AND CASE WHEN owner = mine THEN true ELSE conversation_seq = ANY (shared) END
                LIMIT most + 1
            ), hit AS MATERIALIZED (
                SELECT seq, length, lexeme, positions[1] AS times FROM found, unnest(hits)
            ), frequency AS (
                SELECT lexeme AS word, count(*) AS hits FROM hit
                WHERE lexeme <> ALL (parts) GROUP BY lexeme
                UNION ALL
                SELECT word, search_count(search_word(word), NULL) FROM unnest(parts) AS word
            ), weight AS MATERIALIZED (
                SELECT word, cardinality(array_positions(phrases, word)) * greatest(
                    ln(greatest(size - hits + 0.5, 0.5) / (hits + 0.5)), 0.000001
                ) AS idf
                FROM frequency
            )
            SELECT hit.seq, sum(
                idf * (times * 2.2) / (times + 1.2 * (0.25 + 0.75 * length / mean))
            )
            FROM hit JOIN weight ON word = hit.lexeme
            WHERE (SELECT count(*) FROM hit) <= most OR most IS NULL
            GROUP BY hit.seq
            UNION ALL
            SELECT NULL, NULL WHERE (SELECT count(*) FROM hit) > most;
    END $$;

    -- The best of the caller's messages, with the columns that a client makes one of; one row of
    -- NULL where there are more than `most` hits (see `search_scores`)
    CREATE FUNCTION search_messages(
        wanted tsquery, phrases text[], parts text[], most bigint,
        in_vault text, in_conversation text, tool_results boolean, best integer
    ) RETURNS TABLE (
        conversation_id text, title text, score double precision,
        id text, parent_id text, role text, content text, status text, "timestamp" text,
        rest text, packed bytea, checksum bigint
    ) LANGUAGE plpgsql STABLE AS $$
    DECLARE
        number bigint;
        size double precision;
        mean double precision;
    BEGIN
        SELECT greatest(sum(indexed_messages), 1),
            greatest(sum(indexed_words), 1) / greatest(sum(indexed_messages), 1)
        INTO size, mean
        FROM (
            SELECT indexed_messages, indexed_words FROM conversation WHERE owner = me()
            UNION ALL
            SELECT indexed_messages, indexed_words FROM conversation
            WHERE owner <> me() AND seq IN (SELECT conversation_seq FROM share)
        ) AS visible;
        FOR number, score IN
            SELECT found.message_seq, found.score
            FROM search_scores(wanted, phrases, parts, most, size, mean) AS found
            ORDER BY found.score DESC, found.message_seq DESC
        LOOP
            IF number IS NULL THEN
                RETURN NEXT;
                RETURN;
            END IF;
            SELECT conversation.id, conversation.title, message.id, message.parent_id,
                message.role, message.content, message.status, message.timestamp, message.rest,
                message.packed, message.checksum
            INTO conversation_id, title, id, parent_id, role, content, status, "timestamp", rest,
                packed, checksum
            FROM message JOIN conversation ON conversation.seq = message.conversation_seq
            WHERE message.seq = number
                AND (in_vault IS NULL OR conversation.vault = in_vault)
                AND (in_conversation IS NULL OR conversation.id = in_conversation)
                AND (tool_results OR message.role <> 'tool');
            IF FOUND THEN
                RETURN NEXT;
                best := best - 1;
                EXIT WHEN best = 0;
            END IF;
        END LOOP;
    END $$;

    -- Deletes the words that only these conversations of the caller have
    CREATE FUNCTION forget_words(seqs bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = zkchat, pg_temp AS $$
        WITH gone AS (
            SELECT DISTINCT lexeme
            FROM message_index, unnest(words)
            WHERE conversation_seq = ANY (seqs) AND message_index.owner = me()
        )
        DELETE FROM vocabulary
        WHERE vocabulary.owner = me()
            AND term IN (SELECT lexeme FROM gone)
            AND NOT EXISTS (
                SELECT 1 FROM message_index
                WHERE indexed_words(words, owner, conversation_seq)
                        @@ search_of_owner(search_word(term), me())
                    AND CASE
                        WHEN owner = me() THEN conversation_seq <> ALL (seqs) ELSE false
                    END
            )
    $$;
"""
