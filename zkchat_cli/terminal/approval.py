"""Approval on a screen: of note changes, which are shown as diffs, and of calls of other programs' tools, with what they would be sent."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.errors import UsageError
from zkchat_cli.models import ToolCall
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.approval import ALLOWED, DECLINED, DECLINED_CALL, Approve, Decision, approve_notes
from zkchat_cli.vault.edit.transaction import Change

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.terminal.confirm import Confirmation

YES, NO, ALL, ALWAYS = ("y", "yes"), ("n", "no", "", STOPPED), ("a", "all"), ("a", "always")
MAX_ARGUMENTS = 400
"""Characters of a call's arguments that are shown."""
DECLINED_ALL = Decision(False, "declined by the user, who wants no more changes in this turn: nothing was changed")
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class ApprovalPrompt:
    """Asks before each change. "All" approves the rest of the turn, and `yes` all turns, except changes to memory, which later
    conversations follow.

    Any other text declines the change and is passed to the model as the reason; Ctrl-C declines the rest of the turn.
    """

    def __init__(self, question: "Confirmation", *, yes: bool = False) -> None:
        self.question = question
        self._yes = yes
        self.pausing: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered while a question is shown, so that Ctrl-C answers it instead of stopping the turn."""
        self.begin_turn()

    def begin_turn(self) -> None:
        self._approve_all, self._decline_all = self._yes, False

    def __call__(self, change: Change) -> Decision:
        if self._decline_all:
            return DECLINED_ALL
        if self._approve_all and change.memory_file is None:
            return ALLOWED
        with self.pausing():
            text = self.question.read_answer(f"{change.summary}?", "y/N, a: all of this turn, or the reason why not")
        answer, self._decline_all = text.lower(), text == STOPPED
        self._approve_all = self._approve_all or answer in ALL
        return _decide(text, (*YES, *ALL), DECLINED)


def ask_about_call(call: ToolCall, question: "Confirmation", pausing: Callable[[], AbstractContextManager[None]] = nullcontext) -> Decision:
    """The user's decision about one call. `pausing` is entered while the question is shown, so that Ctrl-C answers it."""
    arguments = truncate(reveal_invisible(json.dumps(call.arguments, ensure_ascii=False)), MAX_ARGUMENTS)
    with pausing():
        text = question.read_answer(f"Call {call.name} with {arguments}?", "y/N, always, or the reason why not")
    return replace(_decide(text, (*YES, *ALWAYS), DECLINED_CALL), always=text.lower() in ALWAYS)


def _decide(text: str, yes: Collection[str], declined: Decision) -> Decision:
    """What an answer means: any other text than these for yes and those for no is the reason why not."""
    if text.lower() in yes:
        return ALLOWED
    is_reason = text.lower() not in NO
    return replace(declined, reason=f"{declined.reason}. The user says: {replace_surrogates(text)}") if is_reason else declined


def policy(*, unsafe: bool, yes: bool, screen: Screen, interactive: bool) -> Approve | None:
    """The approval policy of these flags; None refuses every change. Raises UsageError for contradictory flags."""
    if yes and not unsafe:
        raise UsageError("--yes needs --unsafe", "Without --unsafe there are no changes to approve.")
    if unsafe and interactive:
        from zkchat_cli.terminal.confirm import Confirmation  # imports prompt_toolkit, which pipes do not need

        return ApprovalPrompt(Confirmation(screen), yes=yes)
    if yes:
        return approve_notes
    if unsafe:
        screen.warn("a pipe cannot ask: changes to notes are shown and refused", "--yes approves them all")
    return None


def warn_if_unable(session: "ZkChatSession", screen: Screen, *, unsafe: bool) -> None:
    """Warn that --unsafe has no effect, because the model or the agent has no tools that write."""
    if unsafe and not any(tool.writes for tool in session.runtime.tools):
        screen.warn(f"--unsafe has no effect: {session.runtime.speaker_label} has no tools that write", "choose another model or agent")


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
    """A unified diff in the colours of `git diff`, with invisible characters made visible."""
    for line, style in _styled_lines(diff):
        screen.print(reveal_invisible(line), *([style] if style else []))


def _styled_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Each line with its style. Lines outside of hunks are headers; the text of a note can look like a header, so hunks are counted."""
    old = new = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        if old <= 0 and new <= 0 and not line.startswith("\\"):
            hunk = _HUNK.match(line)
            old, new = (int(count or 1) for count in hunk.groups()) if hunk else (0, 0)
            yield line, "cyan" if hunk else "bold"
            continue
        old -= line[:1] in (" ", "-")
        new -= line[:1] in (" ", "+")
        yield line, _STYLES.get(line[:1], "")
