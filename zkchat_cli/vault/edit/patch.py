"""Puts the hunks of a diff into a text, wherever their lines are by now."""

from collections.abc import Callable, Sequence

from zkchat_cli.text.sequence_diff import find_edits
from zkchat_cli.text.unified_diff import DiffHunk


class HunkNotFound(Exception):
    """The lines that a hunk replaces are not in the text; `hunk` is that hunk."""

    def __init__(self, hunk: DiffHunk) -> None:
        super().__init__("the lines that it replaces are not there")
        self.hunk = hunk


# How the lines of a hunk are compared with those of the text: exactly, without blanks at the end,
# and without any blanks around them, which models often get wrong
_COMPARISONS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)


def apply_hunks(text: str, hunks: Sequence[DiffHunk]) -> str:
    """The text with the new lines of each hunk in place of its old ones. Raises HunkNotFound."""
    lines = text.split("\n")
    after = 0
    for hunk in hunks:
        start = _find(lines, hunk, after)
        replaced = lines[start : start + len(hunk.old)]
        new = _new_lines(replaced, hunk)
        lines[start : start + len(hunk.old)] = new
        after = start + len(new)
    return "\n".join(lines)


def _find(lines: Sequence[str], hunk: DiffHunk, after: int) -> int:
    """The index of the first line that a hunk replaces: the place nearest to where the hunk says it
    is, else the first one after the hunk before it.
    """
    if not hunk.old:
        end = len(lines) - (1 if lines[-1:] == [""] else 0)
        return min(hunk.line, end) if hunk.line else end
    wanted = hunk.line - 1 if hunk.line else after
    for normalize in _COMPARISONS:
        old = [normalize(line) for line in hunk.old]
        found = [
            start
            for start in range(len(lines) - len(old) + 1)
            if normalize(lines[start]) == old[0]
            and [normalize(line) for line in lines[start : start + len(old)]] == old
        ]
        if found:
            return min(found, key=lambda start: (start < after, abs(start - wanted)))
    raise HunkNotFound(hunk)


def _new_lines(replaced: Sequence[str], hunk: DiffHunk) -> list[str]:
    """The new lines of a hunk; those that stay are as the text has them."""
    lines: list[str] = []
    at = 0
    for edit in find_edits(hunk.old, hunk.new):
        lines += replaced[at : edit.old.start]
        lines += hunk.new[edit.new.start : edit.new.stop]
        at = edit.old.stop
    return [*lines, *replaced[at:]]
