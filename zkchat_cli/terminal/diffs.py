"""A unified diff on the screen, with the colours that `git diff` gives it, and with nothing in it that could not be seen."""

import re
from collections.abc import Iterator

from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import revealed

LONGEST_LINE = 2000
"""Characters of a line that are shown where not all lines are: a note may be one line of a megabyte."""
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def show_diff(diff: str, screen: Screen, most: int | None = None) -> None:
    """Its lines, `most` of them at most and no endless ones then; how much more there is is said."""
    shown = list(_styled(diff))
    for line, style in shown[:most]:
        more = len(line) - LONGEST_LINE if most is not None else 0
        line = f"{line[:LONGEST_LINE]} … and {more} more characters" if more > 0 else line
        screen.print(revealed(line), *([style] if style else []))
    if most is not None and len(shown) > most:
        screen.print(f"  … and {len(shown) - most} more lines", "dim")


def is_cut(diff: str, most: int) -> bool:
    """Whether `show_diff` shows less than all of it."""
    lines = diff.removesuffix("\n").split("\n")
    return len(lines) > most or any(len(line) > LONGEST_LINE for line in lines)


def _styled(diff: str) -> Iterator[tuple[str, str]]:
    """Each line with its style. Only `\\n` ends one, and a head is what stands outside of hunks: a note's text can look like either."""
    old = new = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        if old <= 0 and new <= 0 and not line.startswith("\\"):
            hunk = _HUNK.match(line)
            old, new = (int(count or 1) for count in hunk.groups()) if hunk else (0, 0)
            yield line, "cyan" if hunk else "bold"
            continue
        old -= line[:1] in (" ", "-")
        new -= line[:1] in (" ", "+")
        yield line, _STYLES.get(line[:1], "")
