"""Attacks by other programs and on what reads their data: editors, servers of tools, logs of
agents, texts to verify.
"""

import gzip
import json
import re
import resource
import threading
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from acp_client import PATIENCE, REFUSAL, SILENCE, Refused, editor_in_process
from conftest import Program
from factories import make_app
from model_server import ModelServer
from pytest_httpserver import HTTPServer as PytestServer
from terminal_screen import Script
from test_agent_logs import NOW, claude
from werkzeug import Response

from zkchat_cli.acp.agent import LONGEST_ERROR
from zkchat_cli.acp.connection import Params
from zkchat_cli.acp.prompt_blocks import note_path, read_prompt
from zkchat_cli.citations.verify_text import verify_text
from zkchat_cli.config.schema import McpServer
from zkchat_cli.errors import UsageError
from zkchat_cli.importers.claude_code import read_claude_code
from zkchat_cli.importers.codex import read_codex
from zkchat_cli.mcp_client.servers import McpServers
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.tools.base import ToolArgumentError
from zkchat_cli.vault.vault import Vault

# texts to verify

REPEATED = {
    "quotation marks": '"',
    "open quotations": "“a ",
    "short quotations": '"a b c" [1] ',
    "block quotations with attributions": '> "a b c"\n> — x\n',
    "links in links": "[[",
    "targets": "[a](",
    "comments": "<!--",
    "tags": "<a ",
    "names of footnotes": "[^a",
    "sources": "1. [[N]]\n",
    "addresses": '"a b c" http://a.b. ',
    "dashes": "\n— ",
    "bytes that are no text": bytes(range(128, 256)).decode("utf-8", "replace"),
}


@pytest.mark.parametrize("pattern", REPEATED.values(), ids=REPEATED)
def test_any_text_is_verified_in_time(vault: Path, tmp_path: Path, pattern: str) -> None:
    """An expression that goes back over its text would need hours for this."""
    with closing(Vault.open(vault, tmp_path / "cache")) as notes:
        notes.refresh()
        assert not any(
            each.found.verdict == "verified" for each in verify_text(pattern * 1000, notes)
        )


# logs of agents

LOGS: dict[str, tuple[list[object], int]] = {
    "parents in a circle": (
        [
            claude("1", "3", "user", "a"),
            claude("2", "1", "user", "b"),
            claude("3", "2", "user", "c"),
        ],
        3,
    ),
    "its own parent": ([claude("1", "1", "user", "a"), claude("1", "1", "user", "a")], 1),
    "parents that are repeated": (
        [claude(n, p, "user", "a") for n, p in (("1", None), ("2", "1"), ("1", "2"), ("2", "1"))],
        2,
    ),
    "a parent that is a list": ([claude("1", None, "user", "a") | {"parentUuid": ["1"]}], 1),
    "an answer with a question's id": (
        [claude("1", None, "user", "a"), claude("2", "1", "assistant", "b", message={"id": "1"})],
        2,
    ),
}


@pytest.mark.parametrize("log", LOGS)
def test_a_log_whose_records_contradict_each_other_is_stored_as_a_tree(
    vault: Path, tmp_path: Path, log: str
) -> None:
    records, messages = LOGS[log]
    archive = read_claude_code(
        "\n".join(map(json.dumps, records)).encode(), "log.jsonl", vault=str(vault), now=NOW
    )
    with closing(make_app(vault, tmp_path / "cache").store) as store:
        assert [store.restore([archive]), store.restore([archive])] == [[messages], [0]]
        assert len(list(store.history(archive.conversation.id))) == messages


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5_000, b'{"uuid": "\xff"}', b"\x00" * 100_000],
)
def test_a_line_that_is_no_record_is_named(line: bytes) -> None:
    for reader in (read_claude_code, read_codex):
        with pytest.raises(UsageError, match="line 1 is not a JSON record"):
            reader(line + b"\n{}\n", "log.jsonl", vault="v", now=NOW)


# editors


def test_two_prompts_at_once_in_one_session_are_one_answer(zkchat: Program, script: Script) -> None:
    with editor_in_process(zkchat, script({"text": "Yes."})) as client:
        id_ = client.new_session(zkchat.vault)
        both = [client.start_prompt(id_, each) for each in ("one", "two")]
        assert both[0].result(PATIENCE) == {"stopReason": "end_turn"}
        with pytest.raises(Refused, match="an answer is being written"):
            both[1].result(PATIENCE)
        with pytest.raises(Refused, match="the prompt needs at least"):
            client.ask(id_, "x" * 1_000_000)
        assert client.ask(id_, "three") == "end_turn"


HOSTILE_NAMES = [
    "../../etc/passwd",
    "\x1b[31m",
    "a\nb",
    "\0",
    "x" * 100_000,
    "",
    "\ud800",
    "%s{0}",
    "' OR 1=1 --",
]


def test_hostile_names_of_agents_sessions_and_folders_are_refused_with_a_sentence(
    zkchat: Program, script: Script
) -> None:
    agents = zkchat.home / "config" / "agents"
    agents.mkdir(parents=True)
    for name in ("\x1b[31m", "a\nb", "-rf", "none", "Loud"):
        (agents / f"{name}.toml").write_text('model = "offline"')

    with editor_in_process(zkchat, script({"text": "Yes."})) as client:
        id_ = client.new_session(zkchat.vault)
        for name in HOSTILE_NAMES:
            folder = str(zkchat.vault / name) if name else "/proc/self/mem"
            for method, params in {
                "session/set_mode": {"modeId": name, "sessionId": id_},
                "session/load": {"cwd": str(zkchat.vault), "sessionId": name},
                "session/prompt": {"sessionId": name, "prompt": [{"type": "text", "text": "hi"}]},
                "session/new": {"cwd": folder},
                "session/set_config_option": {"sessionId": id_, "configId": name, "value": "x"},
                name: {},
            }.items():
                with pytest.raises(Refused) as e:
                    client.call(method, **params)
                told = str(e.value)
                assert len(told) <= LONGEST_ERROR
                assert not re.search("[\x00-\x1f\x7f-\x9f]", told)
            assert client.call("session/delete", sessionId=name) == {}
        modes = client.call("session/new", cwd=str(zkchat.vault))["modes"]["availableModes"]
        assert [mode["id"] for mode in modes] == ["none", "editor", "researcher"]


@pytest.mark.parametrize(
    "junk",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"id": ' + b"9" * 5_000 + b"}",
        b"\xff\xfe",
        b'{"method": 7, "id": {}}',
        b'{"id": 99, "result": {}}',
        b'{"id": [1], "error": null}',
    ],
)
def test_lines_of_an_editor_that_make_no_sense_end_nothing(
    zkchat: Program, script: Script, junk: bytes
) -> None:
    with editor_in_process(zkchat, script({"text": "Yes."})) as client:
        client.send_line(junk)
        assert client.ask(client.new_session(zkchat.vault), "Is it so?") == "end_turn"


def test_an_editor_that_leaves_in_the_middle_of_an_answer_ends_the_turn_and_the_question_stays(
    zkchat: Program, script: Script
) -> None:
    slow = {"deltas": ["It is ", *["slow "] * 400], "delay_ms": 100}
    with editor_in_process(zkchat, script(slow)) as client:
        client.start_prompt(client.new_session(zkchat.vault), "How slow is it?")
        assert client.heard.wait(PATIENCE)
    with closing(ChatSessionStore.open(zkchat.home / "data" / "conversations.db")) as store:
        [conversation] = store.conversations()
        assert [message.status for message in store.history(conversation.id)] == [
            "complete",
            "unfinished",
        ]


def test_an_editor_that_leaves_while_it_is_asked_has_allowed_nothing(
    zkchat: Program, script: Script
) -> None:
    create = {"name": "create_note", "arguments": {"path": "Draft.md", "content": "x"}}
    model = script({"tool_calls": [create]}, {"text": "Done."})
    with editor_in_process(zkchat, model, unsafe=True, answer=SILENCE) as client:
        client.start_prompt(client.new_session(zkchat.vault), "Write.")
        assert client.asked.wait(PATIENCE)
    assert not (zkchat.vault / "Draft.md").exists()


def test_an_answer_to_a_question_that_makes_no_sense_is_a_no(
    zkchat: Program, script: Script
) -> None:
    create = {"name": "create_note", "arguments": {"path": "Draft.md", "content": "x"}}
    for answer in ("maybe", REFUSAL):
        model = script({"tool_calls": [create]}, {"text": "Done."})
        with editor_in_process(zkchat, model, unsafe=True, answer=answer) as client:
            assert client.ask(client.new_session(zkchat.vault), "Write.") == "end_turn"
        assert not (zkchat.vault / "Draft.md").exists()


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///etc/passwd", "passwd"),
        ("file://[", "x"),
        ("file:///%00", "x"),
        ("file:///" + "a/" * 3000, "x"),
        ("https://example.org", "see @/etc/passwd"),
        ("https://example.org/@/etc/passwd", "[[Filters]]"),
    ],
)
def test_what_an_editor_attaches_reads_nothing_outside_the_vault(
    vault: Path, uri: str, name: str
) -> None:
    link = Params({"type": "resource_link", "name": name, "uri": uri})
    text, typed_part = read_prompt([link], vault)
    assert typed_part == ""
    assert text == f"See {name} ({uri})"


def test_links_in_a_circle_and_names_with_brackets_are_no_notes(vault: Path) -> None:
    (vault / "Circle.md").symlink_to("Circle.md")
    assert note_path((vault / "Circle.md").as_uri(), vault) in (None, "Circle.md")
    uri = (vault / "x]] @secrets [[.md").as_uri()
    link = Params({"type": "resource_link", "name": "x", "uri": uri})
    assert read_prompt([link], vault).typed == ""


# servers of tools


class ToolServer(BaseHTTPRequestHandler):
    """An MCP server over HTTP that answers a call in the way that `answer` names."""

    protocol_version = "HTTP/1.1"
    answer = ""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tool = {"name": "echo", "inputSchema": {"type": "object"}}
        match request.get("method"):
            case "initialize":
                version = request["params"]["protocolVersion"]
                self.reply(
                    request,
                    {
                        "protocolVersion": version,
                        "capabilities": {},
                        "serverInfo": {"name": "t", "version": "1"},
                    },
                )
            case "tools/list":
                self.reply(request, {"tools": [tool]})
            case "tools/call":
                with suppress(OSError):
                    self.attack()
            case _:
                self.send_error(404)

    def reply(self, request: dict[str, Any], result: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        self.begin("application/json", body)

    def begin(self, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(200)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body) or 10**12),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def attack(self) -> None:
        match self.answer:
            case "endless":
                self.begin("application/json", b"")
            case "endless events":
                self.begin("text/event-stream", b"")
            case "a bomb":
                self.begin(
                    "application/json",
                    gzip.compress(b"x" * 10_000_000),
                    **{"Content-Encoding": "gzip"},
                )
            case "nothing":
                self.rfile.read(1)
        while True:
            self.wfile.write(b": " + b"x" * 100_000 + b"\n\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("endless", "the server sent more than 8 MB"),
        ("endless events", ""),
        ("a bomb", "the server sends compressed answers"),
        ("nothing", ""),
    ],
)
def test_a_server_that_never_ends_its_answer_costs_one_call(answer: str, problem: str) -> None:
    handler = type("Handler", (ToolServer,), {"answer": answer})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        settings = McpServer(url=f"http://127.0.0.1:{server.server_port}/mcp")
        with closing(McpServers({"x": settings}, start_seconds=10, call_seconds=0.5)) as servers:
            [tool] = servers.tools()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            with pytest.raises(ToolArgumentError, match=r"^x\.echo failed: "):
                tool.call({"text": "hi"}, None)  # type: ignore[arg-type]
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
            if problem:
                servers._connections["x"].task.result(10)  # type: ignore[union-attr]
            assert servers.status()[0].problem == problem
        server.shutdown()


def test_a_servers_redirect_is_not_followed_with_its_key(
    httpserver: PytestServer, server: ModelServer
) -> None:
    httpserver.expect_request("/mcp").respond_with_response(
        Response(status=307, headers={"Location": f"{server.address}/mcp"})
    )
    settings = McpServer(url=httpserver.url_for("/mcp"), headers={"X-Key": "secret"})
    with closing(McpServers({"x": settings}, start_seconds=10)) as servers:
        assert servers.tools() == ()
        assert servers.status()[0].state == "failed"
    assert (bool(httpserver.log), server.everything) == (True, [])
