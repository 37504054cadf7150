"""What people see of a change of notes, or of a call of another program's tool, before they approve it."""

import json
import re

from zkchat_cli.models import ToolCall
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine, styled_line

MAX_ARGUMENTS = 400  # characters of a call's arguments that are shown
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def call_question(call: ToolCall) -> str:
    arguments = truncate(reveal_invisible(json.dumps(call.arguments, ensure_ascii=False)), MAX_ARGUMENTS)
    return f"Call {reveal_invisible(call.name)} with {arguments}?"


def diff_lines(diff: str) -> list[StyledLine]:
    """A unified diff in the colors of `git diff`, with invisible characters made visible.

    Lines outside of hunks are headers; the text of a note can look like a header, so hunks are counted.
    """
    shown, old, new = [], 0, 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        if old <= 0 and new <= 0 and not line.startswith("\\"):
            hunk = _HUNK.match(line)
            old, new = (int(count or 1) for count in hunk.groups()) if hunk else (0, 0)
            style = "cyan" if hunk else "bold"
        else:
            old -= line[:1] in (" ", "-")
            new -= line[:1] in (" ", "+")
            style = _STYLES.get(line[:1], "")
        shown.append(styled_line(reveal_invisible(line), style))
    return shown
