"""A change of a note on a terminal: its hunks, and the keys that decide about them."""

from pathlib import Path
from typing import Any

from conftest import Program
from terminal_screen import CTRL_C, Chat, Script, stored_conversations

# Windows line ends, a byte order mark, a combining accent, and no end of the last line
NOTE = (
    "\ufeff# Plan\n\nFirst the cafe\u0301 \x1b[31mopens.\n\nThen the garden.\n\nThen we eat."
).replace("\n", "\r\n")
NEW_TEXT = "First the cafe\u0301 closes.\n\nThen the big garden.\n\nThen we drink."
SAID = {"text": "I did what you allowed."}
EDIT: dict[str, Any] = {
    "tool_calls": [
        {
            "name": "edit_section",
            "arguments": {"path": "Plan", "heading": "Plan", "new_text": NEW_TEXT},
        }
    ]
}


def plan(zkchat: Program) -> Path:
    note = zkchat.vault / "Plan.md"
    note.write_bytes(NOTE.encode())
    return note


def answer(chat: Chat, seen: str, keys: str) -> None:
    """Wait for a question, and answer it."""
    chat.wait_for(f"{seen} edit Plan.md › Plan? [y/N/e/a/d/q")
    chat.type(keys)
    chat.enter()


def told_to_the_model(zkchat: Program) -> str:
    [result] = [each["content"] for each in stored_conversations(zkchat) if each["role"] == "tool"]
    return str(result)


def editor(folder: Path, script: str) -> str:
    """An editor that runs a line of sed over the hunk."""
    program = folder / "my-editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return str(program)


def test_each_hunk_is_taken_left_out_or_edited_and_the_model_is_told(
    zkchat: Program, script: Script, tmp_path: Path
) -> None:
    note = plan(zkchat)
    edits = editor(tmp_path, 'sed -i "s/^+Then we drink/+Then we all drink/" "$1"')
    model = script(EDIT, SAID)
    with Chat(zkchat, "--unsafe", "--model", model, EDITOR=edits, NO_COLOR="1") as chat:
        chat.say("change it")
        chat.wait_for("[-␛[31mopens-]{+closes+}.")
        answer(chat, "(1/3)", "?")
        chat.wait_for("d   leave out this and all later changes of this note")
        answer(chat, "(1/3)", "n")
        chat.wait_for("~ Then the {+big +}garden.")
        answer(chat, "(2/3)", "y")
        answer(chat, "(3/3)", "e")
        chat.wait_for("done: 2 of 3 hunks, 1 edited by the user")
        chat.wait_for("I did what you allowed.")
        assert b"\x1b[31mopens" not in chat.raw
    changed = NOTE.replace("the garden", "the big garden").replace("we eat", "we all drink")
    assert note.read_bytes() == changed.encode()
    told = told_to_the_model(zkchat)
    assert "Plan.md, line 5: Then the big garden." in told
    assert "Then we all drink." in told
    assert "declined_by_the_user" in told


def test_ctrl_c_in_the_middle_writes_nothing(zkchat: Program, script: Script) -> None:
    note = plan(zkchat)
    with Chat(zkchat, "--unsafe", "--model", script(EDIT, SAID), columns=50) as chat:
        chat.say("change it")
        answer(chat, "(1/3)", "y")
        chat.wait_for("(2/3) edit Plan.md › Plan? [y/N/e/a/d/q")
        chat.wait_until(lambda: "nothing was changed" in chat.everything(), "a no", pressed=CTRL_C)
        chat.wait_for("I did what you allowed.")
        # In colors, the marks are not needed
        assert "[-" not in chat.everything()
        assert b"\x1b[31m" in chat.raw or b"\x1b[38;5;" in chat.raw
    assert note.read_bytes() == NOTE.encode()


def test_a_note_that_changes_meanwhile_is_left_alone(zkchat: Program, script: Script) -> None:
    note = plan(zkchat)
    with Chat(zkchat, "--unsafe", "--model", script(EDIT, SAID), columns=200) as chat:
        chat.say("change it")
        answer(chat, "(1/3)", "y")
        chat.wait_for("(2/3)")
        note.write_text("Mine.\n")
        answer(chat, "(2/3)", "a")
        chat.wait_for("Plan.md was changed by another program after it was read")
        chat.wait_for("I did what you allowed.")
    assert note.read_text() == "Mine.\n"


def test_an_edit_that_does_not_fit_is_edited_again(
    zkchat: Program, script: Script, tmp_path: Path
) -> None:
    note = plan(zkchat)
    # The first edit breaks the hunk, the second one mends it
    edits = editor(
        tmp_path,
        'if grep -q "^-First" "$1"; then sed -i "s/^-First/-Last/" "$1"; '
        'else sed -i "s/^-Last/-First/; s/closes/shuts/" "$1"; fi',
    )
    model = script(EDIT, SAID)
    with Chat(zkchat, "--unsafe", "--model", model, EDITOR=edits, VISUAL="") as chat:
        chat.say("change it")
        answer(chat, "(1/3)", "e")
        chat.wait_for("this does not fit the note: the lines with - or a space are not those")
        chat.wait_for("Edit it again? [Y/n]")
        chat.enter()
        answer(chat, "(2/3)", "d")
        chat.wait_for("done: 1 of 3 hunks, 1 edited by the user")
    assert note.read_bytes() == NOTE.replace("\x1b[31mopens", "shuts").encode()
