"""The line at the bottom while a turn runs: what runs, for how long, how to stop it, the budget bar, who answers, and how much arrived."""

from rich.cells import cell_len, chop_cells

from zkchat_cli import events
from zkchat_cli.text.arguments import format_arguments
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.token_usage import BudgetBar

BYTES_PER_TOKEN = 4
"""A rough figure for prose: single deltas cannot be counted exactly, and the end of the turn has the exact figures."""
FRAME_TIME = 0.12
BAR_CELLS = 7
MAX_ARGUMENTS = 44
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StatusLine:
    """Collects what happens in a turn that began at `began_at`, in seconds of the caller's clock."""

    def __init__(self, began_at: float) -> None:
        self._began_at = began_at
        self._activity = self._speaker = ""
        self._tokens = 0.0
        self._used = self._limit = 0
        """Tokens of the prompt without those that arrived, and how many can be sent; no limit before the first prompt."""

    def update(self, event: events.Event) -> None:
        match event:
            case events.PromptBuilt(usage, speaker):
                self._speaker, self._limit = sanitize_name(speaker), usage.effective_limit
                self._used = usage.total_tokens - round(self._tokens)
            case events.TextDelta(text) | events.ReasoningDelta(text):
                self._activity = ""
                self._tokens += len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN
            case events.ToolCallStarted(call):
                self._activity = sanitize_name(f"{call.name} {truncate(format_arguments(call.arguments), MAX_ARGUMENTS)}".rstrip())
            case events.ToolCallFinished(_, run, _):
                self._activity = ""
                self._used += run.tokens
            case events.CompactionStarted(why):
                self._activity = sanitize_name(f"compacting: {why}")
            case events.CompactionDone():
                self._activity = ""
            case events.Waiting(seconds, reason):
                self._activity = sanitize_name(f"again in {max(1, round(seconds))} s: {reason}")

    def line(self, now: float, columns: int) -> str:
        bar = BudgetBar(self._used + round(self._tokens), self._limit, BAR_CELLS)
        parts = (
            self._activity,
            f"{now - self._began_at:.0f} s",
            "Ctrl-C stops",
            f"{bar.bar} {bar.figures}" if self._limit else "",
            self._speaker,
            f"~{self._tokens:.0f} tokens" if self._tokens else "",
        )
        first, *rest = filter(None, parts)
        line = f"{_SPINNER[int(now / FRAME_TIME) % len(_SPINNER)]} {first}"
        for part in rest:
            if cell_len(f"{line} · {part}") > columns:
                break
            line += f" · {part}"
        return chop_cells(line, max(1, columns))[0]
