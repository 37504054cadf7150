"""The layouts of a store on a server, as a list of functions that only grows. Number N is the
layout that the store in SQLite has under the same number (`store/sqlite/migrations.py`).

Only `zkchat store init` creates or upgrades a store: other people's programs use it, too, and a
chat that upgraded it unasked would lock them out.
"""

from collections.abc import Callable, Sequence

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, PostgresDatabase
from zkchat_cli.store.postgres.schema import LAYOUT_1, SCHEMA

Migration = Callable[[PostgresDatabase], None]
"""It runs inside a transaction in which nobody else upgrades the store."""

# `zkch`: the advisory lock of an upgrade
_UPGRADE_LOCK = 0x7A6B6368


def create_first_layout(db: PostgresDatabase) -> None:
    """Layout 1: the tables in `schema`."""
    db.execute(LAYOUT_1)


def add_documents(db: PostgresDatabase) -> None:
    """Layout 2: a conversation has a list of documents, as JSON."""
    db.execute("ALTER TABLE conversation ADD COLUMN documents text NOT NULL DEFAULT '[]'")
    db.execute("GRANT UPDATE (documents) ON conversation TO PUBLIC")


MIGRATIONS: tuple[Migration, ...] = (create_first_layout, add_documents)
"""Only ever append to this list, together with SQLite's."""


def stored_layout(db: PostgresDatabase) -> int | None:
    """The layout of the store in this database; 0 without tables; None if the schema is another
    program's.
    """
    schema = db.value("SELECT to_regnamespace(%s)", (SCHEMA,))
    if schema is None:
        return 0
    table = db.value("SELECT to_regclass(%s)", (f"{SCHEMA}.layout",))
    if table is None:
        tables = db.value(
            "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(%s)", (SCHEMA,)
        )
        return None if tables else 0
    layout = db.value(f"SELECT max(number) FROM {SCHEMA}.layout")
    return int(layout or 0)


def require_layout(
    connection: PostgresConnection, layouts: Sequence[Migration] = MIGRATIONS
) -> None:
    """Raises StoreError unless the store has the layout that this zkchat knows."""
    newest = len(layouts)
    shown = connection.address.shown
    with connection.reading("be opened") as db:
        layout = stored_layout(db)
    if layout is None:
        raise _foreign_schema(shown)
    if layout == 0:
        raise StoreUnwritable(
            f"The store {shown} is empty: its database has no tables of zkchat yet",
            "Create them, once for all who use it: zkchat store init",
        )
    if layout < newest:
        raise StoreUnwritable(
            f"The store {shown} has layout {layout}, and this zkchat needs layout {newest}",
            "Its owner upgrades it with `zkchat store init`, when all who use it have updated.",
        )
    if layout > newest:
        raise _newer(shown, layout, newest)


def upgrade(connection: PostgresConnection, layouts: Sequence[Migration] = MIGRATIONS) -> int:
    """Create the tables, or bring those of an older layout to the newest, in one transaction.
    Returns the layout before, 0 for an empty database. Raises StoreError; then nothing was changed.
    """
    newest = len(layouts)
    shown = connection.address.shown
    with connection.writing("be set up", scripts=True) as db:
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_UPGRADE_LOCK,))
        layout = stored_layout(db)
        if layout is None:
            raise _foreign_schema(shown)
        if layout > newest:
            raise _newer(shown, layout, newest)
        if layout == 0:
            db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for number, migrate in enumerate(layouts[layout:], start=layout + 1):
            migrate(db)
            db.execute("INSERT INTO layout (number) VALUES (%s)", (number,))
    return layout


def _foreign_schema(shown: str) -> StoreError:
    return StoreError(
        f"The database {shown} has a schema {SCHEMA} of another program; it was not changed",
        "Name another database in store.url.",
    )


def _newer(shown: str, layout: int, newest: int) -> StoreError:
    return StoreError(
        f"A newer zkchat upgraded the store {shown}: it has layout {layout}, this one knows "
        f"{newest}",
        "Update zkchat.",
    )
