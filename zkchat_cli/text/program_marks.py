"""Lines and marks in notes that only a program reads: what Logseq and Org write into their blocks.

They are left out of what is searched, sent and quoted: "collapsed:: true" answers no question.
"""

import re

from zkchat_cli.text.embedded_data import HIDDEN
from zkchat_cli.text.patterns import lazy_pattern

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LINE = lazy_pattern(
    r"^(?P<indent>[ \t]*(?:[-*+][ \t]+)?)(?:"
    rf"id::[ \t]*{UUID}|(?:collapsed|heading)::[ \t]*(?:true|false|[1-6])"
    r"|(?:background-color|logseq\.[\w.-]+|ls-type|hl-[\w-]+|query-[\w-]+|card-[\w-]+)::[^\n]*"
    r"|:(?:LOGBOOK|PROPERTIES|END):|CLOCK:[ \t]*\[[^\n]*|#\+(?:BEGIN|END)_\w+[^\n]*"
    r")[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_MACRO = lazy_pattern(
    r"\{\{(?:query|embed|renderer|video|youtube|vimeo|tweet|pdf|cards|function|namespace)\b"
    r"[^{}\n]*\}\}",
    re.IGNORECASE,
)
BLOCK_REFERENCE = lazy_pattern(rf"\(\((?P<id>{UUID})\)\)", re.IGNORECASE)
# A text without any of these has no such marks, and most have none
_SIGNS = ("::", "((", "{{", ":END:", "#+")


def hide_program_marks(text: str) -> str:
    """The text with empty lines instead of those that only a program reads, and `…` instead of its
    macros and references to blocks.
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    text = _LINE.sub("", text)
    text = _MACRO.sub(HIDDEN, text)
    return BLOCK_REFERENCE.sub(HIDDEN, text)
