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
from typing import Any, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import Waiting
from zkchat_cli.llm.base import DEFAULT_MAX_ANSWER, Delta, ReasoningPart, StreamFailed, StreamFinished, TextPart
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped

CLOSE_SECONDS = 0.1
"""How long a leaving reader waits for the connection to close."""
_log = logging.getLogger(__name__)


class HiddenPart(NamedTuple):
    """So many bytes of the answer that are not shown, such as a piece of a tool call: the timeout starts again."""

    size: int


_Queued = Delta | HiddenPart | None
Emit = Callable[[Delta | HiddenPart], None]
Call = Callable[[Emit], Coroutine[Any, Any, None]]
_LIMITED: dict[type, str] = {TextPart: "the answer", ReasoningPart: "the reasoning", HiddenPart: "the text of the tool calls"}


def stream_in_thread(
    call: Call, endpoint: Endpoint, timeout: float, stall_timeout: float, max_bytes: int = DEFAULT_MAX_ANSWER
) -> Generator[Delta, None, None]:
    """The deltas that `call` emits. Closing the generator cancels the call.

    It waits `timeout` seconds for the first delta, for which a model may have to be loaded, and `stall_timeout` for each further one. Only
    text, reasoning and tool calls count: a server that sends pings or empty deltas makes no progress. An answer whose text, reasoning or
    tool calls exceed `max_bytes` is cut there and finished with "length".
    """
    import asyncio  # 30 ms, which only a call of a server has to pay

    deltas: queue.SimpleQueue[_Queued] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(call(deltas.put))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        except ProviderError as e:
            deltas.put(StreamFailed(e))
        except Exception as e:  # a defect in a library or in zkchat must not end the conversation  # noqa: BLE001
            _log.exception("the call failed")
            problem = f"could not be called: {type(e).__name__}: {e}"
            deltas.put(StreamFailed(endpoint.error("server", problem, "Run it again with --verbose.")))
        finally:
            deltas.put(None)
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    thread = threading.Thread(target=run, name="model call", daemon=True)
    thread.start()
    started, rooms = False, dict.fromkeys(_LIMITED, max_bytes)
    try:
        while True:
            seconds = stall_timeout if started else timeout
            try:
                delta = _next_delta(deltas, seconds)
            except queue.Empty:
                delta = StreamFailed(endpoint.answer_timeout(seconds, started=started))
            if isinstance(delta, Waiting):  # repeated each second with the seconds that are left
                deadline, left = time.monotonic() + delta.seconds, delta.seconds
                while left > 0:
                    yield Waiting(left, delta.reason)
                    time.sleep(min(1.0, left))
                    left = deadline - time.monotonic() if deltas.empty() else 0.0
                continue
            if isinstance(delta, TextPart | ReasoningPart | HiddenPart):
                encoded = b"" if isinstance(delta, HiddenPart) else delta.text.encode("utf-8", "surrogatepass")
                room = rooms[type(delta)]
                rooms[type(delta)] -= delta.size if isinstance(delta, HiddenPart) else len(encoded)
                if rooms[type(delta)] < 0:
                    if not isinstance(delta, HiddenPart):
                        yield type(delta)(encoded[:room].decode("utf-8", "ignore"))
                    notice = f"{_LIMITED[type(delta)]} became longer than {max_bytes:,} bytes and was cut there"
                    yield StreamFinished("length", notice=notice, hint="llm.max_answer_bytes sets the limit.")
                    return
            if isinstance(delta, HiddenPart):
                continue
            yield delta or StreamFailed(endpoint.cut_off("it ended without a final event", started=started))
            if delta is None or isinstance(delta, StreamFinished | StreamFailed):
                return
            started = True
    finally:
        with suppress(RuntimeError):  # the call has ended, and its loop is closed
            loop.call_soon_threadsafe(task.cancel)
        thread.join(CLOSE_SECONDS)


def _next_delta(deltas: "queue.SimpleQueue[_Queued]", seconds: float) -> _Queued:
    """The next delta. Raises queue.Empty after so many seconds, and KeyboardInterrupt when another thread stops this one's work."""
    deadline = time.monotonic() + seconds
    while True:
        raise_if_stopped()
        left = deadline - time.monotonic()
        try:
            return deltas.get(timeout=max(0.0, min(left, STOP_INTERVAL)))
        except queue.Empty:
            if left <= STOP_INTERVAL:
                raise
