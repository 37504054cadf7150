"""The window: conversations on the left, the transcript and the input in the middle, the references of the selected turn on the right.

Everything of the engine runs on `_work`, one after another as in the terminal; what does not change the conversation (completion, lists,
passages, other pages) runs on `_side` meanwhile. Nothing here waits for either.
"""

from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QProcess, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDesktopServices, QGuiApplication, QKeySequence, QShortcut

from zkchat_cli import events, slash
from zkchat_cli.app.editor import open_note_command
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.completion import InputCompleter
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.gui import engine, menu
from zkchat_cli.gui.budget_bar import BudgetButton
from zkchat_cli.gui.dialogs import CompactionDialog, ContextDialog
from zkchat_cli.gui.engine import Opened, Snapshot
from zkchat_cli.gui.input_box import InputBox
from zkchat_cli.gui.references import ReferencePanel
from zkchat_cli.gui.result_panel import ResultPanel
from zkchat_cli.gui.styles import lines_html
from zkchat_cli.gui.transcript import TranscriptView, render_page
from zkchat_cli.gui.worker import Worker
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped
from zkchat_cli.models import ContextUsage, ConversationSummary, IndexReport, ToolCall
from zkchat_cli.slash.base import CommandResult, NoteToOpen
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.arguments import format_arguments
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import estimate_tokens
from zkchat_cli.vault.approval import ALLOWED, DECLINED_CALL, Decision
from zkchat_cli.views import conversation_list
from zkchat_cli.views.budget_bar import short_count

SEARCH_DELAY = 200
"""Milliseconds after a key before the conversations are searched."""
MAX_COUNTED = 20_000
"""Characters up to which the message is counted at each key, in under 2 ms; a longer one is estimated."""
_ID = Qt.ItemDataRole.UserRole


class ChatWindow(QtWidgets.QMainWindow):
    conversations: QtWidgets.QListWidget

    def __init__(self, open_app: Callable[[], App], resume: str | None = None) -> None:
        """`open_app` is called on a worker's thread; `resume` is the id of a conversation, or the beginning of it."""
        super().__init__()
        self.app: App | None = None
        self.session: ZkChatSession | None = None
        self._snapshot: Snapshot | None = None
        self._store: ChatSessionStore | None = None
        self._line = self._streamed = ""
        self._notices: list[str] = []
        self._completed = False
        self.context_dialog: ContextDialog | None = None
        self.compaction_dialog: CompactionDialog | None = None
        self._work, self._side = Worker("chat", self._show_error), Worker("lookup", self._show_error)
        self._completer = InputCompleter(lambda: self.session)
        self._actions = menu.build_menus(self)
        self._build()
        self.state.setText("opening the notes …")
        self._work.submit(lambda: engine.open_session(open_app, resume, self._approve_call), self._begin)

    # the widgets

    def _build(self) -> None:
        self.setWindowTitle("zkchat")
        self.resize(1180, 760)
        self.search = QtWidgets.QLineEdit()
        self.search.setPlaceholderText("Search conversations")
        self.search.setAccessibleName("Search conversations")
        self.conversations = QtWidgets.QListWidget()
        self.conversations.setAccessibleName("Conversations")
        self.conversations.setWordWrap(True)
        self.conversations.itemActivated.connect(lambda item: self.resume(item.data(_ID)))
        self.conversations.itemClicked.connect(lambda item: self.resume(item.data(_ID)))
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY)
        self._search_timer.timeout.connect(self.list_conversations)
        self.search.textChanged.connect(lambda: self._search_timer.start())
        self.transcript, self.references, self.result, self.input = TranscriptView(), ReferencePanel(), ResultPanel(), InputBox()
        self.transcript.turn_selected.connect(self.references.show_rows)
        self.transcript.citation_clicked.connect(self.references.select_number)
        self.transcript.page_wanted.connect(self._load_page)
        self.references.selected.connect(self._show_passage)
        self.references.opened.connect(self.open_note)
        self.input.sent.connect(self.send)
        self.input.completion_wanted.connect(self._complete)
        self.input.textChanged.connect(self._count_typed)
        self.send_button, self.stop_button = QtWidgets.QPushButton("&Send"), QtWidgets.QPushButton("S&top")
        self.send_button.clicked.connect(lambda: self.send(self.input.toPlainText()))
        self.stop_button.setToolTip("Stop the answer and keep what came (Escape)")
        self.stop_button.clicked.connect(self._work.stop)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self._escape)
        buttons = QtWidgets.QVBoxLayout()
        buttons.addWidget(self.send_button)
        buttons.addWidget(self.stop_button)
        below = QtWidgets.QWidget()
        below.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Maximum)
        row = QtWidgets.QHBoxLayout(below)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.input, 1)
        row.addLayout(buttons)
        self.panes = QtWidgets.QSplitter()
        for pane in (_column(self.search, self.conversations), _column(self.transcript, self.result, below), self.references):
            self.panes.addWidget(pane)
        self.panes.setSizes([220, 600, 360])
        self.panes.setStretchFactor(1, 1)
        self.setCentralWidget(self.panes)
        self.state, self.speaker, self.typed, self.budget = QtWidgets.QLabel(), QtWidgets.QLabel(), QtWidgets.QLabel(), BudgetButton()
        self.budget.clicked.connect(lambda: menu.show_context(self))
        self.statusBar().addWidget(self.state, 1)
        for widget in (self.typed, self.speaker, self.budget):
            self.statusBar().addPermanentWidget(widget)
        self.setTabOrder(self.input, self.send_button)
        self.input.setFocus()
        self._set_busy(True)

    # the session

    def run(self, work: Callable[[ZkChatSession], Any], done: Callable[[Any], None] = lambda _: None) -> None:
        """Do something with the session after all that was asked for before."""
        if (session := self.session) is not None:
            self._set_busy(True)
            self._work.submit(lambda: work(session), lambda result: self._finish(done, result), lambda: self._finish(done, None))

    def look_up(self, work: Callable[[ZkChatSession], Any], done: Callable[[Any], None]) -> None:
        """Ask something that changes nothing, also while a turn runs."""
        if (session := self.session) is not None:
            self._side.submit(lambda: work(session), done)

    def run_command(self, line: str) -> None:
        self._line = line
        is_command = slash.is_command(line)
        self.run(lambda session: slash.run(line, session) if is_command else CommandResult(turn=session.send(line)), self._carry_out)

    def send(self, line: str) -> None:
        """Send a message, or run a command."""
        if self._work.busy or self.session is None or not line.strip():
            return
        self.input.remember(line)
        self.result.hide()
        self.run_command(line)

    def resume(self, conversation_id: str) -> None:
        if self.session is not None and conversation_id != self.session.conversation.id and not self._work.busy:
            self.run(lambda session: session.open_conversation(conversation_id), self.switch_to)

    def switch_to(self, session: ZkChatSession | None) -> None:
        if session is not None:
            self.session = session
        self.refresh()

    def refresh(self) -> None:
        """Show the session as it is now."""
        self.run(engine.take_snapshot, self._show_snapshot)
        self.run(lambda session: session.usage, self.budget.show_usage)

    def _begin(self, opened: Opened) -> None:
        self.app, self.session = opened.app, opened.session
        self.input.history = opened.history
        self.refresh()
        self._work.submit(lambda: opened.app.vault.refresh(progress=self._show_progress), lambda report: self._indexed(opened, report))
        if opened.app.unstored is not None:
            self.result.show_notice(f"This chat is not stored: {opened.app.unstored.message}. {opened.app.unstored.hint}")

    def _show_progress(self, done: int, total: int) -> None:
        raise_if_stopped()
        if done % 50 == 0:
            self._work.post(lambda: self.state.setText(f"indexing {done}/{total}"))

    def _indexed(self, opened: Opened, report: IndexReport) -> None:
        self.run(lambda session: session.apply_scan(report))
        self.state.setText(f"{opened.app.vault.name}: {report.notes:,} notes")
        opened.app.vault.embed_in_background(lambda: self._work.busy, opened.app.message_embedder())

    def _finish(self, done: Callable[[Any], None], result: Any) -> None:
        if result is not None:
            done(result)
        self._set_busy(self._work.busy)

    def _carry_out(self, result: CommandResult) -> None:
        """Do what a command wants: see slash/base.py."""
        self.result.show_result(result)
        if result.quit:
            self.close()
            return
        if result.confirm is not None and self.ask(result.confirm.question):
            confirmed = result.confirm.run
            self.run(lambda _: confirmed(), self._carry_out)
            return
        if result.clipboard is not None:
            QGuiApplication.clipboard().setText(result.clipboard)
            self.state.setText(f"copied {len(result.clipboard):,} characters")
        self._open_found(result.open_note)
        if result.input_text:
            self.input.set_text(result.input_text)
        if (turn := result.turn) is not None:
            self._begin_turn(turn)
        else:
            self.switch_to(result.session)

    def _begin_turn(self, turn: Generator[events.Event, None, None]) -> None:
        session, snapshot = self.session, self._snapshot
        if session is None or snapshot is None:
            return
        self._streamed, self._notices, self._completed = "", [], False
        if self.transcript.page.last < snapshot.page.last:
            self.transcript.show_page(snapshot.page)
        self.transcript.begin_turn(self._line)
        self.state.setText("answering …")
        self._set_busy(True)

        def show(event: events.Event, usage: ContextUsage | None) -> None:
            self._work.post(lambda: self._show_event(event, usage))

        self._work.submit(lambda: engine.run_turn(session, turn, show), lambda _: self._end_turn(""), lambda: self._end_turn("stopped"))

    def _end_turn(self, state: str) -> None:
        self.state.setText(state)
        said = [] if self._completed or state else [self._streamed]  # by a command such as /compact, which adds no message
        if shown := "\n\n".join(filter(None, (*self._notices, *said))):
            self.result.show_notice(shown)
        self.refresh()

    def _show_event(self, event: events.Event, usage: ContextUsage | None) -> None:
        """One event of the turn that runs."""
        match event:
            case events.TextDelta(text):
                self._streamed += text
                if not self.transcript.add_answer(text):
                    return
            case events.TurnFailed(error, _, _):
                self._completed = True
                self._show_error(error)
            case events.TurnCompleted():
                self._completed = True
            case events.ToolCallStarted(call):
                self.state.setText(f"{call.name} …")
            case events.Notice(message, hint):
                self._notices.append(f"{message}. {hint}".removesuffix(". "))
            case _:
                if text := engine.describe_event(event):
                    self.transcript.add_note(text)
        self.budget.show_usage(usage, estimate_tokens(self._streamed))

    # what is shown

    def _set_busy(self, busy: bool) -> None:
        self.send_button.setEnabled(not busy)
        self.stop_button.setEnabled(busy)
        for action in self._actions:
            action.setEnabled(not busy)

    def _show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.setWindowTitle(f"{snapshot.title} — zkchat")
        self.speaker.setText(snapshot.speaker)
        self.transcript.show_page(snapshot.page)
        self.list_conversations()

    def _show_error(self, error: ZkchatError) -> None:
        self.result.show_error(error)
        self.state.setText("")
        self._set_busy(self._work.busy)

    def _count_typed(self) -> None:
        text = self.input.toPlainText()
        counter = self.session.runtime.counter if self.session is not None else None
        exact = counter is not None and counter.ready and len(text) <= MAX_COUNTED
        tokens = counter.count(text) if counter is not None and exact else estimate_tokens(text)
        self.typed.setText(f"message: {'' if exact else '~'}{short_count(tokens)} tokens" if text else "")

    def _show_passage(self, key: str) -> None:
        show = self.references.passage.show_html
        self.look_up(lambda session: engine.passage_lines(session, key), lambda lines: show(lines_html(lines)))

    def _load_page(self, first: int) -> None:
        keep = self.transcript.page.first if first < self.transcript.page.first else self.transcript.page.last
        if (snapshot := self._snapshot) is not None:
            self.look_up(lambda _: render_page(snapshot.history, first), lambda page: self.transcript.scroll_to(page, keep))

    def list_conversations(self) -> None:
        words = self.search.text()

        def find(session: ZkChatSession) -> list[ConversationSummary]:
            if self._store is None or not session.store.persistent:
                self._store = session.store.reopen()
            return engine.list_conversations(self._store, str(session.vault.root), words)

        self.look_up(find, self._show_list)

    def _show_list(self, found: list[ConversationSummary]) -> None:
        self.conversations.blockSignals(True)
        self.conversations.clear()
        for each in found:
            item = QtWidgets.QListWidgetItem(f"{conversation_list.display_title(each)}\n{conversation_list.size_and_time(each)}")
            item.setData(_ID, each.id)
            self.conversations.addItem(item)
            if self.session is not None and each.id == self.session.conversation.id:
                self.conversations.setCurrentItem(item)
        self.conversations.blockSignals(False)

    def _complete(self, before: str, after: str) -> None:
        self.look_up(lambda _: list(self._completer.suggest(before, after)), lambda offers: self.input.offer(before, offers))

    # what the user is asked, and other programs

    def open_note(self, key: str) -> None:
        if key:
            self.look_up(lambda session: slash.run(f"/open {key}", session), lambda result: self._open_found(result.open_note))

    def _open_found(self, note: NoteToOpen | None) -> None:
        if self.session is None or note is None:
            return
        try:
            configured = self.session.runtime.settings.terminal.open_command
            command = open_note_command(note.file, note.line, configured, self.session.vault.root, in_terminal=False)
        except ZkchatError as e:
            self._show_error(e)
            return
        if not (QProcess.startDetached(command[0], command[1:])[0] if command else QDesktopServices.openUrl(note.file.as_uri())):
            self._show_error(UsageError(f"nothing opens {note.file.name}", "Set terminal.open_command, for example: code -g {path}:{line}"))

    def ask(self, question: str) -> bool:
        return QtWidgets.QMessageBox.question(self, "zkchat", question) == QtWidgets.QMessageBox.StandardButton.Yes

    def _approve_call(self, call: ToolCall) -> Decision:
        """Ask, on the worker's thread, and wait for the answer."""
        text = f"Call {call.name} with {truncate(format_arguments(call.arguments), 400)}?"
        answer: Future[Decision] = Future()
        self._work.post(lambda: answer.set_result(ALLOWED if self.ask(text) else DECLINED_CALL))
        while not wait((answer,), timeout=STOP_INTERVAL).done:
            raise_if_stopped()
        return answer.result()

    def _escape(self) -> None:
        """What Ctrl-C means in the terminal: stop the answer, or else clear the message."""
        if self._work.busy:
            self._work.stop()
        elif self.result.isVisible():
            self.result.hide()
        else:
            self.input.clear()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802  Qt's name
        """Stop the answer, and store what came of it."""
        self.hide()
        self._side.close(lambda: self._store.close() if self._store is not None else None)
        self._work.close(lambda: engine.close_session(self.session, self.app))
        super().closeEvent(event)


def _column(*widgets: QtWidgets.QWidget) -> QtWidgets.QWidget:
    column = QtWidgets.QWidget()
    layout = QtWidgets.QVBoxLayout(column)
    for widget in widgets:
        layout.addWidget(widget)
    return column
