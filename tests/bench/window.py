"""How long the window takes to open a conversation of 10,000 turns, and for how long it stands
still while it works.

QT_QPA_PLATFORM=offscreen python tests/bench/window.py [--turns 10000] [--notes 10000]
"""

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import prompts
import vaults
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.tool_executor import ToolExecutor
from zkchat_cli.gui.window import ChatWindow

GOAL_OPEN = 1.5
GOAL_STALL = 0.05
ANSWER = (
    "Compost needs **air**, water and patience [[Compost]].\n\n- It is ready after nine "
    "months.\n- `turn` it twice.\n\n"
) * 4
STREAMED = 30_000
"""Characters of the answer that is streamed."""
MADE = 100
"""Turns that are made as the offline provider leaves them; a longer conversation repeats them."""
TICK = 2
"""Milliseconds between two looks at the window."""
SECONDS = 300


class Watch:
    """Runs Qt's event loop, and notes the longest time for which it handled nothing.

    That is in processor time of the whole program, its workers included: they hold Python's lock in
    turn, so the window would have waited for so long on an idle machine. The clock would show how
    busy this one is.
    """

    def __init__(self) -> None:
        self.window: ChatWindow | None = None
        self._timer = QTimer(interval=TICK)
        self._timer.timeout.connect(self._tick)
        self._loop = QEventLoop()
        self._until: Callable[[], bool] = lambda: True
        self._last = self._longest = 0.0

    def open_window(self, open_app: Callable[[], factory.App]) -> None:
        self.window = ChatWindow(open_app)
        self.window.show()

    @property
    def _idle(self) -> bool:
        return self.window is None or not (self.window._work.busy or self.window._side.busy)

    def _tick(self) -> None:
        now = time.process_time()
        self._longest = max(self._longest, now - self._last)
        self._last = now
        if self._until():
            self._loop.quit()
        self._last = time.process_time()

    def wait(self, until: Callable[[], bool] | None = None) -> None:
        """Until something is so, or else until the window has nothing to do."""
        self._until = until or (lambda: self._idle)
        self._last = time.process_time()
        self._timer.start()
        QTimer.singleShot(SECONDS * 1000, self._loop, self._loop.quit)
        self._loop.exec()
        self._timer.stop()
        assert self._until(), "the window did not get there"

    def measure(
        self,
        what: str,
        do: Callable[[], object],
        until: Callable[[], bool] | None = None,
        goal: float | None = None,
    ) -> None:
        """Print how long it took, and the longest standstill until the window has nothing to do.
        Other work of before ends first.
        """
        self.wait()
        self._longest = 0.0
        began = time.perf_counter()
        cpu = time.process_time()
        QTimer.singleShot(0, do)
        started = time.perf_counter()
        self.wait(lambda: time.perf_counter() - started > 0.01)
        self.wait(until)
        took = time.perf_counter() - began
        worked = time.process_time() - cpu
        self.wait()
        over = ", over" if goal is not None and took > goal else ""
        stood = (
            f"longest standstill {self._longest * 1000:.0f} "
            f"ms{', over' if self._longest > GOAL_STALL else ''}"
        )
        print(f"{what:>24}: {took:.2f} s ({worked:.2f} s CPU){over}; {stood}", flush=True)


def store_conversation(app: factory.App, turns: int, words: vaults.Words) -> str:
    new = app.session()
    toolbox = ToolExecutor(
        new.runtime.tools, app.vault, new.state.references, app.counter, time.perf_counter
    )
    numbers = itertools.count()
    made = vaults.conversation(
        min(turns, MADE), words, toolbox, str(app.vault.root), lambda: f"made{next(numbers)}"
    )
    whole = prompts.said_again(made, turns)
    *before, last = whole.messages
    end = last.model_copy(update={"content": f"{last.content}\n\nThis is the end."})
    app.store.restore([whole.model_copy(update={"messages": (*before, end)})])
    return whole.conversation.id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=10_000)
    choices = parser.parse_args()
    application = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        script = Path(folder) / "replies.jsonl"
        words = vaults.Words(7)
        notes.mkdir()
        vaults.write(notes, choices.notes, words)
        script.write_text(
            json.dumps(
                {"deltas": [(ANSWER * STREAMED)[at : at + 12] for at in range(0, STREAMED, 12)]}
            )
        )
        env = {"ZKCHAT_HOME": f"{folder}/home"}

        def open_app(model: str = f"scripted/{script}") -> factory.App:
            asked = StartupOptions(
                vault=notes, model=model, overrides={"semantic.provider": "none"}
            )
            return factory.open_app(asked, env, notes)

        watch = Watch()
        watch.measure(
            "start and index the notes",
            lambda: watch.open_window(open_app),
            lambda: watch.window is not None and watch._idle,
        )
        window = watch.window
        assert window is not None
        app = open_app("offline")
        id_ = store_conversation(app, choices.turns, words)
        app.close()
        watch.measure(
            "open",
            lambda: window.resume(id_),
            lambda: "This is the end." in window.transcript.toPlainText(),
            GOAL_OPEN,
        )

        def has_left(first: int) -> bool:
            return window.transcript.page.first != first

        bar = window.transcript.verticalScrollBar()
        for number in range(3):
            first = window.transcript.page.first
            watch.measure(
                f"scroll {number + 1}",
                lambda: bar.setValue(bar.minimum()),
                partial(has_left, first),
            )

        def type_text(text: str) -> None:
            for n, each in enumerate(text):
                QTimer.singleShot(30 * n, partial(window.input.insertPlainText, each))

        typed = f"and [[{words.vocabulary[5000][:3]} #{words.vocabulary[6000][:2]} @a"
        watch.measure(
            "type with completion",
            lambda: type_text(typed),
            lambda: window.input.toPlainText() == typed,
        )
        window.input.clear()
        watch.measure("an answer", lambda: window.send("And now?"), lambda: not window.answering)
        for name, command in (
            ("compact", "/compact"),
            ("context", "/context"),
            ("export", f"/export html {folder}/export.html"),
        ):
            watch.measure(name, partial(window.send, command))
        assert Path(f"{folder}/export.html").stat().st_size > 1_000_000
        window.close()
    application.processEvents()


if __name__ == "__main__":
    main()
