"""Tools of other programs: MCP servers in the settings, good and hostile ones, and what the user is
asked.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Program
from test_approval import Answers

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.config.schema import McpServer
from zkchat_cli.llm.stop_signal import STOP
from zkchat_cli.mcp_client.servers import McpServers
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.terminal.approval import ask_about_call
from zkchat_cli.tools.base import Tool, ToolArgumentError
from zkchat_cli.vault.edit.approval import ALLOWED, Decision

SERVER = str(Path(__file__).with_name("tool_server.py"))


def started(mode: str, **settings: object) -> McpServers:
    server = McpServer.model_validate(
        {"command": sys.executable, "args": [SERVER, mode], **settings}
    )
    # Only servers that hang are waited for in full
    seconds = 1 if mode in ("hangs", "wrong ids") else 20
    return McpServers({"x": server}, start_seconds=20, call_seconds=seconds)


@pytest.fixture
def servers(request: pytest.FixtureRequest) -> Iterator[McpServers]:
    with closing(started(request.param)) as opened:
        yield opened


def only(servers: McpServers) -> Tool:
    [tool] = servers.tools()
    return tool


@pytest.mark.parametrize("servers", ["garbage", "noisy"], indirect=True)
def test_a_tool_is_offered_with_its_schema_and_its_result_is_text(servers: McpServers) -> None:
    tool = only(servers)
    assert tool.descriptor["function"]["name"] == "x.echo"
    assert tool.descriptor["function"]["parameters"]["properties"] == {"text": {"type": "string"}}
    assert tool.call({"text": "hi"}, None).data == {"result": ["echo: hi␛[31m"]}  # type: ignore[arg-type]
    assert servers.take_notices() == []


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ("fails", "x.echo: no such issue"),
        ("hangs", "x.echo failed: "),
        ("nonsense", "x.echo answered with something that is not the result of a tool"),
        ("dies", "x.echo failed: Connection closed"),
        ("floods", "x.echo failed: Connection closed"),
        ("wrong ids", "x.echo failed: "),
    ],
    indirect=["servers"],
)
def test_a_call_that_goes_wrong_is_a_sentence_for_the_model(
    servers: McpServers, problem: str
) -> None:
    with pytest.raises(ToolArgumentError) as e:
        only(servers).call({"text": "hi"}, None)  # type: ignore[arg-type]
    assert str(e.value).startswith(problem)


@pytest.mark.parametrize("servers", ["long"], indirect=True)
def test_a_huge_result_is_cut_and_says_so(servers: McpServers) -> None:
    output = only(servers).call({}, None)  # type: ignore[arg-type]
    assert output.note == "the result is cut after 1,000,000 characters"


@pytest.mark.parametrize(
    ("mode", "settings", "notice"),
    [
        (
            "lies",
            {},
            "x: no␛[31mschema, long… cannot be offered: a name, or what it takes, is too "
            "long or wrong",
        ),
        ("many", {}, "x: only its first 100 tools are offered"),
        ("many", {"tools": ["t200", "other"]}, "x: it has no tool other"),
        ("hundred", {}, ""),
        ("ok", {"command": "/no/such/program"}, "x: no such file or directory"),
    ],
)
def test_what_cannot_be_offered_costs_one_line(
    mode: str, settings: dict[str, object], notice: str
) -> None:
    with closing(started(mode, **settings)) as servers:
        tools = servers.tools()
        assert [message for message, _ in servers.take_notices()] == [notice] * bool(notice)
        assert len(tools) <= 100
        assert ("x.repo/issues.list" in [tool.name for tool in tools]) == (mode == "lies")
        assert all(
            len(tool.description) <= 1000 and "\x1b" not in tool.description for tool in tools
        )


def test_a_wrong_tool_in_a_list_loses_only_itself() -> None:
    with closing(started("wrong")) as servers:
        assert only(servers).name == "x.echo"
        [notice] = servers.take_notices()
        assert notice.message.startswith("x: 7, 7, None, bare, listed, typed cannot be offered")


def test_patterns_of_a_tools_schema_are_not_run() -> None:
    with closing(started("slow pattern")) as servers:
        begin = time.monotonic()
        result = only(servers).call({"text": "a"}, None)  # type: ignore[arg-type]
        assert result.data["result"] == ["done"]
        assert time.monotonic() - begin < 2


def test_a_program_that_ends_is_started_again_three_times_at_most() -> None:
    with closing(
        started("ok", args=["-c", "print('no'); import sys; sys.exit('bad luck')"])
    ) as servers:
        problems = []
        for _ in range(5):
            servers.tools()
            for connection in servers._connections.values():
                connection.task.result(10)  # type: ignore[union-attr]
            problems += [message for message, _ in servers.take_notices()]
        assert problems == ["x: bad luck"] * 3


def test_servers_that_say_nothing_are_not_waited_for_one_after_the_other_nor_after_a_stop() -> None:
    silent = {name: McpServer(command=sys.executable, args=(SERVER, "silent")) for name in "xyz"}
    with closing(McpServers(silent, start_seconds=1)) as servers:
        begin = time.monotonic()
        assert servers.tools() == ()
        assert time.monotonic() - begin < 2.5
        notice, *_ = servers.take_notices()
        assert notice.message == "x: it has not answered yet; its tools are missing"
        assert servers.status()[0].state == "starting"
    stop = threading.Event()
    stop.set()
    token = STOP.set(stop)
    with closing(McpServers(silent)) as servers, pytest.raises(KeyboardInterrupt):
        servers.tools()
    STOP.reset(token)


@pytest.mark.parametrize(
    ("answer", "allowed", "always", "told"),
    [
        ("y", True, False, ""),
        ("always", True, True, ""),
        ("", False, False, "declined by the user: it was not called"),
        (
            "not there",
            False,
            False,
            "declined by the user: it was not called. The user says: not there",
        ),
    ],
)
def test_the_user_decides_about_each_call(
    answer: str, allowed: bool, always: bool, told: str
) -> None:
    user = Answers(answer)
    decision = ask_about_call(ToolCall(id="1", name="x.echo", arguments={"text": "a\u200bb"}), user)
    assert (decision.allowed, decision.always, decision.reason) == (allowed, always, told)
    assert (
        user.asked
        == 'Call x.echo with {"text": "a<U+200B>b"}? [y/N, always, or the reason why not]'
    )


def test_all_arguments_of_a_call_are_shown_before_it_is_approved() -> None:
    user = Answers("y")
    text = "word " * 700
    ask_about_call(ToolCall(id="1", name="x.send", arguments={"text": text, "to": "all"}), user)
    assert text in user.asked and '"to": "all"' in user.asked


def test_a_call_that_is_too_long_to_be_shown_is_refused_unasked(zkchat: Program) -> None:
    settings(zkchat, "ok")
    call = ToolCall(id="1", name="x.echo", arguments={"text": "word " * 1_000})
    with closing(
        factory.open_app(StartupOptions(), {"ZKCHAT_HOME": str(zkchat.home)}, zkchat.vault)
    ) as app:
        asked: list[ToolCall] = []

        def allow(call: ToolCall) -> Decision:
            asked.append(call)
            return ALLOWED

        session = replace(app, approve_call=allow).session(None)
        decision = session.services.approve_call(call)
        assert (decision.allowed, asked) == (False, [])
        assert "more than 4,000 characters" in decision.reason


def settings(zkchat: Program, mode: str, more: str = "") -> Path:
    file = Path(zkchat("config", "path").out.strip())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'[mcp.servers.x]\ncommand = "{sys.executable}"\nargs = ["{SERVER}", "{mode}"]\n{more}'
    )
    return file


def test_a_model_calls_a_tool_that_the_user_always_allows(zkchat: Program, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(
        '{"tool_calls": [{"name": "x.echo", "arguments": {"text": "hi"}}]}\n{"text": "It '
        'said hi."}\n'
    )
    settings(zkchat, "ok")
    refused = zkchat("ask", "echo hi", "--model", f"scripted/{script}", "--json")
    assert [(tool["name"], tool["ok"]) for tool in refused.json["tools"]] == [("x.echo", False)]
    assert "zkchat: x.echo was not called: nobody can be asked here" in refused.err
    settings(zkchat, "ok", 'always = ["echo"]\n')
    answer = zkchat("ask", "echo hi", "--model", f"scripted/{script}", "--json").json
    assert [(tool["name"], tool["ok"]) for tool in answer["tools"]] == [("x.echo", True)]
    assert answer["answer"] == "It said hi."
    assert "x.echo" in str(
        zkchat("context", "show", "--model", f"scripted/{script}", "--json").json["tools"]
    )


def test_always_holds_for_this_chat_if_it_cannot_be_saved(zkchat: Program) -> None:
    file = settings(zkchat, "ok")
    with closing(
        factory.open_app(StartupOptions(), {"ZKCHAT_HOME": str(zkchat.home)}, zkchat.vault)
    ) as app:
        file.write_text("[")
        session = replace(app, approve_call=lambda _: Decision(True, always=True)).session()
        assert session.services.approve_call(ToolCall(id="1", name="x.echo", arguments={})).allowed
        assert app.allowed_tools is not None and app.allowed_tools.includes("x", "echo")
        [(problem, _)] = app.external.take_notices()
        assert (
            problem.startswith("x: the answer “always” holds for this chat only: ")
            and str(file) in problem
        )


def test_servers_are_listed_with_what_their_tools_cost(zkchat: Program) -> None:
    settings(zkchat, "ok")
    listed = zkchat("chat", stdin="What is a filter?\n/mcp\n").out
    assert "offline is not offered these tools." in listed
    settings(zkchat, "dies", "tools = []\n")
    checks = {check["name"]: check for check in zkchat("doctor", "--json").json["checks"]}
    assert checks["x"]["detail"].endswith("dies: no tools")


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("command = 'a'\nurl = 'http://b'", "either a command or a url"),
        ("url = 'ftp://b'", "begins with http://"),
        ("comand = 'a'", "mcp.servers.x.comand: this key is unknown"),
    ],
)
def test_a_wrong_table_is_refused(zkchat: Program, table: str, problem: str) -> None:
    file = settings(zkchat, "ok")
    file.write_text(f"[mcp.servers.x]\n{table}\n")
    result = zkchat("config", "show")
    assert result.exit_status == 2
    assert f"{file}: mcp.servers.x" in result.err and problem in result.err


def test_a_server_is_written_into_the_file_and_the_error_says_so(zkchat: Program) -> None:
    for key in ("mcp.servers.x.command", "mcp.servers"):
        result = zkchat("config", "set", key, "npx")
        assert result.exit_status == 2
        assert (
            "Edit the settings file, which `zkchat config path` names: a table [mcp.servers.NAME]"
            in result.err
        )


def test_a_vault_cannot_add_servers(zkchat: Program) -> None:
    (zkchat.vault / ".zkchat.toml").write_text('[mcp.servers.x]\ncommand = "rm"\n')
    result = zkchat("vault", "status")
    assert result.exit_status == 2
    assert "a vault's own file cannot set mcp.servers" in result.err
