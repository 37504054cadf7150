"""Executes a line of the chat: shows the turn of a message, and does what slash commands want.

They want to print, page, ask, copy or open (see slash/base.py). A piped chat cannot ask: it raises
an error that says how to do without, and prints what would be copied or opened.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import lru_cache, partial

from zkchat_cli import slash
from zkchat_cli.app.editor import open_note_command
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.errors import UsageError, ZkchatError, on_one_line, reason
from zkchat_cli.events import TurnCompleted, TurnFailed
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.references import provenance, related_notes
from zkchat_cli.slash.base import CommandResult, NoteToOpen
from zkchat_cli.terminal.approval import YES, ApprovalPrompt
from zkchat_cli.terminal.chat_host import ChatHost
from zkchat_cli.terminal.clipboard import copy_text
from zkchat_cli.terminal.column_layout import count_columns
from zkchat_cli.terminal.job_control import page, paged, run_in_foreground
from zkchat_cli.terminal.link_targets import LinkTargets, note_opener
from zkchat_cli.terminal.plain_turn_view import RemarkPrinter
from zkchat_cli.terminal.screen import Screen, terminal_columns
from zkchat_cli.terminal.shell_command import cut_middle, parse_shell_command, run_shell_command
from zkchat_cli.terminal.turn_renderer import DisplayOptions, show_error, show_turn
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import reveal_invisible, sanitize, sanitize_name
from zkchat_cli.vault.edit.approval import Decision
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.turn_steps import diff_lines

# Screens of text up to which a result is printed without a pager, because the user wants to type
# the next command at once
SCREENS = 2
# Share of the messages' budget that the output of one shell command may take in a message
SHARE_FOR_OUTPUT = 0.25
# Addresses of notes that are cached during a turn, because an open block is drawn many times
MAX_ADDRESSES = 1000

Stoppable = Callable[[], AbstractContextManager[None]]
"""Returns a block that Ctrl-C ends with a KeyboardInterrupt."""


def handle_line(line: str, chat: ChatHost, stoppable: Stoppable) -> bool:
    """Run a command or send a message, and show an error or an interruption; returns False when the
    chat ends.
    """
    before = _last_message(chat.session)
    shell_command = parse_shell_command(line)
    try:
        if shell_command is not None:
            _run_shell(shell_command, chat, stoppable)
        elif not carry_out(lambda: _run_line(line, chat), chat, stoppable):
            return False
    except KeyboardInterrupt:
        hint = _hint_after_stop(before, _last_message(chat.session))
        chat.screen.print(f"  stopped{hint}", "yellow")
    except ZkchatError as e:
        show_error(e, chat.screen.print)
    chat.screen.print()
    return True


def _run_line(line: str, chat: ChatHost) -> CommandResult:
    """Run a slash command, or begin the turn of a message with the outputs that wait for it."""
    if slash.is_command(line) or not chat.outputs or not line.strip():
        return slash.run_line(line, chat.session)
    text = "\n\n".join((line, *chat.outputs))
    turn = chat.session.send_input(UserInput.parse(text, line)._replace(searched=line))
    chat.outputs = ()
    return CommandResult(turn=turn)


def _run_shell(command: str, chat: ChatHost, stoppable: Stoppable) -> None:
    """Run a shell command, show its output, and offer it for the next message."""
    session = chat.session
    screen = chat.screen
    with stoppable():
        done = run_shell_command(command, session.services.working_folder, screen.write)
    if done.text:
        screen.print()
    if done.exit_code is None:
        screen.print("  stopped", "yellow")
    elif done.exit_code:
        screen.print(f"  exit code {done.exit_code}", "yellow")
    if not done.text:
        screen.print("  no output", "dim")
        return
    room = int(SHARE_FOR_OUTPUT * session.runtime.budget.messages)
    counter = session.runtime.counter
    text = cut_middle(done.text, room, counter.count)
    cut = f", its beginning and end: all of it takes {counter.count(done.text):,}"
    size = f"{counter.count(text):,} tokens{cut if text != done.text else ''}"
    answer = chat.read_answer(f"Send this output with your next message ({size})?", "y/N")
    if answer.lower() in YES:
        chat.outputs = (*chat.outputs, done._replace(text=text).as_message())
        screen.print("  kept for your next message", "dim")


def _last_message(session: ZkChatSession) -> ZkChatMessage | None:
    history = session.history
    return history[-1] if history else None


def _hint_after_stop(before: ZkChatMessage | None, last: ZkChatMessage | None) -> str:
    """What the user can do after a stop, judged by the last messages `before` the stopped line and
    after it.
    """
    if last == before:
        return ""
    if last is not None and last.role == "assistant" and last.content.strip():
        if last.status == "unfinished":
            return "; the partial answer is kept: /continue or /retry"
        return "; the answers so far are kept"
    return " before the answer began; /retry asks again"


def carry_out(command: Callable[[], CommandResult], chat: ChatHost, stoppable: Stoppable) -> bool:
    """Carry out the result of a command, and of the next one that it asks about if the user says
    yes.

    Returns False when the chat ends. Ctrl-C stops the work inside `stoppable`; questions handle
    their own keys.
    """

    def keep_typed(text: str) -> None:
        chat.next_input = text

    with stoppable():
        following: Callable[[], CommandResult] | None = command
        while following is not None:
            result = following()
            if not chat.can_choose:
                result = replace(result, choice=None)
            with paged(chat.screen, SCREENS, keep_typed) as pager:
                print_result(result, pager)
            if result.session is not None:
                chat.session = result.session
            completed = _take_turn(result, chat)
            following = result.then if completed else None
    if result.quit:
        return False
    if result.clipboard is not None:
        _copy(result.clipboard, chat.screen)
    if result.open_note is not None:
        _open_note(result.open_note, chat)
    if result.input_text:
        chat.next_input = result.input_text
    wanted = _ask(result, chat)
    return wanted is None or carry_out(wanted, chat, stoppable)


def _ask(result: CommandResult, chat: ChatHost) -> Callable[[], CommandResult] | None:
    """What is to be done by the user's choice from a list, decision about a change, or answer to a
    question; None for nothing.
    """
    if result.choice is not None:
        value = chat.choose(result.choice)
        if value is not None:
            return partial(result.choice.run, value)
        chat.screen.print("  nothing chosen", "dim")
        return None
    if result.proposal is not None:
        return partial(result.proposal.decide, _decide_on(result.proposal.change, chat))
    if result.question is None:
        return None
    # Enter alone, Ctrl-C and anything else mean no
    if chat.read_answer(result.question.text, "y/N").lower() in YES:
        return result.question.run
    chat.screen.print("  canceled")
    return None


def _decide_on(change: Change, chat: ChatHost) -> Decision:
    """Show a change that a command proposes, and ask about its hunks."""
    screen = chat.screen
    screen.print(f"  {reveal_invisible(change.summary)}", "bold")
    if change.note:
        screen.print(f"  {change.note}", "yellow")
    return ApprovalPrompt(chat.read_answer, screen)(change)


def _copy(text: str, screen: Screen) -> None:
    size = plural(len(text), "character")
    # An escape sequence could end the bracketed paste of another program
    targets = copy_text(sanitize(text), screen)
    if not targets:
        raise UsageError(
            f"{size} could not be copied",
            "Neither the terminal nor the system has a clipboard; /export writes a file.",
        )
    screen.print(f"  copied {size} (through {' and '.join(targets)})", "dim")


def _open_note(note: NoteToOpen, chat: ChatHost) -> None:
    """Open a note in the user's editor; without one, show it in the pager."""
    session = chat.session
    editor = open_note_command(
        note.file,
        note.line,
        session.runtime.settings.terminal.open_command,
        session.vault.root,
    )
    if editor is None:
        page(_text_of(note), chat.screen, line=note.line)
        return
    try:
        run_in_foreground(editor)
    except (OSError, ValueError) as e:
        hint = "Set $EDITOR or terminal.open_command to your editor."
        raise UsageError(f"{editor[0]} cannot be started: {reason(e)}", hint) from e


def _text_of(note: NoteToOpen) -> str:
    return sanitize(note.text).removesuffix("\n") + "\n"


def _take_turn(result: CommandResult, chat: ChatHost) -> bool:
    """Run the turn of a result, if it has one, and show it: a failed one with its error, an answer
    with notes to read. Returns whether none failed.
    """
    if result.turn is None:
        return True
    display = _display_options(chat)
    if result.then is not None:
        # The command itself shows what each of its turns costs
        display = display._replace(costs=False)
    screen = chat.screen
    session = chat.session
    approve = session.services.approve
    if isinstance(approve, ApprovalPrompt):
        approve.begin_turn()
    screen.print()
    chat.turn_is_running = True
    try:
        with closing(result.turn) as turn:
            last = show_turn(turn, screen, screen.print, display)
    finally:
        chat.turn_is_running = False
    if isinstance(last, TurnFailed):
        show_error(last.error, screen.print, last.partial)
        screen.print("  /retry asks again", "dim")
    elif isinstance(last, TurnCompleted) and last.report.level in (None, "answer"):
        with session.services.faults.contain("related notes"):
            _print_related(session, screen)
    for notice in session.services.faults.take_notices():
        screen.print(f"  {on_one_line(*notice)}", "yellow")
    return not isinstance(last, TurnFailed)


def _display_options(chat: ChatHost) -> DisplayOptions:
    session = chat.session
    settings = session.runtime.settings
    return DisplayOptions(
        settings.references.max_displayed,
        session.services.faults,
        reasoning=settings.chat.show_reasoning or settings.chat.show_details,
        detail=settings.chat.show_details,
        costs=settings.context.show_token_count,
        links=_link_targets(session),
        budget=settings.context.show_token_count,
        diffs=not isinstance(session.services.approve, ApprovalPrompt),
        usage=chat.usage,
    )


def _link_targets(session: ZkChatSession) -> LinkTargets:
    """What opens when the user clicks a note or a source in the answer."""
    address = note_opener(session.vault.root)

    @lru_cache(maxsize=MAX_ADDRESSES)
    def note_address(name: str) -> str | None:
        try:
            path = session.vault.resolve(name).target
        except ZkchatError:
            return None
        return address(path) if path else None

    def source_address(number: int) -> str | None:
        chunk = session.state.references.chunk(number)
        return address(chunk.relative_path) if chunk else None

    return LinkTargets(note_address, source_address)


def _print_related(session: ZkChatSession, screen: Screen) -> None:
    """Print a line with notes that are related to the answer: as many as fit, if the settings allow
    it.
    """
    if not session.runtime.settings.chat.show_related:
        return
    exchange = provenance.last_exchange(session.history)
    if exchange is None:
        return
    vault = session.vault
    links = [vault.link_to(path) for path in related_notes.offer_related(vault, exchange)]
    while links:
        line = sanitize_name(f"  related: {', '.join(links)}; /related says why")
        if count_columns(line) <= terminal_columns():
            screen.print(line, "dim")
            return
        links.pop()


def print_result(result: CommandResult, screen: Screen) -> None:
    """Print the text and the lines of a command's result, laid out for the width of the screen; for
    a list to choose from the note above it, because it replaces them.
    """
    if result.choice is not None:
        screen.show(result.choice.note)
        return
    if result.text:
        screen.print(result.text)
    if result.render is not None and screen.columns is not None:
        screen.show(result.render(screen.columns()))
    else:
        screen.show(result.lines)


def run_piped(
    line: str, session: ZkChatSession, screen: Screen, print_remark: RemarkPrinter, max_sources: int
) -> ZkChatSession | None:
    """Run a command or send a message without a terminal.

    Returns the session to continue with, None at the end of the chat. Raises the error of a turn
    that failed.
    """
    if parse_shell_command(line) is not None:
        raise UsageError(
            "a piped chat runs no shell commands",
            "Pipe the output of the command in, or begin the message with another character.",
        )
    result = replace(slash.run_line(line, session), choice=None)
    _refuse_questions(result, screen)
    print_result(result, screen)
    if result.clipboard is not None:
        screen.print(result.clipboard)
    if result.open_note is not None:
        screen.write(_text_of(result.open_note))
    if result.quit:
        return None
    if result.session is not None:
        session = result.session
    while result.turn is not None:
        display = DisplayOptions(
            max_sources,
            session.services.faults,
            detail=session.runtime.settings.chat.show_details,
        )
        with closing(result.turn) as turn:
            last = show_turn(turn, screen, print_remark, display)
        if isinstance(last, TurnFailed):
            raise last.error
        for notice in session.services.faults.take_notices():
            screen.warn(*notice)
        screen.print()
        if result.then is None:
            break
        result = result.then()
        print_result(result, screen)
    return session


def _refuse_questions(result: CommandResult, screen: Screen) -> None:
    """Raise UsageError for what only a user at a terminal can answer or edit; it names
    another way.
    """
    if result.proposal is not None:
        screen.show(diff_lines(result.proposal.change.diff))
        raise UsageError(
            f"{reveal_invisible(result.proposal.change.summary)}? A piped chat cannot ask",
            f"To do it without asking: {result.proposal.command_without_asking}",
        )
    if result.question is not None:
        raise UsageError(
            f"{result.question.text} A piped chat cannot ask",
            f"To do it without asking: {result.question.command_without_asking}",
        )
    if result.input_text:
        command, _, _ = result.input_text.partition(" ")
        raise UsageError(
            "a piped chat has no input line to edit", f"Give the new text: {command} N NEW TEXT"
        )
