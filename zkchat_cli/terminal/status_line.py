"""The status line below a streaming answer: what is being done, for how long, and how full the
context window is.
"""

from collections.abc import Sequence

from rich.text import Text

from zkchat_cli import events
from zkchat_cli.terminal.budget_text import budget_text
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import format_arguments, truncate
from zkchat_cli.views.live_budget import BYTES_PER_TOKEN, LiveBudget

# Seconds for which the spinner shows one sign
FRAME_TIME = 0.12
BAR_CELLS = 7
MAX_ARGUMENTS = 44
# Fewest columns of the line for the figures of the bar
FIGURES_FROM = 50
# Fewest columns for the activity, before other parts are left out for it
MIN_ACTIVITY = 12
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SEPARATOR = " · "


class StatusLine:
    """Collects what happens in a turn.

    `began_at` is its begin, in seconds of the caller's clock. Without a `budget` no tokens are
    shown.
    """

    def __init__(self, began_at: float, budget: LiveBudget | None) -> None:
        self._began_at = began_at
        self._budget = budget
        self._activity = ""
        self._speaker = ""
        # Tokens of answer and reasoning that have arrived
        self._arrived = 0.0

    def update(self, event: events.Event) -> None:
        """Use an event."""
        if self._budget is not None:
            self._budget.update(event)
        self._activity = ""
        match event:
            case events.PromptBuilt(_, speaker):
                self._speaker = sanitize_name(speaker)
            case events.TextDelta(text) | events.ReasoningDelta(text):
                self._arrived += len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN
            case events.ToolCallStarted(call):
                arguments = truncate(format_arguments(call.arguments), MAX_ARGUMENTS)
                self._activity = sanitize_name(f"{call.name} {arguments}".rstrip())
            case events.CompactionStarted(why):
                self._activity = sanitize_name(f"compacting: {why}")
            case events.Waiting(seconds, reason):
                self._activity = sanitize_name(f"again in {max(1, round(seconds))} s: {reason}")

    def line(self, now: float, columns: int) -> Text:
        """The line at time `now`, with as many of its parts as fit into so many columns.

        The activity is shortened for the time and the bar; if it gets too short, how to stop is
        left out. If there is no room for the bar's figures, it has its percent alone.
        """
        spinner = _SPINNER[int(now / FRAME_TIME) % len(_SPINNER)]
        line = Text(f"{spinner} ", "dim")
        elapsed = Text(f"{now - self._began_at:.0f} s", "dim")
        required = [elapsed, Text("Ctrl-C stops", "dim"), *self._bar(columns)]
        if self._activity:
            room = columns - line.cell_len - _width(required)
            if room < MIN_ACTIVITY:
                del required[1]
                room = columns - line.cell_len - _width(required)
            required.insert(0, _shortened(self._activity, max(MIN_ACTIVITY, room)))
        parts = [*required, *self._details()]
        line.append_text(parts[0])
        for part in parts[1:]:
            if line.cell_len + len(_SEPARATOR) + part.cell_len > columns:
                break
            line.append(_SEPARATOR, "dim").append_text(part)
        line.truncate(max(1, columns))
        return line

    def _bar(self, columns: int) -> list[Text]:
        """The budget bar; none as long as nothing has been measured."""
        bar = self._budget.bar(BAR_CELLS) if self._budget is not None else None
        if bar is None:
            return []
        return [budget_text(bar, figures=columns >= FIGURES_FROM)]

    def _details(self) -> list[Text]:
        """The parts that are left out first."""
        details: list[Text] = []
        if self._speaker:
            details.append(Text(self._speaker, "dim"))
        if self._budget is not None and self._arrived:
            details.append(Text(f"~{self._arrived:.0f} tokens", "dim"))
        return details


def _width(parts: Sequence[Text]) -> int:
    """The columns of these parts, each after a separator."""
    return sum(len(_SEPARATOR) + part.cell_len for part in parts)


def _shortened(activity: str, columns: int) -> Text:
    """The activity in at most so many columns."""
    text = Text(activity, "dim")
    text.truncate(columns, overflow="ellipsis")
    return text
