"""Emoji and other pictures as words that can be searched.

An emoji may be several characters: a flag, a key, or pictures with a joiner between. Variants of
one emoji (skin tones, coloured or not) are the same word, and a joined one is found by its parts,
too: 👩‍💻 by 💻.
"""

from zkchat_cli.text.patterns import lazy_pattern

_PICTURE = (
    "[\u203c\u2049\u2194-\u2199\u21a9\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa"
    "\U0001f400-\U0001faff]"
)
_VARIANT = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]"
_JOINER = "\u200d"
_EMOJI = lazy_pattern(
    f"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3"
    f"|{_PICTURE}{_VARIANT}*(?:[\U000e0020-\U000e007f]+|(?:{_JOINER}{_PICTURE}{_VARIANT}*)*)"
)
_VARIANTS = lazy_pattern(_VARIANT)
# Every emoji has one of these. A set of characters is found ten times as fast as a choice of
# patterns.
_SIGN = lazy_pattern(_PICTURE.replace("[", "[\u20e3\U0001f1e6-\U0001f1ff", 1))


def find_emoji(text: str) -> list[str]:
    """The emoji of a text in its order, without their variants; behind a joined one its parts."""
    if text.isascii() or not _SIGN.search(text):
        return []
    found: list[str] = []
    for written in _EMOJI.findall(text):
        plain = _VARIANTS.sub("", written)
        parts = plain.split(_JOINER)
        found.append("".join(parts))
        if len(parts) > 1:
            found += parts
    return found
