"""Turns of real processes that are killed, stopped, interleaved or many: `python turn_killer.py [KILLS] [TURNS]` runs the long form.

It prints how the kills ended, whether two chats and a third process in one conversation lost anything, and a table of one long chat.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from conftest import NOTES, Program, fork_server_address, write_notes
from fork_server import ProgramRun

from zkchat_cli.models import ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.repair import check_store

ANSWER = "The roof leaks where a slate is broken."
SCRIPT = (
    '{"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "filter"}}]}\n'
    '{"deltas": ["The roof leaks ", "where a slate ", "is broken."], "delay_ms": 4}\n'
)


def a_program(folder: Path, script: str = SCRIPT) -> Program:
    """zkchat in a vault of its own; its model plays the script."""
    (folder / "script.jsonl").write_text(script)
    program = Program(write_notes(folder / "notes", NOTES), folder / "home")
    program.env |= {"ZKCHAT_MODEL": f"scripted/{folder / 'script.jsonl'}", "ZKCHAT_SEMANTIC__PROVIDER": "none"}
    return program


def store_file(program: Program) -> Path:
    return program.home / "data" / "conversations.db"


def start(program: Program, *words: str, stdin: str = "") -> ProgramRun:
    """A run that reads this input; nobody reads what it prints."""
    keyboard = program.vault.parent / "keyboard"
    keyboard.write_text(stdin)
    streams = [os.open(keyboard, os.O_RDONLY), *(os.open(os.devnull, os.O_WRONLY) for _ in range(2))]
    keyboard.unlink()
    return ProgramRun(fork_server_address(), list(words), program.environment, program.vault, streams, terminal=False)


def whole_log(program: Program) -> list[ZkChatMessage]:
    """All messages. Fails if the store is damaged or a branch is broken."""
    check_store(store_file(program))
    with closing(ChatSessionStore.open(store_file(program))) as store:
        [conversation] = store.conversations()
        assert store.conversation(conversation.id).head_id in {message.id for message in store.history(conversation.id)}
        return list(store.log(conversation.id))


def check_turns(log: Sequence[ZkChatMessage]) -> Counter[str]:
    """How many questions have which status. Fails for half a turn: an answer is whole, and a complete question has one."""
    answered = {message.parent_id for message in log if message.role != "user"}
    for message in log:
        assert message.status != "damaged"
        if message.role == "user":
            assert (message.status == "complete") == (message.id in answered), message
        if message.role == "assistant":
            assert message.content in ("", ANSWER), message
    return Counter(message.status for message in log if message.role == "user")


def kill_turns(program: Program, lives: int, seed: int = 7) -> Counter[str]:
    """Kill `ask` and `chat` at random moments; every fourth is stopped, and goes on. Returns how the questions ended."""
    chance = random.Random(seed)
    assert program("ask", "How is it?").exit_status == 0
    begin = time.monotonic()
    assert program("ask", "-c", "How is it now?").exit_status == 0
    usual = time.monotonic() - begin
    for life in range(lives):
        chatting = life % 2 == 0
        run = start(program, "chat", "-c", stdin=f"q{life} a\nq{life} b\n") if chatting else start(program, "ask", "-c", f"q{life}")
        time.sleep(chance.random() * usual * (2 if chatting else 1))
        if life % 4 == 3:
            _send(run, signal.SIGSTOP)
            time.sleep(0.02)
            _send(run, signal.SIGCONT)
            assert run.end() == 0
            assert any(message.content == f"q{life}" and message.status == "complete" for message in whole_log(program))
        else:
            _send(run, signal.SIGKILL)
            run.end()
        check_turns(whole_log(program))
    return check_turns(whole_log(program))


def _send(run: ProgramRun, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it was faster
        os.kill(run.pid, number)


def interleave(program: Program, turns: int) -> Counter[str]:
    """Two chats of so many turns in one conversation, and other processes that ask in it meanwhile. Returns how the questions ended."""
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
    assert questions == {"How is it?", *"".join(lines).splitlines(), *(f"between {n}" for n in range(asked))}
    return check_turns(log)


def measure(pid: int) -> tuple[int, int, int]:
    """Memory in MB, open files and threads of a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) // 1000, len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])  # noqa: PTH208


def chat_long(program: Program, turns: int, show: Callable[[str], None]) -> list[tuple[int, int, int]]:
    """One chat of so many turns: what it uses after a tenth of them, two tenths …"""
    command = [sys.executable, "-m", "zkchat_cli", "chat"]
    rows = []
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **streams, env=program.environment, cwd=program.vault, text=True) as chat:
        assert chat.stdin and chat.stdout
        threading.Thread(target=_type, args=(chat, turns), daemon=True).start()
        answers, begin = 0, time.monotonic()
        for line in chat.stdout:
            answers += line.count(ANSWER)
            if ANSWER in line and answers % (turns // 10) == 0:
                rows.append(measure(chat.pid))
                show("| {:,} | {} MB | {} | {} | {:.0f} ms |".format(answers, *rows[-1], 10_000 * (time.monotonic() - begin) / turns))
                begin = time.monotonic()
    assert (chat.returncode, answers) == (0, turns)
    return rows


def _type(chat: "subprocess.Popen[str]", turns: int) -> None:
    assert chat.stdin
    for turn in range(turns):
        chat.stdin.write(f"What about roof {turn}?\n")
    chat.stdin.close()


def main() -> None:
    kills, turns = (int(word) for word in (*sys.argv[1:], "200", "10000")[:2])
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for name in ("kills", "interleaved", "long"):
            Path(folder, name).mkdir()
            programs.append(a_program(Path(folder, name)))
        print(f"{kills} kills and stops: {dict(kill_turns(programs[0], kills))}", flush=True)
        print(f"two chats of 500 turns and others in one conversation: {dict(interleave(programs[1], min(500, turns)))}", flush=True)
        print("| turns | memory | open files | threads | a turn |\n|---|---|---|---|---|", flush=True)
        chat_long(programs[2], turns, lambda row: print(row, flush=True))


if __name__ == "__main__":
    main()
