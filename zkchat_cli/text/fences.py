"""Puts text that is not ours into a prompt as data: nothing in it can end its fence, begin another
one, or add a line to a list. Everything that writes a prompt uses these functions.
"""

import re

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sanitize import sanitize_name

FENCES = (
    "agent-memory",
    "conversation",
    "conversation-summary",
    "draft",
    "earlier-summary",
    "kept-message",
    "note",
    "passages",
    "project-memory",
    "recalled-conversation",
    "sentences",
    "smart-memory",
    "user-memory",
)
"""The tags of all fences in prompts."""

# What may be written between `<` and a name and still look like a tag: `</`, `< /`, characters that
# do not show
_TAG = lazy_pattern(rf"<(?=[^\w<>]{{0,20}}(?:{'|'.join(FENCES)})(?!\w))", re.IGNORECASE)
_IN_ATTRIBUTE = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;"})


def fence(tag: str, text: str, **attributes: object) -> str:
    """Text as data between tags of FENCES, which neither the text nor an attribute can close."""
    if tag not in FENCES:
        raise ValueError(tag)
    opening = tag
    for key, value in attributes.items():
        if value is None or isinstance(value, int):
            opening += f" {key}={value}"
        else:
            written = sanitize_name(str(value)).translate(_IN_ATTRIBUTE)
            opening += f' {key}="{written}"'
    return f"<{opening}>\n{escape_tags(text)}\n</{tag}>"


def escape_tags(text: str) -> str:
    """Text without a tag of a fence: `<` becomes `‹` before the name of one."""
    return _TAG.sub("‹", text)


def escape_line(text: str) -> str:
    """A path, a heading or another name on one line, without a tag of a fence."""
    return escape_tags(sanitize_name(text))
