"""The interactive chat: a prompt, and turns. State lives in the session; here are only lines.

The prompt is drawn first. The session is made behind it (see background.py), while the user reads or types; whoever is quicker with a line
than the program is with its session sees what is waited for.
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from zkchat_cli import __version__
from zkchat_cli.errors import ZkchatError
from zkchat_cli.store import input_history
from zkchat_cli.terminal.completion import ChatCompleter
from zkchat_cli.terminal.confirm import Confirmation
from zkchat_cli.terminal.hyperlinks import link_targets, note_opener
from zkchat_cli.terminal.input_history import VaultHistory
from zkchat_cli.terminal.input_line import InputLine, PromptHelpers, PromptStyle
from zkchat_cli.terminal.interrupts import InterruptHandler
from zkchat_cli.terminal.paste_folding import Pastes
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.startup import BackgroundLoader, Opening, StartedSession
from zkchat_cli.terminal.toolbar import shortened
from zkchat_cli.terminal.toolbar_metrics import ToolbarMetrics
from zkchat_cli.text.sanitize import sanitize_name

if TYPE_CHECKING:  # they load all that a session is made of, which is there when it is needed
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.events import Event
    from zkchat_cli.terminal.change_approval import ApprovalPrompt

DRAWN_AFTER = 0.03
"""Seconds that a terminal may take to say where the cursor is, after which the toolbar is drawn: a thread that computes delays drawing."""
TOLD_AFTER, TOLD_EVERY = 0.15, 0.1
"""Seconds after which it is told what is waited for, and how often."""
LEAVING = 0.2
"""Seconds for which leaving waits for the model that describes documents."""
LONGEST_NAME, LONGEST_LEADER = 40, 24
"""Columns of a model's name in the greeting, and of who answers under an answer."""


class Repl:
    """Reads lines and runs turns until the user leaves."""

    _session: "ZkChatSession"
    """There as soon as the chat has `_begun`."""

    def __init__(
        self,
        opening: Opening,
        screen: Screen,
        *,
        keep_history: bool = True,
        unsafe: bool = False,
        asking: "ApprovalPrompt | None" = None,
        typed: str = "",
    ) -> None:
        """`asking` is who asks before a note is changed, with `unsafe`. `typed` are keys that were pressed already."""
        self._unsafe = unsafe
        self._keep_history = keep_history
        self._begun = self._greeted = self._warned = False
        pastes = Pastes()
        self._history = VaultHistory(pastes.unfold)
        self._completer = ChatCompleter(self.current)
        self._prompt = InputLine(
            PromptStyle(screen.colour, screen.symbols),
            PromptHelpers(self._completer, self._history, pastes),
            line_changed=self._line_changed,
            heading=f"zkchat {__version__}",
            typed=typed,
            drawn=lambda: threading.Timer(DRAWN_AFTER, self._background.start).start(),
        )
        self._gauge = ToolbarMetrics(self._prompt, self.current)
        self._background = BackgroundLoader(
            opening,
            told=lambda: self._prompt.call(self._take_in),
            state=lambda state: self._prompt.update(state=state),
            measure=self._measure,
            session=self.current,
        )
        self._asking = asking
        self._question = asking.question if asking is not None else Confirmation(colour=screen.colour)
        self._unsent = ""
        self._asked_model = False
        """Whether the line that was sent last has put a question, which can be asked again."""
        self._screen = replace(screen, columns=lambda: self._prompt.columns, lines=lambda: self._prompt.lines)

    def run(self) -> int:
        """The chat, until /quit, Ctrl-D or two Ctrl-C: 0. Asked to end by a signal, or its terminal closed: 128 + the signal.

        Raises the ZkchatError of what cannot be opened.
        """
        with InterruptHandler(self._leave) as interruptions:
            if self._asking is not None:
                self._asking.pausing = interruptions.paused
            try:
                if self._prompt.dumb:  # its prompt cannot be drawn anew
                    self._waited("", interruptions)
                    self._take_in()
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

    def _converse(self, interruptions: InterruptHandler) -> None:
        going_on = True
        while going_on and interruptions.ending is None:
            self._take_in()
            self._raise_failure()
            try:
                self._background.typed("")  # the line that was sent is no more
                self._background.waiting.set()
                line = self._prompt.ask(self._taken_up())
            except EOFError:
                self._raise_failure()
                return
            except KeyboardInterrupt:
                continue
            finally:
                self._background.waiting.clear()
            if not line.strip():
                continue
            if not self._waited(line, interruptions):
                self._unsent = line
                if interruptions.ending is None:
                    self._screen.print("  not sent; it stands in the line again", "yellow")
                continue
            self._take_in()
            going_on = self._handle(line, interruptions)
            self._look_again()

    def _handle(self, line: str, interruptions: InterruptHandler) -> bool:
        """Run a command or a turn; False when the chat is to end."""
        self._asked_model = False
        from zkchat_cli import slash  # the session has loaded it
        from zkchat_cli.chat.agent_run import unfinished_goal
        from zkchat_cli.terminal import command_runner
        from zkchat_cli.terminal.turn_renderer import show_error

        try:
            if slash.is_command(line):
                if not command_runner.run(line, self, interruptions.stoppable):
                    return False
            else:
                with interruptions.stoppable():
                    self.take_turn(self._session.send(line))
        except KeyboardInterrupt:
            in_run = "/solve".startswith(line.split()[0]) and unfinished_goal(self._session.history)
            on = "; what came is kept, and /solve goes on" if in_run else self._way_on() if self._asked_model else ""
            self._screen.print(f"  stopped{on}", "yellow")
        except ZkchatError as e:
            show_error(e, self._screen.print)
        self._screen.print()
        return True

    def _way_on(self) -> str:
        """What may be done about an answer that did not come to its end, as the end of a sentence."""
        last = self._session.history[-1] if self._session.history else None
        came = last is not None and last.role == "assistant" and last.status == "unfinished" and last.content.strip()
        return "; what came is kept: /continue goes on, /retry asks again" if came else " before a word came; /retry asks again"

    # what a command's outcome may ask of the chat: see outcomes.Chat

    @property
    def session(self) -> "ZkChatSession":
        return self._session

    @property
    def screen(self) -> Screen:
        return self._screen

    def go_on_with(self, session: "ZkChatSession") -> None:
        self._session.stop_background_tasks()
        session.verbose = self._session.verbose
        self._session = session

    def ask(self, question: str) -> bool:
        return self._question.ask(question)

    def pick(self, title: str, rows: Sequence[str]) -> int | None:
        from zkchat_cli.terminal.picker import Picker  # not needed by the first prompt

        return Picker(colour=self._screen.colour).pick(title, rows)

    def type(self, text: str) -> None:
        self._unsent = text

    def take_turn(self, events: "Generator[Event, None, None]") -> None:
        from zkchat_cli.events import TurnFailed  # as above
        from zkchat_cli.terminal.turn_renderer import Verbosity, show_error, show_turn, unsent_lines

        self._session.stop_background_tasks()
        if self._asking is not None:
            self._asking.begin()
        self._screen.print()
        settings = self._session.settings
        manner = Verbosity(
            settings.references.max_displayed,
            reasoning=settings.chat.show_reasoning,
            detail=self._session.verbose,
            costs=settings.context.show_token_count,
            links=link_targets(self._session, self._screen.address),
            who=shortened(self._session.speaker_label, LONGEST_LEADER),
        )
        with closing(events) as turn:
            attended = turn if self._asking is None else self._asking.attending(turn)
            last = show_turn(self._noting(attended), self._screen, self._screen.print, manner)
        if isinstance(last, TurnFailed):
            show_error(last.error, self._screen.print, last.partial)
            self._screen.print("  /retry asks the same again", "dim")
        elif last is not None:
            for told in unsent_lines(self._session) if self._session.verbose else ():
                self._screen.print(told, "dim")
            self._session.start_background_tasks()

    def _noting(self, turn: "Iterator[Event]") -> "Iterator[Event]":
        from zkchat_cli.events import MessageStored  # as above

        for event in turn:
            self._asked_model |= isinstance(event, MessageStored)
            yield event

    def _taken_up(self) -> str:
        """What is to stand in the next prompt, once: what a command put there, or what could not be sent."""
        text, self._unsent = self._unsent, ""
        return text

    def _line_changed(self, line: str) -> None:
        self._gauge.measure_line(line)
        self._background.typed(line)

    def _look_again(self) -> None:
        """After a turn or a command: the conversation has grown."""
        if self._session.counter.ready:  # else the background is about to do it
            self._gauge.measure_prompt()

    def _leave(self) -> None:
        """End whatever waits for keys; from a signal's handler."""
        self._prompt.leave()
        if self._begun:
            from zkchat_cli.terminal import external_programs  # a pager or an editor can only be running if it is loaded

            external_programs.leave()

    # what comes from the background

    def current(self) -> "ZkChatSession | None":
        """The session in use; one that is made but not taken in yet is."""
        if self._begun:
            return self._session
        return self._background.opened.session if self._background.opened is not None else None

    def _waited(self, line: str, interruptions: InterruptHandler) -> bool:
        """Wait for what this line needs: the session, and a message also the first index. False when Ctrl-C ended the waiting.

        Raises what keeps the chat from having it.
        """
        self._background.start()
        awaited = (self._background.ready, *(() if line.startswith("/") else (self._background.indexed,)))
        told = ""
        try:
            with interruptions.stoppable():
                pause = TOLD_AFTER
                for event in awaited:
                    while self._background.failure is None and not event.wait(pause):
                        pause = TOLD_EVERY
                        told = self._tell_waiting(f"  {self._background.state} …", told)
        except KeyboardInterrupt:
            return False
        finally:
            if told:
                self._tell_waiting("", told)
        self._raise_failure()
        return True

    def _tell_waiting(self, now: str, before: str) -> str:
        now = now[: self._prompt.columns - 1]
        self._screen.write_raw(f"\r{now}{' ' * (len(before) - len(now))}" + ("" if now else "\r"))
        return now

    def _take_in(self) -> None:
        """What the background has come to, if it is new; in the prompt's thread, or between two prompts."""
        if self._background.failure is not None:
            self._prompt.leave(erase=True)
            return
        if self._background.opened is None:
            return
        if not self._begun:
            self._begin(self._background.opened)
        if not self._greeted and self._background.notes is not None:
            self._greeted = True
            self._prompt.print_above(self._greet)
            self._prompt.print_above(self._tell_unable)
            self._prompt.print_above(self._warn_of_opening)
            self._prompt.update(limit=self._session.budget.effective_limit)
        if not self._warned and self._background.problems:
            self._warned = True
            self._prompt.print_above(self._warn)

    def _begin(self, opened: StartedSession) -> None:
        bench, self._session = opened.bench, opened.session
        settings = bench.loaded.values
        self._begun = True
        dressed = self._screen.with_settings(settings.terminal)
        self._screen = replace(dressed, address=note_opener(bench.vault.root, settings.references.link_style))
        self._prompt.dress(PromptStyle(dressed.colour, dressed.symbols))
        history = input_history.history_file(bench.loaded.places.data_dir, str(bench.vault.root))
        self._history.keep_in(history if self._keep_history else None)
        if settings.terminal.editing_mode == "vi":
            self._prompt.use_vi_keys()
        self._completer.ready.set()
        self._prompt.update(
            model=self._session.speaker_label,
            vault=bench.vault.name,
            threshold=settings.context.summarization_threshold,
            show_tokens=settings.context.show_token_count,
            state="",
        )

    def _greet(self) -> None:
        from zkchat_cli.llm import providers  # the session has loaded them
        from zkchat_cli.text.truncate import truncate

        session, was_asked = self._session, self._prompt.forget_heading()
        name, vault = session.model.name, session.vault.name
        model = f"offline: {providers.provider(name).help}" if name == "offline" else shortened(name, LONGEST_NAME)
        model = f"{agent.name} · {model}" if (agent := session.agent) is not None else model
        program = "" if was_asked else f"zkchat {__version__} · "
        self._screen.print(sanitize_name(f"{program}{vault} ({self._background.notes}) · {model}"), "bold")
        if session.history:
            title = truncate(session.conversation.title or session.conversation.id, 60)
            self._screen.print(f"going on with “{title}”, {len(session.history)} messages", "dim")
        elif self._background.opened is not None and self._background.opened.tip:
            self._screen.print(self._background.opened.tip, "dim")
        self._screen.print()

    def _tell_unable(self) -> None:
        from zkchat_cli.terminal.change_approval import tell_unable  # the session has loaded what it needs

        tell_unable(self._session, self._screen, unsafe=self._unsafe)

    def _warn_of_opening(self) -> None:
        for warning in self._background.opened.warnings if self._background.opened is not None else ():
            self._screen.warn(*warning)

    def _warn(self) -> None:
        for problem in self._background.problems:
            self._screen.warn(problem)

    def _measure(self) -> None:
        self._gauge.measure_prompt()
        self._gauge.measure_line(self._prompt.text)

    def _raise_failure(self) -> None:
        if self._background.failure is not None:
            raise self._background.failure

    def _end_background(self) -> None:
        self._completer.ready.set()
        self._history.keep_in(None)
        if self._begun:
            self._session.stop_background_tasks()
        self._background.leave()
        if self._begun:
            self._session.stop_background_tasks(LEAVING)
