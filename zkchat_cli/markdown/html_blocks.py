"""Where a block of HTML begins and ends, by the rules of CommonMark. Nothing in it is Markdown.

A comment is no block of HTML: what follows it in its line is text, as in Obsidian.
"""

import re
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern

_BLOCK_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details"
    " dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6"
    " head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option"
    " p param search section summary table tbody td tfoot th thead title tr track ul"
)
_ATTRIBUTE = (
    r"""\s++[a-zA-Z_:][a-zA-Z0-9:._-]*+(?:\s*+=\s*+(?:[^"'=<>`\x00-\x20]++|'[^']*+'|"[^"]*+"))?+"""
)
_RAW = lazy_pattern(r"<(?:script|pre|style|textarea)(?=\s|>|$)", re.IGNORECASE)
_BLOCK_TAG = lazy_pattern(rf"</?(?:{'|'.join(_BLOCK_NAMES.split())})(?=\s|/?>|$)", re.IGNORECASE)
_WHOLE_TAG = lazy_pattern(
    rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>|</[A-Za-z][A-Za-z0-9-]*+\s*+>)\s*+$"
)
_MARKED = (
    (_RAW, lazy_pattern(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (lazy_pattern(r"<\?"), lazy_pattern(r"\?>")),
    (lazy_pattern(r"<![A-Za-z]"), lazy_pattern(">")),
    (lazy_pattern(r"<!\[CDATA\["), lazy_pattern(r"\]\]>")),
)


class HtmlBlock(NamedTuple):
    """What ends a block of HTML: a pattern in its last line; None for the next blank line."""

    end: re.Pattern[str] | None = None


def html_block_end(text: str, at: int, *, in_paragraph: bool) -> HtmlBlock | None:
    """What ends the block of HTML that begins at a position; None if none does."""
    if not text.startswith("<", at):
        return None
    for begin, end in _MARKED:
        if begin.match(text, at):
            return HtmlBlock(end)
    if _BLOCK_TAG.match(text, at) or (not in_paragraph and _WHOLE_TAG.match(text, at)):
        return HtmlBlock()
    return None
