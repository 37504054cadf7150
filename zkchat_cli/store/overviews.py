"""Conversations as a list shows them: how much was said in each, and how it began. One query, however many there are."""

import sqlite3

from zkchat_cli.models import Overview
from zkchat_cli.store import rows

FIRST = 300
"""Characters of the first message that are read."""

_READ = f"""
    WITH listed AS (
        SELECT seq AS place, {", ".join(rows.CONVERSATION)} FROM conversation
        WHERE (:vault IS NULL OR vault = :vault) AND (:only IS NULL OR id = :only) {rows.NEWEST_FIRST} LIMIT :limit
    )
    SELECT {", ".join(f"listed.{column}" for column in rows.CONVERSATION)},
        (SELECT count(*) FROM message WHERE conversation_id = listed.id AND role <> 'tool' AND content <> ''),
        (SELECT substr(content, 1, {FIRST}) FROM message WHERE conversation_id = listed.id AND role = 'user' ORDER BY seq LIMIT 1),
        (SELECT coalesce(sum(CASE WHEN json_valid(rest) THEN json_extract(rest, '$.token_count') END), 0)
            FROM message WHERE conversation_id = listed.id)
    FROM listed
"""


def read(connection: sqlite3.Connection, vault: str | None, limit: int | None) -> list[Overview]:
    """Those with `vault` (None: all), the most recently updated first."""
    found = connection.execute(_READ, {"vault": vault, "only": None, "limit": -1 if limit is None else limit})
    return [_overview(row) for row in found]


def of(connection: sqlite3.Connection, conversation_id: str) -> Overview:
    """The one of this id, which there is."""
    return _overview(connection.execute(_READ, {"vault": None, "only": conversation_id, "limit": 1}).fetchone())


def _overview(row: tuple[object, ...]) -> Overview:
    *conversation, messages, first, tokens = row
    values = dict(zip(rows.CONVERSATION, conversation, strict=True))
    line = next(iter(str(first or "").strip().splitlines()), "").strip()
    return Overview.model_validate({**values, "messages": messages, "first_line": line or None, "tokens": tokens})
