"""Carry out a line of the chat: show the turn of a message, and do what slash commands want (see
slash/base.py): print, page, ask, copy, open. A piped chat cannot ask: it raises an error that says
how to do without, and prints what would be copied or opened.
"""

import base64
import os
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, closing, suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from zkchat_cli import slash
from zkchat_cli.app.editor import open_note_command
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, ZkchatError, reason
from zkchat_cli.events import Event, TurnCompleted, TurnFailed
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import CommandResult
from zkchat_cli.terminal.approval import YES, ApprovalPrompt
from zkchat_cli.terminal.job_control import page, paged, run_in_foreground
from zkchat_cli.terminal.screen import (
    LinkTargets,
    Screen,
    count_columns,
    note_opener,
    terminal_columns,
)
from zkchat_cli.terminal.turn_renderer import DisplayOptions, RemarkPrinter, show_error, show_turn
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize, sanitize_name

if TYPE_CHECKING:
    from zkchat_cli.terminal.repl import Repl

# Bytes that xterm accepts in an OSC 52 sequence; other terminals accept at least as many
MAX_SEQUENCE = 74_994
TIMEOUT = 2.0
CLIPBOARDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
# Screens of text up to which a result is printed without a pager: the user wants to type the next
# command at once
SCREENS = 2


def handle_line(
    line: str, chat: "Repl", stoppable: Callable[[], AbstractContextManager[None]]
) -> bool:
    """Run a command or send a message, and show an error or an interruption; False when it ends the
    chat.
    """
    before = chat.session.history[-1:]
    try:
        if not carry_out(lambda: slash.run_line(line, chat.session), chat, stoppable):
            return False
    except KeyboardInterrupt:
        last = chat.session.history[-1:]
        hint = ""
        if (
            last
            and last[0].role == "assistant"
            and last[0].status == "unfinished"
            and last[0].content.strip()
            and last != before
        ):
            hint = "; the partial answer is kept: /continue or /retry"
        elif last != before:
            hint = " before the answer began; /retry asks again"
        chat.screen.print(f"  stopped{hint}", "yellow")
    except ZkchatError as e:
        show_error(e, chat.screen.print)
    chat.screen.print()
    return True


def carry_out(
    command: Callable[[], CommandResult],
    chat: "Repl",
    stoppable: Callable[[], AbstractContextManager[None]],
) -> bool:
    """Carry out the result of a command, and of the one that it asks about if the user says yes;
    False when it ends the chat.

    Ctrl-C stops the work inside `stoppable`; questions handle their own keys.
    """
    screen = chat.screen
    with stoppable():
        result = command()
        with paged(screen, SCREENS, partial(setattr, chat, "next_input")) as pager:
            print_result(result, pager)
        if result.session is not None:
            chat.session = result.session
        if result.turn is not None:
            _take_turn(result.turn, chat)
    if result.quit:
        return False
    if result.clipboard is not None:
        size = plural(len(result.clipboard), "character")
        # An escape sequence could end the bracketed paste of another program
        targets = copy_text(sanitize(result.clipboard), screen)
        if not targets:
            raise UsageError(
                f"{size} could not be copied",
                "Neither the terminal nor the system has a clipboard; /export writes a file.",
            )
        screen.print(f"  copied {size} ({' and '.join(targets)})", "dim")
    if (note := result.open_note) is not None:
        editor = open_note_command(
            note.file,
            note.line,
            chat.session.runtime.settings.terminal.open_command,
            chat.session.vault.root,
        )
        if editor is not None:
            try:
                run_in_foreground(editor)
            except (OSError, ValueError) as e:
                hint = "Set $EDITOR or terminal.open_command to your editor."
                raise UsageError(f"{editor[0]} cannot be started: {reason(e)}", hint) from e
        else:
            page(sanitize(note.text).removesuffix("\n") + "\n", screen, line=note.line)
    if result.input_text:
        chat.next_input = result.input_text
    if result.question is not None:
        # Enter alone, Ctrl-C and anything else are a no
        if chat.read_answer(result.question.text, "y/N").lower() in YES:
            return carry_out(result.question.run, chat, stoppable)
        screen.print("  canceled")
    return True


def _take_turn(events: Generator[Event, None, None], chat: "Repl") -> None:
    screen = chat.screen
    settings = chat.session.runtime.settings
    vault = chat.session.vault
    if isinstance(approve := chat.session.services.approve, ApprovalPrompt):
        approve.begin_turn()
    address = note_opener(vault.root)

    # An open block is drawn many times
    @lru_cache(maxsize=1000)
    def note_address(name: str) -> str | None:
        try:
            path = vault.resolve(name).target
        except ZkchatError:
            return None
        return address(path) if path else None

    def source_address(number: int) -> str | None:
        chunk = chat.session.references.chunk(number)
        return address(chunk.relative_path) if chunk else None

    display = DisplayOptions(
        settings.references.max_displayed,
        reasoning=settings.chat.show_reasoning or settings.chat.show_details,
        detail=settings.chat.show_details,
        costs=settings.context.show_token_count,
        links=LinkTargets(note_address, source_address),
    )
    screen.print()
    chat.turn_is_running = True
    try:
        with closing(events) as turn:
            last = show_turn(turn, screen, screen.print, display)
    finally:
        chat.turn_is_running = False
    if isinstance(last, TurnFailed):
        show_error(last.error, screen.print, last.partial)
        screen.print("  /retry asks again", "dim")
    elif (
        settings.chat.show_related
        and isinstance(last, TurnCompleted)
        and last.report.level in (None, "answer")
    ):
        exchange = provenance.last_exchange(chat.session.history)
        links = (
            [vault.link_to(path) for path in provenance.offer_related(vault, exchange)]
            if exchange
            else []
        )
        lines = [
            sanitize_name(f"  related: {', '.join(links[:count])}; /related says why")
            for count in range(len(links), 0, -1)
        ]
        # As many as one line holds
        if line := next(
            (line for line in lines if count_columns(line) <= terminal_columns()), None
        ):
            screen.print(line, "dim")


def print_result(result: CommandResult, screen: Screen) -> None:
    if result.text:
        screen.print(result.text)
    screen.show(
        result.render(screen.columns())
        if result.render is not None and screen.columns is not None
        else result.lines
    )


def run_piped(
    line: str, session: ZkChatSession, screen: Screen, print_remark: RemarkPrinter, max_sources: int
) -> ZkChatSession | None:
    """Run a command or send a message without a terminal. Returns the session to continue with,
    None at the end of the chat.

    Raises the error of a turn that failed.
    """
    result = slash.run_line(line, session)
    if question := result.question:
        raise UsageError(
            f"{question.text} A piped chat cannot ask",
            f"To do it without asking: {question.command_without_asking}",
        )
    if result.input_text:
        raise UsageError(
            "a piped chat has no input line to edit",
            f"Give the new text: {result.input_text.split(' ', 1)[0]} N NEW TEXT",
        )
    print_result(result, screen)
    if result.clipboard is not None:
        screen.print(result.clipboard)
    if result.open_note is not None:
        screen.write(sanitize(result.open_note.text).removesuffix("\n") + "\n")
    if result.quit:
        return None
    if result.session is not None:
        session = result.session
    if result.turn is not None:
        with closing(result.turn) as turn:
            last = show_turn(
                turn,
                screen,
                print_remark,
                DisplayOptions(max_sources, detail=session.runtime.settings.chat.show_details),
            )
        if isinstance(last, TurnFailed):
            raise last.error
        screen.print()
    return session


def copy_text(text: str, screen: Screen, env: Mapping[str, str] = os.environ) -> list[str]:
    """Copy text to every clipboard that can be reached, and return their names."""
    targets: list[str] = []
    data = text.encode("utf-8", "replace")
    for variable, command in CLIPBOARDS:
        if variable and not env.get(variable):
            continue
        with suppress(OSError, subprocess.SubprocessError):
            # in a session of its own: it keeps running to hold the text, and must not get a Ctrl-C
            # of the chat
            out = subprocess.DEVNULL
            subprocess.run(
                command,
                input=data,
                stdout=out,
                stderr=out,
                env=env,
                timeout=TIMEOUT,
                check=True,
                start_new_session=True,
            )
            targets.append(command[0])
            break
    if screen.out.isatty() and env.get("TERM") != "dumb" and len(data) <= MAX_SEQUENCE:
        screen.out.write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        screen.out.flush()
        targets.append("the terminal")
    return targets
