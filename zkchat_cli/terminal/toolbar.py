"""The toolbar under the prompt: background work, model, vault, the budget bar with the line being typed, and documents.

It is drawn from values that are measured when something changes, never while drawing. It always has one line: what matters least is left
out first, whole parts at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prompt_toolkit.utils import get_cwidth

from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.budget_bar import BudgetBar, short_count

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models import ContextUsage

Fragments = list[tuple[str, str]]
MAX_NAME = 24
"""Columns of the names of model and vault, and of the background work."""
MAX_COUNTED = 20_000
"""Characters up to which the line is counted at each key, in under 2 ms; a longer line is estimated."""


@dataclass(frozen=True, slots=True)
class Toolbar:
    """`usage` is None until the first prompt has been measured; `limit` is the most that can be sent, 0 if unknown.

    `typed` are the tokens of the line being typed, which the bar includes. `references` counts the documents of the conversation. `state`
    names the background work (`indexing 120/4000`). Without `show_tokens` there are no figures. Empty parts are left out.
    """

    model: str = ""
    vault: str = ""
    limit: int = 0
    usage: "ContextUsage | None" = None
    typed: int = 0
    typed_estimated: bool = False
    references: int = 0
    state: str = ""
    threshold: float = 0.8
    show_tokens: bool = True

    def fragments(self, width: int) -> Fragments:
        """Styled text of at most `width` columns."""
        parts = self._parts(14 if width >= 80 else 7 if width >= 60 else 4)
        joined = _join(parts)
        while len(parts) > 1 and _columns(joined) > width:
            del parts[max(parts)]
            joined = _join(parts)
        while joined and _columns(joined) > width:
            joined[-1] = (joined[-1][0], joined[-1][1][:-1])
            joined = joined if joined[-1][1] else joined[:-1]
        return joined

    def _parts(self, cells: int) -> dict[int, Fragments]:
        """The parts from left to right, by rank: the highest is left out first where there is no room."""
        parts: dict[int, Fragments] = {}
        if self.state:
            parts[1] = [("", shorten_middle(self.state, MAX_NAME))]
        if self.model:
            parts[3] = [("", shorten_middle(self.model, MAX_NAME))]
        if self.vault:
            parts[5] = [("", shorten_middle(self.vault, MAX_NAME))]
        if not self.show_tokens or not (self.limit or self.usage is not None):
            return parts
        parts[0] = self._bar(cells)
        parts[4] = [("", f"this line {'~' if self.typed_estimated else ''}{self.typed}")]
        if self.references:
            parts[6] = [("", f"{self.references} document{'s' if self.references > 1 else ''}")]
        if self.usage is not None and self.usage.compaction.due:
            parts[2] = [("", "compaction is due")]
        else:
            parts[7] = [("", f"compacts at {self.threshold:.0%}")]
        return parts

    def _bar(self, cells: int) -> Fragments:
        if self.usage is None:
            return [("", f"{BudgetBar(0, self.limit, cells).bar}  … / {short_count(self.limit)}")]
        estimated = self.usage.estimated or (self.typed > 0 and self.typed_estimated)
        bar = BudgetBar(self.usage.total_tokens + self.typed, self.usage.effective_limit, cells, estimated)
        return [(f"ansi{bar.color}", bar.bar), ("", f" {bar.percent}  {bar.figures}")]


class ToolbarMetrics:
    """Measures the current session for the toolbar; does nothing while there is none. `update` takes the toolbar's fields."""

    def __init__(self, update: Callable[..., Any], session: "Callable[[], ZkChatSession | None]") -> None:
        self._update = update
        self._session = session

    def measure_line(self, text: str) -> None:
        session = self._session()
        if session is None:
            return
        counter = session.runtime.counter
        if counter.ready and len(text) <= MAX_COUNTED:
            tokens, estimated = counter.count(text), counter.estimated
        else:
            from zkchat_cli.tokens.counter import estimate_tokens  # the session has loaded it

            tokens, estimated = estimate_tokens(text), True
        self._update(typed=tokens, typed_estimated=bool(text) and estimated)

    def measure_prompt(self) -> None:
        """Measure the next prompt: in a background thread, or between two prompts."""
        session = self._session()
        if session is None:
            return
        documents = {reference.relative_path for message in session.history for reference in message.references} - {None}
        fields = {"model": session.runtime.speaker_label, "limit": session.runtime.budget.effective_limit, "references": len(documents)}
        try:
            self._update(usage=session.usage, **fields)
        except ZkchatError:
            self._update(usage=None, **fields)


def shorten_middle(name: str, width: int) -> str:
    """A name in at most `width` columns, without its middle (`scripted/…plies.jsonl`)."""
    name = sanitize_name(name)
    half = (width - 1) // 2
    shortened = name
    while get_cwidth(shortened) > width and half > 0:
        shortened = f"{name[:half]}…{name[-half:]}"
        half -= 1
    return shortened


def _join(parts: dict[int, Fragments]) -> Fragments:
    joined: Fragments = []
    for part in parts.values():
        joined += [("", " │ " if joined else " "), *part]
    return joined


def _columns(fragments: Fragments) -> int:
    return sum(get_cwidth(text) for _, text in fragments)
