"""Short forms of texts, timestamps and a tool call's arguments."""

import unicodedata
from collections.abc import Mapping
from typing import Any


def truncate(text: str, limit: int) -> str:
    """`text` on one line, cut to at most `limit` characters (1 or more) with an ellipsis, at a word
    boundary or beside a CJK character. A longer word is cut inside, but never a letter and its
    accents or an emoji.
    """
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat

    def is_boundary(at: int) -> bool:
        beside_wide = any(
            unicodedata.east_asian_width(each) in "WF" for each in flat[at - 1 : at + 1]
        )
        return flat[at] == " " or (beside_wide and not _combines(flat, at))

    places = range(limit - 1, 0, -1)
    end = next(filter(is_boundary, places), 0) or next(
        (at for at in places if not _combines(flat, at)), 0
    )
    return flat[:end].rstrip(" ,;:，、；：（「『《【〈“([{") + "…"


def truncate_around(line: str, at: int, width: int) -> str:
    """The words of a line around a position in about `width` characters, with ellipses where it is
    cut.
    """
    if len(line) <= width:
        return line
    start = max(0, at - width // 3)
    start = line.find(" ", start, at) + 1 or start if start else 0
    return ("…" if start else "") + truncate(line[start:], width)


def truncate_to_minute(timestamp: str) -> str:
    """`2025-05-08 12:00`, in the timestamp's own zone."""
    return timestamp[:16].replace("T", " ")


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """A tool call's arguments: texts in quotation marks, others as name=value."""
    return " ".join(
        f'"{value}"' if isinstance(value, str) else f"{key}={value}"
        for key, value in arguments.items()
    )


def _combines(text: str, at: int) -> bool:
    """Whether the character at `at` combines with the one before it: accents, variation selectors,
    parts of emoji.
    """
    here = text[at]
    joiner = "\u200d"
    is_skin_tone = "\U0001f3fb" <= here <= "\U0001f3ff"
    return (
        is_skin_tone or joiner in (here, text[at - 1]) or unicodedata.category(here).startswith("M")
    )
