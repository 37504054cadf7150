"""The window, as its user sees it: the real engine behind it, Qt without a display in front."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from factories import COUNTER, NOON, exchanges

from zkchat_cli.app import factory
from zkchat_cli.app.factory import App
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.cli.commands import gui
from zkchat_cli.errors import UsageError
from zkchat_cli.models import Conversation, ToolCall

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
QtWidgets = pytest.importorskip("PySide6.QtWidgets", reason="PySide6 is not installed: pip install 'zkchat[gui]'", exc_type=ImportError)
from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QLineEdit  # noqa: E402

from zkchat_cli.gui import menu  # noqa: E402
from zkchat_cli.gui.window import ChatWindow  # noqa: E402

Script = Callable[..., str]
OpenWindow = Callable[..., "User"]
LONG = "The garden needs compost, and compost needs air, water and patience in every season of the year. " * 12


class User:
    """Someone at the window."""

    def __init__(self, window: ChatWindow) -> None:
        self.window = window

    def wait(self, until: Callable[[], bool] | None = None, seconds: float = 20) -> None:
        """Until nothing is being done, or for something else."""
        deadline = time.monotonic() + seconds
        reached = until or (lambda: not self.window._work.busy and not self.window._side.busy)
        while not reached():
            assert time.monotonic() < deadline, (
                f"nothing happens; the window shows {self.shown!r}, {self.window.result.text.toPlainText()!r}"
            )
            QApplication.processEvents()
            time.sleep(0.001)  # not QTest.qWait, which does not let the window's threads work

    def type(self, text: str) -> None:
        QTest.keyClicks(self.window.input, text)

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.window.input, key)

    def ask(self, text: str) -> None:
        self.window.input.set_text(text)
        self.press(Qt.Key.Key_Return)

    @property
    def shown(self) -> str:
        return self.window.transcript.toPlainText()

    @property
    def question(self) -> str:
        assert self.window.question.isVisible()
        return self.window.question.text.toPlainText()

    @property
    def result(self) -> str:
        assert self.window.result.isVisible()
        return self.window.result.text.toPlainText()


@pytest.fixture(scope="module")
def application() -> QApplication:
    found = QApplication.instance()
    return found if isinstance(found, QApplication) else QApplication([])


@pytest.fixture
def open_window(application: QApplication, vault: Path, tmp_path: Path) -> Iterator[OpenWindow]:
    """`open_window(model, "--resume's id", **settings)` opens a window on these notes."""
    users: list[User] = []

    def open_app(model: str = "offline", **overrides: object) -> App:
        env = {"ZKCHAT_HOME": str(tmp_path / "home")}
        choices = StartupOptions(vault=vault, model=model, overrides={"semantic.provider": "none", **overrides})
        return replace(factory.open_app(choices, env, vault), counter=COUNTER)

    def open_one(model: str = "offline", resume: str | None = None, wait: bool = True, **overrides: object) -> User:
        window = ChatWindow(lambda: open_app(model, **overrides), resume)
        users.append(User(window))
        window.show()
        window.activateWindow()
        if wait:
            users[-1].wait()
        return users[-1]

    open_one.app = open_app  # type: ignore[attr-defined]
    yield open_one
    for user in users:
        user.window.close()
        user.window.deleteLater()
    application.processEvents()


def store_turns(open_window: OpenWindow, count: int) -> str:
    """Store a conversation of so many turns, and return its id."""
    app = open_window.app()  # type: ignore[attr-defined]
    app.store.start(Conversation(id="longone", vault=str(app.vault.root), created_at=NOON, updated_at=NOON, title="A long one"))
    for message in exchanges(*((f"Question {n}?", f"Answer {n}. {LONG}") for n in range(1, count + 1))):
        app.store.add("longone", message)
    app.close()
    return "longone"


def test_a_question_is_answered_once_and_its_references_open(open_window: OpenWindow, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    user = open_window(**{"terminal.open_command": f"cp {{path}} {opened}"})
    user.type("What is a filter, and what is [[Nowhere]]?")
    assert "message: " in user.window.typed.text()
    user.press(Qt.Key.Key_Return)
    user.wait()
    assert user.shown.count("A filter is a line that says which tasks you want to see.") == 1
    assert user.shown.count("what is [[Nowhere]]?") == 1
    first, broken, *_ = user.window.references.rows
    assert (first.verdict, first.where) == ("verified", "[[Filters]], line 7")
    assert broken.text.startswith("✗ [[Nowhere]]\nbroken: not found")
    user.window.references.select_number(first.key)
    user.wait()
    assert "A filter is a line" in user.window.references.passage.toPlainText()
    user.window.references.list.itemActivated.emit(user.window.references.list.item(0))
    user.wait(lambda: opened.exists() and "aliases" in opened.read_text())
    assert user.window.budget.components["tools"] > 0
    assert user.window.conversations.count() == 1
    user.window.budget.click()
    user.wait()
    dialog = user.window.context_dialog
    assert dialog is not None and "total" in dialog.table.toPlainText() and "What is a filter" in dialog.prompt.toPlainText()


def test_a_compaction_is_previewed_made_and_undone(open_window: OpenWindow) -> None:
    user = open_window(resume=store_turns(open_window, 30))
    before = user.window.budget.components["conversation"]
    menu.compact(user.window)
    user.wait()
    assert "Would summarize" in user.question
    user.window.question.yes.click()
    user.wait()
    assert "Summarized" in user.result
    assert user.window.budget.components["summary"] > 0
    user.window.run_command("/compact undo")
    user.wait()
    assert user.window.budget.components == {**user.window.budget.components, "summary": 0, "conversation": before}


def test_a_long_conversation_shows_its_end_and_more_at_the_top(open_window: OpenWindow) -> None:
    user = open_window(resume=store_turns(open_window, 40))
    assert "Question 40?" in user.shown and "Question 5?" not in user.shown
    assert user.window.windowTitle().startswith("A long one")
    bar = user.window.transcript.verticalScrollBar()
    bar.setValue(bar.minimum())
    user.wait()
    assert "Question 5?" in user.shown and "Question 40?" not in user.shown
    bar.setValue(bar.maximum())
    user.wait()
    assert "Question 40?" in user.shown


def test_a_stopped_answer_and_one_whose_window_is_closed_are_stored_unfinished(open_window: OpenWindow, script: Script) -> None:
    model = script({"deltas": ["It is ", *["slow "] * 400], "delay_ms": 20})
    user = open_window(model)
    user.ask("How fast is it?")
    user.wait(lambda: "slow" in user.shown)
    assert not user.window.send_button.isEnabled()
    user.press(Qt.Key.Key_Escape)
    user.wait()
    assert "Unfinished: the answer was cut off here." in user.shown
    user.ask("And now?")
    user.wait(lambda: "And now?" in user.shown and "slow" in user.shown.rpartition("And now?")[2])
    session = user.window.session
    assert session is not None
    user.window.close()
    again = open_window(model, resume=session.conversation.id)
    assert again.shown.count("Unfinished: the answer was cut off here.") == 2


def test_an_error_is_shown_in_the_window_with_the_next_step(open_window: OpenWindow, script: Script) -> None:
    user = open_window(script({"error": "auth"}))
    user.ask("Hello?")
    user.wait()
    assert "✗" in user.result and len(user.result.splitlines()) > 1
    user.ask("/nonsense")
    user.wait()
    assert "unknown command /nonsense" in user.result
    user.press(Qt.Key.Key_Escape)
    assert not user.window.result.isVisible()


def test_the_keyboard_completes_recalls_and_reaches_everything_at_800_by_600(open_window: OpenWindow) -> None:
    user = open_window()
    user.type("see [[Comp")
    user.wait(lambda: user.window.input._popup.isVisible())
    QTest.keyClick(user.window.input._popup, Qt.Key.Key_Tab)
    assert user.window.input.toPlainText() == "see [[Compost]]"
    QTest.keyClick(user.window.input, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    assert user.window.input.toPlainText() == "see [[Compost]]\n"
    user.ask("/tokens")
    user.wait()
    assert "The next prompt uses" in user.result
    user.press(Qt.Key.Key_Up)
    assert user.window.input.toPlainText() == "/tokens"
    user.window.resize(800, 600)
    QTest.qWait(1)
    assert (user.window.width(), user.window.height()) == (800, 600)
    assert min(user.window.panes.sizes()) > 100
    named = [each for kind in (QAbstractButton, QAbstractScrollArea, QLineEdit) for each in user.window.findChildren(kind)]
    focusable = [each for each in named if each.focusPolicy() != Qt.FocusPolicy.NoFocus and each.isVisible()]
    assert len(focusable) > 5
    assert [each for each in focusable if not (each.accessibleName() or getattr(each, "text", lambda: "")())] == []


def test_a_new_conversation_is_begun_and_the_old_one_resumed_renamed_and_deleted(open_window: OpenWindow) -> None:
    user = open_window(resume=store_turns(open_window, 2))
    user.ask("/rename Compost")
    user.wait()
    assert user.window.windowTitle().startswith("Compost")
    user.ask("/new")
    user.wait()
    assert "No messages yet." in user.shown
    user.window.search.setText("patience")
    user.window.list_conversations()
    user.wait()
    assert user.window.conversations.count() == 1
    user.window.conversations.itemActivated.emit(user.window.conversations.item(0))
    user.wait()
    assert "Question 2?" in user.shown
    user.ask("/undo")
    user.wait()
    assert "Question 2?" not in user.shown
    menu._delete(user.window)
    assert "permanently?" in user.question
    user.window.question.yes.click()
    user.wait()
    assert user.window.conversations.count() == 0
    assert "No messages yet." in user.shown


def test_a_call_of_another_programs_tool_is_asked_for(open_window: OpenWindow) -> None:
    user, decisions = open_window(), []
    call, panel = ToolCall(id="1", name="weather", arguments={"town": "B\u200bern"}), user.window.question
    for answer in (panel.yes.click, panel.more.click, lambda: (panel.typed.setText("Too far"), panel.answer("no"))):
        user.window.run(lambda _: user.window._approve_call(call), decisions.append)
        user.wait(panel.isVisible)
        assert user.question == 'Call weather with {"town": "B<U+200B>ern"}?'
        answer()
        user.wait()
    assert [(each.allowed, each.always) for each in decisions] == [(True, False), (True, True), (False, False)]
    assert decisions[-1].reason == "declined by the user: it was not called. The user says: Too far"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have a display")
def test_without_a_display_the_command_names_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="no display"):
        gui.gui(vault=None)


def test_without_qt_the_command_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("zkchat_cli.gui", "PySide6"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PySide6", None)
    monkeypatch.setitem(sys.modules, "PySide6.QtCore", None)
    with pytest.raises(UsageError) as raised:
        gui.gui(vault=None)
    assert raised.value.hint == "pip install 'zkchat[gui]'"
