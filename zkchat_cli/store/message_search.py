"""Full-text search over all messages: the table `message_index`, whose words are those of `words.to_index_text`.

Every branch is searched, and so are the results of tools: search finds what a prompt leaves out or masks.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from zkchat_cli.models import FoundMessage
from zkchat_cli.store import rows
from zkchat_cli.store.database import transaction
from zkchat_cli.text.words import content_terms, to_index_text
from zkchat_cli.text.words import terms as word_list

MOST_INDEXED = 200_000
"""Characters of a message that are indexed: a pasted book is found by its beginning."""
MOST_TERMS = 32
BATCH = 500
"""Messages that are indexed in one transaction: about 30 ms, during which nobody else can write."""

MOST_RANKED = 10_000
"""Messages that FTS5 ranks for one search: it walks through a million in 30 ms, but needs a second to rank them. So the rare words of a
query choose the messages, and its common words only reorder the best of them (as in vault search)."""
COMMON_SCORE = 2.0
"""What a common word adds: about as much as BM25 gives a word that every tenth message has."""
CANDIDATES = 4
"""How many times as many messages as wanted are compared by their common words."""

_FOUND = f"""
    SELECT conversation.id, conversation.title, {", ".join(f"message.{column}" for column in rows.MESSAGE)}
    FROM message CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq = :seq AND (:vault IS NULL OR conversation.vault = :vault)
        AND message.status <> 'pending'
"""
"""Without the question that is being answered now."""
_MATCHES = "FROM message_index WHERE message_index MATCH :query AND rowid BETWEEN :first AND :last"


def index_messages(connection: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Index the messages that wait for it, a transaction a batch; yields how many of how many are done. Between batches it sleeps for half
    their time, because SQLite's other writers look for the lock only now and then."""
    total: int = connection.execute("SELECT count(*) FROM unindexed").fetchone()[0]
    done = 0
    while True:
        start = time.monotonic()
        with transaction(connection):
            indexed_now = _index_batch(connection)
        if not indexed_now:
            return
        elapsed = time.monotonic() - start
        done += indexed_now
        yield min(done, total), total
        time.sleep(elapsed / 2)


def _index_batch(connection: sqlite3.Connection) -> int:
    query = "SELECT message.seq, message.content FROM unindexed JOIN message ON message.seq = unindexed.message_seq LIMIT ?"
    found = [(seq, content, to_index_text(content[:MOST_INDEXED])) for seq, content in connection.execute(query, (BATCH,))]
    different = [(seq, words) for seq, content, words in found if words != content]
    connection.executemany("INSERT INTO index_words (message_seq, words) VALUES (?, ?)", different)
    connection.executemany("INSERT INTO message_index (rowid, words) VALUES (?, ?)", [(seq, words) for seq, _, words in found])
    connection.executemany("DELETE FROM unindexed WHERE message_seq = ?", [(seq,) for seq, *_ in found])
    return len(found)


def search(connection: sqlite3.Connection, vault: str | None, text: str, only: str | None, limit: int) -> tuple[FoundMessage, ...]:
    """The messages most relevant to `text`, best first; of the conversation `only`, or of all in `vault` (None: in any vault)."""
    terms = list(dict.fromkeys(content_terms(text)))[:MOST_TERMS]
    frequencies = {term: count for term in terms if (count := _frequency(connection, term))}
    if not frequencies or limit <= 0:
        return ()
    bounds = _sequence_bounds(connection, only)
    rare = _rare_terms(frequencies)
    common = [term for term in frequencies if term not in rare]
    ranked = _rank(connection, rare, bounds) if rare else _newest(connection, common, bounds)
    if only is not None:
        own = {seq for (seq,) in connection.execute("SELECT seq FROM message WHERE conversation_id = ?", (only,))}
        ranked = (each for each in ranked if each[0] in own)
    found = _read_messages(connection, ranked, vault, CANDIDATES * limit if common else limit)
    if common:
        found = sorted((_add_common_score(each, common) for each in found), key=lambda each: -each.score)
    return tuple(found[:limit])


def _add_common_score(found: FoundMessage, common: Sequence[str]) -> FoundMessage:
    words = set(word_list(found.message.content[:MOST_INDEXED]))
    return found.model_copy(update={"score": found.score + COMMON_SCORE * sum(term in words for term in common)})


def _frequency(connection: sqlite3.Connection, term: str) -> int:
    """How many messages have a term; counting stops where it is a common one."""
    query = "SELECT count(*) FROM (SELECT 1 FROM message_index WHERE message_index MATCH ? LIMIT ?)"
    count: int = connection.execute(query, (_any([term]), MOST_RANKED)).fetchone()[0]
    return count


def _rare_terms(frequencies: Mapping[str, int]) -> list[str]:
    """The rarest terms, as many as have together at most MOST_RANKED messages."""
    rare, total = [], 0
    for term in sorted(frequencies, key=lambda term: frequencies[term]):
        total += frequencies[term]
        if total > MOST_RANKED or frequencies[term] >= MOST_RANKED:
            break
        rare.append(term)
    return rare


def _sequence_bounds(connection: sqlite3.Connection, only: str | None) -> dict[str, int]:
    """The first and last message number of a conversation: between them are all of its messages."""
    first, last = None, None
    if only is not None:
        first, last = connection.execute("SELECT min(seq), max(seq) FROM message WHERE conversation_id = ?", (only,)).fetchone()
    return {"first": first or 0, "last": last or 2**62}


def _rank(connection: sqlite3.Connection, terms: Sequence[str], bounds: Mapping[str, int]) -> Iterator[tuple[int, float]]:
    query = f"SELECT rowid, -bm25(message_index) {_MATCHES} ORDER BY bm25(message_index), rowid DESC"
    yield from connection.execute(query, {"query": _any(terms), **bounds})


def _newest(connection: sqlite3.Connection, terms: Sequence[str], bounds: Mapping[str, int]) -> Iterator[tuple[int, float]]:
    """If all words are common: the newest messages that have all of them, then the newest that have any."""
    seen: set[int] = set()
    for query, score in ((" AND ".join(map(_quoted, terms)), 1.0), (_any(terms), 0.0)):
        for (seq,) in connection.execute(f"SELECT rowid {_MATCHES} ORDER BY rowid DESC LIMIT {MOST_RANKED}", {"query": query, **bounds}):
            if seq not in seen:
                seen.add(seq)
                yield seq, score


def _read_messages(connection: sqlite3.Connection, ranked: Iterable[tuple[int, float]], vault: str | None, most: int) -> list[FoundMessage]:
    found: list[FoundMessage] = []
    for seq, score in ranked:
        row = connection.execute(_FOUND, {"seq": seq, "vault": vault}).fetchone()
        if row is not None:
            id_, title, *message = row
            found.append(FoundMessage(conversation_id=id_, title=title, score=score, message=rows.to_message(message)))
            if len(found) == most:
                break
    return found


def _any(terms: Iterable[str]) -> str:
    return " OR ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    return f'"{term}"'
