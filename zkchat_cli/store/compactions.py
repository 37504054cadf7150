"""Summaries: the table `compaction`. A long conversation has hundreds, each of some kilobytes and with a list of what it masks: what is not
queried of them is packed. Those of a store from before that have it as JSON in `rest`.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

from zkchat_cli.models import Compaction
from zkchat_cli.store import prompt_codec, rows
from zkchat_cli.store.prompt_codec import storable

_COMPACTION = f"SELECT {', '.join(rows.COMPACTION)}, rest, packed FROM compaction"


def insert(connection: sqlite3.Connection, conversation_id: str, compaction: Compaction) -> None:
    row = rows.from_compaction(compaction)
    rest = row.pop("rest")
    rest["masked"] = _numbers(connection, conversation_id, rest.get("masked", ()))
    row |= {"conversation_id": conversation_id, "rest": "", "packed": prompt_codec.packed(rest)}
    connection.execute(f"INSERT INTO compaction ({', '.join(row)}) VALUES (:{', :'.join(row)})", row)


def read(connection: sqlite3.Connection, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
    """Those that hold, oldest first; or those that were taken back (`undone`) among them."""
    query = f"{_COMPACTION} WHERE conversation_id = ? AND undone <= ? ORDER BY seq"
    found = connection.execute(query, (conversation_id, undone)).fetchall()
    return tuple(_compaction(connection, row) for row in found)


def undo(connection: sqlite3.Connection, conversation_id: str, compaction_id: str | None) -> Compaction | None:
    """Take back that one, or the last that holds; None when there is none."""
    query = f"{_COMPACTION} WHERE conversation_id = ? AND NOT undone AND id = coalesce(?, id) ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, (conversation_id, compaction_id)).fetchone()
    if row is None:
        return None
    connection.execute("UPDATE compaction SET undone = 1 WHERE id = ?", (row[0],))
    return _compaction(connection, row)


def standing(connection: sqlite3.Connection, conversation: int, compaction_id: str) -> Compaction | None:
    """The summary that a prompt had which names this compaction, taken back or not: its own, or where it only masks the one before it.
    `conversation` is the number of the one that both are of. Without what it masks, which is long, and asked by nobody here."""
    query = f"{_COMPACTION} WHERE conversation_id = :of AND seq <= (SELECT seq FROM compaction WHERE id = :id AND conversation_id = :of)"
    [of] = connection.execute("SELECT id FROM conversation WHERE seq = ?", (conversation,)).fetchone()
    for row in connection.execute(f"{query} ORDER BY seq DESC", {"id": compaction_id, "of": of}):
        value = _value(row)
        if value.get("summary"):
            return Compaction.model_validate({**value, "masked": ()})
    return None


def summaries(made: Iterable[Compaction]) -> dict[str, str]:
    """By id, the words of what `standing` finds, of a conversation's compactions in their order; those without any are not in it."""
    found: dict[str, str] = {}
    last = None
    for compaction in made:
        last = compaction.summary or last
        if last:
            found[compaction.id] = last
    return found


def _compaction(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Compaction:
    value = _value(row)
    if row[-1] is not None:
        value["masked"] = _ids(connection, value["masked"])
    return Compaction.model_validate(value)


def _value(row: tuple[Any, ...]) -> dict[str, Any]:
    """As it is stored: what is packed names the messages it masks by numbers."""
    *columns, rest, packed = row
    value: dict[str, Any] = prompt_codec.decoded(rest) if packed is None else prompt_codec.unpacked(packed)
    return value | dict(zip(rows.COMPACTION, columns, strict=True))


def _numbers(connection: sqlite3.Connection, conversation_id: str, ids: list[str]) -> list[int | str]:
    """Messages by how far each stands from the one before; an id that no message of the conversation has stays one."""
    numbers: list[int | str] = []
    last = 0
    for id_ in ids:
        query = "SELECT seq FROM message WHERE id = ? AND conversation_id = ?"
        found = connection.execute(query, (storable(id_), conversation_id)).fetchone()
        numbers.append(found[0] - last if found else id_)
        last = found[0] if found else last
    return numbers


def _ids(connection: sqlite3.Connection, numbers: list[int | str]) -> list[str]:
    ids: list[str] = []
    last = 0
    for number in numbers:
        if isinstance(number, str):
            ids.append(number)
            continue
        last += number
        found = connection.execute("SELECT id FROM message WHERE seq = ?", (last,)).fetchone()
        if found is None:
            raise ValueError(f"message {last} of a summary is missing")
        ids.append(found[0])
    return ids
