"""A text as the tokens that quantities are read from, and what a number in digits may mean."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import ENGLISH

_NO_LETTER_BEFORE = r"(?<![A-Za-z\u00c0-\u024f\u0400-\u04ff0-9_])"
_TOKEN = lazy_pattern(
    rf"(?P<iso>{_NO_LETTER_BEFORE}\d{{4}}-\d\d?-\d\d?(?!\d))"
    rf"|(?P<numeric>{_NO_LETTER_BEFORE}\d{{1,2}}(?P<separator>[./])\d{{1,2}}(?P=separator)"
    r"\d{4}(?!\d))"
    rf"|(?P<clock>{_NO_LETTER_BEFORE}\d{{1,2}}(?::\d\d(?!\d)|[ \u00a0\u202f]?h[ \u00a0\u202f]?\d\d"
    r"(?!\w|\s*min)))"
    rf"|(?P<ratio>{_NO_LETTER_BEFORE}\d{{1,2}}/\d{{1,2}}(?![\w/]))"
    rf"|(?P<number>{_NO_LETTER_BEFORE}(?:(?<![\w)])[-−])?"
    r"(?:\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)[½¼¾⅓⅔⅛]?|[½¼¾⅓⅔⅛])"
    r"|(?P<symbol>°\s?[CFK]\b|℃|℉|US\$|R\$|[€$£¥₹₽%‰％])"
    r"|(?P<word>[^\W\d_]+(?:/[^\W\d_]{1,4})?[23]?(?!\d))"
    r"|(?P<mark>[^\w\s'’-])"
)
_SIGNS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_GROUPED = lazy_pattern(r"[1-9]\d{0,2}([.,])\d{3}")
_SPACES = lazy_pattern(r"[ \u00a0\u202f'’]")
# Digits that a float tells apart
_MOST_DIGITS = 15
_POINT_LANGUAGES = frozenset((ENGLISH, "chinese", "japanese", "korean"))
"""Languages that write 1,500.5; the others write 1.500,5."""


class MeasureToken(NamedTuple):
    """A number, word, symbol or mark, as it is written and folded, and its place in the text."""

    kind: str
    text: str
    folded: str
    start: int
    end: int


def read_measure_tokens(text: str) -> list[MeasureToken]:
    """The tokens of a text. Hyphens and apostrophes only separate words."""
    found: list[MeasureToken] = []
    is_ascii = text.isascii()
    for token in _TOKEN.finditer(text):
        # The separator's group is within that of the numeric date
        kind = "numeric" if token["numeric"] else str(token.lastgroup)
        written = token[0]
        folded = written.lower() if is_ascii else fold(written)
        found.append(MeasureToken(kind, written, folded, *token.span()))
    return found


def number_readings(written: str, language: str) -> tuple[float, ...]:
    """What a number in digits may mean, the likely value first: "1.500" is 1500 or 1.5."""
    sign = -1 if written[0] in "-−" else 1
    bare = _SPACES.sub("", written.lstrip("-−"))
    fraction = _SIGNS.get(bare[-1], 0.0)
    digits = bare[:-1] if fraction else bare
    if not digits:
        return (sign * fraction,)
    return tuple(sign * (value + fraction) for value in _digit_readings(digits, language))


def _digit_readings(digits: str, language: str) -> Sequence[float]:
    if len(digits) > _MOST_DIGITS:
        # Numbers of more digits are compared by the first ones and how many they are
        return (float(len(digits)) * 10**20 + float(digits[:9].replace(",", "").replace(".", "")),)
    points = digits.count(".")
    commas = digits.count(",")
    if points and commas:
        decimal = max(digits.rfind("."), digits.rfind(","))
        return (float(f"{_bare(digits[:decimal])}.{digits[decimal + 1 :]}"),)
    if points + commas > 1:
        groups = re.split("[.,]", digits)
        if all(len(group) == 3 for group in groups[1:]):
            return (float(_bare(digits)),)
        # A version is compared as a whole
        return (sum(float(group) / 1000**at for at, group in enumerate(groups)) + 1e-9,)
    decimal_value = float(digits.replace(",", "."))
    grouped = _GROUPED.fullmatch(digits)
    if not grouped:
        return (decimal_value,)
    whole = float(_bare(digits))
    is_group = (grouped[1] == ",") == (language in _POINT_LANGUAGES)
    return (whole, decimal_value) if is_group else (decimal_value, whole)


def _bare(digits: str) -> str:
    return digits.replace(",", "").replace(".", "")
