"""Deletions that are killed: `python forgetting.py FOLDER` deletes a conversation over and over, each time killed with SIGKILL one moment
later, opens the store as the next command does, and prints one JSON document: how many were killed, and which files held a word then.

A moment is a line of the store's own Python, or so many instructions of SQLite's machine: both go through all parts of a deletion.
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

from zkchat_cli.models import Conversation, ZkChatMessage
from zkchat_cli.store import input_history, secure_delete
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.database import connect
from zkchat_cli.store.migrations import SCRIPTS

NOON = "2025-05-08T12:00:00+00:00"
SECRET = "zymurgist"
WORKING = ("secure_delete.py", "input_history.py", "database.py")
EACH = 11
"""Moments from one killing to the next: as this is no divisor of any loop's, all lines have their turn."""
STEPS = 40
"""Instructions of SQLite's machine between two looks at whether it is time."""


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after_lines(left: int) -> Callable[[ChatSessionStore], None]:
    def arm(_: ChatSessionStore) -> None:
        def look(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.endswith(WORKING):
                return None
            left -= event == "line"
            if left <= 0:
                _die()
            return look

        sys.settrace(look)

    return arm


def after_instructions(left: int) -> Callable[[ChatSessionStore], None]:
    def arm(store: ChatSessionStore) -> None:
        def tick() -> int:
            nonlocal left
            left -= 1
            if left <= 0:
                _die()
            return 0

        store._db.set_progress_handler(tick, STEPS)

    return arm


def a_store(folder: Path) -> None:
    """With the word in a conversation, in the lines that were typed, and in a backup."""
    file = folder / "c.db"
    old = connect(file, SCRIPTS[:6])
    old.execute("INSERT INTO conversation (id, vault, created_at, updated_at) VALUES ('gone', '/notes', '', '')")
    columns = "(id, conversation_id, role, content, status, timestamp, rest)"
    old.executemany(
        f"INSERT INTO message {columns} VALUES (?, 'gone', 'user', ?, 'complete', ?, '{{}}')",
        [(f"old{n}", f"an old {SECRET} {n}", NOON) for n in range(9)],
    )
    old.close()
    store = ChatSessionStore.open(file)
    for id_, word in (("kept", "philatelist"), ("gone", SECRET)):
        if id_ == "kept":
            store.start(Conversation(id=id_, vault="/notes", created_at=NOON, updated_at=NOON))
        for n in range(9):
            text = f"what does the {word} do {n}? " + " ".join(f"{word}{n}x{each}" for each in range(99))
            store.add(id_, ZkChatMessage(id=f"{id_}{n}", role="user", content=text, timestamp=NOON))
            store.search(None, word)
    lines = input_history.file_of(folder, "/notes")
    lines.parent.mkdir()
    lines.write_text(f"\n# then\n+an old {SECRET} 3\n\n# now\n+what does the philatelist do?\n")
    store.close()


def holding(folder: Path) -> list[str]:
    return [file.name for file in sorted(folder.rglob("*")) if file.is_file() and SECRET.encode() in file.read_bytes().lower()]


def killed(folder: Path, arm: Callable[[ChatSessionStore], None]) -> bool:
    child = os.fork()
    if child == 0:
        store = ChatSessionStore.open(folder / "c.db")
        arm(store)
        store.delete("gone")
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    folder = Path(sys.argv[1])
    secure_delete.PAGES, secure_delete.MESSAGES = 1, 4  # so that a small store takes several steps
    (folder / "sample").mkdir()
    a_store(folder / "sample")
    told: dict[str, Any] = {"held": len(holding(folder)), "killed": 0, "words left behind": 0, "held on": [], "lost": 0}
    for kind in (after_lines, after_instructions):
        moment = 1
        while True:
            shutil.copytree(folder / "sample", folder / "now")
            alive = not killed(folder / "now", kind(moment))
            left = holding(folder / "now")
            store = ChatSessionStore.open(folder / "now" / "c.db")
            there = {conversation.id for conversation in store.conversations()}
            found = store.search(None, "philatelist", limit=99)
            store.close()
            told["lost"] += "kept" not in there or len(found) != 9
            if "gone" not in there:  # else it was killed before anything was deleted
                told["words left behind"] += bool(left)
                told["held on"] += [f"{kind.__name__} {moment}: {name}" for name in holding(folder / "now")]
            shutil.rmtree(folder / "now")
            if alive:
                break
            told["killed"] += 1
            moment += EACH
    print(json.dumps(told))


if __name__ == "__main__":
    main()
