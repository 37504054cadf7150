"""JSON-RPC with one editor: each message is a JSON object on a line of its own.

One thread reads. Any thread may write, and wait for the answer to a request of its own.
"""

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from zkchat_cli.text.words import replace_surrogates

Json = dict[str, Any]

# Most bytes of a message
MAX_LINE = 50_000_000
# Error codes of JSON-RPC, and of the protocol
PARSE_ERROR = -32700
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
FAILED = -32603
NOT_LOGGED_IN = -32000
NOT_FOUND = -32002


class RequestRefused(Exception):
    """A request cannot be carried out: the error that its sender gets, or that the editor sent."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class EditorLeft(KeyboardInterrupt):
    """The editor no longer reads. What runs ends, in the same way as with Ctrl-C."""


class Params:
    """The parameters of a request. A wrong one raises RequestRefused that names it."""

    def __init__(self, values: object) -> None:
        self._values: Mapping[str, Any] = values if isinstance(values, dict) else {}

    def text(self, name: str) -> str:
        """A required text."""
        value = self.optional_text(name)
        if value is None:
            raise RequestRefused(INVALID_PARAMS, f"{name} is missing")
        return value

    def optional_text(self, name: str) -> str | None:
        """A text; None if it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise RequestRefused(INVALID_PARAMS, f"{name} must be a text")
        return replace_surrogates(value)

    def folder(self, name: str) -> Path | None:
        """An absolute path; None if it is missing or null."""
        value = self.optional_text(name)
        if value is not None and not Path(value).is_absolute():
            raise RequestRefused(INVALID_PARAMS, f"{name} must be an absolute path")
        return None if value is None else Path(value)

    def items(self, name: str) -> "list[Params]":
        """The objects of a list; an empty list if it is missing or null."""
        value = self._values.get(name)
        if not isinstance(value, list | None):
            raise RequestRefused(INVALID_PARAMS, f"{name} must be a list")
        return [Params(each) for each in value or []]

    def part(self, *names: str) -> "Params":
        """The object at this path of names; one without values if it is not there."""
        values: object = self._values
        for name in names:
            values = values.get(name) if isinstance(values, dict) else None
        return Params(values)

    def is_value(self, name: str, expected: object) -> bool:
        """Whether there is exactly this number or text."""
        value = self._values.get(name)
        return type(value) is type(expected) and value == expected

    def has(self, name: str) -> bool:
        """Whether there is a value that is not null or false, such as a capability."""
        return self._values.get(name) not in (None, False)


class EditorRequest(NamedTuple):
    """What the editor wants. A notification, which gets no answer, has no id."""

    method: str
    params: Params
    # A number or a text; unlike a notification, a request may have the id null
    id: Any = None
    is_notification: bool = False


class Connection:
    """The lines from and to an editor."""

    def __init__(self, lines: BinaryIO, output: BinaryIO) -> None:
        self._lines = lines
        self._output = output
        self._write_lock = threading.Lock()
        # The editor's answers that are waited for, by the ids of the requests
        self._waiting: dict[int, Future[Params]] = {}
        self._last_id = 0

    def read(self, handle: Callable[[EditorRequest], None]) -> None:
        """Pass each request to `handle`, until the editor closes its end."""
        while line := self._read_line():
            message = _parse(line)
            if message is None:
                self.refuse(None, RequestRefused(PARSE_ERROR, "a message is one JSON object"))
            elif isinstance(message.get("method"), str):
                params = Params(message.get("params"))
                request = EditorRequest(
                    message["method"], params, message.get("id"), "id" not in message
                )
                handle(request)
            else:
                self._take_answer(message)

    def _read_line(self) -> bytes:
        """The next line; only its beginning if it is too long to be a message."""
        line = self._lines.readline(MAX_LINE)
        rest = line
        while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
            rest = self._lines.readline(MAX_LINE)
        return line

    def notify(self, method: str, params: Json) -> None:
        """Tell the editor something. Raises EditorLeft, as do the following."""
        self._write({"method": method, "params": params})

    def request(self, method: str, params: Json) -> "Future[Params]":
        """Ask the editor something. If it refuses, the answer raises RequestRefused."""
        answer: Future[Params] = Future()
        with self._write_lock:
            self._last_id += 1
            id_ = self._last_id
            self._waiting[id_] = answer
        self._write({"id": id_, "method": method, "params": params})
        return answer

    def answer(self, id_: object, result: Json) -> None:
        """Answer a request of the editor."""
        self._write({"id": id_, "result": result})

    def refuse(self, id_: object, refusal: RequestRefused) -> None:
        """Answer a request of the editor with an error."""
        error: Json = {"code": refusal.code, "message": refusal.message}
        if refusal.data is not None:
            error["data"] = refusal.data
        self._write({"id": id_, "error": error})

    def _take_answer(self, message: Json) -> None:
        """Pass an answer to whoever waits for it."""
        id_ = message.get("id")
        answer = self._waiting.pop(id_, None) if isinstance(id_, int) else None
        if answer is None:
            return
        if "error" in message:
            answer.set_exception(RequestRefused(FAILED, str(message["error"])))
            return
        answer.set_result(Params(message.get("result")))

    def _write(self, message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        with self._write_lock:
            try:
                self._output.write(line.encode("ascii"))
                self._output.flush()
            # ValueError: the file is closed
            except (OSError, ValueError) as e:
                raise EditorLeft from e


def _parse(line: bytes) -> Json | None:
    """The message in a line; None if it is none."""
    with suppress(RecursionError, ValueError):
        message = json.loads(line)
        if isinstance(message, dict):
            return message
    return None
