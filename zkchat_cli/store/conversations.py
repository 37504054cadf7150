"""The tables `conversation`, `message` with the notes that it uses (`mention`), and `compaction`;
and the search of messages.

Triggers keep the figures of its messages in a conversation (see `database`). Compactions that were
taken back stay, because past prompts contained them; and so does the last preview of each
conversation, which no prompt ever had.

Search finds messages of every branch and results of tools by words, in any of their forms in
`message_index`. `message_vector` has the vectors of a message's passages as 8-bit integers; none if
the model does not know its language. No export has them: they are made again.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation, ConversationOverview, FoundMessage
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.store import rows
from zkchat_cli.store.database import transaction
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import (
    ENGLISH,
    content_terms,
    rarest_first,
    replace_surrogates,
    stem,
    to_index_text,
)

_COLUMNS = (*rows.CONVERSATION, "messages", "tokens", "question", "checksum")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM conversation"
_NEWEST_FIRST = "ORDER BY julianday(updated_at) DESC, updated_at DESC, seq DESC"
"""By the instant, not by the text: an imported conversation may have another time zone."""
MOST_NOTES = 30
# Only so many of the newest messages count for the notes that are often cited
RECENT_MESSAGES = 20_000

_CHECKSUM = "checksum({0}packed, id, parent_id, role, content, timestamp, {0}rest)"
_UPDATE_MESSAGE = f"""
    UPDATE message SET rest = :rest, packed = :packed,
        checksum = CASE checksum WHEN {_CHECKSUM.format("")} THEN {_CHECKSUM.format(":")} ELSE checksum END {{}}
    WHERE id = :id AND conversation_id = :conversation_id RETURNING seq"""
"""A damaged message stays damaged."""
_KINDS = {"direct": "named", "search": "found"}
_NOTES = """
    SELECT mention.relative_path, count(DISTINCT message.conversation_id),
        count(DISTINCT iif(message.role = 'assistant', message.seq, NULL)), sum(mention.citations), max(message.timestamp)
    FROM message JOIN mention ON mention.message_seq = message.seq JOIN conversation ON conversation.id = message.conversation_id
    WHERE conversation.vault = :vault AND {} GROUP BY mention.relative_path {} LIMIT :most
"""
_OFTEN_CITED = _NOTES.format(
    "message.seq > (SELECT max(seq) FROM message) - :recent AND mention.how = 'cited'",
    "HAVING count(DISTINCT message.conversation_id) > 1 ORDER BY 2 DESC, 5 DESC",
)
_MOST_USED = _NOTES.format("mention.how <> 'memory'", "ORDER BY 3 DESC, 4 DESC, 2 DESC, 1")
_COMPACTION_FIELDS = ("id", "created_at", "last_id", "undone")
# The value of `undone` that marks a preview
_PREVIEW = 2
_SELECT_COMPACTION = f"SELECT {', '.join(_COMPACTION_FIELDS)}, packed FROM compaction"
# Characters of a message that are indexed: a pasted book is found by its beginning
MOST_INDEXED = 200_000
MOST_TERMS = 32
# Messages that are indexed in one transaction: about 30 ms, during which nobody else can write
BATCH = 500
# Letters; shorter words are looked for as they are
SHORTEST_STEM = 3
# Words of the index that are compared with a word of a query
MOST_FORMS = 1_000
MOST_RANKED = 10_000
"""Messages that FTS5 ranks for one search: it walks through a million in 30 ms, but needs a second
to rank them. So the rare words of a query choose the messages; its common words count only where it
has no rare ones.
"""

_UNINDEXED = (
    "SELECT message.seq, message.content FROM unindexed JOIN message ON message.seq = "
    "unindexed.message_seq LIMIT ?"
)
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM message_index WHERE message_index MATCH ? LIMIT ?)"
_RANKED = (
    "SELECT rowid, -bm25(message_index) FROM message_index WHERE message_index MATCH ? ORDER "
    "BY bm25(message_index), rowid DESC"
)
_FOUND = f"""
    SELECT conversation.id, conversation.title, {", ".join(f"message.{column}" for column in rows.MESSAGE)}
    FROM message CROSS JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq = :message AND (:vault IS NULL OR conversation.vault = :vault) AND (:only IS NULL OR conversation.id = :only)
        AND (:tool_results OR message.role <> 'tool')
"""
_VOCABULARY = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_vocabulary USING fts5vocab(main, "
    "message_index, row)"
)
_SAME_BEGINNING = (
    "SELECT term FROM temp.message_vocabulary WHERE term >= :prefix AND term < :prefix || "
    "char(0x10ffff) LIMIT :most"
)

_WITHOUT_VECTORS = """
    SELECT message.seq, message.id, message.content
    FROM message JOIN conversation ON conversation.id = message.conversation_id
    WHERE conversation.vault = :vault AND message.seq < :before AND message.role IN ('user', 'assistant') AND trim(message.content) <> ''
        AND NOT EXISTS (SELECT 1 FROM message_vector WHERE message_seq = message.seq AND embedder = :embedder)
    ORDER BY message.seq DESC LIMIT :limit
"""
_ADD_VECTORS = """
    INSERT OR REPLACE INTO message_vector (conversation_seq, message_seq, embedder, passages)
    SELECT conversation.seq, message.seq, :embedder, :passages
    FROM message JOIN conversation ON conversation.id = message.conversation_id WHERE message.id = :id
"""
_VECTORS = """
    SELECT message_vector.seq, message.id, passages FROM message_vector JOIN message ON message.seq = message_seq
    WHERE conversation_seq = (SELECT seq FROM conversation WHERE id = :conversation) AND message_vector.seq > :after
        AND embedder = :embedder
    ORDER BY message_vector.seq
"""


def read(connection: sqlite3.Connection, conversation_id: str) -> ConversationOverview:
    """Raises StoreError for an unknown id; its hint lists the most recent conversations."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise StoreError(f"there is no conversation {conversation_id}", _recent_hint(connection))
    return _to_overview(row)


def find(
    connection: sqlite3.Connection, prefix: str | None, vault: str | None
) -> ConversationOverview:
    """The conversation with this id or unique prefix of it, in any vault; None: the most recently
    updated one of `vault`.
    """
    if prefix is None:
        if newest := newest_first(connection, vault, 1):
            return newest[0]
        where = f" with {vault}" if vault else ""
        how = f'Start one: zkchat ask "…", or name one by its id. {_recent_hint(connection)}'
        raise StoreError(f"there is no conversation{where} yet", how)
    query = (
        f"{_SELECT} WHERE :prefix <> '' AND substr(id, 1, length(:prefix)) = :prefix "
        f"{_NEWEST_FIRST}"
    )
    found = [_to_overview(row) for row in connection.execute(query, {"prefix": prefix})]
    exact = [conversation for conversation in found if conversation.id == prefix]
    if exact or len(found) == 1:
        return (exact or found)[0]
    if not found:
        raise StoreError(
            f"no conversation has an id that begins with {prefix!r}", _recent_hint(connection)
        )
    raise StoreError(
        f"{prefix!r} is the beginning of {len(found)} conversations: {_format_list(found)}",
        "Give more of the id.",
    )


def newest_first(
    connection: sqlite3.Connection, vault: str | None = None, limit: int | None = None
) -> list[ConversationOverview]:
    """Those of `vault` (None: of all vaults), the most recently updated first."""
    query = (
        f"{_SELECT} WHERE :vault IS NULL OR vault = :vault {_NEWEST_FIRST} LIMIT "
        "coalesce(:limit, -1)"
    )
    return [
        _to_overview(row) for row in connection.execute(query, {"vault": vault, "limit": limit})
    ]


def insert(connection: sqlite3.Connection, conversation: Conversation) -> None:
    """Store a new conversation."""
    rows.insert(connection, "conversation", rows.column_values(conversation, rows.CONVERSATION))
    _store_checksum(connection, conversation.id)


def rename(connection: sqlite3.Connection, conversation_id: str, title: str) -> None:
    update(connection, conversation_id, "title = ?", title)


def move_head(connection: sqlite3.Connection, conversation_id: str, message_id: str | None) -> None:
    """Make another message the end of the current branch; None: the conversation's empty
    beginning.
    """
    update(connection, conversation_id, "head_id = ?", message_id)


def update(
    connection: sqlite3.Connection, conversation_id: str, assignments: str, *values: str | None
) -> None:
    """Change columns of a conversation. Raises StoreError as `read` does."""
    if (
        connection.execute(
            f"UPDATE conversation SET {assignments} WHERE id = ?", (*values, conversation_id)
        ).rowcount
        == 0
    ):
        read(connection, conversation_id)
    _store_checksum(connection, conversation_id)


def _store_checksum(connection: sqlite3.Connection, conversation_id: str) -> None:
    """Store the checksum of a conversation after its title or question has changed."""
    update = (
        "UPDATE conversation SET checksum = checksum(NULL, id, vault, title, question) WHERE "
        "id = ? AND checksum IS NULL"
    )
    connection.execute(update, (conversation_id,))


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether title and question of a conversation are as they were stored."""
    return row["checksum"] in (
        None,
        rows.checksum(None, row["id"], row["vault"], row["title"], row["question"]),
    )


def _to_overview(row: Sequence[Any]) -> ConversationOverview:
    """A damaged title is replaced by one that says so."""
    values = dict(zip(_COLUMNS, row, strict=True))
    if not is_intact(values):
        values |= {"title": rows.DAMAGED_TITLE, "question": None}
    lines = str(values["question"] or "").strip().splitlines()
    values["first_line"] = lines[0].strip() if lines else None
    return ConversationOverview.model_validate(
        {name: values[name] for name in ConversationOverview.model_fields}
    )


def _recent_hint(connection: sqlite3.Connection) -> str:
    recent = newest_first(connection, limit=5)
    return f"The most recent ones: {_format_list(recent)}" if recent else "The store is empty."


def _format_list(conversations: Sequence[Conversation]) -> str:
    names = [
        f"{c.id} ({truncate(c.title or 'untitled', 60)}, {c.updated_at[:10]})"
        for c in conversations[:5]
    ]
    return ", ".join(names) + (
        f" and {len(conversations) - 5} more" if len(conversations) > 5 else ""
    )


def insert_message(
    connection: sqlite3.Connection,
    conversation_id: str,
    message: ZkChatMessage,
    *,
    seq: int | None = None,
) -> None:
    row = rows.from_message(message) | {"seq": seq, "conversation_id": conversation_id}
    _add_mentions(connection, rows.insert(connection, "message", row), message)


def update_message(
    connection: sqlite3.Connection,
    conversation_id: str,
    message: ZkChatMessage,
    *,
    with_status: bool = False,
) -> None:
    """Store the fields of a message that are not its words. Raises StoreError if the conversation
    has no such message.
    """
    row = rows.from_message(message) | {"conversation_id": conversation_id}
    updated = connection.execute(
        _UPDATE_MESSAGE.format(", status = :status" if with_status else ""), row
    ).fetchall()
    if not updated:
        read(connection, conversation_id)
        raise StoreError(
            f"The message {message.id} is not in conversation {conversation_id}",
            "Nothing was changed.",
        )
    [(seq,)] = updated
    connection.execute("DELETE FROM mention WHERE message_seq = ?", (seq,))
    _add_mentions(connection, seq, message)


def read_messages(
    connection: sqlite3.Connection, conversation_id: str, ids: Sequence[str]
) -> tuple[ZkChatMessage, ...]:
    """These messages, in this order; one that is damaged or gone says so."""
    # with the + SQLite looks for the ids, and not through the whole conversation
    query = (
        f"{rows.SELECT_MESSAGE} WHERE +conversation_id = ? AND id IN ({', '.join('?' * len(ids))})"
    )
    found = connection.execute(query, (conversation_id, *ids))
    by_id = {row[0]: row for row in found}
    return tuple(
        rows.to_message(by_id[id_]) if id_ in by_id else rows.damaged_message(id_)
        for id_ in map(replace_surrogates, ids)
    )


def _add_mentions(connection: sqlite3.Connection, seq: int, message: ZkChatMessage) -> None:
    """Store the notes that a question or answer with this number references and cites."""
    if message.role not in ("user", "assistant"):
        return
    uses: dict[tuple[str, str, int], list[int]] = {}
    for reference in message.references:
        if reference.relative_path is not None:
            kind = _KINDS.get(reference.reference_type, reference.reference_type)
            uses.setdefault((reference.relative_path, kind, reference.number or 0), [0, 0])
    for citation in message.citations:
        if citation.relative_path is not None:
            counts = uses.setdefault(
                (citation.relative_path, "cited", citation.number or 0), [0, 0]
            )
            counts[0] += 1
            counts[1] += citation.valid
    connection.executemany(
        "INSERT OR IGNORE INTO mention VALUES (?, ?, ?, ?, ?, ?)",
        [(seq, *use, *uses[use]) for use in uses],
    )


def often_cited_notes(connection: sqlite3.Connection, vault: str) -> tuple[NoteUsage, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    return _read_usage(
        connection, _OFTEN_CITED, {"vault": vault, "recent": RECENT_MESSAGES, "most": MOST_NOTES}
    )


def most_used_notes(connection: sqlite3.Connection, vault: str, most: int) -> tuple[NoteUsage, ...]:
    """The notes that answers in `vault`'s conversations used, most answers first."""
    return _read_usage(connection, _MOST_USED, {"vault": vault, "most": most})


def _read_usage(
    connection: sqlite3.Connection, query: str, values: dict[str, object]
) -> tuple[NoteUsage, ...]:
    return tuple(
        NoteUsage(**dict(zip(NoteUsage.model_fields, row, strict=True)))
        for row in connection.execute(query, values)
    )


def insert_compaction(
    connection: sqlite3.Connection, conversation_id: str, compaction: Compaction
) -> None:
    """Store a summary that replaces the messages it covers in prompts, or what a preview of one
    showed, instead of the preview before.
    """
    packed = rows.compress(rows.other_fields(compaction, _COMPACTION_FIELDS))
    fields = rows.column_values(compaction, _COMPACTION_FIELDS) | {
        "conversation_id": conversation_id,
        "packed": packed,
    }
    if compaction.preview:
        connection.execute(
            "DELETE FROM compaction WHERE conversation_id = ? AND undone = ?",
            (conversation_id, _PREVIEW),
        )
        fields["undone"] = _PREVIEW
    rows.insert(connection, "compaction", fields)


def read_preview(connection: sqlite3.Connection, conversation_id: str) -> Compaction | None:
    row = connection.execute(
        f"{_SELECT_COMPACTION} WHERE conversation_id = ? AND undone = ?",
        (conversation_id, _PREVIEW),
    ).fetchone()
    return None if row is None else _to_compaction(row)


def read_compactions(
    connection: sqlite3.Connection, conversation_id: str, *, undone: bool = False
) -> tuple[Compaction, ...]:
    """The compactions in force, oldest first; with `undone` also those that were taken back."""
    query = f"{_SELECT_COMPACTION} WHERE conversation_id = ? AND undone <= ? ORDER BY seq"
    return tuple(map(_to_compaction, connection.execute(query, (conversation_id, undone))))


def undo_compaction(
    connection: sqlite3.Connection, conversation_id: str, compaction_id: str | None = None
) -> Compaction | None:
    """Take back this compaction, or the last one in force of any branch, and return it; None if
    there is none.
    """
    query = (
        f"{_SELECT_COMPACTION} WHERE conversation_id = ? AND NOT undone AND id = coalesce(?, "
        "id) ORDER BY seq DESC LIMIT 1"
    )
    row = connection.execute(query, (conversation_id, compaction_id)).fetchone()
    if row is None:
        return None
    connection.execute("UPDATE compaction SET undone = 1 WHERE id = ?", (row[0],))
    return _to_compaction(row)


def compaction_with_summary(
    connection: sqlite3.Connection, conversation_id: str, compaction_id: str
) -> Compaction | None:
    """The compaction with the summary that a prompt had: this one or, if it only masks, the nearest
    one before it that has a summary.
    """
    query = f"""{_SELECT_COMPACTION} WHERE conversation_id = ? AND undone <> {_PREVIEW} AND seq <=
        (SELECT seq FROM compaction AS last WHERE last.id = ? AND last.conversation_id = compaction.conversation_id)
        ORDER BY seq DESC"""
    found = map(_to_compaction, connection.execute(query, (conversation_id, compaction_id)))
    return next((compaction for compaction in found if compaction.summary), None)


def _to_compaction(row: Sequence[Any]) -> Compaction:
    *values, packed = row
    fields = dict(zip(_COMPACTION_FIELDS, values, strict=True))
    return Compaction.model_validate(
        rows.decompress(packed) | fields | {"undone": bool(fields["undone"])}
    )


def search(
    connection: sqlite3.Connection,
    vault: str | None,
    text: str,
    *,
    conversation_id: str | None = None,
    limit: int = 10,
    languages: tuple[str, ...] = (ENGLISH,),
    tool_results: bool = True,
) -> tuple[FoundMessage, ...]:
    """The messages most relevant to `text`, best first: of one conversation, or of all in `vault`
    (None: in any vault).

    Words are found in any form that they have in `languages`. Without `tool_results` only questions
    and answers are: what tools returned is in the notes. Messages stored since the last search are
    indexed first: usually in no time, but a million imported ones take 20 s.
    """
    _index_messages(connection)
    connection.execute(_VOCABULARY)
    queries = dict.fromkeys(
        _any_form_query(connection, term, languages)
        for term in dict.fromkeys(content_terms(text)[:MOST_TERMS])
    )
    # Stops at a common word
    counts = {
        query: connection.execute(_COUNT, (query, MOST_RANKED + 1)).fetchone()[0]
        for query in queries
    }
    frequencies = {query: count for query, count in counts.items() if count}
    if not frequencies or limit <= 0:
        return ()
    rare = rarest_first(frequencies, frequencies, MOST_RANKED)
    query = " OR ".join(rare) if rare else " AND ".join(frequencies)
    found: list[FoundMessage] = []
    scope = {"vault": vault, "only": conversation_id, "tool_results": tool_results}
    for seq, score in connection.execute(_RANKED, (query,)):
        row = connection.execute(_FOUND, {"message": seq, **scope}).fetchone()
        if row is not None and (message := rows.to_message(row[2:])).status != "damaged":
            found.append(
                FoundMessage(conversation_id=row[0], title=row[1], score=score, message=message)
            )
        if len(found) == limit:
            break
    return tuple(found)


def _index_messages(connection: sqlite3.Connection) -> None:
    """Index the messages stored since the last search; between its transactions other processes can
    write.
    """
    found = None
    while found is None or found:
        with transaction(connection):
            found = [
                (seq, text, to_index_text(text[:MOST_INDEXED]))
                for seq, text in connection.execute(_UNINDEXED, (BATCH,))
            ]
            different = [(seq, words) for seq, text, words in found if words != text]
            connection.executemany(
                "INSERT INTO index_words (message_seq, words) VALUES (?, ?)", different
            )
            connection.executemany(
                "INSERT INTO message_index (rowid, words) VALUES (?, ?)",
                [(seq, words) for seq, _, words in found],
            )
            connection.executemany(
                "DELETE FROM unindexed WHERE message_seq = ?", [(seq,) for seq, *_ in found]
            )


def _any_form_query(connection: sqlite3.Connection, term: str, languages: tuple[str, ...]) -> str:
    """A query for a word in any of its forms in the index."""
    own = stem(term, languages)
    # "studi" is the stem of "study"
    prefix = own[:-1] if own.endswith("i") and len(own) > SHORTEST_STEM else own
    if len(prefix) < SHORTEST_STEM or not term.startswith(prefix) or not term.isalpha():
        return f'"{term}"'
    found = connection.execute(_SAME_BEGINNING, {"prefix": prefix, "most": MOST_FORMS})
    forms = sorted({term, *(other for (other,) in found if stem(other, languages) == own)})
    return "(" + " OR ".join(f'"{form}"' for form in forms) + ")"


def without_vectors(
    connection: sqlite3.Connection, vault: str, embedder: str, before: int, limit: int
) -> list[tuple[int, str, str]]:
    """The newest questions and answers about `vault` without vectors of `embedder`, before row
    `before`: row, message id and content.
    """
    return connection.execute(
        _WITHOUT_VECTORS, {"vault": vault, "embedder": embedder, "before": before, "limit": limit}
    ).fetchall()


def add_vectors(
    connection: sqlite3.Connection, embedder: str, vectors: Mapping[str, bytes]
) -> None:
    """Store the vectors of messages, by their ids, in place of another embedder's. A message that
    is not stored is passed over.
    """
    connection.executemany(
        _ADD_VECTORS,
        [{"id": id_, "embedder": embedder, "passages": packed} for id_, packed in vectors.items()],
    )


def vectors(
    connection: sqlite3.Connection, conversation_id: str, embedder: str, after: int
) -> list[tuple[int, str, bytes]]:
    """The vectors of a conversation that were stored after row `after`: row, message id and
    passages.
    """
    return connection.execute(
        _VECTORS, {"conversation": conversation_id, "embedder": embedder, "after": after}
    ).fetchall()
