"""The full-text index of layout 1, and the functions that search it for their caller.

This text never changes again (see `schema`).
"""

# A lexeme's position is how often the word occurs in the message, which a tsvector cannot say of
# more than 255 occurrences. The lexemes `@…` and `#…` are the owner and the conversation: with them
# a search walks through the index for the caller's messages only.
SEARCH = """
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
    -- A search reads what waits to be sorted in as well, from its beginning to its end
    CREATE INDEX message_index_words ON message_index USING gin (words)
        WITH (gin_pending_list_limit = 512);
    CREATE INDEX message_index_conversation ON message_index (conversation_seq);

    CREATE TABLE vocabulary (
        owner text NOT NULL,
        term text NOT NULL COLLATE "C",
        PRIMARY KEY (owner, term)
    );

    CREATE FUNCTION message_index_scope() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.words @@ '''@'':* | ''#'':*'::tsquery THEN
            RAISE EXCEPTION 'the scope of a message is not the client''s to say';
        END IF;
        NEW.words := NEW.words
            || array_to_tsvector(ARRAY['@' || md5(NEW.owner), '#' || NEW.conversation_seq]);
        RETURN NEW;
    END $$;
    CREATE TRIGGER message_index_scope BEFORE INSERT ON message_index
    FOR EACH ROW EXECUTE FUNCTION message_index_scope();

    CREATE FUNCTION message_index_counts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE conversation SET
            indexed_messages = conversation.indexed_messages + added.messages,
            indexed_words = conversation.indexed_words + added.words
        FROM (
            SELECT conversation_seq, count(*) AS messages, sum(length) AS words
            FROM added_row GROUP BY conversation_seq
        ) AS added
        WHERE seq = added.conversation_seq;
        RETURN NULL;
    END $$;
    CREATE TRIGGER message_index_counts AFTER INSERT ON message_index
    REFERENCING NEW TABLE AS added_row
    FOR EACH STATEMENT EXECUTE FUNCTION message_index_counts();

    CREATE FUNCTION search_scope() RETURNS tsquery LANGUAGE plpgsql STABLE AS $$
    BEGIN
        RETURN (
            SELECT string_agg(quote_literal(lexeme), '|')::tsquery FROM (
                SELECT '@' || md5(me()) AS lexeme
                UNION ALL
                SELECT '#' || conversation_seq FROM share
                WHERE with_user IN (me(), '*') AND owner <> me()
            ) AS lexemes
        );
    END $$;

    -- These functions are in PL/pgSQL, so a connection plans their queries once. They walk through
    -- the index, whatever statistics say of the table.
    CREATE FUNCTION search_count(wanted tsquery, most integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = zkchat, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        scoped tsquery := wanted && search_scope();
    BEGIN
        RETURN (
            SELECT count(*) FROM (
                SELECT 1 FROM message_index WHERE words @@ scoped LIMIT most
            ) AS found
        );
    END $$;

    -- The words that begin with a prefix, of messages that the caller sees
    CREATE FUNCTION search_vocabulary(prefix text, most integer) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = zkchat, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        last text := prefix || chr(1114111);
        mine text := me();
        scope tsquery := search_scope();
    BEGIN
        RETURN QUERY
            SELECT term FROM vocabulary
            WHERE owner = mine AND term >= prefix AND term < last
            UNION
            SELECT term FROM vocabulary
            WHERE owner IN (
                    SELECT share.owner FROM share
                    WHERE with_user IN (mine, '*') AND share.owner <> mine
                )
                AND term >= prefix AND term < last
                AND EXISTS (
                    SELECT 1 FROM message_index
                    WHERE words @@ (scope && quote_literal(term)::tsquery)
                )
            ORDER BY term
            LIMIT most;
    END $$;

    -- The scores of the caller's messages by BM25, with the constants of SQLite's FTS5. `phrases`
    -- are the words that count, `wanted` is the condition; `size` and `mean` are the number of the
    -- caller's messages and their mean length.
    CREATE FUNCTION search_scores(
        wanted tsquery, phrases text[], size double precision, mean double precision
    ) RETURNS TABLE (message_seq bigint, score double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path = zkchat, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        scope tsquery := search_scope();
        scoped tsquery := wanted && scope;
    BEGIN
        RETURN QUERY
            WITH phrase AS (
                SELECT word, count(*) AS times FROM unnest(phrases) AS word GROUP BY word
            ), weight AS MATERIALIZED (
                SELECT word, times * greatest(
                    ln(greatest(size - hits + 0.5, 0.5) / (hits + 0.5)), 0.000001
                ) AS idf
                FROM phrase, LATERAL (
                    SELECT count(*)::double precision AS hits FROM message_index
                    WHERE words @@ (quote_literal(word)::tsquery && scope)
                ) AS counted
            ), found AS (
                SELECT message_index.message_seq AS seq, length,
                    ts_filter(setweight(words, 'A', phrases), '{a}') AS hits
                FROM message_index WHERE words @@ scoped
            )
            SELECT found.seq, sum(
                idf * (positions[1] * 2.2)
                    / (positions[1] + 1.2 * (0.25 + 0.75 * length / mean))
            )
            FROM found, unnest(hits) AS hit JOIN weight ON weight.word = hit.lexeme
            GROUP BY found.seq;
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
                WHERE words @@ (
                    quote_literal(term)::tsquery && quote_literal('@' || md5(me()))::tsquery
                ) AND conversation_seq <> ALL (seqs)
            )
    $$;
"""
