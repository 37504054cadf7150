"""How fast and how large zkchat is, each figure beside a floor measured in the same run: `python tests/bench/run.py [--notes 1000]`.

A floor is what no program could do without: the imports alone, bare SQLite, tiktoken alone, a plain walk over the files. So a slow or a
busy machine shows as a slow floor, and the ratio is the figure to compare over time. Goals are the project's own; "over" fails nothing.
"""

import argparse
import itertools
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pexpect
import vaults
from measuring import Goal, Row, in_turns, milliseconds, table

from zkchat_cli import wiring
from zkchat_cli.events import TurnCompleted
from zkchat_cli.models import ConversationArchive
from zkchat_cli.session import ZkChatSession
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.tokens import TokenCounter, load_vocabulary
from zkchat_cli.toolbox import Toolbox
from zkchat_cli.vault import Vault
from zkchat_cli.words import content_terms

SEED = 7
PYTHON = (sys.executable, "-c")
ZKCHAT = (sys.executable, "-m", "zkchat_cli")
LIBRARIES = "import sqlite3, typer, zkchat_cli.models, zkchat_cli.tokens as t; t.load_vocabulary('o200k_base')"
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))
"""
"""A small process between, in MB: a child begins with its parent's peak, and ours is large by then."""


@dataclass(frozen=True)
class Ground:
    """What is measured on, below one temporary folder."""

    folder: Path
    notes: int
    turns: int
    quick: bool
    words: vaults.Words
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def vault(self) -> Path:
        return self.folder / "notes"

    @property
    def env(self) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ZKCHAT") and k not in ("NO_COLOR", "TIKTOKEN_CACHE_DIR")}
        return {**clean, "ZKCHAT_HOME": str(self.folder / "home"), "TERM": "xterm-256color"}

    def times(self, full: int) -> int:
        return max(2, full // 20) if self.quick else full

    def fresh(self) -> Path:
        """A path that nobody has used yet."""
        return self.folder / str(next(self._numbers))


def starting(ground: Ground) -> Iterator[Row]:
    """Processes, first of all: while this one is still small, forking is cheap."""
    of_vault = ("--vault", str(ground.vault))

    def runs(*command: str) -> float:
        return milliseconds(lambda: subprocess.run(command, env=ground.env, stdout=subprocess.DEVNULL, check=True))

    def shows(text: str, *command: str) -> float:
        begin = time.perf_counter()
        child = pexpect.spawn(command[0], list(command[1:]), env=ground.env, encoding="utf-8", dimensions=(30, 100))
        child.expect_exact(text, timeout=60)
        shown = time.perf_counter()
        child.kill(signal.SIGKILL)
        child.close()
        return 1000 * (shown - begin)

    for option in ("--help", "--version"):
        figures = in_turns(lambda option=option: runs(*ZKCHAT, option), lambda: runs(*PYTHON, "import typer"), ground.times(20))
        yield Row(f"zkchat {option}", *figures, "import typer", Goal(2, "ratio"))
    runs(*ZKCHAT, "vault", "index", *of_vault)
    imports = "import typer, rich, prompt_toolkit"
    ready = (*PYTHON, f"{imports}; print('ready', flush=True)")
    figures = in_turns(lambda: shows("you ›", *ZKCHAT, "chat", *of_vault), lambda: shows("ready", *ready), ground.times(20))
    yield Row("prompt visible", *figures, imports, Goal(300, "median"))

    def peak(home: Path, *command: str) -> float:
        env = {**ground.env, "ZKCHAT_HOME": str(home)}
        return float(subprocess.run([*PYTHON, PEAK, *command], env=env, capture_output=True, check=True, text=True).stdout)

    ask = (*ZKCHAT, "ask", ground.words.question(), "--json", *of_vault)
    indexed = ground.folder / "home"
    for what, home in (("peak memory, first ask", ground.fresh), ("peak memory, ask", lambda: indexed)):
        figures = in_turns(lambda home=home: peak(home(), *ask), lambda: peak(indexed, *PYTHON, LIBRARIES), ground.times(3), warm=0)
        yield Row(what, *figures, "typer, models, vocabulary", Goal(200, "median"), "MB")


def counting(ground: Ground) -> Row:
    counter, encoder = TokenCounter(), load_vocabulary("o200k_base")
    texts = ["".join(ground.words.sentence() for _ in range(20))[:500] for _ in range(401)]
    mine, bare = iter(texts), iter(texts)
    figures = in_turns(
        lambda: milliseconds(lambda: counter.count(next(mine))), lambda: milliseconds(lambda: encoder.encode_ordinary(next(bare))), 400
    )
    return Row("tokens of 500 characters", *figures, "tiktoken encode_ordinary", Goal(1, "p95"))


def bare_database(file: Path, journal: str, synchronous: str, table: str) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = {journal}; PRAGMA synchronous = {synchronous}; CREATE {table}")
    return connection


def insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, str]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO texts VALUES (?, ?)", rows)
    connection.execute("COMMIT")


def store_floor(ground: Ground) -> sqlite3.Connection:
    return bare_database(ground.fresh(), "WAL", "FULL", "TABLE texts (id TEXT PRIMARY KEY, body TEXT)")


def walk(folder: Path) -> int:
    """The least that finds out whether a vault has changed: one scandir a folder, one stat a note."""
    with os.scandir(folder) as entries:
        return sum(walk(Path(entry.path)) if entry.is_dir() else entry.stat().st_mtime_ns & 1 for entry in entries)


def finding(ground: Ground) -> Iterator[Row]:
    texts = [(str(file), file.read_text(encoding="utf-8")) for file in ground.vault.rglob("*.md")]
    vaults_built, plain_ones = [], []

    def build() -> float:
        vaults_built.append(Vault.open(ground.vault, ground.fresh()))
        return milliseconds(vaults_built[-1].refresh)

    def build_plain() -> float:
        plain_ones.append(bare_database(ground.fresh(), "OFF", "OFF", "VIRTUAL TABLE texts USING fts5(path UNINDEXED, body)"))
        return milliseconds(lambda: insert(plain_ones[-1], texts))

    figures = in_turns(build, build_plain, ground.times(5), warm=0)
    many = max(ground.notes, 1000)  # the goals are 6 s for 10 000 notes and 1 s for 100 000; a few notes have the cost of any file
    yield Row(f"index {ground.notes} notes", *figures, "FTS5 inserts of the same text", Goal(0.6 * many, "median"))
    vault, plain = vaults_built[-1], plain_ones[-1]
    figures = in_turns(lambda: milliseconds(vault.refresh), lambda: milliseconds(lambda: walk(ground.vault)), ground.times(20))
    yield Row("refresh, nothing changed", *figures, "scandir and stat", Goal(0.01 * many, "median"))

    questions = [ground.words.question() for _ in range(ground.times(400) + 1)]
    mine, bare = iter(questions), iter(questions)

    def match(question: str) -> list[tuple[str, str]]:
        expression = " OR ".join(f'"{term}"' for term in dict.fromkeys(content_terms(question)))
        return plain.execute("SELECT path, body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (expression,)).fetchall()

    asking = (lambda: milliseconds(lambda: vault.search(next(mine))), lambda: milliseconds(lambda: match(next(bare))))
    yield Row("search, 10 results", *in_turns(*asking, len(questions) - 1), "FTS5 OR of the same words", Goal(20, "p95"))
    for opened in (*vaults_built, *plain_ones):
        opened.close()


def storing(ground: Ground, archive: ConversationArchive) -> Row:
    """A turn as a session stores it: the question, then all that answers it; the floor writes the same bytes in as many transactions."""
    store, bare = ChatSessionStore.open(ground.fresh()), store_floor(ground)
    talk = archive.conversation.id
    store.start(archive.conversation.model_copy(update={"head_id": None}))
    turns = [archive.messages[i : i + 4] for i in range(0, len(archive.messages), 4)]
    mine, dumped = iter(turns), iter([[(m.id, m.model_dump_json()) for m in turn] for turn in turns])

    def store_turn() -> float:
        user, *answer = next(mine)
        added = milliseconds(lambda: store.add(talk, user))
        return added + milliseconds(lambda: store.commit(talk, user, answer, updated_at=user.timestamp, title="t"))

    def insert_twice() -> float:
        question, *answer = next(dumped)
        return milliseconds(lambda: insert(bare, [question])) + milliseconds(lambda: insert(bare, answer))

    figures = in_turns(store_turn, insert_twice, len(turns) - 1)
    store.close()
    bare.close()
    return Row("store a turn", *figures, "two bare transactions")


def talking(ground: Ground, what: str, session: ZkChatSession) -> Iterator[Row]:
    """Turns in one growing conversation, by the session's own timings and by a clock outside it.

    By the session's clock the user thinks for ten seconds before each message, so that each finds the last scan of the vault stale.
    """
    thought = 0.0
    parts = replace(session.parts, clock=lambda: time.perf_counter() + thought)
    session, bare, encoder = ZkChatSession(parts, session.conversation), store_floor(ground), load_vocabulary("o200k_base")
    figures: list[tuple[float, ...]] = []

    def floor(question: str, answer: str, report: str, id_: str) -> None:
        walk(ground.vault)
        encoder.encode_ordinary(question + answer)
        insert(bare, [(f"question {id_}", question)])
        insert(bare, [(id_, report)])

    for question in [ground.words.question() for _ in range(ground.times(100))]:
        thought += 10
        begin = time.perf_counter()
        last = list(session.send(question))[-1]
        outside = 1000 * (time.perf_counter() - begin)
        assert isinstance(last, TurnCompleted), last
        took, said = last.report.timings_ms, (question, last.report.answer, last.report.model_dump_json(), last.report.message_id)
        least = milliseconds(lambda said=said: floor(*said))
        figures.append((took.overhead, took.prepare, took.store, outside - took.model - took.tools, least))
    bare.close()
    overhead, prepare, store, by_outside, floors = zip(*figures, strict=True)
    yield Row(f"overhead a message, {what}", overhead, floors, "walk, count, two transactions", Goal(50, "p95"))
    yield from (Row(f"  {part}", values) for part, values in (("prepare", prepare), ("store", store), ("all, timed outside", by_outside)))


def conversing(ground: Ground) -> Iterator[Row]:
    bench = wiring.open_bench(wiring.Choices(vault=ground.vault, model="offline"), ground.env, ground.vault)
    new = bench.session()
    toolbox = Toolbox(new.parts.tools, bench.vault, new.manager, bench.counter, time.perf_counter)
    archive = vaults.conversation(ground.turns, ground.words, toolbox, str(bench.vault.root), wiring.new_id)
    yield storing(ground, archive)
    bench.store.start(new.conversation)
    yield from talking(ground, "new conversation", bench.session(new.conversation))
    yield from talking(ground, f"after {ground.turns} turns", bench.session(bench.store.restore(archive, wiring.new_id)))
    bench.close()


def rows(ground: Ground, tell: Callable[[str], object]) -> Iterator[Row]:
    tell(f"writing {ground.notes} notes")
    vaults.write(ground.vault, ground.notes, ground.words)
    tell("measuring processes")
    yield from starting(ground)
    tell("measuring tokens, index and search")
    yield counting(ground)
    yield from finding(ground)
    tell("measuring conversations")
    yield from conversing(ground)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure zkchat beside its floors.")
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--turns", type=int, help="turns of the imported conversation; default 1000, or 20 in a quick run")
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run at all?")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    turns = chosen.turns or (20 if chosen.quick else 1000)
    with tempfile.TemporaryDirectory(prefix="zkchat-bench-") as folder:
        ground = Ground(Path(folder).resolve(), chosen.notes, turns, chosen.quick, vaults.Words(SEED))
        measured = list(rows(ground, lambda doing: print(f"{doing} …", file=sys.stderr, flush=True)))
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if chosen.json:
        document = {"machine": machine, "notes": chosen.notes, "turns": turns, "rows": [row.as_document() for row in measured]}
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print(f"{machine}\n{chosen.notes} notes; figures are median / p95\n\n{table(measured)}")


if __name__ == "__main__":
    main()
