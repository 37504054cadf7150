"""The toolbar under the prompt: background work, model, vault, the budget bar with the line being typed, and documents.

It is drawn from values that are measured when something changes, never while drawing. It always has one line: what matters least is left
out first, whole parts at a time, by a table.
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
MAX_COUNTED = 20_000
"""Characters up to which the line is counted at each key, in under 2 ms; a longer line is estimated."""


@dataclass(frozen=True, slots=True)
class _ToolbarLayout:
    """Columns of each part; 0 leaves it out."""

    model: int
    vault: int
    cells: int
    line: str
    references: bool = False
    threshold: bool = False
    state: int = 32


_LAYOUTS = (
    _ToolbarLayout(32, 24, 14, "this line ", references=True, threshold=True),
    _ToolbarLayout(32, 24, 14, "this line ", references=True),
    _ToolbarLayout(20, 14, 14, "this line ", references=True),
    _ToolbarLayout(20, 14, 14, "this line "),
    _ToolbarLayout(20, 0, 14, "this line "),
    _ToolbarLayout(12, 0, 7, "this line "),
    _ToolbarLayout(0, 0, 7, "this line "),
    _ToolbarLayout(0, 0, 7, "line "),
    _ToolbarLayout(0, 0, 4, "", state=20),
    _ToolbarLayout(0, 0, 4, "", state=0),
)
"""From wide to narrow; the first that fits is used."""


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
        fragments: Fragments = []
        for layout in _LAYOUTS:
            fragments = self._draw(layout)
            if sum(get_cwidth(text) for _, text in fragments) <= width:
                return fragments
        return clip(fragments, width)

    def _draw(self, layout: _ToolbarLayout) -> Fragments:
        parts: list[Fragments] = []
        if self.state and layout.state:
            parts.append([("", shorten_middle(self.state, layout.state))])
        if self.model and (layout.model or not self.show_tokens):
            parts.append([("", shorten_middle(self.model, layout.model or 12))])
        if self.vault and layout.vault:
            parts.append([("", shorten_middle(self.vault, layout.vault))])
        if self.show_tokens and (self.limit or self.usage is not None):
            parts.append(self._bar(layout.cells))
            if layout.line:
                parts.append([("", f"{layout.line}{'~' if self.typed_estimated else ''}{self.typed}")])
            if layout.references and self.references:
                parts.append([("", f"{self.references} document{'s' if self.references > 1 else ''}")])
            if self.usage is not None and self.usage.compaction.due and layout.line:
                parts.append([("", "compaction is due")])
            elif layout.threshold:
                parts.append([("", f"compacts at {self.threshold:.0%}")])
        joined: Fragments = []
        for part in parts:
            joined += [("", " │ " if joined else " "), *part]
        return joined

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
    if get_cwidth(name) <= width:
        return name
    head, tail = "", ""
    while len(head) + len(tail) < len(name) and get_cwidth(f"{head}…{tail}") < width:
        if len(head) <= len(tail):
            head += name[len(head)]
        else:
            tail = name[-len(tail) - 1] + tail
    while (head or tail) and get_cwidth(f"{head}…{tail}") > width:  # the last character may have been a wide one
        head, tail = (head, tail[1:]) if tail else (head[:-1], "")
    return f"{head}…{tail}"


def clip(fragments: Fragments, width: int) -> Fragments:
    """The first `width` columns."""
    clipped: Fragments = []
    for style, text in fragments:
        fitting = text
        while get_cwidth(fitting) > width:
            fitting = fitting[:-1]
        clipped.append((style, fitting))
        width -= get_cwidth(fitting)
        if fitting != text:
            break
    return clipped
