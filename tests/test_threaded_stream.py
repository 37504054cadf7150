"""A call on its own thread: the reader gets exactly one final delta, and can leave."""

import asyncio
import threading
from contextlib import suppress

from model_server import ModelServer, Reply

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import Delta, Emit, StreamFailed, StreamFinished
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.llm.stop_signal import STOP
from zkchat_cli.llm.threaded_stream import Call, StreamLimits, stream_in_thread

KEY = "sk-secret-0123456789"
SERVER = Endpoint("The server", "http://127.0.0.1:1", "Start it.", key=KEY)
END = StreamFinished("stop")


def deltas(call: Call, first: float = 5, between: float = 5) -> list[Delta]:
    return list(stream_in_thread(call, SERVER, StreamLimits(first, between, 9000)))


def emits(*wanted: Delta | int | float | Exception) -> Call:
    """A call that emits deltas, sleeps, and raises."""

    async def call(emit: Emit) -> None:
        for each in wanted:
            if isinstance(each, Exception):
                raise each
            if isinstance(each, float):
                await asyncio.sleep(each)
            else:
                emit(each)

    return call


def failure(*wanted: Delta | int | float | Exception) -> ProviderError:
    [*_, last] = deltas(emits(*wanted))
    assert isinstance(last, StreamFailed)
    return last.error


def test_deltas_come_in_order_up_to_the_first_final_one() -> None:
    assert deltas(emits(TextDelta("a"), TextDelta("b"), END, TextDelta("c"), END)) == [
        TextDelta("a"),
        TextDelta("b"),
        END,
    ]


def test_other_exception_is_reported_without_the_key() -> None:
    error = failure(ValueError(f"illegal header: Bearer {KEY}"))
    assert (error.kind, bool(error.hint)) == ("server", True)
    assert error.message.endswith("could not be called: ValueError: illegal header: Bearer …")


def test_timeout_starts_again_with_each_hidden_part() -> None:
    alive = [piece for _ in range(4) for piece in (1, 0.1)]
    assert deltas(emits(*alive, END), first=0.3) == [END]
    [last] = deltas(emits(1, 1.0), first=0.2)
    assert isinstance(last, StreamFailed)
    assert "sent nothing for 0.2 s" in last.error.message


def test_closing_does_not_wait_for_a_blocked_call() -> None:
    over = threading.Event()

    async def call(emit: Emit) -> None:
        emit(TextDelta("a"))
        # As a library does that knows nothing of event loops
        over.wait(5)

    stream = stream_in_thread(call, SERVER, StreamLimits(5, 5, 9000))
    next(stream)
    threading.Timer(3, over.set).start()
    stream.close()
    assert not over.is_set()
    over.set()


def test_another_thread_can_stop_the_wait_for_the_first_token_and_for_a_lookup(
    server: ModelServer,
) -> None:
    server.gets["/list"] = Reply([60.0])
    stop = threading.Event()
    ended = []

    def wait() -> None:
        STOP.set(stop)
        for run in (
            lambda: deltas(emits(60.0)),
            lambda: Endpoint("The server", server.address, "Start it.").fetch("/list"),
        ):
            with suppress(KeyboardInterrupt):
                run()
                ended.append("not stopped")
        ended.append("stopped")

    thread = threading.Thread(target=wait)
    thread.start()
    stop.set()
    thread.join(5)
    assert ended == ["stopped"]
