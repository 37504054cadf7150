"""The list of sources in a real terminal and in a pipe, and the confirmation before a note is saved."""

import re
import signal
from pathlib import Path

import pytest
from conftest import Program, write_notes
from prompt_toolkit.utils import get_cwidth
from terminal_screen import CTRL_C, CTRL_D, ENTER, Chat, Script, slow_reply

LINK = re.compile(rb"\x1b\]8;(?:id=\d+)?;([^\x1b]*)\x1b\\")


def links(raw: bytes) -> list[str]:
    """The addresses of all links that were opened, in order; each must have been closed."""
    found = [address.decode("ascii") for address in LINK.findall(raw)]
    assert found[1::2] == [""] * (len(found) // 2)
    assert len(found) % 2 == 0
    return found[::2]


# links


def test_a_source_is_a_link_to_its_note(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        chat.ask("when is compost ready?", "Sources")
        assert re.search(r"^  \[1\] ✓ \[\[Compost\]\] +Garden/Compost.md:3$", chat.everything(), re.MULTILINE), "the link takes no room"
        assert links(chat.raw)[0] == f"file://{zkchat.vault}/Garden/Compost.md"
        chat.say("/sources 1")
        chat.wait_for("> 3 │ A compost heap")
        chat.say("/refs")
        chat.wait_for("found once")
        assert len(set(links(chat.raw))) >= 1


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_plain_terminals_get_no_links(zkchat: Program, env: dict[str, str]) -> None:
    with Chat(zkchat, **env) as chat:
        chat.wait_for("you ›")
        chat.type("when is compost ready?" + ENTER)
        chat.wait_for("Garden/Compost.md:3")
        chat.type("/sources 1" + ENTER)
        chat.wait_for("It is ready after nine")
        assert b"\x1b]8" not in chat.raw


def test_a_hostile_file_name_is_only_a_link(zkchat: Program) -> None:
    name = "知识 #1 100%\x1b]0;owned\x07\nfake"
    write_notes(zkchat.vault, {f"{name}.md": "# Unicorns\n\nA unicorn lives on moonlight and clover.\n"})
    with Chat(zkchat, columns=60) as chat:
        chat.ask("what does a unicorn live on?", "Sources")
        assert chat.title == ""
        assert "知识 #1 100%␛]0;owned␇␊fake" in "".join(chat.everything().split("\n")).replace("  ", "")
        [address] = set(links(chat.raw)) - {""}
        assert address == f"file://{zkchat.vault}/%E7%9F%A5%E8%AF%86%20%231%20100%25%1B%5D0%3Bowned%07%0Afake.md"


def test_a_pipe_gets_sources_without_escape_sequences(zkchat: Program) -> None:
    done = zkchat("ask", "when is compost ready?")
    assert "[1] ✓ [[Compost]]   Garden/Compost.md:3" in done.out
    piped = zkchat("chat", stdin="when is compost ready?\n/sources\n/sources 1\n/refs\n/why Compost\n")
    assert piped.exit_status == 0
    assert piped.out.count("[1] ✓ [[Compost]]   Garden/Compost.md:3") == 2
    assert re.search("^> 3 │ .*It is ready after nine months.«$", piped.out, re.MULTILINE)
    assert "found in turn 1 by find_excerpts" in piped.out
    assert "\x1b" not in done.out + done.err + piped.out + piped.err


# any width

MOON = {
    "Deep/er/A note with a rather long name.md": "# Its rather long heading\n\nThe moon is a harsh mistress to those who wait.\n",
    "知识/很长的中文笔记名称.md": "# 月亮\n\nThe moon, 月亮, rules the tides of all the seas.\n",
}
ABOUT_THE_MOON = "“is a harsh mistress to those who wait” [1] and [2], and “rules no tides at all” [2] [7]."


def at(column: str, row: str) -> int:
    """In which column of the screen something begins."""
    return get_cwidth(row[: row.index(column)])


@pytest.mark.parametrize("columns", [40, 200])
def test_source_commands_fit_any_screen(zkchat: Program, script: Script, columns: int) -> None:
    write_notes(zkchat.vault, MOON)
    look = {"name": "find_excerpts", "arguments": {"query": "moon harsh mistress"}}
    with Chat(zkchat, "--model", script({"tool_calls": [look]}, {"text": ABOUT_THE_MOON}), columns=columns, rows=50) as chat:
        chat.ask("what of the moon, and of [[Mooon]]?", "Sources")
        for command, shown in (("/refs", "found once"), ("/sources 1", "cited in turn 1"), ("/why 1", "in the prompt now")):
            chat.say(command)
            chat.wait_for(shown)
        chat.wait_for_prompt()
        seen = chat.everything().split("\n")
    listed = seen[seen.index("Sources") : seen.index("Sources") + 16]
    first, second = (next(i for i, row in enumerate(listed) if row.startswith(f"  [{n}] {mark}")) for n, mark in ((1, "✓"), (2, "✗")))
    place, other = "Deep/er/A note with", "知识/很长的中文笔记名称.md:1-3"
    if columns <= 80:
        below = [row for row in listed[first + 1 : second] if row.startswith(f"        {place}")]
        assert len(below) == 1, "where there is no room beside it"
    else:
        assert at(place, listed[first]) == at(other, listed[second]), "in one column, however wide the characters before it"
    assert any("the quoted words are not there:" in row for row in listed)
    assert any(row.startswith("  [7] ✗ no such source was in the") for row in listed)
    assert not re.search(r"\]8;;|file:|\?\[", "\n".join(seen)), "no rubbish on the screen"


# the question before a note is written


def saved(zkchat: Program) -> list[Path]:
    return sorted(zkchat.vault.glob("When is compost*"))


def asked(chat: Chat) -> None:
    chat.ask("when is compost ready?", "Sources")
    chat.say("/save")
    chat.wait_for("Save the last answer as When is compost ready.md? [y/N]")


@pytest.mark.parametrize("yes", ["y", " YES "])
def test_yes_saves_the_note(zkchat: Program, yes: str) -> None:
    with Chat(zkchat) as chat:
        asked(chat)
        assert saved(zkchat) == []
        chat.type(yes + ENTER)
        chat.wait_for("Saved as When is compost ready.md")
        chat.wait_for_prompt()
    assert "[[Compost]]" in saved(zkchat)[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("no", [ENTER, "yesterday" + ENTER, CTRL_C, CTRL_D])
def test_any_other_answer_saves_nothing(zkchat: Program, no: str) -> None:
    with Chat(zkchat) as chat:
        asked(chat)
        chat.type(no)
        chat.wait_for("canceled")
        chat.say("/why Compost")
        chat.wait_for("found in turn 1")
    assert saved(zkchat) == []


def test_text_typed_before_the_question_does_not_answer_it(zkchat: Program, script: Script) -> None:
    with Chat(zkchat, "--model", script(slow_reply("Slowly ", "I ", "speak.", delay_ms=300))) as chat:
        chat.say("when is compost ready?")
        chat.wait_for("Slowly")
        chat.type("/save" + ENTER + "y" + ENTER)
        chat.wait_for("[y/N]")
        chat.type(ENTER)
        chat.wait_for("canceled")
        chat.wait_for_prompt()
    assert saved(zkchat) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_question_saves_nothing(zkchat: Program, number: signal.Signals) -> None:
    with Chat(zkchat) as chat:
        asked(chat)
        chat.kill(number)
        assert chat.wait_for_end() == 128 + number
    assert saved(zkchat) == []


def test_a_pipe_needs_yes_as_an_option(zkchat: Program) -> None:
    refused = zkchat("chat", stdin="when is compost ready?\n/save\n")
    assert refused.exit_status == 2
    assert "A piped chat cannot ask" in refused.err
    assert "/save --yes" in refused.err
    assert saved(zkchat) == []
    done = zkchat("chat", "-c", stdin="/save --yes\nwhat is said of compost ready?\n")
    assert done.exit_status == 0, done.err
    assert done.out.startswith("Saved as When is compost ready.md\n")
    assert len(saved(zkchat)) == 1
