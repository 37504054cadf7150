"""Full-text search over everything that was ever said: the table `spoken`, a row a message, whose words are those of `words.indexed`.

The words themselves are kept only where they are others than the content: in `spelling`.

Every branch is searched, and so are the results of tools: what a prompt leaves out or masks is found here again.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from zkchat_cli.models import FoundMessage
from zkchat_cli.store import rows
from zkchat_cli.text.words import content_terms, to_index_text
from zkchat_cli.text.words import terms as word_list

LONGEST = 200_000
"""Characters of a message that are indexed: a pasted book is found by how it begins."""
MOST_TERMS = 32
AT_ONCE = 500
"""Messages that are made searchable in one transaction: some 30 ms, in which nobody else can write."""

MOST_RANKED = 10_000
"""Messages that are ranked for one search: FTS5 goes through a million in 30 ms, but takes a second to rank them. So it ranks those that
have the rare words of a query, and the common ones count when the best of them are compared (as in vault/retrieval.py)."""
COMMON = 2.0
COMPARED = 4
"""How many times as many messages are compared by their common words as are wanted."""

_FOUND = f"""
    SELECT conversation.id, conversation.title, {", ".join(f"message.{column}" for column in (*rows.MESSAGE, *rows.ASIDE))}
    FROM message CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq = :seq AND (:vault IS NULL OR conversation.vault = :vault)
        AND message.status <> 'pending'
"""
"""A question that is still being answered is not what it asks for."""
_AMONG = "FROM spoken WHERE spoken MATCH :query AND rowid BETWEEN :first AND :last"


def waiting(connection: sqlite3.Connection) -> int:
    """How many messages wait to be made searchable."""
    count: int = connection.execute("SELECT count(*) FROM unspoken").fetchone()[0]
    return count


def index(connection: sqlite3.Connection) -> int:
    """Make messages searchable that wait for it, some at a time; how many."""
    query = "SELECT message.seq, message.content FROM unspoken JOIN message ON message.seq = unspoken.message_seq LIMIT ?"
    found = [(seq, content, to_index_text(content[:LONGEST])) for seq, content in connection.execute(query, (AT_ONCE,))]
    other = [(seq, words) for seq, content, words in found if words != content]
    connection.executemany("INSERT INTO spelling (message_seq, words) VALUES (?, ?)", other)
    connection.executemany("INSERT INTO spoken (rowid, words) VALUES (?, ?)", [(seq, words) for seq, _, words in found])
    connection.executemany("DELETE FROM unspoken WHERE message_seq = ?", [(seq,) for seq, *_ in found])
    return len(found)


def search(connection: sqlite3.Connection, vault: str | None, text: str, only: str | None, limit: int) -> tuple[FoundMessage, ...]:
    """The messages that have most of the words of `text`, best first; of the conversation `only`, or of all with `vault` (None: any)."""
    terms = list(dict.fromkeys(content_terms(text)))[:MOST_TERMS]
    often = {term: often for term in terms if (often := _often(connection, term))}
    if not often or limit <= 0:
        return ()
    among = _bounds(connection, only)
    rare = _rare(often)
    common = [term for term in often if term not in rare]
    ranked = _ranked(connection, rare, among) if rare else _newest(connection, common, among)
    if only is not None:
        own = {seq for (seq,) in connection.execute("SELECT seq FROM message WHERE conversation_id = ?", (only,))}
        ranked = (each for each in ranked if each[0] in own)
    found = _said(connection, ranked, vault, COMPARED * limit if common else limit)
    if common:
        found = sorted((_with_common(said, common) for said in found), key=lambda said: -said.score)
    return tuple(found[:limit])


def _with_common(said: FoundMessage, common: Sequence[str]) -> FoundMessage:
    """A message with what it scores for the common words it has: each about as much as BM25 gives a word that every tenth message has."""
    has = set(word_list(said.message.content[:LONGEST]))
    return said.model_copy(update={"score": said.score + COMMON * sum(term in has for term in common)})


def _often(connection: sqlite3.Connection, term: str) -> int:
    """How many messages have a term, counted up to what makes it a common one."""
    query = "SELECT count(*) FROM (SELECT 1 FROM spoken WHERE spoken MATCH ? LIMIT ?)"
    often: int = connection.execute(query, (_any([term]), MOST_RANKED)).fetchone()[0]
    return often


def _rare(often: Mapping[str, int]) -> list[str]:
    """The rarest terms, so many that what they are in can be ranked."""
    rare, total = [], 0
    for term in sorted(often, key=lambda term: often[term]):
        total += often[term]
        if total > MOST_RANKED or often[term] >= MOST_RANKED:
            break
        rare.append(term)
    return rare


def _bounds(connection: sqlite3.Connection, only: str | None) -> dict[str, int]:
    """From which message to which a conversation stands in the log."""
    first, last = None, None
    if only is not None:
        first, last = connection.execute("SELECT min(seq), max(seq) FROM message WHERE conversation_id = ?", (only,)).fetchone()
    return {"first": first or 0, "last": last or 2**62}


def _ranked(connection: sqlite3.Connection, terms: Sequence[str], among: Mapping[str, int]) -> Iterator[tuple[int, float]]:
    query = f"SELECT rowid, -bm25(spoken) {_AMONG} ORDER BY bm25(spoken), rowid DESC"
    yield from connection.execute(query, {"query": _any(terms), **among})


def _newest(connection: sqlite3.Connection, terms: Sequence[str], among: Mapping[str, int]) -> Iterator[tuple[int, float]]:
    """Where all words are common: the newest messages that have all of them, then the newest that have any."""
    seen: set[int] = set()
    for query, score in ((" AND ".join(map(_phrase, terms)), 1.0), (_any(terms), 0.0)):
        for (seq,) in connection.execute(f"SELECT rowid {_AMONG} ORDER BY rowid DESC LIMIT {MOST_RANKED}", {"query": query, **among}):
            if seq not in seen:
                seen.add(seq)
                yield seq, score


def _said(connection: sqlite3.Connection, ranked: Iterable[tuple[int, float]], vault: str | None, most: int) -> list[FoundMessage]:
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
    return " OR ".join(map(_phrase, terms))


def _phrase(term: str) -> str:
    return f'"{term}"'
