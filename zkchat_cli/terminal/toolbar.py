"""The line under the prompt: what is going on, model, vault, budget bar with the line being typed, documents so far.

Drawn from values computed elsewhere, never computed in drawing. It has one line whatever the width: what matters least goes first, by a
table, so that a part is whole or not there.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prompt_toolkit.utils import get_cwidth

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.budget_bar import BudgetBar, short_count

if TYPE_CHECKING:
    from zkchat_cli.models import ContextUsage

Fragments = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Columns of each part; 0 leaves it out."""

    model: int
    vault: int
    cells: int
    line: str
    references: bool = False
    threshold: bool = False
    state: int = 32


_LAYOUTS = (
    _Layout(32, 24, 14, "this line ", references=True, threshold=True),
    _Layout(32, 24, 14, "this line ", references=True),
    _Layout(20, 14, 14, "this line ", references=True),
    _Layout(20, 14, 14, "this line "),
    _Layout(20, 0, 14, "this line "),
    _Layout(12, 0, 7, "this line "),
    _Layout(0, 0, 7, "this line "),
    _Layout(0, 0, 7, "line "),
    _Layout(0, 0, 4, "", state=20),
    _Layout(0, 0, 4, "", state=0),
)
"""From wide to narrow; the first that fits is taken."""


@dataclass(frozen=True, slots=True)
class Toolbar:
    """What the bar says. `usage` is None until the first prompt has been measured; `limit` is the most that is ever sent, 0 if not known.

    `typed` are the tokens of the line being typed, `typed_estimated` when they were not counted; the bar counts them in. `references` are
    the documents of the conversation so far. `state` is what goes on in the background (`indexing 120/4000`), if anything. Without
    `show_tokens` there are no figures, only names. What is empty is left out.
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
        """Styled pieces that together take at most `width` columns."""
        drawn: Fragments = []
        for layout in _LAYOUTS:
            drawn = self._draw(layout)
            if sum(get_cwidth(text) for _, text in drawn) <= width:
                return drawn
        return clipped(drawn, width)

    def _draw(self, layout: _Layout) -> Fragments:
        parts: list[Fragments] = []
        if self.state and layout.state:
            parts.append([("", shortened(self.state, layout.state))])
        if self.model and (layout.model or not self.show_tokens):
            parts.append([("", shortened(self.model, layout.model or 12))])
        if self.vault and layout.vault:
            parts.append([("", shortened(self.vault, layout.vault))])
        if self.show_tokens and (self.limit or self.usage is not None):
            parts.append(self._bar(layout.cells))
            if layout.line:
                parts.append([("", f"{layout.line}{'~' if self.typed_estimated else ''}{self.typed}")])
            if layout.references and self.references:
                parts.append([("", f"{self.references} document{'s' if self.references > 1 else ''}")])
            if self.usage is not None and self.usage.compaction.due and layout.line:
                parts.append([("", "compaction is due")])
            elif layout.threshold:
                parts.append([("", f"compaction at {self.threshold:.0%}")])
        joined: Fragments = []
        for part in parts:
            joined += [("", " │ " if joined else " "), *part]
        return joined

    def _bar(self, cells: int) -> Fragments:
        if self.usage is None:
            empty = BudgetBar(0, self.limit, cells)
            return [("", f"{empty.bar.text}  … / {short_count(self.limit)}")]
        estimated = self.usage.estimated or (self.typed > 0 and self.typed_estimated)
        bar = BudgetBar(self.usage.total_tokens + self.typed, self.usage.effective_limit, cells, estimated)
        return [(f"ansi{bar.color}", bar.bar.text), ("", f" {bar.percent}  {bar.figures}")]


def shortened(name: str, width: int) -> str:
    """A name in at most `width` columns; its middle is what can best be spared (`scripted/…plies.jsonl`)."""
    name = sanitize_name(name)
    if get_cwidth(name) <= width:
        return name
    head, tail = "", ""
    while len(head) + len(tail) < len(name) and get_cwidth(f"{head}…{tail}") < width:
        if len(head) <= len(tail):
            head += name[len(head)]
        else:
            tail = name[-len(tail) - 1] + tail
    while (head or tail) and get_cwidth(f"{head}…{tail}") > width:  # the last one may have been a wide one
        head, tail = (head, tail[1:]) if tail else (head[:-1], "")
    return f"{head}…{tail}"


def clipped(fragments: Fragments, width: int) -> Fragments:
    """The first `width` columns."""
    kept: Fragments = []
    for style, text in fragments:
        fits = text
        while get_cwidth(fits) > width:
            fits = fits[:-1]
        kept.append((style, fits))
        width -= get_cwidth(fits)
        if fits != text:
            break
    return kept
