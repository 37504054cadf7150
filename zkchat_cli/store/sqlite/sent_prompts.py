"""The table `prompt`: what each model call was sent (see `store/prompt_documents.py`)."""

import sqlite3
from collections.abc import Mapping, Sequence

from zkchat_cli.models.archive import ArchivedCall, ArchivedPrompts
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Calibration, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store.port import PromptArchive
from zkchat_cli.store.prompt_documents import (
    archived_call,
    call_body,
    make_archive,
    needed_pieces,
    read_call,
    sent_prompts,
)
from zkchat_cli.store.sqlite import compactions
from zkchat_cli.store.sqlite.prompt_pieces import PieceWriter, SourceTexts, read_pieces
from zkchat_cli.store.sqlite.store_connection import StoreConnection

_PROMPTS = """
    SELECT message.id, prompt.body
    FROM prompt LEFT JOIN message ON message.seq = prompt.question_seq
    WHERE prompt.conversation_seq = (SELECT seq FROM conversation WHERE id = :conversation)
        AND (:question IS NULL OR prompt.question_seq = :question)
    ORDER BY prompt.seq
"""
_INSERT = """
    INSERT INTO prompt (conversation_seq, question_seq, body)
    VALUES (?, (SELECT seq FROM message WHERE id = ?), ?)
"""
_CALIBRATION = "SELECT factor, calls, tools FROM calibration WHERE model = ?"
_SET_CALIBRATION = """
    INSERT OR REPLACE INTO calibration (model, factor, calls, tools) VALUES (?, ?, ?, ?)
"""


class SqlitePromptArchive(PromptArchive):
    """The prompts in the store's file."""

    def __init__(self, connection: StoreConnection) -> None:
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


def set_calibrations(
    connection: sqlite3.Connection, calibrations: Mapping[str, Calibration]
) -> None:
    """Store how models count, by their names, inside the caller's transaction."""
    values = [(model, each.text, each.calls, each.tools) for model, each in calibrations.items()]
    connection.executemany(_SET_CALIBRATION, values)


def write(connection: sqlite3.Connection, conversation_id: str, sent: Sequence[SentPrompt]) -> None:
    """Store the prompts of a turn, inside the caller's transaction."""
    pieces = PieceWriter(connection, conversation_id)
    for each in sent:
        prompt = each.prompt
        _insert(connection, pieces, archived_call(each), prompt.messages, prompt.tools)


def write_archive(
    connection: sqlite3.Connection,
    conversation_id: str,
    prompts: ArchivedPrompts,
    questions: set[str] | None = None,
) -> None:
    """Store the prompts of a valid archive, after its messages: those of these questions, or all
    (None).
    """
    if questions is not None and not any(call.question_id in questions for call in prompts.calls):
        return
    pieces = PieceWriter(connection, conversation_id)
    for message in prompts.messages:
        pieces.number(message)
    for tool in prompts.tools:
        pieces.number(tool)
    for call in prompts.calls:
        if questions is not None and call.question_id not in questions:
            continue
        messages = [prompts.messages[n] for n in call.messages]
        tools = [prompts.tools[n] for n in call.tools]
        _insert(connection, pieces, call, messages, tools)


def _insert(
    connection: sqlite3.Connection,
    pieces: PieceWriter,
    call: ArchivedCall,
    messages: Sequence[PromptMessage],
    tools: Sequence[PromptTool],
) -> None:
    """Store one prompt; the lists in `call` are not read."""
    body = call_body(
        call,
        [pieces.number(message) for message in messages],
        [pieces.number(tool) for tool in tools],
    )
    connection.execute(_INSERT, (pieces.conversation_seq, call.question_id, body))


def _read_sent(connection: sqlite3.Connection, question_id: str) -> tuple[SentPrompt, ...]:
    row = connection.execute(
        "SELECT conversation_id, seq FROM message WHERE id = ?", (question_id,)
    ).fetchone()
    if row is None:
        return ()
    conversation_id, question = row
    archive = read_archive(connection, conversation_id, question=question)
    if archive is None:
        return ()

    def summary_end(compaction_id: str) -> str | None:
        compaction = compactions.with_summary(connection, conversation_id, compaction_id)
        return compaction.last_id if compaction is not None else None

    return sent_prompts(archive, summary_end)


def read_archive(
    connection: sqlite3.Connection,
    conversation_id: str,
    log: Sequence[ZkChatMessage] = (),
    *,
    question: int | None = None,
) -> ArchivedPrompts | None:
    """All prompts of a conversation, which has this log, or those of one question, by its row; None
    if none were stored. Raises LookupError if a piece is missing.
    """
    values = {"conversation": conversation_id, "question": question}
    calls = [read_call(*row) for row in connection.execute(_PROMPTS, values)]
    if not calls:
        return None
    texts = SourceTexts(connection, conversation_id)
    texts.update((message.id, message.content) for message in log)
    return make_archive(calls, read_pieces(connection, needed_pieces(calls), texts))
