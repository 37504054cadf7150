"""The tables `piece` and `prompt`: what each model call was sent.

A piece is one message or tool of a prompt, compressed and stored once per conversation under the
hash of its JSON. A prompt is a list of piece numbers, so its size grows with the number of messages
and not with their text. The log's messages and the summary that a piece quotes whole are not stored
again: that saves 15 MB of 44 in a conversation of 1000 turns with tools.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Any

from zkchat_cli.models.archive import ArchivedCall, ArchivedPrompts
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Prompt, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store import conversations, rows
from zkchat_cli.text.words import replace_surrogates

# Characters: a shorter source is often found by chance
_MIN_QUOTED = 40


def write(connection: sqlite3.Connection, conversation_id: str, sent: Sequence[SentPrompt]) -> None:
    """Store the prompts of a turn, inside the caller's transaction."""
    writer = _PieceWriter(connection, conversation_id)
    for each in sent:
        prompt = each.prompt
        head = {"question_id": each.question_id, "model": each.model, "usage": each.usage}
        call = ArchivedCall(
            **head, strategy=prompt.strategy, dropped=prompt.dropped, figures=prompt.usage
        )
        writer.insert_prompt(call, prompt.messages, prompt.tools)


def read(connection: sqlite3.Connection, question_id: str) -> tuple[SentPrompt, ...]:
    """What the model calls for a question were sent, in order; empty if none were stored, as for an
    imported conversation. `prompt.dropped` does not list the messages that were left out.
    """
    row = connection.execute(
        "SELECT conversation_id, seq FROM message WHERE id = ?", (question_id,)
    ).fetchone()
    found = row and read_archive(connection, row[0], question=row[1])
    if not found:
        return ()
    sent = []
    for number, call in enumerate(found.calls, 1):
        messages = tuple(found.messages[n] for n in call.messages)
        tools = tuple(found.tools[n] for n in call.tools)
        summary = next(
            (m.source_ids[0] for m in messages if m.kind == "summary" and m.source_ids), None
        )
        compaction = (
            conversations.compaction_with_summary(connection, row[0], summary) if summary else None
        )
        prompt = Prompt(
            messages=messages,
            tools=tools,
            usage=call.figures,
            dropped=call.dropped,
            strategy=call.strategy,
        )
        through = compaction.last_id if compaction else None
        values = {
            "question_id": call.question_id,
            "call": number,
            "prompt": prompt,
            "summarized_through": through,
        }
        sent.append(SentPrompt(**values, model=call.model, usage=call.usage))
    return tuple(sent)


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
    texts = _SourceTexts(connection, conversation_id)
    texts.update({message.id: message.content for message in log})
    query = """SELECT message.id, prompt.body FROM prompt LEFT JOIN message ON message.seq = prompt.question_seq
        WHERE prompt.conversation_seq = (SELECT seq FROM conversation WHERE id = :conversation)
        AND (:question IS NULL OR prompt.question_seq = :question) ORDER BY prompt.seq"""
    found = connection.execute(query, {"conversation": conversation_id, "question": question})
    calls = [rows.decompress(body) | {"question_id": id_} for id_, body in found]
    if not calls:
        return None
    lists: dict[str, list[dict[str, Any]]] = {"messages": [], "tools": []}
    index: dict[int, int] = {}
    needed = {seq for call in calls for name in lists for seq in accumulate(call[name])}
    query = "SELECT seq, body FROM piece WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq"
    for seq, body in connection.execute(query, (json.dumps([*needed]),)):
        piece = _unpack_piece(body, texts)
        target = lists["tools" if "descriptor" in piece else "messages"]
        index[seq] = len(target)
        target.append(piece)
    for call in calls:
        call.update({name: [index[seq] for seq in accumulate(call[name])] for name in lists})
    return ArchivedPrompts.model_validate({**lists, "calls": calls})


def write_archive(
    connection: sqlite3.Connection, conversation_id: str, prompts: ArchivedPrompts
) -> None:
    """Store the prompts of a valid archive, after its messages."""
    writer = _PieceWriter(connection, conversation_id)
    pieces: list[PromptMessage | PromptTool] = [*prompts.messages, *prompts.tools]
    for piece in pieces:
        writer.number(piece)
    for call in prompts.calls:
        writer.insert_prompt(
            call,
            [prompts.messages[n] for n in call.messages],
            [prompts.tools[n] for n in call.tools],
        )


class _SourceTexts(dict[str, str]):
    """The texts of a conversation's messages and summaries by their ids, read when they are needed;
    empty for other ids.
    """

    def __init__(self, connection: sqlite3.Connection, conversation_id: str) -> None:
        super().__init__()
        self._db = connection
        self._conversation_id = conversation_id

    def __missing__(self, id_: str) -> str:
        row = self._db.execute(
            f"{rows.SELECT_MESSAGE} WHERE id = ? AND conversation_id = ?",
            (id_, self._conversation_id),
        ).fetchone()
        if row is not None:
            self[id_] = rows.to_message(row).content
        else:
            compaction = conversations.compaction_with_summary(self._db, self._conversation_id, id_)
            self[id_] = (compaction and compaction.summary) or ""
        return self[id_]


class _PieceWriter:
    """Stores the prompts of one conversation, and their pieces that are new."""

    def __init__(self, connection: sqlite3.Connection, conversation_id: str) -> None:
        self._db = connection
        self._conversation_id = conversation_id
        [self._conversation] = connection.execute(
            "SELECT seq FROM conversation WHERE id = ?", (conversation_id,)
        ).fetchone()
        # Of pieces by their identities: most pieces of a prompt are also in the next one
        self._numbers: dict[int, int] = {}
        self._texts = _SourceTexts(connection, conversation_id)

    def number(self, piece: PromptMessage | PromptTool) -> int:
        if id(piece) not in self._numbers:
            self._numbers[id(piece)] = self._stored_number(piece)
        return self._numbers[id(piece)]

    def _stored_number(self, piece: PromptMessage | PromptTool) -> int:
        """The number of a stored piece. One that is new is stored without the sources that it
        quotes whole.
        """
        document = piece.model_dump(mode="json", exclude_defaults=True)
        key = (self._conversation, blake2b(rows.encode(document), digest_size=16).digest())
        found = self._db.execute(
            "SELECT seq FROM piece WHERE conversation_seq = ? AND hash = ?", key
        ).fetchone()
        if found:
            return int(found[0])
        if isinstance(piece, PromptMessage) and len(piece.content) > rows.MIN_COMPRESSED:
            ids = [replace_surrogates(id_) for id_ in piece.source_ids]
            query = (
                "SELECT id, content FROM message WHERE id IN (SELECT value FROM json_each(?)) "
                "AND +conversation_id = ?"
            )
            # without their checksums, which take as long as all the rest: a damaged text is not in
            # the piece
            self._texts.update(
                self._db.execute(
                    query, (json.dumps([*{*ids} - self._texts.keys()]), self._conversation_id)
                )
            )
            parts = [piece.content]
            quoted = []
            for number, id_ in enumerate(ids):
                source = self._texts[id_]
                if len(source) >= _MIN_QUOTED and source in parts[-1]:
                    parts[-1:] = parts[-1].split(source, maxsplit=1)
                    quoted.append(number)
            document |= {"content": parts, "quoted": quoted} if quoted else {}
        insert = "INSERT INTO piece (conversation_seq, hash, body) VALUES (?, ?, ?)"
        return self._db.execute(insert, (*key, rows.compress(document))).lastrowid or 0

    def insert_prompt(
        self, call: ArchivedCall, messages: Sequence[PromptMessage], tools: Sequence[PromptTool]
    ) -> None:
        """Store a prompt. Piece numbers are written as differences, which compress to a tenth."""
        document = call.model_dump(
            mode="json", exclude={"question_id", "messages", "tools"}, exclude_defaults=True
        )
        for name, pieces in (("messages", messages), ("tools", tools)):
            numbers = [self.number(piece) for piece in pieces]
            document[name] = [*numbers[:1], *(b - a for a, b in pairwise(numbers))]
        insert = (
            "INSERT INTO prompt (conversation_seq, question_seq, body) VALUES (?, (SELECT seq "
            "FROM message WHERE id = ?), ?)"
        )
        self._db.execute(insert, (self._conversation, call.question_id, rows.compress(document)))


def _unpack_piece(body: bytes, texts: Mapping[str, str]) -> dict[str, Any]:
    """A piece's document with its whole content."""
    document: dict[str, Any] = rows.decompress(body)
    if isinstance(document.get("content"), list):
        quoted = document.pop("quoted", [0])
        content, *parts = document["content"]
        for number, part in zip(quoted, parts, strict=True):
            if not (source := texts[document["source_ids"][number]]):
                raise ValueError("the source of a prompt's message is missing")
            content += source + part
        document["content"] = content
    return document
