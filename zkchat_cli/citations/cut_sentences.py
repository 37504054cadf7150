"""Quotations that cut a sentence so that it says something else: "safe to walk on" where the note says "not safe to walk on".

The words around a quotation are looked at, up to the borders of its clause for negations, and of its sentence for conditions. In doubt a
quotation counts as cut, because then the whole sentence is shown.
"""

import re
from collections.abc import Sequence

from zkchat_cli.text.patterns import lazy_pattern

REACH = 300
"""Characters before and after a quotation that are looked at."""
_NEGATION = (
    r"(?:(?:not(?! (?:only|just|merely)\b)|never|no|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|barely|scarcely|rarely"
    r"|seldom|false|untrue|wrong|myth|den(?:y|ies|ied)|doubt(?:s|ed)?|unlikely|impossible|fail(?:s|ed)? to|refus(?:es?|ed) to"
    r"|instead of|rather than|lacks?"
    r"|nicht|nie|niemals|kein(?:e[nrsm]?)?|nichts|niemand|ohne|weder|kaum|ne|pas|jamais|sans|aucune?|rien|nunca|jamas|ningun[ao]?|nada|nadie"
    r"|non|nao|niet|nooit|geen|zonder)\b|\bn'(?=\w))"
)
_NEGATED = lazy_pattern(rf"\b{_NEGATION}|n't\b|(?:un|non|anti)-\Z|[不没沒未無无非別别勿莫](?:可以?|能|能够|会|會|要|得|許|许|應該|应该)?\Z")
_CONDITION = (
    r"(?:(?:if|unless|except|provided|as long as|whether|not true that|false that|wenn|falls|sofern|ausser|es sei denn|si|sauf|a moins"
    r"|salvo|excepto|a menos|tenzij|indien)\b)"
)
_CONDITIONAL = lazy_pattern(rf"\b{_CONDITION}|如果|若|除非")
_LIMITED = lazy_pattern(r"\b(?<!not )(?:only|solely|exclusively|nur|seulement|uniquement|solo|solamente|alleen)\b|只|僅|仅")
_NEGATED_LATER = lazy_pattern(r"\b(?:nicht|keine?[nrsm]?|niet|geen)\b|ない|ません|なかった|않|없")
"""Negations that end a clause."""
_NEGATED_NEXT = lazy_pattern(rf"[ ,]*(?:[\w']+ )?{_NEGATION}|[ ,]*(?:\w+n't|cannot)\b|\A'?n't\b")
_CONDITIONAL_NEXT = lazy_pattern(rf"[^,;:()]*(?:,|[ ]-|\()[ ]?(?:(?:but|and|even) )?(?:only|{_CONDITION})")
_SENTENCE = lazy_pattern(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bdr)(?<!\bmr)(?<!\bmrs)(?<!\bcf)(?<!\bca)(?<!\bz\.b)[.!?…;][\"')\]]*(?:\s|\Z|(?=[\u3040-\u9fff-]))|[。！？；]"
)
_INTERJECTED = lazy_pattern(r"\([^()]*\)|, (?:which|who|whose|where|when)\b[^,]*,")
_SUBJECT = r"(?:it|he|she|they|we|i|you|there|this|that|these|those)"
_CLAUSE = lazy_pattern(
    rf"[:()：（）]|[ ]-[ ]|, (?:(?:and|or|so) )?(?={_SUBJECT}\b)|\band (?={_SUBJECT}\b)"
    r"|\b(?:but|although|though|however|whereas|while|because|since|who|which|aber|sondern|weil|mais|pero)\b|[，、]"
)
_REASON_FIRST = lazy_pattern(r"\A\s*(?:since|because|although|though|while|after|before|weil|obwohl|no|nein)\b[^,]*, ?")


def is_cut(before: str, after: str, omitted: Sequence[str], *, names_operators: bool) -> bool:
    """Whether a quotation leaves out words of its sentence that negate or restrict it.

    All texts are normalized: those of the note before and after the quotation in its paragraph, and those omitted at its ellipses. With
    `names_operators`, "not" is the operator NOT.
    """
    if names_operators:
        before, after = re.sub(r"\bnot\b", " ", before), re.sub(r"\bnot\b", " ", after)
    if _changes_what_follows(before) or _changes_what_precedes(after):
        return True
    for gap in omitted:
        pieces = _SENTENCE.split(gap)
        if len(pieces) == 1 and (_NEGATED.search(gap) or _CONDITIONAL.search(gap) or _LIMITED.search(gap)):
            return True
        if len(pieces) > 1 and (_changes_what_precedes(pieces[0]) or _changes_what_follows(pieces[-1])):
            return True
    return False


def _changes_what_follows(text: str) -> bool:
    if not text or any(end.end() == len(text) for end in _SENTENCE.finditer(text, max(0, len(text) - 10))):
        return False
    sentence = _SENTENCE.split(text[-REACH:])[-1]
    if _CONDITIONAL.search(sentence):
        return True
    clause = _CLAUSE.split(_REASON_FIRST.sub("", _INTERJECTED.sub(",", sentence), count=1))[-1]
    return bool(_NEGATED.search(clause) or _LIMITED.search(clause))


def _changes_what_precedes(text: str) -> bool:
    if not text or _SENTENCE.match(text):
        return False
    sentence = _SENTENCE.split(text[:REACH], maxsplit=1)[0]
    clause = re.split(r"[,;:()，、：（）]| - |\b(?:but|aber|mais|pero)\b", sentence, maxsplit=1)[0]
    return bool(
        _NEGATED_NEXT.match(sentence)
        or _NEGATED_LATER.search(clause)
        or _CONDITIONAL.search(clause)
        or _LIMITED.search(clause)
        or _CONDITIONAL_NEXT.match(sentence)
    )
