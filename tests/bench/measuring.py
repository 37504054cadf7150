"""Measuring: a thing and its floor in turns (A B A B …), so that whatever else the machine does
falls on both alike; and the table.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Goal:
    """`limit` for the median, the p95 or the ratio of the medians."""

    limit: float
    of: Literal["median", "p95", "ratio"]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured: values in `unit`, and those of its floor, which is named by what it
    does.
    """

    what: str
    values: Sequence[float]
    floor: Sequence[float] = ()
    floor_is: str = ""
    goal: Goal | None = None
    unit: str = "ms"

    @property
    def ratio(self) -> float | None:
        return median(self.values) / median(self.floor) if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        return {"median": median(self.values), "p95": p95(self.values), "ratio": self.ratio or 0.0}[
            self.goal.of
        ] <= self.goal.limit

    def as_document(self) -> dict[str, Any]:
        def figures(values: Sequence[float]) -> dict[str, float] | None:
            return {"median": median(values), "p95": p95(values)} if values else None

        goal = {"limit": self.goal.limit, "of": self.goal.of} if self.goal else None
        measured = {
            "what": self.what,
            "unit": self.unit,
            "goal": goal,
            "repetitions": len(self.values),
            **(figures(self.values) or {}),
        }
        return {
            **measured,
            "floor_is": self.floor_is or None,
            "floor": figures(self.floor),
            "ratio": self.ratio,
            "met": self.met,
        }

    def as_cells(self) -> tuple[str, ...]:
        unit = "× floor" if self.goal and self.goal.of == "ratio" else self.unit
        goal = f"{self.goal.of} ≤ {_short(self.goal.limit)} {unit}" if self.goal else ""
        ratio = f"{self.ratio:.2f}" if self.ratio is not None else ""
        verdict = {True: "ok", False: "over", None: ""}[self.met]
        return (
            self.what,
            goal,
            *(self._both(v) for v in (self.values, self.floor)),
            ratio,
            verdict,
            str(len(self.values)),
            self.floor_is,
        )

    def _both(self, values: Sequence[float]) -> str:
        return f"{_short(median(values))} / {_short(p95(values))} {self.unit}" if values else ""


def p95(values: Sequence[float]) -> float:
    """By nearest rank: a value that was measured, the largest one of fewer than twenty."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def timed(action: Callable[[T], object]) -> Callable[[T], float]:
    """`action` as a function that returns how many milliseconds it took."""

    def run(item: T) -> float:
        begin = time.perf_counter()
        action(item)
        return 1000 * (time.perf_counter() - begin)

    return run


def in_turns(
    measured: Callable[[T], float], floor: Callable[[T], float], items: Iterable[T]
) -> tuple[list[float], list[float]]:
    """The values of both for each item, alternating; the first item only warms up (byte code, file
    caches) and does not count.
    """
    pairs = [(measured(item), floor(item)) for item in items][1:]
    return [a for a, _ in pairs], [b for _, b in pairs]


def table(rows: Iterable[Row]) -> str:
    """Plain text, one line a row; figures are median / p95."""
    lines = [
        ("what", "goal", "measured", "floor", "ratio", "", "n", "floor is"),
        *(row.as_cells() for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _short(value: float) -> str:
    """Three digits, as many as mean something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
