"""The running turn: its events become text in the transcript, the state and the budget bar."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial

from PySide6.QtWidgets import QLabel

from zkchat_cli import events
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.gui.budget_label import BudgetLabel
from zkchat_cli.gui.transcript import TranscriptView
from zkchat_cli.llm.stop_signal import raise_if_stopped
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.live_budget import LiveBudget
from zkchat_cli.views.turn_steps import tool_line


class RunningTurn:
    """Shows a turn: call `show` with each event in the window's thread, and `finish` at the end.

    The turn `is_answering` until the answer is complete or has failed; then `error` says why.
    """

    def __init__(self, transcript: TranscriptView, budget: BudgetLabel, state: QLabel) -> None:
        self.is_answering = True
        self.error: ZkchatError | None = None
        self._answer = ""
        self._notices: list[str] = []
        self._live_budget = LiveBudget()
        self._transcript = transcript
        self._budget = budget
        self._state = state

    def run(
        self,
        turn: Generator[events.Event, None, None],
        post: Callable[[Callable[[], None]], None],
    ) -> None:
        """Run the turn on a worker's thread; `post` lets the window's thread show each event."""
        try:
            with closing(turn):
                for event in turn:
                    post(partial(self.show, event))
                    raise_if_stopped()
        except ZkchatError as e:
            post(partial(self.show, events.TurnFailed(e, "", "")))

    def show(self, event: events.Event) -> None:
        """Show one event."""
        self._live_budget.update(event)
        match event:
            case events.TextDelta(text):
                self._answer += text
                # The budget is drawn as seldom as the answer, which waits for its next drawing
                if not self._transcript.add_answer(text):
                    return
            case events.TurnFailed(error, _, _):
                self.is_answering = False
                self.error = error
            case events.TurnCompleted():
                self.is_answering = False
            case events.Notice(message, hint):
                self._notices.append(on_one_line(message, hint))
            case events.ToolCallStarted(call):
                self._state.setText(f"{sanitize_name(call.name)} …")
            case _:
                note = _step_note(event)
                if note:
                    self._transcript.add_note(note)
        self._budget.show_usage(self._live_budget.usage, self._live_budget.more)

    def finish(self, *, stopped: bool) -> Sequence[str]:
        """End the turn, and return the notices to show for it.

        Text without an answer is one of the notices: it comes from a command such as /compact,
        which adds no message.
        """
        if self.is_answering and self._answer and not stopped:
            self._notices.append(self._answer)
        self.is_answering = False
        return self._notices


def _step_note(event: events.Event) -> str:
    """The line between the pieces of an answer that shows this event; empty if none does."""
    match event:
        case events.ToolCallFinished(_, run, excerpts):
            return tool_line(run, excerpts).strip()
        case events.ChangeDecided(_, _, told):
            return told
        case events.Waiting(seconds, reason):
            return f"waiting {seconds:.0f} s: {reason}"
        case events.TextWithdrawn():
            return "the text above was the model's reasoning; its answer follows"
        case events.CompactionStarted(reason):
            return f"compacting: {reason}"
        case _:
            return ""
