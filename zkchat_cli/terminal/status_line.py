"""The line at the bottom while a turn runs: who answers or what runs, for how long, how to stop it, the budget bar, and how much
arrived."""

from rich.cells import cell_len, chop_cells

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.budget_bar import BudgetBar

BYTES_PER_TOKEN = 4
"""A rough figure for prose: single deltas cannot be counted exactly, and the end of the turn has the exact figures."""
FRAME_TIME = 0.12
"""Seconds between two frames of the spinner."""
BAR_CELLS = 7
MAX_NAME = 24
"""Characters of the speaker's name; a longer one is shown without its middle."""
STOP_HINT = "Ctrl-C stops"
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StatusLine:
    """Collects what happens in a turn; `line` shows it. Times are seconds of the caller's clock; the turn began at `began_at`."""

    def __init__(self, began_at: float) -> None:
        self._speaker = ""
        self.began_at = began_at
        self._activity = self._waiting = ""
        self._tokens = 0.0
        self._used = self._limit = 0
        """Tokens of the prompt and of what has come since, and how many can be sent; 0 before the first prompt."""
        self._counted = 0.0
        """Tokens that had arrived when the prompt was measured."""

    def set_activity(self, activity: str) -> None:
        """What runs now; empty for the model."""
        self._activity, self._waiting = sanitize_name(activity), ""

    def set_context(self, used: int, limit: int, speaker: str) -> None:
        """The tokens of the prompt that is sent now, of so many that can be, to the agent and the model of this name."""
        name = sanitize_name(speaker)
        self._speaker = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}…{name[-MAX_NAME // 2 :]}"
        self._used, self._limit, self._counted = used, limit, self._tokens

    def add_result(self, tokens: int) -> None:
        """A tool result comes to the prompt."""
        self._used += tokens

    def set_waiting(self, seconds: float, reason: str) -> None:
        """The model is called again in so many seconds."""
        self._waiting = sanitize_name(f"again in {max(1, round(seconds))} s, {STOP_HINT}: {reason}")

    def count(self, text: str) -> None:
        """More of the reasoning or of the answer arrived."""
        self._waiting = ""
        self._tokens += len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def line(self, now: float, columns: int) -> str:
        """At most so many columns; the parts at the end are left out first, and the model's name before the bar."""
        line = _SPINNER[int(now / FRAME_TIME) % len(_SPINNER)]
        separator = " "
        parts = self._parts(now)
        if self._limit and not self._activity and not self._waiting and cell_len(" · ".join((line, *parts[:4]))) > columns:
            parts = parts[1:]
        for part in filter(None, parts):
            if separator != " " and cell_len(line + separator + part) > columns:
                break
            line, separator = line + separator + part, " · "
        return chop_cells(line, max(1, columns))[0]

    def _parts(self, now: float) -> tuple[str, ...]:
        seconds = f"{now - self.began_at:.0f} s"
        if self._waiting:
            return self._waiting, seconds
        tokens = f"~{self._tokens:.0f} tokens" if self._tokens else ""
        return self._activity or self._speaker, seconds, STOP_HINT, self._context, tokens

    @property
    def _context(self) -> str:
        if not self._limit:
            return ""
        bar = BudgetBar(round(self._used + self._tokens - self._counted), self._limit, BAR_CELLS)
        return f"{bar.bar} {bar.figures}"
