"""Short forms of texts, timestamps and a tool call's arguments."""

import unicodedata
from collections.abc import Mapping
from typing import Any

# Joins the parts of an emoji
_JOINER = "\u200d"


def truncate(text: str, limit: int) -> str:
    """`text` on one line, cut to at most `limit` characters (1 or more) with an ellipsis, at a word
    boundary or beside a CJK character. A longer word is cut inside, but never a letter and its
    accents or an emoji.
    """
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    return flat[: _place_to_cut(flat, limit - 1)].rstrip(" ,;:，、；：（「『《【〈“([{") + "…"


def _place_to_cut(text: str, latest: int) -> int:
    """The last border of a word up to a position, else the last border of a character."""
    for at in range(latest, 0, -1):
        if _is_word_border(text, at):
            return at
    for at in range(latest, 0, -1):
        if not _combines(text, at):
            return at
    return 0


def _is_word_border(text: str, at: int) -> bool:
    if text[at] == " ":
        return True
    widths = map(unicodedata.east_asian_width, text[at - 1 : at + 1])
    return not {"W", "F"}.isdisjoint(widths) and not _combines(text, at)


def truncate_around(line: str, at: int, width: int) -> str:
    """The words of a line around a position in about `width` characters, with ellipses where it is
    cut.
    """
    if len(line) <= width:
        return line
    start = max(0, at - width // 3)
    if start == 0:
        return truncate(line, width)
    first_space = line.find(" ", start, at)
    if first_space >= 0:
        start = first_space + 1
    return f"…{truncate(line[start:], width)}"


def truncate_to_minute(timestamp: str) -> str:
    """`2025-05-08 12:00`, in the timestamp's own zone."""
    return timestamp[:16].replace("T", " ")


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """A tool call's arguments: texts in quotation marks, others as name=value."""
    shown: list[str] = []
    for name, value in arguments.items():
        shown.append(f'"{value}"' if isinstance(value, str) else f"{name}={value}")
    return " ".join(shown)


def _combines(text: str, at: int) -> bool:
    """Whether the character at `at` combines with the one before it: accents, variation selectors,
    parts of emoji.
    """
    here = text[at]
    is_skin_tone = "\U0001f3fb" <= here <= "\U0001f3ff"
    if is_skin_tone or _JOINER in (here, text[at - 1]):
        return True
    return unicodedata.category(here).startswith("M")
