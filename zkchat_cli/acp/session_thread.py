"""The thread on which sessions are used, while the protocol waits for their answers and for the editor on the main one."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from zkchat_cli.llm.stop_signal import STOP


class SessionThread:
    """Runs one piece of work after another. A piece that is interrupted ends with `cancelled`, or is never begun."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._running: Future[Any] | None = None
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="sessions")
        self._thread.start()

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Do this after all that was submitted before; the future has its result."""
        future: Future[Any] = Future()
        self._work.put((future, work))
        return future

    def interrupt(self, future: Future[Any]) -> None:
        with self._lock:
            if not future.cancel() and self._running is future:
                self._stop.set()

    def end(self, last: Callable[[], Any]) -> None:
        """Return after the work that is submitted, and `last`."""
        self.submit(last)
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        STOP.set(self._stop)
        while (item := self._work.get()) is not None:
            future, work = item
            with self._lock:
                self._running, wanted = future, future.set_running_or_notify_cancel()
                self._stop.clear()
            if not wanted:
                continue
            try:
                future.set_result(work())
            except KeyboardInterrupt:
                future.set_result("cancelled")
            except BaseException as e:  # noqa: BLE001
                future.set_exception(e)
