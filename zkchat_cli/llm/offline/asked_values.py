"""Questions that ask for a kind of value, and whether passages have one. Pure.

"The phone number of the roofer" is near to each note about the roofer, but only one with a phone
number answers.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern

_WHICH = r"\b(?:which|what|welche[mnrs]?|quel(?:le)?s?|que|cual(?:es)?|qual|quais)"


class _AskedValue(NamedTuple):
    """How a question asks for a kind of value, and what such a value looks like; both in folded
    text.
    """

    question: re.Pattern[str]
    value: re.Pattern[str]


_VALUES = (
    # A phone number
    _AskedValue(
        lazy_pattern(
            r"\b(?:phone|telephone|mobile|cell) (?:number|no\b)|\b(?:telefon|handy|mobil)nummer\b"
            r"|\bnumero de (?:telephone|portable|telefono|movil|celular|telefone|telemovel)\b"
        ),
        lazy_pattern(r"(?<![\w.,-])(?:\+|00|\()?\d[\d ()/.-]{4,}\d"),
    ),
    # An address for mail
    _AskedValue(
        lazy_pattern(
            r"\be-?mail[ -]?(?:address|adresse)\b|\badresse e-?mail\b"
            r"|\b(?:direccion|endereco) de (?:correo|e-?mail)\b"
        ),
        lazy_pattern(r"[\w.+-]+@[\w-]+\.\w"),
    ),
    # The port of a server or a device
    _AskedValue(
        lazy_pattern(rf"{_WHICH} (?:\w+ )?(?:ports?|puerto|porta)\b"),
        lazy_pattern(
            r"\b(?:ports?|puerto|porta)\b\W{0,3}\d|(?<![\d.,:/-])\d{2,5}(?![\d.,:]*\d| ?[%€$£])"
        ),
    ),
    # The version of a program: 3.14, v2, "version 5" or "Godot 5"
    _AskedValue(
        lazy_pattern(rf"{_WHICH} version\b|{_WHICH} versao\b"),
        lazy_pattern(r"\d\.\d|\bv\d|\w \d{1,3}(?![\d.,]*\d| ?[%€$£])"),
    ),
)


def lack_asked_value(question: str, passages: Iterable[str]) -> bool:
    """Whether a question asks for a phone number, an address for mail, a port or a version, and
    none of the passages has one.
    """
    folded = fold(question)
    asked = [each.value for each in _VALUES if each.question.search(folded)]
    if not asked:
        return False
    texts = [fold(passage) for passage in passages]
    return not all(any(value.search(text) for text in texts) for value in asked)
