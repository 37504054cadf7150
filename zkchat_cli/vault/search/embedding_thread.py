"""The thread that computes missing vectors while a chat is open."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from zkchat_cli.errors import ZkchatError
from zkchat_cli.vault.index.values import Progress
from zkchat_cli.vault.search.ensemble import SemanticEnsemble
from zkchat_cli.vault.search.semantic import SemanticSearch

LOWEST_PRIORITY = 19
# Between two checks whether the user is still busy, and whether notes have changed
BUSY_SECONDS = 0.2
IDLE_SECONDS = 1.0
# After so long with messages, the notes get their turn: both may take an hour
MESSAGES_SECONDS = 5.0
# How long `stop` waits: a batch takes 0.1 s, on a slow or busy machine a second
STOP_SECONDS = 2.0


class EmbeddingJob(Protocol):
    """Computes the missing vectors of something else than notes until `stopped`; whether none is
    missing.
    """

    def compute_missing(self, stopped: Callable[[], bool]) -> bool: ...

    def close(self) -> None: ...


class EmbeddingThread:
    """Computes missing vectors while a chat is open: at the lowest priority, not while the user
    types or an answer streams, and those of messages, which are few and new, first for a while.
    """

    def __init__(
        self,
        semantic: SemanticSearch | SemanticEnsemble,
        is_busy: Callable[[], bool],
        messages: EmbeddingJob | None,
        progress: Progress | None = None,
    ) -> None:
        self._semantic = semantic
        self._progress = progress
        self._messages = messages
        self._is_busy = is_busy
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop computing, after the batch that is computed now."""
        self._stopped.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        # A question waits for a model that is being loaded: at the lowest priority, on a machine
        # with six busy programs, for a minute
        self._semantic.load()
        _lower_priority()
        # The stamp of the index when all its vectors were there
        complete: object = None
        messages_complete = True
        while not self._stopped.is_set():
            if self._messages and not self._must_pause():
                messages_complete = self._embed_messages(self._messages)
            # The vault is gone or its index is locked: a question will say so
            with suppress(ZkchatError):
                complete = self._embed_notes(complete)
            is_idle = (complete is not None and messages_complete) or self._semantic.has_failed
            self._stopped.wait(IDLE_SECONDS if is_idle else BUSY_SECONDS)
        if self._messages:
            self._messages.close()

    def _embed_messages(self, messages: EmbeddingJob) -> bool:
        """Compute vectors of messages for a while; whether none is missing."""
        end = time.monotonic() + MESSAGES_SECONDS
        return messages.compute_missing(lambda: self._must_pause() or time.monotonic() > end)

    def _embed_notes(self, complete: object) -> object:
        """Compute vectors of notes, unless the index is as it was when it was `complete`; the stamp
        of the index that is complete now.
        """
        stamp = self._semantic.index_stamp()
        if self._must_pause() or stamp == complete:
            return complete
        if self._semantic.compute_missing(self._progress, self._must_pause):
            return stamp
        if self._semantic.has_failed and self._progress:
            # Nothing grows until the next attempt
            self._progress(0, 0)
        return complete

    def _must_pause(self) -> bool:
        return self._stopped.is_set() or self._is_busy()


def _lower_priority() -> None:
    """Let the thread run when nothing else does. Elsewhere a priority belongs to the whole
    process.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
