"""The properties of notes, read from their files: the index has no table of them. They are in front
matter and, as inline fields, in the text.
"""

import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from zkchat_cli import fileio
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.markdown.inline_fields import inline_fields
from zkchat_cli.text import words
from zkchat_cli.text.numbers import read_decimal
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.text_decoder import decode

# A text without these has no properties
_FRONT_MATTER = (b"---", b"\xef\xbb\xbf---", b"\xff\xfe", b"\xfe\xff")
_FIELD = b"::"
_MOST_BYTES = 4_000_000
PROPERTY_LINE = lazy_pattern(
    r"\s*(?:[-*+] )?[(\[]?(?P<name>[^\W\d][\w -]{0,39}?)::? ?(?P<value>\S.*)"
)
"""A line with a property and its value, in front matter or in the text, perhaps in brackets."""


def read_properties(root: Path, relative_path: str) -> Mapping[str, tuple[str, ...]]:
    """The values of each property by its folded name; none for a note that cannot be read."""
    with suppress(OSError, VaultError):
        file = filesystem.resolve_inside(root, relative_path)
        raw = fileio.read_beginning(file, _MOST_BYTES)
        if not raw.startswith(_FRONT_MATTER) and _FIELD not in raw:
            return {}
        text = decode(raw).text
        matter = read_front_matter(text)
        found = {name: matter.texts(name) for name in matter.written}
        for field in inline_fields(text.split("\n", matter.lines)[-1]):
            values = found.get(field.name, ())
            if field.value and field.value not in values:
                found[field.name] = (*values, field.value)
        return found
    return {}


def has_property(root: Path, relative_path: str, wanted: str) -> bool:
    """Whether a note has a property, as "status" or with a value as "status: open", or one of
    several as "status: open | lent". A value fits that has all the words of the wanted one:
    "author: Kafka" finds Franz Kafka. "rating: >= 4" compares numbers.
    """
    name, _, value = wanted.partition(":")
    values = read_properties(root, relative_path).get(name.strip().casefold(), ())
    compared = _COMPARISON.fullmatch(value.strip())
    if compared:
        return any(_compares(each, compared["sign"], compared["number"]) for each in values)
    found = [set(words.terms(each)) for each in values]
    for alternative in value.split("|"):
        terms = set(words.terms(alternative))
        if any(terms <= each for each in found):
            return True
    return False


def check_comparison(wanted: str) -> None:
    """Raise UsageError for a property that is compared with what is no number: "rating: >= x"."""
    name, _, value = wanted.partition(":")
    begin = _SIGN.match(value.strip())
    if begin is None or _COMPARISON.fullmatch(value.strip()):
        return
    compared = value.strip()[begin.end() :].strip()
    problem = f"{compared!r} is not a number" if compared else "the number is missing"
    raise UsageError(
        f"cannot compare the property {name.strip()!r}: {problem}",
        f"Write a number after {begin[0]}: {name.strip()}: {begin[0]} 4",
    )


def _compares(value: str, sign: str, number: str) -> bool:
    """Whether the number in a value is as large as wanted; one without a number is not."""
    written = read_number(value)
    wanted = read_number(number)
    return written is not None and wanted is not None and _SIGNS[sign](written, wanted)


def read_number(value: str) -> float | None:
    """The number that a value begins with, perhaps behind a currency, or of its stars; None without
    one. "4/5" is 4.
    """
    stars = sum(value.count(star) for star in _STARS)
    return float(stars) if stars else read_decimal(value)


_STARS = ("★", "⭐", "🌟")
_SIGN = lazy_pattern("[<>]=?")
_COMPARISON = lazy_pattern(r"(?P<sign>>=|<=|=|>|<) ?(?P<number>-?\d{1,12}(?:[.,]\d{1,6})?)")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
