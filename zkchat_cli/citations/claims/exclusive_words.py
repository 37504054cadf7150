"""Words of small sets in which each excludes the others: days of the week, seasons, colors and
directions, in five languages. Words are folded; forms of a word are joined by `/`.
"""

from functools import cache
from typing import NamedTuple

SETS = {
    "weekday": (
        "monday/mondays/montag/montags/montage/lundi/lundis/lunes/lunedi/maandag",
        "tuesday/tuesdays/dienstag/dienstags/dienstage/mardi/mardis/martes/terca/tercas/martedi"
        "/dinsdag",
        "wednesday/wednesdays/mittwoch/mittwochs/mercredi/mercredis/miercoles/mercoledi/woensdag",
        "thursday/thursdays/donnerstag/donnerstags/donnerstage/jeudi/jeudis/jueves/giovedi"
        "/donderdag",
        "friday/fridays/freitag/freitags/freitage/vendredi/vendredis/viernes/venerdi/vrijdag",
        "saturday/saturdays/samstag/samstags/sonnabend/samedi/samedis/sabado/sabados/sabato"
        "/zaterdag",
        "sunday/sundays/sonntag/sonntags/sonntage/dimanche/dimanches/domingo/domingos/domenica"
        "/zondag",
    ),
    "season": (
        "spring/fruhling/fruhjahr/printemps/primavera",
        "summer/summers/sommer/verano/verao/estate",
        "autumn/herbst/automne/otono/outono/autunno",
        "winter/winters/hiver/invierno/inverno",
    ),
    "color": (
        "red/rot/rote/roten/roter/rotes/rouge/rouges/rojo/roja/rojos/rojas/vermelho/vermelha",
        "blue/blau/blaue/blauen/blauer/blaues/bleu/bleue/bleus/bleues/azul/azules/azuis",
        "green/grun/grune/grunen/gruner/grunes/vert/verte/verts/vertes/verde/verdes",
        "yellow/gelb/gelbe/gelben/gelber/gelbes/jaune/jaunes/amarillo/amarilla/amarelo/amarela",
        "black/schwarz/schwarze/schwarzen/schwarzer/schwarzes/noir/noire/noirs/negro/negra/preto"
        "/preta",
        "white/weiss/weisse/weissen/weisser/weisses/blanc/blanche/blanco/blanca/branco/branca",
        "brown/braun/braune/braunen/brauner/braunes/brun/brune/marron/marrom",
        "grey/gray/grau/graue/grauen/grauer/graues/gris/grise/cinzento/cinza",
    ),
    "direction": (
        "north/northern/norden/nordlich/nord/norte",
        "south/southern/suden/sudlich/sud/sur/sul",
        "east/eastern/osten/ostlich/leste",
        "west/western/westen/westlich/ouest/oeste/occidente",
    ),
}
_PORTUGUESE_DAYS = {"segunda": 0, "terca": 1, "quarta": 2, "quinta": 3, "sexta": 4}


class ExclusiveWord(NamedTuple):
    """The set of a word, and which of its words it is."""

    kind: str
    number: int


@cache
def _by_word() -> dict[str, ExclusiveWord]:
    found: dict[str, ExclusiveWord] = {}
    for kind, words in SETS.items():
        for index, forms in enumerate(words):
            found.update(dict.fromkeys(forms.split("/"), ExclusiveWord(kind, index)))
    return found


def exclusive_word(word: str, following: str) -> ExclusiveWord | None:
    """The place of a folded word in its set; the following word tells "segunda-feira" from other
    seconds.
    """
    if following in ("feira", "feiras"):
        index = _PORTUGUESE_DAYS.get(word.removesuffix("s"))
        return None if index is None else ExclusiveWord("weekday", index)
    return _by_word().get(word)
