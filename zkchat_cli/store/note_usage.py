"""The table `mention`: which messages used a note.

A note that a question names counts for the answers to that question, because readers look for answers. A question is listed by itself only
if no answer to it used the note.
"""

import sqlite3
from itertools import groupby
from operator import itemgetter
from typing import get_args

from zkchat_cli.models import Mention, MentionKind, MostCitedNote, NoteUsage, ZkChatMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates

_KINDS = {"direct": "named", "search": "found"}
QUESTION_LENGTH = 120
_READ_LENGTH = 4 * QUESTION_LENGTH
"""Characters of a question that are read, so that a pasted book is not."""

_USES = f"""
    WITH RECURSIVE above (seq, parent_id, role, ancestor_seq) AS (
        SELECT DISTINCT message.seq, message.parent_id, message.role, message.seq
        FROM mention JOIN message ON message.seq = mention.message_seq
            JOIN conversation ON conversation.id = message.conversation_id
        WHERE mention.relative_path = :path AND conversation.vault = :vault
        UNION
        SELECT above.seq, parent.parent_id, parent.role, parent.seq
        FROM above JOIN message AS parent ON parent.id = above.parent_id WHERE above.role <> 'user'
    )
    SELECT message.seq, conversation.id, conversation.title, message.id, message.timestamp, question.seq,
        substr(question.content, 1, {_READ_LENGTH}), mention.how, mention.number, mention.citations, mention.held
    FROM mention JOIN message ON message.seq = mention.message_seq
        JOIN conversation ON conversation.id = message.conversation_id
        LEFT JOIN above ON above.seq = message.seq AND above.role = 'user'
        LEFT JOIN message AS question ON question.seq = above.ancestor_seq
    WHERE mention.relative_path = :path AND conversation.vault = :vault
    ORDER BY julianday(message.timestamp) DESC, message.seq DESC, mention.how, mention.number
"""
"""The uses of a note, newest first, each with its question: the nearest user's message above it."""

MOST_NOTES = 30
RECENT_MESSAGES = 20_000
"""Only this many of the newest messages count for the notes that are often cited."""

_OFTEN_CITED = """
    SELECT mention.relative_path, count(DISTINCT message.conversation_id) AS conversations, count(DISTINCT message.seq),
        max(message.timestamp)
    FROM message JOIN mention ON mention.message_seq = message.seq JOIN conversation ON conversation.id = message.conversation_id
    WHERE message.seq > (SELECT max(seq) FROM message) - :recent AND mention.how = 'cited' AND conversation.vault = :vault
    GROUP BY mention.relative_path HAVING conversations > 1 ORDER BY conversations DESC, 4 DESC LIMIT :most
"""
_MOST_USED = """
    SELECT mention.relative_path, count(DISTINCT message.conversation_id),
        count(DISTINCT iif(message.role = 'assistant', message.seq, NULL)), sum(mention.citations), max(message.timestamp)
    FROM mention JOIN message ON message.seq = mention.message_seq JOIN conversation ON conversation.id = message.conversation_id
    WHERE mention.how <> 'memory' AND conversation.vault = :vault
    GROUP BY mention.relative_path ORDER BY 3 DESC, 4 DESC, 2 DESC, 1 LIMIT :most
"""


def update(connection: sqlite3.Connection, message: ZkChatMessage) -> None:
    """Store the notes of a message again, in place of those stored before."""
    [seq] = connection.execute("SELECT seq FROM message WHERE id = ?", (replace_surrogates(message.id),)).fetchone()
    connection.execute("DELETE FROM mention WHERE message_seq = ?", (seq,))
    add(connection, seq, message)


def add(connection: sqlite3.Connection, seq: int, message: ZkChatMessage) -> None:
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
            counts = uses.setdefault((citation.relative_path, "cited", citation.number or 0), [0, 0])
            counts[0] += 1
            counts[1] += citation.valid
    rows = [(seq, replace_surrogates(path), kind, number, *counts) for (path, kind, number), counts in uses.items()]
    connection.executemany("INSERT OR IGNORE INTO mention VALUES (?, ?, ?, ?, ?, ?)", rows)


def read(connection: sqlite3.Connection, vault: str, relative_path: str) -> tuple[Mention, ...]:
    """The answers of all branches in `vault`'s conversations that used the note, newest first."""
    uses = connection.execute(_USES, {"vault": replace_surrogates(vault), "path": replace_surrogates(relative_path)}).fetchall()
    kinds: dict[int, set[str]] = {}
    for seq, *_, kind, _, _, _ in uses:
        kinds.setdefault(seq, set()).add(kind)
    answered = {question_seq for seq, *_, question_seq, _, _, _, _, _ in uses if question_seq != seq}
    mentions = []
    for seq, group in groupby(uses, key=itemgetter(0)):
        [(_, conversation_id, title, message_id, timestamp, question_seq, question, *_), *_] = found = list(group)
        if seq == question_seq and seq in answered:
            continue
        mentions.append(
            Mention(
                conversation_id=conversation_id,
                title=title,
                message_id=message_id,
                timestamp=timestamp,
                question=None if question is None else truncate(question, QUESTION_LENGTH),
                how=tuple(kind for kind in get_args(MentionKind) if kind in kinds[seq] | kinds.get(question_seq, set())),
                numbers=tuple(sorted({number for *_, number, _, _ in found if number > 0})),
                citations=sum(citations for *_, citations, _ in found),
                held=sum(held for *_, held in found),
            )
        )
    return tuple(mentions)


def often_cited(connection: sqlite3.Connection, vault: str) -> tuple[MostCitedNote, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    found = connection.execute(_OFTEN_CITED, {"vault": replace_surrogates(vault), "recent": RECENT_MESSAGES, "most": MOST_NOTES})
    return tuple(MostCitedNote(relative_path=path, conversations=n, answers=answers, last_cited=last) for path, n, answers, last in found)


def most_used(connection: sqlite3.Connection, vault: str, most: int) -> tuple[NoteUsage, ...]:
    """The notes that answers in `vault`'s conversations used, most answers first."""
    found = connection.execute(_MOST_USED, {"vault": replace_surrogates(vault), "most": most})
    return tuple(NoteUsage(**dict(zip(NoteUsage.model_fields, row, strict=True))) for row in found)
