"""Computes missing vectors while a chat is open: at the lowest priority, and not while the user types or an answer streams."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from zkchat_cli.errors import ZkchatError
from zkchat_cli.vault.search.semantic import SemanticSearch

LOWEST_PRIORITY = 19
PAUSE_SECONDS = 0.2
"""Between two looks whether the user is still busy."""
IDLE_SECONDS = 1.0
"""Between two looks whether notes have changed."""
STOP_SECONDS = 2.0
"""How long `stop` waits: a batch takes 0.1 s, on a slow or busy machine a second."""


class EmbeddingThread:
    """A thread that works from `start` until `stop`. What it has computed stays if the program is killed."""

    def __init__(self, semantic: SemanticSearch, is_busy: Callable[[], bool]) -> None:
        self._semantic = semantic
        self._is_busy = is_busy
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        if sys.platform == "linux":  # elsewhere a priority belongs to the whole process
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
        self._semantic.load()
        complete: object = None
        while not self._stopped.is_set():
            with suppress(ZkchatError):  # the vault is gone or its index is locked: a question will say so
                stamp = self._semantic.index_stamp()
                if not self._must_pause() and stamp != complete and self._semantic.grow(stopped=self._must_pause):
                    complete = stamp
            self._stopped.wait(IDLE_SECONDS if complete is not None or self._semantic.has_failed else PAUSE_SECONDS)

    def _must_pause(self) -> bool:
        return self._stopped.is_set() or self._is_busy()
