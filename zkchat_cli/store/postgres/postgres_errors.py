"""PostgreSQL's errors as ours: nobody outside the store sees a `psycopg.Error`. Each operation runs
inside `translate_errors`, and the StoreError says what failed, why, and what to do next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
import psycopg_pool

from zkchat_cli.config.store_url import hide_password
from zkchat_cli.errors import StoreDamaged, StoreError, StoreUnreachable, StoreUnwritable
from zkchat_cli.store.codec import UNREADABLE


class _ServerCause(NamedTuple):
    kind: type[StoreError]
    why: str
    hint: str


_AWAY = _ServerCause(
    StoreUnreachable,
    "the server cannot be reached",
    "Check the network and the server, and store.url; `zkchat store status` tries it.",
)
_BUSY = _ServerCause(
    StoreUnreachable,
    "the server has no connection left",
    "Close other programs that use it, or raise its max_connections.",
)
_POOL = _ServerCause(
    StoreUnreachable,
    "all connections of this program are in use",
    "Try again in a moment.",
)
_PASSWORD = _ServerCause(
    StoreUnwritable,
    "the server refused the user or the password",
    "Put the password into ~/.pgpass, and check the user in store.url.",
)
_NO_DATABASE = _ServerCause(
    StoreUnwritable,
    "there is no such database",
    "Create it with `createdb`, or correct store.url.",
)
_LOCKED = _ServerCause(
    StoreError,
    "another client of the server keeps it locked",
    "Try again when that client has finished; `zkchat store status` names it.",
)
_SLOW = _ServerCause(
    StoreError,
    "the server took too long",
    "Try again; if it happens often, ask who runs the server.",
)
_CONFLICT = _ServerCause(
    StoreError, "another client changed the same at the same time", "Nothing was stored; try again."
)
_NO_RIGHT = _ServerCause(
    StoreUnwritable,
    "this role may not do that",
    "Ask the owner of the store for the right, or set another user in store.url.",
)
_STANDBY = _ServerCause(
    StoreUnwritable,
    "this server only reads (a replica)",
    "Set store.url to the primary server.",
)
_FULL = _ServerCause(
    StoreUnwritable,
    "the disk of the server is full",
    "Ask who runs the server to free some space; what was stored before is safe.",
)
_DAMAGED = _ServerCause(
    StoreDamaged,
    "what is stored there is damaged or not a zkchat store",
    "`zkchat store verify` says what; restore a backup of the database.",
)
_CONTRADICTION = _ServerCause(StoreError, "it contradicts what is stored", "Nothing was changed.")
_UNEXPECTED = _ServerCause(
    StoreError,
    "an unexpected error",
    "Run `zkchat store status`; if it finds nothing, please report this.",
)
_CAUSES = {
    "55P03": _LOCKED,
    "57014": _SLOW,
    "40": _CONFLICT,
    "42501": _NO_RIGHT,
    "25006": _STANDBY,
    "53100": _FULL,
    "53300": _BUSY,
    "28": _PASSWORD,
    "3D000": _NO_DATABASE,
    "08": _AWAY,
    "57P": _AWAY,
    "25P03": _AWAY,
    "23": _CONTRADICTION,
    "P0001": _CONTRADICTION,
    "3F000": _DAMAGED,
    "42": _DAMAGED,
}
"""By the beginning of an SQLSTATE; the longest that fits counts."""


def is_locked(error: psycopg.Error) -> bool:
    """Whether another client holds a lock that this one waited for in vain."""
    return error.sqlstate == "55P03"


@contextmanager
def translate_errors(shown: str, action: str) -> Iterator[None]:
    """Raise StoreError for any error inside; `action` completes "The store URL cannot …"."""
    error: Exception
    try:
        yield
        return
    except psycopg_pool.PoolTimeout as e:
        error = e
        cause = _POOL
    except psycopg.Error as e:
        error = e
        cause = _server_cause(e)
    except UNREADABLE as e:
        # A row that is not a valid value
        error = e
        cause = _DAMAGED
    message = f"The store {shown} cannot {action}: {cause.why} ({_detail(error)})"
    raise cause.kind(message, cause.hint) from error


def _detail(error: Exception) -> str:
    """The first line of an error's text, without a password and without what psycopg puts before
    the words of libpq.
    """
    text = hide_password(str(error)).strip()
    for beginning in ("connection is bad: ", "connection failed: "):
        text = text.removeprefix(beginning)
    lines = text.splitlines()
    return lines[0] if lines else type(error).__name__


def _server_cause(error: psycopg.Error) -> _ServerCause:
    state = error.sqlstate or ""
    for length in (5, 3, 2):
        cause = _CAUSES.get(state[:length]) if state else None
        if cause is not None:
            return cause
    # An error while connecting has no SQLSTATE, only a text
    if not state and isinstance(error, psycopg.OperationalError):
        return _connect_cause(str(error))
    return _UNEXPECTED


def _connect_cause(text: str) -> _ServerCause:
    found = {
        "too many clients": _BUSY,
        "connection slots": _BUSY,
        "too many connections": _BUSY,
        "password": _PASSWORD,
        "no pg_hba.conf entry": _PASSWORD,
        "role ": _PASSWORD,
    }
    if 'database "' in text and "does not exist" in text:
        return _NO_DATABASE
    return next((cause for words, cause in found.items() if words in text), _AWAY)
