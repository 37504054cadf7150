"""Which answers used a note: the rows of the table `mention` (see migrations), grouped by answer.

A note that a question names counts for the answers to that question, because readers look for answers. A question is listed by itself only
if no answer to it used the note.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import get_args

from zkchat_cli.models import Mention, MentionKind, MostCitedNote
from zkchat_cli.text.truncate import truncate

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


@dataclass
class _Answer:
    """A message and its uses of the note."""

    conversation_id: str
    title: str | None
    message_id: str
    timestamp: str
    seq: int
    question_seq: int | None
    question: str | None
    how: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    citations: int = 0
    held: int = 0

    @property
    def is_question(self) -> bool:
        return self.seq == self.question_seq

    def to_mention(self, named: Iterable[str]) -> Mention:
        kinds = self.how.union(named)
        return Mention(
            conversation_id=self.conversation_id,
            title=self.title,
            message_id=self.message_id,
            timestamp=self.timestamp,
            question=None if self.question is None else truncate(self.question, QUESTION_LENGTH),
            how=tuple(kind for kind in get_args(MentionKind) if kind in kinds),
            numbers=tuple(sorted(self.numbers)),
            citations=self.citations,
            held=self.held,
        )


def read(connection: sqlite3.Connection, vault: str, path: str) -> tuple[Mention, ...]:
    """The uses of the note `path` in conversations with `vault`, newest first."""
    found: dict[int, _Answer] = {}
    for seq, id_, title, message_id, timestamp, question_seq, question, how, number, citations, held in connection.execute(
        _USES, {"vault": vault, "path": path}
    ):
        answer = found.setdefault(seq, _Answer(id_, title, message_id, timestamp, seq, question_seq, question))
        answer.how.add(how)
        answer.numbers.update([number] if number > 0 else [])
        answer.citations += citations
        answer.held += held
    named = {answer.seq: answer.how for answer in found.values() if answer.is_question}
    answered = {answer.question_seq for answer in found.values() if not answer.is_question}
    return tuple(a.to_mention(named.get(a.question_seq or 0, ())) for a in found.values() if not (a.is_question and a.seq in answered))


def often_cited(connection: sqlite3.Connection, vault: str) -> tuple[MostCitedNote, ...]:
    """The notes that more than one conversation with `vault` cited, most conversations first."""
    found = connection.execute(_OFTEN_CITED, {"vault": vault, "recent": RECENT_MESSAGES, "most": MOST_NOTES})
    return tuple(MostCitedNote(relative_path=path, conversations=n, answers=answers, last_cited=last) for path, n, answers, last in found)
