"""Which language a text is in: by its script, and by the frequent words that only one language has. A few lines suffice."""

import re
from functools import cache

from zkchat_cli.text import words

UNKNOWN = ""
"""A text in Latin script with too few frequent words to tell."""
OTHER = "und"
"""A script that few languages share and no table here has; the code is ISO 639-2's for "undetermined"."""

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")
_FREQUENT = {
    "de": """
        aber auch auf aus bei bin bis dann das dass dem den der des die doch durch ein eine einem einen einer eines er für haben
        hat ich ihr ihre im ist ja kann mein mit muss nach nicht noch nur oder schon sehr sein sich sie sind so um und uns unter
        vom von vor war was wenn werden wie wir wird wo wurde zu zum zur über""",
    "es": """
        al como con cuando de del desde donde el ella ellos en entre era es esa ese eso esta este esto está están fue ha han hay
        la las le lo los más muy no nos para pero por porque puede que quien qué se ser si sin sobre son su sus también tiene todo
        un una y ya""",
    "fr": """
        au aux avec c'est ce ces cette comme d'un d'une dans de des dont du elle en est et être fait il ils je la le les leur
        leurs mais même ne nous on ont ou où par pas peut plus pour qu'il que qui sa sans se ses si son sont sur très tout un une
        vous à était""",
    "it": """
        al alla anche che chi ci come con da dal dalla dei del della delle di dove e ed era gli ha hanno i il in io la le lo loro
        ma mi nel nella non o per perché però più può quando quello questa questo se si sono su sua suo tra un una uno è""",
    "nl": """
        aan al als bij dan dat de deze die dit door een en er geen had heb heeft het hij hoe ik in is kan maar meer met mijn moet
        naar niet nog of om onder ook op over te tot uit van veel voor waar was wat we wel werd wordt ze zich zijn zo zou""",
    "pt": """
        ao aos as até com como da das de do dos e ela ele em entre era essa esse esta este está eu foi há isso isto já mais mas me
        mesmo muito na nas no nos não o os ou para pela pelo por porque quando que quem se sem ser seu sua são também tem um uma à
        é""",
    "sv": """
        alla att av blev bli de den denna det detta dig din du där efter eller en ett för från ha hade han har hon hur i inte jag
        kan man med men mig min mot mycket ni nu när och om oss på sig sin ska skulle som så till under upp ut var vi vid vill är
        över""",
}


@cache
def _distinctive() -> dict[str, frozenset[str]]:
    return {"en": words.STOPWORDS, **{code: frozenset(map(words.fold, text.split())) for code, text in _FREQUENT.items()}}


def detect_language(text: str) -> str:
    """The ISO 639-1 code of the text's language, `OTHER` for another script than Latin, or `UNKNOWN`."""
    if not text.isascii():
        latin, letters = len(_LATIN.findall(text)), len(_LETTER.findall(text))
        if 2 * latin < letters:
            return OTHER
    found = words.terms(text)
    counts = {code: sum(word in frequent for word in found) for code, frequent in _distinctive().items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > min(1, len(found) // 20) else UNKNOWN
