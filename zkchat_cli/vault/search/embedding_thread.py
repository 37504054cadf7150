"""Computes missing vectors while a chat is open: at the lowest priority, and not while the user types or an answer streams.

Those of messages come first, for a while: they are few and new.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from zkchat_cli.errors import ZkchatError
from zkchat_cli.vault.search.semantic import SemanticSearch

LOWEST_PRIORITY = 19
PAUSE_SECONDS = 0.2
"""Between two checks whether the user is still busy."""
IDLE_SECONDS = 1.0
"""Between two checks whether notes have changed."""
MESSAGES_SECONDS = 5.0
"""After so long with messages, the notes get their turn: both may take an hour."""
STOP_SECONDS = 2.0
"""How long `stop` waits: a batch takes 0.1 s, on a slow or busy machine a second."""


class EmbeddingJob(Protocol):
    """Computes the vectors of something else than notes."""

    def compute_missing(self, stopped: Callable[[], bool]) -> bool:
        """Compute missing ones until `stopped`; whether none is missing. Cheap if nothing has changed."""
        ...

    def close(self) -> None: ...


class EmbeddingThread:
    """A thread that works from `start` until `stop`. What it has computed stays if the program is killed."""

    def __init__(self, semantic: SemanticSearch, is_busy: Callable[[], bool], messages: EmbeddingJob | None = None) -> None:
        self._semantic, self._messages = semantic, messages
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
        messages_complete = True
        while not self._stopped.is_set():
            if self._messages and not self._must_pause():
                end = time.monotonic() + MESSAGES_SECONDS
                messages_complete = self._messages.compute_missing(lambda: self._must_pause() or time.monotonic() > end)  # noqa: B023  called at once
            with suppress(ZkchatError):  # the vault is gone or its index is locked: a question will say so
                stamp = self._semantic.index_stamp()
                if not self._must_pause() and stamp != complete and self._semantic.compute_missing(stopped=self._must_pause):
                    complete = stamp
            is_idle = (complete is not None and messages_complete) or self._semantic.has_failed
            self._stopped.wait(IDLE_SECONDS if is_idle else PAUSE_SECONDS)
        if self._messages:
            self._messages.close()

    def _must_pause(self) -> bool:
        return self._stopped.is_set() or self._is_busy()
