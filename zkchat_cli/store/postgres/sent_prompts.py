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
from zkchat_cli.store.postgres.conversations import ConversationRow
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
_NUMBER = "SELECT hash, seq, is_new FROM number_pieces(%s, %s)"
_ADD = """
    SELECT add_prompts(
        %(seq)s, %(owner)s, %(numbers)s::bigint[], %(hashes)s::bytea[], %(pieces)s::bytea[],
        %(questions)s::text[], %(prompts)s::bytea[]
    )
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
    """The pieces of prompts by their identities, and the numbers that the server gives them."""

    documents: dict[int, PieceDocument]
    numbered: Cursor[Any] | None


def ask_for_pieces(
    db: PostgresDatabase, conversation_id: str, sent: Sequence[SentPrompt]
) -> AskedPieces:
    """Ask for the numbers of the pieces of these prompts, for `write`."""
    every: list[_Piece] = []
    for each in sent:
        every += [*each.prompt.messages, *each.prompt.tools]
    return _ask_for_pieces(db, conversation_id, every)


def _ask_for_pieces(
    db: PostgresDatabase, conversation_id: str, pieces: Sequence[_Piece]
) -> AskedPieces:
    documents = {id(piece): PieceDocument.of(piece) for piece in pieces}
    digests = dict.fromkeys(document.digest for document in documents.values())
    numbered = db.execute(_NUMBER, (conversation_id, [*digests])) if digests else None
    return AskedPieces(documents, numbered)


def write(
    db: PostgresDatabase,
    row: ConversationRow,
    sent: Sequence[SentPrompt],
    pieces: AskedPieces,
    known_texts: Mapping[str, str],
) -> None:
    """Store the prompts of a turn, inside the caller's transaction. `known_texts` are those of
    messages in the conversation, by their ids.
    """
    calls = [
        _Call(archived_call(each), [*each.prompt.messages], [*each.prompt.tools]) for each in sent
    ]
    _add(db, row, calls, pieces, known_texts)


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
    calls = [
        _Call(
            call,
            [prompts.messages[n] for n in call.messages],
            [prompts.tools[n] for n in call.tools],
        )
        for call in prompts.calls
        if questions is None or call.question_id in questions
    ]
    if calls:
        every: list[_Piece] = [*prompts.messages, *prompts.tools]
        _add(db, row, calls, _ask_for_pieces(db, conversation_id, every), {})


def rehearse(
    db: PostgresDatabase, conversation_id: str, row: ConversationRow, question_id: str
) -> None:
    """Store a prompt of one piece, to be taken back (see `rehearsal`)."""
    digest = b"rehearsal"
    [(_, number, _)] = db.execute(_NUMBER, (conversation_id, [digest]))
    values = {
        "numbers": [number],
        "hashes": [digest],
        "pieces": [b""],
        "questions": [question_id],
        "prompts": [b""],
    }
    db.execute(_ADD, row._asdict() | values)


class _Call(NamedTuple):
    """A model call with what it was sent."""

    call: ArchivedCall
    messages: list[PromptMessage]
    tools: list[PromptTool]

    def body(self, numbers: Mapping[int, int]) -> bytes:
        """The call as it is stored, with the numbers of its pieces by their identities."""
        messages = [numbers[id(message)] for message in self.messages]
        tools = [numbers[id(tool)] for tool in self.tools]
        return call_body(self.call, messages, tools)


def _add(
    db: PostgresDatabase,
    row: ConversationRow,
    calls: Sequence[_Call],
    pieces: AskedPieces,
    known_texts: Mapping[str, str],
) -> None:
    """Store calls, and those of their pieces that are new."""
    if not calls:
        return
    numbers: dict[bytes, int] = {}
    new: set[bytes] = set()
    for digest, seq, is_new in pieces.numbered or ():
        numbers[bytes(digest)] = seq
        if is_new:
            new.add(bytes(digest))
    documents = pieces.documents
    added = {each.digest: each for each in documents.values() if each.digest in new}
    texts = StoredTexts(db, row.seq)
    texts.update(known_texts)
    texts.load(id_ for document in added.values() for id_ in document.source_ids)
    by_identity = {identity: numbers[each.digest] for identity, each in documents.items()}
    values = {
        "numbers": [numbers[digest] for digest in added],
        "hashes": [*added],
        "pieces": [document.body(texts) for document in added.values()],
        "questions": [each.call.question_id for each in calls],
        "prompts": [each.body(by_identity) for each in calls],
    }
    db.execute(_ADD, row._asdict() | values)


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
