"""Deltas from a call on its own thread, so that the reader can leave at any moment.

A library may block where no signal reaches it (a slow name lookup, a silent server). The reader waits on a queue instead, with timeouts of
its own, and leaves within 0.2 s. However the call ends, the reader gets exactly one final delta.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, RetryDelay, StreamFailed, StreamFinished, TextPart
from zkchat_cli.llm.http_errors import Endpoint

if TYPE_CHECKING:
    import asyncio

CLOSE_SECONDS = 0.1
"""How long a leaving reader waits for the connection to close."""
POLL_SECONDS = 0.05
"""How often `wanted` is checked."""
HEARTBEAT = TextPart("")
"""Emitted when the server sends something that is not shown yet, such as a long tool call: the timeout starts again."""
_log = logging.getLogger(__name__)

Emit = Callable[[Delta], None]
Call = Callable[[Emit], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait for the first delta, for which a model may have to be loaded, and for each further one."""

    first: float
    between: float


def stream_in_thread(
    call: Call, endpoint: Endpoint, timeouts: Timeouts, wanted: Callable[[], bool] = lambda: True
) -> Generator[Delta, None, None]:
    """The deltas that `call` emits. Closing the generator cancels the call; so does `wanted` when it returns False (see Request)."""
    import asyncio  # 30 ms, which only a call of a server has to pay

    deltas: queue.SimpleQueue[Delta | None] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(call(deltas.put))
    thread = threading.Thread(target=_run, args=(loop, task, deltas.put, endpoint), name="model call", daemon=True)
    thread.start()
    started = False
    try:
        while True:
            seconds = timeouts.between if started else timeouts.first
            try:
                delta = _next_delta(deltas, seconds, wanted)
            except queue.Empty:
                if wanted():
                    yield StreamFailed(endpoint.answer_timeout(seconds, started=started))
                return
            if delta is HEARTBEAT:
                continue
            if isinstance(delta, RetryDelay):
                yield from _count_down(delta, deltas)
                continue
            if delta is None:
                yield StreamFailed(endpoint.cut_off("it ended without a final event", started=started))
                return
            yield delta
            if isinstance(delta, StreamFinished | StreamFailed):
                return
            started = True
    finally:
        with suppress(RuntimeError):  # the call has ended, and its loop is closed
            loop.call_soon_threadsafe(task.cancel)
        thread.join(CLOSE_SECONDS)


def _run(loop: "asyncio.AbstractEventLoop", task: "asyncio.Task[None]", put: Callable[[Delta | None], None], endpoint: Endpoint) -> None:
    """Run the call to its end on this thread, and report how it failed."""
    from asyncio import CancelledError  # as above

    started = time.monotonic()
    try:
        loop.run_until_complete(task)
    except CancelledError:
        pass
    except ProviderError as e:
        put(StreamFailed(e))
    except Exception as e:  # a defect in a library or in zkchat must not end the conversation  # noqa: BLE001
        _log.exception("the call failed")
        problem = f"could not be called: {type(e).__name__}: {e}"
        put(StreamFailed(endpoint.error("server", problem, "Run it again with --verbose.")))
    finally:
        put(None)
        _log.info("%s: call ended after %.2f s", endpoint.name, time.monotonic() - started)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _next_delta(deltas: "queue.SimpleQueue[Delta | None]", seconds: float, wanted: Callable[[], bool]) -> Delta | None:
    """The next delta. Raises queue.Empty after so many seconds, and when the answer is no longer wanted."""
    deadline = time.monotonic() + seconds
    while wanted() and (left := deadline - time.monotonic()) > 0:
        with suppress(queue.Empty):
            return deltas.get(timeout=min(POLL_SECONDS, left))
    raise queue.Empty


def _count_down(delay: RetryDelay, deltas: "queue.SimpleQueue[Delta | None]") -> Generator[RetryDelay, None, None]:
    """The delay, repeated each second with the seconds that are left."""
    deadline = time.monotonic() + delay.seconds
    while deltas.empty() and (left := deadline - time.monotonic()) > 0:
        yield RetryDelay(left, delay.reason)
        time.sleep(min(1.0, left))
