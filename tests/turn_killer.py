"""Turns of real processes that are killed, stopped, interleaved or many: `python turn_killer.py
[KILLS] [TURNS]` runs the long form.

It prints how the kills in each phase and at random moments ended, whether two chats and a third
process in one conversation lost anything, and a table of one long chat. `python turn_killer.py
phases FOLDER TIMES` is the part that stops itself in each phase.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from conftest import NOTES, Program, fork_server_address, write_notes
from fork_server import ProgramRun, load_program
from terminal_screen import Chat

from zkchat_cli.cli.app import run
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.repair import check_store

ANSWER = "The roof leaks where a slate is broken."
SCRIPT = (
    '{"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "filter"}}]}\n'
    '{"deltas": ["The roof leaks ", "where a slate ", "is broken."], "delay_ms": 4}\n'
)
SLOW_SCRIPT = SCRIPT.replace('"delay_ms": 4', '"delay_ms": 150')


def a_program(folder: Path, script: str = SCRIPT) -> Program:
    """zkchat in a vault of its own; its model plays the script."""
    (folder / "script.jsonl").write_text(script)
    program = Program(write_notes(folder / "notes", NOTES), folder / "home")
    program.env |= {
        "ZKCHAT_MODEL": f"scripted/{folder / 'script.jsonl'}",
        "ZKCHAT_SEMANTIC__PROVIDER": "none",
    }
    return program


def store_file(program: Program) -> Path:
    return program.home / "data" / "conversations.db"


def keyboard_with(program: Program, text: str) -> int:
    """A file to read this from, which nobody else finds."""
    keyboard = program.vault.parent / "keyboard"
    keyboard.write_text(text)
    opened = os.open(keyboard, os.O_RDONLY)
    keyboard.unlink()
    return opened


def start(program: Program, *words: str, stdin: str = "") -> ProgramRun:
    """A run that reads this input; nobody reads what it prints."""
    streams = [keyboard_with(program, stdin), *(os.open(os.devnull, os.O_WRONLY) for _ in range(2))]
    return ProgramRun(
        fork_server_address(),
        list(words),
        program.environment,
        program.vault,
        streams,
        terminal=False,
    )


def whole_log(program: Program) -> list[ZkChatMessage]:
    """All messages. Fails if the store is damaged or a branch is broken."""
    check_store(store_file(program))
    with closing(ChatSessionStore.open(store_file(program))) as store:
        [conversation] = store.conversations()
        assert store.conversation(conversation.id).head_id in {
            message.id for message in store.history(conversation.id)
        }
        return list(store.log(conversation.id))


def check_turns(log: Sequence[ZkChatMessage]) -> Counter[str]:
    """How many questions have which status. Fails for half a turn: an answer is whole, and a
    complete question has one.
    """
    answered = {message.parent_id for message in log if message.role != "user"}
    for message in log:
        assert message.status != "damaged"
        if message.role == "user":
            assert (message.status == "complete") == (message.id in answered), message
        if message.role == "assistant":
            assert message.content in ("", ANSWER), message
    return Counter(message.status for message in log if message.role == "user")


def kill_turns(program: Program, lives: int) -> Counter[str]:
    """Kill `ask` and `chat` at random moments; every fourth is stopped, and goes on. Returns how
    the questions ended.
    """
    chance = random.Random(7)
    assert program("ask", "How is it?").exit_status == 0
    begin = time.monotonic()
    assert program("ask", "-c", "How is it now?").exit_status == 0
    usual = time.monotonic() - begin
    for life in range(lives):
        chatting = life % 2 == 0
        run = (
            start(program, "chat", "-c", stdin=f"q{life} a\nq{life} b\n")
            if chatting
            else start(program, "ask", "-c", f"q{life}")
        )
        time.sleep(chance.random() * usual * (2 if chatting else 1))
        if life % 4 == 3:
            _send(run, signal.SIGSTOP)
            time.sleep(0.02)
            _send(run, signal.SIGCONT)
            assert run.end() == 0
            assert any(
                message.content == f"q{life}" and message.status == "complete"
                for message in whole_log(program)
            )
        else:
            _send(run, signal.SIGKILL)
            run.end()
        check_turns(whole_log(program))
    return check_turns(whole_log(program))


def _send(run: ProgramRun, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it was faster
        os.kill(run.pid, number)


ASK = ("ask", "-c", "--answer-only", "How is it?")
PHASES = {
    "index": ("vault/note_parser.py", "parse_note", 3, ASK),
    "compaction": (
        "summarization/extractive.py",
        "extract_summary",
        1,
        ("context", "compact", "--keep", "2"),
    ),
    "question stored": ("store/sqlite/messages.py", "_add_mentions", 1, ASK),
    "prompt": ("context/prompt_assembly.py", "assemble_prompt", 1, ASK),
    "first token": ("llm/providers/scripted.py", "stream", 1, ASK),
    "tool": ("chat/tool_executor.py", "run_call", 1, ASK),
    "stream": ("llm/providers/scripted.py", "stream", 5, ASK),
    "turn stored": ("store/sqlite/messages.py", "_add_mentions", 4, ASK),
    "compaction stored": (
        "store/sqlite/compactions.py",
        "insert",
        1,
        ("context", "compact", "--keep", "2"),
    ),
}
"""What a process runs in each phase: a file of the package, a function in it, which of its calls,
and the command that gets there.
"""


def signal_in_phases(program: Program, times: int = 1) -> None:
    """Kill a process in each phase, and stop another, which goes on; `times` times, each a few
    steps further into the phase.
    """
    # Their imports take 3 of 4 seconds
    others = ("acp", "gui", "mcp", "llm.gateways", "tools.note_tool_caller")
    load_program(without=tuple(f"zkchat_cli.{each}" for each in others), prepares_all=False)
    for question in (("ask", "--answer-only", "How is it?"), ASK, ASK):
        assert (
            os.waitpid(_start_until(program, ("", "", -1), 0, signal.SIGKILL, question), 0)[1] == 0
        )
    for step in range(times):
        for phase, (*place, words) in PHASES.items():
            for number in (signal.SIGKILL, signal.SIGSTOP):
                shutil.rmtree(program.home / "cache", ignore_errors=True)
                child = _start_until(program, place, 7 * step, number, words)
                status = os.waitpid(child, os.WUNTRACED)[1]
                if number == signal.SIGSTOP:
                    assert os.WIFSTOPPED(status), (phase, status)
                    os.kill(child, signal.SIGCONT)
                    status = os.waitpid(child, 0)[1]
                ended = os.waitstatus_to_exitcode(status)
                log = whole_log(program)
                print(phase, signal.Signals(number).name, ended, dict(check_turns(log)), flush=True)
                assert ended == (-number if number == signal.SIGKILL else 0), (phase, ended)
                assert number == signal.SIGKILL or words != ASK or log[-1].content == ANSWER, phase


def _start_until(
    program: Program, place: Sequence[Any], steps: int, number: signal.Signals, words: Sequence[str]
) -> int:
    """Run the program in a child, which sends itself a signal so many steps after it has come to
    this place; its process id.
    """
    if child := os.fork():
        return child
    file, function, calls = place

    def count_down(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls, steps
        if (
            calls
            and event == "call"
            and frame.f_code.co_name == function
            and frame.f_code.co_filename.endswith(file)
        ):
            calls -= 1
        elif not calls:
            steps -= 1
        if not calls and steps <= 0:
            sys.setprofile(None)
            os.kill(os.getpid(), number)

    os.environ.clear()
    os.environ.update(program.environment)
    os.chdir(program.vault)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    sys.argv = ["zkchat", *words]
    sys.setprofile(count_down)
    try:
        os._exit(run())
    except SystemExit as end:
        os._exit(int(end.code or 0))
    finally:
        traceback.print_exc()
        os._exit(1)


def kill_chats(program: Program) -> Counter[str]:
    """Kill a chat in a terminal before a word came, in the stream, at its prompt and while a line
    is typed; stop another in the stream.
    """
    moments = {
        "before a word": "before a word",
        "in the stream": "The roof leaks",
        "at the prompt": ANSWER,
        "typing": ANSWER,
        "stopped": "The roof",
    }
    assert program("ask", "How is it?").exit_status == 0
    for moment, seen in moments.items():
        with Chat(program, "-c") as chat:
            chat.say(moment)
            chat.wait_for(seen)
            if moment in ("at the prompt", "typing"):
                chat.wait_for_prompt()
            if moment == "typing":
                chat.type("half a line")
                chat.wait_for("half a line")
            chat.kill(signal.SIGSTOP if moment == "stopped" else signal.SIGKILL)
            if moment == "stopped":
                time.sleep(0.1)
                chat.kill(signal.SIGCONT)
                chat.wait_for_prompt()
                chat.ask("again", ANSWER)
            else:
                assert chat.wait_for_end() == 128 + signal.SIGKILL
        asked = {
            message.content: message.status
            for message in whole_log(program)
            if message.role == "user"
        }
        unanswered = moment in ("before a word", "in the stream")
        assert asked.get(moment, "pending") == ("pending" if unanswered else "complete"), asked
    return check_turns(whole_log(program))


def interleave(program: Program, turns: int) -> Counter[str]:
    """Two chats of so many turns in one conversation, and other processes that ask in it meanwhile.
    Returns how the questions ended.
    """
    assert program("ask", "How is it?").exit_status == 0
    [conversation] = program("sessions", "list", "--json").json
    lines = ["".join(f"{name} {turn}\n" for turn in range(turns)) for name in ("left", "right")]
    chats = [start(program, "chat", "--resume", conversation["id"], stdin=each) for each in lines]
    asked = 0
    while not all(chat.ended() for chat in chats):
        assert program("ask", "--cid", conversation["id"], f"between {asked}").exit_status == 0
        asked += 1
    assert [chat.end() for chat in chats] == [0, 0]
    log = whole_log(program)
    questions = {message.content for message in log if message.role == "user"}
    assert questions == {
        "How is it?",
        *"".join(lines).splitlines(),
        *(f"between {n}" for n in range(asked)),
    }
    return check_turns(log)


def measure(pid: int) -> tuple[int, int, int]:
    """Memory in MB, open files and threads of a process."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return (
        int(status["VmRSS"].split()[0]) // 1000,
        len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208
        int(status["Threads"]),
    )


def chat_long(
    program: Program, turns: int, show: Callable[[str], None]
) -> list[tuple[int, int, int]]:
    """One chat of so many turns: what it uses after a tenth of them, two tenths …"""
    command = [sys.executable, "-m", "zkchat_cli", "chat"]
    rows = []
    keyboard = keyboard_with(
        program, "".join(f"What about roof {turn}?\n" for turn in range(turns))
    )
    streams = {"stdin": keyboard, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        command, **streams, env=program.environment, cwd=program.vault, text=True
    ) as chat:
        os.close(keyboard)
        assert chat.stdout
        answers = 0
        begin = time.monotonic()
        for line in chat.stdout:
            answers += line.count(ANSWER)
            if ANSWER in line and answers % (turns // 10) == 0:
                rows.append(measure(chat.pid))
                show(
                    "| {:,} | {} MB | {} | {} | {:.0f} ms |".format(
                        answers, *rows[-1], 10_000 * (time.monotonic() - begin) / turns
                    )
                )
                begin = time.monotonic()
    assert (chat.returncode, answers) == (0, turns)
    return rows


def main() -> None:
    if sys.argv[1:2] == ["phases"]:
        signal_in_phases(a_program(Path(sys.argv[2])), int(sys.argv[3]))
        return
    kills, turns = (int(word) for word in (*sys.argv[1:], "200", "10000")[:2])
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for name in ("phases", "terminal", "kills", "interleaved", "long"):
            Path(folder, name).mkdir()
            programs[name] = a_program(
                Path(folder, name), SLOW_SCRIPT if name == "terminal" else SCRIPT
            )
        signal_in_phases(programs["phases"], 5)
        print(
            f"killed and stopped in a terminal: {dict(kill_chats(programs['terminal']))}",
            flush=True,
        )
        print(f"{kills} kills and stops: {dict(kill_turns(programs['kills'], kills))}", flush=True)
        interleaved = interleave(programs["interleaved"], min(500, turns))
        print(
            f"two chats of 500 turns and others in one conversation: {dict(interleaved)}",
            flush=True,
        )
        print(
            "| turns | memory | open files | threads | a turn |\n|---|---|---|---|---|", flush=True
        )
        chat_long(programs["long"], turns, lambda row: print(row, flush=True))


if __name__ == "__main__":
    main()
