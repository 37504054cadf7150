"""Reads one quantity from a place in a text on: each method knows one way to write one."""

from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.citations.claims import measure_words
from zkchat_cli.citations.claims.calendar_measures import is_month, read_clock, read_date
from zkchat_cli.citations.claims.exclusive_words import exclusive_word
from zkchat_cli.citations.claims.measure import (
    CLOCK,
    COUNT,
    DATE,
    ORDINAL,
    SHARE,
    TIME,
    TIMES,
    Measure,
)
from zkchat_cli.citations.claims.measure_tokens import (
    MeasureToken,
    number_readings,
    read_measure_tokens,
)
from zkchat_cli.citations.claims.units import Unit, unit_of_name, unit_of_phrase, unit_of_symbol
from zkchat_cli.text.spelled_numbers import (
    SPELLED_LANGUAGES,
    large_number,
    spelled_number,
)
from zkchat_cli.text.word_lists import ENGLISH, GERMAN, PORTUGUESE, SPANISH
from zkchat_cli.text.words import find_cjk, stopwords

_ARTICLES = frozenset("a an ein eine einen einem einer une un una uma um".split())
_JOINTS = frozenset("and und et y e".split())
_BETWEEN_UNIT_WORDS = frozenset("per pro par por of de / an a".split())
RANGE_WORDS = frozenset(
    "to and or bis auf und oder zu a et ou y e o para ate von naar tot en – — by x gegen contra "
    "contre against".split()
)
_OF_UNIT = frozenset("of an a de d einer eines la una uma an the".split())
_LONGEST_BOUND = 3
_NOUN_WORDS = 2
_HALVES = frozenset("half demi medio media meio meia halbes halbe".split())
_SMALL_PART = 0.999
_CURRENCIES = "$€£¥₹₽"
_SHORT_FACTORS = {"m": 1e6, "M": 1e6, "bn": 1e9, "k": 1e3, "Mio": 1e6, "Mrd": 1e9}


class FoundMeasure(NamedTuple):
    """A quantity without its surroundings, and the index of the token behind it."""

    measure: Measure
    end: int


class MeasureReader:
    """The tokens of a text, with readers that each take a quantity from a token on."""

    def __init__(self, text: str, language: str) -> None:
        self.tokens = read_measure_tokens(text)
        self.words = [token.folded for token in self.tokens]
        self.spelled = language if language in SPELLED_LANGUAGES else ENGLISH
        self.language = language

    def word(self, at: int) -> str:
        """The folded text of a token; empty outside of the text."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def token(self, at: int) -> MeasureToken | None:
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def may_begin(self, at: int) -> bool:
        """Whether a quantity can begin with a token, which few words can."""
        token = self.tokens[at]
        if token.kind == "word":
            return _may_begin(token.folded, self.spelled)
        return token.kind != "mark"

    def made(self, kind: str, value: float, at: int, end: int) -> Measure:
        """A quantity of the tokens from `at` to `end`."""
        start = self.tokens[at].start
        return Measure(kind, (value,), start, self.tokens[end - 1].end, number=value)

    def read_exclusive(self, at: int) -> FoundMeasure | None:
        """A weekday, season, color or direction."""
        token = self.tokens[at]
        found = exclusive_word(token.folded, self.word(at + 1))
        if token.text == "été" and self.word(at - 1) in ("en", "l", "cet", "d", "chaque"):
            found = exclusive_word("summer", "")
        is_name = token.text[0].isupper() and found and found.kind in ("color", "direction")
        if found is None or (is_name and at > 0 and self.language != GERMAN):
            return None
        if token.folded == "sur" and self.language != SPANISH:
            return None
        end = at + 1 + (self.word(at + 1) in ("feira", "feiras"))
        return FoundMeasure(self.made(found.kind, found.number, at, end), end)

    def read_date(self, at: int) -> FoundMeasure | None:
        found = read_date(self.tokens, at)
        is_digits = self.tokens[at].kind == "number"
        if found is None or (is_digits and self._unit(found.end)):
            return None
        [first, *_] = found.readings
        made = self.made(DATE, float(first.year or 0), at, found.end)
        return FoundMeasure(made._replace(dates=found.readings), found.end)

    def read_clock(self, at: int) -> FoundMeasure | None:
        found = read_clock(self.tokens, self.words, at, self.spelled)
        if found is None:
            return None
        if self.word(at - 1) in measure_words.DURATION_WORDS - {"a", "um"}:
            made = self.made(TIME, found.readings[0] * 60, at, found.end)
        else:
            made = self.made(CLOCK, found.readings[0], at, found.end)
            made = made._replace(values=found.readings)
        return FoundMeasure(made, found.end)

    def read_ratio(self, at: int) -> FoundMeasure | None:
        """ "1/4"."""
        if self.tokens[at].kind != "ratio":
            return None
        above, below = map(int, self.words[at].split("/"))
        if not 0 < above < below:
            return None
        return self._share(above / below, at, at + 1)

    def read_fraction(self, at: int) -> FoundMeasure | None:
        """ "a third", "two thirds", "Hälfte", "half an hour"."""
        word = self.words[at]
        behind = measure_words.fractions().get(self.word(at + 1))
        is_um = word == "um" and self.language != PORTUGUESE
        if behind and word in measure_words.BEFORE_FRACTIONS and not is_um:
            return self._share(behind, at, at + 2)
        number = spelled_number(self.words, at, self.spelled)
        if behind and number and number.size == 1 and number.value > 1:
            return self._share(number.value * behind, at, at + 2)
        return self._bare_fraction(at)

    def _bare_fraction(self, at: int) -> FoundMeasure | None:
        """ "half", "tercera parte"."""
        word = self.words[at]
        if measure_words.fractions().get(word) == 1 / 2:
            found = self._share(1 / 2, at, at + 1)
            is_clear = word not in ("media", "medio", "meia", "meio", "demi", "halves")
            return found if is_clear or found.measure.kind != SHARE else None
        if word in measure_words.ordinals() and self.word(at + 1) in ("parte", "partie", "part"):
            return self._share(1 / measure_words.ordinals()[word], at, at + 2)
        return None

    def _share(self, value: float, at: int, end: int) -> FoundMeasure:
        """A share, or the share of a unit that follows: "a third of an hour"."""
        unit_at = end
        while unit_at < end + 2 and self.word(unit_at) in _OF_UNIT:
            unit_at += 1
        unit = self._unit(unit_at)
        is_size = unit is not None and unit[0].kind not in (SHARE, "temperature")
        if unit and is_size and not unit[0].kind.startswith("money"):
            made = self.made(unit[0].kind, unit[0].to_base(value), at, unit[1])
            return FoundMeasure(made._replace(number=value, unit=unit[0].name), unit[1])
        made = self.made(SHARE, value, at, end)
        return FoundMeasure(made._replace(fraction=True), end)

    def read_times(self, at: int) -> FoundMeasure | None:
        """ "twice", "three times", "dreimal"."""
        value = measure_words.times_words().get(self.words[at])
        end = at + 1
        if value is None:
            number = self._number(at)
            if number is None or self.word(number[1]) not in measure_words.TIMES_NOUNS:
                return None
            value = int(number[0][0])
            end = number[1] + 1
        return FoundMeasure(self.made(TIMES, value, at, end), end)

    def read_ordinal(self, at: int) -> FoundMeasure | None:
        """ "the third", "3rd"."""
        value = measure_words.ordinals().get(self.words[at])
        if value and self.word(at - 1) in measure_words.ORDINAL_ARTICLES:
            return FoundMeasure(self.made(ORDINAL, value, at, at + 1), at + 1)
        is_digits = self.tokens[at].kind == "number" and self.words[at].isdecimal()
        if is_digits and self.word(at + 1) in ("st", "nd", "rd", "th", "er", "eme", "ª", "º"):
            following = self.token(at + 1)
            if following and following.start == self.tokens[at].end:
                found = self.made(ORDINAL, float(self.words[at][:9]), at, at + 2)
                return FoundMeasure(found, at + 2)
        return None

    def read_one_unit(self, at: int) -> FoundMeasure | None:
        """ "an hour", "une heure et demie"."""
        if self.words[at] not in _ARTICLES and self.words[at] != "one":
            return None
        unit = self._unit(at + 1)
        if unit is None or unit[0].kind not in (TIME, "length", "mass", "volume"):
            return None
        more = self._fraction_behind(unit[1])
        is_duration = self.word(at - 1) in measure_words.DURATION_WORDS
        if not more and not is_duration and self.words[at] != "one":
            return None
        share, end = more or (0, unit[1])
        made = self.made(unit[0].kind, unit[0].to_base(1 + share), at, end)
        return FoundMeasure(made._replace(number=1 + share, unit=unit[0].name), end)

    def _fraction_behind(self, at: int) -> tuple[float, int] | None:
        """The fraction that is added behind "and", and the index behind it."""
        if self.word(at) not in _JOINTS:
            return None
        at += 1 + (self.word(at + 1) in _ARTICLES)
        value = measure_words.fractions().get(self.word(at))
        if value is None or self._unit(at + 1):
            return None
        return value, at + 1

    def _number(self, at: int) -> tuple[tuple[float, ...], int] | None:
        """The readings of a number in digits or words, and the index behind it."""
        token = self.token(at)
        if token is None:
            return None
        if token.kind == "number":
            readings = number_readings(token.text, self.language)
            return self._with_factor(readings, at + 1)
        found = spelled_number(self.words, at, self.spelled) if token.kind == "word" else None
        if found is None or (found.size == 1 and found.value == 1):
            if self.word(at) in _ARTICLES or self.word(at) in _HALVES:
                factor = large_number(self.word(at + 1), self.spelled)
                half = 1 if self.word(at) in _ARTICLES else 0.5
                return ((factor * half,), at + 2) if factor else None
            return None
        return (found.value,), at + found.size

    def _with_factor(self, readings: tuple[float, ...], at: int) -> tuple[tuple[float, ...], int]:
        """The readings with the factor that follows: "2 million", "3 dozen"."""
        token = self.token(at)
        if token is None or token.kind != "word":
            return readings, at
        factor = large_number(token.folded, self.spelled)
        is_money = self.word(at - 2)[-1:] in tuple(_CURRENCIES)
        if factor is None and (is_money or token.text in ("Mio", "Mrd", "bn")):
            factor = _SHORT_FACTORS.get(token.text)
        if factor is None:
            return readings, at
        return tuple(reading * factor for reading in readings), at + 1

    def read_number(self, at: int) -> FoundMeasure | None:
        """A number with its unit or noun: "48 euros", "$48", "two and a half hours"."""
        symbol = unit_of_symbol(self.tokens[at].text) if self._is_currency(at) else None
        number_at = at + (symbol is not None)
        number = self._number(number_at)
        if number is None:
            return None
        readings, end = number
        more = self._fraction_behind(end)
        if more:
            readings = tuple(reading + more[0] for reading in readings)
            end = more[1]
        if symbol:
            return FoundMeasure(self._measured(symbol, readings, at, end), end)
        unit = self._unit(end)
        if unit is None:
            made = self.made(COUNT, readings[0], at, end)
            nouns = self._nouns(end)
            return FoundMeasure(made._replace(values=readings, nouns=nouns), end)
        return self._with_parts(
            FoundMeasure(self._measured(unit[0], readings, at, unit[1]), unit[1])
        )

    def _is_currency(self, at: int) -> bool:
        """Whether a token is a currency before its number."""
        following = self.token(at + 1)
        symbol = unit_of_symbol(self.tokens[at].text)
        is_money = symbol is not None and symbol.kind.startswith("money")
        return is_money and following is not None and following.kind == "number"

    def _measured(self, unit: Unit, readings: tuple[float, ...], at: int, end: int) -> Measure:
        made = self.made(unit.kind, readings[0], at, end)
        values = tuple(map(unit.to_base, readings))
        last = self.tokens[end - 1]
        if find_cjk(last.text):
            # The next word follows without a space
            made = made._replace(end=last.start + len(unit.name))
        return made._replace(values=values, unit=unit.name)

    def _with_parts(self, found: FoundMeasure) -> FoundMeasure:
        """A duration with the smaller units behind it: "1 h 15 min", "two hours and a half"."""
        measure, end = found
        if measure.kind != TIME:
            return found
        more = self._fraction_behind(end)
        if more:
            whole = measure.value * (1 + more[0] / max(measure.number, 1))
            return FoundMeasure(
                measure._replace(values=(whole,), end=self.tokens[more[1] - 1].end), more[1]
            )
        next_at = end + (self.word(end) in _JOINTS)
        number = self._number(next_at)
        unit = self._unit(number[1]) if number else None
        if number is None or unit is None or unit[0].kind != TIME:
            return found
        if unit[0].to_base(1) > _SMALL_PART * measure.value / max(measure.number, 1):
            return found
        whole = measure.value + unit[0].to_base(number[0][0])
        return FoundMeasure(
            measure._replace(values=(whole,), end=self.tokens[unit[1] - 1].end), unit[1]
        )

    def _unit(self, at: int) -> tuple[Unit, int] | None:
        """The unit at a token, and the index behind it."""
        token = self.token(at)
        if token is None or token.kind not in ("word", "symbol"):
            return None
        second_at = at + 1 + (self.word(at + 1) in _BETWEEN_UNIT_WORDS)
        phrase = unit_of_phrase(token.folded, self.word(second_at))
        if phrase:
            return phrase, second_at + 1
        written = token.text.replace("% ", "%").replace("° ", "°").replace("％", "%")
        unit = unit_of_symbol(written) or unit_of_name(token.folded)
        if unit is None and find_cjk(token.text):
            unit = unit_of_name(token.text[:2]) or unit_of_name(token.text[:1])
        return (unit, at + 1) if unit else None

    def _nouns(self, at: int) -> frozenset[str]:
        """The words that are counted: the next ones, up to a mark or a number."""
        stop = stopwords(self.spelled) | RANGE_WORDS | measure_words.PER_WORDS
        found: list[str] = []
        while len(found) < _NOUN_WORDS:
            token = self.token(at)
            if token is None or token.kind != "word" or token.folded in stop:
                break
            found.append(token.folded)
            at += 1
        return frozenset(found)

    def surroundings(self, measure: Measure, at: int, behind: int) -> Measure:
        """A quantity with the words before it that bound it or make it rough, from `behind` on,
        which are a part of it then.
        """
        start = at
        bound = 0
        rough = False
        for size in range(min(_LONGEST_BOUND, at - behind), 0, -1):
            phrase = "_".join(self.words[at - size : at])
            if not bound and phrase in measure_words.bound_words():
                bound = measure_words.bound_words()[phrase]
                start = min(start, at - size)
            if size < _LONGEST_BOUND and self.words[at - size] in measure_words.ROUGH:
                rough = True
                start = min(start, at - size)
        changed = self.word(at - 1) in measure_words.CHANGE_WORDS
        first = self.tokens[start].start if start < at else measure.start
        return measure._replace(
            bound=bound, changed=changed, rough=rough, start=first, before=self.word(at - 1)
        )

    def per(self, at: int) -> tuple[float, int]:
        """The seconds of the time that a rate is in, and the index behind it: "per minute"."""
        noun_at = at
        while noun_at < at + _NOUN_WORDS + 1 and self.word(noun_at) not in measure_words.PER_WORDS:
            noun_at += 1
        unit = self._unit(noun_at + 1) if self.word(noun_at) in measure_words.PER_WORDS else None
        if unit is None or unit[0].kind != TIME:
            return 0, at
        return unit[0].factor, unit[1] if noun_at == at else at


@lru_cache(maxsize=16_384)
def _may_begin(word: str, language: str) -> bool:
    """Whether a quantity can begin with a folded word in this language."""
    tables = (
        _ARTICLES,
        measure_words.BEFORE_FRACTIONS,
        measure_words.fractions(),
        measure_words.times_words(),
        measure_words.ordinals(),
    )
    if any(word in table for table in tables) or word in ("one", "ete") or is_month(word):
        return True
    if exclusive_word(word, "") or exclusive_word(word, "feira"):
        return True
    return spelled_number([word], 0, language) is not None
