"""Words around numbers, by language and folded: what makes them shares, dates, times of the day,
bounds and rough figures.
"""

from collections.abc import Iterable
from functools import cache

FRACTIONS = {
    "half halves halfway halfte halb halbe halber halbes halben moitie demi demie mitad medio "
    "media metade meio meia": 1 / 2,
    "third thirds drittel tiers tercio tercios terco tercos": 1 / 3,
    "quarter quarters viertel quart quarts cuarto cuartos quarto quartos": 1 / 4,
    "fifth fifths funftel cinquieme cinquiemes quinto quintos": 1 / 5,
    "sixth sixths sechstel": 1 / 6,
    "eighth eighths achtel": 1 / 8,
    "tenth tenths zehntel dixieme dixiemes decimo decimos": 1 / 10,
}
ALSO_ORDINALS = frozenset(
    "third fifth sixth eighth tenth cuarto quarto quinto cinquieme dixieme decimo quart".split()
)
"""Fractions that are ordinals behind "the", and shares behind "a"."""
BEFORE_FRACTIONS = frozenset("a an one ein eine einen einem einer un une una um uma".split())
HALF_HOURS = frozenset("halb".split())
TIMES = {
    2: "twice double doubled doubles doppelt doppelte doppelten verdoppelt verdoppelte zweimal "
    "doble duplico duplicado dobro duplicou double doubla",
    3: "thrice triple tripled treble dreimal dreifach dreifache verdreifacht verdreifachte triple "
    "tripla triplo triplico triplicou",
    4: "quadruple quadrupled viermal vierfach vervierfacht",
    5: "funfmal funffach",
}
TIMES_NOUNS = frozenset("times mal fois veces vezes".split())
"""Behind a number: "three times"."""
ROUGH = frozenset(
    (
        "about around roughly nearly almost approximately circa ca some etwa ungefahr rund fast "
        "knapp gut environ presque pres vers casi unos unas aproximadamente alrededor cerca quase "
        "uns umas"
    ).split()
)
"""Before a number, perhaps with one word between ("cerca de")."""
BOUNDS = {
    1: (
        "at_least more_than over above no_fewer_than no_less_than mindestens uber mehr_als "
        "wenigstens au_moins plus_de plus_que al_menos mas_de por_lo_menos pelo_menos mais_de "
        "no_minimo acima_de older_than longer_than"
    ),
    -1: (
        "at_most less_than fewer_than under below up_to no_more_than not_more_than bis_zu unter "
        "hochstens weniger_als maximal au_plus moins_de jusqu'a como_maximo menos_de hasta "
        "a_lo_sumo no_maximo ate abaixo_de younger_than shorter_than"
    ),
}
"""Before a number: what is at least so much, and at most."""
CHANGE_WORDS = frozenset("by um de en em of mit avec con com".split())
"""Before a number that may be a difference."""
MONTHS = (
    "january/jan/januar/janner/janvier/enero/janeiro/gennaio",
    "february/feb/februar/fevrier/febrero/fevereiro/febbraio",
    "march/mar/marz/mars/marzo/marco",
    "april/apr/avril/abril/aprile",
    "may/mai/mayo/maio/maggio",
    "june/jun/juni/juin/junio/junho/giugno",
    "july/jul/juli/juillet/julio/julho/luglio",
    "august/aug/aout/agosto",
    "september/sep/sept/septembre/septiembre/setembro/settembre",
    "october/oct/oktober/okt/octobre/octubre/outubro/ottobre",
    "november/nov/novembre/noviembre/novembro",
    "december/dec/dezember/dez/decembre/diciembre/dezembro/dicembre",
)
NO_MONTHS = frozenset("may mar jan mai sep marco mars".split())
"""Months only beside a number, or with a capital letter."""
ORDINALS = (
    "first/ersten/erste/erster/erstes/premier/premiere/primer/primero/primera/primeiro/primeira",
    ("second/zweiten/zweite/zweiter/zweites/deuxieme/seconde/segundo/segunda"),
    "third/dritten/dritte/dritter/drittes/troisieme/tercer/tercero/tercera/terceiro/terceira",
    "fourth/vierten/vierte/vierter/quatrieme/cuarto/cuarta/quarto/quarta",
    "fifth/funften/funfte/funfter/cinquieme/quinto/quinta",
    "sixth/sechsten/sechste/sechster/sixieme/sexto/sexta",
    "seventh/siebten/siebte/siebter/septieme/septimo/setimo",
    "eighth/achten/achte/achter/huitieme/octavo/oitavo",
    "ninth/neunten/neunte/neunter/neuvieme/noveno/nono",
    "tenth/zehnten/zehnte/zehnter/dixieme/decimo/decima",
)
ORDINAL_ARTICLES = frozenset(
    "the its his her their der die das den dem im am zum le la les au el los o a os as no na ao "
    "on".split()
)
MORNING = frozenset("am morgens vormittags matin mañana manana manha".split())
EVENING = frozenset("pm evening afternoon abends nachmittags nachts soir tarde noche noite".split())
CLOCK_HOURS = frozenset("uhr h heures heure o'clock oclock horas hora".split())
PER_WORDS = frozenset("per pro je par por a an am im al each jede jeden".split())
"""Between a quantity and the time that it is for."""
DURATION_WORDS = frozenset(
    (
        "for in within after lasts last takes take took lasted every von dauert dauerte in nach "
        "binnen alle dure dura duro prend prennent pendant en demora leva demorou tarda tardo toma "
        "durante es jusqu"
    ).split()
)
"""Before "an hour", which is a duration then; else it may be "a day" of "30 loaves a day"."""


@cache
def fractions() -> dict[str, float]:
    """The value of each word for a fraction."""
    return _by_form(FRACTIONS.items())


@cache
def times_words() -> dict[str, float]:
    """The value of each word such as "twice"."""
    return _by_form((words, value) for value, words in TIMES.items())


@cache
def bound_words() -> dict[str, int]:
    """1 for each phrase that means at least so much, -1 for at most."""
    found: dict[str, int] = {}
    for bound, words in BOUNDS.items():
        found.update(dict.fromkeys(words.split(), bound))
    return found


@cache
def ordinals() -> dict[str, int]:
    """The number of each ordinal."""
    found: dict[str, int] = {}
    for value, forms in enumerate(ORDINALS, 1):
        found.update(dict.fromkeys(forms.split("/"), value))
    return found


def _by_form(table: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for words, value in table:
        found.update(dict.fromkeys(words.split(), value))
    return found
