"""The search of messages by words, in any of their forms: the same query and the same scores as in
SQLite's full-text index, over the messages that the user sees.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.models.conversations import FoundMessage
from zkchat_cli.store import rows
from zkchat_cli.store.postgres.message_index import tokens
from zkchat_cli.store.postgres.messages import to_message
from zkchat_cli.store.postgres.postgres_connection import PostgresDatabase
from zkchat_cli.store.word_query import (
    MOST_FORMS,
    MOST_RANKED,
    forms_to_find,
    same_beginning,
    words_to_find,
)
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import rarest_first

_MESSAGE_COLUMNS = ", ".join(f"message.{column}" for column in rows.MESSAGE)
_FOUND = f"""
    WITH corpus AS (
        SELECT greatest(sum(indexed_messages), 1)::double precision AS size,
            greatest(sum(indexed_words), 1)::double precision
                / greatest(sum(indexed_messages), 1)::double precision AS mean
        FROM (
            SELECT indexed_messages, indexed_words FROM conversation WHERE owner = me()
            UNION ALL
            SELECT indexed_messages, indexed_words FROM conversation
            WHERE owner <> me() AND seq IN (SELECT conversation_seq FROM share)
        ) AS visible
    )
    SELECT conversation.id, conversation.title, found.score, {_MESSAGE_COLUMNS}
    FROM corpus
    CROSS JOIN LATERAL
        search_scores(%(wanted)s::tsquery, %(phrases)s::text[], size, mean) AS found
    JOIN message ON message.seq = found.message_seq
    JOIN conversation ON conversation.seq = message.conversation_seq
    WHERE (%(vault)s::text IS NULL OR conversation.vault = %(vault)s)
        AND (%(only)s::text IS NULL OR conversation.id = %(only)s)
        AND (%(tool_results)s OR message.role <> 'tool')
    ORDER BY found.score DESC, message.seq DESC
    LIMIT %(limit)s
"""
# Damaged messages are left out, and more would be read then
_SPARE = 5


class _Word(NamedTuple):
    """A word of a query: the phrases that are its forms, and the condition for a message."""

    phrases: tuple[str, ...]
    condition: str


def search(
    db: PostgresDatabase,
    vault: str | None,
    text: str,
    *,
    conversation_id: str | None = None,
    limit: int = 10,
    languages: tuple[str, ...] = (ENGLISH,),
    tool_results: bool = True,
) -> tuple[FoundMessage, ...]:
    """The messages most relevant to `text`, best first: see `ConversationLog.search`."""
    if limit <= 0:
        return ()
    words: dict[str, _Word] = {}
    frequencies: dict[str, int] = {}
    for word, count in _count(db, _any_forms(db, words_to_find(text), languages)):
        if count:
            words[word.condition] = word
            frequencies[word.condition] = count
    if not frequencies:
        return ()
    rare = rarest_first(frequencies, frequencies, MOST_RANKED)
    chosen = rare or [*words]
    values = {
        "wanted": (" | " if rare else " & ").join(chosen),
        "phrases": [phrase for condition in chosen for phrase in words[condition].phrases],
        "vault": vault,
        "only": conversation_id,
        "tool_results": tool_results,
        "limit": limit + _SPARE,
    }
    found: list[FoundMessage] = []
    for id_, title, score, *columns in db.execute(_FOUND, values):
        message = to_message(columns)
        if message.status != "damaged":
            found.append(
                FoundMessage(conversation_id=id_, title=title, score=score, message=message)
            )
    return tuple(found[:limit])


def _count(db: PostgresDatabase, words: Sequence[_Word]) -> Iterator[tuple[_Word, int]]:
    """In how many messages each word is; counting stops at a common word."""
    query = "SELECT search_count(%s::tsquery, %s)"
    with db.together():
        asked = [db.execute(query, (word.condition, MOST_RANKED + 1)) for word in words]
        counts = [cursor.fetchall() for cursor in asked]
    for word, [(count,)] in zip(words, counts, strict=True):
        yield word, int(count)


def _any_forms(
    db: PostgresDatabase, terms: Sequence[str], languages: tuple[str, ...]
) -> list[_Word]:
    """Each word in any of its forms in the index."""
    query = "SELECT search_vocabulary(%s, %s)"
    prefixes = [same_beginning(term, languages) for term in terms]
    with db.together():
        asked = [
            None if prefix is None else db.execute(query, (prefix, MOST_FORMS))
            for prefix in prefixes
        ]
        found = [() if cursor is None else cursor.fetchall() for cursor in asked]
    words: list[_Word] = []
    for term, prefix, others in zip(terms, prefixes, found, strict=True):
        if prefix is None:
            # A word with an apostrophe is several in the index
            parts = tuple(tokens(term))
            words.append(_Word(parts, _join(" & ", parts)))
        else:
            forms = forms_to_find(term, (other for (other,) in others), languages)
            words.append(_Word(forms, _join(" | ", forms)))
    return words


def _join(operator: str, phrases: tuple[str, ...]) -> str:
    return "(" + operator.join(f"'{phrase}'" for phrase in phrases) + ")"
