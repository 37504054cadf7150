"""What the chat does while its session is still being made, without a terminal."""

import io
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import NOTES, write_notes
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from zkchat_cli.app import factory
from zkchat_cli.app.factory import App
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat import session
from zkchat_cli.terminal import repl, startup
from zkchat_cli.terminal.repl import Repl
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.startup import StartedSession

ENTER = "\r"
CTRL_C = "\x03"
CTRL_D = "\x04"


@dataclass
class Chat:
    """A chat in this process; the session is made when `open` is set."""

    folder: Path
    keyboard: PipeInput
    open: threading.Event = field(default_factory=threading.Event)
    printed: io.StringIO = field(default_factory=io.StringIO)
    apps: list[App] = field(default_factory=list)

    def run(self, after: Callable[["Chat"], None] = lambda _: None, **settings: str) -> int:
        """The exit code. `after` runs beside it, once the prompt is there; then the chat is
        left.
        """

        def opening() -> StartedSession:
            self.open.wait()
            env = {
                "ZKCHAT_HOME": str(self.folder / "home"),
                "ZKCHAT_SEMANTIC__PROVIDER": "none",
                **settings,
            }
            self.apps.append(
                app := factory.open_app(
                    StartupOptions(vault=self.folder / "notes", store=False), env, self.folder
                )
            )
            return StartedSession(app, app.session(), (("something is odd", "look"),))

        chat = Repl(opening, Screen(self.printed, self.printed, color=False, err_is_terminal=False))  # type: ignore[arg-type]
        beside = threading.Thread(
            target=lambda: (after(self), self.keyboard.send_text(CTRL_D)), daemon=True
        )
        beside.start()
        try:
            return chat.run()
        finally:
            for app in self.apps:
                app.close()

    def ask_while_loading(self, question: str) -> None:
        """Sent before the session is there, answered when it is."""
        self.keyboard.send_text(f"{question}{ENTER}")
        self.wait_for("loading …")
        self.open.set()
        self.wait_for("Sources")

    def wait_for(
        self,
        text: str,
        where: Callable[["Chat"], Container[str]] = lambda chat: chat.printed.getvalue(),
    ) -> None:
        end = time.monotonic() + 20
        while text not in where(self):
            assert time.monotonic() < end, (
                f"waited in vain for {text!r} in {self.printed.getvalue()!r}"
            )
            time.sleep(0.005)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    write_notes(tmp_path / "notes", NOTES)
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        yield Chat(tmp_path, keyboard)


def test_a_line_waits_for_the_session_and_says_what_it_waits_for(chat: Chat) -> None:
    assert chat.run(lambda chat: chat.ask_while_loading("when is compost ready?")) == 0
    assert "nine months" in chat.printed.getvalue()
    assert f"notes ({len(NOTES)}) · offline" in chat.printed.getvalue()
    assert "zkchat: something is odd (look)" in chat.printed.getvalue()


@pytest.mark.parametrize("show", ["true", "false"])
def test_notes_that_are_linked_and_about_the_same_are_offered_after_an_answer(
    chat: Chat, show: str
) -> None:
    write_notes(chat.folder / "notes", {"Heaps.md": "See [[Compost]]."})
    chat.open.set()

    def after(chat: Chat) -> None:
        chat.keyboard.send_text(f"when is compost ready?{ENTER}/related{ENTER}")
        chat.wait_for("it links here")

    assert chat.run(after, ZKCHAT_CHAT__SHOW_RELATED=show) == 0
    printed = chat.printed.getvalue()
    assert ("  related: [[Heaps]]; /related says why" in printed) == (show == "true")
    assert "[[Heaps]]   Heaps.md" in printed


def test_ctrl_c_ends_the_waiting_and_gives_the_line_back(chat: Chat) -> None:
    def after(chat: Chat) -> None:
        chat.keyboard.send_text(f"when is compost ready?{ENTER}")
        chat.wait_for("loading …")
        os.kill(os.getpid(), signal.SIGINT)
        chat.wait_for("not sent; the text is in the input line again")
        chat.open.set()
        chat.wait_for("offline:")
        chat.keyboard.send_text(f" [[None]]{ENTER}")
        chat.wait_for("[[None]] not found")
        chat.wait_for("nine months")

    assert chat.run(after) == 0


def test_leaving_does_not_wait_forever_for_the_session(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "STOP_TIMEOUT_OPENING", 0.2)
    began = time.monotonic()
    assert chat.run() == 0
    assert time.monotonic() - began < 5
    chat.open.set()


def test_a_termination_while_loading_is_an_orderly_end(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "STOP_TIMEOUT_OPENING", 0.2)
    # It would close this process's own streams
    monkeypatch.setattr(Screen, "discard_output", lambda _: None)

    def after(chat: Chat) -> None:
        chat.keyboard.send_text(f"a question{ENTER}")
        chat.wait_for("loading …")
        os.kill(os.getpid(), signal.SIGTERM)

    assert chat.run(after) == 128 + signal.SIGTERM
    chat.open.set()


def test_the_first_index_is_counted_and_awaited_by_a_message(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repl, "SHOW_WAIT_AFTER", 0.001)
    monkeypatch.setattr(repl, "WAIT_INTERVAL", 0.001)
    write_notes(
        chat.folder / "notes",
        {f"Many/{n}.md": f"# Note {n}\n\nThe number is {n}.\n" for n in range(600)},
    )

    assert chat.run(lambda chat: chat.ask_while_loading("which number is 599?")) == 0
    assert re.search(rf"  indexing \d+/{600 + len(NOTES)} …", chat.printed.getvalue())
    assert "Many/599.md" in chat.printed.getvalue()


def test_the_vault_is_looked_at_while_a_message_is_typed(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "SCAN_INTERVAL", 0.01)
    monkeypatch.setattr(session, "LOOK_AHEAD_SECONDS", 3600.0)  # sending does not look again
    chat.open.set()

    def after(chat: Chat) -> None:
        chat.wait_for("offline:")
        write_notes(chat.folder / "notes", {"Zebra.md": "# Zebra\n\nA zebra has stripes.\n"})
        chat.keyboard.send_text("what does a zebra")
        chat.wait_for("Zebra.md", lambda chat: chat.apps[0].vault.note_paths())
        chat.keyboard.send_text(f" have?{ENTER}")
        chat.wait_for("stripes")

    assert chat.run(after) == 0
