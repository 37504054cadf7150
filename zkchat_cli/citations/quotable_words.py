"""Where the words of a normalized text begin and end. All else than word borders is inside a word:
a number is one with its sign, separators and unit, and Chinese numerals are one.
"""

import unicodedata

from zkchat_cli.citations.quantities import CJK_NUMERALS
from zkchat_cli.text.patterns import lazy_pattern

SPACELESS = (
    "\u0e01-\u0edf\u1000-\u109f\u1780-\u17d3\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002fa1f"
)
"""Scripts without spaces between words. Korean has them."""
_KATAKANA = "\u30a1-\u30fa\u30fc"
UNIT = (
    r"(?:%|‰|°[cfk]?|[$€£¥₹]|mega(?:wh?|v|a|pa|j|g|l)|[kmgt]i?byte"
    r"|[kmgtcdnpμ]?(?:wh|wp|w|g|m|l|s|v|hz|b|j|n|pa|k|ah|bar|bit|cal|mol|ω)(?:\^?[23])?"
    r"(?:/[a-z]+)?|h|ha|ft|lbs?|oz|min|sec|ppm|rpm|db|ps|hp|mph|inch(?:es)?"
    r"|eur|euros?|usd|dollars?|gbp|pounds?|chf|per ?cent|prozent"
    r"|degrees?|grad|hundred|thousand|millions?|millionen|billions?|trillions?|tausend"
    r"|milliarden?|mio|mrd|milliards?|mille|mil|millon(?:es)?|milhao|milhoes|тыс|тысячи?|млн|млрд"
    r"|миллион(?:а|ов)?|миллиард(?:а|ов)?|процент(?:а|ов)?)"
)
_LETTERS = rf"(?:[^\W{SPACELESS}]|[\u0900-\u0963\u0966-\u0dff])++"
_SIGN = r"(?:(?<![\w)%°-])(?:[-+.]|[±∓≈≠≤≥<>]\ ?)(?=[$€£¥₹.]?\ ?\d)\.?)"
_JOINED = (
    r"(?:(?<=[^\W\d_])'(?=[^\W\d_])|\.(?=\w)|(?<=\d)[,:'/^*×·⁄٫٬]-?(?=\d)|(?<=\d)-(?=\d)"
    r"|(?<=\d)(?<!\d{4})\ (?=\d{3}(?!\d))|(?<=\d)\ (?=\d+/\d)"
    r"|(?<=\de)[-+](?=\d)|(?<=\d)-(?=[a-z]+\.?\d)"
    r"|(?<=enty|irty|orty|ifty|ixty|ghty|nety)-)"
)
_QUOTABLE_WORD = lazy_pattern(
    rf"[{_KATAKANA}]+|{_SIGN}?(?:[$€£¥₹]\ "
    rf"?(?=[\d.]))?{_LETTERS}(?:{_JOINED}{_LETTERS})*(?:(?<=\d)[ -]?{UNIT}(?!{_LETTERS}))?"
)
_PLAIN_BORDER = lazy_pattern(r"(?<![0-9] )(?<= )(?=[a-z])|(?<=[a-z])(?:[ )]|[.,;:!?](?: |\Z))")
"""The border of a word without digits, as most are: looking for all words around a position takes
an eighth of the verification.
"""
_POINTS = ("点", "點")
_PART_OF = "分之"
_ORDINAL = "第"
# Characters on each side of a position that decide whether it is inside a word
BORDER_REACH = 80
# Marks on the letter before them, and characters without a meaning of their own
_MARKS = frozenset(("Mn", "Mc", "Me"))
_UNKNOWN = frozenset(("Cf", "Co", "Cn", "Cs"))
_SPACELESS_CHARACTER = lazy_pattern(f"[{SPACELESS}]")


def is_word_border(text: str, at: int) -> bool:
    """Whether no word of a normalized text goes on at this position."""
    if not 0 < at < len(text) or _PLAIN_BORDER.match(text, at):
        return True
    if not text[at - 1 : at + 1].isascii() and _is_inside(text, at):
        return False
    words = _QUOTABLE_WORD.finditer(text, max(0, at - BORDER_REACH), at + BORDER_REACH)
    return not any(word.start() < at < word.end() for word in words)


def _is_inside(text: str, at: int) -> bool:
    """Whether a position is inside a Chinese or Japanese number, or before a mark on a letter."""
    before = text[at - 1]
    after = text[at]
    category_before = unicodedata.category(before)
    category_after = unicodedata.category(after)
    if category_after in _MARKS or not _UNKNOWN.isdisjoint((category_before, category_after)):
        return True
    if category_before in _MARKS and after.isalnum() and not _SPACELESS_CHARACTER.match(after):
        return True
    if after in CJK_NUMERALS:
        is_ordinal = before == _ORDINAL
        return is_ordinal or before in CJK_NUMERALS or _continues_number(text[at - 3 : at])
    following = text[at : at + 3]
    if before == _PART_OF[0] and after == _PART_OF[1]:
        return text[at - 2 : at - 1] in CJK_NUMERALS
    return before in CJK_NUMERALS and (
        following.startswith(_PART_OF)
        or (following.startswith(_POINTS) and following[1:2] in CJK_NUMERALS)
    )


def _continues_number(before: str) -> bool:
    """Whether a decimal point or "parts of" in a Chinese number ends this text."""
    return before.endswith(_PART_OF) or (before.endswith(_POINTS) and before[-2:-1] in CJK_NUMERALS)
