"""What a conversation cost: a table of tokens by answer, and a chart of it, drawn so that the page needs nothing else to show it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zkchat_cli.exporters.html.elements import element, folded, text
from zkchat_cli.models import TokenUsage

_WIDTH, _HALF, _MARGIN, _LABEL = 720, 90, 70, 18
_WIDEST_BAR = 56.0
_MOST_LABELS = 20
_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Cost:
    """The tokens of one answer, which is `number` on the page, to a question in short."""

    number: int
    question: str
    usage: TokenUsage


def figures(costs: Sequence[Cost]) -> str:
    """A section with chart and table; nothing where no answer says what it cost."""
    if not costs:
        return ""
    title = element("h2", "Tokens", id="tokens")
    table = element("div", _table(costs), class_="wide")
    if len(costs) > _MOST_ROWS:
        table = folded(_total(costs), table, class_="costs")
    return element("section", title, _chart(costs), table, aria_labelledby="tokens")


def _total(costs: Sequence[Cost]) -> str:
    total = _sum(costs)
    about = "~" if total.estimated else ""
    return f"{len(costs)} answers: {about}{total.prompt_tokens:,} tokens of prompts, {about}{total.completion_tokens:,} of completions"


def _table(costs: Sequence[Cost]) -> str:
    names = ("Answer", "Question", "Prompt", "Completion", "Cached")
    head = element("tr", *(element("th", name, scope="col") for name in names))
    rows = [
        element(
            "tr",
            element("th", element("a", str(cost.number), href=f"#message-{cost.number}"), scope="row"),
            element("td", text(cost.question), dir="auto"),
            *_counts(cost.usage),
        )
        for cost in costs
    ]
    total = element("tr", element("th", "Total", scope="row"), element("td"), *_counts(_sum(costs)))
    note = "; ~ is an estimate" if any(cost.usage.estimated for cost in costs) else ""
    return element(
        "table",
        element("caption", f"Tokens of each answer{note}"),
        element("thead", head),
        element("tbody", *rows),
        element("tfoot", total),
    )


def _counts(usage: TokenUsage) -> list[str]:
    about = "~" if usage.estimated else ""
    cached = "" if usage.cached_tokens is None else f"{usage.cached_tokens:,}"
    shown = (f"{about}{usage.prompt_tokens:,}", f"{about}{usage.completion_tokens:,}", cached)
    return [element("td", count, class_="right") for count in shown]


def _sum(costs: Sequence[Cost]) -> TokenUsage:
    cached = [cost.usage.cached_tokens for cost in costs if cost.usage.cached_tokens is not None]
    return TokenUsage(
        prompt_tokens=sum(cost.usage.prompt_tokens for cost in costs),
        completion_tokens=sum(cost.usage.completion_tokens for cost in costs),
        estimated=any(cost.usage.estimated for cost in costs),
        cached_tokens=sum(cached) if cached else None,
    )


def _chart(costs: Sequence[Cost]) -> str:
    """Bars of the prompt above a line, of the completion below it: where they stand tells them apart. Each half has its own scale."""
    step = min(_WIDEST_BAR, (_WIDTH - _MARGIN) / len(costs))
    most = [max(1, *(count for count in counts)) for counts in _both(costs)]
    bars = [_bars(_MARGIN + n * step, step * 0.8, cost, most) for n, cost in enumerate(costs)]
    every = math.ceil(len(costs) / _MOST_LABELS)
    labels = [
        _label(_MARGIN + n * step + step * 0.4, 2 * _HALF + _LABEL, str(cost.number), "middle")
        for n, cost in enumerate(costs)
        if n % every == 0
    ]
    scales = [
        _label(_MARGIN - 8, 12, f"{most[0]:,}", "end"),
        _label(_MARGIN - 8, _HALF - 4, "prompt", "end"),
        _label(_MARGIN - 8, _HALF + 14, "answer", "end"),
        _label(_MARGIN - 8, 2 * _HALF, f"{most[1]:,}", "end"),
    ]
    axis = element("line", x1=_MARGIN, y1=_HALF, x2=_WIDTH, y2=_HALF, class_="axis")
    told = (
        element("title", "Tokens of each answer", id="chart-title"),
        element(
            "desc", f"Prompt tokens above the line, at most {most[0]:,}; completion tokens below it, at most {most[1]:,}.", id="chart-text"
        ),
    )
    return element(
        "svg", *told, axis, *bars, *labels, *scales,
        viewBox=f"0 0 {_WIDTH} {2 * _HALF + _LABEL + 4}", role="img", aria_labelledby="chart-title chart-text",
    )  # fmt: skip


def _both(costs: Sequence[Cost]) -> tuple[list[int], list[int]]:
    return [cost.usage.prompt_tokens for cost in costs], [cost.usage.completion_tokens for cost in costs]


def _bars(x: float, width: float, cost: Cost, most: Sequence[int]) -> str:
    heights = [
        _HALF * max(0, count) / top for count, top in zip((cost.usage.prompt_tokens, cost.usage.completion_tokens), most, strict=True)
    ]
    names = (f"Answer {cost.number}: {cost.usage.prompt_tokens:,} prompt tokens", f"{cost.usage.completion_tokens:,} completion tokens")
    tops = (_HALF - heights[0], _HALF)
    return "".join(
        element("rect", element("title", name), x=f"{x:.2f}", y=f"{top:.2f}", width=f"{width:.2f}", height=f"{height:.2f}", class_=kind)
        for name, top, height, kind in zip(names, tops, heights, ("prompt", "completion"), strict=True)
    )


def _label(x: float, y: float, words: str, side: str) -> str:
    return element("text", text(words), x=f"{x:.2f}", y=f"{y:.2f}", text_anchor=side)
