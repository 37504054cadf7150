"""Questions of a turn: whether to change notes, and to call an external tool."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.gui.chat_pane import ChatPane
from zkchat_cli.gui.worker import Worker
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.slash.base import ChangeProposal, CommandResult
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, DECLINED_CALL, Decision
from zkchat_cli.vault.edit.hunk_review import (
    Choice,
    HunkAnswer,
    HunkQuestion,
    can_divide,
    review_hunks,
)
from zkchat_cli.vault.edit.hunks import Hunk, HunkError, editable_text, parse_edited
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.hunk_lines import hunk_lines, hunk_title
from zkchat_cli.views.text import StyledLine, styled_line
from zkchat_cli.views.turn_steps import call_question, diff_lines

# By the number of the button (see chat_pane.py): the choice; None to edit the hunk
_BUTTONS: tuple[Choice | None, ...] = (
    Choice.YES,
    None,
    Choice.ALL,
    Choice.NONE,
    Choice.QUIT,
    Choice.NO,
)


class PanelApproval:
    """Asks in a panel of the window.

    Call it on the worker's thread, which waits for the answer.
    """

    def __init__(self, pane: ChatPane, worker: Worker) -> None:
        self._pane = pane
        self._worker = worker

    def with_questions(self, app: App) -> App:
        """The app with sessions that ask in this panel."""
        return replace(
            app,
            approve=self.approve_change,
            approve_call=self.approve_call,
            approve_cost=self.approve_cost,
        )

    def decide(self, proposal: ChangeProposal, _session: ZkChatSession) -> CommandResult:
        """Ask about a change that a command proposes, and run what follows."""
        return proposal.decide(self.approve_change(proposal.change))

    def approve_change(self, change: Change) -> Decision:
        """Ask about a change of notes: hunk by hunk, or about its diff if it is all or nothing."""
        if can_divide(change):
            return review_hunks(change, self._ask_about_hunk).decision
        lines = list(diff_lines(change.diff))
        if change.note:
            lines.insert(0, styled_line(change.note, "yellow"))
        return ALLOWED if self._ask(f"{reveal_invisible(change.summary)}?", lines) else DECLINED

    def approve_call(self, call: ToolCall) -> Decision:
        """Ask about a call of an external tool."""
        return ALLOWED if self._ask(call_question(call)) else DECLINED_CALL

    def approve_cost(self, question: str) -> bool:
        """Ask about a turn that costs more than the settings allow."""
        return self._ask(question)

    def _ask(self, question: str, lines: Iterable[StyledLine] = ()) -> bool:
        is_yes: bool = self._worker.ask(partial(self._pane.question.ask, question, lines))
        return is_yes

    def _ask_about_hunk(self, question: HunkQuestion) -> HunkAnswer:
        """Ask about a hunk until there is an answer to it."""
        lines = [styled_line(hunk_title(question), "cyan")]
        if question.change.note:
            lines.append(styled_line(question.change.note, "yellow"))
        lines += hunk_lines(question.hunk, marks=False)
        number = f"({question.number}/{question.total}) " if question.total > 1 else ""
        text = f"{number}{reveal_invisible(question.change.summary)}?"
        while True:
            button = self._worker.ask(partial(self._pane.hunk.ask_choice, text, lines))
            choice = _BUTTONS[button]
            if choice is not None:
                return HunkAnswer(choice)
            edited = self._edit(question)
            if edited is not None:
                return HunkAnswer(Choice.YES, edited)

    def _edit(self, question: HunkQuestion) -> Hunk | None:
        """The hunk as the user has edited it, until it fits the note; None if the user cancels."""
        title = hunk_title(question)
        text: str | None = editable_text(question.hunk, title)
        problem = ""
        while True:
            label = f"{title}{problem}"
            text = self._worker.ask(partial(self._pane.edit_text, label, text or ""))
            if text is None:
                return None
            try:
                return parse_edited(question.hunk, text)
            except HunkError as e:
                problem = f": this does not fit the note: {e}"
