"""The window: conversations on the left, the transcript and the input in the middle, the references
of the selected turn on the right.

Whatever changes the conversation runs on the worker `_work`, one task after another as in the
terminal; lookups (completion, lists, passages, other pages) run on `_side` meanwhile. The window's
own thread waits for neither.
"""

import signal
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QProcess, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDesktopServices, QGuiApplication, QKeySequence, QShortcut

from zkchat_cli import events, slash
from zkchat_cli.app.editor import open_note_command
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.completion import InputCompleter
from zkchat_cli.errors import UsageError, ZkchatError, on_one_line
from zkchat_cli.gui import menu
from zkchat_cli.gui.transcript import PAGE, TranscriptPage, TranscriptView, render_page
from zkchat_cli.gui.widgets import (
    BudgetLabel,
    ConversationPanel,
    InputBox,
    Panel,
    ReferencePanel,
    lines_html,
)
from zkchat_cli.gui.worker import Worker
from zkchat_cli.llm.stop_signal import raise_if_stopped
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ToolCall, ZkChatMessage, split_into_exchanges
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.slash.base import CommandResult, NoteToOpen
from zkchat_cli.store.input_history import append_line, history_file, read_lines
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import estimate_tokens
from zkchat_cli.vault.edit.transaction import ALLOWED, DECLINED, DECLINED_CALL, Change, Decision
from zkchat_cli.views.stored_items import MAX_LISTED, filter_by_title
from zkchat_cli.views.text import StyledLine, short_count, styled_line, summarize_problems
from zkchat_cli.views.turn_steps import call_question, diff_lines, tool_line

# Widths of the three panes, which keep their proportions
WIDTHS = (220, 600, 360)
# Messages of a conversation that are shown while all of it is loaded, which takes 2 s for 10,000
# turns with tools
READ_FIRST = 100
# Lines shown of a note without a numbered passage
NOTE_LINES = 60
Work = Callable[[ZkChatSession], Any]


class ChatWindow(QtWidgets.QMainWindow):
    def __init__(self, open_app: Callable[[], App], resume: str | None = None) -> None:
        """`open_app` is called on a worker's thread; `resume` is the id of a conversation, or the
        beginning of it.
        """
        super().__init__()
        self.app: App | None = None
        self.session: ZkChatSession | None = None
        self.answering = False
        self._exchanges: Sequence[Sequence[ZkChatMessage]] = ()
        self._end = TranscriptPage(1, (), 0)
        self.idle = ""
        self._work, self._side = (
            Worker("chat", self._show_error),
            Worker("lookup", self._show_error),
        )
        self._completer = InputCompleter(lambda: self.session)
        self._actions = menu.build_menus(self)
        self._build()
        self.state.setText("opening the notes …")

        def open_session() -> tuple[App, ZkChatSession]:
            app = replace(open_app(), approve=self._approve_change, approve_call=self._approve_call)
            return app, app.session(None if resume is None else app.find(resume))

        self._work.submit(open_session, self._begin)

    # the widgets

    def _build(self) -> None:
        self.setWindowTitle("zkchat")
        self.resize(1180, 760)
        self.conversations: ConversationPanel = ConversationPanel()
        self.transcript = TranscriptView()
        self.references = ReferencePanel()
        self.conversations.chosen.connect(self.resume)
        self.conversations.search.textChanged.connect(self.list_conversations)
        self.result = Panel("Result", "&Close")
        self.question = Panel("Question", "&Yes", "&No")
        self.input = InputBox()
        self.transcript.turn_selected.connect(self.references.show_items)
        self.transcript.citation_clicked.connect(self.references.select_number)
        self.transcript.page_wanted.connect(self._load_page)
        self.references.selected.connect(self._show_passage)
        self.references.opened.connect(self._open_reference)
        self.input.sent.connect(self.send)
        self.input.completion_wanted.connect(self._complete)
        # Also when a line is recalled from the history
        self.input.document().contentsChanged.connect(self._count_typed)
        self.send_button = QtWidgets.QPushButton("Send")
        self.stop_button = QtWidgets.QPushButton("Stop")
        self.send_button.clicked.connect(lambda: self.send(self.input.toPlainText()))
        self.stop_button.setToolTip("Stop the answer and keep what came (Escape)")
        self.stop_button.clicked.connect(self._work.stop)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self._escape)
        middle = QtWidgets.QWidget()
        grid = QtWidgets.QGridLayout(middle)
        grid.setContentsMargins(0, 0, 0, 0)
        for n, above in enumerate((self.transcript, self.result, self.question)):
            grid.addWidget(above, n, 0, 1, 2)
        grid.addWidget(self.input, 3, 0, 2, 1)
        grid.addWidget(self.send_button, 3, 1)
        grid.addWidget(self.stop_button, 4, 1)
        grid.setRowStretch(0, 1)
        self.panes = QtWidgets.QSplitter()
        self.panes.setContentsMargins(6, 6, 6, 0)
        self.panes.setChildrenCollapsible(False)
        for pane, width in zip((self.conversations, middle, self.references), WIDTHS, strict=True):
            self.panes.addWidget(pane)
            self.panes.setStretchFactor(self.panes.count() - 1, width)
        self.panes.setSizes(WIDTHS)
        self.setCentralWidget(self.panes)
        self.state = QtWidgets.QLabel()
        self.speaker = QtWidgets.QLabel()
        self.typed = QtWidgets.QLabel()
        self.budget = BudgetLabel()
        self.budget.linkActivated.connect(lambda _: menu.show_context(self))
        self.statusBar().addWidget(self.state, 1)
        for widget in (self.typed, self.speaker, self.budget):
            self.statusBar().addPermanentWidget(widget)
        self.setTabOrder(self.input, self.send_button)
        self.input.setFocus()
        self._work.busy_changed.connect(self._set_busy)

    def _set_busy(self, busy: bool) -> None:
        self.send_button.setEnabled(not busy)
        self.stop_button.setEnabled(busy)
        for action in self._actions:
            action.setEnabled(not busy)

    # the session

    def run(
        self,
        work: Work,
        done: Callable[[Any], object] = lambda _: None,
        stopped: Callable[[], object] = lambda: None,
    ) -> None:
        """Run a task with the session after all earlier ones."""
        if (session := self.session) is not None:
            self._work.submit(lambda: work(session), done, stopped)

    def look_up(self, work: Work, done: Callable[[Any], object] = lambda _: None) -> None:
        """Run a lookup, which changes nothing, also while a turn runs."""
        if (session := self.session) is not None:
            self._side.submit(lambda: work(session), done)

    def run_command(self, line: str) -> None:
        self.run(
            lambda session: slash.run_line(line, session),
            lambda result: self._carry_out(result, line),
        )

    def send(self, line: str) -> None:
        """Send a message, or run a command, after all that runs now; while an answer is written,
        nothing can be sent.
        """
        if not self.answering and self.session is not None and line.strip():
            self.input.remember(line)
            self.result.hide()
            self.run_command(line)

    def resume(self, conversation_id: str) -> None:
        if (
            self.session is None
            or conversation_id == self.session.conversation.id
            or self._work.busy
        ):
            return

        def read_end(session: ZkChatSession) -> TranscriptPage:
            # The session's own connection is busy with reading all of it
            with closing(session.store.reopen()) as store:
                return render_page(
                    [*split_into_exchanges(store.latest(conversation_id, READ_FIRST))][-PAGE:]
                )

        self.run(lambda session: session.open_conversation(conversation_id), self.switch_to)
        self.look_up(
            read_end, lambda page: self.transcript.show_page(page) if self._work.busy else None
        )

    def switch_to(self, session: ZkChatSession | None) -> None:
        """Show another session, or with None this one as it is now."""

        def read(
            session: ZkChatSession,
        ) -> tuple[Sequence[Sequence[ZkChatMessage]], TranscriptPage, str, str]:
            exchanges = [*split_into_exchanges(session.history)]
            conversation = session.conversation
            title = conversation.title or (
                session.store.conversation(conversation.id).title if session.is_stored else None
            )
            return (
                exchanges,
                render_page(exchanges),
                title or "New conversation",
                session.runtime.speaker_label,
            )

        def show(
            exchanges: Sequence[Sequence[ZkChatMessage]],
            page: TranscriptPage,
            title: str,
            speaker: str,
        ) -> None:
            self._exchanges = exchanges
            self._end = page
            self.setWindowTitle(f"{title} — zkchat")
            self.speaker.setText(truncate(speaker, 40))
            self.transcript.show_page(page)
            # After the page: two threads would share the processor's time
            self.run(lambda session: session.usage, self.budget.show_usage)
            self.list_conversations()

        self.session = session or self.session
        self.run(read, lambda found: show(*found))

    def _begin(self, opened: tuple[App, ZkChatSession]) -> None:
        app, session = self.app, self.session = opened
        warnings = [on_one_line(*each) for each in app.warnings(session)]

        def show_progress(done: int, total: int) -> None:
            raise_if_stopped()
            if done % 50 == 0:
                self._work.post(lambda: self.state.setText(f"indexing {done}/{total}"))

        def use_index(report: IndexReport) -> None:
            self.run(lambda session: session.apply_scan(report))
            self.look_up(lambda session: session.warm_up())
            self.idle = f"{app.vault.name}: {report.notes:,} notes"
            self.state.setText(self.idle)
            if report.problems:
                self.result.show_outcome([*warnings, *summarize_problems(report.problems)])
            app.vault.embed_in_background(lambda: self._work.busy, app.message_embedder())

        if app.store.persistent:
            file = history_file(app.loaded.paths.data_dir, str(app.vault.root))
            self.look_up(lambda _: list(read_lines(file)), self.input.history.extend)
            self.input.remembered.connect(
                lambda line: self.look_up(lambda _: append_line(file, line))
            )
        self.switch_to(None)
        self.run(
            lambda _: app.vault.refresh(progress=show_progress),
            use_index,
            lambda: self.state.setText("indexing stopped"),
        )
        if warnings:
            self.result.show_outcome(warnings)

    def _carry_out(self, result: CommandResult, line: str = "") -> None:
        """Carry out the result of a command (see slash/base.py), which a line is for."""
        if result.text or result.lines:
            self.result.show_html(lines_html(result.lines, result.text))
        if result.quit:
            self.close()
            return
        if (question := result.question) is not None:
            self.ask(question.text, lambda: self.run(lambda _: question.run(), self._carry_out))
        if result.clipboard is not None:
            QGuiApplication.clipboard().setText(result.clipboard)
            self.state.setText(f"copied {len(result.clipboard):,} characters")
        self._open_note(result.open_note)
        if result.input_text:
            self.input.set_text(result.input_text)
        if result.turn is not None:
            self._begin_turn(result.turn, line)
        else:
            self.switch_to(result.session)

    def _begin_turn(self, turn: Generator[events.Event, None, None], question: str) -> None:
        self.answering = True
        self._streamed = ""
        # Characters of the answer that are in the prompt that was measured last
        self._counted = 0
        self._notices: list[str] = []
        self._error: ZkchatError | None = None
        if self.transcript.page.last < self._end.last:
            self.transcript.show_page(self._end)
        self.transcript.begin_turn(question)
        self.state.setText("answering …")

        def run(_: ZkChatSession) -> None:
            try:
                with closing(turn):
                    for event in turn:
                        self._work.post(partial(self._show_event, event))
                        raise_if_stopped()
            except ZkchatError as e:
                self._work.post(partial(self._show_event, events.TurnFailed(e, "", "")))

        self.run(run, lambda _: self._end_turn(), lambda: self._end_turn("stopped"))

    def _show_event(self, event: events.Event) -> None:
        """One event of the turn that runs."""
        usage: ContextUsage | None = None
        match event:
            case events.PromptBuilt(measured, _):
                usage = measured
                self._counted = len(self._streamed)
            case events.TextDelta(text):
                self._streamed += text
                if not self.transcript.add_answer(text):
                    return
            case events.TurnFailed(error, _, _):
                self.answering = False
                self._error = error
            case events.TurnCompleted():
                self.answering = False
            case events.Notice(message, hint):
                self._notices.append(on_one_line(message, hint))
            case events.ToolCallStarted(call):
                self.state.setText(f"{call.name} …")
            case events.ToolCallFinished(_, run, excerpts):
                self.transcript.add_note(tool_line(run, excerpts).strip())
            case events.ChangeDecided(_, _, told):
                self.transcript.add_note(told)
            case events.Waiting(seconds, reason):
                self.transcript.add_note(f"waiting {seconds:.0f} s: {reason}")
            case events.CompactionStarted(reason):
                self.transcript.add_note(f"compacting: {reason}")
        self.budget.show_usage(usage, estimate_tokens(self._streamed[self._counted :]))

    def _end_turn(self, stopped: str = "") -> None:
        self.question.hide()  # which a stopped turn left
        self.state.setText(stopped or self.idle)
        # By a command such as /compact, which adds no message
        if self.answering and not stopped and self._streamed:
            self._notices.append(self._streamed)
        if self._notices or self._error is not None:
            self.result.show_outcome(self._notices, self._error)
        self.answering = False
        self.switch_to(None)

    # what is shown

    def _show_error(self, error: ZkchatError) -> None:
        self.result.show_outcome((), error)
        self.state.setText(self.idle)

    def _count_typed(self) -> None:
        text = self.input.toPlainText()
        idle = not self._work.busy

        def show(counted: tuple[int, bool]) -> None:
            tokens, estimated = counted
            if text == self.input.toPlainText():
                self.typed.setText(
                    f"message: {'~' if estimated else ''}{short_count(tokens)} tokens"
                    if text
                    else ""
                )

        self.look_up(lambda session: session.count_typed(text, with_documents=idle), show)

    def _show_passage(self, key: str) -> None:
        """Show the passage with this source number in its note, or the beginning of the note with
        this path.
        """

        def read(session: ZkChatSession) -> Sequence[StyledLine]:
            if key.isdecimal():
                return slash.run(f"/sources {key}", session).lines
            return [
                styled_line(key, "bold"),
                *map(styled_line, session.vault.reader.read(key).split("\n")[:NOTE_LINES]),
            ]

        self.look_up(read, lambda lines: self.references.passage.show_html(lines_html(lines)))

    def _load_page(self, first: int) -> None:
        page = self.transcript.page
        exchanges = self._exchanges
        keep = page.first if first < page.first else page.last
        self.look_up(
            lambda _: render_page(exchanges, first),
            lambda page: self.transcript.show_page(page, keep=keep),
        )

    def list_conversations(self) -> None:
        """List the conversations about these notes, newest first, or those with the words of the
        search in title or messages.
        """
        words = self.conversations.search.text()

        def read(session: ZkChatSession) -> list[ConversationOverview]:
            vault = str(session.vault.root)
            with closing(session.store.reopen()) as store:
                known = store.conversations(vault, MAX_LISTED)
                if not words.strip():
                    return known
                found = {
                    each.conversation_id for each in store.search(vault, words, limit=MAX_LISTED)
                }
            by_title = filter_by_title(known, words)
            return [each for each in known if each in by_title or each.id in found]

        if (session := self.session) is not None:
            self.look_up(
                read,
                lambda found: self.conversations.show_conversations(found, session.conversation.id),
            )

    def _complete(self, before: str, after: str) -> None:
        self.look_up(
            lambda _: list(self._completer.suggest(before, after)),
            lambda offers: self.input.offer(before, offers),
        )

    # what the user is asked, and other programs

    def _open_reference(self, key: str) -> None:
        if key:
            self.look_up(
                lambda session: slash.run(f"/open {key}", session),
                lambda result: self._open_note(result.open_note),
            )

    def _open_note(self, note: NoteToOpen | None) -> None:
        """Open a note with the editor that the settings name, else with the program of the
        desktop.
        """
        if note is not None and self.session is not None:
            try:
                configured = self.session.runtime.settings.terminal.open_command
                command = open_note_command(
                    note.file, note.line, configured, self.session.vault.root, in_terminal=False
                )
                if not (
                    QProcess.startDetached(command[0], command[1:])[0]
                    if command
                    else QDesktopServices.openUrl(note.file.as_uri())
                ):
                    raise UsageError(
                        f"nothing opens {note.file.name}",
                        "Set terminal.open_command, for example: code -g {path}:{line}",
                    )
            except ZkchatError as e:
                self._show_error(e)

    def ask(
        self, question: str, then: Callable[[], None], lines: Iterable[StyledLine] = ()
    ) -> None:
        """Ask a question, and call `then` after a yes."""
        self.question.ask(question, lines, lambda yes: then() if yes else self.input.setFocus())

    # on a worker: whether the user approves

    def _approve_change(self, change: Change) -> Decision:
        lines = [
            *([styled_line(change.note, "yellow")] if change.note else []),
            *diff_lines(change.diff),
        ]
        return (
            ALLOWED
            if self._work.ask(partial(self.question.ask, f"{change.summary}?", lines))
            else DECLINED
        )

    def _approve_call(self, call: ToolCall) -> Decision:
        return (
            ALLOWED
            if self._work.ask(partial(self.question.ask, call_question(call), ()))
            else DECLINED_CALL
        )

    def _escape(self) -> None:
        """As Ctrl-C in the terminal: stop the answer; otherwise answer no, close the result or
        clear the message.
        """
        if self._work.busy:
            self._work.stop()
        elif self.question.isVisible():
            self.question.answer(yes=False)
        elif self.result.isVisible():
            self.result.hide()
        else:
            self.input.clear()

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


def run_window(open_app: Callable[[], App], resume: str | None) -> int:
    """Show the window until it is closed."""
    application = QtWidgets.QApplication(["zkchat"])
    window = ChatWindow(open_app, resume)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    # Python sees a signal, such as Ctrl-C in the terminal that started the window, only when it
    # runs
    timer = QTimer(interval=200)
    timer.timeout.connect(lambda: None)
    timer.start()
    window.show()
    return application.exec()
