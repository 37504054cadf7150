"""What comes of a slash command, carried out: in the interactive chat, and in one without a terminal.

The commands themselves only say what they want (see slash): here it is printed, paged, asked, copied, opened. Where nobody can be asked,
what would have been asked is an error that says how to do without; a list to pick from is printed, what would be copied or opened, too.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing
from typing import Protocol

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.events import Event, TurnFailed
from zkchat_cli.slash.base import CommandResult, Pick
from zkchat_cli.terminal import external_programs
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import Verbosity, show, unsent
from zkchat_cli.terminal.turn_view import NotePrinter


class Chat(Protocol):
    """What the interactive chat lends to a command's outcome."""

    @property
    def session(self) -> ZkChatSession: ...

    @property
    def screen(self) -> Screen: ...

    def go_on_with(self, session: ZkChatSession) -> None:
        """Make another session the chat's."""

    def take_turn(self, events: Generator[Event, None, None]) -> None:
        """Run a turn on the screen."""

    def ask(self, question: str) -> bool:
        """Whether the user says yes."""

    def pick(self, title: str, rows: Sequence[str]) -> int | None:
        """Which of several the user picks; None: none."""

    def type(self, text: str) -> None:
        """Have this in the input line of the next prompt."""


def run(line: str, chat: Chat, stoppable: Callable[[], AbstractContextManager[None]]) -> bool:
    """Run a command in the interactive chat; False when it ends that. What works may be stopped by Ctrl-C, what asks has its own keys."""
    return carry_out(lambda: slash.run(line, chat.session), chat, stoppable)


def carry_out(first: Callable[[], CommandResult], chat: Chat, stoppable: Callable[[], AbstractContextManager[None]]) -> bool:
    """`run` for something that comes to an outcome; what is asked may come to another."""
    step: Callable[[], CommandResult] | None = first
    while step is not None:
        with stoppable():
            outcome = step()
            if not outcome.paged:
                print_(outcome, chat.screen)
            if outcome.session is not None:
                chat.go_on_with(outcome.session)
            if outcome.turn is not None:
                chat.take_turn(outcome.turn)
        if outcome.leave:
            return False
        _hand_over(outcome, chat)
        step = _asked(outcome, chat)
    return True


def _hand_over(outcome: CommandResult, chat: Chat) -> None:
    screen = chat.screen
    if outcome.paged and outcome.pick is None:
        with external_programs.paged(screen) as pager:
            print_(outcome, pager)
    if outcome.copied is not None:
        screen.print(_copied(outcome.copied, external_programs.copy(outcome.copied, screen)), "dim")
    if outcome.opening is not None:
        opening = outcome.opening
        command = external_programs.editing(opening.file, opening.line, chat.session.parts.settings.terminal.open_command)
        if command is None:
            external_programs.page(external_programs.note_text(opening.text), screen)
        else:
            external_programs.run(command)
    if outcome.typed:
        chat.type(outcome.typed)


def _asked(outcome: CommandResult, chat: Chat) -> Callable[[], CommandResult] | None:
    """What is to be done next, if the user says so."""
    if outcome.confirm is not None:
        if chat.ask(outcome.confirm.question):
            return outcome.confirm.run
        chat.screen.print("  not done")
    elif outcome.pick is not None:
        return _picked(outcome.pick, chat)
    return None


def _picked(pick: Pick, chat: Chat) -> Callable[[], CommandResult] | None:
    at = chat.pick(pick.title, [f"{choice.shown}  {choice.about}".rstrip() for choice in pick.choices])
    if at is None:
        return None
    return lambda: pick.run(pick.choices[at].value)


def _copied(text: str, ways: Sequence[str]) -> str:
    size = f"{len(text)} character{'' if len(text) == 1 else 's'}"
    if not ways:
        raise UsageError(
            f"{size} could not be copied", "Neither this terminal nor the system has a clipboard that takes it; /export writes a file."
        )
    return f"  copied: {size}, by {' and '.join(ways)}"


def print_(outcome: CommandResult, screen: Screen) -> None:
    """What an outcome says, on the screen."""
    if outcome.text:
        columns = screen.columns
        screen.print(outcome.fitted(columns()) if outcome.fitted is not None and columns is not None else outcome.text)
    if outcome.pick is None or screen.columns is None:
        screen.show(outcome.lines)


def run_piped(line: str, session: ZkChatSession, screen: Screen, aside: NotePrinter, max_sources: int) -> ZkChatSession | None:
    """Run a command, or ask what is no command, where no terminal is; the session to go on with, None when the chat is to end.

    Raises the error of a turn that failed.
    """
    outcome = slash.run(line, session) if slash.is_command(line) else CommandResult(turn=session.send(line))
    if outcome.confirm is not None:
        raise UsageError(f"{outcome.confirm.question} Nobody can be asked here", f"To say yes beforehand: {outcome.confirm.unasked}")
    if outcome.typed:
        raise UsageError("there is no input line to change it in", f"Give it whole: {outcome.typed.split(' ', 1)[0]} N NEW TEXT")
    print_(outcome, screen)
    if outcome.copied is not None:
        screen.print(outcome.copied)
    if outcome.opening is not None:
        screen.write(external_programs.note_text(outcome.opening.text))
    if outcome.leave:
        return None
    if outcome.session is not None:
        outcome.session.verbose = session.verbose
        session = outcome.session
    if outcome.turn is not None:
        with closing(outcome.turn) as turn:
            last = show(turn, screen, aside, Verbosity(max_sources, detail=session.verbose))
        if isinstance(last, TurnFailed):
            raise last.error
        for told in unsent(session) if session.verbose else ():
            aside(told, "dim")
        screen.print()
    return session
