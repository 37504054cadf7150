"""The toolbar under the prompt: background work, model, vault, and the budget bar with the line being typed.

It is drawn from values that are measured when something changes. It always has one line: what matters least is left out first.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from prompt_toolkit.utils import get_cwidth

from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.text import YELLOW_FROM, BudgetBar, short_count

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models import ContextUsage

Fragments = list[tuple[str, str]]
MAX_NAME = 24  # columns of the names of model and vault, and of the background work
FIGURES_FROM = 100  # columns from which the bar has its figures
SHOWN_SHARE = 0.01  # share of the limit from which the tokens of the line being typed are shown


class Toolbar(NamedTuple):
    """`usage` is None until the first prompt has been measured. The bar includes the tokens of the line `typed` so far. `state` names the
    background work (`indexing 120/4000`). Without `show_tokens` there is no bar. Empty parts are left out."""

    model: str = ""
    vault: str = ""
    usage: "ContextUsage | None" = None
    typed: int = 0
    typed_estimated: bool = False
    state: str = ""
    show_tokens: bool = True

    def fragments(self, width: int) -> Fragments:
        # from left to right, each with its rank: the highest is left out first where there is no room
        parts: list[tuple[int, Fragments]] = []
        for rank, name in ((1, sanitize_name(self.state)), (3, sanitize_name(self.model)), (5, sanitize_name(self.vault))):
            half, shortened = MAX_NAME // 2, name
            while get_cwidth(shortened) > MAX_NAME:  # without its middle (`scripted/…plies.jsonl`)
                half -= 1
                shortened = f"{name[:half]}…{name[-half:]}"
            parts += [(rank, [("", shortened)])] if name else []
        if self.show_tokens and self.usage is not None:
            cells = 14 if width >= 80 else 7 if width >= 60 else 4
            limit, estimated = self.usage.effective_limit, self.typed > 0 and self.typed_estimated
            bar = BudgetBar(self.usage.total_tokens + self.typed, limit, cells, self.usage.estimated or estimated)
            parts.append((0, [(f"ansi{bar.color}", bar.bar), ("", f" {bar.percent}")]))
            if width >= FIGURES_FROM:
                parts.append((6, [("", bar.figures)]))
            if self.typed > SHOWN_SHARE * limit:
                parts.append((4, [("", f"next message: {'~' if estimated else ''}{short_count(self.typed)}")]))
            compaction = self.usage.compaction
            if compaction.due:  # the bar shows what is sent, which was made to fit
                parts.append((2, [("", f"compaction is due ({BudgetBar(compaction.tokens or 0, limit).percent})")]))
            elif bar.share >= YELLOW_FROM and compaction.at is not None:
                parts.append((7, [("", f"compacts at {BudgetBar(compaction.at, limit).percent}")]))
        while True:
            joined = [fragment for n, (_, part) in enumerate(parts) for fragment in (("", " │ " if n else " "), *part)]
            if len(parts) <= 1 or sum(get_cwidth(text) for _, text in joined) <= width:
                return joined
            parts.remove(max(parts))

    @property
    def warning(self) -> str:
        """For a screen reader, that the context is nearly full; empty if it is not."""
        if self.usage is None or (share := BudgetBar(self.usage.total_tokens, self.usage.effective_limit)).share < YELLOW_FROM:
            return ""
        return f"The context window is {share.percent} full{'; compaction is due' if self.usage.compaction.due else ''}."


def measure_line(session: "ZkChatSession", text: str) -> dict[str, Any]:
    """The toolbar's fields about the line being typed, with the documents that it names."""
    tokens, estimated = session.count_typed(text)
    return {"typed": tokens, "typed_estimated": estimated}


def measure_prompt(session: "ZkChatSession") -> dict[str, Any]:
    try:
        usage = session.last_usage
    except ZkchatError:
        usage = None
    return {"usage": usage, "model": session.runtime.speaker_label}
