"""The patterns of requests for the notes with the highest or lowest amount: "my best rated book",
"the
shortest recipe". See `request_slots`; whether notes have such amounts, `amounts` asks.
"""

from zkchat_cli.llm.offline.request_slots import RequestFamily, family

_NOUN = r"(?P<noun>(?!notes?\b|table\b)[^\W\d]\w+)"
_AMOUNT = r"(?P<amount>[^\W\d]\w+)"
_ASKED = (
    r"(?:(?:{show}|which|what|was|welche[rns]?|quels?|quelles?|que|cual(?:es)?|qual|quais)"
    r"(?:['’]s| is| are| was| ist| sind| war| est| sont| es| son| fue| e| foi)? )?(?:{the} )*"
)
_I = r"(?:hab(?:e|en)? (?:ich|wir) |ai[- ]je |j['’]ai |he(?:mos)? |eu )?"
_RATED_BY = {
    "highest": (
        r"(?:best|highest|top)[- ]?rated",
        r"(?:the )?(?:best|highest)",
        r"(?:am (?:besten|hochsten) bewertete[nrs]?|best ?bewertete[nrs]?"
        r"|hochst ?bewertete[nrs]?)",
        r"am (?:besten|hochsten) bewertet",
        r"(?:le|la|les)? ?mieux notee?s?",
        r"(?:mejor|mas alto) (?:valorad|calificad|puntuad)[oa]s?",
        r"(?:melhor|mais bem) avaliad[oa]s?",
    ),
    "lowest": (
        r"(?:worst|lowest)[- ]?rated",
        r"(?:the )?(?:worst|lowest)",
        r"(?:am schlechtesten bewertete[nrs]?|schlechtest ?bewertete[nrs]?)",
        r"am schlechtesten bewertet",
        r"(?:le|la|les)? ?moins bien notee?s?",
        r"(?:peor|mas bajo) (?:valorad|calificad|puntuad)[oa]s?",
        r"pior avaliad[oa]s?",
    ),
}
_MOST = {
    "highest": (
        r"(?:the )?(?:most|highest|largest)|d(?:en|ie) meisten|d(?:er|ie) hochsten?"
        r"|le plus d(?:e|['’])|la plus haute|mas|mayor|mais|maior"
    ),
    "lowest": (
        r"(?:the )?(?:fewest|least|lowest)|d(?:en|ie) wenigsten|d(?:er|ie) niedrigsten?"
        r"|le moins d(?:e|['’])|la plus basse|menos|menor"
    ),
}
_TRIGGERS = (
    "best highest top worst lowest most. fewest least. hochst schlecht meist wenigst mieux moins."
    " mejor peor melhor pior mais. mas. largest niedrig plus. mayor menor menos. maior"
)
_RATING = (
    "rate rating score bewertet bestbewertet hochstbewertet schlechtestbewertet note valorad"
    " calificad puntuad avaliad toprated"
)


def _of_rating(measure: str) -> RequestFamily:
    before, adverb, german, german_end, french, spanish, portuguese = _RATED_BY[measure]
    return family(
        "count",
        _TRIGGERS,
        rf"{_ASKED}{before} {_NOUN}",
        rf"(?:which|what) {_NOUN} (?:did|have|has) (?:i|we) (?:rated?|scored?) {adverb}",
        rf"(?:which|what) {_NOUN} (?:has|have|with) {adverb} (?:rating|score)",
        rf"{_ASKED}{german} {_NOUN}",
        rf"welche[rns]? {_NOUN} (?:ist |sind |{_I})?{german_end}",
        rf"{_ASKED}{_NOUN} {_I}{french}",
        rf"{_ASKED}{_NOUN} {_I}{spanish}(?: he| tengo)?",
        rf"{_ASKED}{_NOUN} {_I}{portuguese}",
        needs=_RATING,
        measure=measure,
        amount="rating",
        may_be_lookup=True,
    )


def _of_amount(measure: str) -> RequestFamily:
    return family(
        "count",
        _TRIGGERS,
        rf"{_ASKED}{_NOUN} (?:has|have|with|hat|haben|mit|a|ont|avec|tiene|tienen|con|tem|com)"
        rf" (?:{_MOST[measure]}) ?{_AMOUNT}(?: (?:hat|haben))?",
        needs="has. have. with. hat. haben. mit. a. ont. avec. tiene con. tem. com.",
        measure=measure,
        may_be_lookup=True,
    )


EXTREMES = (
    _of_rating("highest"),
    _of_rating("lowest"),
    _of_amount("highest"),
    _of_amount("lowest"),
)
