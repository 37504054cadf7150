"""The state of an index in a few lines: its problems, and how far search by meaning is."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the first prompt is drawn without the models
    from zkchat_cli.models import SemanticStatus

MOST_PROBLEMS = 3


def summarize_problems(problems: Iterable[str]) -> list[str]:
    """The first problems, and how to list the others: a vault with many broken files must not fill the screen."""
    found = list(problems)
    others = len(found) - MOST_PROBLEMS
    return [*found[:MOST_PROBLEMS], f"{others} more problems: zkchat vault status"] if others > 1 else found


def describe_semantic_status(status: "SemanticStatus") -> str:
    """The model, and the share of its vectors that are stored, rounded down: 100% would be complete."""
    name = f"{status.provider}/{status.model}"
    if status.complete:
        return f"{name}, complete"
    return f"{name}, {100 * status.embedded // max(status.windows, 1)}% done: zkchat vault index --semantic computes the rest"
