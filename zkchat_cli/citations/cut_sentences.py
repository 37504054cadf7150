"""Whether words that a quotation leaves out of its sentence change what it says: "safe to walk on"
where the note says "not safe to walk on". All texts are normalized.
"""

import re

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import STATEMENT_END

# Characters before and after a quotation that are looked at
REACH = 300
_NEGATION = (
    r"(?:(?:not(?! (?:only|just|merely)\b)|never|no|none|nobody|nothing|nowhere|neither|nor"
    r"|without|cannot|hardly|barely|scarcely|rarely|seldom|false|untrue|wrong|myth"
    r"|den(?:y|ies|ied)|doubt(?:s|ed)?|unlikely|impossible|fail(?:s|ed)? to|refus(?:es?|ed) to"
    r"|instead of|rather than|lacks?"
    r"|nicht|nie|niemals|kein(?:e[nrsm]?)?|nichts|niemand|ohne|weder|kaum|ne|pas|jamais|sans|aucune?|rien|nunca|jamas|ningun[ao]?|nada|nadie"
    r"|non|nao|niet|nooit|geen|zonder)\b|\bn'(?=\w))"
)
_NEGATED = lazy_pattern(
    rf"\b{_NEGATION}|n't\b|(?:un|non|anti)-\Z"
    r"|[不没沒未無无非別别勿莫](?:可以?|能|能够|会|會|要|得|許|许|應該|应该)?\Z"
)
_CONDITION = (
    r"(?:(?:if|unless|except|provided|as long as|whether|not true that|false that"
    r"|wenn|falls|sofern|ausser|es sei denn|si|sauf|a moins|salvo|excepto|a menos|tenzij|indien)\b)"
)
_CONDITIONAL = lazy_pattern(rf"\b{_CONDITION}|如果|若|除非")
_LIMITED = lazy_pattern(
    r"\b(?<!not )(?:only|solely|exclusively|nur|seulement|uniquement|solo|solamente|alleen)\b"
    r"|只|僅|仅"
)
# Negations that end a clause
_NEGATED_LATER = lazy_pattern(r"\b(?:nicht|keine?[nrsm]?|niet|geen)\b|ない|ません|なかった|않|없")
_NEGATED_NEXT = lazy_pattern(rf"[ ,]*(?:[\w']+ )?{_NEGATION}|[ ,]*(?:\w+n't|cannot)\b|\A'?n't\b")
_CONDITIONAL_NEXT = lazy_pattern(
    rf"[^,;:()]*(?:,|[ ]-|\()[ ]?(?:(?:but|and|even) )?(?:only|{_CONDITION})"
)
_STATEMENT = lazy_pattern(STATEMENT_END)
_INTERJECTED = lazy_pattern(r"\([^()]*\)|, (?:which|who|whose|where|when)\b[^,]*,")
_SUBJECT = r"(?:it|he|she|they|we|i|you|there|this|that|these|those)"
_CLAUSE = lazy_pattern(
    rf"[:()：（）]|[ ]-[ ]|, (?:(?:and|or|so) )?(?={_SUBJECT}\b)|\band (?={_SUBJECT}\b)"
    r"|\b(?:but|although|though|however|whereas|while|because|since|who|which|aber|sondern|weil|mais|pero)\b|[，、]"
)
_REASON_FIRST = lazy_pattern(
    r"\A\s*(?:since|because|although|though|while|after|before|weil|obwohl|no|nein)\b[^,]*, ?"
)
_NEXT_CLAUSE = lazy_pattern(r"[,;:()，、：（）]| - |\b(?:but|aber|mais|pero)\b")
_OPERATORS = lazy_pattern(r"\b(?:AND|OR)\b")


def changes_what_follows(text: str) -> bool:
    """Whether the words before a quotation negate or restrict it."""
    *_, sentence = _STATEMENT.split(text[-REACH:])
    if _CONDITIONAL.search(sentence):
        return True
    main = _REASON_FIRST.sub("", _INTERJECTED.sub(",", sentence), count=1)
    *_, clause = _CLAUSE.split(main)
    return any(changes.search(clause) for changes in (_NEGATED, _LIMITED))


def changes_what_precedes(text: str) -> bool:
    """Whether the words behind a quotation negate or restrict it."""
    sentence, *_ = _STATEMENT.split(text[:REACH], maxsplit=1)
    clause, *_ = _NEXT_CLAUSE.split(sentence, maxsplit=1)
    if _NEGATED_NEXT.match(sentence) or _CONDITIONAL_NEXT.match(sentence):
        return True
    return any(changes.search(clause) for changes in (_NEGATED_LATER, _CONDITIONAL, _LIMITED))


def changes_between(gap: str) -> bool:
    """Whether the words that a quotation leaves out at an ellipsis negate or restrict it."""
    first, *others = _STATEMENT.split(gap)
    if others:
        return changes_what_precedes(first) or changes_what_follows(others[-1])
    return any(changes.search(gap) for changes in (_NEGATED, _CONDITIONAL, _LIMITED))


def without_operators(text: str, block: str) -> str:
    """The text without "not" if that is an operator in its block, as in `NOT a AND b`."""
    is_operator = "NOT" in block and _OPERATORS.search(block)
    return re.sub(r"\bnot\b", " ", text) if is_operator else text
