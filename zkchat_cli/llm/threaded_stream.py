"""Deltas from a call that runs on a thread of its own: the one who reads them can leave at any moment.

A library may hang where no signal reaches it (a name that resolves slowly, a server that says nothing); the reader waits on a queue
instead, with its own patience, and leaves within 0.2 s. Whatever the call does, the reader gets exactly one terminal, as its last delta.
"""

import logging
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, RetryDelay, StreamFailed, StreamFinished, TextPart
from zkchat_cli.llm.http_errors import Endpoint

if TYPE_CHECKING:
    import asyncio

LEAVING = 0.1
"""Seconds that a reader who leaves waits for the connection to be closed."""
ASKED_EACH = 0.05
"""Seconds after which it is asked again whether an answer is still wanted."""
ALIVE = TextPart("")
"""Put by a call whose server is at work on something that is not shown yet (a long tool call, say): patience begins anew."""
_log = logging.getLogger(__name__)

Put = Callable[[Delta], None]
Call = Callable[[Put], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait for the first delta (a model may have to be loaded), and for each further one."""

    first: float
    between: float


def stream_in_thread(
    call: Call, endpoint: Endpoint, patience: Timeouts, wanted: Callable[[], bool] | None = None
) -> Generator[Delta, None, None]:
    """The deltas that `call` puts, as they come. Closing the generator cancels it; so does `wanted`, once it says no (see Request)."""
    deltas: queue.SimpleQueue[Delta | None] = queue.SimpleQueue()
    running = _Running(call, deltas.put, endpoint)
    thread = threading.Thread(target=running.run, name="model call", daemon=True)
    thread.start()
    speaking = False
    try:
        while True:
            allowed = patience.between if speaking else patience.first
            try:
                delta = deltas.get(timeout=allowed) if wanted is None else _while_wanted(deltas, allowed, wanted)
            except _Unwanted:
                return
            except queue.Empty:
                yield StreamFailed(endpoint.silent(allowed, speaking=speaking))
                return
            if delta is ALIVE:
                continue
            if isinstance(delta, RetryDelay):
                yield from _counted_down(delta, deltas)
                continue
            if delta is None:
                yield StreamFailed(endpoint.broke_off("its last word is missing", begun=speaking))
                return
            yield delta
            if isinstance(delta, StreamFinished | StreamFailed):
                return
            speaking = True
    finally:
        running.cancel()
        thread.join(LEAVING)


class _Unwanted(Exception):
    """The reader does not want the answer any more."""


def _while_wanted(deltas: "queue.SimpleQueue[Delta | None]", seconds: float, wanted: Callable[[], bool]) -> Delta | None:
    """The next delta. Raises queue.Empty after so many seconds, and _Unwanted."""
    until = time.monotonic() + seconds
    while wanted():
        left = until - time.monotonic()
        try:
            return deltas.get(timeout=min(ASKED_EACH, max(left, 0.0)))
        except queue.Empty:
            if left <= ASKED_EACH:
                raise
    raise _Unwanted


def _counted_down(wait: RetryDelay, deltas: "queue.SimpleQueue[Delta | None]") -> Generator[RetryDelay, None, None]:
    """The wait, said again each second with what is left of it, so that a screen can count down."""
    until = time.monotonic() + wait.seconds
    while deltas.empty() and (left := until - time.monotonic()) > 0:
        yield RetryDelay(left, wait.reason)
        time.sleep(min(1.0, left))


class _Running:
    """The call on its own event loop. `cancel` may be called from any thread, before it has begun and after it has ended."""

    def __init__(self, call: Call, put: Callable[[Delta | None], None], endpoint: Endpoint) -> None:
        self._call, self._put, self._endpoint = call, put, endpoint
        self._lock = threading.Lock()
        self._cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def run(self) -> None:
        import asyncio  # 30 ms, which no command pays that calls nobody

        started = time.monotonic()
        try:
            asyncio.run(self._main())
        except ProviderError as e:
            self._put(StreamFailed(e))
        except RecursionError:  # JSON nested without end, which a library reads without thinking of that
            self._put(StreamFailed(self._endpoint.garbled()))
        except Exception as e:  # a defect of a library, or ours: the conversation goes on  # noqa: BLE001
            _log.exception("the call failed")
            self._put(
                StreamFailed(self._endpoint.error("server", f"could not be asked: {type(e).__name__}: {e}", "Run it again with --verbose."))
            )
        finally:
            self._put(None)
            _log.info("%s: call ended after %.2f s", self._endpoint.name, time.monotonic() - started)

    async def _main(self) -> None:
        import asyncio  # as above

        with self._lock:
            if self._cancelled:
                return
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.ensure_future(self._called())
        with suppress(asyncio.CancelledError):
            await self._task

    async def _called(self) -> None:
        await self._call(self._put)

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            if self._loop is not None and self._task is not None:
                with suppress(RuntimeError):  # it has ended, and its loop is closed
                    self._loop.call_soon_threadsafe(self._task.cancel)
