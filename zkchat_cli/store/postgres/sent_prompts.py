"""The tables `prompt` and `piece`: what each model call was sent (see `store/prompt_documents.py`),
and `calibration`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import Cursor

from zkchat_cli.models.archive import ArchivedCall, ArchivedPrompts
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Calibration, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store import rows
from zkchat_cli.store.port import PromptArchive
from zkchat_cli.store.postgres import compactions
from zkchat_cli.store.postgres.conversations import SEQ_OF_ID, ConversationRow
from zkchat_cli.store.postgres.messages import to_message
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, PostgresDatabase
from zkchat_cli.store.prompt_documents import (
    PieceDocument,
    archived_call,
    call_body,
    make_archive,
    needed_pieces,
    read_call,
    read_piece,
    sent_prompts,
)

_PROMPTS = """
    SELECT message.id, prompt.body
    FROM prompt LEFT JOIN message ON message.seq = prompt.question_seq
    WHERE prompt.conversation_seq = %(conversation)s
        AND (%(question)s::bigint IS NULL OR prompt.question_seq = %(question)s)
    ORDER BY prompt.seq
"""
_INSERT = """
    INSERT INTO prompt (conversation_seq, owner, question_seq, body)
    VALUES (%s, %s, (SELECT seq FROM message WHERE id = %s AND conversation_seq = %s), %s)
"""
_FIND_PIECES = f"""
    SELECT hash, seq FROM piece WHERE conversation_seq = {SEQ_OF_ID} AND hash = ANY (%s)
"""
_INSERT_PIECES = """
    INSERT INTO piece (conversation_seq, owner, hash, body)
    SELECT %s, %s, hash, body FROM unnest(%s::bytea[], %s::bytea[]) AS added (hash, body)
    RETURNING hash, seq
"""
_QUESTION = """
    SELECT message.conversation_seq, message.owner, message.seq FROM message
    WHERE id = %s ORDER BY owner = me() DESC, seq LIMIT 1
"""
_CALIBRATION = "SELECT factor, calls, tools FROM calibration WHERE owner = me() AND model = %s"
_SET_CALIBRATION = """
    INSERT INTO calibration (model, factor, calls, tools) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, model) DO UPDATE
    SET factor = excluded.factor, calls = excluded.calls, tools = excluded.tools
"""
_Piece = PromptMessage | PromptTool


class PostgresPromptArchive(PromptArchive):
    """The prompts on the server."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    def sent_for(self, question_id: str) -> tuple[SentPrompt, ...]:
        with self._connection.reading("read a prompt") as db:
            return _read_sent(db, question_id)

    def calibration(self, model: str) -> Calibration:
        with self._connection.reading("read a model's calibration") as db:
            row = db.execute(_CALIBRATION, (model,)).fetchone()
        if row is None:
            return Calibration()
        text, calls, tools = row
        return Calibration(text=text, calls=calls, tools=tools)


def set_calibrations(db: PostgresDatabase, calibrations: Mapping[str, Calibration]) -> None:
    """Store how models count, by their names, inside the caller's transaction."""
    values = [(model, each.text, each.calls, each.tools) for model, each in calibrations.items()]
    db.executemany(_SET_CALIBRATION, values)


class AskedPieces(NamedTuple):
    """The pieces of prompts by their identities, and the rows of those that are stored."""

    documents: dict[int, PieceDocument]
    stored: Cursor[Any]


def ask_for_pieces(
    db: PostgresDatabase, conversation_id: str, sent: Sequence[SentPrompt]
) -> AskedPieces:
    """Ask which pieces of these prompts are stored, for `write`."""
    every: list[_Piece] = []
    for each in sent:
        every += [*each.prompt.messages, *each.prompt.tools]
    return _ask_for_pieces(db, conversation_id, every)


def _ask_for_pieces(
    db: PostgresDatabase, conversation_id: str, pieces: Sequence[_Piece]
) -> AskedPieces:
    documents = {id(piece): PieceDocument.of(piece) for piece in pieces}
    digests = {document.digest for document in documents.values()}
    return AskedPieces(documents, db.execute(_FIND_PIECES, (conversation_id, [*digests])))


def write(
    db: PostgresDatabase, row: ConversationRow, sent: Sequence[SentPrompt], pieces: AskedPieces
) -> None:
    """Store the prompts of a turn, inside the caller's transaction."""
    numbers = _store_pieces(db, row, pieces)
    for each in sent:
        messages = [numbers[id(message)] for message in each.prompt.messages]
        tools = [numbers[id(tool)] for tool in each.prompt.tools]
        _insert(db, row, archived_call(each), messages, tools)


def write_archive(
    db: PostgresDatabase,
    row: ConversationRow,
    conversation_id: str,
    prompts: ArchivedPrompts,
    questions: set[str] | None = None,
) -> None:
    """Store the prompts of a valid archive, after its messages: those of these questions, or all
    (None).
    """
    calls = [call for call in prompts.calls if questions is None or call.question_id in questions]
    if not calls:
        return
    every: list[_Piece] = [*prompts.messages, *prompts.tools]
    numbers = _store_pieces(db, row, _ask_for_pieces(db, conversation_id, every))
    for call in calls:
        messages = [numbers[id(prompts.messages[n])] for n in call.messages]
        tools = [numbers[id(prompts.tools[n])] for n in call.tools]
        _insert(db, row, call, messages, tools)


def _insert(
    db: PostgresDatabase,
    row: ConversationRow,
    call: ArchivedCall,
    messages: Sequence[int],
    tools: Sequence[int],
) -> None:
    body = call_body(call, messages, tools)
    db.execute(_INSERT, (*row, call.question_id, row.seq, body))


def _store_pieces(
    db: PostgresDatabase, row: ConversationRow, pieces: AskedPieces
) -> dict[int, int]:
    """Store the pieces that are new. Returns the numbers of all, by their identities."""
    documents = pieces.documents
    stored: dict[bytes, int] = {bytes(digest): seq for digest, seq in pieces.stored}
    texts = StoredTexts(db, row.seq)
    texts.load(
        id_
        for document in documents.values()
        if document.digest not in stored
        for id_ in document.source_ids
    )
    new = {
        document.digest: document.body(texts)
        for document in documents.values()
        if document.digest not in stored
    }
    if new:
        added = db.execute(_INSERT_PIECES, (*row, [*new], [*new.values()]))
        stored |= {bytes(digest): seq for digest, seq in added}
    return {identity: stored[document.digest] for identity, document in documents.items()}


class StoredTexts(dict[str, str]):
    """The texts of a conversation's messages and summaries by their ids, read when they are needed;
    empty for other ids.
    """

    def __init__(self, db: PostgresDatabase, conversation_seq: int) -> None:
        super().__init__()
        self._db = db
        self._conversation_seq = conversation_seq

    def __missing__(self, id_: str) -> str:
        self.load([id_])
        if id_ not in self:
            compaction = compactions.with_summary(self._db, self._conversation_seq, id_)
            self[id_] = (compaction.summary or "") if compaction is not None else ""
        return self[id_]

    def load(self, ids: Iterable[str]) -> None:
        """Read these messages at once."""
        missing = [*{*ids} - self.keys()]
        if missing:
            query = (
                f"SELECT {', '.join(rows.MESSAGE)} FROM message "
                "WHERE conversation_seq = %s AND id = ANY (%s)"
            )
            for columns in self._db.execute(query, (self._conversation_seq, missing)):
                message = to_message(columns)
                self[message.id] = message.content


def _read_sent(db: PostgresDatabase, question_id: str) -> tuple[SentPrompt, ...]:
    found = db.execute(_QUESTION, (question_id,)).fetchone()
    if found is None:
        return ()
    conversation_seq, _, question = found
    archive = read_archive(db, conversation_seq, question=question)
    if archive is None:
        return ()

    def summary_end(compaction_id: str) -> str | None:
        compaction = compactions.with_summary(db, conversation_seq, compaction_id)
        return compaction.last_id if compaction is not None else None

    return sent_prompts(archive, summary_end)


def read_archive(
    db: PostgresDatabase,
    conversation_seq: int,
    log: Sequence[ZkChatMessage] = (),
    *,
    question: int | None = None,
) -> ArchivedPrompts | None:
    """All prompts of a conversation, which has this log, or those of one question, by its row; None
    if none were stored. Raises LookupError if a piece is missing.
    """
    values = {"conversation": conversation_seq, "question": question}
    calls = [read_call(*row) for row in db.execute(_PROMPTS, values)]
    if not calls:
        return None
    texts = StoredTexts(db, conversation_seq)
    texts.update((message.id, message.content) for message in log)
    query = "SELECT seq, body FROM piece WHERE seq = ANY (%s) ORDER BY seq"
    found = db.execute(query, ([*needed_pieces(calls)],)).fetchall()
    return make_archive(calls, {seq: read_piece(body, texts) for seq, body in found})
