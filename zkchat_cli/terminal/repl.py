"""The interactive chat: a prompt, a toolbar, and turns. State lives in the session; here are only keys and lines."""

import hashlib
import threading
import time
from dataclasses import replace

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from zkchat_cli import __version__, slash
from zkchat_cli.errors import ZkchatError
from zkchat_cli.events import TurnFailed
from zkchat_cli.llm import providers
from zkchat_cli.session import ZkChatSession
from zkchat_cli.terminal.completion import ChatCompleter
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.toolbar import Toolbar
from zkchat_cli.terminal.turns import show, show_error
from zkchat_cli.tokens import estimate
from zkchat_cli.wiring import Bench

LEAVE_WITHIN = 2.0
"""Seconds between two Ctrl-C on an empty line that mean "leave"."""
PROMPT = "you › "


class Repl:
    """Reads lines and runs turns until the user leaves."""

    def __init__(self, bench: Bench, session: ZkChatSession, screen: Screen, *, keep_history: bool = True) -> None:
        self._bench = bench
        self._session = session
        self._screen = screen
        settings = bench.loaded.values
        self._max_sources = settings.references.max_displayed
        self._toolbar = Toolbar(bench.model.name, bench.vault.name, threshold=settings.context.summarization_threshold)
        self._hint = ""
        self._completer = ChatCompleter(slash.commands())
        self._prompt: PromptSession[str] = PromptSession(
            history=self._history() if keep_history else InMemoryHistory(),
            multiline=True,
            prompt_continuation="    … ",
            key_bindings=self._keys(),
            completer=ThreadedCompleter(self._completer),
            complete_while_typing=True,
            bottom_toolbar=self._draw_toolbar if settings.context.show_token_count else None,
            enable_suspend=True,
            enable_open_in_editor=True,
            color_depth=None if screen.colour else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict({"bottom-toolbar": "noreverse", "bottom-toolbar.text": ""}),
        )
        self._prompt.default_buffer.on_text_changed += lambda buffer: self._measure_line(buffer.text)

    def run(self) -> None:
        """The chat, until /quit, Ctrl-D or two Ctrl-C."""
        self._greet()
        self._completer.set_notes(self._bench.vault.notes())
        while True:
            try:
                line = self._prompt.prompt(PROMPT, pre_run=self._measure_in_background)
            except EOFError:
                return
            except KeyboardInterrupt:
                continue
            if not line.strip():
                continue
            if not self._handle(line):
                return
            self._completer.set_notes(self._bench.vault.notes())
            self._measure()

    def _handle(self, line: str) -> bool:
        """Run a command or a turn; False when the chat is to end."""
        try:
            if slash.is_command(line):
                outcome = slash.run(line, self._session)
                if outcome.text:
                    self._screen.print(outcome.text)
                self._session = outcome.session or self._session
                return not outcome.leave
            self._turn(line)
        except ZkchatError as e:
            show_error(e, self._screen.print)
        return True

    def _turn(self, line: str) -> None:
        turn = self._session.send(line)
        self._screen.print()
        try:
            last = show(turn, self._screen, self._screen.print, max_sources=self._max_sources)
            if isinstance(last, TurnFailed):
                show_error(last.error, self._screen.print, last.partial)
        except KeyboardInterrupt:
            turn.close()
            self._screen.print("\n  stopped; what came is kept", "yellow")
        self._screen.print()

    def _greet(self) -> None:
        name = self._bench.model.name
        about = providers.label(name.partition("/")[0]).partition(",")[0].rstrip(".").lower() if name == "offline" else ""
        notes = self._bench.vault.status().notes
        model = f"{name}: {about}, no model" if about else name
        self._screen.print(f"zkchat {__version__} · {self._bench.vault.name} ({notes}) · {model} · /help", "bold")
        if self._session.history:
            title = self._session.conversation.title or self._session.conversation.id
            self._screen.print(f"going on with “{title}”, {len(self._session.history)} messages", "dim")

    def _history(self) -> History:
        """What was typed in this vault before; a folder that cannot be written to costs the history, not the chat."""
        folder = self._bench.loaded.places.data_dir / "history"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = folder / hashlib.sha256(str(self._bench.vault.root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
            file.touch(mode=0o600)
        except OSError:
            return InMemoryHistory()
        return FileHistory(str(file))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        last_interrupt = float("-inf")

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state and buffer.complete_state.current_completion:
                buffer.complete_state = None
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        @keys.add("c-j")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            nonlocal last_interrupt
            if event.current_buffer.text:
                event.current_buffer.reset()
            elif time.monotonic() - last_interrupt < LEAVE_WITHIN:
                event.app.exit(exception=EOFError)
            else:
                last_interrupt = time.monotonic()
                self._hint = "Ctrl-C again leaves"

        return keys

    # the toolbar: values are computed when something changes, never while drawing

    def _draw_toolbar(self) -> FormattedText:
        width = self._prompt.output.get_size().columns
        if self._hint:
            return FormattedText([("", f" {self._hint}"[:width])])
        return FormattedText(self._toolbar.fragments(width))

    def _measure_line(self, text: str) -> None:
        self._hint = ""
        counter = self._bench.counter
        self._toolbar = replace(self._toolbar, typed=counter.count(text) if counter.ready else estimate(text))

    def _measure(self) -> None:
        try:
            self._toolbar = replace(self._toolbar, usage=self._session.prompt().usage, typed=0)
        except ZkchatError:
            self._toolbar = replace(self._toolbar, usage=None)

    def _measure_in_background(self) -> None:
        """Once the first prompt is up: load the vocabulary and fill the bar, while the user reads or types."""
        if self._bench.counter.ready or self._toolbar.usage is not None:
            return

        def work() -> None:
            self._bench.counter.warm().join()
            self._measure()
            self._prompt.app.invalidate()

        threading.Thread(target=work, name="measure", daemon=True).start()
