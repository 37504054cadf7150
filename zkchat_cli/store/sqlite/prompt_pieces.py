"""The table `piece`: the messages and tools of prompts (see `store/prompt_documents.py`)."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from zkchat_cli.models.prompts import PromptMessage, PromptTool
from zkchat_cli.store import rows
from zkchat_cli.store.prompt_documents import PieceDocument, read_piece
from zkchat_cli.store.sqlite import compactions

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
        if not missing:
            return
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
        stored = PieceDocument.of(piece)
        found = self._db.execute(_FIND, (self.conversation_seq, stored.digest)).fetchone()
        if found:
            [number] = found
            return int(number)
        # A text that is damaged on the disk is not in the piece, so it does no harm
        self._texts.load_unchecked(stored.source_ids)
        values = (self.conversation_seq, stored.digest, stored.body(self._texts))
        return self._db.execute(_INSERT, values).lastrowid or 0


def read_pieces(
    connection: sqlite3.Connection, numbers: Iterable[int], texts: Mapping[str, str]
) -> dict[int, dict[str, Any]]:
    """The documents of these pieces by their numbers, with their whole contents. `texts` are those
    of their sources. Raises ValueError or LookupError for a damaged one.
    """
    found = connection.execute(_READ, (json.dumps([*numbers]),))
    return {seq: read_piece(body, texts) for seq, body in found}
