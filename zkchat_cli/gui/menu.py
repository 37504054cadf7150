"""The menus: a table of actions. Most run a slash command with an argument from a dialog."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu, QMenuBar, QPlainTextEdit

from zkchat_cli import exporters, slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.gui.menu_host import MenuHost
from zkchat_cli.gui.styled_browser import fixed_font
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.views.conversation_cost import measure_cost
from zkchat_cli.views.prompts import prompt_text
from zkchat_cli.views.summary_cost import note_summaries_text
from zkchat_cli.views.text import plain_text, styled_line
from zkchat_cli.views.token_usage import usage_lines
from zkchat_cli.views.turn_steps import describe_compaction

Action = Callable[[MenuHost], object]
# Width in pixels of the dialog that shows the context
WIDTH = 720
HEIGHT = 520


class MenuEntry(NamedTuple):
    """One entry of a menu.

    It has the `menu`, the `label` (with `&` before the letter that chooses it), the `keys` that run
    it at any time, and the action. Most entries are disabled while a turn runs.
    """

    menu: str
    label: str
    keys: str
    run: Action
    while_busy: bool = False


def build_menus(host: MenuHost, bar: QMenuBar) -> list[QAction]:
    """Add the menus to the bar. Returns the actions that are disabled while a turn runs."""
    waiting = []
    menus: dict[str, QMenu] = {}
    for entry in MENU:
        if entry.menu not in menus:
            menus[entry.menu] = bar.addMenu(entry.menu)
        action = QAction(entry.label, host.window())
        action.setShortcut(QKeySequence(entry.keys))
        action.triggered.connect(lambda _=False, run=entry.run: run(host))
        menus[entry.menu].addAction(action)
        if not entry.while_busy:
            waiting.append(action)
    return waiting


def _command_action(line: str) -> Action:
    """An action that runs a slash command; `{turn}` in it is replaced by the selected turn."""
    return lambda window: window.run_command(line.format(turn=window.transcript.selected))


def _go_to_list(window: MenuHost) -> None:
    window.conversations.list.setFocus()


def _go_to_search(window: MenuHost) -> None:
    window.conversations.search.setFocus()


def _rename(window: MenuHost) -> None:
    title, chosen = QInputDialog.getText(window.window(), "Rename the conversation", "Title:")
    if chosen and title.strip():
        window.run_command(f"/rename {title}")


def _delete(window: MenuHost) -> None:
    """Delete the conversation that is selected in the list; if it was the open one, a new one is
    opened.
    """
    selected = window.conversations.selected
    if selected is None:
        return

    def delete(session: ZkChatSession) -> ZkChatSession:
        session.store.delete(selected.id)
        if session.conversation.id == selected.id:
            return session.open_conversation()
        return session

    window.ask(
        f"Delete “{selected.title}” permanently? This cannot be undone.",
        lambda: window.run(delete, window.switch_to),
    )


def _export(window: MenuHost) -> None:
    known = {f"{name} (*{exporters.exporter(name).suffix})": name for name in exporters.names()}
    file, chosen = QFileDialog.getSaveFileName(
        window.window(),
        "Export the conversation",
        dir="",
        filter=";;".join(known),
        # /export never overwrites a file, and says so
        options=QFileDialog.Option.DontConfirmOverwrite,
    )
    if file:
        window.run_command(f"/export {known[chosen]} {file}")


def show_context(window: MenuHost) -> None:
    """Show a dialog with the table of the context and the exact prompt.

    The prompt includes the message that is being typed; while an answer is written, it is the
    prompt that was sent for the answer.
    """
    typed = window.input.toPlainText()
    message = None if slash.is_command(typed) else typed or None
    sent = None
    if window.session is not None and window.answering:
        sent = window.session.last_prompt

    def explain(session: ZkChatSession) -> str:
        prompt = sent or session.prompt(message)
        costs = (measure_cost(session, prompt).line, note_summaries_text(session))
        price = session.runtime.price
        usage = plain_text(usage_lines(prompt, session.history, costs=costs, price=price))
        return f"{usage}\n\n{prompt_text(prompt)}"

    def show(text: str) -> None:
        dialog = QPlainTextEdit(text, window.window())
        dialog.setWindowFlag(Qt.WindowType.Dialog)
        dialog.setWindowTitle("Context of the next message")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.resize(WIDTH, HEIGHT)
        dialog.setReadOnly(True)
        dialog.setFont(fixed_font())
        dialog.show()

    if sent is not None:
        window.look_up(explain, show)
    else:
        window.run(explain, show)


def _compact(window: MenuHost) -> None:
    """Show what a compaction would do, and do it after a yes."""

    def show(preview: Compaction) -> None:
        window.state.setText(window.idle)
        if preview.mode == "none":
            window.result.show_outcome([describe_compaction(preview)])
            return
        summary = (preview.summary or "").splitlines()
        lines = [styled_line(text) for text in (describe_compaction(preview), *summary)]
        window.ask("Compact the conversation?", lambda: window.run_command("/compact"), lines)

    window.state.setText("writing a summary …")
    window.run(lambda session: session.compact(preview=True), show)


def _choice_action(name: str) -> Action:
    """An action that lets the user choose a model, an agent or a strategy.

    The choices are the completions of the command `name`.
    """

    def ask(window: MenuHost, values: Sequence[str]) -> None:
        value, chosen = QInputDialog.getItem(
            window.window(),
            f"Choose the {name}",
            f"{name.capitalize()}:",
            values,
            # A model that no server lists can be typed instead
            editable=name == "model",
        )
        if chosen and value.strip():
            window.run_command(f"/{name} {value}")

    return lambda window: window.run(
        lambda session: list(slash.find(name).values(session)), lambda values: ask(window, values)
    )


def _settings(window: MenuHost) -> None:
    if window.app is None:
        return
    file = window.app.loaded.paths.config_file
    if file.exists():
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
    else:
        advice = "zkchat config set KEY VALUE makes it."
        window.result.show_outcome([f"There is no settings file yet: {file}\n{advice}"])


CONVERSATION = "&Conversation"
TURN = "&Turn"
CONTEXT = "Conte&xt"
SETTINGS = "&Settings"
MENU = (
    MenuEntry(CONVERSATION, "&New", "Ctrl+N", _command_action("/new")),
    MenuEntry(CONVERSATION, "Re&sume from the list", "Ctrl+L", _go_to_list, while_busy=True),
    MenuEntry(CONVERSATION, "&Find", "Ctrl+F", _go_to_search, while_busy=True),
    MenuEntry(CONVERSATION, "Re&name…", "F2", _rename),
    MenuEntry(CONVERSATION, "&Delete…", "Ctrl+Shift+Delete", _delete),
    MenuEntry(CONVERSATION, "&Export…", "Ctrl+E", _export),
    MenuEntry(CONVERSATION, "&Quit", "Ctrl+Q", lambda window: window.close(), while_busy=True),
    MenuEntry(TURN, "&Undo the last turn", "Ctrl+Alt+Z", _command_action("/undo")),
    MenuEntry(TURN, "&Redo", "Ctrl+Alt+Y", _command_action("/redo")),
    MenuEntry(TURN, "Re&try", "Ctrl+R", _command_action("/retry")),
    MenuEntry(TURN, "&Pin the selected turn", "Ctrl+P", _command_action("/pin {turn}")),
    MenuEntry(TURN, "Unp&in the selected turn", "Ctrl+Shift+P", _command_action("/unpin {turn}")),
    MenuEntry(CONTEXT, "&Show the budget and the prompt", "Ctrl+I", show_context, while_busy=True),
    MenuEntry(CONTEXT, "&Compact…", "Ctrl+K", _compact),
    MenuEntry(
        CONTEXT, "&Undo the last compaction", "Ctrl+Shift+K", _command_action("/compact undo")
    ),
    MenuEntry(SETTINGS, "&Model…", "Ctrl+M", _choice_action("model")),
    MenuEntry(SETTINGS, "&Agent…", "Ctrl+Shift+A", _choice_action("agent")),
    MenuEntry(SETTINGS, "&Strategy…", "Ctrl+Shift+S", _choice_action("strategy")),
    MenuEntry(SETTINGS, "Settings &file", "Ctrl+,", _settings),
)
"""Every entry of every menu, from top to bottom."""
