"""The window, as its user sees it: the real engine behind it, Qt without a display in front."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import write_notes
from factories import COUNTER, NOON, exchanges

from zkchat_cli.app import factory
from zkchat_cli.app.factory import App
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.cli.commands import gui
from zkchat_cli.errors import UsageError
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ToolCall

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
QtWidgets = pytest.importorskip(
    "PySide6.QtWidgets",
    reason="PySide6 is not installed: pip install 'zkchat[gui]'",
    exc_type=ImportError,
)
from PySide6.QtCore import Qt, QTimer, QUrl  # noqa: E402
from PySide6.QtGui import QAction, QColor, QPalette  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import (  # noqa: E402
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLineEdit,
    QWidget,
)

from zkchat_cli.gui.menu import MENU  # noqa: E402
from zkchat_cli.gui.window import ChatWindow  # noqa: E402
from zkchat_cli.views.prompts import prompt_text  # noqa: E402

Script = Callable[..., str]
OpenWindow = Callable[..., "User"]
LONG = (
    "The garden needs compost, and compost needs air, water and patience in every season "
    "of the year. "
) * 12


class User:
    """Someone at the window."""

    def __init__(self, window: ChatWindow) -> None:
        self.window = window

    def wait(self, until: Callable[[], bool] | None = None) -> None:
        """Until nothing is being done, or for something else."""
        deadline = time.monotonic() + 60
        QApplication.processEvents()
        reached = until or (lambda: not self.window._work.busy and not self.window._side.busy)
        while not reached():
            assert time.monotonic() < deadline, (
                f"nothing happens; the window shows {self.shown!r}, "
                f"{self.window.result.text.toPlainText()!r}"
            )
            QApplication.processEvents()
            # Not QTest.qWait, which does not let the window's threads work
            time.sleep(0.001)

    def write(self, text: str) -> None:
        QTest.keyClicks(self.window.input, text)

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.window.input, key)

    def ask(self, text: str, *, wait: bool = True) -> None:
        self.window.input.set_text(text)
        self.press(Qt.Key.Key_Return)
        if wait:
            self.wait()

    def actions(self) -> dict[str, QAction]:
        """The entries of all menus, by their labels."""
        menus = [action.menu() for action in self.window.menuBar().actions()]
        return {
            action.text().replace("&", ""): action for menu in menus for action in menu.actions()
        }  # type: ignore[attr-defined]

    def choose(self, entry: str, *, wait: bool = True) -> None:
        """Choose an entry of a menu."""
        self.actions()[entry].trigger()
        if wait:
            self.wait()

    def will_answer(self, *answers: str) -> None:
        """Give these answers to the next dialogs."""

        def answer() -> None:
            match QApplication.activeModalWidget():
                case QInputDialog() as dialog:
                    dialog.setTextValue(answers[0])
                    dialog.accept()
                case QFileDialog() as dialog:
                    dialog.selectFile(answers[0])
                    dialog.accept()
                case _:
                    QTimer.singleShot(2, answer)
                    return
            if answers[1:]:
                self.will_answer(*answers[1:])

        QTimer.singleShot(2, answer)

    def controls(self, *kinds: type[QWidget]) -> list[QWidget]:
        """What can be clicked or typed in now."""
        found = [
            each
            for kind in kinds or (QAbstractButton, QAbstractScrollArea, QLineEdit)
            for each in self.window.findChildren(kind)
        ]
        return [
            each
            for each in found
            if each.focusPolicy() != Qt.FocusPolicy.NoFocus
            and each.isVisible()
            and each.isEnabled()
        ]

    @property
    def shown(self) -> str:
        return self.window.transcript.toPlainText()

    @property
    def dialogs(self) -> list[Any]:
        return [
            each for each in self.window.findChildren(QtWidgets.QPlainTextEdit) if each.isWindow()
        ]

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
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    return found if isinstance(found, QApplication) else QApplication([])


@pytest.fixture
def open_window(application: QApplication, vault: Path, tmp_path: Path) -> Iterator[OpenWindow]:
    """`open_window(model, "--resume's id", **settings)` opens a window on these notes."""
    users: list[User] = []

    def open_app(model: str = "offline", unsafe: bool = False, **overrides: object) -> App:
        env = {"ZKCHAT_HOME": str(tmp_path / "home")}
        choices = StartupOptions(
            vault=vault,
            model=model,
            unsafe=unsafe,
            overrides={"semantic.provider": "none", **overrides},
        )
        return replace(factory.open_app(choices, env, vault), counter=COUNTER)

    def open_one(
        model: str = "offline", resume: str | None = None, wait: bool = True, **overrides: object
    ) -> User:
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


def store_turns(open_window: OpenWindow, count: int, text: str = LONG) -> str:
    """Store a conversation of so many turns, and return its id."""
    app = open_window.app()  # type: ignore[attr-defined]
    messages = exchanges(*((f"Question {n}?", f"Answer {n}. {text}") for n in range(1, count + 1)))
    times = {"created_at": NOON, "updated_at": NOON}
    conversation = Conversation(
        id="longone",
        vault=str(app.vault.root),
        title="A long one",
        head_id=messages[-1].id,
        **times,
    )
    app.store.restore([ConversationArchive(conversation=conversation, messages=messages)])
    app.close()
    return "longone"


def test_a_question_is_answered_once_and_its_references_open(
    open_window: OpenWindow, tmp_path: Path
) -> None:
    opened = tmp_path / "opened"
    user = open_window(**{"terminal.open_command": f"cp {{path}} {opened}"})
    user.write("What is a filter, and what is [[Nowhere]]?")
    user.press(Qt.Key.Key_Return)
    user.wait()
    assert user.shown.count("A filter is a line that says which tasks you want to see.") == 1
    assert user.shown.count("what is [[Nowhere]]?") == 1
    first, broken, *_ = (
        user.window.references.list.item(row).text()
        for row in range(user.window.references.list.count())
    )
    assert first.startswith("[1] ✓ [[Filters]]   Filters.md:7\n") and first.endswith("\nverified")
    assert broken == "✗ [[Nowhere]] not found\nbroken"
    link = re.search(r'href="(#source-[^"]+)"', user.window.transcript.toHtml())
    assert link is not None
    user.window.transcript.anchorClicked.emit(QUrl(link[1]))
    assert user.window.references.list.currentRow() == 0
    user.window.transcript.selectAll()
    user.window.transcript.copy()
    assert "A filter is a line" in QApplication.clipboard().text()
    user.wait()
    assert "A filter is a line" in user.window.references.passage.toPlainText()
    user.window.references.list.itemActivated.emit(user.window.references.list.item(0))
    user.wait(lambda: opened.exists() and "aliases" in opened.read_text())
    assert user.window.budget.components["tools"] > 0
    assert user.window.conversations.list.count() == 1


def test_a_goal_is_worked_on_in_several_answers(open_window: OpenWindow, script: Script) -> None:
    model = script({"text": "Half of it."}, {"text": "All of it.\nDONE"})
    user = open_window(model=model)
    user.write("/solve Compare the filters")
    user.press(Qt.Key.Key_Return)
    result = user.window.result.text
    user.wait(lambda: "Goal reached in 2 steps" in result.toPlainText())
    user.wait()
    assert user.shown.index("Half of it.") < user.shown.index("All of it.")


def test_without_token_counts_the_window_shows_none(open_window: OpenWindow) -> None:
    assert open_window().window.budget.isVisible()
    user = open_window(**{"context.show_token_count": False})
    assert not user.window.budget.isVisible()


def test_a_compaction_is_previewed_made_and_undone(open_window: OpenWindow) -> None:
    user = open_window(resume=store_turns(open_window, 30))
    before = user.window.budget.components["conversation"]
    user.choose("Compact…")
    assert "Would summarize" in user.question
    user.window.question.buttons[0].click()
    user.wait()
    assert "Summarized" in user.result
    assert user.window.budget.components["summary"] > 0
    user.choose("Undo the last compaction")
    assert user.window.budget.components == {
        **user.window.budget.components,
        "summary": 0,
        "conversation": before,
    }


def test_a_conversation_of_thousands_of_turns_shows_its_last_turns_and_scrolls(
    open_window: OpenWindow,
) -> None:
    """How long it takes: tests/bench/window.py."""
    id_ = store_turns(open_window, 2_000, "")
    user = open_window()
    user.window.resume(id_)
    user.wait(lambda: "Question 2000?" in user.shown)
    user.wait()
    assert user.window.windowTitle().startswith("A long one")
    assert "Question 1980?" in user.shown and "Question 1970?" not in user.shown
    bar = user.window.transcript.verticalScrollBar()
    bar.setValue(bar.minimum())
    user.wait()
    assert "Question 1970?" in user.shown and "Question 2000?" not in user.shown
    bar.setValue(bar.maximum())
    user.wait()
    assert "Question 2000?" in user.shown


def test_a_stopped_answer_and_one_whose_window_is_closed_are_stored_unfinished(
    open_window: OpenWindow, script: Script
) -> None:
    model = script({"deltas": ["It is ", *["slow "] * 400], "delay_ms": 20})
    user = open_window(model)
    user.ask("How fast is it?", wait=False)
    user.wait(lambda: "slow" in user.shown)
    assert not user.window._pane.send_button.isEnabled()
    user.press(Qt.Key.Key_Escape)
    user.wait()
    assert "Unfinished: the answer was cut off here." in user.shown
    user.ask("And now?", wait=False)
    user.wait(lambda: "And now?" in user.shown and "slow" in user.shown.rpartition("And now?")[2])
    session = user.window.session
    assert session is not None
    user.window.close()
    again = open_window(model, resume=session.conversation.id)
    assert again.shown.count("Unfinished: the answer was cut off here.") == 2


def test_indexing_can_be_stopped_and_a_message_that_is_sent_meanwhile_is_answered_after_it(
    open_window: OpenWindow, vault: Path
) -> None:
    write_notes(vault, {f"Many/{n}.md": f"Marmot {n} sleeps. " * 80 for n in range(500)})
    user = open_window(wait=False)
    user.wait(lambda: user.window.state.text().startswith("indexing"))
    user.press(Qt.Key.Key_Escape)
    user.wait()
    assert user.window.state.text() == "indexing stopped"
    user = open_window(wait=False)
    user.wait(lambda: user.window.state.text().startswith("indexing"))
    user.ask("What is a filter?")
    assert "A filter is a line" in user.shown


def test_an_error_is_shown_in_the_window_with_the_next_step(
    open_window: OpenWindow, script: Script
) -> None:
    user = open_window(script({"error": "auth"}))
    user.ask("Hello?")
    assert "✗" in user.result and len(user.result.splitlines()) > 1
    user.ask("@researcher")
    assert "no question for the agent researcher" in user.result and "@researcher" not in user.shown
    user.ask("/nonsense")
    assert "unknown command /nonsense" in user.result
    user.press(Qt.Key.Key_Escape)
    assert not user.window.result.isVisible()


def test_a_click_on_the_budget_shows_the_table_and_the_exact_prompt_with_what_is_typed(
    open_window: OpenWindow, script: Script
) -> None:
    user = open_window(script({"deltas": ["slow "] * 400, "delay_ms": 20}))
    user.write("What is compost?")
    user.window.budget.linkActivated.emit("context")
    user.wait()
    (dialog,), session = user.dialogs, user.window.session
    assert session is not None
    assert dialog.toPlainText().endswith(prompt_text(session.prompt("What is compost?")))
    assert "total" in dialog.toPlainText()
    user.press(Qt.Key.Key_Return)
    user.wait(lambda: "slow" in user.shown)
    assert "No messages yet." not in user.shown
    figure = user.window.budget.components["conversation"]
    user.wait(lambda: user.window.budget.components["conversation"] > figure)
    # Also while the answer is written: what was sent for it
    user.window.budget.linkActivated.emit("context")
    user.wait(lambda: len(user.dialogs) == 2)
    assert "What is compost?" in user.dialogs[1].toPlainText()
    assert user.window._work.busy


def test_links_tags_and_files_are_completed_and_typed_lines_recalled(
    open_window: OpenWindow, vault: Path
) -> None:
    (vault / "Tagged.md").write_text("About #garden.")
    user = open_window()
    popup = user.window.input._popup
    for typed, expected in (
        ("see [[Comp", "see [[Compost]]"),
        ("#gar", "#garden "),
        ("@Garden/Co", "@Garden/Compost.md "),
        ("/resu", "/resume "),
    ):
        user.window.input.clear()
        user.write(typed)
        user.wait(popup.isVisible)
        QTest.keyClick(popup, Qt.Key.Key_Tab)
        assert user.window.input.toPlainText().rstrip() == expected.rstrip()
    user.window.input.clear()
    user.write("one two three")
    user.wait()
    assert user.window._status.typed.text() == "message: 3 tokens"
    user.window.input.set_text("one two [[Compost]]")
    user.wait()
    assert int(user.window._status.typed.text().split()[1]) > 20  # with the note
    user.window.input.set_text("one two three")
    QTest.keyClick(user.window.input, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    assert user.window.input.toPlainText() == "one two three\n"
    user.ask("/tokens")
    assert "The next prompt uses" in user.result
    user.press(Qt.Key.Key_Up)
    user.wait()
    assert (user.window.input.toPlainText(), user.window._status.typed.text()) == (
        "/tokens",
        "message: 2 tokens",
    )
    later = open_window()
    later.press(Qt.Key.Key_Up)
    assert later.window.input.toPlainText() == "/tokens"


def test_a_long_completion_has_no_scroll_bar_and_cannot_be_edited(
    open_window: OpenWindow, vault: Path
) -> None:
    (vault / f"{'Long name ' * 15}.md").write_text("A note.")
    user = open_window()
    popup = user.window.input._popup
    user.write("[[Long")
    user.wait(popup.isVisible)
    assert not popup.horizontalScrollBar().isVisible()
    assert popup.editTriggers() == QAbstractItemView.EditTrigger.NoEditTriggers


def test_the_keyboard_reaches_every_control_and_every_action_and_all_have_names(
    open_window: OpenWindow,
) -> None:
    user = open_window()
    user.ask("/tokens")
    user.window.question.ask("Really?", (), lambda _: None)
    assert [
        each
        for each in user.controls()
        if not (each.accessibleName() or getattr(each, "text", lambda: "")())
    ] == []
    wanted = set(user.controls())
    reached = set()
    for _ in range(40):
        QTest.keyClick(QApplication.focusWidget() or user.window, Qt.Key.Key_Tab)
        reached.add(QApplication.focusWidget())
    assert wanted - reached == set()
    chosen: list[str] = []
    for name, action in user.actions().items():
        action.triggered.disconnect()
        action.triggered.connect(lambda _=False, name=name: chosen.append(name))
        user.window.input.setFocus()
        keys = action.shortcut()[0]  # type: ignore[index]
        QTest.keyClick(user.window.input, keys.key(), keys.keyboardModifiers())
    assert chosen == list(user.actions())


def test_at_800_by_600_nothing_is_cut_off(open_window: OpenWindow) -> None:
    user = open_window(resume=store_turns(open_window, 3))
    user.ask("What is a filter, and what is [[Nowhere]]?")
    user.ask("/context")
    user.window.question.ask("Really?", (), lambda _: None)
    user.window.resize(800, 600)
    user.wait()
    assert (user.window.width(), user.window.height()) == (800, 600)
    assert min(user.window.panes.sizes()) > 100
    for each in user.controls(QAbstractButton, QAbstractScrollArea, QLineEdit, QLabel):
        corner = each.mapTo(user.window, each.rect().bottomRight())
        assert corner.x() < 800 and corner.y() < 600, each
        if isinstance(each, QAbstractButton | QLabel):
            assert each.width() >= each.sizeHint().width() and each.height() >= min(
                each.sizeHint().height(), 20
            ), each
    assert not user.window.references.list.horizontalScrollBar().isVisible()
    assert not user.window.transcript.horizontalScrollBar().isVisible()


def test_colors_follow_the_desktop_when_it_turns_dark(
    open_window: OpenWindow, application: QApplication
) -> None:
    user = open_window()
    user.ask("What is [[Nowhere]]?")
    light = palette = application.palette()
    before = colors_of(user)
    application.styleHints().setColorScheme(Qt.ColorScheme.Dark)
    # This platform has no themes: do what one does
    if application.styleHints().colorScheme() != Qt.ColorScheme.Dark:
        palette = QPalette(QColor("#212429"), QColor("#212429"))
        application.setPalette(palette)
    application.processEvents()
    dark = colors_of(user)
    application.styleHints().unsetColorScheme()
    application.setPalette(light)
    application.processEvents()
    for (ink, paper), (dark_ink, dark_paper) in zip(before, dark, strict=True):
        assert ink < paper and dark_ink > dark_paper, (ink, paper, dark_ink, dark_paper)
    assert colors_of(user) == before


def colors_of(user: User) -> list[tuple[int, int]]:
    """How light text and background are: of the transcript, the list of references and the
    input.
    """
    window = user.window
    inks = [
        window.transcript.document().begin().begin().fragment().charFormat().foreground().color(),
        window.references.list.palette().text().color(),
        window.input.palette().text().color(),
    ]
    papers = [
        each.palette().base().color()
        for each in (window.transcript, window.references.list, window.input)
    ]
    return [(ink.lightness(), paper.lightness()) for ink, paper in zip(inks, papers, strict=True)]


def test_a_new_conversation_is_begun_and_the_old_one_found_resumed_and_deleted(
    open_window: OpenWindow,
) -> None:
    user = open_window(resume=store_turns(open_window, 2))
    user.ask("/new")
    assert "No messages yet." in user.shown
    user.window.conversations.search.setText("patience")
    user.window.list_conversations()
    user.wait()
    assert user.window.conversations.list.count() == 1
    user.window.conversations.list.itemActivated.emit(user.window.conversations.list.item(0))
    user.wait()
    assert "Question 2?" in user.shown
    user.choose("Delete…", wait=False)
    assert "permanently?" in user.question
    user.window.question.buttons[0].click()
    user.wait()
    assert user.window.conversations.list.count() == 0
    assert "No messages yet." in user.shown


def test_turns_are_asked_again_undone_redone_pinned_and_unpinned_from_the_menu(
    open_window: OpenWindow, script: Script
) -> None:
    user = open_window(script({"text": "One."}, {"text": "Two."}, {"text": "Three."}))
    user.ask("Count!")
    user.choose("Retry")
    assert "Two." in user.shown and "One." not in user.shown
    session = user.window.session
    assert session is not None
    user.choose("Pin the selected turn")
    assert any(message.pinned for message in session.history)
    user.choose("Unpin the selected turn")
    assert not any(message.pinned for message in session.history)
    user.choose("Undo the last turn")
    assert "Two." not in user.shown
    user.choose("Redo")
    assert "Two." in user.shown


def test_every_key_of_the_menus_is_documented() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reference" / "window.md").read_text(
        encoding="utf-8"
    )
    assert [entry.keys for entry in MENU if entry.keys not in page] == []


def test_model_agent_and_strategy_are_chosen_and_the_conversation_renamed_and_exported(
    open_window: OpenWindow, script: Script, tmp_path: Path
) -> None:
    user = open_window()
    user.choose("Settings file")
    assert "zkchat config set" in user.result
    user.ask("What is a filter?")
    for entry, value in (
        ("Strategy…", "discard"),
        ("Agent…", "researcher"),
        ("Model…", script({"text": "Hi."})),
    ):
        user.will_answer(value)
        user.choose(entry)
    session = user.window.session
    assert session is not None
    assert session.runtime.strategy.name == "discard"
    assert session.runtime.agent is not None and session.runtime.agent.name == "researcher"
    assert (
        session.runtime.model.name.startswith("scripted/")
        and "researcher" in user.window._status.speaker.text()
    )
    user.will_answer("About filters")
    user.choose("Rename…")
    assert user.window.windowTitle() == "About filters — zkchat"
    user.will_answer(str(tmp_path / "talk.md"))
    user.choose("Export…")
    assert "What is a filter?" in (tmp_path / "talk.md").read_text()


def test_a_change_of_notes_is_shown_as_a_diff_and_made_after_a_yes(
    open_window: OpenWindow, vault: Path, script: Script
) -> None:
    calls = [
        {"name": "append_to_note", "arguments": {"path": "Compost", "text": f"Line {n}.\b"}}
        for n in range(2)
    ]
    user = open_window(script({"tool_calls": calls}, {"text": "Done."}), unsafe=True)
    panel = user.window.hunk
    yes, *_, no = panel.buttons
    note = vault / "Garden/Compost.md"
    user.ask("Write!", wait=False)
    user.wait(panel.isVisible)
    assert "+ Line 0.␈" in panel.text.toPlainText()
    no.click()
    user.wait(lambda: "+ Line 1." in panel.text.toPlainText())
    yes.click()
    user.wait()
    assert note.read_text().endswith("months.\n\nLine 1.\b\n")
    user.ask("Write!", wait=False)
    user.wait(panel.isVisible)
    user.press(Qt.Key.Key_Escape)
    user.wait()
    assert not panel.isVisible() and "Line 0" not in note.read_text()
    (vault / "Bad.md").write_bytes(b"caf\xe9")
    warnings = open_window(unsafe=True).result
    assert warnings.startswith("--unsafe has no effect: offline")
    assert "Bad.md: Windows-1252 instead of UTF-8" in warnings


def test_the_hunks_of_a_change_are_taken_left_out_and_edited(
    open_window: OpenWindow, vault: Path, script: Script
) -> None:
    note = vault / "Plan.md"
    note.write_bytes(b"# Plan\r\n\r\nOne.\r\n\r\nTwo.\r\n\r\nThree.\r\n")
    answer = {"text": "```md Plan.md\n# Plan\n\n1.\n\n2.\n\n3.\n```"}
    user = open_window(script(answer))
    panel = user.window.hunk
    yes, edit, *_, no = panel.buttons
    user.ask("Use digits!")
    user.ask("/apply", wait=False)
    user.wait(panel.isVisible)
    no.click()
    user.wait(lambda: "(2/3)" in panel.text.toPlainText())
    context = " \n-Two.\n{}\n \n Three.\n"
    user.will_answer(
        f" Other.\n{context.format('+2nd.')}",
        f" \n One.\n{context.format('+2nd.')}",
    )
    edit.click()
    user.wait(lambda: "(3/3)" in panel.text.toPlainText())
    yes.click()
    user.wait()
    assert "2 of 3 hunks, 1 edited by the user" in user.result
    assert note.read_bytes() == b"# Plan\r\n\r\nOne.\r\n\r\n2nd.\r\n\r\n3.\r\n"
    user.ask("/undo notes")
    assert note.read_bytes().endswith(b"Two.\r\n\r\nThree.\r\n")


@pytest.mark.parametrize("agrees", [True, False])
def test_a_turn_that_costs_more_than_allowed_is_asked_about(
    open_window: OpenWindow, script: Script, agrees: bool
) -> None:
    limit = {"llm.prices": "scripted/* = 100/500", "chat.max_cost": "0.01"}
    user = open_window(script({"text": "Expensive words."}), **limit)
    panel = user.window.question
    user.ask("What is a filter?", wait=False)
    user.wait(panel.isVisible)
    assert "chat.max_cost" in user.question
    panel.buttons[0 if agrees else 1].click()
    user.wait()
    assert ("Expensive words." in user.shown) == agrees


def test_a_conversation_open_in_another_program_too_becomes_two_branches(
    open_window: OpenWindow, script: Script
) -> None:
    user = open_window(
        script({"text": "From the window."}, {"error": "auth"}), resume=store_turns(open_window, 1)
    )
    other = open_window.app()  # type: ignore[attr-defined]
    elsewhere = other.session(other.find("longone"))
    list(elsewhere.send("What is compost?"))
    user.ask("And in the window?")
    assert "another program has continued this conversation" in user.result
    assert "From the window." in user.shown
    list(elsewhere.send("What is a filter?"))
    user.ask("And now?")
    assert "another program has continued this conversation" in user.result and "✗" in user.result
    asked = {message.content for message in other.store.log("longone") if message.role == "user"}
    assert asked == {
        "Question 1?",
        "What is compost?",
        "And in the window?",
        "What is a filter?",
        "And now?",
    }
    other.close()


def test_a_call_of_another_programs_tool_is_asked_for(open_window: OpenWindow) -> None:
    user = open_window()
    decisions = []
    call = ToolCall(id="1", name="weather", arguments={"town": "B\u200bern"})
    panel = user.window.question
    assert user.window.app is not None
    approve = user.window.app.approve_call
    assert approve is not None
    for button in panel.buttons:
        user.window.run(lambda _: approve(call), decisions.append)
        user.wait(panel.isVisible)
        assert user.question == 'Call weather with {"town": "B<U+200B>ern"}?'
        button.click()
        user.wait()
    assert [(each.allowed, each.always) for each in decisions] == [(True, False), (False, False)]


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
