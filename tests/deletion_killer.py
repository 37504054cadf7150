"""Killed deletions: `python deletion_killer.py FOLDER` deletes a conversation over and over, each
time killed with SIGKILL a moment later, opens the store as the next command does, and prints as
JSON how many were killed and which files contained a word afterwards. `python deletion_killer.py
FOLDER every` is the long form, with every moment.

A moment is a line of the store's Python, or a number of instructions of SQLite's machine: both go
through all parts of a deletion.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from factories import NOON, message

from zkchat_cli.models.conversations import Conversation
from zkchat_cli.store import input_history
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

SECRET = "zymurgist"
TRACED = ("secure_delete.py", "input_history.py", "database.py", "fileio.py")
LINES = 5
INSTRUCTIONS = 29
"""Ticks from one kill to the next."""
EVERY = sys.argv[2:] == ["every"]
TICK = 40
"""Instructions of SQLite's machine."""


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_after_lines(_: ChatSessionStore, left: int) -> None:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        left -= event == "line"
        if left <= 0:
            kill_self()
        return trace

    sys.settrace(trace)


def kill_after_instructions(store: ChatSessionStore, left: int) -> None:
    def tick() -> int:
        nonlocal left
        left -= 1
        if left <= 0:
            kill_self()
        return 0

    store.connection.db.set_progress_handler(tick, TICK)


def create_store(folder: Path) -> None:
    """With the word in a conversation and in the input history."""
    folder.mkdir()
    store = ChatSessionStore.open(folder / "c.db")
    for id_, word in (("kept", "philatelist"), ("gone", SECRET)):
        store.start(Conversation(id=id_, vault="/notes", created_at=NOON, updated_at=NOON))
        for n in range(9):
            text = f"what does the {word} do {n}? " + " ".join(
                f"{word}{n}x{each}" for each in range(99)
            )
            store.add(id_, message("user", text, f"{id_}{n}"))
            store.search(None, word)
    store.add("gone", message("user", f"an old {SECRET}", "gone9"))
    lines = input_history.history_file(folder, "/notes")
    lines.parent.mkdir()
    lines.write_text(f"\n# then\n+an old {SECRET}\n\n# now\n+what does the philatelist do?\n")
    store.close()


def files_with_word(folder: Path) -> list[str]:
    return [
        file.name
        for file in sorted(folder.rglob("*"))
        if file.is_file() and SECRET.encode() in file.read_bytes().lower()
    ]


def delete_in_child(
    folder: Path, kill_after: Callable[[ChatSessionStore, int], None], moment: int
) -> bool:
    """Whether the deletion was killed."""
    child = os.fork()
    if child == 0:
        store = ChatSessionStore.open(folder / "c.db")
        kill_after(store, moment)
        store.delete("gone")
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    folder = Path(sys.argv[1])
    create_store(folder / "sample")
    result: dict[str, Any] = {
        "killed": 0,
        "words left behind": 0,
        "words after reopening": [],
        "lost": 0,
    }
    for kill_after, step in ((kill_after_lines, LINES), (kill_after_instructions, INSTRUCTIONS)):
        moment = 1
        killed = True
        while killed:
            now = folder / "now"
            shutil.copytree(folder / "sample", now)
            killed = delete_in_child(now, kill_after, moment)
            left = files_with_word(now)
            store = ChatSessionStore.open(now / "c.db")
            ids = {conversation.id for conversation in store.conversations()}
            found = store.search(None, "philatelist", limit=99)
            store.close()
            result["lost"] += "kept" not in ids or len(found) != 9
            # Else it was killed before anything was deleted
            if "gone" not in ids:
                result["words left behind"] += bool(left)
                result["words after reopening"] += [
                    f"{kill_after.__name__} {moment}: {name}" for name in files_with_word(now)
                ]
            shutil.rmtree(now)
            result["killed"] += killed
            moment += 1 if EVERY else step
    print(json.dumps(result))


if __name__ == "__main__":
    main()
