"""A turn on the screen: themes, ASCII symbols, status lines, tool lines, and `/verbose`."""

import io
from typing import Any

import pyte
import pytest
from building import Deltas, Room, calls, says, stored, talk
from conftest import Program
from streaming_terminal import Terminal
from terminal_screen import Chat, Script, slowly

from zkchat_cli import slash
from zkchat_cli.config.schema import TerminalSettings
from zkchat_cli.models import ToolCall, ToolRun
from zkchat_cli.terminal import theme
from zkchat_cli.terminal.plain_view import PlainTurnView
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import Verbosity, show_turn, tool_line, unsent_lines
from zkchat_cli.views.text import StyledLine, StyledSpan


def a_screen(**more: Any) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(out, io.StringIO(), True, False, **more), out


# themes


@pytest.mark.parametrize(
    ("setting", "background", "expected"),
    [
        ("auto", "", theme.EITHER),
        ("auto", "15;0", theme.DARK),
        ("auto", "0;default;15", theme.LIGHT),
        ("auto", "12;8", theme.DARK),
        ("light", "15;0", theme.LIGHT),
        ("dark", "0;15", theme.DARK),
    ],
)
def test_the_theme_follows_the_setting_or_the_background(setting: str, background: str, expected: theme.Theme) -> None:
    assert theme.choose_theme(setting, {"COLORFGBG": background}) is expected


def test_colours_for_an_unknown_background_are_readable_on_both() -> None:
    assert not {"30", "34", "37", "94", "97"} & {code for look in theme.EITHER.styles.values() for code in look.split(";")}


def test_a_screen_takes_its_theme_from_the_environment() -> None:
    assert [Screen.of(env).theme for env in ({"COLORFGBG": "0;15"}, {"COLORFGBG": "15;0"}, {})] == [theme.LIGHT, theme.DARK, theme.EITHER]


def test_the_plain_theme_has_no_colours() -> None:
    screen, out = a_screen()
    screen.with_settings(TerminalSettings(theme="plain"), {}).print("plain", "bold")
    screen.with_settings(TerminalSettings(theme="light"), {}).print("dark yellow", "yellow")
    assert out.getvalue() == "plain\n\x1b[38;5;130mdark yellow\x1b[0m\n"


# ASCII


def test_symbols_are_ascii_by_setting_or_by_encoding() -> None:
    screen, out = a_screen()
    plain = screen.with_settings(TerminalSettings(ascii=True), {})
    plain.print("✓ Filters › Dates … │")
    plain.show([StyledLine((StyledSpan("[1] ✓ a › b", "bold", "Größe.md"),), (StyledSpan("“c”"),))])
    assert out.getvalue() == '+ Filters > Dates ... |\n\x1b[1m[1] + a > b\x1b[0m   "c"\n'
    assert [theme.can_encode_symbols(encoding) for encoding in ("utf-8", "latin-1", "ascii", None, "no such")] == [
        True,
        False,
        False,
        False,
        False,
    ]


# what a turn tells


def test_the_ascii_setting_applies_to_every_command(zkchat: Program) -> None:
    link = ("vault", "resolve", "[[Filtrs]]")
    assert "[[Filtrs]] → not found" in zkchat(*link).out
    zkchat.env["ZKCHAT_TERMINAL__ASCII"] = "true"
    assert "[[Filtrs]] -> not found" in zkchat(*link).out
    assert zkchat("doctor").out.isascii()
    refused = zkchat("config", "set", "vault.pth", "x" * 300)
    assert (refused.exit_status, refused.err.isascii()) == (2, True)
    assert zkchat("keys", "list").out.isascii()


class Searching(Chat):
    name = "vault"


@pytest.mark.parametrize(("setting", "coloured"), [("plain", False), ("dark", True)])
def test_the_theme_applies_to_every_command(zkchat: Program, setting: str, coloured: bool) -> None:
    with Searching(zkchat, "search", "filters", ZKCHAT_TERMINAL__THEME=setting) as search:
        assert search.wait_for_end() == 0
        assert (b"\x1b[" in search.raw) is coloured


def test_a_tool_line_names_the_result() -> None:
    def told(name: str, excerpts: int = 0, *, full: bool = False, **arguments: str) -> str:
        return tool_line(ToolRun(name=name, arguments=arguments, ok=True, tokens=12, duration_ms=3), excerpts, full=full)

    assert told("store_in_smart_memory", content="x") == '  store_in_smart_memory "x"  stored, 12 tokens, 3 ms'
    assert told("find_excerpts", query="x") == '  find_excerpts "x"  nothing found, 12 tokens, 3 ms'
    assert told("find_backlinks", note="x") == '  find_backlinks "x"  12 tokens, 3 ms'
    assert told("find_excerpts", 2, full=True, query="y" * 99).count("y") == 99


def test_a_plain_terminal_shows_a_status_line_and_erases_it() -> None:
    terminal = Terminal(60, 10)
    stream, out, now = pyte.Stream(terminal), io.StringIO(), [0.0]
    screen = Screen(out, io.StringIO(), False, False, columns=lambda: 60)
    stage = PlainTurnView(screen, screen.print, "scripted", clock=lambda: now[0], status=True, ticking=False)

    def rows(seconds: float) -> list[str]:
        now[0] += seconds
        stage.draw_status()
        stream.feed(out.getvalue().replace("\n", "\r\n"))
        assert "\x1b" not in out.getvalue()
        out.seek(0)
        out.truncate()
        return terminal.rows()

    assert rows(0.3) == []
    assert rows(1.7)[0][2:] == "scripted · 2 s · Ctrl-C stops"
    stage.set_activity('find_excerpts "heap"')
    assert rows(0.1) == []
    assert rows(1.0)[0][2:] == 'find_excerpts "heap" · 3 s · Ctrl-C stops'
    stage.set_activity("")
    stage.print_note("  found")
    stage.set_waiting(3, "busy")
    assert rows(1.0)[1][2:] == "again in 3 s, Ctrl-C stops: busy · 4 s"
    stage.add_reasoning("Hm, so ")
    assert rows(1.0)[1:] == ["  thinking", "Hm, so"]
    stage.add_answer("It needs ")
    assert rows(1.0)[3:] == ["", "It needs"]
    stage.add_answer("air.\n")
    assert rows(1.0)[5][2:] == "scripted · 7 s · ~5 tokens · ~2 tokens/s · Ctrl-C stops"
    stage.pause()
    assert rows(9.0)[4:] == ["It needs air."]
    stage.close()
    assert rows(9.0) == ["  found", "  thinking", "Hm, so", "", "It needs air."]


def test_a_failed_tool_names_the_cause(room: Room) -> None:
    reading = calls(ToolCall(id="c1", name="read_zk_document", arguments={"relative_path": "Nowhere\x1b[2J"}))
    said: list[str] = []
    turn = room.session(Deltas([reading, says("Sorry.")])).send("read it")
    show_turn(turn, a_screen()[0], lambda line, _: said.append(line), Verbosity(3))
    assert "  failed: " in said[0] and "Nowhere" in said[0].partition("failed")[2] and "\x1b" not in said[0]


def test_verbose_shows_details_of_each_turn(room: Room) -> None:
    session = room.session(Deltas([says("After nine months [1].")]))
    assert "on: reasoning" in slash.run("/verbose", session).text
    screen, _ = a_screen()
    said: list[str] = []
    last = show_turn(
        session.send("when is compost ready?"), screen, lambda line, _: said.append(line), Verbosity(3, detail=session.verbose)
    )
    assert last is not None
    told = "\n".join(said)
    for part in ("prepare ", "model ", "store ", " tokens in", "prompt: ", "conversation "):
        assert part in told
    assert slash.run("/verbose", session).text == "Details are off."
    assert not session.verbose


def test_verbose_shows_what_was_not_sent(room: Room) -> None:
    long = "word " * 300
    session = stored(room, talk(*((f"question {n} {long}", f"answer {n} {long}") for n in range(6))), max_context=2000)
    assert unsent_lines(session) == []
    list(session.send("when is compost ready?"))
    assert any("Not sent: " in line and " messages" in line for line in unsent_lines(session)), unsent_lines(session)


# the whole program


def test_markdown_streams_through_a_resize_in_a_real_terminal(zkchat: Program, script: Script) -> None:
    words = " ".join(f"w{n:03}" for n in range(60))
    text = f"# Title\n\n{words}\n\n- **bold** item\n\n| a | b |\n|---|---|\n| 世界 | x |\n| ab | y |\n\n```python\nx = 1\n```\n\n- done"
    reply = {**slowly(*(text[i : i + 12] for i in range(0, len(text), 12)), delay_ms=30), "reasoning": "Let me think."}
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
    assert "tokens/s" not in seen
    assert "?[" not in seen
    assert len(chat.toolbars()) == 1
