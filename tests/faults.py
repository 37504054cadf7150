"""What goes wrong with a model's server, whichever language it speaks: one table, played on a real server in a provider's own words."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from building import prompt_message
from speaking import RESET, ModelServer, Reply

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, Model, ReasoningPart, Request, RetryDelay, StreamFailed, StreamFinished, TextPart

KEY = "sk-test-0123456789"
Body = list[bytes | float | str]


@dataclass(frozen=True)
class Dialect:
    """How one provider's servers speak, and how a model at one of them is opened.

    `text` gives a whole answer of these pieces; `begun` one that has said "Hel" and does not end; `garbage` an event that is none;
    `error` an answer with an error's status, words and headers, which says the key, too; `too_long` that for a prompt of 200082 tokens;
    `models` a listing of the models "clam" and "claude".
    """

    open: Callable[..., Model]
    """Called with an address; with the key KEY, for the model "m", patient for 5 s and quick to try again."""
    text: Callable[..., Body]
    begun: bytes
    empty: Body
    garbage: bytes
    error: Callable[[int, str, dict[str, str] | None], Reply]
    too_long: Reply
    models_at: str
    models: object


@dataclass(frozen=True)
class Fault:
    """Replies and what they come to: the error's kind, how many calls were made, the text that was kept, words of the message or hint."""

    name: str
    replies: Callable[[Dialect], Sequence[Reply]]
    kind: str | None
    tries: int = 1
    text: str = ""
    says: str = ""

    def __str__(self) -> str:
        return self.name


def _error(status: int, words: str = "so it is", **headers: str) -> Callable[[Dialect], Sequence[Reply]]:
    return lambda d: [d.error(status, words, {name.replace("_", "-"): value for name, value in headers.items()})]


def _then_well(status: int, **headers: str) -> Callable[[Dialect], Sequence[Reply]]:
    return lambda d: [*_error(status, **headers)(d), Reply(d.text("Hello"))]


HTML = b"<html><body>Welcome to the hotel's Wi-Fi</body></html>"
FAULTS = (
    Fault("401", _error(401), "auth", says="rejects the key (401)"),
    Fault("403", _error(403), "auth", says="(403): so it is"),
    Fault("404", _error(404), "unknown_model", says="has no model m (404) It has clam, claude."),
    Fault("400", _error(400), "bad_request", says="rejects the request (400): so it is"),
    Fault("prompt too long", lambda d: [d.too_long], "context_length", says="200082"),
    Fault("302", lambda _: [Reply([b""], 302, {"location": "/elsewhere"})], "bad_request", says="(302)"),
    Fault("429 with Retry-After", _then_well(429, retry_after="0"), None, tries=2, text="Hello"),
    Fault("429 without", _error(429), "rate_limit", tries=3, says="(429)"),
    Fault("429 with a long Retry-After", _error(429, retry_after="300"), "rate_limit", says="Try again in 300 s."),
    Fault("500 three times", _error(500), "server", tries=3, says="failed (500): so it is"),
    Fault("500 once", _then_well(500), None, tries=2, text="Hello"),
    Fault("502 once", _then_well(502), None, tries=2, text="Hello"),
    Fault("503 three times", _error(503), "server", tries=3, says="(503)"),
    Fault("HTML", lambda _: [Reply([HTML], 200, {"content-type": "text/html"})], "bad_answer", says="a web page instead of JSON"),
    Fault("HTML as a stream", lambda _: [Reply([HTML])], "bad_answer", says="a web page instead of JSON"),
    Fault("HTML as an error", lambda _: [Reply([HTML], 502, {"content-type": "text/html"})], "server", tries=3, says="failed (502)"),
    Fault("JSON cut off", lambda _: [Reply([b'{"id": "x", "con'], 200, {"content-type": "application/json"})], "bad_answer"),
    Fault("an event cut off", lambda d: [Reply([d.begun, d.text("lo")[0][:20]])], "cut", text="Hel"),  # type: ignore[index]
    Fault("no last event, nothing said", lambda _: [Reply([])], "cut", tries=3),
    Fault("no last event", lambda d: [Reply([d.begun])], "cut", text="Hel"),
    Fault("a reset before the text", lambda _: [Reply([RESET])], "cut", tries=3),
    Fault("a reset before the text, once", lambda d: [Reply([RESET]), Reply(d.text("Hello"))], None, tries=2, text="Hello"),
    Fault("a reset after text", lambda d: [Reply([d.begun, 0.02, RESET])], "cut", text="Hel"),
    Fault("a garbage event", lambda d: [Reply([d.begun, d.garbage, *d.text("lo")])], "bad_answer", text="Hel"),
    Fault("an empty answer", lambda d: [Reply(d.empty)], None),
)


@dataclass
class Heard:
    """What a call came to."""

    deltas: list[Delta]
    seconds: float

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, TextPart))

    @property
    def reasoning(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, ReasoningPart))

    @property
    def waits(self) -> list[RetryDelay]:
        return [delta for delta in self.deltas if isinstance(delta, RetryDelay)]

    @property
    def error(self) -> ProviderError | None:
        last = self.deltas[-1]
        return last.error if isinstance(last, StreamFailed) else None


def a_request(*texts: str) -> Request:
    """Messages of a user, with instructions before them."""
    return Request((prompt_message("system", "Be brief.", "system"), *(prompt_message("user", text) for text in texts or ("Hi",))))


def heard(model: Model, request: Request | None = None) -> Heard:
    """A call to its end, which is exactly one terminal."""
    started = time.monotonic()
    deltas = list(model.stream(request or a_request()))
    assert [isinstance(delta, StreamFinished | StreamFailed) for delta in deltas] == [False] * (len(deltas) - 1) + [True]
    return Heard(deltas, time.monotonic() - started)


def suffer(fault: Fault, dialect: Dialect, server: ModelServer) -> Heard:
    """A call that meets the fault, held against what the table says."""
    server.says(*fault.replies(dialect))
    server.gets[dialect.models_at] = dialect.models
    call = heard(dialect.open(server.address))
    assert (call.error.kind if call.error else None, call.text, len(server.asked)) == (fault.kind, fault.text, fault.tries)
    assert len(list(takewhile(lambda d: isinstance(d, RetryDelay), call.deltas))) == len(call.waits)
    if call.error:
        assert fault.says in f"{call.error.message} {call.error.hint}"
        assert KEY not in f"{call.error.message} {call.error.hint}"
    return call


PHASES: dict[str, Callable[[Dialect], Reply]] = {
    "waiting for the first word": lambda _: Reply([90.0]),
    "streaming": lambda d: Reply([d.begun, 90.0]),
    "waiting to try again": lambda d: d.error(503, "busy", {"retry-after": "30"}),
}
"""Where a call may be when its reader leaves. Left to itself each takes longer than SOON."""
SOON = 20.0
"""Seconds by which anything is done on the busiest machine that does not wait for a silent server; how quick it is, the benchmark tells."""


def interrupted(stream: Iterator[Delta], when: Callable[[], bool]) -> float:
    """Press Ctrl-C while the stream is read, shortly after it has come so far; the seconds until the reader is free."""
    pressed: list[float] = []

    def press() -> None:
        until = time.monotonic() + SOON
        while not when() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
        pressed.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    try:
        for _ in stream:
            pass
    except KeyboardInterrupt:
        return time.monotonic() - pressed[0]
    raise AssertionError("the stream ended before anybody left")


def closed(stream: Iterator[Delta]) -> float:
    """Leave after the first delta; the seconds that takes."""
    next(stream)
    started = time.monotonic()
    stream.close()  # type: ignore[attr-defined]
    return time.monotonic() - started


def left_alone(server: ModelServer, seconds: float = SOON) -> bool:
    """Whether the server sees, by then, that the other side has closed the connection."""
    until = time.monotonic() + seconds
    while not server.left and time.monotonic() < until:
        time.sleep(0.01)
    return server.left == 1
