"""Clauses that say what notes mention, with the name as their subject or object: "that Hamza is
named in", "in denen Hamza vorkommt". Pure.
"""

from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.patterns import lazy_pattern

# "Die Docker nicht erwähnen" excludes what it names
_WORD = r"(?!(?:not|never|nicht|nie|kein\w*|ne|pas|jamais|no|nunca|nao)\b)[^\W_]\S*"
_NAME = rf"(?P<name>{_WORD}(?: {_WORD}){{0,3}}?)"
_NAMED = r"(?:named|mentioned|cited|discussed)"
_SPANISH_WHERE = r"(?:donde|en (?:las |los )?(?:que|cuales))"
_FORMS = (
    rf"(?:(?:that|which|where|in which) )?{_NAME} (?:is|was|are|were|gets|got) (?:also )?{_NAMED}"
    r"(?: in)?",
    rf"(?:that|which|where|in which) {_NAME} (?:appears?|occurs?|comes? up|shows? up|is|are)"
    r"(?: in)?",
    rf"(?:that |which )?(?:with|having|have|contain(?:ing)?) {_NAME} in (?:them|it|the text|there)",
    rf"(?:naming|featuring|that name|which name) {_NAME}",
    rf"(?:in denen|in welchen|worin|wo) {_NAME} (?:(?:erwahnt|genannt|zitiert|besprochen) (?:wird"
    r"|werden|wurde|wurden|ist|sind)|vorkommt|vorkommen|auftaucht|auftauchen|steht|dabei ist)",
    rf"(?:die|welche) {_NAME} (?:erwahnen|nennen|zitieren|anfuhren)",
    rf"mit {_NAME} (?:im text|darin|drin)",
    rf"(?:ou|dans lesquel(?:le)?s) {_NAME} (?:(?:est|sont|etait)"
    r" (?:mentionne|cite|nomme)e?s?|apparai(?:t|ssent)|figure)",
    rf"(?:ou|dans lesquel(?:le)?s) (?:on (?:mentionne|cite|parle de)|apparait|figure) {_NAME}",
    rf"qui (?:nomment?|citent?|evoquent?) {_NAME}",
    rf"{_SPANISH_WHERE} (?:(?:se )?(?:menciona|nombra|cita)n?(?: a)?|aparecen?|sale) {_NAME}",
    rf"{_SPANISH_WHERE} {_NAME} (?:aparecen?|sale"
    r"|(?:es|son) (?:mencionad|nombrad|citad)[oa]s?)",
    rf"que (?:nombran|citan)(?: a)? {_NAME}",
    rf"(?:onde|em que|nas quais|nos quais) {_NAME} (?:aparecem?|surgem?|(?:e|sao|foi|foram)"
    r" (?:mencionad|citad|nomead)[oa]s?)",
    r"(?:onde|em que|nas quais|nos quais) (?:aparecem?|surgem?|se (?:menciona|cita|fala d[eoa])"
    rf"|(?:e|sao) (?:mencionad|citad)[oa]s?) {_NAME}",
    rf"que (?:citam|nomeiam|referem) {_NAME}",
)
_PATTERNS = tuple(map(lazy_pattern, _FORMS))
MENTIONING = "|".join(form.replace("?P<name>", "?:") for form in _FORMS)
"""The clauses as a part of a pattern for bare text."""
MENTION_TRIGGERS = (
    "named mentioned cited discussed appear occur come show is. are. was. it. them text. there."
    " naming featuring name. erwahn genannt zitier besprochen vorkomm auftauch steht nennen"
    " anfuhren dabei darin drin mention cite nomme appara figure parle evoque menciona nombra cita"
    " aparec sale fala surge nomea refer"
)
"""Each clause has a word that begins like one of these."""


def mentioned_name(clause: str) -> str:
    """What the notes of a clause mention; empty for another clause."""
    bare = bare_text(clause)
    for pattern in _PATTERNS:
        if found := pattern.fullmatch(bare):
            return clause[found.start("name") : found.end("name")]
    return ""
