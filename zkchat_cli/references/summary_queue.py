"""Describes documents in the background, one at a time, between the turns of a conversation: no answer waits for it.

The queue does not know models: a function describes one document and can be stopped at any moment.
"""

import logging
import threading
from collections.abc import Callable, Iterable

MAX_DOCUMENTS = 20
"""Documents described in one session; each is a model call."""
_log = logging.getLogger(__name__)

Wanted = Callable[[], bool]
Describe = Callable[[str, Wanted], None]
"""Describes the document at a path and stores the summary; ends soon when it is not wanted any more."""


class SummaryQueue:
    """Describes documents until it is stopped, each once, at most `most`. Used from one thread; works in another."""

    def __init__(self, describe: Describe, most: int = MAX_DOCUMENTS) -> None:
        self._describe = describe
        self._left = most
        self._done: set[str] = set()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, paths: Iterable[str]) -> None:
        """Describe the documents at these paths instead of the earlier ones."""
        self.stop()
        todo = [path for path in dict.fromkeys(paths) if path not in self._done]
        if todo and self._left:
            self._stopped = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(todo, self._stopped, self._thread), name="summaries", daemon=True)
            self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop; waits up to `seconds` for the current document."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, paths: list[str], stopped: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()  # one at a time, and the earlier one is stopping
        for path in paths:
            if stopped.is_set() or not self._left:
                return
            self._left -= 1
            try:
                self._describe(path, lambda: not stopped.is_set())
            except Exception:  # a defect must not end the chat  # noqa: BLE001
                _log.exception("%s could not be described", path)
            if not stopped.is_set():
                self._done.add(path)
