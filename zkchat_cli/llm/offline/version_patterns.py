"""The patterns of questions about versions: "what changed since 4.0?". A number with a dot is a
version there, and no day; a number alone only behind the word. See `request_slots`.
"""

from zkchat_cli.llm.offline.request_slots import family

_CHANGE = (
    r"(?=.*\b(?:new|news|chang\w*|added|different|introduced|fixed|removed|updates?|neue?s?"
    r"|geandert|verandert|anders|hinzu\w*|dazu\w*|eingefuhrt|entfernt|anderungen|neuerungen"
    r"|change\w*|nouve\w+|neuf|ajoute\w*|modifie\w*|cambi\w+|nuev\w+|noved\w+|anadi\w+"
    r"|mud(?:ou|aram|ancas?)|novo|nova|novidades|adicionad\w+|alterad\w+|alteracoes)\b)"
)
_ASKING = (
    r"(?:what|which|was|welche|quoi|quels?|quelles?|qu['’]est|que|cuales|quais|o que|{show})\b"
)
_SINCE = r"(?:since|after|from|seit|nach|ab|depuis|apres|desde|despues de|apos|depois d[ea])"
_WITHIN = r"(?:in|with|mit|dans|avec|en|con|na|no|em|com)"
_NAME = r"(?:version|versao|release|v\.?)"
_NUMBER = (
    rf"(?:(?:the|der|la|a|le|o) )?(?:{_NAME} ?(?P<version>\d{{1,3}}(?:\.\d{{1,3}}){{0,3}})"
    r"|(?P<version2>\d{1,3}(?:\.\d{1,3}){1,3}))(?:\.x)?"
)
_VERBS = (
    r"(?: (?:neu|anders|geandert|verandert|hinzugekommen|dazugekommen|hinzugefugt|eingefuhrt"
    r"|entfernt|alles|worden|wurde|wurden))*"
)
_TRIGGERS = "what which was welche quoi quel qu que cuales quais o list show zeig montre muestra"
SINCE_VERSION = family(
    "outline",
    _TRIGGERS,
    rf"{_CHANGE}{_ASKING}[^\d]{{0,60}} (?P<after>{_SINCE}) {_NUMBER}{_VERBS}",
    rf"{_CHANGE}{_ASKING}[^\d]{{0,60}} {_WITHIN} {_NUMBER}{_VERBS}",
    needs="0 1 2 3 4 5 6 7 8 9 v",
    may_be_lookup=True,
)
