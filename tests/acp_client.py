"""An editor, as a test uses it: it speaks with `zkchat acp` over pipes, keeps what the agent says,
and answers its questions in the same way each time.

Every message of the agent is checked against the protocol's published schema, in which no unknown
name is allowed. A message that does not fit fails the test at the end.
"""

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from conftest import Program, fork_server_address
from fork_server import ProgramRun
from jsonschema import Draft202012Validator, ValidationError

from zkchat_cli.acp import agent
from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions

SCHEMA = Path(__file__).parent / "samples" / "acp_schema.json"
# Seconds to wait for an answer, at most
PATIENCE = 240
ANSWERS = {
    "initialize": "InitializeResponse",
    "authenticate": "AuthenticateResponse",
    "session/new": "NewSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/list": "ListSessionsResponse",
    "session/close": "CloseSessionResponse",
    "session/delete": "DeleteSessionResponse",
    "session/set_mode": "SetSessionModeResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
    "session/prompt": "PromptResponse",
}
# Answers of an editor that are no option
CANCELLED = "cancelled"
REFUSAL = "an error"
SILENCE = "nothing"
# An editor that understands everything
EVERYTHING = {
    "session": {"compaction": {}, "notices": {}},
    "auth": {"terminal": True},
}


@cache
def validator(definition: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text())
    strict = {"$ref": f"#/$defs/{definition}", "unevaluatedProperties": False}
    return Draft202012Validator({**strict, "$defs": schema["$defs"]})


class Refused(Exception):
    """The agent has answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


class Editor:
    def __init__(self, to_agent: int, from_agent: int, answer: str = "no") -> None:
        self.answer = answer
        """The option that it chooses whenever the agent asks, or one of the answers below."""
        self.updates: list[dict[str, Any]] = []
        self.questions: list[dict[str, Any]] = []
        self.heard = threading.Event()
        """Set when the agent has said something of an answer."""
        self.asked = threading.Event()
        """Set when the agent has asked something."""
        self.told_models = threading.Event()
        self.invalid: list[str] = []
        self._output = os.fdopen(to_agent, "wb", buffering=0)
        self._lines = os.fdopen(from_agent, "rb")
        self._waiting: dict[Any, tuple[str, Future[Any]]] = {}
        self._count = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_line(self, line: bytes) -> None:
        self._output.write(line + b"\n")

    def start(self, method: str, id_: Any = None, **params: Any) -> "Future[Any]":
        """Send a request, without waiting for its answer."""
        self._count += 1
        id_ = self._count if id_ is None else id_
        answer: Future[Any] = Future()
        self._waiting[id_] = (method, answer)
        self.send({"id": id_, "method": method, "params": params})
        return answer

    def call(self, method: str, id_: Any = None, **params: Any) -> Any:
        return self.start(method, id_, **params).result(PATIENCE)

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def new_session(self, folder: Path, **params: Any) -> str:
        created = self.call("session/new", **{"cwd": str(folder), "mcpServers": [], **params})
        id_: str = created["sessionId"]
        return id_

    def start_prompt(self, session_id: str, *parts: Any) -> "Future[Any]":
        blocks = [
            {"type": "text", "text": part} if isinstance(part, str) else part for part in parts
        ]
        return self.start("session/prompt", sessionId=session_id, prompt=blocks)

    def ask(self, session_id: str, *parts: Any) -> str:
        """Send a prompt; gives the reason why the answer ended."""
        reason: str = self.start_prompt(session_id, *parts).result(PATIENCE)["stopReason"]
        return reason

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"]["text"] for update in self.of_kind(kind))

    def leave(self) -> None:
        """Close the editor's end, and wait until the agent has closed its own."""
        with suppress(OSError):
            self._output.close()
        self._reader.join(PATIENCE)
        self._lines.close()

    def _read(self) -> None:
        for line in self._lines:
            message = json.loads(line)
            if "method" not in message:
                self._take_answer(message)
            elif message["method"] == "session/update":
                self._take_update(message["params"])
            else:
                self._answer_question(message)

    def _check(self, definition: str, value: Any) -> None:
        try:
            validator(definition).validate(value)
        except ValidationError as e:
            self.invalid.append(f"{definition}: {e.message}: {json.dumps(value)}")

    def _take_answer(self, message: dict[str, Any]) -> None:
        if "error" in message:
            self._check("Error", message["error"])
        if message["id"] is None:
            return
        method, answer = self._waiting.pop(message["id"])
        if "error" in message:
            answer.set_exception(Refused(message["error"]))
        else:
            self._check(ANSWERS[method], message["result"])
            answer.set_result(message["result"])

    def _take_update(self, params: dict[str, Any]) -> None:
        self._check("SessionNotification", params)
        self._check("SessionUpdate", params["update"])
        self.updates.append(params["update"])
        if params["update"]["sessionUpdate"] == "agent_message_chunk":
            self.heard.set()
        if params["update"]["sessionUpdate"] == "config_option_update":
            self.told_models.set()

    def _answer_question(self, message: dict[str, Any]) -> None:
        assert message["method"] == "session/request_permission"
        self._check("RequestPermissionRequest", message["params"])
        self._check("ToolCallUpdate", message["params"]["toolCall"])
        self.questions.append(message["params"]["toolCall"])
        self.asked.set()
        outcome = {"outcome": "selected", "optionId": self.answer}
        if self.answer == CANCELLED:
            outcome = {"outcome": "cancelled"}
        if self.answer == REFUSAL:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        elif self.answer != SILENCE:
            self.send({"id": message["id"], "result": {"outcome": outcome}})


@contextmanager
def editor(
    zkchat: Program,
    *arguments: str,
    answer: str = "no",
    capabilities: dict[str, Any] | None = None,
) -> Iterator[Editor]:
    """An editor with an agent that it has started in the vault."""
    (theirs, to_agent), (from_agent, answers) = os.pipe(), os.pipe()
    streams = [theirs, answers, os.open(os.devnull, os.O_WRONLY)]
    run = ProgramRun(
        fork_server_address(),
        ["acp", *arguments],
        zkchat.environment,
        zkchat.vault,
        streams,
        terminal=False,
    )
    with _connected(Editor(to_agent, from_agent, answer), capabilities or {}) as client:
        yield client
    assert run.end() == 0


@contextmanager
def editor_in_process(
    zkchat: Program, model: str, *, unsafe: bool = False, answer: str = "no"
) -> Iterator[Editor]:
    """The same with an agent on a thread of this process."""
    (theirs, to_agent), (from_agent, answers) = os.pipe(), os.pipe()
    options = StartupOptions(model=model, unsafe=unsafe)

    def serve() -> None:
        with os.fdopen(theirs, "rb") as lines, os.fdopen(answers, "wb") as output:
            agent.serve(
                lambda folder: factory.open_app(options, zkchat.environment, folder), lines, output
            )

    thread = threading.Thread(target=serve)
    thread.start()
    with _connected(Editor(to_agent, from_agent, answer), {}) as client:
        yield client
    thread.join()


@contextmanager
def _connected(client: Editor, capabilities: dict[str, Any]) -> Iterator[Editor]:
    try:
        client.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        yield client
    finally:
        client.leave()
    assert client.invalid == []
