"""The toolbar below the input line: background work, model, budget bar, vault."""

from collections.abc import Sequence
from contextlib import suppress
from enum import IntEnum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from prompt_toolkit.utils import get_cwidth

from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import YELLOW_FROM, BudgetBar, compaction_words, short_count

# Imported only for types: the first toolbar is drawn without the session's modules
if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.prompts import ContextUsage

# Most characters of the names of model and vault, and of the background work
MAX_NAME = 24
# Fewest columns for a bar with figures
FIGURES_FROM = 80
# Smallest share of the limit for which the tokens of the line being typed are shown
SHOWN_SHARE = 0.01
# The class of the bar's styles, before its color
BUDGET_STYLE = "budget"
# Cells of the budget bar on narrow screens, and on wide ones
MIN_CELLS = 4
CELLS_FROM = ((80, 14), (60, 7))

Fragments = list[tuple[str, str]]
"""Pairs of style and text, in prompt_toolkit's form."""


class Rank(IntEnum):
    """The parts of the toolbar, most important first. If there is no room, the last of them are
    left out.
    """

    BAR = auto()
    STATE = auto()
    WAITING = auto()
    COMPACTION_DUE = auto()
    FIGURES = auto()
    MEANING = auto()
    MODEL = auto()
    NEXT_MESSAGE = auto()
    VAULT = auto()
    COMPACTS_AT = auto()


class ToolbarPart(NamedTuple):
    """A part of the toolbar, with its style."""

    rank: Rank
    fragments: Fragments


class Toolbar(NamedTuple):
    """What the toolbar shows.

    `usage` is None until the first prompt has been measured. The bar includes the tokens of the
    line that is being `typed`. `state` names the background work (`indexing 120/4000`), `meaning`
    how far search by meaning is (`meaning 12%`), `waiting` what a server does not
    have yet (`2 turns kept here`). Without `show_tokens` there is no bar. With
    `compacts`, a compaction that is due runs by itself. Empty parts are left out.
    """

    model: str = ""
    vault: str = ""
    usage: "ContextUsage | None" = None
    typed: int = 0
    typed_estimated: bool = False
    state: str = ""
    meaning: str = ""
    waiting: str = ""
    show_tokens: bool = True
    compacts: bool = True

    def fragments(self, width: int) -> Fragments:
        """The toolbar in `width` columns: as many of its parts as fit, from left to right."""
        parts = self._names()
        if self.show_tokens and self.usage is not None:
            parts += self._budget(self.usage, width)
        joined = _join(parts)
        while len(parts) > 1 and _columns(joined) > width:
            parts.remove(max(parts))
            joined = _join(parts)
        return joined

    def _names(self) -> list[ToolbarPart]:
        names = (
            (Rank.STATE, self.state),
            (Rank.WAITING, self.waiting),
            (Rank.MEANING, self.meaning),
            (Rank.MODEL, self.model),
            (Rank.VAULT, self.vault),
        )
        return [
            _plain_part(rank, truncate(sanitize_name(name), MAX_NAME))
            for rank, name in names
            if name
        ]

    def _budget(self, usage: "ContextUsage", width: int) -> list[ToolbarPart]:
        limit = usage.effective_limit
        is_estimated = self.typed > 0 and self.typed_estimated
        bar = BudgetBar(
            usage.total_tokens + self.typed,
            limit,
            _cells(width),
            estimated=usage.estimated or is_estimated,
        )
        style = f"class:{BUDGET_STYLE}.{bar.color}"
        parts = [ToolbarPart(Rank.BAR, [(style, bar.bar), ("", f" {bar.percent}")])]
        if width >= FIGURES_FROM:
            parts.append(_plain_part(Rank.FIGURES, bar.figures))
        if self.typed > SHOWN_SHARE * limit:
            mark = "~" if is_estimated else ""
            parts.append(
                _plain_part(Rank.NEXT_MESSAGE, f"next message: {mark}{short_count(self.typed)}")
            )
        return [*parts, *self._compaction(bar, usage.compaction.at)]

    def _compaction(self, bar: BudgetBar, at: int | None) -> list[ToolbarPart]:
        """When the conversation is compacted: with the next message, or `at` how many tokens."""
        words = compaction_words(bar.used, at, by_itself=self.compacts)
        if words:
            return [_plain_part(Rank.COMPACTION_DUE, words)]
        if at is None or bar.rounded_percent < YELLOW_FROM:
            return []
        share = BudgetBar(at, bar.limit).percent
        return [_plain_part(Rank.COMPACTS_AT, f"compacts at {share}")]


def _plain_part(rank: Rank, text: str) -> ToolbarPart:
    return ToolbarPart(rank, [("", text)])


def _cells(width: int) -> int:
    for columns, cells in CELLS_FROM:
        if width >= columns:
            return cells
    return MIN_CELLS


def _join(parts: Sequence[ToolbarPart]) -> Fragments:
    joined: Fragments = []
    for number, part in enumerate(parts):
        joined.append(("", " │ " if number else " "))
        joined += part.fragments
    return joined


def _columns(fragments: Fragments) -> int:
    return sum(get_cwidth(text) for _, text in fragments)


def measure_prompt(session: "ZkChatSession") -> dict[str, Any]:
    """Fields of a toolbar for the next prompt of the session.

    There is no usage if the vault cannot be read: a message will report the problem.
    """
    runtime = session.runtime
    usage = None
    with suppress(ZkchatError):
        usage = session.usage
    return {
        "usage": usage,
        "model": runtime.speaker_label,
        "compacts": runtime.compacts_when_due,
        "show_tokens": runtime.settings.context.show_token_count,
    }
