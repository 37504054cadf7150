"""How fast and how large zkchat is, each figure beside a floor measured in the same run: `python
tests/bench/run.py [--notes 1000]`.

A floor is what no program could do without: the imports alone, bare SQLite, tiktoken alone, a plain
walk over the files. So a slow or a busy machine shows as a slow floor, and the ratio is the figure
to compare over time. Goals are the project's own; "over" fails nothing.
"""

import argparse
import gc
import json
import os
import platform
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import citations
import echo
import mcp_server
import models
import pexpect
import prompts
import screen
import store
import summary
import vault
import vaults
from ground import PYTHON, STORE, ZKCHAT, Ground, bare, insert, walk
from measuring import Goal, Row, in_turns, table, timed

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.chat.tool_executor import ToolExecutor
from zkchat_cli.cli.app import GC_THRESHOLDS
from zkchat_cli.events import TextDelta, TurnCompleted
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.tokens.counter import TokenCounter, open_encoder
from zkchat_cli.tokens.encodings import load_vocabulary

SEED = 7
COMPACTING = {
    "none": "turns that do not compact",
    "masked": "turns that mask old results",
    "extractive": "turns that fold into a summary",
}
WHERE_IS_THE_CURSOR = "\x1b[6n"
IN_ROW_2 = "\x1b[2;1R"
"""What a terminal is asked, and what it answers: without an answer there is no toolbar."""
LIBRARIES = "import sqlite3, typer, zkchat_cli.models.reports"


def starting(ground: Ground) -> Iterator[Row]:
    """Processes, first of all: while this one is still small, forking is cheap."""
    of_vault = ("--vault", str(ground.vault))

    def time_until_shown(text: str, command: Sequence[str], _: int) -> float:
        begin = time.perf_counter()
        child = pexpect.spawn(
            command[0], list(command[1:]), env=ground.env, encoding="utf-8", dimensions=(30, 100)
        )
        child.delaybeforesend = None  # a terminal answers at once
        while child.expect_exact([WHERE_IS_THE_CURSOR, text], timeout=60) == 0:
            child.send(IN_ROW_2)
        seconds = time.perf_counter() - begin
        child.kill(signal.SIGKILL)
        child.close()
        return 1000 * seconds

    def run(command: Sequence[str], _: int) -> None:
        ground.run(*command)

    typer = timed(partial(run, (*PYTHON, "import typer")))
    for option in ("--help", "--version"):
        command = (*ZKCHAT, option)
        figures = in_turns(timed(partial(run, command)), typer, ground.times(20))
        yield Row(f"zkchat {option}", *figures, "import typer", Goal(2, "ratio"))
    ground.run(*ZKCHAT, "vault", "index", *of_vault)
    imports = "import typer, rich, prompt_toolkit"
    ready = (*PYTHON, f"{imports}; print('ready', flush=True)")
    for what, text, goal in (
        ("prompt", "you ›", Goal(300, "median")),
        ("budget bar", "%", Goal(2.5, "ratio")),
    ):
        figures = in_turns(
            partial(time_until_shown, text, (*ZKCHAT, "chat", *of_vault)),
            partial(time_until_shown, "ready", ready),
            ground.times(20),
        )
        yield Row(f"{what} visible", *figures, imports, goal)

    ask = (*ZKCHAT, "ask", ground.words.question(), "--json", *of_vault)
    imports = "import typer, rich, prompt_toolkit, pydantic"
    by_words = {**ground.env, "ZKCHAT_SEMANTIC__PROVIDER": "none"}

    def processor_time(*command: str) -> float:
        """In ms, user's and system's."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ground.run(*command, env=by_words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    figures = in_turns(
        lambda _: processor_time(*ask), lambda _: processor_time(*PYTHON, imports), ground.times(10)
    )
    yield Row("processor time of ask, by words", *figures, imports, Goal(2.2, "ratio"))
    builds = range(ground.repetitions(3, large=1))
    for what, homes in (
        ("first ask", [ground.fresh() for _ in builds]),
        ("ask", [ground.home for _ in builds]),
    ):
        figures = ground.peaks(homes, ask, LIBRARIES)
        yield Row(f"peak memory, {what}", *figures, "typer, models", Goal(200, "median"), "MB")


def counting(ground: Ground) -> Iterator[Row]:
    texts = ["".join(ground.words.sentence() for _ in range(20))[:500] for _ in range(401)]
    for what, load in (("", load_vocabulary), (", before the vocabulary is loaded", open_encoder)):
        figures = in_turns(
            timed(TokenCounter(load=load).count),
            timed(load_vocabulary("o200k_base").encode_ordinary),
            texts,
        )
        yield Row(
            f"tokens of 500 characters{what}", *figures, "tiktoken encode_ordinary", Goal(1, "p95")
        )


def storing(ground: Ground, archive: ConversationArchive) -> Row:
    """A turn as a session stores it: the question, then all that answers it; the floor writes the
    same bytes in as many transactions.
    """
    store = ChatSessionStore.open(ground.fresh())
    floor = bare(ground, STORE)
    talk = archive.conversation.id
    store.start(archive.conversation.model_copy(update={"head_id": None}))
    turns = [archive.messages[i : i + 4] for i in range(0, len(archive.messages), 4)]
    dumped = {turn[0].id: [(m.id, m.model_dump_json()) for m in turn] for turn in turns}

    def store_turn(turn: tuple[ZkChatMessage, ...]) -> None:
        store.add(talk, turn[0])
        store.commit(talk, turn[0], turn[1:], updated_at=turn[0].timestamp, title="t")

    def insert_twice(turn: tuple[ZkChatMessage, ...]) -> None:
        insert(floor, dumped[turn[0].id][:1])
        insert(floor, dumped[turn[0].id][1:])

    return Row(
        "store a turn",
        *in_turns(timed(store_turn), timed(insert_twice), turns),
        "two bare transactions",
    )


def talking(ground: Ground, what: str, session: ZkChatSession) -> Iterator[Row]:
    """Turns in one growing conversation, by the session's own timings and by a clock outside it;
    those that compact are told apart, too.

    What comes after the answer's last word (citations, storing, a compaction that is due) is told
    apart, too: it is done while the answer is read, and only the next prompt waits for it.

    By the session's clock the user thinks for ten seconds before each message, so that each finds
    the last scan of the vault stale. In a chat the session looks ahead while the message is typed
    (see terminal/startup.py); here it does before every second one, and the other ones look at the
    vault themselves, as one that was written elsewhere and pasted.
    """
    thought = 0.0
    services = replace(session.services, clock=lambda: time.perf_counter() + thought)
    session = ZkChatSession(services, session.runtime, session.conversation)
    database = bare(ground, STORE)
    encoder = load_vocabulary("o200k_base")

    def least(report: TurnReport) -> None:
        encoder.encode_ordinary(question + report.answer)
        insert(database, [(f"before {report.message_id}", question)])
        insert(database, [(report.message_id, report.model_dump_json())])

    typed: list[TypedMessage] = []
    pasted: list[float] = []
    walks: list[float] = []
    for number, question in enumerate(ground.words.question() for _ in ground.times(200)):
        thought += 10
        if number % 2 == 1:
            report = time_turn(session, question).report
            walks.append(timed(lambda _: walk(ground.vault))(None))
            pasted.append(report.timings_ms["overhead"])
            continue
        session.look_ahead()
        turn = time_turn(session, question)
        typed.append(TypedMessage(turn, timed(least)(turn.report)))
    yield from rows_of_typed(what, typed)
    yield Row("  pasted: the vault is looked at first", pasted, walks, "walk over the files")


class TimedTurn(NamedTuple):
    """A turn, with milliseconds by a clock outside the session."""

    report: TurnReport
    whole: float
    after_last_word: float

    @property
    def overhead(self) -> float:
        return self.report.timings_ms["overhead"]


class TypedMessage(NamedTuple):
    """The turn of a message that was typed, and the floor: the milliseconds of the least work."""

    turn: TimedTurn
    floor: float


def time_turn(session: ZkChatSession, question: str) -> TimedTurn:
    begin = time.perf_counter()
    said = begin
    for last in session.send(question):
        if isinstance(last, TextDelta):
            said = time.perf_counter()
    end = time.perf_counter()
    assert isinstance(last, TurnCompleted), last
    return TimedTurn(last.report, 1000 * (end - begin), 1000 * (end - said))


def rows_of_typed(what: str, typed: Sequence[TypedMessage]) -> Iterator[Row]:
    turns = [message.turn for message in typed]
    overhead = [turn.overhead for turn in turns]
    floor = [message.floor for message in typed]
    yield Row(
        f"overhead a message, {what}", overhead, floor, "count, two transactions", Goal(10, "p95")
    )
    for part in ("prepare", "store"):
        yield Row(f"  {part}", [turn.report.timings_ms[part] for turn in turns])
    outside: list[float] = []
    for turn in turns:
        took = turn.report.timings_ms
        outside.append(turn.whole - took["model"] - took["tools"])
    yield Row("  all, timed outside", outside)
    before = [turn.overhead - turn.after_last_word for turn in turns]
    yield Row("  until the answer's last word", before)
    yield Row("  after it", [turn.after_last_word for turn in turns])
    by_mode: dict[str, list[float]] = {}
    for turn in turns:
        compaction = turn.report.compaction
        mode = compaction.mode if compaction is not None else "none"
        by_mode.setdefault(mode, []).append(turn.overhead)
    for name, told in COMPACTING.items():
        if name in by_mode:
            yield Row(f"  {told}", by_mode[name])


def conversing(ground: Ground) -> Iterator[Row]:
    bench = factory.open_app(
        StartupOptions(vault=ground.vault, model="offline"), ground.env, ground.vault
    )
    new = bench.session()
    toolbox = ToolExecutor(
        new.runtime.tools, bench.vault, new.state.references, bench.counter, time.perf_counter
    )
    archive = vaults.conversation(
        ground.turns, ground.words, toolbox, str(bench.vault.root), factory.new_id
    )
    yield storing(ground, archive)
    bench.store.start(new.conversation)
    yield from talking(ground, "new conversation", bench.session(new.conversation))
    for times in (1, 10):
        turns = times * ground.turns
        bench.store.restore([again := prompts.said_again(archive, turns)])
        session = bench.session(again.conversation)
        yield from talking(ground, f"after {turns} turns", session)
    bench.close()


PARTS: dict[str, Callable[[Ground], Iterator[Row]]] = {
    "start": starting,
    "echo": echo.figures,
    "tokens": counting,
    "citations": citations.figures,
    "mcp": mcp_server.figures,
    "screen": screen.figures,
    "conversation": conversing,
    "prompts": prompts.figures,
    "models": models.figures,
    "summary": summary.figures,
    "store": store.figures,
    "vault": vault.figures,  # last, because it changes notes
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure zkchat beside its floors.")
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument(
        "--turns",
        type=int,
        help="turns of the imported conversation; default 1000, or 20 in a quick run",
    )
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="this part alone; may be given again"
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run at all?")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    gc.set_threshold(*GC_THRESHOLDS)  # as the program has it
    turns = chosen.turns or (20 if chosen.quick else 1000)
    with tempfile.TemporaryDirectory(prefix="zkchat-bench-") as folder:
        ground = Ground(
            Path(folder).resolve(), chosen.notes, turns, chosen.quick, vaults.Words(SEED)
        )
        print(f"writing {chosen.notes} notes …", file=sys.stderr, flush=True)
        vaults.write(ground.vault, ground.notes, ground.words)
        measured: list[Row] = []
        for name, part in PARTS.items():
            if not chosen.only or name in chosen.only:
                print(f"{name} …", file=sys.stderr, flush=True)
                for row in part(ground):
                    print(f"  {row.what}", file=sys.stderr, flush=True)
                    measured.append(row)
    machine = (
        f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}"
    )
    if chosen.json:
        document = {
            "machine": machine,
            "notes": chosen.notes,
            "turns": turns,
            "rows": [row.as_document() for row in measured],
        }
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print(f"{machine}\n{chosen.notes} notes; figures are median / p95\n\n{table(measured)}")


if __name__ == "__main__":
    main()
