"""Characters that do not show. "un" and "safe" with one of them between are the word "unsafe", so
they are removed before words are looked for.

They are decided by their properties in the Unicode standard, not one by one: what is ignorable by
default, formats, controls, tags, annotates or varies the character before it.
"""

import unicodedata
from functools import lru_cache

from zkchat_cli.text.patterns import lazy_pattern

_ASCII_CONTROLS = lazy_pattern("[\x00-\x08\x0e-\x1f\x7f]")
# Other_Default_Ignorable_Code_Point and Variation_Selector of the standard, which have no category
# of their own
_IGNORABLE_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
# Prepended_Concatenation_Mark: format characters that show
_SHOWN_RANGES = (
    (0x0600, 0x0605),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
)
# Separators of files, groups, records and units: white space for Python only
_SEPARATOR_CONTROLS = "\x1c\x1d\x1e\x1f"
_SOFT_HYPHEN = "\u00ad"
_JOINERS = "\u200c\u200d"
_DIRECTION_MARKS = "\u200e\u200f\u061c"
_EMOJI_SELECTORS = "\ufe0e\ufe0f"
_BYTE_ORDER_MARK = "\ufeff"
# Scripts in which joiners, and scripts with which direction marks are ordinary
_JOINED_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "MALAYALAM", "KANNADA", "TELUGU", "SINHALA")
_RIGHT_TO_LEFT = ("R", "AL")


@lru_cache(maxsize=4096)
def is_hidden(character: str) -> bool:
    """Whether a character does not show and is no white space."""
    code = ord(character)
    if character in _SEPARATOR_CONTROLS:
        return True
    if unicodedata.category(character) in ("Cf", "Cc"):
        return not character.isspace() and not _is_in(code, _SHOWN_RANGES)
    return _is_in(code, _IGNORABLE_RANGES)


def _is_in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def without_hidden(text: str) -> str:
    """The text without characters that do not show."""
    if text.isascii():
        return _ASCII_CONTROLS.sub("", text)
    hidden = {ord(character): None for character in set(text) if is_hidden(character)}
    return text.translate(hidden) if hidden else text


def has_unusual_hidden(text: str) -> bool:
    """Whether a text has hidden characters that it does not need: soft hyphens, parts of emoji, and
    joiners and direction marks beside scripts that use them are usual.
    """
    if text.isascii():
        return bool(_ASCII_CONTROLS.search(text))
    if not any(map(is_hidden, set(text))):
        return False
    return any(
        is_hidden(character) and not _is_usual(text, at) for at, character in enumerate(text)
    )


def _is_usual(text: str, at: int) -> bool:
    character = text[at]
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if character == _SOFT_HYPHEN:
        return True
    if character == _BYTE_ORDER_MARK:
        return at == 0
    if character in _EMOJI_SELECTORS or character in _JOINERS:
        near = before + after
        return any(map(_is_symbol, near)) or any(map(_is_joined_script, near))
    if character in _DIRECTION_MARKS:
        return any(map(_is_right_to_left, text))
    return False


def _is_symbol(character: str) -> bool:
    """Whether it may be a part of an emoji."""
    return unicodedata.category(character) in ("So", "Sk", "Sm") or character in _EMOJI_SELECTORS


def _is_joined_script(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_JOINED_SCRIPTS)


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in _RIGHT_TO_LEFT
