"""The window: conversations on the left, the transcript and the input in the middle, the references
of the selected turn on the right.

Whatever changes the conversation runs on the worker `_work`, one task after another as in the
terminal; lookups (completion, lists, passages, other pages) run on `_side` meanwhile. The window's
own thread waits for neither.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QMargins, Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QShortcut

from zkchat_cli import slash
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.completion.input_completer import InputCompleter
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.gui import desktop, lookups, menu
from zkchat_cli.gui.approval import PanelApproval
from zkchat_cli.gui.chat_pane import ChatPane
from zkchat_cli.gui.conversation_panel import ConversationPanel
from zkchat_cli.gui.reference_panel import ReferencePanel
from zkchat_cli.gui.running_turn import RunningTurn
from zkchat_cli.gui.status_bar import ChatStatusBar
from zkchat_cli.gui.styled_browser import lines_html
from zkchat_cli.gui.transcript import TranscriptPage, render_page
from zkchat_cli.gui.worker import Worker
from zkchat_cli.llm.stop_signal import raise_if_stopped
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.slash.base import CommandResult, NoteToOpen
from zkchat_cli.store.input_history import append_line, history_file, read_lines
from zkchat_cli.views.text import StyledLine, summarize_problems

# Pixels: size of the window, and margins of its panes, with none above the status bar
WIDTH = 1180
HEIGHT = 760
MARGIN = 6
MARGINS = QMargins(MARGIN, MARGIN, MARGIN, 0)
# Pixels: widths of the three panes, which keep their proportions
WIDTHS = (220, 600, 360)
# Number of notes between two updates of the indexing progress
PROGRESS_STEP = 50
Work = Callable[[ZkChatSession], Any]


class ChatWindow(QtWidgets.QMainWindow):
    """The chat in a window: a `MenuHost` for its menus."""

    def __init__(self, open_app: Callable[[], App], resume: str | None = None) -> None:
        """Make the window. `open_app` is called on a worker's thread; `resume` is the id of a
        conversation, or the beginning of one.
        """
        super().__init__()
        self.app: App | None = None
        self.session: ZkChatSession | None = None
        # The running turn, or the last one
        self._turn: RunningTurn | None = None
        self._exchanges: Sequence[Sequence[ZkChatMessage]] = ()
        # The page with the last turns
        self._end = TranscriptPage(1, (), 0)
        self.idle = ""
        self._work = Worker("chat", self._show_error)
        self._side = Worker("lookup", self._show_error)
        self._completer = InputCompleter(lambda: self.session)
        self._actions = menu.build_menus(self, self.menuBar())
        self._build()
        self.state.setText("opening the notes …")
        self._approval = PanelApproval(self._pane, self._work)

        def open_session() -> tuple[App, ZkChatSession]:
            app = self._approval.with_questions(open_app())
            found = None if resume is None else app.find(resume)
            return app, app.session(found)

        self._work.submit(open_session, self._begin)

    def _build(self) -> None:
        self.setWindowTitle("zkchat")
        self.resize(WIDTH, HEIGHT)
        self.conversations: ConversationPanel = ConversationPanel()
        self._pane = ChatPane()
        self.transcript = self._pane.transcript
        self.result = self._pane.result
        self.question = self._pane.question
        self.hunk = self._pane.hunk
        self.input = self._pane.input
        self.references = ReferencePanel()
        self.panes = QtWidgets.QSplitter()
        self.panes.setContentsMargins(MARGINS)
        self.panes.setChildrenCollapsible(False)
        panes = (self.conversations, self._pane, self.references)
        for pane, width in zip(panes, WIDTHS, strict=True):
            self.panes.addWidget(pane)
            self.panes.setStretchFactor(self.panes.count() - 1, width)
        self.panes.setSizes(WIDTHS)
        self.setCentralWidget(self.panes)
        self._status = ChatStatusBar()
        self.state = self._status.state
        self.budget = self._status.budget
        self.setStatusBar(self._status)
        self._connect()
        self.input.setFocus()

    def _connect(self) -> None:
        """Connect the signals of the widgets with the methods of the window."""
        self.conversations.chosen.connect(self.resume)
        self.conversations.search.textChanged.connect(self.list_conversations)
        self.references.selected.connect(self._show_passage)
        self.references.opened.connect(self._open_reference)
        self.budget.linkActivated.connect(lambda _: menu.show_context(self))
        self.transcript.turn_selected.connect(self.references.show_items)
        self.transcript.citation_clicked.connect(self.references.select_number)
        self.transcript.page_wanted.connect(self._load_page)
        self.input.sent.connect(self.send)
        self.input.completion_wanted.connect(self._complete)
        # This signal also comes for lines that are recalled from the history
        self.input.document().contentsChanged.connect(self._count_typed)
        self._pane.send_button.clicked.connect(lambda: self.send(self.input.toPlainText()))
        self._pane.stop_button.clicked.connect(self._work.stop)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self._escape)
        self._work.busy_changed.connect(self._set_busy)

    def _set_busy(self, busy: bool) -> None:
        self._pane.set_busy(busy)
        for action in self._actions:
            action.setEnabled(not busy)

    # the session

    @property
    def answering(self) -> bool:
        """Whether an answer is being written."""
        return self._turn is not None and self._turn.is_answering

    def run(
        self,
        work: Work,
        done: Callable[[Any], object] = lambda _: None,
        stopped: Callable[[], object] = lambda: None,
    ) -> None:
        """Run a task with the session after all earlier ones. `done` gets its result; `stopped` is
        called if it was stopped.
        """
        session = self.session
        if session is not None:
            self._work.submit(lambda: work(session), done, stopped)

    def look_up(self, work: Work, done: Callable[[Any], object] = lambda _: None) -> None:
        """Run a lookup, which changes nothing and may run during a turn."""
        session = self.session
        if session is not None:
            self._side.submit(lambda: work(session), done)

    def run_command(self, line: str) -> None:
        """Run a slash command or send a message, and carry out the result."""
        self.run(
            lambda session: slash.run_line(line, session),
            lambda result: self._carry_out(result, line),
        )

    def send(self, line: str) -> None:
        """Send a message or run a command, after all running work. While an answer is written,
        nothing can be sent.
        """
        if not self.answering and self.session is not None and line.strip():
            self.input.remember(line)
            self.result.hide()
            self.run_command(line)

    def resume(self, conversation_id: str) -> None:
        """Continue another conversation; its last turns are shown while it is being loaded."""
        if self.session is None or self._work.busy:
            return
        if conversation_id == self.session.conversation.id:
            return

        def show_if_loading(page: TranscriptPage) -> None:
            if self._work.busy:
                self.transcript.show_page(page)

        self.run(lambda session: session.open_conversation(conversation_id), self.switch_to)
        self.look_up(
            lambda session: lookups.read_last_page(session, conversation_id), show_if_loading
        )

    def switch_to(self, session: ZkChatSession | None) -> None:
        """Show another session, or for None this one as it is now."""
        self.session = session or self.session
        self.run(lookups.read_conversation, self._show_conversation)

    def _show_conversation(self, loaded: lookups.LoadedConversation) -> None:
        self._exchanges = loaded.exchanges
        self._end = loaded.page
        self.setWindowTitle(f"{loaded.title} — zkchat")
        self._status.show_speaker(loaded.speaker)
        self.transcript.show_page(loaded.page)
        # Runs after the page: two threads would share the processor's time
        self.run(lambda session: session.usage, self.budget.show_usage)
        self.list_conversations()

    def _begin(self, opened: tuple[App, ZkChatSession]) -> None:
        """Begin to use the session that was opened, and bring the index up to date."""
        app, session = opened
        self.app = app
        self.session = session
        warnings = [on_one_line(*each) for each in app.warnings(session)]
        if not app.loaded.values.context.show_token_count:
            self._status.hide_tokens()

        def show_progress(done: int, total: int) -> None:
            raise_if_stopped()
            if done % PROGRESS_STEP == 0:
                self._work.post(lambda: self.state.setText(f"indexing {done}/{total}"))

        if app.store.persistent:
            self._use_input_history(app)
        self.switch_to(None)
        self.run(
            lambda _: app.vault.refresh(progress=show_progress),
            lambda report: self._use_index(app, report, warnings),
            lambda: self.state.setText("indexing stopped"),
        )
        if warnings:
            self.result.show_outcome(warnings)

    def _use_input_history(self, app: App) -> None:
        file = history_file(app.loaded.paths.data_dir, str(app.vault.root))
        self.look_up(lambda _: list(read_lines(file)), self.input.history.extend)
        self.input.remembered.connect(lambda line: self.look_up(lambda _: append_line(file, line)))

    def _use_index(self, app: App, report: IndexReport, warnings: Sequence[str]) -> None:
        self.run(lambda session: session.apply_scan(report))
        self.look_up(lambda session: session.warm_up())
        self.idle = f"{app.vault.name}: {report.notes:,} notes"
        self.state.setText(self.idle)
        if report.problems:
            self.result.show_outcome([*warnings, *summarize_problems(report.problems)])
        app.vault.embed_in_background(lambda: self._work.busy, app.message_embedder())

    def _carry_out(self, result: CommandResult, line: str = "") -> None:
        """Carry out the result of a command (see slash/base.py). `line` is what the user typed."""
        if result.text or result.lines:
            self.result.show_html(lines_html(result.lines, result.text))
        if result.quit:
            self.close()
            return
        question = result.question
        if question is not None:
            self._pane.ask(
                question.text, lambda: self.run(lambda _: question.run(), self._carry_out)
            )
        if result.proposal is not None:
            decide = partial(self._approval.decide, result.proposal)
            self.run(decide, self._carry_out, self._pane.hide_questions)
        if result.clipboard is not None:
            QGuiApplication.clipboard().setText(result.clipboard)
            self.state.setText(f"copied {len(result.clipboard):,} characters")
        self._open_note(result.open_note)
        if result.input_text:
            self.input.set_text(result.input_text)
        if result.turn is not None:
            self._begin_turn(result, line)
        else:
            self.switch_to(result.session)

    def _begin_turn(self, result: CommandResult, question: str) -> None:
        turn = result.turn
        assert turn is not None
        running = RunningTurn(self.transcript, self.budget, self.state)
        self._turn = running
        if self.transcript.page.last < self._end.last:
            self.transcript.show_page(self._end)
        self.transcript.begin_turn(question)
        self.state.setText("answering …")

        def end(_: None) -> None:
            self._end_turn(running)
            then = result.then
            if then is not None and running.error is None:
                self.run(lambda _: then(), lambda next_: self._carry_out(next_, question))

        self.run(
            lambda _: running.run(turn, self._work.post),
            end,
            lambda: self._end_turn(running, stopped=True),
        )

    def _end_turn(self, turn: RunningTurn, *, stopped: bool = False) -> None:
        # A stopped turn may have left a question
        self._pane.hide_questions()
        self.state.setText("stopped" if stopped else self.idle)
        notices = turn.finish(stopped=stopped)
        if notices or turn.error is not None:
            self.result.show_outcome(notices, turn.error)
        self.switch_to(None)

    def _show_error(self, error: ZkchatError) -> None:
        self.result.show_outcome((), error)
        self.state.setText(self.idle)

    def _count_typed(self) -> None:
        text = self.input.toPlainText()
        idle = not self._work.busy

        def show(counted: tuple[int, bool]) -> None:
            if text != self.input.toPlainText():
                return
            tokens, estimated = counted
            if text:
                self._status.show_typed(tokens, estimated=estimated)
            else:
                self._status.typed.clear()

        self.look_up(lambda session: session.count_typed(text, with_documents=idle), show)

    def _show_passage(self, key: str) -> None:
        self.look_up(
            lambda session: lookups.read_passage(session, key),
            lambda lines: self.references.passage.show_html(lines_html(lines)),
        )

    def _load_page(self, first: int) -> None:
        page = self.transcript.page
        exchanges = self._exchanges
        keep = page.first if first < page.first else page.last
        self.look_up(
            lambda _: render_page(exchanges, first),
            lambda page: self.transcript.show_page(page, keep=keep),
        )

    def list_conversations(self) -> None:
        """List the conversations about these notes, newest first. During a search, only those with
        its words in title or messages.
        """
        words = self.conversations.search.text()
        session = self.session
        if session is not None:
            current_id = session.conversation.id
            self.look_up(
                lambda session: lookups.find_conversations(session, words),
                lambda found: self.conversations.show_conversations(found, current_id),
            )

    def _complete(self, before: str, after: str) -> None:
        self.look_up(
            lambda _: list(self._completer.suggest(before, after)),
            lambda offers: self.input.offer(before, offers),
        )

    def _open_reference(self, key: str) -> None:
        if key:
            self.look_up(
                lambda session: slash.run(f"/open {key}", session),
                lambda result: self._open_note(result.open_note),
            )

    def _open_note(self, note: NoteToOpen | None) -> None:
        if note is None or self.session is None:
            return
        try:
            desktop.open_note(note, self.session)
        except ZkchatError as e:
            self._show_error(e)

    def ask(
        self, question: str, then: Callable[[], None], lines: Iterable[StyledLine] = ()
    ) -> None:
        """Ask a question, and call `then` after a yes."""
        self._pane.ask(question, then, lines)

    def _escape(self) -> None:
        """Do what Ctrl-C does in the terminal. It stops the answer; if there is none, it answers
        no, closes the result or clears the message.
        """
        if self._work.busy:
            self._work.stop()
        else:
            self._pane.dismiss()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Stop the answer, and store what came of it."""

        def close_app() -> None:
            if self.session is not None:
                with suppress(ZkchatError):
                    self.session.flush()
            if self.app is not None:
                self.app.close()

        self.hide()
        self._side.close()
        self._work.close(close_app)
        super().closeEvent(event)
