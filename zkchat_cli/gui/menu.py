"""The menus: a table of actions. Most run a slash command with an argument from a dialog."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QFileDialog, QInputDialog, QPlainTextEdit

from zkchat_cli import exporters, slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.gui.widgets import fixed_font
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.views.prompts import prompt_text, usage_lines
from zkchat_cli.views.text import plain_text, styled_line
from zkchat_cli.views.turn_steps import describe_compaction

if TYPE_CHECKING:
    from zkchat_cli.gui.window import ChatWindow


def _command_action(line: str) -> "Callable[[ChatWindow], None]":
    """An action that runs a slash command, on the selected turn where it has `{turn}`."""
    return lambda window: window.run_command(line.format(turn=window.transcript.selected))


def _rename(window: "ChatWindow") -> None:
    title, chosen = QInputDialog.getText(window, "Rename the conversation", "Title:")
    if chosen and title.strip():
        window.run_command(f"/rename {title}")


def _delete(window: "ChatWindow") -> None:
    """Delete the conversation that is selected in the list; a new one follows if it was the open
    one.
    """
    if window.conversations.selected is not None:
        id_, title = window.conversations.selected

        def delete(session: ZkChatSession) -> ZkChatSession:
            session.store.delete(id_)
            return session.open_conversation() if session.conversation.id == id_ else session

        window.ask(
            f"Delete “{title}” permanently? This cannot be undone.",
            lambda: window.run(delete, window.switch_to),
        )


def _export(window: "ChatWindow") -> None:
    known = {f"{name} (*{exporters.exporter(name).suffix})": name for name in exporters.names()}
    options = QFileDialog.Option.DontConfirmOverwrite  # /export never overwrites, and says so
    file, chosen = QFileDialog.getSaveFileName(
        window, "Export the conversation", "", ";;".join(known), "", options
    )
    if file:
        window.run_command(f"/export {known[chosen]} {file}")


def show_context(window: "ChatWindow") -> None:
    """A dialog with the table of the context and the exact prompt: with the message that is being
    typed, or while an answer is written, the prompt that was sent for it.
    """
    typed = window.input.toPlainText()
    message = None if slash.is_command(typed) else typed or None
    sent = window.session.last_prompt if window.session is not None and window.answering else None

    def explain(session: ZkChatSession) -> str:
        prompt = sent or session.prompt(message)
        return f"{plain_text(usage_lines(prompt, session.history))}\n\n{prompt_text(prompt)}"

    def show(text: str) -> None:
        dialog = QPlainTextEdit(text, window)
        dialog.setWindowFlag(Qt.WindowType.Dialog)
        dialog.setWindowTitle("Context of the next message")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.resize(720, 520)
        dialog.setReadOnly(True)
        dialog.setFont(fixed_font())
        dialog.show()

    (window.look_up if sent is not None else window.run)(explain, show)


def _compact(window: "ChatWindow") -> None:
    """Show what a compaction would do, and make it after a yes."""

    def show(preview: Compaction) -> None:
        window.state.setText(window.idle)
        if preview.mode == "none":
            window.result.show_outcome([describe_compaction(preview)])
            return
        lines = [
            styled_line(describe_compaction(preview)),
            *map(styled_line, (preview.summary or "").splitlines()),
        ]
        window.ask("Compact the conversation?", lambda: window.run_command("/compact"), lines)

    window.state.setText("writing a summary …")
    window.run(lambda session: session.compact(preview=True), show)


def _choice_action(name: str) -> "Callable[[ChatWindow], None]":
    """An action that lets the user choose a model, an agent or a strategy among the completions of
    the command of that name.
    """

    def ask(window: "ChatWindow", values: Sequence[str]) -> None:
        value, chosen = QInputDialog.getItem(
            window, f"Choose the {name}", f"{name.capitalize()}:", values, 0, name == "model"
        )
        if chosen and value.strip():
            window.run_command(f"/{name} {value}")

    return lambda window: window.run(
        lambda session: list(slash.find(name).values(session)), lambda values: ask(window, values)
    )


def _settings(window: "ChatWindow") -> None:
    if window.app is not None:
        file = window.app.loaded.paths.config_file
        if file.exists():
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
        else:
            window.result.show_outcome(
                [f"There is no settings file yet: {file}\nzkchat config set KEY VALUE makes it."]
            )


MENU: "tuple[tuple[str, str, str, Callable[[ChatWindow], object]], ...]" = (
    ("&Conversation", "&New", "Ctrl+N", _command_action("/new")),
    (
        "&Conversation",
        "Re&sume from the list",
        "Ctrl+L",
        lambda window: window.conversations.list.setFocus(),
    ),
    ("&Conversation", "&Find", "Ctrl+F", lambda window: window.conversations.search.setFocus()),
    ("&Conversation", "Re&name…", "F2", _rename),
    ("&Conversation", "&Delete…", "Ctrl+Shift+Delete", _delete),
    ("&Conversation", "&Export…", "Ctrl+E", _export),
    ("&Conversation", "&Quit", "Ctrl+Q", lambda window: window.close()),
    ("&Turn", "&Undo the last turn", "Ctrl+Alt+Z", _command_action("/undo")),
    ("&Turn", "&Redo", "Ctrl+Alt+Y", _command_action("/redo")),
    ("&Turn", "Re&try", "Ctrl+R", _command_action("/retry")),
    ("&Turn", "&Pin the selected turn", "Ctrl+P", _command_action("/pin {turn}")),
    ("&Turn", "Unp&in the selected turn", "Ctrl+Shift+P", _command_action("/unpin {turn}")),
    ("Conte&xt", "&Show the budget and the prompt", "Ctrl+I", show_context),
    ("Conte&xt", "&Compact…", "Ctrl+K", _compact),
    ("Conte&xt", "&Undo the last compaction", "Ctrl+Shift+K", _command_action("/compact undo")),
    ("&Settings", "&Model…", "Ctrl+M", _choice_action("model")),
    ("&Settings", "&Agent…", "Ctrl+Shift+A", _choice_action("agent")),
    ("&Settings", "&Strategy…", "Ctrl+Shift+S", _choice_action("strategy")),
    ("&Settings", "Settings &file", "Ctrl+,", _settings),
)
"""Menu, label, keys and what the entry runs."""
# Keys of the entries that can be chosen while a turn runs
WHILE_BUSY = ("Ctrl+L", "Ctrl+F", "Ctrl+Q", "Ctrl+I")


def build_menus(window: "ChatWindow") -> list[QAction]:
    """Returns the actions that cannot be chosen while a turn runs."""
    waiting = []
    menus = {
        title: window.menuBar().addMenu(title)
        for title in dict.fromkeys(title for title, *_ in MENU)
    }
    for title, label, keys, run in MENU:
        action = QAction(label, window)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda _=False, run=run: run(window))
        menus[title].addAction(action)
        waiting += [] if keys in WHILE_BUSY else [action]
    return waiting
