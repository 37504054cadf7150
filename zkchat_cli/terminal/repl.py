"""The interactive chat: reads lines, runs commands and turns. The session owns all state of the
conversation.

startup.py opens it in the background after the prompt is drawn. A line that is sent before that
waits, and shows what it waits for.
"""

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from prompt_toolkit.utils import is_dumb_terminal

from zkchat_cli.completion.input_completer import InputCompleter
from zkchat_cli.store.input_history import history_file
from zkchat_cli.terminal.conversation_watcher import ConversationWatcher
from zkchat_cli.terminal.input_line import ChatCompleter, InputLine
from zkchat_cli.terminal.job_control import InterruptHandler
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen, terminal_columns
from zkchat_cli.terminal.startup import BackgroundLoader, StartedSession, StartSession
from zkchat_cli.terminal.toolbar import measure_prompt
from zkchat_cli.terminal.vault_history import VaultHistory
from zkchat_cli.views.text import PROMPT

# Imported only for types: a session's modules are loaded after the prompt is drawn
if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.prompts import ContextUsage
    from zkchat_cli.slash.base import ListQuestion
    from zkchat_cli.terminal.plain_input import PlainInputLine

# Seconds until a waiting line shows what it waits for, and between its updates
SHOW_WAIT_AFTER = 0.15
WAIT_INTERVAL = 0.1
# Seconds after a key during which no vectors are computed
BUSY_SECONDS = 1.0
# Seconds after a key for which a message counts as being typed
TYPING_SECONDS = 10.0


class Repl:
    """The chat at a terminal; call `run`.

    With `keep_history`, what is typed is stored in the vault's input history. It is a `ChatHost`
    for the lines that it carries out, and a `StartupHost` for the background.
    """

    # Set when `_has_session` becomes true
    session: "ZkChatSession"

    def __init__(
        self, start_session: StartSession, screen: Screen, *, keep_history: bool = True
    ) -> None:
        self._keep_history = keep_history
        self._has_session = False
        self.turn_is_running = False
        self.usage: ContextUsage | None = None
        # The time of the last change of the line, in seconds of the monotonic clock
        self._typed_at = float("-inf")
        self._background = BackgroundLoader(start_session, self)
        self._watcher = ConversationWatcher(self)
        self._history = VaultHistory()
        completer = InputCompleter(self.current, self._background.indexed.is_set)
        self._only_adds_lines = screen.accessible or is_dumb_terminal()
        self._prompt: InputLine | PlainInputLine
        if self._only_adds_lines:
            # Imported here because only a plain terminal needs it
            from zkchat_cli.terminal import plain_input

            prompt = plain_input.SPOKEN_PROMPT if screen.accessible else PROMPT
            self._prompt = plain_input.PlainInputLine(prompt, completer, self._history)
        else:
            self._prompt = InputLine(
                screen,
                ChatCompleter(completer),
                self._history,
                self._on_line_changed,
                self._background.start,
            )
        self.screen = replace(screen, columns=terminal_columns)
        self._interrupts = InterruptHandler(self._prompt.end_input)
        # The text for the next prompt: from a command, or a line that could not be sent
        self.next_input = ""
        # Outputs of shell commands that the next message is sent with
        self.outputs: tuple[str, ...] = ()

    def read_answer(self, question: str, choices: str) -> str:
        """Ask the user, and return the text of the answer (see approval.py)."""
        # This imports models, which the first prompt does not need
        from zkchat_cli.terminal import approval

        return approval.read_answer(question, choices, self.screen, self._interrupts.paused)

    @property
    def can_choose(self) -> bool:
        """Whether a list to choose from can be drawn: not for a screen reader, which would read
        all of it at each key, and not on a terminal that cannot move the cursor.
        """
        return not self._only_adds_lines

    def choose(self, choice: "ListQuestion") -> str | None:
        """Let the user choose from a list; None for no choice."""
        # 15 ms that the first prompt does not need
        from zkchat_cli.terminal import choice_picker

        return choice_picker.choose(choice, self.screen, self._interrupts.paused)

    def run(self) -> int:
        """Chat until the user leaves. Returns 0 after /quit, Ctrl-D or two Ctrl-C, and 128 + the
        signal after a signal. Raises ZkchatError if no session can be opened.
        """
        with self._interrupts.installed():
            try:
                if self._only_adds_lines:
                    self._wait_until_ready("")
                self._loop()
            except OSError:
                if self._interrupts.termination_signal is None:
                    # Otherwise the terminal is gone, and nobody could read the error
                    raise
            finally:
                self._history.set_file(None)
                self._watcher.stop()
                self._background.stop()
        if self._interrupts.termination_signal is None:
            return 0
        self.screen.discard_output()
        return 128 + self._interrupts.termination_signal

    def _loop(self) -> None:
        running = True
        while running and self._interrupts.termination_signal is None:
            self._apply_background_results()
            self._raise_failure()
            try:
                text = self.next_input
                self.next_input = ""
                line = self._prompt.ask(text)
            except EOFError:
                self._raise_failure()
                return
            except KeyboardInterrupt:
                continue
            if not line.strip():
                continue
            if not self._wait_until_ready(line):
                self.next_input = line
                if self._interrupts.termination_signal is None:
                    self.screen.print("  not sent; the text is in the input line again", "yellow")
                continue
            self._apply_background_results()
            # The session has already loaded what this imports
            from zkchat_cli.terminal import command_runner

            running = command_runner.handle_line(line, self, self._interrupts.stoppable)
            self._show_usage(self.session)

    # the background, and its results

    def _on_line_changed(self, line: str) -> None:
        self._typed_at = time.monotonic()
        session = self.current()
        if session is not None:
            self._count_typed(session, line)

    def _count_typed(self, session: "ZkChatSession", line: str) -> None:
        """Show the tokens of the line being typed, with the documents that it names and the
        outputs that it is sent with.
        """
        tokens, estimated = session.count_typed(line)
        if self.outputs:
            tokens += session.runtime.counter.count("\n\n".join(self.outputs))
        self._prompt.update(typed=tokens, typed_estimated=estimated)

    def _show_usage(self, session: "ZkChatSession") -> None:
        """Show in the toolbar what the next prompt of a session will have."""
        measured = measure_prompt(session)
        self.usage = measured["usage"]
        self._prompt.update(**measured)

    # called by the background thread

    def notify(self) -> None:
        """Use what the background has finished, in the prompt's thread."""
        self._prompt.call_soon(self._apply_background_results)

    def show_waiting(self, waiting: str) -> None:
        """Show in the toolbar what a server does not have yet."""
        self._prompt.update(waiting=waiting)

    def measure(self) -> None:
        """Show how full the window is, and the tokens of the line being typed."""
        session = self.current()
        if session is not None:
            self._show_usage(session)
            self._count_typed(session, self._prompt.text)

    def is_busy(self) -> bool:
        """Whether a turn runs or a key was just pressed; then computing vectors has to wait."""
        return self.turn_is_running or self._seconds_since_typing() < BUSY_SECONDS

    def typing_session(self) -> "ZkChatSession | None":
        """The session that a message is being typed for; None while nobody types one."""
        typed = self._prompt.text.strip()
        is_message = bool(typed) and not typed.startswith("/")
        if (
            is_message
            and self._seconds_since_typing() < TYPING_SECONDS
            and not self.turn_is_running
        ):
            return self.current()
        return None

    def _seconds_since_typing(self) -> float:
        return time.monotonic() - self._typed_at

    def current(self) -> "ZkChatSession | None":
        """The session in use, or the one that was just opened."""
        if self._has_session:
            return self.session
        opened = self._background.opened
        return opened.session if opened is not None else None

    def _wait_until_ready(self, line: str) -> bool:
        """Wait for what the line needs: the session, and for a message also the first index. False
        when Ctrl-C ended the waiting.
        """
        self._background.start()
        needed = [self._background.ready]
        if not line.startswith("/"):
            needed.append(self._background.indexed)
        try:
            with self._interrupts.stoppable(), self.screen.transient_line(self.screen.out) as show:
                pause = SHOW_WAIT_AFTER
                for event in needed:
                    while self._background.failure is None and not event.wait(pause):
                        pause = WAIT_INTERVAL
                        show(f"  {self._background.state} …"[: terminal_columns() - 1])
        except KeyboardInterrupt:
            return False
        self._raise_failure()
        return True

    def _apply_background_results(self) -> None:
        """Use what the background has finished.

        Call it in the prompt's thread, or between two prompts.
        """
        self._prompt.update(state=self._background.state, meaning=self._background.meaning)
        opened = self._background.opened
        if self._background.failure is not None:
            self._prompt.end_input(erase=True)
            return
        if opened is None:
            return
        if not self._has_session:
            self._use_session(opened)
        announcements = self._background.announcements
        if not announcements.empty():
            while not announcements.empty():
                self._prompt.print_above(partial(announcements.get(), self.screen))
            self._prompt.print_above(self.screen.print)
            self._prompt.complete()
        self._show_other_messages()

    def _show_other_messages(self) -> None:
        """Print what another program wrote into this conversation, and continue after it."""
        while (found := self._watcher.take()) is not None:
            # The session has already loaded what this imports
            from zkchat_cli.terminal.other_messages import show_other_messages

            show = partial(show_other_messages, found, self.session, self.screen)
            self._prompt.print_above(show)
            self._show_usage(self.session)

    def _use_session(self, opened: StartedSession) -> None:
        """Begin to use a session that was opened, with its settings and the input history of its
        vault.
        """
        app = opened.app
        settings = app.loaded.values
        root = app.vault.root
        self.session = opened.session
        self._has_session = True
        self.screen = replace(self.screen, address=note_opener(root))
        file = history_file(app.loaded.paths.data_dir, str(root)) if self._keep_history else None
        self._history.set_file(file)
        if settings.terminal.editing_mode == "vi":
            self._prompt.use_vi_keys()
        self._prompt.update(
            model=self.session.runtime.speaker_label,
            vault=app.vault.name,
            show_tokens=settings.context.show_token_count,
        )
        self._prompt.complete()
        self._watcher.start(self.session)

    def _raise_failure(self) -> None:
        if self._background.failure is not None:
            raise self._background.failure
