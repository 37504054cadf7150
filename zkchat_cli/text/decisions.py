"""Words of decisions, of changes and of corrections, in English, German, French, Spanish, Chinese
and partly in Russian.
"""

import re

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import CLOSING_MARKS, FULL_STOPS, end_mark, split_sentences
from zkchat_cli.text.words import content_terms

# Longest message in characters that is searched for decisions and corrections; a longer one is a
# text to work on
MAX_STATEMENT = 2000
# Words with a meaning that a decision has at least: "We agreed." decides nothing
LEAST_WORDS = 2
_VERBS = "take|use|buy|order|book|pay|keep|choose|pick|rent|sell|hire|drop|cancel"
DECISION = lazy_pattern(
    r"\b(?:decid(?:ed?|es)|decisions?|agreed|settled on|chose|chosen|opted|go(?:ing)? (?:with|for)"
    rf"|(?:(?:i|we)(?:['’]ll| will| shall)|let['’]?s) (?:{_VERBS})"
    r"|make (?:it|that) \d"
    r"|beschlossen|entschieden|entscheidung|geeinigt|décidé|décision|choisi|convenu"
    r"|decidid[oa]|decidimos|acordado|acordamos|elegimos|решил[аи]?|договорились)\b"
    r"|决定|同意|选定|商定",
    re.IGNORECASE,
)
_PIECES = (
    *("decid", "decis", "agreed", "settled on", "chose", "opted", "go with", "going with"),
    *("go for", "going for", "'ll ", "’ll ", "will ", "shall ", "let's ", "let’s ", "lets "),
    *("make it ", "make that ", "beschlossen", "entsch", "geeinigt", "décid", "décis", "choisi"),
    *("convenu", "acordad", "acordamos", "elegimos", "реши", "договорились"),
    *("决定", "同意", "选定", "商定"),
)
"""Pieces of words: every match of `DECISION` has one."""
_CHANGE_PIECES = (
    *(" now", "Now ", "change", "raise", "lowered", "moved ", "make ", "jetzt", "nun ", "geändert"),
    *("maintenant", "ahora", "改", "现在"),
)
"""Pieces of words: every match of `_NEW_NUMBER` has one."""
CHANGE = lazy_pattern(
    r"\b(?:now|instead|change[ds]?|actually|correct(?:ion|ed)|no longer|rather|raised?|lower(?:ed)?"
    r"|increased?|reduced?|make (?:it|that)|jetzt|nun|stattdessen|geändert|korrektur|doch"
    r"|maintenant|plutôt|ahora|теперь)\b"
    r"|现在|改为|改成|更正",
    re.IGNORECASE,
)
_CORRECTION = lazy_pattern(
    r"(?:(?:no|nope|wrong|incorrect|actually|correction|i mean"
    r"|nein|falsch|korrektur|nicht doch|non|faux|en fait|erratum"
    r"|incorrecto|corrección|en realidad|mejor dicho|нет|неверно)\s{0,2}[,:;—–-]\s{0,2}\S"
    r"|(?:what )?i meant\b"
    r"|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not (?:right|correct|true))\b"
    r"|(?:you['’]re|you are|you were) (?:wrong|mistaken)\b|not quite\b"
    r"|das (?:stimmt (?:so )?nicht|ist (?:falsch|nicht richtig))\b|(?:ich meinte|gemeint war)\b"
    r"|(?:c['’]est|ce n['’]est pas) (?:faux|correct|exact|juste|vrai)\b|je voulais dire\b"
    r"|(?:eso )?(?:es falso|no es (?:cierto|correcto|así)|está mal)\b|quería decir\b"
    r"|不对|错了|不是的|更正|纠正|我(?:的意思是|是说|指的是)|你(?:说|弄|搞)错)",
    re.IGNORECASE,
)
"""The beginning of a sentence that corrects what was said."""
_SENTENCE_START = lazy_pattern(rf"(?:^|[{FULL_STOPS}\n])\W{{0,4}}")
_NEW_NUMBER = lazy_pattern(
    r"\b(?:(?:is|are|costs?) now|now (?:is|are|costs?)"
    r"|(?:changed?|raised?|lowered|moved) (?:it |that )?to|make (?:it|that)"
    r"|(?:ist|kostet) (?:jetzt|nun)|geändert|(?:est|coûte) maintenant|ahora (?:es|son|cuesta))\b"
    r"[^.!?\n]{0,40}\d|(?:改为|改成|现在是)[^。！？\n]{0,20}\d",
    re.IGNORECASE,
)
"""A sentence that says that a number is different now."""


def states_decision(text: str) -> bool:
    """Whether a sentence of a message decides something."""
    if len(text) > MAX_STATEMENT or not may_decide(text):
        return False
    for line in text.split("\n"):
        for sentence in split_sentences(line):
            is_question = sentence.rstrip(CLOSING_MARKS).endswith(("?", "？"))
            if is_question or not DECISION.search(sentence):
                continue
            if len(set(content_terms(sentence))) >= LEAST_WORDS:
                return True
    return False


def may_decide(text: str) -> bool:
    """Whether a text has a word of decisions. The search for pieces of words takes a tenth of the
    time of the pattern, and most messages have none.
    """
    lower = text.lower()
    return any(piece in lower for piece in _PIECES) and DECISION.search(text) is not None


def states_correction(text: str) -> bool:
    """Whether a message corrects what was said, or says that a number is different now."""
    if len(text) > MAX_STATEMENT:
        return False
    for start in _SENTENCE_START.finditer(text):
        found = _CORRECTION.match(text, start.end())
        if found is not None and not _is_question(text, found.end()):
            return True
    if not any(piece in text for piece in _CHANGE_PIECES):
        return False
    found = _NEW_NUMBER.search(text)
    return found is not None and not _is_question(text, found.end())


def _is_question(text: str, at: int) -> bool:
    """Whether the sentence at a position is a question."""
    return end_mark(text, at) in ("?", "？")
