"""The thread that uses the sessions, while the main thread waits for their answers and for the editor."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from zkchat_cli.llm.stop_signal import STOP


class SessionThread:
    """Runs one task after another. An interrupted one returns "cancelled", or is never begun."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "sessions")
        self._stops: dict[Future[Any], threading.Event] = {}

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Run a task after all earlier ones; the future gets its result."""
        stop = threading.Event()
        future = self._thread.submit(_run, work, stop)
        self._stops[future] = stop
        future.add_done_callback(self._stops.pop)
        return future

    def interrupt(self, future: Future[Any]) -> None:
        if not future.cancel() and (stop := self._stops.get(future)) is not None:
            stop.set()

    def end(self, last: Callable[[], Any]) -> None:
        """Run `last` after all earlier tasks, and wait for it."""
        self.submit(last)
        self._thread.shutdown()


def _run(work: Callable[[], Any], stop: threading.Event) -> Any:
    STOP.set(stop)
    try:
        return work()
    except KeyboardInterrupt:
        return "cancelled"
