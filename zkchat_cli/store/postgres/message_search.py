"""The search of messages by words, in any of their forms: the same query and the same scores as in
SQLite's full-text index, over the messages that the user sees.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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

_FOUND = f"""
    SELECT conversation_id, title, score, {", ".join(rows.MESSAGE)}
    FROM search_messages(
        %(wanted)s::tsquery, %(phrases)s::text[], %(parts)s::text[], %(most)s::bigint,
        %(vault)s::text, %(only)s::text, %(tool_results)s, %(best)s::integer
    )
"""
_SAME_BEGINNING = "SELECT prefix, term FROM search_vocabulary(%s, %s)"
# Damaged messages are left out, and more would be read then
_SPARE = 5


class _Word(NamedTuple):
    """A word of a query: the phrases that are its forms, and the condition for a message."""

    phrases: tuple[str, ...]
    condition: str
    # Whether a message must have all the phrases, which others have as well
    is_split: bool = False


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
    words = {word.condition: word for word in _any_forms(db, words_to_find(text), languages)}
    scope = {
        "vault": vault,
        "only": conversation_id,
        "tool_results": tool_results,
        "best": limit + _SPARE,
    }
    parts = [phrase for word in words.values() if word.is_split for phrase in word.phrases]
    # Nearly every query has so few hits that all its words count
    found = _find(db, " | ", words.values(), scope | {"parts": parts, "most": MOST_RANKED})
    if found is None:
        found = _find_rarest(db, words, scope)
    return tuple(found[:limit])


def _find(
    db: PostgresDatabase,
    operator: str,
    words: Collection[_Word],
    values: Mapping[str, Any],
) -> list[FoundMessage] | None:
    """The best messages with any (` | `) or all (` & `) of these words; None where too many have
    one.
    """
    if not words:
        return []
    query = {
        "wanted": operator.join(word.condition for word in words),
        "phrases": [phrase for word in words for phrase in word.phrases],
    }
    found: list[FoundMessage] = []
    for id_, title, score, *columns in db.execute(_FOUND, {**query, **values}):
        if id_ is None:
            return None
        message = to_message(columns)
        if message.status != "damaged":
            found.append(
                FoundMessage(conversation_id=id_, title=title, score=score, message=message)
            )
    return found


def _find_rarest(
    db: PostgresDatabase, words: Mapping[str, _Word], scope: Mapping[str, Any]
) -> list[FoundMessage]:
    """The best messages with one of the rare words, or with all words if none is rare."""
    frequencies = {word.condition: count for word, count in _count(db, [*words.values()]) if count}
    rare = rarest_first(frequencies, frequencies, MOST_RANKED)
    chosen = [words[condition] for condition in rare or frequencies]
    phrases = [phrase for word in chosen for phrase in word.phrases]
    values = {**scope, "parts": [*dict.fromkeys(phrases)], "most": None}
    return _find(db, " | " if rare else " & ", chosen, values) or []


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
    prefixes = [same_beginning(term, languages) for term in terms]
    asked = [*dict.fromkeys(prefix for prefix in prefixes if prefix is not None)]
    others: dict[str, list[str]] = {prefix: [] for prefix in asked}
    if asked:
        for prefix, term in db.execute(_SAME_BEGINNING, (asked, MOST_FORMS)):
            others[prefix].append(term)
    words: list[_Word] = []
    for term, prefix in zip(terms, prefixes, strict=True):
        if prefix is None:
            # A word with an apostrophe is several in the index
            parts = tuple(tokens(term))
            words.append(_Word(parts, _join(" & ", parts), is_split=len(parts) > 1))
        else:
            forms = forms_to_find(term, others[prefix], languages)
            words.append(_Word(forms, _join(" | ", forms)))
    return words


def _join(operator: str, phrases: tuple[str, ...]) -> str:
    return "(" + operator.join(f"'{phrase}'" for phrase in phrases) + ")"
