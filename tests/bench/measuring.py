"""Measuring: a thing and its floor in turns (A B A B …), so that whatever else the machine does falls on both alike; and the table."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Goal:
    """`limit` for the median, the p95 or the ratio of the medians."""

    limit: float
    of: Literal["median", "p95", "ratio"]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured: values in `unit`, and those of its floor, which is named by what it does."""

    what: str
    values: Sequence[float]
    floor: Sequence[float] = ()
    floor_is: str = ""
    goal: Goal | None = None
    unit: str = "ms"

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.values) / statistics.median(self.floor) if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        reached = {"median": statistics.median(self.values), "p95": p95(self.values), "ratio": self.ratio}[self.goal.of]
        return reached is not None and reached <= self.goal.limit

    def as_document(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "unit": self.unit,
            "goal": {"limit": self.goal.limit, "of": self.goal.of} if self.goal else None,
            "repetitions": len(self.values),
            "median": statistics.median(self.values),
            "p95": p95(self.values),
            "floor_is": self.floor_is or None,
            "floor_median": statistics.median(self.floor) if self.floor else None,
            "floor_p95": p95(self.floor) if self.floor else None,
            "ratio": self.ratio,
            "met": self.met,
        }


def p95(values: Sequence[float]) -> float:
    """By nearest rank: a value that was measured, the largest one of fewer than twenty."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def in_turns(measured: Callable[[], float], floor: Callable[[], float], times: int, *, warm: int = 1) -> tuple[list[float], list[float]]:
    """`times` values of each, alternating, after `warm` of each that do not count (byte code and file caches)."""
    pairs = [(measured(), floor()) for _ in range(warm + times)][warm:]
    return [a for a, _ in pairs], [b for _, b in pairs]


def table(rows: Iterable[Row]) -> str:
    """Plain text, one line a row; `median / p95` each."""
    head = ("what", "goal", "measured", "floor", "ratio", "", "n", "floor is")
    lines = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    verdict = {True: "ok", False: "over", None: ""}[row.met]
    ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
    floor = _both(row.floor, row.unit) if row.floor else ""
    return row.what, _goal(row), _both(row.values, row.unit), floor, ratio, verdict, str(len(row.values)), row.floor_is


def _goal(row: Row) -> str:
    match row.goal:
        case None:
            return ""
        case Goal(limit, "ratio"):
            return f"≤ {limit:g} × floor"
        case Goal(limit, of):
            return f"{of} ≤ {_short(limit)} {row.unit}"


def _both(values: Sequence[float], unit: str) -> str:
    return f"{_short(statistics.median(values))} / {_short(p95(values))} {unit}"


def _short(value: float) -> str:
    """Three digits that mean something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
