"""Numbers in words, in English, German, French, Spanish and Portuguese: "two hundred and fifty",
"achtundvierzig", "quatre-vingt-dix", "cuarenta y ocho".

Words are folded (`fold`), and hyphens separate them. Forms of one number are joined by `/`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH

_BELOW_TWENTY = {
    ENGLISH: (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ),
    GERMAN: (
        "null ein/eins/eine/einen/einem/einer zwei/zwo drei vier funf sechs sieben acht neun zehn "
        "elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn"
    ),
    FRENCH: (
        "zero un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
        "quinze seize"
    ),
    SPANISH: (
        "cero uno/un/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
        "quince dieciseis diecisiete dieciocho diecinueve veinte veintiuno/veintiun/veintiuna "
        "veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho "
        "veintinueve"
    ),
    PORTUGUESE: (
        "zero um/uma dois/duas tres quatro cinco seis sete oito nove dez onze doze treze "
        "catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito "
        "dezenove/dezanove"
    ),
}
_TENS = {
    ENGLISH: "twenty thirty forty fifty sixty seventy eighty ninety",
    GERMAN: "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig",
    FRENCH: "vingt/vingts trente quarante cinquante soixante septante huitante/octante nonante",
    SPANISH: "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    PORTUGUESE: "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
}
_HUNDREDS = {
    SPANISH: (
        "cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas "
        "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas "
        "ochocientos/ochocientas novecientos/novecientas"
    ),
    PORTUGUESE: (
        "cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas "
        "quinhentos/quinhentas seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas "
        "novecentos/novecentas"
    ),
}
_HUNDRED = {ENGLISH: "hundred", GERMAN: "hundert", FRENCH: "cent/cents"}
_LARGE = {
    ENGLISH: "thousand million/millions billion/billions",
    GERMAN: "tausend million/millionen/mio milliarde/milliarden/mrd",
    FRENCH: "mille million/millions milliard/milliards",
    SPANISH: "mil/millar/millares millon/millones millardo/millardos",
    PORTUGUESE: "mil milhao/milhoes bilhao/bilhoes",
}
_DOZENS = {
    **dict.fromkeys("dozen dutzend douzaine douzaines docena docenas duzia duzias".split(), 12),
    **dict.fromkeys("centaine centaines centena centenas centenar centenares".split(), 100),
}
_JOINTS = {
    ENGLISH: "and",
    GERMAN: "und",
    FRENCH: "et",
    SPANISH: "y",
    PORTUGUESE: "e",
}
_GERMAN_PARTS = {"einhalb": 0.5, "einviertel": 0.25, "eindrittel": 1 / 3, "dreiviertel": 0.75}
_GERMAN_HALVES = {"anderthalb": 1.5, "eineinhalb": 1.5, "dreiviertel": 0.75}
_THOUSAND = 1000
_HUNDRED_VALUE = 100
_SCORE = 20
_TEN = 10
_SEVEN = 7
_FOUR = 4
# Tens to which the numbers up to nineteen are added in French
_FRENCH_SCORES = (60, 80)
_LONGEST_GERMAN = 60
SPELLED_LANGUAGES = tuple(_TENS)


class SpelledNumber(NamedTuple):
    """A number, and how many words it has."""

    value: float
    size: int


def spelled_number(words: Sequence[str], at: int, language: str) -> SpelledNumber | None:
    """The number in words that begins at one of these folded words, as long as possible."""
    known = _values(language)
    joint = _JOINTS[language]
    total = 0.0
    current: float | None = None
    end = at
    index = at
    while index < len(words):
        index += words[index] == joint and current is not None
        value = _value(words[index], known, language) if index < len(words) else None
        if value is None:
            break
        if words[index] in _DOZENS and current:
            current *= value
        elif value >= _THOUSAND:
            if total and total < value:
                break
            total += (1 if current is None else current) * value
            current = 0
        else:
            extended = _extended(current, value)
            if extended is None:
                break
            current = extended
        index += 1
        end = index
    if end == at:
        return None
    return SpelledNumber(total + (current or 0), end - at)


def large_number(word: str, language: str) -> float | None:
    """The factor of a word behind digits: "2 million", "3 dozen"."""
    value = _value(word, _values(language), language)
    return value if value and (value >= _THOUSAND or word in _DOZENS) else None


def _value(word: str, known: Mapping[str, float], language: str) -> float | None:
    found = known.get(word)
    if found is None and language == GERMAN and len(word) <= _LONGEST_GERMAN:
        return _german_compound(word)
    return found


def _extended(current: float | None, value: float) -> float | None:
    """The number that a further word makes of one; None if it begins another number."""
    if not current:
        return value
    if value == _HUNDRED_VALUE and current < _HUNDRED_VALUE:
        return current * value
    if value == _SCORE and current == _FOUR:
        # "quatre-vingts"
        return current * value
    if current >= _HUNDRED_VALUE and current % _HUNDRED_VALUE == 0:
        return current + value if value < _HUNDRED_VALUE else None
    return current + value if _fits_in_ten(current % _HUNDRED_VALUE, value) else None


def _fits_in_ten(tens: float, value: float) -> bool:
    """Whether a number is added to tens: "twenty-five", "soixante-douze", "dix-huit"."""
    if tens == _TEN:
        return _SEVEN <= value < _TEN
    most = _SCORE if tens in _FRENCH_SCORES else _TEN
    return tens >= _SCORE and tens % _TEN == 0 and value < most


@cache
def _values(language: str) -> dict[str, float]:
    """The value of each word of a language."""
    found: dict[str, float] = dict(_DOZENS)
    _add(found, _BELOW_TWENTY[language], range(30))
    _add(found, _TENS[language], range(20, 100, 10))
    _add(found, _HUNDREDS.get(language, ""), range(100, 1000, 100))
    _add(found, _HUNDRED.get(language, ""), (100,))
    _add(found, _LARGE[language], (10**3, 10**6, 10**9))
    return found


def _add(found: dict[str, float], written: str, values: Sequence[int]) -> None:
    for forms, value in zip(written.split(), values, strict=False):
        found.update(dict.fromkeys(forms.split("/"), value))


def _german_compound(word: str) -> float | None:
    """The value of numbers in one word: "zweihundertachtundvierzig", "zweieinhalb"."""
    if word in _GERMAN_HALVES:
        return _GERMAN_HALVES[word]
    for part, value in _GERMAN_PARTS.items():
        if word.endswith(part):
            whole = _german_whole(word.removesuffix(part))
            return whole + value if whole else None
    return _german_whole(word)


def _german_whole(word: str) -> float | None:
    known = _values(GERMAN)
    if word in known:
        return known[word]
    for name, factor in (("tausend", 1000), ("hundert", 100)):
        first, found, rest = word.partition(name)
        if found:
            times = _german_whole(first) if first else 1
            more = _german_whole(rest.removeprefix("und")) if rest else 0
            return None if times is None or more is None else times * factor + more
    ones, found, tens = word.partition("und")
    if found and known.get(ones, 10) < 10 <= known.get(tens, 0):
        return known[ones] + known[tens]
    return None
