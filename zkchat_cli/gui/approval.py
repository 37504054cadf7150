"""Questions of a turn: whether to change notes, and to call an external tool."""

from collections.abc import Iterable
from functools import partial

from zkchat_cli.gui.panel import Panel
from zkchat_cli.gui.worker import Worker
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, DECLINED_CALL, Decision
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.text import StyledLine, styled_line
from zkchat_cli.views.turn_steps import call_question, diff_lines


class PanelApproval:
    """Asks in a panel of the window.

    Call it on the worker's thread, which waits for the answer.
    """

    def __init__(self, panel: Panel, worker: Worker) -> None:
        self._panel = panel
        self._worker = worker

    def approve_change(self, change: Change) -> Decision:
        """Ask about a change of notes, and show it as a diff."""
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
        return self._worker.ask(partial(self._panel.ask, question, lines))
