"""Keys at the prompt, without a terminal: what is sent, and what the line shows."""

import asyncio
import os
import pty
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, DummyCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from zkchat_cli.terminal.input_line import InputLine
from zkchat_cli.terminal.job_control import terminal_mode
from zkchat_cli.terminal.pastes import MAX_CHARACTERS, MAX_LINES, Pastes
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.vault_history import VaultHistory

ENTER = "\r"
ESCAPE = "\x1b"
CTRL_C = "\x03"
CTRL_D = "\x04"
UNDO = "\x1f"
UP = "\x1b[A"
DOWN = "\x1b[B"
LEFT = "\x1b[D"
BACKSPACE = "\x7f"
POEM = "\n".join(f"line {n}" for n in range(120))


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


class At:
    """A prompt that keys are sent to: `says` is what one line of keys sends."""

    def __init__(
        self, keyboard: PipeInput, history: Path | None = None, completer: Completer | None = None
    ) -> None:
        self.keyboard = keyboard
        self.history = VaultHistory()
        self.history.set_file(history)
        self.lines: list[str] = []
        self.prompt = InputLine(
            Screen.of(),
            completer or DummyCompleter(),
            self.history,
            self.lines.append,
            lambda: None,
        )

    def says(self, keys: str) -> str:
        self.keyboard.send_text(keys)
        return self.prompt.ask()

    def says_when(self, ready: Callable[[], object], keys: str) -> str:
        """Sends the keys as soon as something is true of the prompt that waits."""

        def send() -> None:
            while not ready():
                time.sleep(0.005)
            self.keyboard.send_text(keys)

        threading.Thread(target=send, daemon=True).start()
        return self.prompt.ask()

    def remembers(self) -> bool:
        """Whether the history has reached the line being typed."""
        return len(self.buffer._working_lines) > len(self.history.get_strings())

    @property
    def buffer(self) -> Buffer:
        return self.prompt._session.default_buffer


@pytest.fixture
def at() -> Iterator[At]:
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        yield At(keyboard)


# editing


def test_vi_keys_by_setting(at: At) -> None:
    at.prompt.use_vi_keys()
    assert at.says(f"one two{ESCAPE}bdwathree{ENTER}") == "one three"
    assert at.says(f"one\ntwo{ENTER}") == "one\ntwo"


def test_a_signal_just_after_the_line_was_sent_is_no_error(at: At) -> None:
    assert at.says(f"sent{ENTER}") == "sent"

    async def interrupt() -> None:
        at.prompt._session.app.key_processor.send_sigint()

    asyncio.run(interrupt())


# pasting


def test_a_short_paste_is_text(at: At) -> None:
    assert (
        at.says(f"{pasted('a poem' + chr(13) + chr(10) + 'of two lines')}{BACKSPACE}{ENTER}")
        == "a poem\nof two line"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (POEM, "[pasted 120 lines]"),
        (POEM + "\n", "[pasted 120 lines]"),
        ("x" * (MAX_CHARACTERS + 1), f"[pasted {MAX_CHARACTERS + 1} characters]"),
        ("\n" * MAX_LINES, f"[pasted {MAX_LINES} lines]"),
    ],
)
def test_a_paste_is_shown_by_its_size(text: str, shown: str) -> None:
    assert Pastes().fold(text) == shown


@given(
    st.lists(st.text(st.sampled_from("ab \n\r[]"), max_size=30).map(lambda t: t * 40), max_size=4)
)
def test_pasted_text_is_sent_unchanged(texts: list[str]) -> None:
    pastes = Pastes()
    for text in texts:
        assert pastes.unfold(pastes.fold(text)) == re.sub("\r\n?", "\n", text)


def test_a_paste_is_deleted_as_a_whole(at: At) -> None:
    assert at.says(f"see {pasted(POEM)}{BACKSPACE}this{ENTER}") == "see this"


# history


def test_lines_are_there_again_in_the_next_session_with_their_pastes(tmp_path: Path) -> None:
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        at = At(keyboard, tmp_path / "kept" / "lines")
        assert at.says(f"one \ud800{ENTER}".encode("utf-8", "replace").decode())
        at.says(f"two {pasted(POEM)}{ENTER}")
        assert f"two {POEM}" in at.lines, "what the toolbar counts"
        assert at.says_when(at.remembers, f"{UP}!{ENTER}") == f"two {POEM}!", (
            "shown as it was typed, and sent in full"
        )
    again = VaultHistory()
    again.set_file(tmp_path / "kept" / "lines")

    async def loaded() -> list[str]:
        return [line async for line in again.load()]

    assert asyncio.run(loaded()) == [f"two {POEM}!", f"two {POEM}", "one ?"]


def test_a_line_sent_before_the_file_is_known_is_kept(tmp_path: Path) -> None:
    history = VaultHistory()
    history.append_string("early")
    history.set_file(tmp_path / "lines")
    history.append_string("late")
    assert [
        line[1:] for line in (tmp_path / "lines").read_text().splitlines() if line.startswith("+")
    ] == ["early", "late"]


def test_a_history_that_cannot_be_written_does_not_end_the_chat(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    history = VaultHistory()
    history.set_file(tmp_path / "file" / "lines")
    history.append_string("line")
    assert history.get_strings() == ["line"]


class SlowNotes(Completer):
    """Computes as long as `pressed` is not set."""

    def __init__(self) -> None:
        self.computing = threading.Event()
        self.pressed = threading.Event()

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> Iterator[Completion]:
        if document.text == "[[Ro":
            self.computing.set()
            self.pressed.wait(5)
            yield Completion("Roof]]", -2)
            yield Completion("Roots]]", -2)


def test_a_tab_pressed_while_completions_are_computed_chooses_the_first() -> None:
    notes = SlowNotes()
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        at = At(keyboard, completer=notes)
        keyboard.send_text("[[Ro")

        def press_tab() -> bool:
            if notes.computing.is_set() and not notes.pressed.is_set():
                keyboard.send_text("\t")
                # The key is handled while the completions are still computed
                time.sleep(0.05)
                notes.pressed.set()
            return notes.pressed.is_set() and at.buffer.text != "[[Ro"

        assert at.says_when(press_tab, f"?{ENTER}") == "[[Roof]]?"


def test_keys_typed_before_the_prompt_appears_wait_for_it_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keyboard, inside = pty.openpty()
    with os.fdopen(inside) as terminal, os.fdopen(keyboard, "r+b", buffering=0) as keys:
        monkeypatch.setattr("sys.stdin", terminal)
        with terminal_mode(buffered=True):
            keys.write(b"early\r")
            assert os.read(terminal.fileno(), 100) == b"early\r"
        keys.write(b"seen")
        assert keys.read(100) == b"seen"
