"""The budget bar of a running turn, as rich draws it.

Between two turns prompt_toolkit owns the screen and draws the same parts in the same colors
(`toolbar.py`).
"""

from rich.text import Text

from zkchat_cli.views.text import BudgetBar


def budget_text(bar: BudgetBar, *, figures: bool = True) -> Text:
    """`███░░░░ 41% 12.1k / 29.5k`, the cells in the color of the bar. Without `figures` there is no
    `12.1k / 29.5k`.
    """
    text = Text.assemble((bar.bar, bar.color), (f" {bar.percent}", "dim"))
    if figures:
        text.append(f" {bar.figures}", "dim")
    return text
