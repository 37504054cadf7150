"""The interactive chat: a prompt, a toolbar, and turns. State lives in the session; here are only lines.

Nothing is computed before the first prompt that it does not show: the vocabulary, the names of notes and what changed in the vault, since
yesterday and meanwhile, come in the background, while the user reads or types.
"""

import hashlib
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.filters import Always, Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import is_dumb_terminal

from zkchat_cli import __version__, slash
from zkchat_cli.errors import ZkchatError
from zkchat_cli.events import Event, TurnFailed
from zkchat_cli.llm import providers
from zkchat_cli.session import ZkChatSession
from zkchat_cli.solving import unfinished
from zkchat_cli.terminal import outcomes, programs, watching
from zkchat_cli.terminal.approving import AskEach
from zkchat_cli.terminal.completion import ChatCompleter, argument_typed, command_typed, link_typed
from zkchat_cli.terminal.keyboard import Interruptions, typing_ahead
from zkchat_cli.terminal.keys import bindings
from zkchat_cli.terminal.links import opens
from zkchat_cli.terminal.picker import Picker
from zkchat_cli.terminal.question import Question
from zkchat_cli.terminal.safe import neutralise_name
from zkchat_cli.terminal.screen import PROMPT, Screen
from zkchat_cli.terminal.toolbar import Toolbar, clipped, shortened
from zkchat_cli.terminal.turns import show, show_error
from zkchat_cli.tokens import estimate
from zkchat_cli.wiring import Bench
from zkchat_cli.words import shorten

PLACEHOLDER = "ask your notes, or /help"
DRAWN_AFTER = 0.03
"""Seconds that a terminal may take to say where the cursor is, after which the toolbar is drawn."""
LEAVING = 0.2
"""Seconds for which leaving waits for the background to stop."""
RESTS, LONGEST_REST = 9, 5.0
"""How many times as long as a refresh took, and how many seconds at most, the background leaves the vault alone after it."""
LONGEST_NAME = 40
MENU_LINES = 8
COUNTED_WHILE_TYPING = 20_000
"""Characters up to which the line being typed is counted at each key, in under 2 ms; a longer one is estimated."""


class Repl:
    """Reads lines and runs turns until the user leaves."""

    def __init__(self, bench: Bench, session: ZkChatSession, screen: Screen, *, keep_history: bool = True) -> None:
        self._bench = bench
        self._session = session
        self._keep_history = keep_history
        settings = bench.loaded.values
        self._completer = ChatCompleter(lambda command: command.values(self._session) if command.values else ())
        self._completer.ready.clear()
        self._hint = ""
        self._left = threading.Event()
        self._waiting = threading.Event()
        self._background = threading.Timer(DRAWN_AFTER, self._prepare)
        self._background.daemon = True
        self._drawing = threading.Lock()
        self._toolbar = Toolbar(
            session.leader,
            bench.vault.name,
            session.budget.effective_limit,
            threshold=settings.context.summarization_threshold,
            show_tokens=settings.context.show_token_count,
        )
        self._prompt = self._make_prompt(screen.said(PROMPT), colour=screen.colour)
        self._asking = bench.approve if isinstance(bench.approve, AskEach) else None
        self._question = self._asking.question if self._asking is not None else Question(colour=screen.colour)
        self._picker = Picker(colour=screen.colour)
        self._typed = ""
        self._screen = replace(
            screen, columns=lambda: self._prompt.output.get_size().columns, lines=lambda: self._prompt.output.get_size().rows
        )

    def run(self) -> int:
        """The chat, until /quit, Ctrl-D or two Ctrl-C: 0. Asked to end by a signal, or its terminal closed: 128 + the signal."""
        with Interruptions(self._leave) as interruptions, typing_ahead():
            if self._asking is not None:
                self._asking.pausing = interruptions.paused
            try:
                self._greet()
                self._converse(interruptions)
            except OSError:
                if interruptions.ending is None:
                    raise  # otherwise the terminal has gone, and there is nobody to tell
            finally:
                self._end_background()
        if interruptions.ending is None:
            return 0
        self._screen.abandon()
        return 128 + interruptions.ending

    def _converse(self, interruptions: Interruptions) -> None:
        going_on = True
        while going_on and interruptions.ending is None:
            try:
                self._waiting.set()
                line = self._prompt.prompt(default=self._taken_up())
            except EOFError:
                return
            except KeyboardInterrupt:
                continue
            finally:
                self._waiting.clear()
            self._prompt.placeholder = None
            if line.strip():
                going_on = self._handle(line, interruptions)
                self._look_again()
            self._line_changed("")

    def _taken_up(self) -> str:
        """What a command has put into the input line, once."""
        text, self._typed = self._typed, ""
        return text

    def _handle(self, line: str, interruptions: Interruptions) -> bool:
        """Run a command or a turn; False when the chat is to end."""
        try:
            if slash.is_command(line):
                return outcomes.run(line, self, interruptions.stoppable)
            with interruptions.stoppable():
                self.take_turn(self._session.send(line))
        except KeyboardInterrupt:
            in_run = "/solve".startswith(line.split()[0]) and unfinished(self._session.history)
            on = "; what came is kept, and /solve goes on" if in_run else ""
            self._screen.print(f"  stopped{on}" if slash.is_command(line) else "  stopped; what came is kept", "yellow")
        except ZkchatError as e:
            show_error(e, self._screen.print)
        self._screen.print()
        return True

    # what a command's outcome may ask of the chat: see outcomes.Chat

    @property
    def session(self) -> ZkChatSession:
        return self._session

    @property
    def screen(self) -> Screen:
        return self._screen

    def go_on_with(self, session: ZkChatSession) -> None:
        self._session.describing.stop()
        session.verbose = self._session.verbose
        self._session = session

    def ask(self, question: str) -> bool:
        return self._question.ask(question)

    def pick(self, title: str, rows: Sequence[str]) -> int | None:
        return self._picker.pick(title, rows)

    def type(self, text: str) -> None:
        self._typed = text

    def take_turn(self, events: Generator[Event, None, None]) -> None:
        self._session.describing.stop()
        if self._asking is not None:
            self._asking.begin()
        self._screen.print()
        settings = self._session.parts.settings
        most, reasoning = settings.references.max_displayed, settings.chat.show_reasoning
        with closing(events) as turn:
            last = show(
                turn,
                self._screen,
                self._screen.print,
                max_sources=most,
                reasoning=reasoning,
                detail=self._session.verbose,
                opens=opens(self._session, self._screen.address),
            )
        if isinstance(last, TurnFailed):
            show_error(last.error, self._screen.print, last.partial)
        elif last is not None:
            self._session.describing.start()

    def _greet(self) -> None:
        name = self._session.parts.model.name
        notes = len(self._bench.vault.notes())
        model = f"offline: {providers.provider(name).help}" if name == "offline" else shortened(name, LONGEST_NAME)
        model = f"{agent.name} · {model}" if (agent := self._session.parts.agent) is not None else model
        self._screen.print(neutralise_name(f"zkchat {__version__} · {self._bench.vault.name} ({notes}) · {model}"), "bold")
        if self._session.history:
            title = shorten(self._session.conversation.title or self._session.conversation.id, 60)
            self._screen.print(f"going on with “{title}”, {len(self._session.history)} messages", "dim")
        self._screen.print()

    # the prompt

    def _make_prompt(self, mark: str, *, colour: bool) -> "PromptSession[str]":
        prompt: PromptSession[str] = PromptSession(
            FormattedText([("bold" if colour else "", mark)]),
            history=self._history(),
            multiline=True,
            prompt_continuation=_continuation,
            key_bindings=bindings(lambda: self._line_changed(""), self._show_hint),
            completer=ThreadedCompleter(self._completer),
            # only where there is something to complete: prompt_toolkit keeps lines free for the menu as long as this holds
            complete_while_typing=Condition(self._completing),
            reserve_space_for_menu=MENU_LINES,
            bottom_toolbar=self._draw_toolbar,
            enable_suspend=True,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
            # without colour a placeholder could not be told from typed text
            placeholder=FormattedText([("ansibrightblack", PLACEHOLDER)]) if colour else None,
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict({"bottom-toolbar": "noreverse", "bottom-toolbar.text": ""}),
        )
        prompt.layout.current_window.dont_extend_height = Always()  # the toolbar stands under the line, not at the screen's end
        if is_dumb_terminal():
            self._background.start()  # the prompt of such a terminal is never drawn
        else:
            prompt.app.after_render += self._start_preparing
        prompt.default_buffer.on_text_changed += lambda buffer: self._line_changed(buffer.text)
        return prompt

    def _completing(self) -> bool:
        before = self._prompt.default_buffer.document.text_before_cursor
        return command_typed(before) is not None or argument_typed(before) is not None or link_typed(before) is not None

    def _history(self) -> History:
        """What was typed in this vault before; a folder that cannot be written to costs the history, not the chat."""
        if not self._keep_history:
            return InMemoryHistory()
        folder = self._bench.loaded.places.data_dir / "history"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = folder / hashlib.sha256(str(self._bench.vault.root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
            file.touch(mode=0o600)
        except OSError:
            return InMemoryHistory()
        return _History(str(file))

    def _at_prompt(self, action: Callable[[], None]) -> None:
        """Do something in the prompt's own thread, if the prompt is up; callable from any thread and from a signal's handler."""
        app = self._prompt.app
        if app.is_running and app.loop is not None:
            with suppress(RuntimeError):  # the prompt has been left just now
                app.loop.call_soon_threadsafe(action)

    def _leave(self) -> None:
        """End whatever waits for keys; from a signal's handler."""
        self._at_prompt(self._leave_prompt)
        self._question.leave()
        self._picker.leave()
        programs.leave()

    def _leave_prompt(self) -> None:
        app = self._prompt.app
        if app.future is not None and not app.future.done():
            app.exit(exception=EOFError)

    # the toolbar: values are computed when something changes, never while drawing

    def _draw_toolbar(self) -> FormattedText:
        width = self._prompt.output.get_size().columns
        if self._hint:
            return FormattedText([("", f" {self._hint}"[:width])])
        said = self._screen.said
        return FormattedText(clipped([(style, said(text)) for style, text in self._toolbar.fragments(width)], width))

    def _show_hint(self, hint: str) -> None:
        self._hint = hint
        self._prompt.app.invalidate()

    def _update_toolbar(self, **changes: Any) -> None:
        with self._drawing:  # the background measures the prompt while a key measures the line
            self._toolbar = replace(self._toolbar, **changes)

    def _line_changed(self, text: str) -> None:
        self._hint = ""
        self._measure_line(text)

    def _measure_line(self, text: str) -> None:
        counter = self._session.parts.counter
        counted = counter.ready and len(text) <= COUNTED_WHILE_TYPING
        tokens = counter.count(text) if counted else estimate(text)
        self._update_toolbar(typed=tokens, typed_estimated=bool(text) and not (counted and not counter.estimated))

    def _measure_prompt(self) -> None:
        session = self._session
        current = {"model": session.leader, "limit": session.budget.effective_limit}
        try:
            self._update_toolbar(usage=session.usage, **current)
        except ZkchatError:
            self._update_toolbar(usage=None, **current)

    def _look_again(self) -> None:
        """After a turn or a command: the conversation has grown, notes may have come or gone."""
        if self._bench.counter.ready:  # else the background is about to do it
            self._measure_prompt()
        with suppress(ZkchatError):
            self._completer.set_notes(self._bench.vault.notes())

    # the background

    def _start_preparing(self, app: "Application[str]") -> None:
        """When the first prompt and its toolbar have been drawn, not before: a thread that computes delays drawing."""
        app.after_render -= self._start_preparing
        self._background.start()

    def _prepare(self) -> None:
        """While the user reads or types: what can be completed, the vocabulary, what changed in the vault and what changes."""
        vault, counter = self._bench.vault, self._bench.counter
        with suppress(_Left):
            try:
                self._completer.commands = slash.commands()
                with suppress(ZkchatError):
                    self._completer.set_notes(vault.notes())
            finally:
                self._completer.ready.set()
            counter.warm().join()
            self._measure_prompt()
            self._prompt.app.invalidate()
            self._session.parts.model.prepare()
            self._measure_prompt()
            self._measure_line(self._prompt.default_buffer.text)
            self._prompt.app.invalidate()
            self._refresh(None)
            for paths in watching.changes(vault.root, self._bench.loaded.values.vault.ignore, self._left):
                self._waiting.wait()  # a turn has refreshed what it began with, and works undisturbed
                self._refresh(paths)

    def _refresh(self, paths: frozenset[str] | None) -> None:
        """Bring the index and what is made of it up to date; what is wrong with the vault is told when a message needs it."""
        vault = self._bench.vault
        self._unless_left()
        with suppress(ZkchatError):
            report = vault.refresh(only=paths, progress=self._unless_left)
            self._session.vault_refreshed(report)
            self._completer.set_notes(vault.notes())
            # a folder in which something is written all the time must not keep the processor busy
            self._left.wait(min(RESTS * report.seconds, LONGEST_REST))

    def _end_background(self) -> None:
        self._left.set()
        self._waiting.set()
        self._background.cancel()
        self._session.describing.stop()
        with suppress(RuntimeError):  # left before the first prompt was drawn
            self._background.join(LEAVING)
        self._session.describing.stop(LEAVING)

    def _unless_left(self, _done: int = 0, _total: int = 0) -> None:
        """Progress of a refresh that nobody waits for any more ends it; the next one takes it up."""
        if self._left.is_set():
            raise _Left


class _Left(Exception):
    """The user has left, and the background need not go on."""


class _History(FileHistory):
    """A line that is no valid Unicode (bytes that were no UTF-8) is kept as well as it can be, rather than ending the chat."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):  # a full disk costs a line of history
            super().store_string(string.encode("utf-8", "replace").decode())


def _continuation(width: int, _line: int, wrapped: int) -> str:
    """Before a further line of the message, or before what did not fit."""
    return " " * width if wrapped else "… ".rjust(width)
