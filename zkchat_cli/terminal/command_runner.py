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
from zkchat_cli.terminal.turn_renderer import Verbosity, show_turn, unsent_lines
from zkchat_cli.terminal.turn_view import NotePrinter


class Chat(Protocol):
    """What the interactive chat lends to a command's result."""

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
    """`run` for something that comes to an result; what is asked may come to another."""
    step: Callable[[], CommandResult] | None = first
    while step is not None:
        with stoppable():
            result = step()
            if not result.paged:
                print_(result, chat.screen)
            if result.session is not None:
                chat.go_on_with(result.session)
            if result.turn is not None:
                chat.take_turn(result.turn)
        if result.quit:
            return False
        _hand_over(result, chat)
        step = _asked(result, chat)
    return True


def _hand_over(result: CommandResult, chat: Chat) -> None:
    screen = chat.screen
    if result.paged and result.pick is None:
        with external_programs.paged(screen) as pager:
            print_(result, pager)
    if result.clipboard is not None:
        screen.print(_copied(result.clipboard, external_programs.copy(result.clipboard, screen)), "dim")
    if result.open_note is not None:
        note = result.open_note
        command = external_programs.editing(note.file, note.line, chat.session.settings.terminal.open_command)
        if command is None:
            external_programs.page(external_programs.note_text(note.text), screen)
        else:
            external_programs.run(command)
    if result.input_text:
        chat.type(result.input_text)


def _asked(result: CommandResult, chat: Chat) -> Callable[[], CommandResult] | None:
    """What is to be done next, if the user says so."""
    if result.confirm is not None:
        if chat.ask(result.confirm.question):
            return result.confirm.run
        chat.screen.print("  not done")
    elif result.pick is not None:
        return _picked(result.pick, chat)
    return None


def _picked(pick: Pick, chat: Chat) -> Callable[[], CommandResult] | None:
    at = chat.pick(pick.title, [f"{item.label}  {item.detail}".rstrip() for item in pick.items])
    if at is None:
        return None
    return lambda: pick.run(pick.items[at].value)


def _copied(text: str, ways: Sequence[str]) -> str:
    size = f"{len(text)} character{'' if len(text) == 1 else 's'}"
    if not ways:
        raise UsageError(
            f"{size} could not be copied", "Neither this terminal nor the system has a clipboard that takes it; /export writes a file."
        )
    return f"  copied: {size}, by {' and '.join(ways)}"


def print_(result: CommandResult, screen: Screen) -> None:
    """The text and lines of a result on the screen; the picker shows a list by itself."""
    if result.text:
        screen.print(result.text)
    if result.pick is None or screen.columns is None:
        screen.show(result.render(screen.columns()) if result.render is not None and screen.columns is not None else result.lines)


def run_piped(line: str, session: ZkChatSession, screen: Screen, aside: NotePrinter, max_sources: int) -> ZkChatSession | None:
    """Run a command, or ask what is no command, where no terminal is; the session to go on with, None when the chat is to end.

    Raises the error of a turn that failed.
    """
    result = slash.run(line, session) if slash.is_command(line) else CommandResult(turn=session.send(line))
    if confirm := result.confirm:
        raise UsageError(f"{confirm.question} A piped chat cannot ask", f"To do it without asking: {confirm.command_without_asking}")
    if result.input_text:
        raise UsageError("a piped chat has no input line to edit", f"Give the new text: {result.input_text.split(' ', 1)[0]} N NEW TEXT")
    print_(result, screen)
    if result.clipboard is not None:
        screen.print(result.clipboard)
    if result.open_note is not None:
        screen.write(external_programs.note_text(result.open_note.text))
    if result.quit:
        return None
    if result.session is not None:
        result.session.verbose = session.verbose
        session = result.session
    if result.turn is not None:
        with closing(result.turn) as turn:
            last = show_turn(turn, screen, aside, Verbosity(max_sources, detail=session.verbose))
        if isinstance(last, TurnFailed):
            raise last.error
        for told in unsent_lines(session) if session.verbose else ():
            aside(told, "dim")
        screen.print()
    return session
