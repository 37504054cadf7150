"""A made-up next layout of the store, and a program that opens a store with it in its process.

python tests/next_layout.py FILE     upgrades the store, and prints its messages, one a line
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from zkchat_cli.store.sqlite.database import connect
from zkchat_cli.store.sqlite.migrations import MIGRATIONS, Migration


def add_stars(db: sqlite3.Connection) -> None:
    """The next layout: conversations can have a star."""
    db.execute("ALTER TABLE conversation ADD COLUMN starred INTEGER NOT NULL DEFAULT 0")


LAYOUTS: tuple[Migration, ...] = (*MIGRATIONS, add_stars)


def stored_words(file: Path) -> list[str]:
    """The messages of the store, which has the next layout afterwards."""
    with closing(connect(file, LAYOUTS)) as db:
        assert db.execute("SELECT sum(starred) FROM conversation").fetchone() == (0,)
        return [content for (content,) in db.execute("SELECT content FROM message ORDER BY seq")]


if __name__ == "__main__":
    for words in stored_words(Path(sys.argv[1])):
        print(repr(words))
