"""Runs tasks in the background, one at a time, between the turns of a conversation: no answer waits for them.

The queue does not know models: a function does one task and can be stopped at any moment.
"""

import logging
import threading
from collections.abc import Callable, Iterable

MAX_TASKS = 20
"""Tasks of one session; each is a model call."""
_log = logging.getLogger(__name__)

Wanted = Callable[[], bool]
Work = Callable[[str, Wanted], None]
"""Does a task; ends soon when it is not wanted any more."""


class BackgroundQueue:
    """Does tasks until it is stopped, each once, at most `most`. Used from one thread; works in another."""

    def __init__(self, work: Work, most: int = MAX_TASKS) -> None:
        self._work = work
        self._left = most
        self._done: set[str] = set()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, tasks: Iterable[str]) -> None:
        """Do these tasks instead of the earlier ones."""
        self.stop()
        todo = [task for task in dict.fromkeys(tasks) if task not in self._done]
        if todo and self._left:
            self._stopped = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(todo, self._stopped, self._thread), name="background", daemon=True)
            self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop; waits up to `seconds` for the current task."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, tasks: list[str], stopped: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()  # one at a time, and the earlier one is stopping
        for task in tasks:
            if stopped.is_set() or not self._left:
                return
            self._left -= 1
            try:
                self._work(task, lambda: not stopped.is_set())
            except Exception:  # a defect must not end the chat  # noqa: BLE001
                _log.exception("background task %s failed", task)
            if not stopped.is_set():
                self._done.add(task)
