"""`zkchat mcp --http --token-file`, as people with a token of their own see it."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from conftest import Program, write_notes
from mcp_client import NoteClient, Refused, connected_by_http
from mcp_types import ElicitResult

from zkchat_cli.errors import VaultError
from zkchat_cli.mcp.http_server import HttpApp, RequestCheck
from zkchat_cli.mcp.people import Person, digest_token
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.edit.change_record import VAULT_RECORD, ChangeRecord, record_lines
from zkchat_cli.vault.vault import Vault
from zkchat_cli.vault.view import VaultView

ANNA = "anna-0123456789-0123456789"
BEN = "ben-0123456789-0123456789"
TOKENS = f"""
[anna]
token = "{ANNA}"
folders = ["Team"]
write = true
requests_per_second = 1000

[ben]
token = "{BEN}"
folders = ["."]
exclude = ["Private", "Team"]
requests_per_second = 1000
"""
NOTES = {
    "Team/Roof.md": "# Roof\n\nThe tiles are red. See [[Salaries]] and [[Bread]].\n",
    "Private/Salaries.md": "---\naliases: [Pay]\n---\n# Salaries\n\nTiles cost 9000. [[Roof]]\n",
    "Recipes/Bread.md": "# Bread\n\nFlour, and no tiles. ![[Salaries]]\n",
}


class SharedServer(NamedTuple):
    address: str
    program: Program
    tokens: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """One server for most tests of the file; it ends with Ctrl-C and has reported no defect."""
    folder = tmp_path_factory.mktemp("shared")
    program = Program(write_notes(folder / "notes", NOTES), folder / "home")
    tokens = folder / "tokens.toml"
    tokens.touch(0o600)
    tokens.write_text(TOKENS)
    command = [sys.executable, "-m", "zkchat_cli", "mcp", "--vault", str(program.vault)]
    options = ["--http", "0", "--token-file", str(tokens)]
    with subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, env=program.environment, text=True
    ) as process:
        assert process.stderr is not None
        address, _, names = process.stderr.readline().partition(" with the tokens of ")
        assert names == "anna, ben\n"
        yield SharedServer(address, program, tokens)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert "Traceback" not in process.stderr.read()


def paths(client: NoteClient) -> set[str]:
    listed = client.call("list_notes")
    assert listed["total"] == len(listed["notes"])
    return {note["relative_path"] for note in listed["notes"]}


def test_each_token_sees_its_folders_at_the_same_time(server: SharedServer) -> None:
    with (
        connected_by_http(server.address, ANNA) as anna,
        connected_by_http(server.address, BEN, mode="legacy") as ben,
        ThreadPoolExecutor(8) as pool,
    ):
        found = [pool.submit(paths, client) for client in (anna, ben) * 8]
        assert [each.result() for each in found] == [{"Team/Roof.md"}, {"Recipes/Bread.md"}] * 8
        [passage] = anna.call("search_notes", query="tiles")["results"]
        assert passage["relative_path"] == "Team/Roof.md"
        assert [link["target"] for link in anna.call("links", path="Roof")["links"]] == [None] * 2
        assert anna.call("backlinks", path="Roof")["links"] == []


@pytest.mark.parametrize("path", ["Private/Salaries.md", "Salaries", "Pay", "private/Salaries.md"])
def test_a_hidden_note_is_as_unknown_as_one_that_does_not_exist(
    server: SharedServer, path: str
) -> None:
    with connected_by_http(server.address, ANNA) as anna:
        for tool in ("read_note", "links", "backlinks"):
            with pytest.raises(Refused) as hidden:
                anna.call(tool, path=path)
            missing = path.replace("Salaries", "Nothings").replace("Pay", "Nay")
            with pytest.raises(Refused) as unknown:
                anna.call(tool, path=missing)
            assert str(hidden.value) == str(unknown.value).replace(missing, path)


def test_nobody_gets_the_conversations_of_the_owner(server: SharedServer) -> None:
    for token in (ANNA, BEN):
        with connected_by_http(server.address, token) as client:
            names = {tool.name for tool in client.run("list_tools").tools}
            assert "search_conversations" not in names
            assert ("create_note" in names) == (token == ANNA)


def test_who_may_write_writes_in_the_own_folders_only(server: SharedServer) -> None:
    async def accept(_: Any, question: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"approve": True})

    with connected_by_http(server.address, ANNA, elicitation_callback=accept) as anna:
        assert anna.call("create_note", path="Team/New.md", content="New")["paths"] == [
            "Team/New.md"
        ]
        assert anna.call("undo_change")["paths"] == ["Team/New.md", ".trash/Team/New.md"]
        anna.call("create_note", path="Team/New.md", content="New")
        for path in ("Private/New.md", "Private/Salaries.md", "New.md", "team/New.md"):
            with pytest.raises(Refused, match=f"^{path} is not in a folder where you may write"):
                anna.call("create_note", path=path, content="New")
        moved = anna.call("move_note_to_trash", path="Team/New.md")
        assert moved["done"] == "move Team/New.md to .trash/Team/New 1.md"
        assert (server.program.vault / ".trash" / "Team" / "New.md").read_text() == "New\n"
        assert anna.call("undo_change")["paths"] == [".trash/Team/New 1.md", "Team/New.md"]
        assert paths(anna) == {"Team/Roof.md", "Team/New.md"}
        anna.call("move_note_to_trash", path="Team/New.md")
    assert not (server.program.vault / "Private" / "New.md").exists()


def test_a_session_of_one_token_does_not_exist_for_another(server: SharedServer) -> None:
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    opened = send(server, ANNA, "initialize", greeting)
    session = opened.headers["mcp-session-id"]
    assert send(server, BEN, "tools/list", {}, session).status_code == 404
    assert send(server, ANNA, "tools/list", {}, session).status_code == 200


def send(
    server: SharedServer, token: str, method: str, params: dict[str, Any], session: str = ""
) -> httpx2.Response:
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
    }
    if session:
        headers["Mcp-Session-Id"] = session
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx2.post(server.address, json=body, headers=headers)


def test_an_unknown_token_is_told_how_to_send_one(server: SharedServer) -> None:
    wrong = send(server, "somebody-else's", "tools/list", {})
    assert wrong.status_code == 401
    assert wrong.headers["www-authenticate"] == 'Bearer realm="zkchat", error="invalid_token"'
    missing = httpx2.post(server.address, json={})
    assert missing.headers["www-authenticate"] == 'Bearer realm="zkchat"'


def test_who_is_taken_out_of_the_file_is_refused_and_the_connection_ends(
    server: SharedServer,
) -> None:
    ended = threading.Event()
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    session = send(server, ANNA, "initialize", greeting).headers["mcp-session-id"]
    headers = {
        "Authorization": f"Bearer {ANNA}",
        "Accept": "text/event-stream",
        "Mcp-Session-Id": session,
    }

    def listen() -> None:
        with httpx2.stream("GET", server.address, headers=headers, timeout=30) as stream:
            listening.set()
            for _ in stream.iter_bytes():
                pass
        ended.set()

    listening = threading.Event()
    threading.Thread(target=listen, daemon=True).start()
    assert listening.wait(20)
    server.tokens.write_text(TOKENS.replace("[anna]", "[carla]").replace(ANNA, ANNA + "-new"))
    try:
        assert ended.wait(20)
        assert send(server, ANNA, "tools/list", {}, session).status_code == 401
        with connected_by_http(server.address, ANNA + "-new") as carla:
            assert "Team/Roof.md" in paths(carla)
    finally:
        server.tokens.write_text(TOKENS)


def test_too_many_requests_are_refused_with_the_time_to_wait(tmp_path: Path) -> None:
    now = [0.0]
    person = Person("anna", digest_token(ANNA.encode()), VaultView(("Team",)), False, 2.0)
    root = write_notes(tmp_path / "notes", NOTES)

    async def ask(app: HttpApp) -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:80") as http:
            headers = {"Authorization": f"Bearer {ANNA}", "Host": "127.0.0.1:80"}
            return await http.post("/mcp", json={}, headers=headers)

    async def ask_often(app: HttpApp) -> None:
        statuses = [(await ask(app)).status_code for _ in range(2)]
        assert 429 not in statuses
        refused = await ask(app)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert "At most 2 requests a second" in refused.json()["error"]
        now[0] += 0.6
        assert (await ask(app)).status_code != 429

    with closing(Vault.open(root, tmp_path / "cache", view=person.view)) as vault:
        check = RequestCheck(lambda: [person], 80)
        app = HttpApp(check, lambda _: NoteServer(ServedVault(vault)), lambda: now[0])
        anyio.run(app.run, lambda: ask_often(app))


@pytest.mark.parametrize(
    ("options", "environment", "problem"),
    [
        ([], {}, "--token-file needs --http"),
        (["--http", "0", "--unsafe"], {}, "--unsafe and --token-file cannot be combined"),
        (["--http", "0"], {"ZKCHAT_MCP_TOKEN": "x"}, "ZKCHAT_MCP_TOKEN and --token-file cannot"),
    ],
)
def test_options_that_contradict_a_token_file_are_errors(
    zkchat: Program, tmp_path: Path, options: list[str], environment: dict[str, str], problem: str
) -> None:
    program = replace(zkchat, env=environment)
    done = program("mcp", "--token-file", str(tmp_path / "none"), *options)
    assert (done.exit_status, problem in done.err) == (2, True), done.err


def test_a_part_of_a_vault_may_have_no_notes_yet(tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", {"Private/Plan.md": "A plan."})
    view = VaultView(("Team",))
    with closing(Vault.open(root, tmp_path / "cache", view=view)) as vault:
        assert vault.refresh().notes == 0
        assert vault.search("plan") == [] and vault.catalog.tags() == []
        vault.editor.apply(vault.editor.create("Team/First.md", "The first."))
        assert vault.note_paths() == ["Team/First.md"]


def test_what_somebody_else_has_not_finished_is_not_told_to_who_sees_a_part(
    tmp_path: Path,
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    record = ChangeRecord("1", "rename Private/Salaries.md to Private/Pay.md", True, ())
    (root / VAULT_RECORD).write_bytes(record_lines(record))
    with closing(Vault.open(root, tmp_path / "cache", view=VaultView(("Team",)))) as vault:
        change = vault.editor.create("Team/New.md", "New")
        with pytest.raises(VaultError) as refused:
            vault.editor.apply(change)
    assert refused.value.message == "a change of notes was stopped in the middle"
    assert "Salaries" not in refused.value.hint
