"""The values of properties that a request compares: "rated at least 4", "mit 5 Sternen". Pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.patterns import lazy_pattern

_SIGNS = {
    ">=": r"at least|no less than|minimum|mindestens|ab|wenigstens|au moins|al menos|como minimo"
    r"|por lo menos|pelo menos|no minimo|>=|≥",
    "<=": r"at most|no more than|up to|hochstens|maximal|bis zu|au plus|au maximum|como maximo"
    r"|como mucho|no maximo|<=|≤",
    ">": r"(?:more|higher|greater|better|larger) than|above|over|uber|mehr als|besser als|hoher als"
    r"|plus de|superieure? a|au[- ]dessus de|mas de|(?:mayor|superior)(?: de| que| a)?"
    r"|por encima de|mais de|(?:maior|superior)(?: do que| que| a)?|acima de|>",
    "<": r"(?:less|lower|fewer|worse|smaller) than|below|under|unter|weniger als|schlechter als"
    r"|moins de|inferieure? a|(?:en|au)[- ]dessous de|menos de|(?:menor|inferior)(?: de| que| a)?"
    r"|por debajo de|(?:menor|inferior) do que|abaixo de|<",
    "=": r"exactly|genau|exactement|exactamente|exatamente|=",
}
_SIGN = "|".join(f"(?P<sign{place}>{words})" for place, words in enumerate(_SIGNS.values()))
_ANY_SIGN = "|".join(_SIGNS.values())
_AND = r"(?:or|and|oder|und|ou|et|o|y|e)"
_MORE = (
    rf"{_AND} (?:more|higher|better|above|up|mehr|besser|hoher|plus|mieux|mas|mejor|mais|melhor"
    r"|acima)"
)
_LESS = rf"{_AND} (?:less|lower|worse|below|weniger|schlechter|moins|menos|peor|pior|abaixo)"
_STARS = r"(?:stars?|sternen?|etoiles?|estrellas?|estrelas?)"
_TIMES = r"(?:minutes?|mins?|minuten?|minutos?)\b"
_TAKING = (
    r"(?:(?:that |which |die |qui |que )?(?:take|takes|need|needs|last|dauern?|brauchen?|prennent"
    r"|durent|demandent|tardan|duran|llevan|demoram|duram|levam))"
)
_RATED = (
    r"(?:(?:that |which |die |qui |que )?(?:i |ich |j['’]ai |he )?(?:(?:are|were|sind|sont|son|sao"
    r"|estan|estao) )?(?:rated|scored|bewertet|notee?s?|valorad[oa]s|calificad[oa]s|puntuad[oa]s"
    r"|avaliad[oa]s|classificad[oa]s)(?: (?:with|as|at|mit|avec|a|con|com|como))?)"
)
_NAMES = (
    r"rating|score|price|cost|pages|year|priority|servings|duration|bewertung|wertung|preis|seiten"
    r"|jahr|prioritat|portionen|dauer|note|evaluation|prix|annee|priorite|duree|nota|valoracion"
    r"|calificacion|puntuacion|precio|paginas|ano|prioridad|duracion|avaliacao|classificacao|preco"
    r"|prioridade|duracao"
)
_WITH = (
    r"(?:(?:with|having|where|whose|of|mit|deren|avec|dont|con|cuya|com|cuja|de|von)"
    r" (?:(?:an?|the|eine?[rmn]?|une?|la|una?|uma?|el|o) )*)"
)
_PEOPLE = r"(?:people|persons|guests|personen|leute|personnes|personas|pessoas|portionen|portions)"
# "Recipes that serve 4", "Rezepte für 4 Personen"
_SERVING = (
    r"(?:(?:that |which |die |qui |que )?(?:serves?|feeds?|servent|sirven|servem|rinden|rendem)"
    rf"(?: (?:para|a))?(?= .*\d)|(?:for|fur|pour|para)(?= (?:\w+ ){{0,3}}\d+ {_PEOPLE}))"
)
_NUMBER = r"(?P<number>\d{1,9}(?:[.,]\d{1,3})?)(?:/\d+)?"
_VALUE = lazy_pattern(
    rf"(?:{_RATED}|(?P<serves>{_SERVING})|"
    rf"{_WITH}(?P<name>{_NAMES})(?: (?:is|ist|est|es|e|of|von|de|d['’])|:)?|"
    rf"(?P<takes>{_TAKING})(?= .*{_TIMES})|"
    rf"(?P<timed>(?:(?:of|de|d['’]|in|en|em|a|von) ?)?(?=(?:{_ANY_SIGN}) \d+ {_TIMES}))|"
    rf"(?:die |welche )?(?P<lasts>(?=(?:[^\d]* )?\d+ {_TIMES} (?:dauern|brauchen)))|"
    rf"{_WITH}(?=(?:[^\d]* )?\d[\d.,]* {_STARS}))"
    rf" ?(?:(?:{_SIGN}) ?)?{_NUMBER}"
    rf"(?: {_STARS}| {_PEOPLE}| ?{_TIMES}| punkten?| points?| puntos?| pontos?)?"
    rf"(?: (?:(?P<more>{_MORE})|(?P<less>{_LESS})))?"
    r"(?: (?:bewertet|sind|haben|have|dauern|brauchen))*"
    rf"|(?:die )?mit (?:(?P<sign_before>mindestens|hochstens|uber|unter|genau) )?"
    r"(?P<number2>\d{1,3}(?:[.,]\d{1,3})?)(?: sternen?| punkten?)?"
    rf"(?: (?:(?P<more2>{_MORE})|(?P<less2>{_LESS})))?(?: sternen?| punkten?)?"
    r" bewertet(?: sind| wurden)?"
)

_HOURS = lazy_pattern(
    r"\b(?P<of>d['’] ?)?(?:(?P<half>half an hour|(?:einer |eine )?halben? stunde|(?:une )?demi[-"
    r" ]heure"
    r"|media hora|meia hora)"
    r"|(?:(?P<count>\d{1,2})|an?|one|einer?|une|una|uma) (?:hours?|stunden?|heures?|horas?))\b"
)
_NUMBER_ALONE = lazy_pattern(
    rf"(?:(?:with|rated|mit|avec|con|com) )?(?:(?:{_SIGN}) ?)?{_NUMBER}(?: {_STARS})?"
)
_GERMAN_SIGNS = {"mindestens": ">=", "hochstens": "<=", "uber": ">", "unter": "<", "genau": "="}
_COMPARED = lazy_pattern(r"(?P<name>[\w -]+): (?P<sign>[<>]=?|=) (?P<number>[\d.,]+)")
_READABLE = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "=": "="}


class TakenValue(NamedTuple):
    """A comparison as the list tool has it ("rating: >= 4"), and the text without its words."""

    property: str
    rest: str


def take_value(text: str) -> TakenValue | None:
    """The comparison in a restriction to notes; None without one."""
    text = _in_minutes(text)
    bare = bare_text(text)
    found = _VALUE.search(bare)
    if found is None or not found[0].strip():
        return None
    before = bare[: found.start()]
    if before and not before.endswith((" ", ",")):
        return None
    groups = found.groupdict()
    sign = _sign_of(found)
    if groups["sign_before"]:
        sign = _GERMAN_SIGNS[groups["sign_before"]]
    if groups["more"] or groups["more2"]:
        sign = ">="
    elif groups["less"] or groups["less2"]:
        sign = "<="
    number = groups["number"] or groups["number2"]
    name = groups["name"] or _usual_name(groups)
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return TakenValue(f"{name}: {sign} {number}", " ".join(rest.split()))


def _usual_name(groups: Mapping[str, str | None]) -> str:
    """The property that a comparison is of where it names none."""
    if groups["serves"]:
        return "servings"
    is_duration = groups["takes"] or any(groups[name] is not None for name in ("lasts", "timed"))
    return "duration" if is_duration else "rating"


def _in_minutes(text: str) -> str:
    """A text with hours as minutes, which recipes are measured in: "less than an hour"."""
    bare = bare_text(text)
    pieces: list[str] = []
    end = 0
    for hours in _HOURS.finditer(bare):
        minutes = 30 if hours["half"] else 60 * int(hours["count"] or 1)
        of = "de " if hours["of"] else ""
        pieces += (text[end : hours.start()], f"{of}{minutes} minutes")
        end = hours.end()
    return "".join((*pieces, text[end:]))


def change_value(text: str, before: str) -> str:
    """The comparison before with the number that a text names ("with 5"); empty for other texts."""
    compared = _COMPARED.fullmatch(before)
    found = _NUMBER_ALONE.fullmatch(bare_text(text).strip())
    if compared is None or found is None:
        return ""
    return f"{compared['name']}: {_sign_of(found)} {found['number']}"


def _sign_of(found: "re.Match[str]") -> str:
    """The sign that the words before a number mean; equal without any."""
    signs = (sign for place, sign in enumerate(_SIGNS) if found[f"sign{place}"])
    return next(signs, "=")


def readable_value(written: str) -> str:
    """A comparison as it is read, `rating ≥ 4`; empty for another property."""
    found = _COMPARED.fullmatch(written)
    return f"{found['name']} {_READABLE[found['sign']]} {found['number']}" if found else ""
