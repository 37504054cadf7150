"""The problems of an index, several of a kind in one line: a vault with many broken files must not fill the screen."""

from collections.abc import Iterable

_PROBLEM_KINDS = (
    ("not followed: ", "{} links that leave the vault were not followed"),
    ("front matter ", "{} notes with unreadable front matter"),
    ("not UTF-8", "{} notes that are not UTF-8"),
    ("contains NUL", "{} notes with NUL characters"),
    ("not ", "{} files were not indexed"),
)
"""How a problem begins, after its path, and what several of them are called."""


def summarize_problems(problems: Iterable[str]) -> list[str]:
    """One line for each problem, or for each kind with several: their number and the command that lists them."""
    kinds: dict[str, list[str]] = {}
    for problem in problems:
        kind = next((title for beginning, title in _PROBLEM_KINDS if f": {beginning}" in problem), problem)
        kinds.setdefault(kind, []).append(problem)
    return [each[0] if len(each) == 1 else f"{kind.format(len(each))}: zkchat vault status" for kind, each in kinds.items()]
