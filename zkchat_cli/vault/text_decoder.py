"""The text of a file's bytes: UTF-8, and what older editors on Windows write.

Only two other encodings can be told with certainty: UTF-16 and UTF-32 by their byte order mark, and
Windows-1252 by letters that are no UTF-8 among many that are ASCII.
"""

import codecs
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import normalize_line_ends

# The longer mark first: that of UTF-32 begins with that of UTF-16
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
# In languages that Windows-1252 was made for, at most so many of the letters are no ASCII
MOST_ACCENTED = 0.35
# A text of one word may have more: "été"
ACCENTED_IN_A_WORD = 2
# Characters that Windows-1252 has for them, and texts in other encodings rather than it
_NO_TEXT = lazy_pattern("[\x80-\x9f¤¦¨¬¯²³¸¹¼½¾×÷]")
MOST_SIGNS = 0.2


class DecodedText(NamedTuple):
    """A text, and what was wrong with its bytes; None if nothing was."""

    text: str
    problem: str | None


def decode(raw: bytes) -> DecodedText:
    """The text, with `\\n` line ends and without a byte order mark, and what is wrong with it."""
    text, problem = _decode(raw)
    problems = [problem] if problem else []
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
        problems.append("contains NUL characters, replaced")
    return DecodedText(normalize_line_ends(text), "; ".join(problems) or None)


def has_mark(raw: bytes) -> bool:
    """Whether a text begins with the byte order mark of an encoding other than UTF-8."""
    return any(raw.startswith(mark) for mark, _, _ in _MARKS)


def other_encoding(raw: bytes) -> str | None:
    """The name of the encoding of bytes that are not UTF-8; None for UTF-8, or if it is unknown."""
    for mark, _, name in _MARKS:
        if raw.startswith(mark):
            return name
    return "Windows-1252" if _decode_western(raw) is not None else None


def _decode(raw: bytes) -> DecodedText:
    for mark, encoding, name in _MARKS:
        if raw.startswith(mark):
            try:
                return DecodedText(raw.decode(encoding), f"{name} instead of UTF-8, decoded")
            except UnicodeDecodeError:
                text = raw.decode(encoding, "replace")
                return DecodedText(text, f"{name} with errors, read with replacement characters")
    try:
        return DecodedText(raw.decode("utf-8-sig"), None)
    except UnicodeDecodeError:
        western = _decode_western(raw)
    if western is not None:
        return DecodedText(western, "Windows-1252 instead of UTF-8, decoded")
    text = raw.decode("utf-8-sig", "replace")
    return DecodedText(text, "not UTF-8, read with replacement characters")


def _decode_western(raw: bytes) -> str | None:
    """The text if the bytes are Windows-1252; None if they are UTF-8, perhaps with errors, or
    another encoding.
    """
    # A character of UTF-8 is rare in another encoding, and one error is frequent in UTF-8
    if not raw.decode("utf-8", "ignore").isascii() or b"\0" in raw:
        return None
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        return None
    other = [character for character in text if not character.isascii()]
    letters = sum(map(str.isalpha, text))
    accented = sum(map(str.isalpha, other))
    if accented > max(ACCENTED_IN_A_WORD, MOST_ACCENTED * letters):
        return None
    signs = len(_NO_TEXT.findall("".join(other)))
    return None if signs > MOST_SIGNS * len(other) else text
