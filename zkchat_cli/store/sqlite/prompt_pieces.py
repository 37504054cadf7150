"""The table `piece`: one message or tool of a prompt, compressed and stored once per conversation
under the hash of its JSON.

The log's messages and the summary that a piece quotes whole are not stored again: that saves 15 MB
of 44 in a conversation of 1000 turns with tools.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from zkchat_cli.models.prompts import PromptMessage, PromptTool
from zkchat_cli.store.sqlite import codec, compactions, rows
from zkchat_cli.text.words import replace_surrogates

# Characters: a shorter source is often found by chance
_MIN_QUOTED = 40
_HASH_BYTES = 16
_FIND = "SELECT seq FROM piece WHERE conversation_seq = ? AND hash = ?"
_INSERT = "INSERT INTO piece (conversation_seq, hash, body) VALUES (?, ?, ?)"
_READ = """
    SELECT seq, body FROM piece WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq
"""
_SOURCES = """
    SELECT id, content FROM message
    WHERE id IN (SELECT value FROM json_each(?)) AND +conversation_id = ?
"""


class SourceTexts(dict[str, str]):
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
            compaction = compactions.with_summary(self._db, self._conversation_id, id_)
            self[id_] = (compaction.summary or "") if compaction is not None else ""
        return self[id_]

    def load_unchecked(self, ids: Iterable[str]) -> None:
        """Read these messages at once, without their checksums, which take as long as all the rest
        of storing a prompt.
        """
        missing = [*{*ids} - self.keys()]
        self.update(self._db.execute(_SOURCES, (json.dumps(missing), self._conversation_id)))


class PieceWriter:
    """Stores the pieces of one conversation's prompts that are new, and numbers all of them."""

    def __init__(self, connection: sqlite3.Connection, conversation_id: str) -> None:
        self._db = connection
        [self.conversation_seq] = connection.execute(
            "SELECT seq FROM conversation WHERE id = ?", (conversation_id,)
        ).fetchone()
        # The numbers of pieces by their identities: most pieces of a prompt are in the next
        self._numbers: dict[int, int] = {}
        self._texts = SourceTexts(connection, conversation_id)

    def number(self, piece: PromptMessage | PromptTool) -> int:
        """The number of a piece, which is stored if it is new."""
        if id(piece) not in self._numbers:
            self._numbers[id(piece)] = self._stored_number(piece)
        return self._numbers[id(piece)]

    def _stored_number(self, piece: PromptMessage | PromptTool) -> int:
        document = piece.model_dump(mode="json", exclude_defaults=True)
        digest = blake2b(codec.encode(document), digest_size=_HASH_BYTES).digest()
        found = self._db.execute(_FIND, (self.conversation_seq, digest)).fetchone()
        if found:
            [number] = found
            return int(number)
        if isinstance(piece, PromptMessage) and len(piece.content) > codec.MIN_COMPRESSED:
            document |= self._without_sources(piece)
        body = codec.compress(document)
        cursor = self._db.execute(_INSERT, (self.conversation_seq, digest, body))
        return cursor.lastrowid or 0

    def _without_sources(self, piece: PromptMessage) -> dict[str, Any]:
        """The content of a piece cut where it quotes a source whole, and the numbers of these
        sources; empty if it quotes none.
        """
        ids = [replace_surrogates(id_) for id_ in piece.source_ids]
        # A text that is damaged on the disk is not in the piece, so it does no harm
        self._texts.load_unchecked(ids)
        content = [piece.content]
        quoted: list[int] = []
        for number, id_ in enumerate(ids):
            source = self._texts[id_]
            if len(source) >= _MIN_QUOTED and source in content[-1]:
                before, after = content.pop().split(source, maxsplit=1)
                content += [before, after]
                quoted.append(number)
        return {"content": content, "quoted": quoted} if quoted else {}


def read_pieces(
    connection: sqlite3.Connection, numbers: Iterable[int], texts: Mapping[str, str]
) -> dict[int, dict[str, Any]]:
    """The documents of these pieces by their numbers, with their whole contents. `texts` are those
    of their sources. Raises ValueError or LookupError for a damaged one.
    """
    found = connection.execute(_READ, (json.dumps([*numbers]),))
    return {seq: _unpack(body, texts) for seq, body in found}


def _unpack(body: bytes, texts: Mapping[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = codec.decompress(body)
    if isinstance(document.get("content"), list):
        quoted = document.pop("quoted", [0])
        content, *others = document["content"]
        for number, after in zip(quoted, others, strict=True):
            source = texts[document["source_ids"][number]]
            if not source:
                raise ValueError("the source of a prompt's message is missing")
            content += source + after
        document["content"] = content
    return document
