"""The line under the prompt: model, vault, budget bar, tokens of the line being typed.

Drawn from values computed elsewhere, never computed in drawing.
"""

from dataclasses import dataclass

from zkchat_cli.context import figures
from zkchat_cli.models import ContextUsage
from zkchat_cli.terminal.safe import neutralise

CELLS = 14
_WIDE, _MEDIUM = 72, 48
"""Below these widths parts are left out rather than wrapped: a toolbar has one line."""

Fragments = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Toolbar:
    """What the bar says. `usage` is None until the first prompt has been measured."""

    model: str
    vault: str
    usage: ContextUsage | None = None
    typed: int = 0
    threshold: float = 0.8

    def fragments(self, width: int) -> Fragments:
        """Styled pieces that together take at most `width` columns."""
        name = neutralise(self.vault)
        parts: list[Fragments] = [[("", neutralise(self.model))], [("", name if len(name) <= 20 else name[:19] + "…")]]
        if self.usage is not None:
            parts.append(self._bar(self.usage, width))
        if width >= _WIDE:
            parts.append([("", f"this line {self.typed}")])
            due = self.usage is not None and self.usage.compaction.due
            parts.append([("", "compaction is due" if due else f"compaction at {self.threshold:.0%}")])
        if width < _MEDIUM:
            parts = parts[2:] or parts[:1]
        joined: Fragments = []
        for i, part in enumerate(parts):
            joined += [("", " │ ")] if i else [("", " ")]
            joined += part
        return _clipped(joined, width)

    def _bar(self, usage: ContextUsage, width: int) -> Fragments:
        share = usage.total_tokens / usage.effective_limit
        style = {"green": "ansigreen", "yellow": "ansiyellow", "red": "ansired"}[figures.state(usage)]
        mark = "~" if usage.estimated else ""
        text = f"{mark}{figures.thousands(usage.total_tokens)} / {figures.thousands(usage.effective_limit)}"
        cells = CELLS if width >= _WIDE else CELLS // 2
        return [(style, figures.bar(share, cells)), ("", f" {share:.0%}  {text}")]


def _clipped(fragments: Fragments, width: int) -> Fragments:
    kept: Fragments = []
    for style, text in fragments:
        if width <= 0:
            break
        kept.append((style, text[:width]))
        width -= len(text)
    return kept
