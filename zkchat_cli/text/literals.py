"""Words made of signs, such as `$@`, `C++` and `.env`, emoji, and web addresses: what a tokenizer
of letters and digits would lose or tear apart.

A literal is a term of its own beside the words of a text. An address is only a literal, because its
parts are no words: "foo" does not find https://example.com/foo-bar, but "example.com" does. A term
has letters of a private Unicode area in place of its signs, so that every index takes it for one
word, and begins with one, by which it is known.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from zkchat_cli.text.emoji import find_emoji
from zkchat_cli.text.patterns import lazy_pattern

_MARK = "\ue000"
# Characters of a literal; the rest of a longer address tells nothing
LONGEST = 200
# Folders of an address by which it is found, besides its host and the whole of it
MOST_FOLDERS = 2
# Signs of a symbol: more of them are a line or a smile
MOST_SIGNS = 6

# The signs of ASCII and their places in the private area
_TO_TERM = {code: 0xE000 + code for code in range(33, 127) if not chr(code).isalnum()}
_FROM_TERM = {letter: sign for sign, letter in _TO_TERM.items()}

# Characters of an address, which may be in front of Chinese without a space
_IN_ADDRESS = (
    r"(?:[^\s<>\"`()\[\]{}|\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]"
    r"|\([^\s<>()]{0,80}\))+"
)
_SIGN_IN_WORD = lazy_pattern(r"[@$%&|<>=!+*/^~?:.#\\-](?:(?=\S)|(?<=[+#]))")
_ADDRESS = lazy_pattern(
    rf"://{_IN_ADDRESS}|[w](?<![a-z0-9/.]w)ww\.(?=[a-z0-9]){_IN_ADDRESS}"
    r"|;base64,[a-z0-9+/=]*",
    re.IGNORECASE,
)
"""An address without its scheme, or the data of an embedded file."""
_SCHEME_BEFORE = lazy_pattern(r"[a-z][a-z0-9+.-]*$|data:[a-z]+/[a-z0-9.+-]+$", re.IGNORECASE)
LONGEST_SCHEME = 40
_SCHEME = lazy_pattern(r"(?:[a-z][a-z0-9+.-]*:/*)?(?:www\.)?")
_EMBEDDED = "data:"
_ENDS_OF_SENTENCE = ".,;:!?'*_"
# What may be before a literal: nothing that belongs to a word
_BEFORE = r"[\s`\"'“”‘’«»(\[{},;*_|]"
# These begin with a set of signs: Python finds one ten times as fast as it tries a pattern at every
# letter
_NAME_BEHIND_SIGN = lazy_pattern(
    rf"[.@$%:\\-](?<={_BEFORE}.)-?(?:[a-z_][\w-]*+|(?<=\$)\d(?![\d.,]))"
)
"""`.env`, `@media`, `$path`, `$1`, `--force`, `\\d`, `:wq`"""
_SYMBOL = lazy_pattern(
    rf"[@$&|<>=!+*/%^~?:.#-](?<={_BEFORE}.)[@$&|<>=!+*/%^~?:.#-]++(?:(?!\w)|(?<=[<>&|].)|(?<=>))"
)
"""`$@`, `->>`, `&&`, and `<<-` in `<<-EOF`, but not the marks of Markdown in `**bold**`"""
_SIGN_BEHIND_NAME = lazy_pattern(r"[+#](?<=[a-z0-9][+#])(?:(?<=#)|\+)(?![\w+#])")
"""`c#`, `c++`"""
_DOT_IN_NAME = lazy_pattern(r"\.(?<=[a-z0-9_]\.)(?=[a-z_]\w)")
"""`node.js`, `example.com`"""
_BEGINNING_OF_NAME = lazy_pattern(r"(?<![\w.@/-])[a-z][\w-]*$")
_END_OF_NAME = lazy_pattern(r"(?:\.[a-z_][\w-]++)+")
# Characters of a name before its first sign
LONGEST_NAME = 40
_NO_SYMBOL = lazy_pattern(
    r".*([-.#*~=?!:_+])\1\1.*|[.!?,]+|##|\*.|%%|[|:-]*--[|:-]*\|?|[:;].|<!--|-->|</|/>"
)
"""Lines, ends of sentences, marks of Markdown and HTML, and smiles."""


def is_literal(term: str) -> bool:
    """Whether a term is a literal, and not a word."""
    return term[:1] == _MARK


def written_form(term: str) -> str:
    """A term as it is written: a literal with its signs, a word unchanged."""
    return term[1:].translate(_FROM_TERM) if is_literal(term) else term


def has_address(text: str) -> bool:
    """Whether it is worth looking for addresses in a text; most have none."""
    return "://" in text or "www." in text or ";base64," in text


class SeparatedText(NamedTuple):
    """A text without web addresses and embedded files, and its literals as terms."""

    plain: str
    literals: list[str]


def separate_literals(text: str) -> SeparatedText:
    """The words and the literals of a text. An address is found by its host, by its first folders,
    and as a whole.
    """
    found = find_emoji(text)
    if not _SIGN_IN_WORD.search(text):
        return SeparatedText(text, [_MARK + each for each in found])
    plain = text
    if has_address(text):
        spans = list(_address_spans(text))
        plain = _without(spans, text)
        for span in spans:
            found += _forms_of_address(text[span.start : span.end].lower())
    # Not folded: that takes ten times as long
    found += _find_signed(f" {plain.lower()}")
    return SeparatedText(plain, [_MARK + each.translate(_TO_TERM) for each in found])


def find_literals(text: str) -> list[str]:
    """The literals of a text as terms."""
    return separate_literals(text).literals


def remove_addresses(text: str) -> str:
    """`text` without web addresses and embedded files."""
    return _without(_address_spans(text), text) if has_address(text) else text


class _Span(NamedTuple):
    start: int
    end: int


def _address_spans(text: str) -> Iterator[_Span]:
    for rest in _ADDRESS.finditer(text):
        start = rest.start()
        scheme = _SCHEME_BEFORE.search(text, max(0, start - LONGEST_SCHEME), start)
        if scheme is not None and not rest[0][0].isalpha():
            start = scheme.start()
        yield _Span(start, rest.end())


def _without(spans: Iterable[_Span], text: str) -> str:
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces.append(text[at : span.start])
        at = span.end
    return " ".join([*pieces, text[at:]])


def _forms_of_address(address: str) -> list[str]:
    if address.startswith(_EMBEDDED):
        return []
    bare = _SCHEME.sub("", address.rstrip(_ENDS_OF_SENTENCE), count=1)
    host, *folders = bare[:LONGEST].rstrip("/").split("/")
    forms = ["/".join([host, *folders[:count]]) for count in range(MOST_FOLDERS + 1)]
    return list(dict.fromkeys([*forms, "/".join([host, *folders])]))


def _find_signed(text: str) -> Iterator[str]:
    """The symbols, and the names with signs, of a text that begins with a space."""
    yield from _NAME_BEHIND_SIGN.findall(text)
    for found in _SYMBOL.findall(text):
        symbol = _without_surroundings(found)
        if len(symbol) <= MOST_SIGNS and not _NO_SYMBOL.fullmatch(symbol):
            yield symbol
    for sign in _SIGN_BEHIND_NAME.finditer(text):
        name = _name_before(text, sign.start())
        if name:
            yield name + sign[0]
    for dot in _DOT_IN_NAME.finditer(text):
        # Only at the first dot of a name, there is no other before
        first = _name_before(text, dot.start())
        rest = _END_OF_NAME.match(text, dot.start())
        if len(first) > 1 and rest is not None:
            yield first + rest[0]


def _name_before(text: str, end: int) -> str:
    """The name that ends there; empty for a part of a longer one."""
    name = _BEGINNING_OF_NAME.search(text, max(0, end - LONGEST_NAME), end)
    return name[0] if name else ""


def _without_surroundings(signs: str) -> str:
    """Signs without the end of a sentence and marks of Markdown, if a symbol is left."""
    bare = signs.rstrip(_ENDS_OF_SENTENCE).strip("*")
    return bare if len(bare) > 1 else signs
