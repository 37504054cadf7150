"""Leaving a model call: at once, whatever it waits for, and the other side hears of it."""

import signal
import threading
import time
from collections.abc import Callable

import pytest
from model_calls import ANTHROPIC, OLLAMA, OPENAI, REQUEST, Protocol, open_model
from model_server import ModelServer, Reply, unresponsive_port

from zkchat_cli.events import TextDelta

BOTH = pytest.mark.parametrize(
    "protocol", [OPENAI, OLLAMA, ANTHROPIC], ids=lambda protocol: protocol.name
)
AT_ONCE = 0.5
"""Seconds; 0.2 are promised, the rest is for a busy machine."""


def interrupted(run: Callable[[], object], when: Callable[[], object]) -> float:
    """Seconds from the moment in which `when` is true to the end of `run`, which is stopped then as
    Ctrl-C does it.
    """
    sent: list[float] = []

    def press() -> None:
        while not when():
            time.sleep(0.01)
        time.sleep(0.1)
        sent.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    def ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, ctrl_c)
    presser = threading.Thread(target=press)
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
        return time.monotonic() - sent[0]
    finally:
        presser.join()
        signal.signal(signal.SIGUSR1, before)


def within(seconds: float, true: Callable[[], object]) -> bool:
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return bool(true())


@BOTH
def test_while_connecting(protocol: Protocol) -> None:
    with unresponsive_port() as address:
        stream = open_model(protocol.name, address).stream(REQUEST)
        start = time.monotonic()
        assert interrupted(lambda: list(stream), lambda: time.monotonic() - start > 0.2) < AT_ONCE


@BOTH
@pytest.mark.parametrize(
    "silent", [Reply([], before=10), Reply([10.0])], ids=["headers", "the first token"]
)
def test_while_waiting_for(server: ModelServer, protocol: Protocol, silent: Reply) -> None:
    server.says(silent)
    stream = open_model(protocol.name, protocol.address(server)).stream(REQUEST)
    assert interrupted(lambda: list(stream), lambda: server.asked) < AT_ONCE
    assert within(1, lambda: server.left == 1)


@BOTH
def test_between_tokens(server: ModelServer, protocol: Protocol) -> None:
    server.says(Reply([protocol.begin("A filter"), 10.0]))
    stream = open_model(protocol.name, protocol.address(server)).stream(REQUEST)
    assert next(stream) == TextDelta("A filter")
    assert interrupted(lambda: list(stream), lambda: True) < AT_ONCE
    assert within(1, lambda: server.left == 1)


@BOTH
def test_an_abandoned_call_does_not_block_the_next(server: ModelServer, protocol: Protocol) -> None:
    model = open_model(protocol.name, protocol.address(server))
    server.says(Reply([protocol.begin("A filter"), 10.0]), Reply(protocol.text("Hello")))
    stream = model.stream(REQUEST)
    next(stream)
    stream.close()
    assert [delta.text for delta in model.stream(REQUEST) if isinstance(delta, TextDelta)] == [
        "Hello"
    ]
