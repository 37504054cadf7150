"""`zkchat mcp`, as a client of the official SDK sees it: over a pipe, unless a test says
otherwise.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from conftest import FORK_SERVER, NOTES, Program, fork_server_address, write_notes
from mcp import Client, MCPError
from mcp_client import NoteClient, Refused, connected_by_http, connected_by_pipe

from zkchat_cli.config.schema import McpServer
from zkchat_cli.mcp.calls import run_in_thread
from zkchat_cli.mcp.lenient_messages import without_halves
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.mcp_client.servers import McpServers
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.index.values import Progress
from zkchat_cli.vault.vault import Vault

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "mcp.md"
MORE_NOTES = {
    "Dead.md": "A [[Missing]] note, tagged #unfinished.\n",
    "Long.md": "\n".join(f"Line {n} of a long note that is read in pieces." for n in range(1, 2001))
    + "\n",
}


@dataclass
class Server:
    """A server process on a vault of its own, and its client."""

    program: Program
    client: NoteClient
    log: Path


@contextmanager
def serving(
    folder: Path, *options: str, as_installed: bool = False, **client_options: Any
) -> Iterator[Server]:
    program = Program(write_notes(folder / "notes", {**NOTES, **MORE_NOTES}), folder / "home")
    started = ["-m", "zkchat_cli"] if as_installed else [FORK_SERVER, fork_server_address()]
    command = [sys.executable, *started, "mcp", "--vault", str(program.vault), *options]
    log = folder / "log"
    with (
        log.open("w") as stream,
        connected_by_pipe(command, program.environment, stream, **client_options) as client,
    ):
        yield Server(program, client, log)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for most tests of the file. When they are over, it has written nothing to its
    log.
    """
    with serving(tmp_path_factory.mktemp("mcp"), as_installed=True) as server:
        yield server
        assert "Traceback" not in server.log.read_text()


@pytest.fixture
def client(server: Server) -> NoteClient:
    return server.client


# tools


def test_every_tool_is_documented_and_read_only_and_has_an_output_schema(
    client: NoteClient,
) -> None:
    tools = client.run("list_tools").tools
    needed = {tool.name: tool.input_schema.get("required", ()) for tool in tools}
    arguments = {
        t.name: ", ".join(
            each if each in needed[t.name] else f"{each}?" for each in t.input_schema["properties"]
        )
        for t in tools
    }
    assert {f"{name}({its})" for name, its in arguments.items()} == set(
        re.findall(r"`(\w+\([^`]*\))`", PAGE.read_text(encoding="utf-8"))
    )
    for tool in tools:
        assert (
            tool.annotations.read_only_hint
            and tool.output_schema["properties"]
            and len(tool.description) > 20
        )


def test_search_notes_finds_passages_with_their_lines_and_is_narrowed_by_path_tag_and_date(
    client: NoteClient,
) -> None:
    first, *_ = client.call("search_notes", query="due today")["results"]
    assert (first["relative_path"], first["heading"], first["start_line"]) == (
        "Filters.md",
        "Filters",
        5,
    )
    assert "due today" in first["text"] and first["score"] > 0
    found = client.call("search_notes", query="filters", path="Queries/")["results"]
    assert {each["relative_path"] for each in found} == {"Queries/Combining.md"}
    assert [
        each["relative_path"]
        for each in client.call("search_notes", query="", tag="unfinished")["results"]
    ] == ["Dead.md"]
    assert client.call("search_notes", query="filters", after="2999")["results"] == []


def test_capped_results_say_that_there_is_more(client: NoteClient) -> None:
    found = client.call("search_notes", query="filter line note", limit=1)
    assert len(found["results"]) == 1 and "limit up to 50" in found["more"]
    listed = client.call("list_notes", folder="Queries", limit=1)
    assert [note["relative_path"] for note in listed["notes"]] == ["Queries/Combining.md"]
    assert listed["total"] == 2 and listed["more"].startswith("1 more")


def test_read_note_returns_lines_or_a_section_and_a_long_note_in_pieces_without_a_gap(
    client: NoteClient,
) -> None:
    read = client.call("read_note", path="Queries/Limiting.md", start_line=3, end_line=3)
    assert (read["text"], read["start_line"], read["end_line"]) == (
        "Write `limit 10` to see ten tasks at most.",
        3,
        3,
    )
    assert client.call("read_note", path="[[Combining#Nesting]]")["text"].startswith("## Nesting")
    pieces = [client.call("read_note", path="Long")]
    while (more := pieces[-1]["more"]) is not None:
        pieces.append(
            client.call(
                "read_note", path="Long", start_line=int(more.rpartition("=")[2].rstrip("."))
            )
        )
    assert len(pieces) > 1
    assert "\n".join(piece["text"] for piece in pieces) + "\n" == MORE_NOTES["Long.md"]


def test_links_are_resolved_followed_and_connected(client: NoteClient) -> None:
    [link] = client.call("resolve_link", link="[[Search conditions#Dates]]")["links"]
    assert (link["target"], link["heading"], link["via"]) == ("Filters.md", "Dates", "alias")
    [back] = client.call("backlinks", path="Combining")["links"]
    assert (back["source"], back["line"]) == ("Filters.md", 7)
    [broken] = client.call("links", path="Dead.md")["links"]
    assert (broken["raw"], broken["target"]) == ("[[Missing]]", None)
    assert client.call("link_path", source="Combining", target="Filters")["notes"] == [
        "Queries/Combining.md",
        "Filters.md",
    ]
    assert client.call("link_path", source="Compost", target="Filters")["notes"] is None


def test_verify_quotations_and_count_tokens_have_the_documents_of_the_commands(
    server: Server,
) -> None:
    text = (
        '"needs air, water and patience" [[Compost]] and "needs air, water and prayers" [[Compost]]'
    )
    by_command = server.program("verify", "-", "--json", stdin=text).json
    # A text that is sent is no note, so it has no stamp
    assert (by_command.pop("stamp"), by_command.pop("stamped")) == (None, False)
    assert server.client.call("verify_quotations", text=text) == by_command
    assert [each["verdict"] for each in by_command["quotations"]] == ["verified", "misquoted"]
    assert (
        server.client.call("count_tokens", text=text)
        == server.program("tokens", "--json", stdin=text).json
    )


def test_search_conversations_finds_what_was_said_since_the_server_started(server: Server) -> None:
    assert server.client.call("search_conversations", query="compost heap")["results"] == []
    server.program("ask", "is my compost heap ready?")
    roles = {
        each["role"]
        for each in server.client.call("search_conversations", query="compost heap")["results"]
    }
    assert roles == {"user", "assistant"}


def test_a_whole_number_may_be_written_in_other_ways(client: NoteClient) -> None:
    one = client.call("search_notes", query="filters", limit=1)
    for written in ("1", 1.0, "1.0"):
        assert client.call("search_notes", query="filters", limit=written, path=None) == one


# bad input


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("search_notes", {}, "search_notes: query: it is missing."),
        (
            "search_notes",
            {"query": "x", "limit": 0},
            "search_notes: limit: it must be greater than or equal to 1.",
        ),
        (
            "search_notes",
            {"query": "x", "limit": "many"},
            "search_notes: limit: it must be a whole number",
        ),
        (
            "search_notes",
            {"query": "x", "limit": True},
            "search_notes: limit: it must be a whole number",
        ),
        (
            "search_notes",
            {"query": "x", "after": "someday"},
            "after: someday is no date. Give one as 2024-05-01",
        ),
        (
            "search_notes",
            {"query": "x", "lang": "en"},
            "search_notes has no argument lang; it has query, limit, after",
        ),
        ("read_note", {"path": "../secret.md"}, "../secret.md leads out of the vault"),
        ("read_note", {"path": "/etc/passwd"}, "/etc/passwd leads out of the vault"),
        ("read_note", {"path": "Filter"}, "there is no note Filter. Nearest: Filters.md"),
        (
            "read_note",
            {"path": "Filters.md", "start_line": 99},
            "Filters.md has no line 99. It has 11;",
        ),
        ("backlinks", {"path": "Nothing"}, "there is no note Nothing. Nearest: "),
        ("list_notes", {"tag": "unknown"}, "no note has the tag unknown"),
        (
            "verify_quotations",
            {"text": "x" * 10_000_000},
            "verify_quotations: text: string should have at most 1000000 characters.",
        ),
    ],
)
def test_a_wrong_call_is_answered_with_a_sentence(
    client: NoteClient, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Refused) as refused:
        client.call(tool, **arguments)
    assert str(refused.value).startswith(sentence)


def test_an_unknown_tool_is_an_error(client: NoteClient) -> None:
    with pytest.raises(
        MCPError, match=r"There is no tool delete_all\. The tools are search_notes, "
    ):
        client.call("delete_all")


# connections


def test_a_vault_that_disappears_is_an_error_until_it_is_back(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        away = server.program.vault.rename(tmp_path / "away")
        with pytest.raises(Refused, match=r"cannot be read|there is no folder"):
            server.client.call("search_notes", query="compost")
        assert server.client.call("count_tokens", text="still there")["tokens"] == 2
        away.rename(server.program.vault)
        assert server.client.call("search_notes", query="compost")["results"]


def test_lines_that_are_no_json_are_answered_and_standard_output_has_the_protocol_only(
    zkchat: Program,
) -> None:
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    lines = [
        "not json",
        "{",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}),
    ]
    done = zkchat("mcp", stdin="\n".join(lines) + "\n")
    assert [line["result"]["protocolVersion"] for line in done.lines if line.get("id") == 1] == [
        "2025-06-18"
    ]
    assert (done.exit_status, "Traceback" in done.err) == (0, False)


def test_a_long_update_of_the_index_reports_its_progress_and_can_be_cancelled(
    tmp_path: Path,
) -> None:
    reported: list[tuple[float, float | None]] = []
    stopped = threading.Event()

    class EndlessUpdate(ServedVault):
        def refresh(self, progress: Progress | None = None) -> None:
            assert progress is not None
            try:
                for done in count():
                    progress(done, 2 * done)
                    time.sleep(0.01)
            finally:
                stopped.set()

    async def search(vault: Vault) -> bool:
        async def on_progress(done: float, total: float | None, _: str | None) -> None:
            reported.append((done, total))
            scope.cancel()

        async with Client(NoteServer(EndlessUpdate(vault, lambda _words, _limit: []))) as client:
            with anyio.CancelScope() as scope:
                await client.call_tool(
                    "search_notes", {"query": "marmot"}, progress_callback=on_progress
                )
            return scope.cancelled_caught

    with closing(Vault.open(write_notes(tmp_path / "notes", NOTES), tmp_path / "cache")) as vault:
        assert anyio.run(search, vault)
    assert stopped.wait(10)
    assert reported[0][0] * 2 == reported[0][1]


def test_a_call_that_is_cancelled_stops_its_work_within_a_second() -> None:
    stopped = threading.Event()

    def work() -> None:
        try:
            while True:
                time.sleep(0.01)
        finally:
            stopped.set()

    async def call() -> None:
        with anyio.move_on_after(0.1):
            await run_in_thread(work)

    anyio.run(call)
    assert stopped.wait(1)


TOKEN = "a-token-of-the-test"


class HttpServer(NamedTuple):
    """A server over HTTP: its process and its address."""

    process: "subprocess.Popen[str]"
    address: str

    def processor_time(self) -> float:
        """The seconds of processor time that it has used."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        user, system = stat[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def http_server(server: Server) -> Iterator[HttpServer]:
    """One on the same vault."""
    command = [
        sys.executable,
        "-m",
        "zkchat_cli",
        "mcp",
        "--http",
        "0",
        "--vault",
        str(server.program.vault),
    ]
    env = {**server.program.environment, "ZKCHAT_MCP_TOKEN": TOKEN}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=env, text=True) as process:
        assert process.stderr is not None
        yield HttpServer(process, process.stderr.readline().split()[0])
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


@pytest.fixture(scope="module")
def address(http_server: HttpServer) -> str:
    return http_server.address


# More than ten seconds of work, and as long as a text may be
MANY_QUOTATIONS = " ".join(f'"the filter {n} finds tasks of {n} days"' for n in range(22_000))


def test_the_end_of_the_input_stops_a_call(zkchat: Program) -> None:
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    call = {"name": "verify_quotations", "arguments": {"text": MANY_QUOTATIONS}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    done = zkchat("mcp", stdin="".join(f"{json.dumps(line)}\n" for line in lines), timeout=5)
    assert done.exit_status == 0
    assert [line["id"] for line in done.lines if "result" in line] == [1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processor time of a process")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_that_is_cancelled_over_http_stops_its_work(
    http_server: HttpServer, mode: str
) -> None:
    async def cancel_when_at_work(scope: anyio.CancelScope) -> None:
        # A call that the server has not read whole cannot be cancelled
        idle = http_server.processor_time()
        while http_server.processor_time() < idle + 0.5:
            await anyio.sleep(0.05)
        scope.cancel()

    async def call_for_a_moment() -> bool:
        async with anyio.create_task_group() as group:
            group.start_soon(cancel_when_at_work, group.cancel_scope)
            await client.client.call_tool("verify_quotations", {"text": MANY_QUOTATIONS})
        return group.cancel_scope.cancelled_caught

    with connected_by_http(http_server.address, TOKEN, mode=mode) as client:
        assert client.portal.call(call_for_a_moment)
        at_first = used = http_server.processor_time()
        before = -1.0
        # On a busy machine it may rest while it has work: that takes ten seconds of the processor
        while used != before and used < at_first + 8:
            time.sleep(0.2)
            before = used
            used = http_server.processor_time()
        assert used < at_first + 8


def test_the_time_for_a_long_word_grows_with_its_length_and_not_with_its_square(
    client: NoteClient,
) -> None:
    seconds = []
    for tens in (200, 200, 2_000):
        begin = time.monotonic()
        assert client.call("search_notes", query="abcdefghij" * tens)["results"] == []
        seconds.append(time.monotonic() - begin)
    # The first call is slower than the second. With the square it would be 100 times as long
    assert seconds[-1] < 40 * max(seconds[:-1])


def test_a_message_with_half_of_a_character_is_answered(zkchat: Program) -> None:
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test \ud800", "version": "1"},
    }
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting})
    done = zkchat("mcp", stdin=line + "\n")
    assert [each["id"] for each in done.lines] == [1]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\ud83d"', r'"\ufffd"'),
        (r'"\ude00\ud83d"', r'"\ufffd\ufffd"'),
        (r'"\\ud800"', r'"\\ud800"'),
    ],
)
def test_only_halves_of_characters_are_replaced(written: str, read: str) -> None:
    assert without_halves(written) == read


def test_zkchat_calls_the_tools_of_another_zkchat_over_http(address: str) -> None:
    server = McpServer(
        url=address, headers={"Authorization": f"Bearer {TOKEN}"}, tools=("search_notes",)
    )
    with closing(McpServers({"notes": server})) as servers:
        [tool] = servers.tools()
        assert "compost" in str(tool.call({"query": "compost"}, None).data).lower()  # type: ignore[arg-type]
    refused = McpServers({"notes": McpServer(url=address)})
    with closing(refused) as servers:
        assert servers.tools() == ()
        assert "401" in servers.status()[0].problem


def test_two_clients_are_served_over_http_at_once_whoever_leaves_in_the_middle(
    address: str,
) -> None:
    with (
        connected_by_http(address, TOKEN) as one,
        connected_by_http(address, TOKEN, mode="legacy") as other,
        ThreadPoolExecutor(8) as pool,
    ):
        calls = [
            pool.submit(client.call, "search_notes", query="compost") for client in (one, other) * 4
        ]
        assert len({json.dumps(call.result(), sort_keys=True) for call in calls}) == 1
    port = int(address.rpartition(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port)) as half:
        half.sendall(
            (
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
                "Content-Length: 999\r\n\r\n{"
            ).encode()
        )
    with connected_by_http(address, TOKEN) as client:
        assert client.call("search_notes", query="compost")["results"]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, "{}", 401),
        ({"Authorization": "Bearer wrong"}, "{}", 401),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, "{}", 421),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"}, "{}", 403),
        ({"Authorization": f"Bearer {TOKEN}"}, "no json", 400),
        ({"Authorization": f"Bearer {TOKEN}"}, "x" * 10_000_000, 413),
    ],
)
def test_http_refuses_requests_without_the_token_from_elsewhere_and_too_large(
    address: str, headers: dict[str, str], body: str, status: int
) -> None:
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    assert httpx2.post(address, content=body, headers=sent).status_code == status


@pytest.mark.parametrize(
    ("hosts", "origin", "status"),
    [
        (["127.0.0.1:{port}"], None, 200),
        (["localhost:{port}"], "http://localhost:{port}", 200),
        (["127.0.0.1:1"], None, 421),
        (["127.0.0.1"], None, 421),
        (["127.0.0.1:{port}@evil.example"], None, 421),
        (["user@127.0.0.1:{port}"], None, 421),
        (["127.0.0.1:{port}.evil.example"], None, 421),
        ([], None, 421),
        (["127.0.0.1:{port}"], "http://localhost:3000", 403),
        (["127.0.0.1:{port}"], "https://127.0.0.1:{port}", 403),
        (["127.0.0.1:{port}"], "http://127.0.0.1:{port}@evil.example", 403),
        (["127.0.0.1:{port}"], "null", 403),
    ],
)
def test_http_serves_exactly_its_own_host_port_and_origin(
    address: str, hosts: list[str], origin: str | None, status: int
) -> None:
    port = int(address.rpartition(":")[2].partition("/")[0])
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    body = json.dumps(greeting)
    lines = [
        "POST /mcp HTTP/1.0",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"Host: {host.format(port=port)}" for host in hosts),
    ]
    if origin is not None:
        lines.append(f"Origin: {origin.format(port=port)}")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        answer = connection.recv(100)
    assert int(answer.split()[1]) == status


def test_a_port_that_is_taken_is_an_error(zkchat: Program, address: str) -> None:
    port = address.rpartition(":")[2].partition("/")[0]
    done = zkchat("mcp", "--http", port)
    assert (done.exit_status, f"port {port} on 127.0.0.1 cannot be used" in done.err) == (2, True)
