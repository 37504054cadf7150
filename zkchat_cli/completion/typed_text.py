"""What is being typed before the cursor, and what could take its place.

Front ends ask this for every key, before the session is open.
"""

import re
from typing import NamedTuple

# Characters before the cursor in which the beginning of a link, a tag or a path is searched for
LONGEST = 1000
_TYPED = re.compile(
    r"""
    \A/(?P<command>[^\W\d_]*)\Z
    | \A/(?P<name>[^\W\d_]+)[ ](?P<argument>(?!\[\[|[\#@])[^ \n]*)\Z
    | \[\[(?P<link>(?:(?!\[\[|\]\])[^|\n])*)\Z
    | (?:^|\s)\#(?P<tag>[^\s\#\[\]]*)\Z
    | (?:^|[\s(\[{'“‘，。、：；（「])@(?P<path>"[^"\n]*|(?:\\.|[^\s"'<>|*?;,(){}\[\]`@])*)\Z
    """,
    re.VERBOSE,
)
"""A command; its argument, if that is one word so far; the inside of an open `[[link`; the text
after a `#` or `@` at the beginning of a word, a path with its quotation mark if it has one.
"""


class TypedText(NamedTuple):
    """Text that can be completed. `kind` is `command`, `argument`, `link`, `heading` (a link with a
    `#`), `tag` or `path`; `command` is the name of the command that an argument is for.
    """

    kind: str
    text: str
    command: str = ""


class Suggestion(NamedTuple):
    """A completion: `text` replaces the last `replaced` characters before the cursor.

    `label` is shown for it, with a `description`.
    """

    text: str
    replaced: int
    label: str = ""
    description: str = ""


def match_typed(before: str) -> TypedText | None:
    """What is being typed before the cursor; None if it cannot be completed."""
    if not before.startswith("/"):
        _, _, line = before.rpartition("\n")
        before = line[-LONGEST:]
    found = _TYPED.search(before)
    if found is None:
        return None
    kind = found.lastgroup or ""
    text = found[kind]
    if kind == "link" and "#" in text:
        kind = "heading"
    return TypedText(kind, text, found["name"] or "")
