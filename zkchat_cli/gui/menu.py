"""The menus: a table of actions, most of them a slash command with what a dialog asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QFileDialog, QInputDialog

from zkchat_cli import exporters, slash
from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.gui import engine, styles
from zkchat_cli.gui.dialogs import CompactionDialog, ContextDialog
from zkchat_cli.gui.result_panel import WIDTH
from zkchat_cli.slash.base import CommandResult

if TYPE_CHECKING:
    from zkchat_cli.gui.window import ChatWindow


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """`run` gets the window; `while_busy` says whether it may be chosen while a turn runs."""

    label: str
    keys: str
    run: "Callable[[ChatWindow], None]"
    while_busy: bool = False


def _command(line: str) -> "Callable[[ChatWindow], None]":
    return lambda window: window.run_command(line)


def _resume(window: "ChatWindow") -> None:
    window.conversations.setFocus()


def _rename(window: "ChatWindow") -> None:
    title, chosen = QInputDialog.getText(window, "Rename the conversation", "Title:")
    if chosen and title.strip():
        window.run_command(f"/rename {title}")


def _delete(window: "ChatWindow") -> None:
    """Delete the conversation that is selected in the list."""
    item = window.conversations.currentItem()
    if item is None or window.session is None:
        return
    title, id_ = item.text().partition("\n")[0], item.data(Qt.ItemDataRole.UserRole)
    if window.ask(f"Delete “{title}” permanently? This cannot be undone."):
        window.run(lambda session: engine.delete_conversation(session, id_), window.switch_to)


def _export(window: "ChatWindow") -> None:
    known = {f"{exporters.exporter(name).name} (*{exporters.exporter(name).suffix})": name for name in exporters.names()}
    options = QFileDialog.Option.DontConfirmOverwrite  # /export never overwrites, and says so
    file, chosen = QFileDialog.getSaveFileName(window, "Export the conversation", "", ";;".join(known), "", options)
    if file:
        window.run_command(f"/export {known[chosen]} {file}")


def _quit(window: "ChatWindow") -> None:
    window.close()


def show_context(window: "ChatWindow") -> None:
    """The table of the context, and the exact prompt with the message that is being typed."""
    typed = window.input.toPlainText()

    def show(described: tuple[CommandResult, str]) -> None:
        result, prompt = described
        lines = result.render(WIDTH) if result.render is not None else result.lines
        window.context_dialog = ContextDialog(window, styles.lines_html(lines, dark=styles.is_dark(window.palette())), prompt)
        window.context_dialog.show()

    window.run(lambda session: engine.describe_context(session, "" if slash.is_command(typed) else typed), show)


def compact(window: "ChatWindow") -> None:
    def preview(instructions: str) -> None:
        window.run(lambda session: engine.preview_compaction(session, instructions), dialog.show_preview)

    dialog = CompactionDialog(window, preview, lambda instructions: window.run_command(f"/compact {instructions}".strip()))
    window.compaction_dialog = dialog
    dialog.show()
    dialog.start_preview()


def _pin(window: "ChatWindow", command: str) -> None:
    if (turn := window.transcript.selected_turn) is not None:
        window.run_command(f"/{command} {turn.number}")


def _choose(window: "ChatWindow", what: str) -> None:
    """Choose a model, an agent or a strategy from those that the command of that name completes."""

    def choose(values: Sequence[str]) -> None:
        value, chosen = QInputDialog.getItem(window, f"Choose the {what}", f"{what.capitalize()}:", list(values), 0, what == "model")
        if chosen and value.strip():
            window.run_command(f"/{what} {value}")

    window.run(lambda session: list(slash.find(what).values(session)) or [NO_AGENT], choose)


def _settings(window: "ChatWindow") -> None:
    if window.app is not None:
        file = engine.settings_file(window.app)
        if file.exists():
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
        else:
            window.result.show_notice(f"There is no settings file yet: {file}", "zkchat config set KEY VALUE makes it.")


MENUS: tuple[tuple[str, tuple[MenuEntry, ...]], ...] = (
    (
        "&Conversation",
        (
            MenuEntry("&New", "Ctrl+N", _command("/new")),
            MenuEntry("Re&sume from the list", "Ctrl+L", _resume),
            MenuEntry("Re&name…", "F2", _rename),
            MenuEntry("&Delete…", "Ctrl+Shift+Delete", _delete),
            MenuEntry("&Export…", "Ctrl+E", _export),
            MenuEntry("&Quit", "Ctrl+Q", _quit, while_busy=True),
        ),
    ),
    (
        "&Turn",
        (
            MenuEntry("&Undo the last turn", "Ctrl+Alt+Z", _command("/undo")),
            MenuEntry("&Redo", "Ctrl+Alt+Y", _command("/redo")),
            MenuEntry("Re&try", "Ctrl+R", _command("/retry")),
            MenuEntry("&Pin the selected turn", "Ctrl+P", lambda window: _pin(window, "pin")),
            MenuEntry("Unp&in the selected turn", "Ctrl+Shift+P", lambda window: _pin(window, "unpin")),
            MenuEntry("&Stop the answer", "", lambda window: window.stop(), while_busy=True),
        ),
    ),
    (
        "Conte&xt",
        (
            MenuEntry("&Show the budget and the prompt", "Ctrl+I", show_context),
            MenuEntry("&Compact…", "Ctrl+K", compact),
            MenuEntry("&Undo the last compaction", "Ctrl+Shift+K", _command("/compact undo")),
        ),
    ),
    (
        "&Settings",
        (
            MenuEntry("&Model…", "Ctrl+M", lambda window: _choose(window, "model")),
            MenuEntry("&Agent…", "", lambda window: _choose(window, "agent")),
            MenuEntry("&Strategy…", "", lambda window: _choose(window, "strategy")),
            MenuEntry("Settings &file", "", _settings),
        ),
    ),
)


def build_menus(window: "ChatWindow") -> None:
    for title, entries in MENUS:
        menu = window.menuBar().addMenu(title)
        for entry in entries:
            action = QAction(entry.label, window)
            action.setShortcut(QKeySequence(entry.keys))
            action.setData(entry.while_busy)
            action.triggered.connect(lambda _=False, entry=entry: entry.run(window))
            menu.addAction(action)


def enable_actions(window: "ChatWindow", *, enabled: bool) -> None:
    for action in window.findChildren(QAction):
        if action.data() is not None:
            action.setEnabled(enabled or bool(action.data()))
