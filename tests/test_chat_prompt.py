"""The prompt on a screen: before the session is there, with pastes and menus, stopped by the shell,
ended from outside.
"""

import shlex
import shutil
import signal

import pytest
from conftest import Program
from terminal_screen import CTRL_C, ENDLESS, ENTER, TAB, Chat, Script, stored_conversations

SUSPEND = "\x1a"


class InShell(Chat):
    """A shell, in which `start` runs the chat as its job."""

    PROMPT = "$ at your command"
    in_shell = True

    def command(self, *arguments: str) -> list[str]:
        self._line = shlex.join(super().command(*arguments))
        return ["bash", "--norc", "--noprofile", "-i"]

    def start(self) -> None:
        self.type(f"PS1='{self.PROMPT[:1]}''{self.PROMPT[1:]} '{ENTER}")
        self.wait_for_shell()
        self.type(f"clear; {self._line}{ENTER}")

    def wait_for_shell(self, *, pressed: str = "") -> None:
        self.wait_until(
            lambda: self.screen_text().endswith(self.PROMPT), "the shell", pressed=pressed
        )


@pytest.mark.skipif(not shutil.which("bash"), reason="needs a shell with job control")
def test_ctrl_z_suspends_and_fg_continues_at_the_prompt_but_not_in_an_answer(
    zkchat: Program, script: Script
) -> None:
    with InShell(zkchat, "--model", script(ENDLESS), columns=100) as chat:
        chat.start()
        chat.wait_for_prompt()
        chat.type("talk")
        chat.wait_for("you › talk")
        chat.wait_for_shell(pressed=SUSPEND)
        chat.type(f"fg{ENTER}")
        chat.wait_until(
            lambda: (
                chat.at_prompt()
                and "you › talk" in chat.screen_text()
                and len(chat.toolbars()) == 1
            ),
            "the line as it was",
        )
        chat.type(f" on{ENTER}")
        chat.wait_for("then word 1,")
        chat.type(SUSPEND)
        chat.wait_for("then word 4,")
        chat.type(CTRL_C)
        chat.wait_for("stopped; the partial answer is kept")
        chat.wait_for_prompt()
        chat.type(f"/quit{ENTER}")
        chat.wait_for_shell()
    assert stored_conversations(zkchat)[0]["content"] == "talk on"


@pytest.mark.skipif(not shutil.which("bash"), reason="needs a shell with job control")
def test_ctrl_z_suspends_at_the_prompt_of_a_plain_terminal_too(zkchat: Program) -> None:
    with InShell(zkchat, TERM="dumb") as chat:
        chat.start()
        chat.wait_for("you ›")
        chat.type("/mo")
        chat.wait_for("you › /mo")
        chat.wait_for_shell(pressed=SUSPEND)
        chat.type(f"fg{ENTER}")
        chat.type(f"{TAB}{ENTER}")
        chat.wait_for("offline, context window")


@pytest.mark.parametrize(("columns", "rows"), [(40, 15), (200, 50)])
def test_a_long_paste_is_shown_by_its_size_and_sent_in_full(
    zkchat: Program, script: Script, columns: int, rows: int
) -> None:
    poem = "\n".join(f"line {n} of a long poem" for n in range(120))
    with Chat(zkchat, "--model", script({"text": "Noted."}), columns=columns, rows=rows) as chat:
        chat.wait_for_prompt()
        chat.type("see ")
        chat.paste(poem)
        chat.type(": why?")
        chat.wait_for("you › see [pasted 120 lines]: why?")
        chat.wait_until(lambda: len(chat.toolbars()) == 1, "one toolbar")
        chat.enter()
        chat.wait_for("Noted.")
        chat.wait_for_prompt()
        assert "line 7 of" not in chat.everything()
    assert stored_conversations(zkchat)[0]["content"] == f"see {poem}: why?"


def test_a_note_then_its_heading_are_chosen_from_the_menu(zkchat: Program, script: Script) -> None:
    with Chat(zkchat, "--model", script({"text": "Noted."})) as chat:
        chat.wait_for_prompt()
        chat.type("see [[cmbn")
        chat.wait_for("Queries")
        chat.type(TAB)
        chat.wait_for("[[Combining]]")
        chat.type("#nes")
        chat.wait_until(
            lambda: "[[Combining#nes" in chat.screen_text() and "Nesting" in chat.screen_text(),
            "the headings",
        )
        chat.type(TAB)
        chat.wait_for("see [[Combining#Nesting]]")
        chat.wait_until(lambda: len(chat.toolbars()) == 1, "one toolbar")
        chat.type(CTRL_C)
        chat.type("/model off")
        chat.wait_for("          offline")


def test_an_error_while_opening_removes_the_prompt(zkchat: Program) -> None:
    with Chat(zkchat, "--resume", "nosuchid") as chat:
        assert chat.wait_for_end() == 3
        assert "nosuchid" in chat.screen_text()
        assert "you ›" not in chat.screen_text()
    with Chat(zkchat, "--model", "nobody/none") as chat:
        assert chat.wait_for_end() == 2
        assert "nobody/none" in chat.screen_text()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_an_end_from_outside_at_the_prompt_is_an_orderly_end(
    zkchat: Program, how: signal.Signals, term: str
) -> None:
    with Chat(zkchat, TERM=term) as chat:
        chat.wait_for("you ›")
        chat.type("half a line")
        chat.wait_for("half a line")
        chat.end_from_outside(how)
        assert "Traceback" not in chat.everything()
