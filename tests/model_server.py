"""Model servers for tests: real HTTP on 127.0.0.1 in the format of Ollama, OpenAI or Anthropic,
with every kind of fault.

A server plays its replies in order, repeats the last one, and records the requests.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COUNTING = ("/input_tokens", "/apply-template", "/tokenize")
"""Ends of the paths that count tokens."""
RESET = "reset"
"""In a body: the connection is torn down there."""


@dataclass(frozen=True)
class Reply:
    """A status, headers, and a body in pieces: bytes are sent, numbers are seconds of silence,
    RESET tears the connection down.
    """

    body: Sequence[bytes | float | str] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    before: float = 0.0
    """Seconds of silence before the status."""


NOT_FOUND = Reply([b'{"error": "not found"}'], 404)


@dataclass
class ModelServer:
    """What the tests say to a running server, and what it was asked: `(path, body, headers)` of
    each call for an answer.
    """

    address: str
    replies: list[Reply] = field(default_factory=list)
    gets: dict[str, Any] = field(default_factory=dict)
    """What a GET of a path, or Ollama's POST to /api/show, is answered with: JSON, or a Reply."""
    asked: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    everything: list[str] = field(default_factory=list)
    """The method and path of each call, listings included."""
    raw: list[str] = field(default_factory=list)
    """The bodies as they came."""
    compute: Callable[[str, dict[str, Any]], Any] | None = None
    """What answers a POST by its path and body, if anything does: JSON, or a Reply; for None the
    replies are played.
    """
    left: int = 0
    """Connections that the other side closed before the answer was whole."""

    def says(self, *replies: Reply) -> None:
        self.replies = list(replies)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, body, _ in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model_server: ModelServer

    def do_GET(self) -> None:
        self.model_server.everything.append(f"GET {self.path}")
        self._listing(self.path)

    def do_POST(self) -> None:
        server = self.model_server
        server.everything.append(f"POST {self.path}")
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        if self.path in server.gets or self.path == "/api/show":
            self._listing(self.path)
            return
        computed = server.compute(self.path, body) if server.compute else None
        if self.path.endswith(COUNTING):
            self._answer(computed if computed is not None else NOT_FOUND)
            return
        server.raw.append(raw.decode())
        server.asked.append((self.path, body, {k.lower(): v for k, v in self.headers.items()}))
        if computed is not None:
            self._answer(computed)
            return
        self._play(server.replies[min(len(server.asked), len(server.replies)) - 1])

    def _listing(self, path: str) -> None:
        self._answer(self.model_server.gets.get(path, NOT_FOUND))

    def _answer(self, found: Any) -> None:
        self._play(
            found
            if isinstance(found, Reply)
            else Reply([json.dumps(found).encode()], headers={"content-type": "application/json"})
        )

    def _play(self, reply: Reply) -> None:
        self.close_connection = True
        try:
            self._be_silent(reply.before)
            self.send_response(reply.status)
            for name, value in (
                {"content-type": "text/event-stream", "connection": "close"} | reply.headers
            ).items():
                self.send_header(name, value)
            self.end_headers()
            for piece in reply.body:
                if isinstance(piece, bytes):
                    self.wfile.write(piece)
                    self.wfile.flush()
                elif piece == RESET:
                    self.connection.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                    )
                    self.connection.close()
                    return
                else:
                    self._be_silent(float(piece))
        except OSError:
            self.model_server.left += 1

    def _be_silent(self, seconds: float) -> None:
        """Wait, and notice when the other side leaves meanwhile."""
        until = time.monotonic() + seconds
        self.connection.settimeout(0.02)
        while time.monotonic() < until:
            with suppress(TimeoutError):
                if self.connection.recv(1) == b"":
                    raise ConnectionResetError
        self.connection.settimeout(None)

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running_server() -> Iterator[ModelServer]:
    """A server of its own for a test."""
    handler = type("Handler", (_Handler,), {})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    http.block_on_close = False
    handler.model_server = server = ModelServer(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, args=(0.005,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def closed_port() -> str:
    """The address of a port on which nothing listens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{s.getsockname()[1]}"


@contextmanager
def unresponsive_port() -> Iterator[str]:
    """The address of a port that answers no knock: it listens, but its queue is full."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        knocking = [socket.socket() for _ in range(4)]
        for one in knocking:
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        time.sleep(0.05)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        for one in knocking:
            one.close()


# OpenAI


def sse(*frames: Any) -> bytes:
    return b"".join(
        b"data: "
        + (f if isinstance(f, bytes) else json.dumps(f, ensure_ascii=False).encode())
        + b"\n\n"
        for f in frames
    )


def openai_delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def openai_text(
    *pieces: str, finish: str = "stop", usage: dict[str, Any] | None = None
) -> list[bytes | float | str]:
    """A whole answer, one event a piece."""
    body: list[bytes | float | str] = [sse(openai_delta(role="assistant", content=""))]
    body += [sse(openai_delta(content=piece)) for piece in pieces]
    body.append(sse(openai_delta(finish)))
    if usage is not None:
        body.append(sse({"id": "x", "choices": [], "usage": usage}))
    return [*body, sse(b"[DONE]")]


def openai_calls(*calls: tuple[str, str, str]) -> list[bytes | float | str]:
    """Calls as (id, name, arguments' JSON), arguments in two pieces as OpenAI sends them."""
    frames = []
    for i, (id_, name, arguments) in enumerate(calls):
        half = len(arguments) // 2
        head = {
            "index": i,
            "id": id_,
            "type": "function",
            "function": {"name": name, "arguments": arguments[:half]},
        }
        frames.append(openai_delta(tool_calls=[head]))
        frames.append(
            openai_delta(tool_calls=[{"index": i, "function": {"arguments": arguments[half:]}}])
        )
    return [sse(*frames, openai_delta("tool_calls")), sse(b"[DONE]")]


def openai_error(
    status: int, message: str, headers: dict[str, str] | None = None, **more: Any
) -> Reply:
    return Reply(
        [json.dumps({"error": {"message": message, **more}}).encode()],
        status,
        {"content-type": "application/json", **(headers or {})},
    )


# OpenAI's Responses API


def responses_events(*events: dict[str, Any]) -> bytes:
    """Events with their names, numbered as OpenAI numbers them."""
    numbered = ({"sequence_number": i, **event} for i, event in enumerate(events))
    return b"".join(
        b"event: "
        + e["type"].encode()
        + b"\ndata: "
        + json.dumps(e, ensure_ascii=False).encode()
        + b"\n\n"
        for e in numbered
    )


def responses_response(
    status: str, output: Sequence[dict[str, Any]] = (), **more: Any
) -> dict[str, Any]:
    """The whole response, as it is in the first and the last event."""
    shape = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": list(output),
    }
    return {
        **shape,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        **more,
    }


def responses_start() -> dict[str, Any]:
    return {"type": "response.created", "response": responses_response("in_progress")}


def responses_end(
    *output: dict[str, Any], status: str = "completed", **more: Any
) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": responses_response(status, output, **more)}


def responses_message(text: str, **more: Any) -> dict[str, Any]:
    content = (
        [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}] if text else []
    )
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
        **more,
    }


def responses_item(
    index: int, item: dict[str, Any], *deltas: dict[str, Any], **empty: Any
) -> list[dict[str, Any]]:
    """An item of the output, begun as `empty` says, written and ended."""
    place = {"item_id": item["id"], "output_index": index}
    return [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**item, "status": "in_progress", **empty},
        },
        *({**place, **delta} for delta in deltas),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def responses_text_delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "content_index": 0, "delta": text, "logprobs": []}


def responses_begun(text: str) -> bytes:
    """Some text, with more to come."""
    return responses_events(
        responses_start(),
        *responses_item(0, responses_message(text), responses_text_delta(text), content=[])[:2],
    )


def responses_text(
    *pieces: str, finish: str = "stop", usage: dict[str, Any] | None = None
) -> list[bytes | float | str]:
    """A whole answer, one event a piece."""
    message = responses_message("".join(pieces))
    item = responses_item(0, message, *map(responses_text_delta, pieces), content=[])
    cut = (
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        if finish == "length"
        else {}
    )
    return [
        responses_events(event)
        for event in (responses_start(), *item, responses_end(message, usage=usage, **cut))
    ]


def responses_reasoning(index: int, summary: str, encrypted: str) -> list[dict[str, Any]]:
    item = {
        "type": "reasoning",
        "id": f"rs_{index}",
        "summary": [{"type": "summary_text", "text": summary}],
        "encrypted_content": encrypted,
    }
    delta = {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": summary}
    return responses_item(index, item, delta, summary=[], encrypted_content="")


def responses_call(index: int, id_: str, name: str, arguments: str) -> list[dict[str, Any]]:
    """A call of a tool, its arguments' JSON in two pieces."""
    half = len(arguments) // 2
    item = {
        "type": "function_call",
        "id": f"fc_{index}",
        "call_id": id_,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }
    deltas = (
        {"type": "response.function_call_arguments.delta", "delta": piece}
        for piece in (arguments[:half], arguments[half:])
    )
    return responses_item(index, item, *deltas, arguments="")


def responses_calls(*calls: tuple[str, str, str]) -> list[bytes | float | str]:
    events = [event for i, call in enumerate(calls) for event in responses_call(i, *call)]
    return [responses_events(responses_start(), *events, responses_end())]


# Ollama


def ndjson(*frames: Any) -> bytes:
    return b"".join(
        (f if isinstance(f, bytes) else json.dumps(f, ensure_ascii=False).encode()) + b"\n"
        for f in frames
    )


def ollama_frame(content: str = "", done: bool = False, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    return {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": done,
        **more,
    }


def ollama_end(reason: str = "stop") -> dict[str, Any]:
    return ollama_frame(
        done=True,
        done_reason=reason,
        prompt_eval_count=20,
        eval_count=3,
        total_duration=1,
        eval_duration=1,
    )


def ollama_text(*pieces: str, finish: str = "stop") -> list[bytes | float | str]:
    return [*(ndjson(ollama_frame(piece)) for piece in pieces), ndjson(ollama_end(finish))]


def ollama_calls(*calls: tuple[str, dict[str, Any]]) -> list[bytes | float | str]:
    wanted = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    return [ndjson(ollama_frame(message={"tool_calls": wanted}), ollama_end())]


def ollama_error(
    status: int, message: str, headers: dict[str, str] | None = None, **more: Any
) -> Reply:
    return Reply(
        [json.dumps({"error": message, **more}).encode()],
        status,
        {"content-type": "application/json", **(headers or {})},
    )


# Anthropic


def anthropic_events(*events: Any) -> bytes:
    """Events with their names, as JSON; bytes are sent as the data of an event that claims to be
    text.
    """
    sent = b""
    for event in events:
        name = "content_block_delta" if isinstance(event, bytes) else event["type"]
        data = event if isinstance(event, bytes) else json.dumps(event, ensure_ascii=False).encode()
        sent += b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
    return sent


def anthropic_start(**usage: int) -> dict[str, Any]:
    usage = usage or {"input_tokens": 20, "output_tokens": 1}
    return {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
            "usage": usage,
        },
    }


def anthropic_begun(text: str) -> bytes:
    """Some text, with more to come."""
    return anthropic_events(
        anthropic_start(),
        *anthropic_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})[:2],
    )


def anthropic_block(
    index: int, block: dict[str, Any], *deltas: dict[str, Any]
) -> list[dict[str, Any]]:
    """A block of content, begun, written and ended."""
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def anthropic_end(reason: str = "end_turn", output: int = 3, **delta: Any) -> list[dict[str, Any]]:
    ended = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, **delta},
        "usage": {"output_tokens": output},
    }
    return [ended, {"type": "message_stop"}]


def anthropic_text(
    *pieces: str, finish: str = "end_turn", **usage: int
) -> list[bytes | float | str]:
    """A whole answer, one event a piece, with a ping as Anthropic sends them."""
    start, *deltas, stop = anthropic_block(
        0, {"type": "text", "text": ""}, *({"type": "text_delta", "text": p} for p in pieces)
    )
    events = [
        anthropic_start(**usage),
        {"type": "ping"},
        start,
        *deltas,
        stop,
        *anthropic_end(finish),
    ]
    return [anthropic_events(event) for event in events]


def anthropic_call(index: int, id_: str, name: str, arguments: str) -> list[dict[str, Any]]:
    """A call of a tool, its arguments' JSON in two pieces after an empty one, as Anthropic sends
    them.
    """
    half = len(arguments) // 2
    pieces = ("", arguments[:half], arguments[half:])
    block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
    return anthropic_block(
        index, block, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    )


def anthropic_calls(
    *calls: tuple[str, str, str], finish: str = "tool_use"
) -> list[bytes | float | str]:
    events = [event for i, call in enumerate(calls) for event in anthropic_call(i, *call)]
    return [anthropic_events(anthropic_start(), *events, *anthropic_end(finish))]


def anthropic_thinking(index: int, text: str, signature: str) -> list[dict[str, Any]]:
    deltas = (
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": signature},
    )
    return anthropic_block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas)


def anthropic_error_event(kind: str, message: str) -> dict[str, Any]:
    """An error, as an event or a body."""
    return {"type": "error", "error": {"type": kind, "message": message}}


def anthropic_error(
    status: int, message: str, headers: dict[str, str] | None = None, kind: str = "api_error"
) -> Reply:
    return Reply(
        [json.dumps(anthropic_error_event(kind, message)).encode()],
        status,
        {"content-type": "application/json", **(headers or {})},
    )
