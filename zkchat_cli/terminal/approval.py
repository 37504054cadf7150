"""Approval on a screen: of note changes, which are shown as diffs, and of calls of other programs' tools, with what they would be sent."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ToolCall
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault.approval import ALLOWED, DECLINED, DECLINED_CALL, Approve, Decision, approve_notes, decline
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.approval import call_question, diff_lines

if TYPE_CHECKING:
    from zkchat_cli.terminal.confirmation import Confirmation

YES, NO, ALL, ALWAYS = ("y", "yes"), ("n", "no", "", STOPPED), ("a", "all"), ("a", "always")
DECLINED_ALL = Decision(False, "declined by the user, who wants no more changes in this turn: nothing was changed")


class ApprovalPrompt:
    """Asks before each change. "All" approves the rest of the turn, and `yes` all turns, except changes to memory, which later
    conversations follow.

    Any other text declines the change and is passed to the model as the reason; Ctrl-C declines the rest of the turn.
    """

    def __init__(self, confirmation: "Confirmation", *, yes: bool = False) -> None:
        self.confirmation = confirmation
        self._yes = yes
        self.pause_interrupts: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered while a question is shown, so that Ctrl-C answers it instead of stopping the turn."""
        self.begin_turn()

    def begin_turn(self) -> None:
        self._approve_all, self._decline_all = self._yes, False

    def __call__(self, change: Change) -> Decision:
        if self._decline_all:
            return DECLINED_ALL
        if self._approve_all and change.memory_file is None:
            return ALLOWED
        with self.pause_interrupts():
            text = self.confirmation.read_answer(f"{change.summary}?", "y/N, a: all of this turn, or the reason why not")
        answer, self._decline_all = text.lower(), text == STOPPED
        self._approve_all = self._approve_all or answer in ALL
        return _decide(text, (*YES, *ALL), DECLINED)


def ask_about_call(
    call: ToolCall, confirmation: "Confirmation", pause_interrupts: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Decision:
    """The user's decision about one call. `pause_interrupts` is entered while the question is shown, so that Ctrl-C answers it."""
    with pause_interrupts():
        text = confirmation.read_answer(call_question(call), "y/N, always, or the reason why not")
    return _decide(text, (*YES, *ALWAYS), DECLINED_CALL)._replace(always=text.lower() in ALWAYS)


def _decide(text: str, yes: Collection[str], declined: Decision) -> Decision:
    """What an answer means: any other text than these for yes and those for no is the reason why not."""
    if text.lower() in yes:
        return ALLOWED
    return declined if text.lower() in NO else decline(declined, text)


def approval_policy(*, unsafe: bool, yes: bool, screen: Screen, interactive: bool) -> Approve | None:
    """The approval policy of these flags; None refuses every change. Raises UsageError for contradictory flags."""
    if yes and not unsafe:
        raise UsageError("--yes needs --unsafe", "Without --unsafe there are no changes to approve.")
    if unsafe and interactive:
        from zkchat_cli.terminal.confirmation import Confirmation  # imports prompt_toolkit, which pipes do not need

        return ApprovalPrompt(Confirmation(screen), yes=yes)
    if yes:
        return approve_notes
    if unsafe:
        screen.warn("a pipe cannot ask: changes to notes are shown and refused", "--yes approves them all")
    return None


def show_change(event: events.ChangeProposed | events.ChangeDecided, screen: Screen) -> None:
    """A proposed change as a diff, and the decision: on the screen of a chat, in a pipe on stderr."""
    if screen.columns is None:
        screen = replace(screen, out=screen.err, colour=screen.colour and screen.err_is_terminal)
    if isinstance(event, events.ChangeDecided):
        screen.print(f"  {event.told}", "dim" if event.made else "yellow")
        return
    screen.print(f"  {event.summary}", "bold")
    if event.note:
        screen.print(f"  {event.note}", "yellow")
    show_diff(event.diff, screen)


def show_diff(diff: str, screen: Screen) -> None:
    """A unified diff; the screen is not asked to wrap it."""
    for line in diff_lines(diff):
        screen.print("".join(span.text for span in line.left), *(span.style for span in line.left if span.style))
