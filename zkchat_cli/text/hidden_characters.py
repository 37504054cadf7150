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
_SPACE_WITHOUT_WIDTH = "\u200b"
_DIRECTION_MARKS = "\u200e\u200f\u061c"
_BYTE_ORDER_MARK = "\ufeff"
# Variation_Selector of the standard, by the characters that they vary
_SYMBOL_SELECTORS = (0xFE00, 0xFE0F)
_IDEOGRAPH_SELECTORS = (0xE0100, 0xE01EF)
_MONGOLIAN_SELECTORS = (0x180B, 0x180F)
_SELECTORS = (_SYMBOL_SELECTORS, _IDEOGRAPH_SELECTORS, _MONGOLIAN_SELECTORS)
_TAGS = ((0xE0020, 0xE007F),)
# The longest flag of a region: a black flag and six tags, such as England's
_TAGGED_FLAG = lazy_pattern("\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f")
_KEY = "\u20e3"
# Scripts in which joiners, and scripts with which direction marks are ordinary, and scripts without
# spaces, in which one without width may end a line
_JOINED_SCRIPTS = (
    *("ARABIC", "SYRIAC", "DEVANAGARI", "BENGALI", "GUJARATI", "GURMUKHI", "ORIYA", "TAMIL"),
    *("TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "KHMER", "MYANMAR", "TIBETAN", "MONGOLIAN"),
)
_UNSPACED_SCRIPTS = ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
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
    if text.startswith(_BYTE_ORDER_MARK):
        text = text[1:]
    return bool(find_unneeded(text.replace(_SOFT_HYPHEN, "")))


def find_unneeded(text: str) -> list[int]:
    """The places of the hidden characters that a text does not need: not of those in an emoji, nor
    of marks beside a script that uses them.
    """
    if text.isascii():
        return [found.start() for found in _ASCII_CONTROLS.finditer(text)]
    if not any(map(is_hidden, set(text))):
        return []
    return [
        at for at, character in enumerate(text) if is_hidden(character) and not _is_needed(text, at)
    ]


def without_unneeded(text: str) -> str:
    """The text without the hidden characters that it does not need."""
    places = set(find_unneeded(text))
    if not places:
        return text
    return "".join(character for at, character in enumerate(text) if at not in places)


def _is_needed(text: str, at: int) -> bool:
    code = ord(text[at])
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if _is_in(code, _SELECTORS):
        return bool(before) and _is_varied(before, code, after)
    if _is_in(code, _TAGS):
        return _is_in_flag(text, at)
    return _is_used_by_script(text[at], before, after) or (
        text[at] in _DIRECTION_MARKS and any(map(_is_right_to_left, text))
    )


def _is_used_by_script(mark: str, before: str, after: str) -> bool:
    """Whether a joiner or a space without width has a meaning between these characters."""
    if mark in _JOINERS:
        if before in _JOINERS:
            return False
        return _is_joined_script(before) or (_is_symbol(before) and _is_symbol(after))
    is_space = mark == _SPACE_WITHOUT_WIDTH
    return is_space and all(_is_named(each, _UNSPACED_SCRIPTS) for each in (before, after))


def _is_varied(character: str, selector: int, after: str) -> bool:
    """Whether a variation selector has a meaning behind this character."""
    if _is_in(selector, (_MONGOLIAN_SELECTORS,)):
        return _is_named(character, ("MONGOLIAN",))
    if _is_named(character, ("CJK",)):
        return True
    if _is_in(selector, (_IDEOGRAPH_SELECTORS,)) or is_hidden(character):
        return False
    return _is_symbol(character) or after == _KEY


def _is_in_flag(text: str, at: int) -> bool:
    start = text.rfind("\U0001f3f4", 0, at)
    flag = _TAGGED_FLAG.match(text, start) if start >= 0 else None
    return flag is not None and at < flag.end()


def _is_symbol(character: str) -> bool:
    """Whether it may be a part of an emoji."""
    if not character:
        return False
    is_selector = _is_in(ord(character), (_SYMBOL_SELECTORS,))
    return is_selector or unicodedata.category(character) in ("So", "Sk", "Sm")


def _is_joined_script(character: str) -> bool:
    return _is_named(character, _JOINED_SCRIPTS)


def _is_named(character: str, names: tuple[str, ...]) -> bool:
    """Whether the name of a character in the standard begins with one of these."""
    return bool(character) and unicodedata.name(character, "").startswith(names)


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in _RIGHT_TO_LEFT
