"""The menus: a table of actions. Most run a slash command with an argument from a dialog."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QDialog, QFileDialog, QInputDialog, QPlainTextEdit, QTabWidget, QVBoxLayout

from zkchat_cli import exporters, slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.gui import tasks
from zkchat_cli.gui.panels import YES
from zkchat_cli.gui.styles import StyledBrowser, fixed_font, lines_html
from zkchat_cli.models import Compaction
from zkchat_cli.slash.context import usage_lines
from zkchat_cli.views.compaction import describe_compaction
from zkchat_cli.views.prompts import prompt_text
from zkchat_cli.views.text import StyledLine, styled_line

if TYPE_CHECKING:
    from zkchat_cli.gui.window import ChatWindow


class MenuEntry(NamedTuple):
    """An entry of the menus: `run` gets the window; with `while_busy` it can be chosen while a turn runs."""

    menu: str
    label: str
    keys: str
    run: "Callable[[ChatWindow], object]"
    while_busy: bool = False


def _command_action(line: str) -> "Callable[[ChatWindow], None]":
    """An action that runs a slash command, on the selected turn where it has `{turn}`."""
    return lambda window: window.run_command(line.format(turn=window.transcript.selected))


def _rename(window: "ChatWindow") -> None:
    title, chosen = QInputDialog.getText(window, "Rename the conversation", "Title:")
    if chosen and title.strip():
        window.run_command(f"/rename {title}")


def _delete(window: "ChatWindow") -> None:
    """Delete the conversation that is selected in the list."""
    if (item := window.conversations.currentItem()) is not None:
        title, id_ = item.text().partition("\n")[0], item.data(Qt.ItemDataRole.UserRole)
        question = f"Delete “{title}” permanently? This cannot be undone."
        window.ask(question, lambda: window.run(lambda session: tasks.delete_conversation(session, id_), window.switch_to))


def _export(window: "ChatWindow") -> None:
    known = {f"{name} (*{exporters.exporter(name).suffix})": name for name in exporters.names()}
    options = QFileDialog.Option.DontConfirmOverwrite  # /export never overwrites, and says so
    file, chosen = QFileDialog.getSaveFileName(window, "Export the conversation", "", ";;".join(known), "", options)
    if file:
        window.run_command(f"/export {known[chosen]} {file}")


class ContextDialog(QDialog):
    """The table of the context, and the exact prompt."""

    def __init__(self, window: "ChatWindow", table: Sequence[StyledLine], prompt: str) -> None:
        super().__init__(window)
        self.setWindowTitle("Context of the next message")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 520)
        self.table, self.prompt = StyledBrowser("Tokens by component"), QPlainTextEdit(prompt)
        self.table.document().setDefaultFont(fixed_font())
        self.table.show_html(lines_html(table))
        self.prompt.setAccessibleName("Exact prompt")
        self.prompt.setReadOnly(True)
        self.prompt.setFont(fixed_font())
        tabs = QTabWidget()
        tabs.addTab(self.table, "&Budget")
        tabs.addTab(self.prompt, "&Prompt")
        QVBoxLayout(self).addWidget(tabs)
        self.show()


def show_context(window: "ChatWindow") -> None:
    """The prompt with the message that is being typed; while an answer is written, the prompt that was sent for it."""
    typed, sent = window.input.toPlainText(), window.sent_prompt
    message = None if slash.is_command(typed) else typed or None

    def explain(session: ZkChatSession) -> tuple[Sequence[StyledLine], str]:
        prompt = sent or session.prompt(message)
        return usage_lines(session, prompt), prompt_text(prompt)

    (window.look_up if sent is not None else window.run)(explain, lambda found: ContextDialog(window, *found))


def _compact(window: "ChatWindow") -> None:
    """Show what a compaction would do, and make it after a yes."""

    def show(preview: Compaction) -> None:
        window.state.setText(window.idle)
        if preview.mode == "none":
            window.result.show_outcome([describe_compaction(preview)])
            return
        lines = [styled_line(describe_compaction(preview)), *map(styled_line, (preview.summary or "").splitlines())]
        window.question.ask("Compact the conversation?", lambda answer, _: window.run_command("/compact") if answer == YES else None, lines)

    window.state.setText("writing a summary …")
    window.run(lambda session: session.compact(preview=True), show)


def _choice_action(name: str) -> "Callable[[ChatWindow], None]":
    """An action that lets the user choose a model, an agent or a strategy among the completions of the command of that name."""

    def ask(window: "ChatWindow", values: Sequence[str]) -> None:
        value, chosen = QInputDialog.getItem(window, f"Choose the {name}", f"{name.capitalize()}:", values, 0, name == "model")
        if chosen and value.strip():
            window.run_command(f"/{name} {value}")

    return lambda window: window.run(lambda session: list(slash.find(name).values(session)), lambda values: ask(window, values))


def _settings(window: "ChatWindow") -> None:
    if window.app is not None:
        file = window.app.loaded.paths.config_file
        if file.exists():
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
        else:
            window.result.show_outcome([f"There is no settings file yet: {file}\nzkchat config set KEY VALUE makes it."])


MENU = (
    MenuEntry("&Conversation", "&New", "Ctrl+N", _command_action("/new")),
    MenuEntry("&Conversation", "Re&sume from the list", "Ctrl+L", lambda window: window.conversations.setFocus(), while_busy=True),
    MenuEntry("&Conversation", "&Find", "Ctrl+F", lambda window: window.search.setFocus(), while_busy=True),
    MenuEntry("&Conversation", "Re&name…", "F2", _rename),
    MenuEntry("&Conversation", "&Delete…", "Ctrl+Shift+Delete", _delete),
    MenuEntry("&Conversation", "&Export…", "Ctrl+E", _export),
    MenuEntry("&Conversation", "&Quit", "Ctrl+Q", lambda window: window.close(), while_busy=True),
    MenuEntry("&Turn", "&Undo the last turn", "Ctrl+Alt+Z", _command_action("/undo")),
    MenuEntry("&Turn", "&Redo", "Ctrl+Alt+Y", _command_action("/redo")),
    MenuEntry("&Turn", "Re&try", "Ctrl+R", _command_action("/retry")),
    MenuEntry("&Turn", "&Pin the selected turn", "Ctrl+P", _command_action("/pin {turn}")),
    MenuEntry("&Turn", "Unp&in the selected turn", "Ctrl+Shift+P", _command_action("/unpin {turn}")),
    MenuEntry("Conte&xt", "&Show the budget and the prompt", "Ctrl+I", show_context, while_busy=True),
    MenuEntry("Conte&xt", "&Compact…", "Ctrl+K", _compact),
    MenuEntry("Conte&xt", "&Undo the last compaction", "Ctrl+Shift+K", _command_action("/compact undo")),
    MenuEntry("&Settings", "&Model…", "Ctrl+M", _choice_action("model")),
    MenuEntry("&Settings", "&Agent…", "Ctrl+Shift+A", _choice_action("agent")),
    MenuEntry("&Settings", "&Strategy…", "Ctrl+Shift+S", _choice_action("strategy")),
    MenuEntry("&Settings", "Settings &file", "Ctrl+,", _settings),
)


def build_menus(window: "ChatWindow") -> list[QAction]:
    """Returns the actions that cannot be chosen while a turn runs."""
    waiting = []
    for title, entries in groupby(MENU, key=lambda entry: entry.menu):
        menu = window.menuBar().addMenu(title)
        for entry in entries:
            action = QAction(entry.label, window)
            action.setShortcut(QKeySequence(entry.keys))
            action.triggered.connect(lambda _=False, entry=entry: entry.run(window))
            menu.addAction(action)
            waiting += [] if entry.while_busy else [action]
    return waiting
