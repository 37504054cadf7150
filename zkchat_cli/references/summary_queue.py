"""Documents described in the background, one at a time, between the turns of a conversation: no answer ever waits for it.

The worker knows nothing of models: it is given what describes one document, and can be told to stop at any moment.
"""

import logging
import threading
from collections.abc import Callable, Iterable

MOST = 20
"""Documents that are described in one session: each is a call of the model."""
_log = logging.getLogger(__name__)

Wanted = Callable[[], bool]
Describe = Callable[[str, Wanted], None]
"""Describes the document at a path and takes in what it hears, unless that is not wanted any more, which ends it soon."""


class SummaryQueue:
    """Describes documents until it is told to stop, each once, `most` in all. For one thread; the work is done on another."""

    def __init__(self, describe: Describe, most: int = MOST) -> None:
        self._describe = describe
        self._left = most
        self._done: set[str] = set()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, paths: Iterable[str]) -> None:
        """Describe the documents at these paths, and no others any more."""
        self.stop()
        todo = [path for path in dict.fromkeys(paths) if path not in self._done]
        if todo and self._left:
            self._stopped = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(todo, self._stopped, self._thread), name="summaries", daemon=True)
            self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Go on with nothing; returns at once, or when the document that is at work has been left, within so many seconds."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, paths: list[str], stopped: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()  # one at a time, and that one has been told to stop
        for path in paths:
            if stopped.is_set() or not self._left:
                return
            self._left -= 1
            try:
                self._describe(path, lambda: not stopped.is_set())
            except Exception:  # a defect; nobody is there to be told, and the chat goes on without it  # noqa: BLE001
                _log.exception("%s could not be described", path)
            if not stopped.is_set():
                self._done.add(path)
