"""Approval on a screen: of note changes, which are shown as diffs, and of calls of other programs' tools, with what they would be sent."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ToolCall
from zkchat_cli.terminal.interrupts import STOPPED, YES
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault.approval import ALLOWED, DECLINED, DECLINED_CALL, Approve, Decision, approve_notes, decline
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.approval import call_question, diff_lines

if TYPE_CHECKING:
    from zkchat_cli.terminal.confirmation import Confirmation

NO, ALL, ALWAYS = ("n", "no", "", STOPPED), ("a", "all"), ("a", "always")
DECLINED_ALL = Decision(False, "declined by the user, who wants no more changes in this turn: nothing was changed")


class ApprovalPrompt:
    """Asks before each change. "All" approves the rest of the turn, and `yes` all turns, except changes to memory, which later
    conversations follow.

    Any other text declines the change and is passed to the model as the reason; Ctrl-C declines the rest of the turn.
    """

    def __init__(self, confirmation: "Confirmation", *, yes: bool = False) -> None:
        self._confirmation = confirmation
        self._yes = yes
        self.begin_turn()

    def begin_turn(self) -> None:
        self._approve_all, self._decline_all = self._yes, False

    def __call__(self, change: Change) -> Decision:
        if self._decline_all:
            return DECLINED_ALL
        if self._approve_all and change.memory_file is None:
            return ALLOWED
        text = self._confirmation.read_answer(f"{change.summary}?", "y/N, a: all of this turn, or the reason why not")
        answer, self._decline_all = text.lower(), text == STOPPED
        self._approve_all = self._approve_all or answer in ALL
        return _decide(text, (*YES, *ALL), DECLINED)


def ask_about_call(call: ToolCall, confirmation: "Confirmation") -> Decision:
    text = confirmation.read_answer(call_question(call), "y/N, always, or the reason why not")
    return _decide(text, (*YES, *ALWAYS), DECLINED_CALL)._replace(always=text.lower() in ALWAYS)


def _decide(text: str, yes: Collection[str], declined: Decision) -> Decision:
    """What an answer means: any other text than these for yes and those for no is the reason why not."""
    if text.lower() in yes:
        return ALLOWED
    return declined if text.lower() in NO else decline(declined, text)


def approval_prompt(confirmation: "Confirmation", *, unsafe: bool, yes: bool) -> ApprovalPrompt | None:
    """Who approves changes at a terminal; None refuses every change. Raises UsageError for contradictory flags."""
    _check_flags(unsafe=unsafe, yes=yes)
    return ApprovalPrompt(confirmation, yes=yes) if unsafe else None


def approval_in_pipe(screen: Screen, *, unsafe: bool, yes: bool) -> Approve | None:
    """The same where nobody can be asked."""
    _check_flags(unsafe=unsafe, yes=yes)
    if unsafe and not yes:
        screen.warn("a pipe cannot ask: changes to notes are shown and refused", "--yes approves them all")
    return approve_notes if yes else None


def _check_flags(*, unsafe: bool, yes: bool) -> None:
    if yes and not unsafe:
        raise UsageError("--yes needs --unsafe", "Without --unsafe there are no changes to approve.")


def show_change(event: events.ChangeProposed | events.ChangeDecided, screen: Screen) -> None:
    """A proposed change as a diff, and the decision: on the screen of a chat, in a pipe on stderr."""
    if screen.columns is None:
        screen = replace(screen, out=screen.err, color=screen.color and screen.err_is_terminal)
    if isinstance(event, events.ChangeDecided):
        screen.print(f"  {event.told}", "dim" if event.made else "yellow")
        return
    screen.print(f"  {event.summary}", "bold")
    if event.note:
        screen.print(f"  {event.note}", "yellow")
    show_diff(event.diff, screen)


def show_diff(diff: str, screen: Screen) -> None:
    for line in diff_lines(diff):
        screen.print("".join(span.text for span in line.left), *(span.style for span in line.left if span.style))
