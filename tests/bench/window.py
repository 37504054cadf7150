"""The window with a long conversation: how long it takes to open and to scroll, and for how long the window ever stands still.

QT_QPA_PLATFORM=offscreen python tests/bench/window.py [--turns 10000]
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.gui.window import ChatWindow
from zkchat_cli.models import Conversation, ConversationArchive, Role, ZkChatMessage

NOON = "2025-05-08T12:00:00+00:00"
GOAL_OPEN, GOAL_STALL = 1.5, 0.05
ANSWER = "Compost needs **air**, water and patience [[Compost]].\n\n- It is ready after nine months.\n- `turn` it twice.\n\n" * 4
STREAMED = 30_000
"""Characters of the answer that is streamed."""
TICK = 5
"""Milliseconds between two looks: a busier timer would take the time from the work."""


class Stalls:
    """The longest time in which the window handled no event, in processor time of its thread: the clock shows how busy the machine is."""

    def __init__(self) -> None:
        self._last, self.longest = time.thread_time(), 0.0
        self._timer = QTimer(interval=TICK)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now

    def during(self, window: ChatWindow, do: Callable[[], object], until: Callable[[], bool]) -> tuple[float, float, float]:
        """Seconds until a condition and the processor's share of them, and the longest standstill until the window has nothing to do."""
        self._last, self.longest = time.thread_time(), 0.0
        began, cpu = time.perf_counter(), time.process_time()
        do()
        while not until():
            QTest.qWait(TICK)
        took, worked = time.perf_counter() - began, time.process_time() - cpu
        while window._work.busy or window._side.busy:
            QTest.qWait(TICK)
        return took, worked, self.longest


def store_conversation(app: factory.App, turns: int) -> str:
    messages: list[ZkChatMessage] = []
    for number in range(1, turns + 1):
        said: tuple[tuple[Role, str], ...] = (("user", f"Question {number}?"), ("assistant", ANSWER))
        for role, content in said:
            parent = messages[-1].id if messages else None
            messages.append(ZkChatMessage(id=f"m{len(messages)}", parent_id=parent, role=role, content=content, timestamp=NOON))
    head = messages[-1].id
    conversation = Conversation(id="long", vault=str(app.vault.root), created_at=NOON, updated_at=NOON, head_id=head, title="Long")
    return app.store.restore(ConversationArchive(conversation=conversation, messages=tuple(messages)), lambda: "long").id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    turns = parser.parse_args().turns
    application = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        notes, script = Path(folder) / "notes", Path(folder) / "replies.jsonl"
        notes.mkdir()
        (notes / "Compost.md").write_text("# Compost\n\nA compost heap needs air, water and patience.\n")
        pieces = [ANSWER[at % len(ANSWER) :][:12] for at in range(0, STREAMED, 12)]
        script.write_text(json.dumps({"deltas": pieces}))
        env = {"ZKCHAT_HOME": f"{folder}/home"}

        def open_app() -> factory.App:
            choices = StartupOptions(vault=notes, model=f"scripted/{script}", overrides={"semantic.provider": "none"})
            return factory.open_app(choices, env, notes)

        app = open_app()
        id_ = store_conversation(app, turns)
        app.close()
        short = ChatWindow(open_app)  # imports, as in a window that is open already
        short.show()
        while short._work.busy:
            QTest.qWait(TICK)
        stalls = Stalls()
        last = f"Question {turns}?"
        report("open", *stalls.during(short, lambda: short.resume(id_), lambda: last in short.transcript.toPlainText()), GOAL_OPEN)
        bar = short.transcript.verticalScrollBar()
        for number in range(3):
            first = short.transcript.page.first
            report(
                f"scroll {number + 1}",
                *stalls.during(short, lambda: bar.setValue(bar.minimum()), lambda first=first: short.transcript.page.first != first),
            )
        report("an answer", *stalls.during(short, lambda: short.send("And now?"), lambda: short._completed))
        short.close()
    application.processEvents()


def report(what: str, seconds: float, cpu: float, stall: float, goal: float | None = None) -> None:
    over = ", over" if goal is not None and cpu > goal else ""
    stood = f"longest standstill {stall * 1000:.0f} ms{', over' if stall > GOAL_STALL else ''}"
    print(f"{what:>10}: {seconds:.2f} s ({cpu:.2f} s CPU){over}; {stood}")


if __name__ == "__main__":
    main()
