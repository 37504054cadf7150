"""A PostgreSQL server of the tests' own: a cluster in a temporary folder, in memory if conftest.py
found some, reached by a socket.

It runs as an unprivileged user where the tests run as root, because PostgreSQL refuses root.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg

from zkchat_cli.store.postgres import migrations
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection
from zkchat_cli.store.postgres.server_address import ServerAddress, read_address

# Nothing of a test's database is needed after a power cut
FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
SMALL = ("shared_buffers=16MB", "max_connections=60", "autovacuum=off", "max_wal_senders=0")
ROLES = ("tester", "alice", "bob")
# Seconds; after a kill it reads again what had not reached the tables
_LONGEST_START = 300
MISSING = "PostgreSQL is not installed (Debian: apt install postgresql)"


@cache
def programs() -> Path | None:
    """The folder of `initdb` and `postgres`; None if they are not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


def unprivileged_user() -> str | None:
    """Who runs the server; None: who runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


@dataclass
class PostgresServer:
    """A running server with the database `zkchat`, whose tables are there, and three roles."""

    settings: Sequence[str] = FAST
    folder: Path = field(init=False)
    process: "subprocess.Popen[bytes] | None" = None
    port: int = 5432
    _names: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.folder = Path(
            tempfile.mkdtemp(prefix="zkpg", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        )
        user = unprivileged_user()
        if user is not None:
            shutil.chown(self.folder, user)
        self.folder.chmod(0o755)
        self._run(
            "initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "--no-sync",
            "-E", "UTF8", "--locale=C.UTF-8",
        )  # fmt: skip
        self.start()
        with self.admin("postgres") as db:
            for role in ROLES:
                db.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[arg-type]
        self.create("zkchat")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        command = [str(self._program("postgres")), "-D", str(self.data)]
        options = (f"unix_socket_directories={self.folder}", "listen_addresses=")
        for option in (*SMALL, *self.settings, *options):
            command += ["-c", option]
        self.process = subprocess.Popen(
            command,
            user=unprivileged_user(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        deadline = time.monotonic() + _LONGEST_START
        while True:
            try:
                self.admin("postgres").close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def stop(self, kind: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT: at once, as `pg_ctl stop -m immediate`; SIGINT: `-m fast`."""
        if self.process is not None:
            self.process.send_signal(kind)
            self.process.wait(30)
            self.process = None

    def remove(self) -> None:
        self.stop()
        with suppress(OSError, subprocess.SubprocessError):
            self._run("rm", "-rf", str(self.folder))

    def create(
        self,
        database: str,
        layouts: Sequence[migrations.Migration] = (),
        tablespace: str = "pg_default",
    ) -> None:
        """A database with the tables of a store."""
        with self.admin("postgres") as db:
            db.execute(f"CREATE DATABASE {database} TABLESPACE {tablespace}")  # type: ignore[arg-type]
        connection = PostgresConnection(self.address("postgres", database=database))
        migrations.upgrade(connection, layouts or migrations.MIGRATIONS)
        connection.close()

    def url(self, role: str = "tester", database: str = "zkchat") -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='')}"

    def address(
        self, role: str = "tester", user: str = "", database: str = "zkchat"
    ) -> ServerAddress:
        return read_address(self.url(role, database), user, allow_insecure=False)

    def new_user(self) -> str:
        """A user who has nothing stored: each test is somebody else, in the same tables."""
        return f"user{next(self._names)}"

    def admin(self, database: str = "zkchat") -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self.url("postgres", database), autocommit=True)

    def _program(self, name: str) -> Path:
        folder = programs()
        assert folder is not None
        return folder / name

    def _run(self, name: str, *arguments: str) -> None:
        program = self._program(name) if name == "initdb" else name
        subprocess.run(
            [str(program), *arguments],
            user=unprivileged_user(),
            check=True,
            capture_output=True,
            cwd="/",
        )
