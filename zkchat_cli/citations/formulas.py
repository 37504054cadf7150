"""Brackets in formulas, which cite nothing."""

import re
from collections.abc import Sequence

from zkchat_cli.text.patterns import lazy_pattern

_INTERVAL_BEFORE = lazy_pattern(
    r"(?:\b(?:intervals?|ranges?|domain|intervalle?|bereich|intervalos?|intervallo|segment)"
    r"|区间|區間|範囲|отрез\w+|интервал\w*|[∈∉⊂≤≥<=×∪∩]"
    r"|(?<!\w)[a-z] (?:is |lies )?(?:in|from))\s*\Z",
    re.IGNORECASE,
)
"""What makes two numbers in brackets an interval."""
_INTERVAL_SEEN = 25
_LATEX_BORDER = lazy_pattern(r"\\[()\[\]]")
_DOLLAR = lazy_pattern(r"(?<![\\$])\$\$?")


def is_interval(numbers: Sequence[int], text: str, at: int) -> bool:
    """Whether numbers in brackets at a position are rather an interval than sources: `[0, 1]`, `x
    in [1, 3]`.
    """
    if len(numbers) != 2:
        return False
    before = text[max(0, at - _INTERVAL_SEEN) : at]
    return 0 in numbers or bool(_INTERVAL_BEFORE.search(before))


def is_math(text: str, at: int, reach: int) -> bool:
    """Whether a bracket is inside `$…$` on its line, or between LaTeX's
    brackets for formulas.
    """
    if _is_latex(text, at, reach):
        return True
    start = max(text.rfind("\n", 0, at) + 1, at - reach)
    dollars = [found.end() for found in _DOLLAR.finditer(text, start, at)]
    if len(dollars) % 2 == 0:
        return False
    formula = text[dollars[-1] : at + 1]
    is_amount = formula[0].isdigit() and "\\" not in formula
    if formula[0].isspace() or is_amount:
        return False
    closing = text.find("$", at, at + reach)
    line_end = text.find("\n", at, at + reach)
    return closing >= 0 and not 0 <= line_end < closing and not text[closing - 1].isspace()


def _is_latex(text: str, at: int, reach: int) -> bool:
    """Whether a formula of LaTeX has begun before a bracket and ends behind it."""
    borders = [found[0] for found in _LATEX_BORDER.finditer(text, max(0, at - reach), at)]
    if not borders or borders[-1] not in ("\\(", "\\["):
        return False
    closing = "\\)" if borders[-1] == "\\(" else "\\]"
    return text.find(closing, at, at + reach) >= 0
