"""Effects of slash commands: the pager, the clipboard, the editor, a prepared input line."""

import base64
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from urllib.parse import quote

import pytest
from conftest import Program
from factories import AppFixture
from terminal_screen import Chat, Script

from zkchat_cli.app.editor import open_note_command
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config.schema import Config, TerminalSettings
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.slash.base import CommandResult, ListQuestion, NoteToOpen
from zkchat_cli.terminal import command_runner, job_control
from zkchat_cli.terminal.clipboard import copy_text
from zkchat_cli.terminal.screen import Screen


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def screen(*, terminal: bool = True, columns: int | None = None) -> Screen:
    out = Terminal() if terminal else StringIO()
    return Screen(
        out,
        StringIO(),
        color=False,
        err_is_terminal=False,
        columns=(lambda: columns) if columns else None,
    )


def written(by: Screen) -> str:
    assert isinstance(by.out, StringIO)
    return by.out.getvalue()


def program(folder: Path, name: str, body: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


LONG = "".join(f"line {i}\n" for i in range(200))


def test_a_note_of_an_obsidian_vault_opens_in_obsidian_where_no_editor_is_set(
    tmp_path: Path,
) -> None:
    (tmp_path / ".obsidian").mkdir()
    opener = program(tmp_path, "xdg-open", "")
    env = {"PATH": str(tmp_path), "DISPLAY": ":0"}
    command = open_note_command(tmp_path / "A b.md", 3, "", tmp_path, env)
    if sys.platform != "darwin":
        assert command == [
            str(opener),
            f"obsidian://open?path={quote(str(tmp_path / 'A b.md'), safe='')}",
        ]
    assert (
        open_note_command(tmp_path / "A b.md", 3, "", tmp_path, env | {"EDITOR": "vi"}) is not None
    )


# the pager


def test_long_output_goes_to_the_pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pager = program(
        tmp_path, "pager", f'cat > {tmp_path}/read; echo "$LESSSECURE $*" >> {tmp_path}/read'
    )
    shown = screen()
    monkeypatch.setenv("PAGER", f"{pager} -x")
    job_control.page(LONG, shown)
    assert (tmp_path / "read").read_text() == f"{LONG}1 -x\n"
    assert written(shown) == ""


def test_a_pager_that_fails_is_named_and_the_text_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = program(tmp_path, "pager", "exit 3")
    shown = screen()
    monkeypatch.setenv("PAGER", str(pager))
    job_control.page(LONG, shown)
    assert written(shown) == LONG
    assert (
        shown.err.getvalue() == f"zkchat: the pager {pager} failed with code 3; here is the text\n"
    )  # type: ignore[attr-defined]


def test_short_output_and_pipes_are_not_paged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "false")
    for text, shown, screens in (
        ("short\n", screen(), 1),
        ("line\n" * 40, screen(), 2),
        (LONG, screen(terminal=False), 1),
    ):
        job_control.page(text, shown, screens=screens)
        assert written(shown) == text


# the clipboard


def test_the_terminal_copies_by_escape_sequence() -> None:
    shown = screen()
    assert copy_text("Grüße", shown, {}) == ["the terminal"]
    assert written(shown) == f"\x1b]52;c;{base64.b64encode('Grüße'.encode()).decode()}\x07"


def test_an_installed_clipboard_program_is_used(tmp_path: Path) -> None:
    program(tmp_path, "xclip", "exit 1")
    program(tmp_path, "xsel", f'/bin/cat > {tmp_path}/copied; echo "$*" >> {tmp_path}/copied')
    program(tmp_path, "wl-copy", f"touch {tmp_path}/never")
    shown = screen(terminal=False)
    assert copy_text("a text\n", shown, {"DISPLAY": ":0", "PATH": str(tmp_path)}) == ["xsel"]
    assert (tmp_path / "copied").read_text() == "a text\n--clipboard --input\n"
    assert not (tmp_path / "never").exists()
    assert written(shown) == ""


def test_a_clipboard_program_that_hangs_is_given_up(tmp_path: Path) -> None:
    program(tmp_path, "pbcopy", "exec /bin/sleep 600")
    assert copy_text("a text", screen(terminal=False), {"PATH": str(tmp_path)}) == []


def test_copied_text_cannot_end_a_bracketed_paste(app: AppFixture) -> None:
    hands = Hands(app.session())
    hands.carry_out(CommandResult(clipboard="a\x1b[201~b"))
    assert base64.b64encode("a␛[201~b".encode()).decode() in hands.screen.out.getvalue()  # type: ignore[attr-defined]


def test_large_text_is_not_copied_through_the_terminal() -> None:
    shown = screen()
    assert copy_text("x" * 80_000, shown, {"PATH": "/nowhere"}) == []
    assert copy_text("x", screen(), {"TERM": "dumb", "PATH": "/nowhere"}) == []
    assert written(shown) == ""


# the editor

NOTE = Path("/notes/A b.md")


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+12", "/notes/A b.md"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+12", "/notes/A b.md"]),
        ("hx", ["hx", "/notes/A b.md:12"]),
        ("code --wait", ["code", "--wait", "-g", "/notes/A b.md:12"]),
        ("ed", ["ed", "/notes/A b.md"]),
    ],
)
def test_each_editor_gets_the_line_number_in_its_own_syntax(
    editor: str, command: list[str]
) -> None:
    assert open_note_command(NOTE, 12, "", NOTE.parent, {"EDITOR": editor}) == command
    assert (
        open_note_command(NOTE, 12, "", NOTE.parent, {"EDITOR": "false", "VISUAL": editor})
        == command
    )


def test_the_editor_setting_overrides_the_environment() -> None:
    env = {"EDITOR": "vim"}
    assert open_note_command(NOTE, 3, "subl {path}:{line}", NOTE.parent, env) == [
        "subl",
        "/notes/A b.md:3",
    ]
    assert open_note_command(NOTE, 3, "gedit", NOTE.parent, env) == ["gedit", "/notes/A b.md"]
    assert open_note_command(NOTE, 3, "", NOTE.parent, {}) is None
    with pytest.raises(ConfigError, match="is not a command"):
        open_note_command(NOTE, 3, "gedit '", NOTE.parent, env)


# carrying out


@dataclass
class Hands:
    """A chat that carries out what a command wants; its screen is kept."""

    session: ZkChatSession
    screen: Screen = field(default_factory=lambda: screen(columns=80))
    next_input: str = ""
    turn_is_running: bool = False

    # No command of these tests opens a list
    can_choose: bool = False

    def read_answer(self, question: str, choices: str) -> str:
        raise AssertionError(f"asked {question} [{choices}]")

    def choose(self, choice: ListQuestion) -> str | None:
        raise AssertionError(f"asked to choose: {choice.title}")

    def carry_out(self, outcome: CommandResult) -> str:
        command_runner.carry_out(lambda: outcome, self, nullcontext)
        return written(self.screen)


def test_copying_is_confirmed_or_an_error(app: AppFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "copied 1 character (through the terminal)" in Hands(app.session()).carry_out(
        CommandResult(clipboard="x")
    )
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="could not be copied"):
        Hands(app.session()).carry_out(CommandResult(clipboard="xx"))


def test_a_missing_editor_is_an_error(app: AppFixture, tmp_path: Path) -> None:
    app.settings = Config(terminal=TerminalSettings(open_command="no-such-editor"))
    with pytest.raises(UsageError, match="no-such-editor cannot be started"):
        Hands(app.session()).carry_out(
            CommandResult(open_note=NoteToOpen(tmp_path / "A.md", 1, "a"))
        )


def test_a_note_is_opened_or_printed(
    app: AppFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    opens = CommandResult(
        open_note=NoteToOpen(tmp_path / "A.md", 7, "the \x1b[31mtext " + "word " * 14)
    )
    assert Hands(app.session()).carry_out(opens) == "the ␛[31mtext " + "word " * 14 + "\n"
    app.settings = Config(
        terminal=TerminalSettings(
            open_command=f"{program(tmp_path, 'editor', f'echo $* > {tmp_path}/opened')} {{line}}"
        )
    )
    assert Hands(app.session()).carry_out(opens) == ""
    assert (tmp_path / "opened").read_text() == f"7 {tmp_path}/A.md\n"


# on a real terminal


def test_editing_and_paging_in_a_real_terminal(
    zkchat: Program, script: Script, tmp_path: Path
) -> None:
    pager = program(
        tmp_path,
        "less",
        f'read -r first; echo "read: $first"; until [ -e {tmp_path}/read ]; do sleep 0.1; done',
    )
    model = script({"text": "It needs air."}, {"text": "Nine months."})
    with Chat(zkchat, "--model", model, PAGER=str(pager)) as chat:
        chat.ask("What does compost need?", "It needs air.")
        chat.say("/edit")
        chat.wait_for("› /edit 1 What does compost need?")
        chat.type("\x15/edit 1 How long?")
        chat.enter()
        chat.wait_for("Nine months.")
        chat.say("/new")
        chat.say("/resume 1")
        chat.wait_for("Resumed “What does compost need?” (2 messages).")
        chat.say("/show")
        chat.wait_for("read: ── system")
        chat.type("\x03")
        chat.wait_for_prompt()
        chat.say("/show")
        chat.wait_until(lambda: chat.everything().count("read: ── system") == 2)
        chat.type("/tokens typed ahead\r")
        (tmp_path / "read").touch()
        chat.wait_for("2 tokens, 11 characters")
