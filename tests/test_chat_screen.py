"""The chat in a real terminal: editing, completion, hostile text, colors, screen sizes."""

import re
from pathlib import Path

from conftest import Program, write_notes
from terminal_screen import (
    CTRL_J,
    ENTER,
    ESCAPE,
    HARMLESS,
    HOSTILE,
    TAB,
    Chat,
    Script,
    slow_reply,
    stored_conversations,
)

from zkchat_cli.terminal.palette import DARK

# typing


def test_a_message_can_have_several_lines(zkchat: Program, script: Script) -> None:
    with Chat(zkchat, "--model", script({"text": "Noted."})) as chat:
        chat.wait_for_prompt()
        chat.type("one" + CTRL_J + "two" + ESCAPE + ENTER + "three")
        chat.wait_for("three")
        chat.wait_until(lambda: len(chat.toolbars()) == 1, "one toolbar")
        chat.enter()
        chat.wait_for("Noted.")
        chat.wait_for_prompt()
    assert [m["content"] for m in stored_conversations(zkchat)] == ["one\ntwo\nthree", "Noted."]


def test_text_typed_during_an_answer_is_sent_next(zkchat: Program, script: Script) -> None:
    with Chat(
        zkchat,
        "--model",
        script(slow_reply("Slowly ", "I ", "speak.", delay_ms=300), {"text": "Second answer."}),
    ) as chat:
        chat.say("first")
        chat.wait_for("Slowly")
        chat.type("second" + ENTER)
        chat.wait_for("Second answer.")
        chat.wait_for_prompt()
        assert "Slowly I speak.\n" in chat.everything()
    assert [m["content"] for m in stored_conversations(zkchat)] == [
        "first",
        "Slowly I speak.",
        "second",
        "Second answer.",
    ]


def test_the_editor_changes_a_message(zkchat: Program, script: Script, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "a carefully edited message" > "$1"\n')
    editor.chmod(0o700)
    with Chat(zkchat, "--model", script({"text": "Noted."}), EDITOR=str(editor), VISUAL="") as chat:
        chat.wait_for_prompt()
        chat.type("rough words")
        chat.wait_for("rough words")
        chat.type("\x18\x05")  # Ctrl+X Ctrl+E
        chat.wait_for("a carefully edited message")
        chat.wait_for_prompt()
        chat.enter()
        chat.wait_for("Noted.")
        chat.wait_for_prompt()
    assert stored_conversations(zkchat)[0]["content"] == "a carefully edited message"


# completion


def test_commands_are_completed_with_their_help(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        chat.wait_for_prompt()
        chat.type("/co")
        chat.wait_for("/context")
        chat.wait_for("summarize older turns now")
        chat.wait_for("tokens per component")
        chat.type(TAB)
        chat.wait_for("you › /context")
        chat.enter()
        chat.wait_for("Compacts at ")


# hostile text


def test_hostile_text_is_visible_and_harmless(zkchat: Program, script: Script) -> None:
    folder = zkchat.vault.parent / "no\x1b]0;owned\x07tes\nfake [bold]"
    zkchat.vault.rename(folder)
    hostile = Program(folder, zkchat.home)
    write_notes(folder, {"Evil.md": f"# Evil\n\nThe unicorn says {HOSTILE} and more.\n"})
    look = {"name": "find_excerpts", "arguments": {"query": "unicorn \x1b]0;owned\x07"}}
    model = script({"tool_calls": [look]}, {"text": f"Answer {HOSTILE} [1] “says {HOSTILE}” [1]\n"})
    with Chat(hostile, "--model", model, columns=200, rows=50) as chat:
        # The greeting may come after the prompt
        chat.wait_for("no␛]0;owned␇tes␊fake [bold]")
        chat.wait_for_prompt()
        chat.ask("/verbose", "Details are on")
        chat.paste(f"typed {HOSTILE.replace(chr(7), '')}")
        chat.wait_for("<|endoftext|>")
        chat.enter()
        chat.wait_for("Sources")
        chat.wait_for_prompt()
        seen = chat.everything()
        assert f"Answer {HARMLESS} [1]" in seen
        assert 'find_excerpts "unicorn ␛]0;owned␇"' in seen
        assert seen.startswith("zkchat "), "nothing cleared the screen"
        assert chat.title == ""
        chat.wait_until(lambda: len(chat.toolbars()) == 1, "one toolbar")
        assert "you ›" in chat.screen_text()


# screens


def test_no_color_means_no_colors(zkchat: Program) -> None:
    with Chat(zkchat, NO_COLOR="1") as chat:
        chat.ask("how long does [[Compost]] take? and [[Nothing]]?", "Sources")
        chat.type("/co")
        chat.wait_for("/context")
    sgr = {
        part
        for sequence in re.findall(rb"\x1b\[([\d;]*)m", chat.raw)
        for part in sequence.split(b";")
    }
    assert sgr <= {b"", b"0", b"7"}, "reverse marks the chosen completion, nothing else is needed"


def test_the_bar_of_a_running_turn_has_the_percent_and_the_color_of_the_toolbar(
    zkchat: Program, script: Script
) -> None:
    # Numbered, because an answer that repeats itself is stopped
    parts = ["".join(f"Slowly I speak {n}-{m}. " for m in range(20)) for n in range(36)]
    model = script(slow_reply(*parts, delay_ms=60))
    zkchat.env |= {"ZKCHAT_MODEL": model, "ZKCHAT_CONTEXT__MAX_TOKENS": "4000"}
    with Chat(zkchat, COLORFGBG="15;0") as chat:
        chat.wait_for(" / 3.6k")
        chat.ask("how are you?", "compacts with the next message")
        drawn = chat.raw.decode()
    running = re.findall(r"Ctrl-C stops.*?\x1b\[(?:0;)?38;5;(\d+)m█+░*.*? (\d+)%", drawn)
    assert {(int(color), level(int(percent))) for color, percent in running} == {
        (DARK[name], name) for name in ("green", "yellow", "red")
    }
    *_, (color, percent) = re.findall(r"38;5;(\d+)m█+░*\x1b\[0m (\d+)%", drawn)
    assert int(color) == DARK[level(int(percent))]


def level(percent: int) -> str:
    return ("green", "yellow", "red")[(percent >= 70) + (percent >= 90)]


def test_without_token_counts_no_bar_is_ever_drawn(zkchat: Program, script: Script) -> None:
    zkchat.env |= {
        "ZKCHAT_MODEL": script(slow_reply(*["Slowly I speak. "] * 8, delay_ms=120)),
        "ZKCHAT_CONTEXT__SHOW_TOKEN_COUNT": "false",
    }
    with Chat(zkchat) as chat:
        chat.wait_for("│ notes")
        chat.type("how are you?")
        chat.wait_for("how are you?")
        chat.enter()
        chat.wait_for("Ctrl-C stops")
        chat.wait_until(lambda: chat.everything().count("you ›") > 1, "the next prompt")
        shown = chat.raw.decode()
    assert "█" not in shown
    assert "tokens" not in shown


def test_the_toolbar_is_one_line_at_the_bottom_of_any_screen(zkchat: Program) -> None:
    with Chat(zkchat, columns=200, rows=50) as chat:
        chat.wait_for("29.5k")
        chat.resize(40, 15)
        chat.wait_until(
            lambda: "29.5k" not in chat.screen_text() and chat.at_prompt(), "a shorter toolbar"
        )
        chat.ask(
            "which filter finds tasks due today? see [[Filters]] and [[Nothing like it]]", "Sources"
        )
        [toolbar] = chat.toolbars()
        assert chat.screen_text().endswith(toolbar)
        chat.type("word " * 30)
        chat.wait_until(
            lambda: "".join(chat.screen_text().split()).count("word") == 30, "the whole line"
        )
        chat.wait_until(lambda: len(chat.toolbars()) == 1, "one toolbar")
        chat.resize(120, 40)
        chat.wait_for("29.5k")
        chat.wait_until(lambda: len(chat.toolbars()) == 1, "one toolbar")


def test_the_demo_starts(zkchat: Program) -> None:
    with Chat(zkchat, "--demo") as chat:
        chat.wait_for("· demo (")
        chat.wait_for("ask your notes, or /help")
        chat.wait_for("\nto try: What is an evergreen note?   then /sources 1")
        chat.say("")
        chat.ask("what is a toolbar?", "Sources")
        assert "ask your notes" not in chat.everything()
