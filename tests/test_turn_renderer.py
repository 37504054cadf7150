"""A turn on the screen: tool lines, `/verbose`, and a whole answer."""

import io
from typing import Any

from conftest import Program
from factories import AppFixture, DeltaModel, reply, tool_reply
from terminal_screen import Chat, Script, slow_reply

from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.models.messages import ToolCall, ToolRun
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import DisplayOptions, show_turn
from zkchat_cli.views.turn_steps import tool_line, tools_line


def make_screen(**more: Any) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(out, io.StringIO(), True, False, **more), out


# what a turn tells


def tool_run(name: str, **arguments: Any) -> ToolRun:
    return ToolRun(name=name, arguments=arguments, ok=True, tokens=812, duration_ms=4.2)


def test_the_tools_of_a_turn_are_one_line() -> None:
    searches = [
        (tool_run("find_excerpts", query="a"), 4),
        (tool_run("find_excerpts", query="b"), 2),
    ]
    assert tools_line(searches) == "  searched twice, 6 excerpts"
    assert tools_line(
        [*searches, (tool_run("find_excerpts"), 0), (tool_run("list_zk_documents"), 0)]
    ) == ("  searched 3 times, listed notes, 6 excerpts")
    assert tools_line([(tool_run("find_excerpts"), 0)]) == "  searched, no excerpts"
    assert tools_line([(tool_run("find_backlinks"), 0)]) == "  find_backlinks"


def test_a_tool_line_has_all_arguments_the_result_and_its_cost() -> None:
    assert (
        tool_line(tool_run("find_excerpts", query="a\nb\x1b", limit=3), 1)
        == '  find_excerpts "a␊b␛" limit=3  1 excerpt, 812 tokens, 4 ms'
    )
    assert (
        tool_line(tool_run("find_backlinks", note="x"), 0)
        == '  find_backlinks "x"  812 tokens, 4 ms'
    )
    assert "failed" in tool_line(tool_run("find_excerpts").model_copy(update={"ok": False}), 0)


def test_a_failed_tool_names_the_cause(app: AppFixture) -> None:
    reading = tool_reply(
        ToolCall(id="c1", name="read_zk_document", arguments={"relative_path": "Nowhere\x1b[2J"})
    )
    said: list[str] = []
    turn = app.session(DeltaModel([reading, reply("Sorry.")])).send("read it")
    show_turn(
        turn, make_screen()[0], lambda line, _: said.append(line), DisplayOptions(3, FaultGuard())
    )
    assert (
        "  failed: " in said[0]
        and "Nowhere" in said[0].partition("failed")[2]
        and "\x1b" not in said[0]
    )


# the whole program


def test_markdown_streams_through_a_resize_in_a_real_terminal(
    zkchat: Program, script: Script
) -> None:
    words = " ".join(f"w{n:03}" for n in range(60))
    text = (
        f"# Title\n\n{words}\n\n- **bold** item\n\n| a | b |\n|---|---|\n| 世界 | x |\n| ab | y "
        "|\n\n```python\nx = 1\n```\n\n- done"
    )
    reply = {
        **slow_reply(*(text[i : i + 12] for i in range(0, len(text), 12)), delay_ms=30),
        "reasoning": "Let me think.",
    }
    with Chat(zkchat, "--model", script(reply), columns=80, rows=24) as chat:
        chat.say("/verbose")
        chat.say("talk")
        chat.wait_for("w030")
        chat.resize(100, 30)
        chat.wait_for("• done")
        chat.wait_for("prompt: ")
        chat.wait_for_prompt()
        seen = chat.everything()
    assert [n for n in range(60) if seen.count(f"w{n:03}") != 1] == []
    assert "• bold item" in seen
    assert "世界 │ x" in seen
    assert b"Ctrl-C stops" in chat.raw
    assert "Ctrl-C stops" not in seen
    assert "?[" not in seen
    assert len(chat.toolbars()) == 1
