"""What each model call was sent: the tables `piece` and `prompt` (see packing for how little of that is written).

A piece is a message or a tool of a prompt, stored once a conversation, by a hash of what it says. A prompt is a list of pieces, told by
how it differs from the conversation's prompt before it; from time to time one is told as a whole, so that no reader has to go far back.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from zkchat_cli.models import Prompt, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store import compactions, prompt_codec
from zkchat_cli.store.prompt_codec import storable

WHOLE_EACH = 64
"""Prompts after which one is told as a whole."""


@dataclass(frozen=True, slots=True)
class Newest:
    """A conversation's newest prompt, kept from turn to turn: most of what the next one has is in it."""

    conversation: int
    seq: int
    since_whole: int
    pieces: tuple[int, ...]
    tools: tuple[int, ...]
    sent: Prompt | None = None
    """The prompt itself, where this process stored it: the next one has most of the same objects."""


def write(
    connection: sqlite3.Connection,
    conversation_id: str,
    sent: Sequence[SentPrompt],
    known: Newest | None,
    logged: Mapping[str, prompt_codec.Logged],
) -> Newest | None:
    """Store the prompts of a turn whose messages are stored, inside the caller's transaction; what to know for the next turn. `logged` are
    messages of which the caller knows how they are stored."""
    if not sent:
        return known
    [conversation] = connection.execute("SELECT seq FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
    newest = _newest(connection, conversation, known)
    said: dict[str, prompt_codec.Logged | None] = {**logged}
    for call in sent:
        newest = _Writer(connection, newest, call, said).write()
    return newest


def read(connection: sqlite3.Connection, message_id: str) -> tuple[SentPrompt, ...]:
    """The prompts of the turn that a message belongs to, in the order of its calls; none when none were kept."""
    found = connection.execute(_QUESTION, (message_id,)).fetchone()
    if found is None:
        return ()
    question, question_id = found
    wanted = connection.execute("SELECT seq, conversation_seq FROM prompt WHERE question_seq = ? ORDER BY seq", (question,)).fetchall()
    return tuple(_read(connection, conversation, seq, question_id, call) for call, (seq, conversation) in enumerate(wanted, 1))


def insert(connection: sqlite3.Connection, conversation: int, question: int, document: dict[str, Any], *, whole: bool) -> int:
    """Store a prompt as it is told, and return its number; `whole`: by pieces alone, not by the prompt before."""
    row = (conversation, question, whole, prompt_codec.packed(document))
    return connection.execute("INSERT INTO prompt (conversation_seq, question_seq, whole, body) VALUES (?, ?, ?, ?)", row).lastrowid or 0


_QUESTION = """
    WITH RECURSIVE above (seq, id, parent_id, role) AS (
        SELECT seq, id, parent_id, role FROM message WHERE id = ?
        UNION
        SELECT message.seq, message.id, message.parent_id, message.role FROM above JOIN message ON message.id = above.parent_id
        WHERE above.role <> 'user'
    )
    SELECT seq, id FROM above WHERE role = 'user'
"""

_CHAIN = """
    SELECT body FROM prompt
    WHERE conversation_seq = :conversation AND seq <= :seq AND seq >= (
        SELECT max(seq) FROM prompt WHERE conversation_seq = :conversation AND seq <= :seq AND whole
    ) ORDER BY seq
"""


_SAID = """
    SELECT id, seq, content FROM message
    WHERE id IN (SELECT value FROM json_each(?)) AND +conversation_id = (SELECT id FROM conversation WHERE seq = ?)
"""
"""Of the conversation's own messages alone: what quotes another one's would be lost with that. The `+` keeps SQLite from walking through
all of them for a few: 3 ms a turn after 10 000 messages."""


class _Writer:
    """`logged` are messages that were looked up for another call of the turn: its prompts quote most of the same ones."""

    def __init__(
        self, connection: sqlite3.Connection, newest: Newest, sent: SentPrompt, logged: dict[str, prompt_codec.Logged | None]
    ) -> None:
        self._db = connection
        self._newest = newest
        self._sent = sent
        self._known = logged
        row = connection.execute("SELECT seq FROM message WHERE id = ?", (storable(sent.question_id),)).fetchone()
        self._question: int = row[0]

    def write(self) -> Newest:
        before, prompt = self._newest, self._sent.prompt
        pieces = self._numbers(prompt.messages)
        same = before.sent is not None and before.sent.tools == prompt.tools
        tools = before.tools if same else tuple(map(self._number, prompt.tools))
        whole = before.since_whole >= WHOLE_EACH
        document = {
            "pieces": prompt_codec.difference(() if whole else before.pieces, pieces),
            "tools": prompt_codec.difference(() if whole else before.tools, tools),
            "model": self._sent.model,
            "usage": self._sent.usage and prompt_codec.dumped(self._sent.usage),
            "strategy": prompt.strategy,
            "dropped": [prompt_codec.dumped(each) for each in prompt.dropped],
            "figures": prompt_codec.dumped(prompt.usage),
        }
        seq = insert(self._db, before.conversation, self._question, document, whole=whole)
        return Newest(before.conversation, seq, 1 if whole else before.since_whole + 1, pieces, tools, prompt)

    def _numbers(self, messages: Sequence[PromptMessage]) -> tuple[int, ...]:
        """Nine in ten stood in the prompt before: most of them as the same objects, some made anew with the same words."""
        before = self._newest
        had = list(zip(before.sent.messages, before.pieces, strict=True)) if before.sent else []
        same = {id(message): number for message, number in had}
        alike = {(message.content, message.source_ids): (message, number) for message, number in had}
        new = [message for message in messages if id(message) not in same]
        for message in new:
            held, number = alike.get((message.content, message.source_ids), (None, 0))
            if held == message:
                same[id(message)] = number
        self._look_up(source for message in new if id(message) not in same for source in message.source_ids)
        return tuple(same.get(id(message)) or self._number(message) for message in messages)

    def _number(self, piece: PromptMessage | PromptTool) -> int:
        """The number of a piece, which is stored if it is new."""
        key = (self._newest.conversation, prompt_codec.fingerprint(piece))
        found = self._db.execute("SELECT seq FROM piece WHERE conversation_seq = ? AND hash = ?", key).fetchone()
        if found:
            return int(found[0])
        body = (
            prompt_codec.pack_message(piece, self._question, self._known)
            if isinstance(piece, PromptMessage)
            else prompt_codec.packed(prompt_codec.dumped(piece))
        )
        return self._db.execute("INSERT INTO piece (conversation_seq, hash, body) VALUES (?, ?, ?)", (*key, body)).lastrowid or 0

    def _look_up(self, ids: Iterable[str]) -> None:
        """Know these messages and summaries, all at once: what recall quotes names a hundred of them."""
        wanted = {storable(id_): id_ for id_ in ids if id_ not in self._known}
        conversation = self._newest.conversation
        for stored, seq, content in self._db.execute(_SAID, (json.dumps([*wanted]), conversation)) if wanted else ():
            self._known[wanted.pop(stored)] = seq, content
        for stored, id_ in wanted.items():
            held = compactions.standing(self._db, conversation, stored)
            self._known[id_] = (None, held.summary) if held is not None and held.summary else None


def _newest(connection: sqlite3.Connection, conversation: int, known: Newest | None) -> Newest:
    [seq] = connection.execute("SELECT max(seq) FROM prompt WHERE conversation_seq = ?", (conversation,)).fetchone()
    if known is not None and (known.conversation, known.seq) == (conversation, seq):
        return known
    if seq is None:
        return Newest(conversation, 0, WHOLE_EACH, (), ())
    told = _told(connection, conversation, seq)
    return Newest(conversation, seq, told.since_whole, tuple(told.pieces), tuple(told.tools))


@dataclass(frozen=True, slots=True)
class _Told:
    """A prompt as it is written: its own document, and the pieces and tools that this and those before it come to."""

    document: dict[str, Any]
    pieces: list[int]
    tools: list[int]
    since_whole: int


def _told(connection: sqlite3.Connection, conversation: int, seq: int) -> _Told:
    told = _Told({}, [], [], 0)
    for (body,) in connection.execute(_CHAIN, {"conversation": conversation, "seq": seq}):
        document = prompt_codec.unpacked(body)
        pieces, tools = prompt_codec.applied(told.pieces, document["pieces"]), prompt_codec.applied(told.tools, document["tools"])
        told = _Told(document, pieces, tools, told.since_whole + 1)
    return told


def _read(connection: sqlite3.Connection, conversation: int, seq: int, question_id: str, call: int) -> SentPrompt:
    told = _told(connection, conversation, seq)
    document, log = told.document, partial(_said, connection, conversation)
    messages = tuple(prompt_codec.unpack_message(_body(connection, piece), log) for piece in told.pieces)
    summary = next((m.source_ids[0] for m in messages if m.kind == "summary" and m.source_ids), None)
    held = None if summary is None else compactions.standing(connection, conversation, summary)
    prompt = Prompt.model_validate(
        {
            "messages": messages,
            "tools": tuple(PromptTool.model_validate(prompt_codec.unpacked(_body(connection, tool))) for tool in told.tools),
            "usage": document["figures"],
            "dropped": document["dropped"],
            "strategy": document["strategy"],
        }
    )
    values = {"model": document["model"], "usage": document["usage"], "summarised_through": held and held.last_id}
    return SentPrompt.model_validate({"question_id": question_id, "call": call, "prompt": prompt, **values})


def _body(connection: sqlite3.Connection, piece: int) -> bytes:
    found = connection.execute("SELECT body FROM piece WHERE seq = ?", (piece,)).fetchone()
    if found is None:
        raise ValueError(f"piece {piece} of a prompt is missing")
    body: bytes = found[0]
    return body


def _said(connection: sqlite3.Connection, conversation: int, source: int | str) -> tuple[str, str | None]:
    if isinstance(source, str):
        held = compactions.standing(connection, conversation, source)
        return source, None if held is None else held.summary
    found: tuple[str, str] | None = connection.execute("SELECT id, content FROM message WHERE seq = ?", (source,)).fetchone()
    if found is None:
        raise ValueError(f"message {source} of a prompt is missing")
    return found
