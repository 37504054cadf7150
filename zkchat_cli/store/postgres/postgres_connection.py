"""One connection to the server, which the parts of a store share."""

import hashlib
import logging
import select
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from time import monotonic
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import ConnStatus
from psycopg_pool import NullConnectionPool, PoolTimeout

from zkchat_cli.errors import StoreUnreachable
from zkchat_cli.store.port import StoreChanges
from zkchat_cli.store.postgres.postgres_errors import is_locked, translate_errors
from zkchat_cli.store.postgres.schema import CHANNEL
from zkchat_cli.store.postgres.server_address import CONNECT_TIMEOUT, ServerAddress
from zkchat_cli.text.words import replace_surrogates

# Connections that one program has to a server at most
MOST_CONNECTIONS = 16
# Seconds to wait for one of them
_POOL_TIMEOUT = 5.0
# Wait for a lock that was waited for in vain before, or that nothing depends on
_SHORT_LOCK_TIMEOUT = "200ms"

# The errors themselves are told: without a handler Python would print its warnings on the screen
logging.getLogger("psycopg").addHandler(logging.NullHandler())

Parameters = Mapping[str, Any] | Sequence[Any]
Listener = Callable[[str | None], None]
"""Told what another client changed, by `change_name`; empty: not a conversation; None: unknown,
because the connection was lost.
"""


def change_name(conversation_id: str) -> str:
    """How clients name a conversation that they changed: who knows its id recognizes it."""
    return hashlib.md5(conversation_id.encode(), usedforsecurity=False).hexdigest()


class PostgresDatabase:
    """The database, for one thread: texts may contain what PostgreSQL's cannot, which are lone
    surrogates and NUL.
    """

    def __init__(self, connection: psycopg.Connection[Any], *, scripts: bool = False) -> None:
        """With `scripts`, a text may be several statements, which cannot be prepared."""
        self._connection = connection
        self._prepare = False if scripts else None
        # The names of changed conversations
        self.changed: set[str] = set()

    def tell(self, conversation_id: str) -> None:
        """Tell the other clients that a conversation changed, when the transaction has ended."""
        self.changed.add(change_name(conversation_id))

    def execute(self, query: str, parameters: Parameters = ()) -> psycopg.Cursor[Any]:
        """Run one statement."""
        # Without parameters, `%` is only a sign
        values = _clean(parameters) if parameters else None
        return self._connection.execute(sql.SQL(query), values, prepare=self._prepare)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Statements in the block wait for an answer only where it is read."""
        with self._connection.pipeline():
            yield

    def value(self, query: str, parameters: Parameters = ()) -> Any:
        """The only column of the only row."""
        row = self.execute(query, parameters).fetchone()
        if row is None:
            raise LookupError(f"nothing was found: {query}")
        [value] = row
        return value

    def executemany(self, query: str, parameters: Iterable[Parameters]) -> None:
        """Run one statement for each set of parameters."""
        values = [_clean(each) for each in parameters]
        if values:
            with self._connection.cursor() as cursor:
                cursor.executemany(sql.SQL(query), values)


def _clean(parameters: Parameters) -> Parameters:
    if isinstance(parameters, Mapping):
        return {name: clean_value(value) for name, value in parameters.items()}
    return [clean_value(value) for value in parameters]


def clean_value(value: Any) -> Any:
    """A parameter in which each text can be stored."""
    if isinstance(value, str):
        return replace_surrogates(value).replace("\0", "\ufffd")
    if isinstance(value, list):
        return [clean_value(each) for each in value]
    return value


class _Connection(psycopg.Connection[Any]):
    """A connection that gives up on a server that takes a statement and never answers."""

    answer_timeout: float | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.answer_timeout)
        except psycopg.errors._WaitTimeout as e:
            self.pgconn.finish()
            raise psycopg.OperationalError("no answer") from e


@lru_cache
def _pool(shown: str, parameters: tuple[tuple[str, Any], ...]) -> NullConnectionPool[Any]:
    """The pool of this program's connections to a server. It opens them when they are needed, in
    the thread that needs one, so an error has its reason.
    """
    return NullConnectionPool(
        # A connection plans each statement once, the first time
        kwargs={**dict(parameters), "autocommit": True, "prepare_threshold": 0},
        connection_class=_Connection,
        max_size=MOST_CONNECTIONS,
        timeout=_POOL_TIMEOUT,
        num_workers=1,
        open=True,
        name=shown,
    )


class PostgresConnection:
    """A connection that threads may share, one at a time. One that broke is made anew by the next
    operation.
    """

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._pool = _pool(address.shown, tuple(address.parameters.items()))
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._listeners: list[Listener] = []
        self._own_changes = 0
        self._other_changes = 0
        self._closed = False
        # Whether a turn was rehearsed on the connection (see `rehearsal`)
        self.is_rehearsed = False
        # When the server was last tried in vain, and why
        self._failed_at = 0.0
        self._failure: StoreUnreachable | None = None
        # Whether locks are waited for only briefly, after one that was waited for in vain
        self._is_impatient = False

    @contextmanager
    def reading(self, action: str) -> Iterator[PostgresDatabase]:
        """The database, for this thread alone. Raises StoreError that says what `action` failed."""
        with self._lock, translate_errors(self.address.shown, action):
            yield PostgresDatabase(self._open())

    @contextmanager
    def writing(self, action: str, *, scripts: bool = False) -> Iterator[PostgresDatabase]:
        """The same in one transaction; with `scripts` for several statements in one text."""
        with self._lock, translate_errors(self.address.shown, action):
            connection = self._open()
            try:
                with _transaction(connection, scripts=scripts) as database:
                    if self._is_impatient:
                        database.execute(f"SET LOCAL lock_timeout = '{_SHORT_LOCK_TIMEOUT}'")
                    yield database
            except psycopg.Error as e:
                self._is_impatient = is_locked(e)
                raise
            self._is_impatient = False
            self._own_changes += 1

    @contextmanager
    def rehearsing(self, action: str) -> Iterator[PostgresDatabase]:
        """The database in a transaction that is taken back, and that waits for no lock for long."""
        with self._lock, translate_errors(self.address.shown, action):
            connection = self._open()
            with connection.transaction(force_rollback=True), connection.pipeline():
                database = PostgresDatabase(connection)
                database.execute(f"SET LOCAL lock_timeout = '{_SHORT_LOCK_TIMEOUT}'")
                yield database

    @contextmanager
    def snapshot(self, action: str) -> Iterator[PostgresDatabase]:
        """The database as it is at one moment, to read several tables."""
        with self.reading(action) as db, self._open().transaction():
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield db

    def listen(self, listener: Listener) -> None:
        """Call `listener` whenever it is found that another client changed something, in any
        thread.
        """
        self._listeners.append(listener)

    def stop_listening(self, listener: Listener) -> None:
        """Call `listener` no longer."""
        self._listeners.remove(listener)

    def wait_for_others(self, seconds: float) -> None:
        """Wait until the server sends something, at most so long; listeners are called meanwhile.
        Raises StoreError if there is no connection.
        """
        with self.reading("be watched"):
            connection = self._open()
            self._take_notifications(connection)
            number = connection.pgconn.socket
        # Without the lock: others use the connection meanwhile, and may even close it
        with suppress(OSError, ValueError):
            select.select([number], [], [], seconds)
        self.changes()

    def changes(self) -> StoreChanges:
        """Figures that change when anything has been written. The server tells of it by itself
        (NOTIFY): only what has arrived is read, and nothing is asked.
        """
        with self._lock:
            connection = self._connection
            if connection is not None and is_alive(connection):
                self._take_notifications(connection)
            return StoreChanges(own=self._own_changes, others=self._other_changes)

    def close(self) -> None:
        """Give the connection back; every later call raises StoreError."""
        with self._lock:
            self._closed = True
            self._drop()

    def _open(self) -> psycopg.Connection[Any]:
        if self._closed:
            raise psycopg.InterfaceError("the store was closed")
        connection = self._connection
        if connection is not None and is_alive(connection):
            return connection
        self._drop()
        if self._failure is not None and monotonic() < self._failed_at + self.address.retry_after:
            raise self._failure
        try:
            with translate_errors(self.address.shown, "be opened"):
                opened = self._take_connection()
        except StoreUnreachable as e:
            self._failure = e
            self._failed_at = monotonic()
            raise
        self._failure = None
        self._connection = opened
        self.is_rehearsed = False
        opened.add_notify_handler(self._note)
        # What happened meanwhile is unknown
        self._call_listeners(None)
        return opened

    def _take_connection(self) -> _Connection:
        try:
            opened: _Connection = self._pool.getconn(CONNECT_TIMEOUT)
        except PoolTimeout as e:
            if self._pool.get_stats().get("pool_size", 0) >= MOST_CONNECTIONS:
                raise
            raise psycopg.OperationalError(f"no answer in {CONNECT_TIMEOUT} seconds") from e
        opened.answer_timeout = self.address.answer_timeout
        try:
            opened.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            self._pool.putconn(opened)
            raise
        return opened

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.remove_notify_handler(self._note)
            self._pool.putconn(self._connection)
            self._connection = None

    def _take_notifications(self, connection: psycopg.Connection[Any]) -> None:
        while notification := connection.pgconn.notifies():
            payload = notification.extra.decode()
            self._note(psycopg.Notify(CHANNEL, payload, notification.be_pid))

    def _note(self, notification: psycopg.Notify) -> None:
        own = self._connection.info.backend_pid if self._connection is not None else None
        if notification.pid == own:
            return
        self._call_listeners(notification.payload)

    def _call_listeners(self, changed: str | None) -> None:
        self._other_changes += 1
        for listener in [*self._listeners]:
            listener(changed)


@contextmanager
def _transaction(
    connection: psycopg.Connection[Any], *, scripts: bool
) -> Iterator[PostgresDatabase]:
    """A transaction in which statements wait for an answer only where it is read: a turn takes 6
    round trips instead of 25.
    """
    database = PostgresDatabase(connection, scripts=scripts)
    try:
        with nullcontext() if scripts else connection.pipeline():
            database.execute("BEGIN")
            yield database
            database.execute("COMMIT")
            _tell_others(database)
    except BaseException:
        if not connection.closed:
            connection.rollback()
        raise


def _tell_others(db: PostgresDatabase) -> None:
    """Tell what was changed, in a transaction of its own (see `tell_changes` in the schema)."""
    if db.changed:
        db.execute("SELECT tell_changes(%s)", (sorted(db.changed),))


def is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Whether a connection is open, by what has arrived from it: nothing is sent."""
    if connection.closed or connection.pgconn.status != ConnStatus.OK:
        return False
    try:
        ready, _, _ = select.select([connection.pgconn.socket], [], [], 0)
        if ready:
            connection.pgconn.consume_input()
    except (psycopg.Error, OSError, ValueError):
        connection.close()
        return False
    return True
