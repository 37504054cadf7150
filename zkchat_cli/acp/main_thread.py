"""Work on the main thread while the protocol runs on another: a signal, the way in which Ctrl-C stops a turn, reaches only the main one."""

import os
import queue
import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any


class MainThread:
    """Runs one piece of work after another. Made and run on the main thread; the other methods may be called from anywhere."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._running: Future[Any] | None = None
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Do this after all that was submitted before; the future has its result."""
        future: Future[Any] = Future()
        self._work.put((future, work))
        return future

    def interrupt(self, future: Future[Any]) -> None:
        """Stop this work: KeyboardInterrupt is raised in it if it runs; it is never begun if it waits."""
        with self._lock:
            if future.cancel() or self._running is not future:
                return
            if os.name == "posix":
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                signal.raise_signal(signal.SIGINT)

    def end(self) -> None:
        """Let `run` return after the work that is submitted."""
        self._work.put(None)

    def run(self) -> None:
        """Do the work until `end`."""
        while True:
            with suppress(KeyboardInterrupt):  # one that came too late for its work
                item = self._work.get()
                if item is None:
                    return
                self._do(*item)

    def _do(self, future: Future[Any], work: Callable[[], Any]) -> None:
        with self._lock:
            if not future.set_running_or_notify_cancel():
                return
            self._running = future
        try:
            result = work()
        except KeyboardInterrupt:
            future.set_exception(CancelledError())
        except BaseException as e:  # noqa: BLE001
            future.set_exception(e)
        else:
            future.set_result(result)
        finally:
            with self._lock:
                self._running = None
