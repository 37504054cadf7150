"""A model call on a thread of its own: its deltas as a generator that can be left at any time.

A library may block where no signal reaches it (a slow name lookup, a silent server). So the call
runs on another thread, and the reader waits on a queue, which it can leave within 0.2 s.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, TextWithdrawn, Waiting
from zkchat_cli.llm.base import Delta, Emit, StreamFailed, StreamFinished
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped

# Seconds that a leaving reader waits for the connection to close
CLOSE_SECONDS = 0.1
_LIMITED: dict[type, str] = {
    TextDelta: "the answer",
    ReasoningDelta: "the reasoning",
    int: "the text of the tool calls",
}
Call = Callable[[Emit], Coroutine[Any, Any, None]]
"""A model call: it emits its deltas, and a final one at the end; before the first, it may wait for
another attempt.
"""
_log = logging.getLogger(__name__)


class StreamLimits(NamedTuple):
    """The limits of one call: seconds to wait for the first delta, which may take long because a
    model is loaded first; seconds to wait for each further one; and the most bytes to take of an
    answer's text, of its reasoning and of its tool calls each.
    """

    timeout: float
    stall_timeout: float
    max_bytes: int


class _RemainingRoom:
    """How many bytes of text, reasoning and tool calls an answer may still have."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rooms = dict.fromkeys(_LIMITED, max_bytes)

    def fit(self, delta: TextDelta | ReasoningDelta) -> Delta:
        """The delta, cut if it is too long."""
        encoded = delta.text.encode("utf-8", "surrogatepass")
        room = self._rooms[type(delta)]
        self._rooms[type(delta)] = room - len(encoded)
        if len(encoded) <= room:
            return delta
        return type(delta)(encoded[:room].decode("utf-8", "ignore"))

    def take(self, hidden_bytes: int) -> None:
        """Count bytes of tool calls, which are not shown."""
        self._rooms[int] -= hidden_bytes

    def exceeded(self) -> StreamFinished | None:
        """The end of an answer that became too long; None as long as it has room."""
        for kind, room in self._rooms.items():
            if room < 0:
                notice = (
                    f"{_LIMITED[kind]} became longer than {self._max_bytes:,} bytes and was cut "
                    "there"
                )
                return StreamFinished(
                    "length", notice=notice, hint="llm.max_answer_bytes sets the limit."
                )
        return None


class _CallThread:
    """A call that runs on a thread and puts its deltas into a queue."""

    def __init__(self, call: Call, endpoint: Endpoint) -> None:
        # Deferred: it takes 30 ms, which only a call of a server has to pay
        import asyncio

        self.deltas: queue.SimpleQueue[Delta | int] = queue.SimpleQueue()
        self._endpoint = endpoint
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(call(self.deltas.put))
        self._thread = threading.Thread(target=self._run, name="model call", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # Deferred: see __init__
        import asyncio

        try:
            with suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._task)
                # After a final delta nobody reads this one
                self.deltas.put(
                    StreamFailed(self._endpoint.cut_off("the call ended without an outcome"))
                )
        except ProviderError as e:
            self.deltas.put(StreamFailed(e))
        except Exception as e:  # noqa: BLE001
            # A defect in a library or in zkchat must not end the conversation.
            _log.exception("the call failed")
            problem = f"could not be called: {type(e).__name__}: {e}"
            error = self._endpoint.error("server", problem, "Run it again with --verbose.")
            self.deltas.put(StreamFailed(error))
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def cancel(self) -> None:
        """End the call, and wait a moment for its connection to close."""
        # RuntimeError: the call has ended, and its loop is closed
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(CLOSE_SECONDS)


def stream_in_thread(
    call: Call, endpoint: Endpoint, limits: StreamLimits
) -> Generator[Delta, None, None]:
    """The deltas that `call` emits on a thread of its own, exactly one of them final. Closing the
    generator cancels the call.

    Only text, reasoning and tool calls start the time-out again: a server that sends pings or empty
    deltas makes no progress. An answer with more bytes than the limit is cut there and finished
    with "length".
    """
    thread = _CallThread(call, endpoint)
    room = _RemainingRoom(limits.max_bytes)
    seconds = limits.timeout
    deadline = time.monotonic() + seconds
    try:
        while True:
            raise_if_stopped()
            try:
                delta = thread.deltas.get(timeout=min(STOP_INTERVAL, seconds))
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                delta = StreamFailed(endpoint.silent(seconds))
            match delta:
                case int():
                    room.take(delta)
                case TextDelta() | ReasoningDelta():
                    yield room.fit(delta)
                    seconds = limits.stall_timeout
                case TextWithdrawn():
                    yield delta
                case Waiting():
                    yield delta
                    # The next attempt has the time of a first one
                    seconds = delta.seconds + limits.timeout
                case _:
                    yield delta
                    return
            if end := room.exceeded():
                yield end
                return
            deadline = time.monotonic() + seconds
    finally:
        thread.cancel()
