"""Fixtures of all tests: a vault of a few real notes, a home folder for zkchat, and the command
line as a user runs it.
"""

import ast
import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from factories import AppFixture, make_app, open_store, open_vault, without_tracer
from fake_embedders import EmbeddingServers
from fork_server import run_piped, use_empty_certificates
from hypothesis import settings
from model_server import ModelServer, running_server
from postgres_server import MISSING, PostgresServer, programs
from pytest_httpserver import HTTPServer

from zkchat_cli import exporters
from zkchat_cli.context import strategies
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.vault.vault import Vault


def drop_root_override() -> None:
    """Make file permissions count for tests that run as root, and for the programs that they
    start.
    """
    # capabilities(7): CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    libc = ctypes.CDLL(None)
    override = 1
    search = 2
    for capability in (override, search):
        # PR_CAPBSET_DROP: for programs started from here
        libc.prctl(24, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for i in range(3):  # effective, permitted, inheritable
        sets[i] &= ~(1 << override | 1 << search)
    libc.capset(header, sets)


READS_EVERYTHING = os.geteuid() == 0
"""Whether file permissions mean nothing here."""
if (
    READS_EVERYTHING
    and sys.platform == "linux"
    and all(folder.stat().st_uid == 0 for folder in (Path.cwd(), Path(__file__).parent))
):
    drop_root_override()
    READS_EVERYTHING = False
needs_permissions = pytest.mark.skipif(READS_EVERYTHING, reason="root may read everything")
# `pytest &` in a script ignores it, and what it starts would, too
signal.signal(signal.SIGINT, signal.default_int_handler)
# People see their own clock's time, and tests must know which that is
os.environ["TZ"] = "UTC"
time.tzset()
# Started programs would compile the package each time, 0.7 s instead of 0.4
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
use_empty_certificates()
settings.register_profile("people", deadline=None, max_examples=30)
# The same examples each time; people find new ones
settings.register_profile("ci", settings.get_profile("people"), derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") else "people")

MEMORY = Path("/dev/shm")
# A container's may be tiny
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2**30:
    # For `tmp_path`: waiting for a disk proves nothing here
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

NOTES = {
    "Filters.md": """---
aliases: [Search conditions]
description: How to say which tasks you want to see.
---
# Filters

A filter is a line that says which tasks you want to see. See [[Combining]] for more.

## Dates

The filter `due today` finds tasks that are due today.
""",
    "Queries/Combining.md": """# Combining

Filters can be joined with AND, OR and NOT, which must be written in capitals.
Each condition stands in its own brackets.

## Nesting

You can nest brackets as deep as you like.
""",
    "Queries/Limiting.md": """Limiting shows only the first results of a query.

Write `limit 10` to see ten tasks at most.
""",
    "Garden/Compost.md": """# Compost

A compost heap needs air, water and patience. It is ready after nine months.
""",
}


COSTLY = frozenset({"PostgresServer", "PostgresStore", "Syntax", "call_model", "open_model"})
"""What tests import that need a server, the package's syntax or a provider's library. Each takes
seconds to make.
"""
TRACED_CASES = 60
"""Of each test with parameters, so many cases of a process run with coverage's tracer."""

FORK_SERVER = str(Path(__file__).with_name("fork_server.py"))
ABOUT_PYTHON = ("PYTHON", "LANG", "LC_", "TIKTOKEN", "PATH")


@dataclass(frozen=True)
class ProgramResult:
    """A finished run of the program."""

    exit_status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Program:
    """zkchat in a process of its own: `zkchat("ask", "what is a filter?")` runs it in the vault
    with a home folder of its own.

    Search by meaning is off unless `env` turns it on: loading a model takes longer than most tests.

    Coverage is not measured there: it would take twice as long, and a process that is killed may
    leave a broken record of it. What such a process runs is measured where tests run it in their
    own.
    """

    vault: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)
    fresh: bool = False
    """Whether Python starts anew for each run, as at a user's (see fork_server.py); it does where
    `env` is about Python itself.
    """

    @property
    def environment(self) -> dict[str, str]:
        own = ("ZKCHAT", "OLLAMA_", "LLAMA_", "OPENAI_", "ANTHROPIC_", "NO_COLOR")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(own)}
        return {
            **clean,
            "ZKCHAT_HOME": str(self.home),
            "ZKCHAT_SEMANTIC__PROVIDER": "none",
            **self.env,
        }

    def starts_anew(self, env: dict[str, str] | None = None) -> bool:
        return self.fresh or any(
            name.startswith(ABOUT_PYTHON) for name in (*self.env, *(env or ()))
        )

    def __call__(
        self,
        *arguments: object,
        stdin: str | bytes = "",
        cwd: Path | None = None,
        timeout: float = 60,
    ) -> ProgramResult:
        words = [*map(str, arguments)]
        keyboard = stdin.encode() if isinstance(stdin, str) else stdin
        folder = cwd or self.vault
        if self.starts_anew():
            command = [sys.executable, "-m", "zkchat_cli", *words]
            done = subprocess.run(
                command,
                input=keyboard,
                capture_output=True,
                env=self.environment,
                cwd=folder,
                timeout=timeout,
                check=False,
            )
        else:
            done = run_piped(
                fork_server_address(), words, self.environment, folder, keyboard, timeout
            )
        return ProgramResult(done.returncode, done.stdout.decode(), done.stderr.decode())


SHARED = "ZKCHAT_TESTS_FORK_SERVER"
"""The variable that names the folder of a fork server for all processes of `pytest -n`: loading one
takes 4 s.
"""


def start_fork_server() -> str:
    """The folder of a zkchat that is being loaded; it ends with these tests."""
    folder = tempfile.mkdtemp(prefix="zkchat-")
    with Path(folder, "printed").open("wb") as printed:
        server = subprocess.Popen(
            [sys.executable, FORK_SERVER, f"{folder}/program"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.wait)
    atexit.register(server.kill)
    return folder


@cache
def fork_server_folder() -> Path:
    """Where a loaded zkchat waits at `program`; `printed` has what was written while it was
    loaded.
    """
    folder = Path(os.environ.get(SHARED) or start_fork_server())
    # On a machine with much else to do
    patient_until = time.monotonic() + 200
    while not (folder / "program").exists():
        printed = (folder / "printed").read_text()
        assert "Traceback" not in printed and time.monotonic() < patient_until, printed
        time.sleep(0.01)
    return folder


def fork_server_address() -> str:
    return str(fork_server_folder() / "program")


class ModuleSyntax(NamedTuple):
    """The syntax tree of a module, and all of its nodes."""

    tree: ast.Module
    nodes: tuple[ast.AST, ...]


Syntax = dict[str, ModuleSyntax]
"""Of each module, by its path in the package."""


@pytest.fixture(scope="session")
def syntax() -> Syntax:
    """The syntax of the package. To read it takes most of the time of a test that looks at it, so
    these tests come first: one process runs them all.
    """
    package = Path(exporters.__file__).parent.parent
    found: Syntax = {}
    with without_tracer(), _without_collector():
        for file in sorted(package.rglob("*.py")):
            tree = ast.parse(file.read_bytes())
            name = file.relative_to(package).as_posix()
            found[name] = ModuleSyntax(tree, tuple(ast.walk(tree)))
    return found


def write_notes(folder: Path, notes: Mapping[str, str | bytes]) -> Path:
    """A vault of these notes."""
    for name, text in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests of a process; they are skipped where there is none."""
    if programs() is None:
        pytest.skip(MISSING)
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def vault(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The notes of all tests, and those that the test's own file has as `VAULT`."""
    own: Mapping[str, str] = getattr(request.module, "VAULT", {})
    return write_notes(tmp_path / "notes", {**NOTES, **own})


@pytest.fixture
def notes(vault: Path, tmp_path: Path) -> Iterator[Vault]:
    """These notes, with their index."""
    with closing(open_vault(vault, tmp_path / "cache")) as opened:
        yield opened


@pytest.fixture
def app(vault: Path, tmp_path: Path) -> Iterator[AppFixture]:
    """Sessions on these notes, with a store of their own."""
    with closing(make_app(vault, tmp_path / "cache", tmp_path / "store.db")) as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatSessionStore]:
    with closing(open_store(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture
def zkchat(vault: Path, tmp_path: Path) -> Program:
    return Program(vault, tmp_path / "home")


@pytest.fixture
def on_server(zkchat: Program, postgres: PostgresServer) -> Program:
    """zkchat with its conversations on the server, as a user who has none yet."""
    zkchat.env |= {
        "ZKCHAT_STORE__URL": postgres.url(),
        "ZKCHAT_STORE__USER": postgres.new_user(),
    }
    return zkchat


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Real servers are called only by `pytest -m real`."""
    return True if collection_path.name == "real" and "real" not in config.option.markexpr else None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With `-n 4`, each process begins with its own quarter of the files, so that it makes what the
    tests of a file share once; the faster ones take tests of the others at the end.
    """
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        os.environ[SHARED] = start_fork_server()
    # As the program has it
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Looking for cycles among thousands of tests was a third of finding them."""
    with _without_collector():
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Files that need something costly come first, so that one process makes it: with `-n 4`, each
    begins with a quarter of the list. Hypothesis reads the whole package here.
    """
    items.sort(key=lambda item: COSTLY.isdisjoint(vars(getattr(item, "module", item))))
    with without_tracer():
        return (yield)


def pytest_collection_finish() -> None:
    # Pure, and loaded when they are needed: that may be in a test without the tracer
    for package in (exporters, strategies):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    gc.freeze()  # tests and modules stay


def pytest_unconfigure() -> None:
    gc.collect()
    # Pytest collects five times more, to find errors in cycles: after the first time there is
    # nothing left
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Coverage's tracer would be most of the time of these tests: `untraced` and random ones try
    thousands of cases of what other tests measure, and of a test with many cases, a few run what
    all run. So the package's true coverage is a little more than the figure.
    """
    if _adds_no_coverage(item):
        with without_tracer():
            return (yield)
    return (yield)


def _adds_no_coverage(item: pytest.Item) -> bool:
    function = getattr(item, "function", None)
    if item.get_closest_marker("untraced") or getattr(function, "is_hypothesis_test", False):
        return True
    _cases_begun[function] += 1
    return _cases_begun[function] > TRACED_CASES


_cases_begun: Counter[object] = Counter()


@contextmanager
def _without_collector() -> Iterator[None]:
    """Without the collector of cycles, which is half of the time of making a million objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@pytest.fixture
def untraced() -> Iterator[None]:
    """Without coverage's tracer, which would be most of the time that is compared."""
    with without_tracer():
        yield


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """`script({"text": "Hello"}, …)` writes replies to a file and names the model that plays
    them.
    """

    def write_script(*replies: dict[str, Any]) -> str:
        file = tmp_path / "replies.jsonl"
        file.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
        return f"scripted/{file}"

    return write_script


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def embedding_servers(httpserver: HTTPServer) -> Iterator[EmbeddingServers]:
    """Ollama and OpenAI, offering the tests' embedding model."""
    yield EmbeddingServers(httpserver)
    httpserver.check_assertions()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure that shows half of a surrogate pair is told, too: it could not be sent from the
    process that ran the test.
    """
    report = yield
    if (
        report.longrepr is not None
        and not isinstance(report.longrepr, tuple)
        and _sendable(str(report.longrepr)) != str(report.longrepr)
    ):
        report.longrepr = _sendable(str(report.longrepr))
    report.sections = [(name, _sendable(text)) for name, text in report.sections]
    return report


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
