"""What `zkchat store status` says about a server."""

from contextlib import closing
from typing import Any

from zkchat_cli.store.postgres.migrations import stored_layout
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection
from zkchat_cli.store.postgres.server_address import ServerAddress

_WAITING = """
    SELECT blocked.usename || ' (' || blocked.application_name || ') waits for '
        || blocker.usename || ' (' || blocker.application_name
        -- Of another role's transaction only its own users learn since when
        || coalesce(', since ' || date_trunc('second', blocker.xact_start), '') || ')'
    FROM pg_stat_activity AS blocked
    CROSS JOIN LATERAL unnest(pg_blocking_pids(blocked.pid)) AS by_pid
    JOIN pg_stat_activity AS blocker ON blocker.pid = by_pid
    WHERE blocked.datname = current_database()
"""
_SEES_ALL = """
    SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user
"""


def read_status(address: ServerAddress) -> dict[str, Any]:
    """The server's version, the layout of the store, who the user is, and who waits for whom.
    Raises StoreError.
    """
    with (
        closing(PostgresConnection(address)) as connection,
        connection.reading("be checked") as db,
    ):
        return {
            "version": str(db.value("SHOW server_version")).partition(" ")[0],
            "layout": stored_layout(db),
            "user": db.value("SELECT me()"),
            "sees_all": bool(db.value(_SEES_ALL)),
            "tls": bool(db.value("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")),
            "waiting": [text for (text,) in db.execute(_WAITING) if text],
        }
