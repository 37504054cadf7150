"""A unified diff on the screen in the colours of `git diff`, with invisible characters made visible.

rich's diff lexer takes a line of a note that begins with `---` for a file header; here the counts of the hunk decide.
"""

import re
from collections.abc import Iterator

from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import reveal_invisible

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def show_diff(diff: str, screen: Screen) -> None:
    for line, style in _styled_lines(diff):
        screen.print(reveal_invisible(line), *([style] if style else []))


def _styled_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Each line with its style. Lines outside of hunks are headers; the text of a note can look like a header."""
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
