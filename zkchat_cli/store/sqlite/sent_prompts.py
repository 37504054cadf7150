"""The table `prompt`: what each model call was sent, as a list of the numbers of its pieces, so
its size grows with the number of messages and not with their text.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from zkchat_cli.models.archive import ArchivedCall, ArchivedPrompts
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Calibration, Prompt, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store.port import PromptArchive
from zkchat_cli.store.sqlite import codec, compactions
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
# The lists of piece numbers in a prompt's document
_MESSAGES = "messages"
_TOOLS = "tools"


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
        call = ArchivedCall(
            question_id=each.question_id,
            model=each.model,
            usage=each.usage,
            strategy=prompt.strategy,
            dropped=prompt.dropped,
            figures=prompt.usage,
        )
        _insert(connection, pieces, call, prompt.messages, prompt.tools)


def write_archive(
    connection: sqlite3.Connection, conversation_id: str, prompts: ArchivedPrompts
) -> None:
    """Store the prompts of a valid archive, after its messages."""
    pieces = PieceWriter(connection, conversation_id)
    for message in prompts.messages:
        pieces.number(message)
    for tool in prompts.tools:
        pieces.number(tool)
    for call in prompts.calls:
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
    document = call.model_dump(
        mode="json", exclude={"question_id", _MESSAGES, _TOOLS}, exclude_defaults=True
    )
    document[_MESSAGES] = _to_differences([pieces.number(message) for message in messages])
    document[_TOOLS] = _to_differences([pieces.number(tool) for tool in tools])
    values = (pieces.conversation_seq, call.question_id, codec.compress(document))
    connection.execute(_INSERT, values)


def _to_differences(numbers: Sequence[int]) -> list[int]:
    """The first number, then what is added to each for the next: these compress to a tenth."""
    return [*numbers[:1], *(after - before for before, after in pairwise(numbers))]


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
    sent: list[SentPrompt] = []
    for number, call in enumerate(archive.calls, start=1):
        prompt = Prompt(
            messages=tuple(archive.messages[n] for n in call.messages),
            tools=tuple(archive.tools[n] for n in call.tools),
            usage=call.figures,
            dropped=call.dropped,
            strategy=call.strategy,
        )
        sent.append(
            SentPrompt(
                question_id=call.question_id,
                call=number,
                prompt=prompt,
                summarized_through=_summarized_through(connection, conversation_id, prompt),
                model=call.model,
                usage=call.usage,
            )
        )
    return tuple(sent)


def _summarized_through(
    connection: sqlite3.Connection, conversation_id: str, prompt: Prompt
) -> str | None:
    """The id of the last message that the summary in a prompt covers; None without a summary."""
    for message in prompt.messages:
        if message.kind == "summary" and message.source_ids:
            id_, *_ = message.source_ids
            compaction = compactions.with_summary(connection, conversation_id, id_)
            return compaction.last_id if compaction is not None else None
    return None


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
    calls: list[dict[str, Any]] = []
    needed: set[int] = set()
    for question_id, body in connection.execute(_PROMPTS, values):
        call = codec.decompress(body) | {"question_id": question_id}
        for name in (_MESSAGES, _TOOLS):
            call[name] = [*accumulate(call[name])]
            needed.update(call[name])
        calls.append(call)
    if not calls:
        return None
    texts = SourceTexts(connection, conversation_id)
    texts.update((message.id, message.content) for message in log)
    messages: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    index: dict[int, int] = {}
    for seq, piece in read_pieces(connection, needed, texts).items():
        listed = tools if "descriptor" in piece else messages
        index[seq] = len(listed)
        listed.append(piece)
    for call in calls:
        for name in (_MESSAGES, _TOOLS):
            call[name] = [index[seq] for seq in call[name]]
    return ArchivedPrompts.model_validate({"messages": messages, "tools": tools, "calls": calls})
