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
    CREATE INDEX message_index_words ON message_index USING gin (words);
    CREATE INDEX message_index_conversation ON message_index (conversation_seq);

    CREATE TABLE vocabulary (
        owner text NOT NULL,
        term text NOT NULL COLLATE "C",
        PRIMARY KEY (owner, term)
    );

    CREATE FUNCTION message_index_scope() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.words := ts_delete(
            NEW.words, ARRAY(SELECT lexeme FROM unnest(NEW.words) WHERE lexeme ~ '^[@#]')
        ) || array_to_tsvector(ARRAY['@' || md5(NEW.owner), '#' || NEW.conversation_seq]);
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

    CREATE FUNCTION search_scope() RETURNS tsquery LANGUAGE sql STABLE AS $$
        SELECT string_agg(quote_literal(lexeme), '|')::tsquery FROM (
            SELECT '@' || md5(me()) AS lexeme
            UNION ALL
            SELECT '#' || conversation_seq FROM share
            WHERE with_user IN (me(), '*') AND owner <> me()
        ) AS lexemes
    $$;

    CREATE FUNCTION search_count(wanted tsquery, most integer) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = zkchat, pg_temp AS $$
        SELECT count(*) FROM (
            SELECT 1 FROM message_index WHERE words @@ (wanted && search_scope()) LIMIT most
        ) AS found
    $$;

    -- The words that begin with a prefix, of messages that the caller sees
    CREATE FUNCTION search_vocabulary(prefix text, most integer) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = zkchat, pg_temp AS $$
        SELECT term FROM vocabulary
        WHERE term >= prefix AND term < prefix || chr(1114111) AND owner = me()
        UNION
        SELECT term FROM vocabulary
        WHERE term >= prefix AND term < prefix || chr(1114111)
            AND owner IN (
                SELECT share.owner FROM share
                WHERE with_user IN (me(), '*') AND share.owner <> me()
            )
            AND EXISTS (
                SELECT 1 FROM message_index
                WHERE words @@ (search_scope() && quote_literal(term)::tsquery)
            )
        ORDER BY term
        LIMIT most
    $$;

    -- The scores of the caller's messages by BM25, with the constants of SQLite's FTS5. `phrases`
    -- are the words that count, `wanted` is the condition; `size` and `mean` are the number of the
    -- caller's messages and their mean length.
    CREATE FUNCTION search_scores(
        wanted tsquery, phrases text[], size double precision, mean double precision
    ) RETURNS TABLE (message_seq bigint, score double precision)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = zkchat, pg_temp AS $$
        WITH phrase AS (
            SELECT word, count(*) AS times FROM unnest(phrases) AS word GROUP BY word
        ), weight AS (
            SELECT word, times * greatest(
                ln(greatest(size - hits + 0.5, 0.5) / (hits + 0.5)), 0.000001
            ) AS idf
            FROM phrase, LATERAL (
                SELECT count(*)::double precision AS hits FROM message_index
                WHERE words @@ (quote_literal(word)::tsquery && search_scope())
            ) AS counted
        ), found AS (
            SELECT message_index.message_seq, length,
                ts_filter(setweight(words, 'A', phrases), '{a}') AS hits
            FROM message_index WHERE words @@ (wanted && search_scope())
        )
        SELECT found.message_seq, sum(
            idf * (positions[1] * 2.2)
                / (positions[1] + 1.2 * (0.25 + 0.75 * length / mean))
        )
        FROM found, unnest(hits) AS hit JOIN weight ON weight.word = hit.lexeme
        GROUP BY found.message_seq
    $$;

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
