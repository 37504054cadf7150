"""The list of sources in a real terminal and in a pipe, and the confirmation before a note is
saved.
"""

import re
from pathlib import Path

import pytest
from conftest import Program
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
        assert re.search(
            r"^  \[1\] ✓ \[\[Compost\]\] +Garden/Compost.md:3$", chat.everything(), re.MULTILINE
        ), "the link takes no room"
        assert links(chat.raw)[0] == f"file://{zkchat.vault}/Garden/Compost.md"
        chat.say("/sources 1")
        chat.wait_for("> 3 │ A compost heap")
        chat.say("/refs")
        chat.wait_for("found once")
        assert len(set(links(chat.raw))) >= 1


# the question before a note is written


def saved(zkchat: Program) -> list[Path]:
    return sorted(zkchat.vault.glob("When is compost*"))


def asked(chat: Chat) -> None:
    chat.ask("when is compost ready?", "Sources")
    chat.say("/save")
    chat.wait_for("Save the last answer as When is compost ready.md? [y/N]\n›")


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
        if no == CTRL_C:
            # Python misses a signal that comes between the drawing of the question and its wait
            chat.wait_until(lambda: "canceled" in chat.everything(), pressed=CTRL_C)
        else:
            chat.type(no)
            chat.wait_for("canceled")
        chat.say("/why Compost")
        chat.wait_for("found in turn 1")
    assert saved(zkchat) == []


def test_text_typed_before_the_question_does_not_answer_it(zkchat: Program, script: Script) -> None:
    with Chat(
        zkchat, "--model", script(slow_reply("Slowly ", "I ", "speak.", delay_ms=300))
    ) as chat:
        chat.say("when is compost ready?")
        chat.wait_for("Slowly")
        chat.type("/save" + ENTER + "y" + ENTER)
        chat.wait_for("[y/N]")
        chat.type(ENTER)
        chat.wait_for("canceled")
        chat.wait_for_prompt()
    assert saved(zkchat) == []
