"""A change of a text as a unified diff, as `git diff` shows it."""

import difflib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

CONTEXT = 3
"""Unchanged lines shown before and after a change."""
LONG = 400
"""Lines from which on difflib ignores frequent lines: comparing each with each would take quadratic time."""


class _LineMatcher(difflib.SequenceMatcher[str]):
    a: Sequence[str]
    b: Sequence[str]

    def get_opcodes(self) -> list[Any]:
        """Texts of equal length are compared line by line: the usual edit is of links on some of the lines."""
        if len(self.a) != len(self.b):
            return list(super().get_opcodes())
        runs = groupby(range(len(self.a)), lambda i: self.a[i] == self.b[i])
        spans = [("equal" if equal else "replace", [*lines]) for equal, lines in runs]
        return [(tag, lines[0], lines[-1] + 1, lines[0], lines[-1] + 1) for tag, lines in spans]


def unified_diff(old: str, new: str, old_path: str | None, new_path: str | None) -> str:
    """The diff; a path of None means that there is no such file. Of equal texts only the header remains."""
    return "\n".join(_diff_lines(_lines(old), _lines(new), old_path, new_path)) + "\n"


def _diff_lines(before: Sequence[str], after: Sequence[str], old_path: str | None, new_path: str | None) -> Iterator[str]:
    yield f"--- {'/dev/null' if old_path is None else 'a/' + old_path}"
    yield f"+++ {'/dev/null' if new_path is None else 'b/' + new_path}"
    shorter = min(len(before), len(after))
    prefix = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    suffix = next((i for i in range(shorter - prefix) if before[-1 - i] != after[-1 - i]), shorter - prefix)
    skipped, cut = max(0, prefix - CONTEXT), max(0, suffix - CONTEXT)
    old, new = before[skipped : len(before) - cut], after[skipped : len(after) - cut]
    for hunk in _LineMatcher(None, old, new, autojunk=max(len(old), len(new)) > LONG).get_grouped_opcodes(CONTEXT):
        (_, a, _, c, _), (_, _, b, _, d) = hunk[0], hunk[-1]
        yield f"@@ -{_line_range(skipped + a, skipped + b)} +{_line_range(skipped + c, skipped + d)} @@"
        for tag, a, b, c, d in hunk:
            yield from (f"{' ' if tag == 'equal' else '-'}{line}" for line in old[a:b])
            yield from (f"+{line}" for line in new[c:d] if tag != "equal")


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, last + "\n\\ No newline at end of file"] if last else lines


def _line_range(begin: int, end: int) -> str:
    return str(begin + 1) if end - begin == 1 else f"{begin + 1 if end > begin else begin},{end - begin}"
