"""The patterns of requests for an average or a sum: "average rating of my books", "how many km did
I run in March?". See `request_slots`; whether notes have such amounts, `amounts` asks.
"""

from zkchat_cli.llm.offline.request_slots import family

_WHAT = (
    r"(?:(?:what|how much|how high)(?:['’]s| is| was| are)|was (?:ist|war)|wie hoch (?:ist|war)"
    r"|quelle? (?:est|etait)|cual (?:es|era)|qual (?:e|era)|{show}|calculate|compute|berechne"
    r"|calcule|calcula)"
)
_AMOUNT = r"(?P<amount>(?!of\b|up\b|de\b|the\b|der\b|la\b)[^\W\d]\w+|€|\$)"
_OF = (
    r"(?: (?:of|for|in|from|across|von|fur|der|des|de|du|en|dans|dos|das|do|da|em|nas?|nos?|{the}"
    r"|{all}))+"
)
_OFS = r"(?:(?:of|for|von|der|des|die|de|du|dos|das|do|da|{the}) |[dl]['’] ?)*"
# What looks like a plural
_NOUN = r"(?:(?:{notes})|(?P<noun>[^\W\d]\w*(?:s|x|n|r|e|i|people|gente)))"
_BOOKS = rf"{_NOUN}(?:[ ,]+(?P<clause>.+))?"
_MINE = r"(?:my|our|all|meine|unsere|alle|mes|nos|mis|nuestr[oa]s|todos|meus|minhas|nossas)"
_WHEN = (
    r"(?P<dates>(?:in|im|en|em|during|last|this|since|between|diese\w*|letzte\w*|vorige\w*|seit"
    r"|von|vom|zwischen|cette|ce|depuis|le mois|l['’]annee|la semaine|este|esta|el mes|la semana"
    r"|desde|na semana|no mes|hoy|today|yesterday|gestern|heute|ayer|ontem|hier) ?.*?)"
)
_AVERAGES = (
    rf"(?:average|mean|avg|durchschnittliche[nrs]?|mittlere[nrs]?|durchschnitt|schnitt|mittelwert"
    rf"|moyenne|promedio|media) {_OFS}{_AMOUNT}",
    rf"{_AMOUNT} (?:moyenn?e?|medi[ao]|promedio|(?:im )?durchschnitt)",
    rf"durchschnitts-?{_AMOUNT}",
)
_TOTALS = (
    rf"(?:total|sum|summe|gesamtzahl|somme|suma|soma)(?: (?:number|amount|cost))? {_OFS}{_AMOUNT}",
    rf"gesamt-?{_AMOUNT}",
)
_TRIGGERS = (
    "average mean avg durchschnitt mittler mittelwert schnitt moyen promedio media medio total sum"
    " somme soma gesamt"
)


def _of_notes(amounts: tuple[str, ...]) -> tuple[str, ...]:
    """An amount in a time, of notes of a kind, or of all notes."""
    asked = rf"(?:{_WHAT} )?(?:{{the}} |l['’] ?)*"
    patterns: list[str] = []
    for amount in amounts:
        patterns.append(rf"{asked}{amount}(?: {_WHEN})?")
        patterns.append(rf"{asked}{amount}{_OF} {_BOOKS}")
    return tuple(patterns)


_ACTIVITY = r"(?P<activity>[^\W\d]\w+)"
# "that I ran", "die ich gelaufen bin"
_THAT_I = (
    r"(?:(?:that|which|die|que|qu['’]) ?)?(?:(?:i|we|ich|wir|je|j['’]ai|nous avons|yo|eu|he|tenho)"
    r" )?(?:have )?"
)
_REACHED = (
    rf"(?:{{the}} |l['’] ?)*{_TOTALS[0]} {_THAT_I}{_ACTIVITY}(?: bin| habe)?(?: {_WHEN})?",
    rf"(?:{{the}} )*{_TOTALS[0]},? die ich {_WHEN} {_ACTIVITY}(?: bin| habe)?",
)
AVERAGE = family("count", _TRIGGERS, *_of_notes(_AVERAGES), measure="average", may_be_lookup=True)
TOTAL = family(
    "count", _TRIGGERS, *_of_notes(_TOTALS), *_REACHED, measure="sum", may_be_lookup=True
)
_HOW_MANY = r"(?:how (?:many|much)|wie ?viele?|combien(?: d(?:e|['’]))?|cuant[ao]s?|quant[ao]s?)"
_DID = r"(?:did|have|had|bin|habe|hab|haben|sind|ai|avons)(?:[- ](?:i|we|ich|wir|je|nous))?|j['’]ai"
_IN_ALL = r"(?:,? (?:in total|altogether|insgesamt|zusammen|au total|en total|no total|ao todo))?"
DONE = family(
    "count",
    "how wie combien cuant quant",
    rf"{_HOW_MANY} ?(?:{_AMOUNT} )?(?:{_DID}) {_ACTIVITY}{_IN_ALL} {_WHEN}",
    rf"{_HOW_MANY} ?(?:{_AMOUNT} )?(?:{_DID}) {_WHEN}{_IN_ALL} {_ACTIVITY}",
    rf"{_HOW_MANY} ?(?:{_AMOUNT} )?(?:{_DID}){_IN_ALL} {_WHEN} {_ACTIVITY}",
    rf"{_HOW_MANY} ?{_AMOUNT} {_ACTIVITY}{_IN_ALL}(?: {_WHEN})?",
    rf"{_HOW_MANY} ?{_AMOUNT} (?:{_DID}) {_ACTIVITY}{_IN_ALL}",
    rf"{_HOW_MANY} ?{_AMOUNT} (?:{_DID}){_IN_ALL} {_ACTIVITY}",
    rf"{_HOW_MANY} {_ACTIVITY}{_IN_ALL} {_WHEN}",
    rf"(?P<far>how far|wie weit) (?:{_DID}) {_ACTIVITY}{_IN_ALL} {_WHEN}",
    rf"(?P<far>wie weit) (?:{_DID}) {_WHEN} (?P<activity>gelaufen|gefahren|gegangen|geschwommen)",
    measure="sum",
    may_be_lookup=True,
)
OF_NOTES = family(
    "count",
    "how wie combien cuant quant",
    rf"{_HOW_MANY} ?{_AMOUNT} (?:do|does|have|haben|hat|ont|a|tienen|tiene|tem|suman)"
    rf" (?:(?:{{the}}|{{all}}) )*{_MINE} (?:(?:{{the}}) )*{_NOUN}(?: have| contain)?{_IN_ALL}",
    measure="sum",
    may_be_lookup=True,
)
