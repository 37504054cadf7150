"""The turn that runs: its events become text in the transcript, the state and the budget bar."""

from PySide6.QtWidgets import QLabel

from zkchat_cli import events
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.gui.budget_label import BudgetLabel
from zkchat_cli.gui.transcript import TranscriptView
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.tokens.counter import estimate_tokens
from zkchat_cli.views.turn_steps import tool_line


class RunningTurn:
    """`show` each event in the window's thread. `is_answering` until the answer is complete or has
    failed; `notices` and `error` are to be shown at the end.
    """

    def __init__(self, transcript: TranscriptView, budget: BudgetLabel, state: QLabel) -> None:
        self.is_answering = True
        self.answer = ""
        self.notices: list[str] = []
        self.error: ZkchatError | None = None
        # Characters of the answer that are in the prompt that was measured last
        self._counted = 0
        self._transcript = transcript
        self._budget = budget
        self._state = state

    def show(self, event: events.Event) -> None:
        """Show one event."""
        usage: ContextUsage | None = None
        match event:
            case events.PromptBuilt(measured, _):
                usage = measured
                self._counted = len(self.answer)
            case events.TextDelta(text):
                self.answer += text
                # A wait for the next drawing goes on: the budget is drawn then, too
                if not self._transcript.add_answer(text):
                    return
            case events.TurnFailed(error, _, _):
                self.is_answering = False
                self.error = error
            case events.TurnCompleted():
                self.is_answering = False
            case events.Notice(message, hint):
                self.notices.append(on_one_line(message, hint))
            case events.ToolCallStarted(call):
                self._state.setText(f"{call.name} …")
            case _:
                note = _step_note(event)
                if note:
                    self._transcript.add_note(note)
        self._budget.show_usage(usage, estimate_tokens(self.answer[self._counted :]))


def _step_note(event: events.Event) -> str:
    """The line between the pieces of an answer that shows this event; empty if none does."""
    match event:
        case events.ToolCallFinished(_, run, excerpts):
            return tool_line(run, excerpts).strip()
        case events.ChangeDecided(_, _, told):
            return told
        case events.Waiting(seconds, reason):
            return f"waiting {seconds:.0f} s: {reason}"
        case events.CompactionStarted(reason):
            return f"compacting: {reason}"
        case _:
            return ""
