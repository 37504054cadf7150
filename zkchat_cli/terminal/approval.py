"""Questions on a screen: whether to do something, to change notes, and to call an external tool.

A change of notes is shown hunk by hunk, with the answers of `git add -p`.
"""

import sys
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from zkchat_cli import events
from zkchat_cli.errors import UsageError, on_one_line
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.terminal.hunk_editor import edit_hunk
from zkchat_cli.terminal.job_control import termios
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import reveal_invisible, sanitize_name
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.edit.approval import (
    ALLOWED,
    DECLINED,
    DECLINED_CALL,
    Approve,
    Decision,
    approve_notes,
)
from zkchat_cli.vault.edit.hunk_review import (
    Choice,
    HunkAnswer,
    HunkQuestion,
    can_divide,
    review_hunks,
)
from zkchat_cli.vault.edit.hunks import HunkError, parse_edited
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.hunk_lines import hunk_lines, hunk_title
from zkchat_cli.views.turn_steps import call_question, diff_lines

# The answer that Ctrl-C gives
STOPPED = "\x03"
YES = ("y", "yes")
NO = ("n", "no", "", STOPPED)
ALL = ("all",)
ALWAYS = ("a", "always")
# Asks a question with these choices; returns the text of the answer
ReadAnswer = Callable[[str, str], str]
EDIT = "e"
HUNK_KEYS = "y/N/e/a/d/q, ?: help, or the reason why not"
_CHOICES = {
    **{choice.key: choice for choice in Choice if choice.key},
    "": Choice.NO,
    "yes": Choice.YES,
    "no": Choice.NO,
    "quit": Choice.QUIT,
    STOPPED: Choice.STOP,
}
DECLINED_ALL = Decision(
    False, "declined by the user, who wants no more changes in this turn: nothing was changed"
)


def read_answer(
    question: str,
    choices: str,
    screen: Screen,
    pause: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> str:
    """The text of the user's answer; STOPPED for Ctrl-C, Ctrl-D and the end of the input.

    `pause` is entered during the question: it lets Ctrl-C answer the question instead of stopping a
    turn. Keys that were pressed before the question appeared are dropped, because they were meant
    for something else.
    """
    # Imported here because only a question needs it
    from zkchat_cli.terminal.plain_input import read_line

    if termios is not None and sys.stdin.isatty():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    with pause():
        try:
            screen.print(f"{sanitize_name(question)} [{choices}]", "bold")
            return read_line("› ").strip()
        except (EOFError, KeyboardInterrupt):
            screen.print()
            return STOPPED


class ApprovalPrompt:
    """Shows each change and asks about it, hunk by hunk. "All" approves the rest of the turn, and
    `yes` all turns, except changes to memory, which later conversations follow. Any other text
    declines it and is the reason that the model gets; Ctrl-C declines the rest of the turn.
    """

    def __init__(self, ask: ReadAnswer, screen: Screen, *, yes: bool = False) -> None:
        self._ask = ask
        self._screen = screen.with_width()
        self._yes = yes
        self.begin_turn()

    def begin_turn(self) -> None:
        """Forget the answers that held for all changes of the previous turn."""
        self._for_all = ALLOWED if self._yes else None

    def __call__(self, change: Change) -> Decision:
        is_for_all = self._for_all is DECLINED_ALL or change.memory_file is None
        if self._for_all is not None and is_for_all:
            self._screen.show(diff_lines(change.diff))
            return self._for_all
        if can_divide(change):
            reviewed = review_hunks(change, self._ask_about_hunk)
            if reviewed.ends_turn:
                self._for_all = DECLINED_ALL
            return reviewed.decision
        self._screen.show(diff_lines(change.diff))
        text = self._ask(
            f"{reveal_invisible(change.summary)}?",
            "y/N, all: everything in this turn, or the reason why not",
        )
        if text == STOPPED:
            self._for_all = DECLINED_ALL
        elif text.lower() in ALL:
            self._for_all = ALLOWED
        return _decide(text, (*YES, *ALL), DECLINED)

    def _ask_about_hunk(self, question: HunkQuestion) -> HunkAnswer:
        """Show a hunk, and ask until there is an answer to it."""
        self._screen.print(f"  {hunk_title(question)}", "cyan")
        self._screen.show(hunk_lines(question.hunk, marks=not self._screen.color))
        if self._for_all == ALLOWED and question.change.memory_file is None:
            # "All" was said about an earlier note of the same change
            return HunkAnswer(Choice.ALL)
        number = f"({question.number}/{question.total}) " if question.total > 1 else ""
        while True:
            text = self._ask(f"{number}{reveal_invisible(question.change.summary)}?", HUNK_KEYS)
            answer = self._answer_of(text, question)
            if answer is not None:
                return answer

    def _answer_of(self, text: str, question: HunkQuestion) -> HunkAnswer | None:
        """What the user's text means; None after help or an edit that was given up."""
        word = text.lower()
        if word in ALL:
            self._for_all = ALLOWED if question.change.memory_file is None else self._for_all
            return HunkAnswer(Choice.ALL)
        if word == EDIT:
            return self._edit(question)
        if word in _CHOICES:
            return HunkAnswer(_CHOICES[word])
        if len(text) == 1:
            self._screen.print(_hunk_help())
            return None
        return HunkAnswer(Choice.NO, reason=replace_surrogates(text))

    def _edit(self, question: HunkQuestion) -> HunkAnswer | None:
        """Let the user edit the hunk until it fits the note; None if the user gives up."""
        text: str | None = None
        while True:
            try:
                text = edit_hunk(question, text)
                edited = parse_edited(question.hunk, text)
            except UsageError as e:
                self._screen.print(f"  {on_one_line(e.message, e.hint)}", "yellow")
                return None
            except HunkError as e:
                self._screen.print(f"  this does not fit the note: {e}", "yellow")
                if self._ask("Edit it again?", "Y/n").lower() not in (*YES, ""):
                    return None
                continue
            if edited.new == question.hunk.old:
                return HunkAnswer(Choice.NO)
            is_changed = edited.new != question.hunk.new
            return HunkAnswer(Choice.YES, edited if is_changed else None)


def _hunk_help() -> str:
    """What each key does, in lines."""
    keys = [(choice.key, choice.help) for choice in Choice if choice.key]
    keys.insert(2, (EDIT, "edit it in your editor, and make what you wrote"))
    keys += [("all", "make everything in this turn"), ("?", "show this help")]
    lines = [f"  {key:<3} {text}" for key, text in keys]
    return "\n".join([*lines, "  Any other text is a no with a reason, which the model gets."])


def ask_about_call(call: ToolCall, ask: ReadAnswer) -> Decision:
    """Ask whether to call an external tool, this time or always."""
    text = ask(call_question(call), "y/N, always, or the reason why not")
    return _decide(text, (*YES, *ALWAYS), DECLINED_CALL)._replace(always=text.lower() in ALWAYS)


def ask_about_cost(question: str, ask: ReadAnswer) -> bool:
    """Ask whether to send a turn that costs more than the settings allow."""
    return ask(question, "y/N").lower() in YES


def _decide(text: str, yes: Collection[str], declined: Decision) -> Decision:
    """The decision that an answer expresses.

    `yes` has the words for yes. A text that is neither yes nor no is the reason for declining,
    which the model gets.
    """
    if text.lower() in yes:
        return ALLOWED
    if text.lower() in NO:
        return declined
    return declined._replace(reason=f"{declined.reason}. The user says: {replace_surrogates(text)}")


def choose_approval(
    screen: Screen, ask: ReadAnswer | None, *, unsafe: bool, yes: bool
) -> Approve | None:
    """What approves changes: `ask` lets the user decide; without it, `yes` approves all of them.

    None refuses all changes. Raises UsageError for contradictory flags.
    """
    if yes and not unsafe:
        raise UsageError(
            "--yes needs --unsafe", "Without --unsafe there are no changes to approve."
        )
    if unsafe and ask is not None:
        return ApprovalPrompt(ask, screen, yes=yes)
    if unsafe and not yes:
        screen.warn(
            "a pipe cannot ask: changes to notes are shown and refused", "--yes approves them all"
        )
    return approve_notes if yes else None


def show_change(
    event: events.ChangeProposed | events.ChangeDecided, screen: Screen, *, with_diff: bool = True
) -> None:
    """Show a proposed change as a diff, or the decision: on the screen in a chat, on stderr in a
    pipe. It is not shown `with_diff` if an ApprovalPrompt shows it in hunks.
    """
    if screen.columns is None:
        screen = replace(screen, out=screen.err, color=screen.color and screen.err_is_terminal)
    if isinstance(event, events.ChangeDecided):
        screen.print(f"  {event.told}", "dim" if event.made else "yellow")
        return
    screen.print(f"  {reveal_invisible(event.summary)}", "bold")
    if event.note:
        screen.print(f"  {event.note}", "yellow")
    if with_diff:
        screen.show(diff_lines(event.diff))
