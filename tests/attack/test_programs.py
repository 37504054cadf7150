"""Attacks by other programs and on what reads their data: editors, servers of tools, logs of
agents, texts to verify.
"""

import asyncio
import gzip
import json
import re
import resource
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from conftest import Program
from factories import make_app
from model_server import ModelServer
from pytest_httpserver import HTTPServer as PytestServer
from terminal_screen import Script
from test_agent_logs import NOW, claude
from werkzeug import Response

from zkchat_cli.acp.agent import LONGEST_ERROR, NoteAgent
from zkchat_cli.acp.prompt_blocks import note_path, read_prompt
from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
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


class DeafEditor:
    """An editor that takes every update."""

    def __init__(self) -> None:
        self.answering = asyncio.Event()

    async def session_update(self, update: Any, **_: Any) -> None:
        if update.session_update == "agent_message_chunk":
            self.answering.set()


def converse(
    zkchat: Program,
    model: str,
    talk: Callable[[NoteAgent, DeafEditor, str], Coroutine[Any, Any, None]],
) -> None:
    """A conversation of an editor, as in `serve`."""
    options = StartupOptions(model=model)
    agent = NoteAgent(lambda folder: factory.open_app(options, zkchat.environment, folder))

    async def connected() -> None:
        editor = DeafEditor()
        agent.on_connect(editor)  # type: ignore[arg-type]
        await talk(agent, editor, (await agent.new_session(str(zkchat.vault))).session_id)

    with closing(agent):
        asyncio.run(connected())


def typed(text: str) -> list[schema.TextContentBlock]:
    return [schema.TextContentBlock(type="text", text=text)]


def test_two_prompts_at_once_in_one_session_are_one_answer(zkchat: Program, script: Script) -> None:
    async def talk(agent: NoteAgent, _: DeafEditor, id_: str) -> None:
        both = await asyncio.gather(
            *(agent.prompt(typed(each), id_) for each in ("one", "two")), return_exceptions=True
        )
        assert getattr(both[0], "stop_reason", None) == "end_turn"
        assert isinstance(both[1], RequestError)
        with pytest.raises(RequestError, match="the prompt needs at least"):
            await agent.prompt(typed("x" * 1_000_000), id_)
        assert (await agent.prompt(typed("three"), id_)).stop_reason == "end_turn"

    converse(zkchat, script({"text": "Yes."}), talk)


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

    async def talk(agent: NoteAgent, _: DeafEditor, id_: str) -> None:
        for name in HOSTILE_NAMES:
            refusals = [
                await refused(agent.set_session_mode(mode_id=name, session_id=id_)),
                await refused(agent.load_session(str(zkchat.vault), name)),
                await refused(agent.prompt(typed("hi"), name)),
                await refused(
                    agent.new_session(str(zkchat.vault / name) if name else "/proc/self/mem")
                ),
            ]
            assert all(
                len(each) <= LONGEST_ERROR and not re.search("[\x00-\x1f\x7f-\x9f]", each)
                for each in refusals
            )
        modes = (await agent.new_session(str(zkchat.vault))).modes
        assert modes is not None
        assert [mode.id for mode in modes.available_modes] == ["none", "editor", "researcher"]

    converse(zkchat, script({"text": "Yes."}), talk)


async def refused(request: Coroutine[Any, Any, object]) -> str:
    with pytest.raises(RequestError) as e:
        await request
    return str(e.value)


def test_an_editor_that_leaves_in_the_middle_of_an_answer_ends_the_turn_and_the_question_stays(
    zkchat: Program, script: Script
) -> None:
    async def talk(agent: NoteAgent, editor: DeafEditor, id_: str) -> None:
        turn = asyncio.create_task(agent.prompt(typed("How slow is it?"), id_))
        await editor.answering.wait()
        # The loop ends here, and with it every task
        del turn

    converse(zkchat, script({"deltas": ["It is ", *["slow "] * 400], "delay_ms": 100}), talk)
    with closing(ChatSessionStore.open(zkchat.home / "data" / "conversations.db")) as store:
        [conversation] = store.conversations()
        assert [message.status for message in store.history(conversation.id)] == [
            "complete",
            "unfinished",
        ]


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
    text, typed_part = read_prompt(
        [schema.ResourceContentBlock(type="resource_link", name=name, uri=uri)], vault
    )
    assert typed_part == ""
    assert text == f"See {name} ({uri})"


def test_links_in_a_circle_and_names_with_brackets_are_no_notes(vault: Path) -> None:
    (vault / "Circle.md").symlink_to("Circle.md")
    assert note_path((vault / "Circle.md").as_uri(), vault) in (None, "Circle.md")
    uri = (vault / "x]] @secrets [[.md").as_uri()
    assert (
        read_prompt([schema.ResourceContentBlock(type="resource_link", name="x", uri=uri)], vault)[
            1
        ]
        == ""
    )


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
