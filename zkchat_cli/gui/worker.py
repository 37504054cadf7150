"""Threads that run the window's tasks one after another, and return the results to the window's
thread.
"""

import gc
import logging
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from zkchat_cli.errors import ZkchatError
from zkchat_cli.llm.stop_signal import STOP, wait_for

_log = logging.getLogger(__name__)
# Seconds that a closing window waits for its work, for example until a stopped answer is stored
CLOSE_SECONDS = 5.0
MANY = 50_000
"""Number of new objects that only loading a long conversation leaves.

Python looks for garbage between two pieces of work, but never among so many objects: that would
stop all threads for 0.2 s.
"""
SWITCH_INTERVAL = 0.001
"""Seconds for which a thread keeps Python's lock while the window wants it.

The window waits for the lock several times for each thing that it draws.
"""

R = TypeVar("R")


class Worker(QObject):
    """A thread that does one task after another.

    The window's thread calls `submit` and `close`, the worker's thread `post` and `ask`.
    """

    busy_changed = Signal(bool)
    _arrived = Signal(object)

    def __init__(self, name: str, failed: Callable[[ZkchatError], None]) -> None:
        """Start the thread. `failed` gets the error of any task, in the window's thread."""
        super().__init__()
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._failed = failed
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._unfinished = 0
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a task runs or waits."""
        return self._unfinished > 0

    def submit(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], object] = lambda _: None,
        stopped: Callable[[], object] = lambda: None,
    ) -> None:
        """Do `work` after everything that was submitted before; `done` gets its result.

        `stopped` is called instead if the work was stopped.
        """
        self._unfinished += 1
        self.busy_changed.emit(True)

        def end(then: Callable[[], object]) -> None:
            self._unfinished -= 1
            self._stop.clear()
            then()
            self.busy_changed.emit(self.busy)

        def run() -> None:
            then = stopped
            try:
                with suppress(KeyboardInterrupt):
                    then = partial(done, work())
            except Exception as e:  # noqa: BLE001  # a defect must not end the thread
                _log.debug("the window's work failed", exc_info=e)
                then = partial(self._failed, _as_zkchat_error(e))
            self.post(partial(end, then))

        self._work.put(run)

    def post(self, call: Callable[[], None]) -> None:
        """Call the function in the window's thread, after what was posted before."""
        self._arrived.emit(call)

    def ask(self, question: Callable[[Callable[[R], None]], None]) -> R:
        """Ask in the window's thread, and wait for the answer.

        `question` gets the function to call with the answer.
        """
        given: Future[R] = Future()
        self.post(lambda: question(given.set_result))
        return wait_for(given)

    @Slot(object)
    def _deliver(self, call: Callable[[], None]) -> None:
        call()

    def stop(self) -> None:
        """Interrupt the running work."""
        if self.busy:
            self._stop.set()

    def close(self, last: Callable[[], None] = lambda: None) -> None:
        """Stop the work, run `last`, and wait for the end."""
        self._stop.set()
        self._work.put(last)
        self._work.put(None)
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        STOP.set(self._stop)
        gc.disable()
        gc.freeze()
        while (work := self._work.get()) is not None:
            work()
            if gc.get_count()[0] > MANY:
                gc.freeze()
            else:
                gc.collect()
        gc.enable()


def _as_zkchat_error(error: Exception) -> ZkchatError:
    """The error itself; for a defect, an error that the user can report."""
    if isinstance(error, ZkchatError):
        return error
    return ZkchatError(f"unexpected {type(error).__name__}: {error}", "Run it with --verbose.")
