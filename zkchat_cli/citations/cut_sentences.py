"""Whether words that a quotation leaves out of its sentence change what it says: "safe to walk on"
where the note says "not safe to walk on". Which words do is in tables by language (`negations`,
`restrictions`, `quantities`, `hedges`, `clause_words`); this module says where they are looked for.

All texts are normalized, with their accents and case. In doubt words change what a quotation says,
because then the whole sentence is shown.
"""

import re
from collections.abc import Sequence

from zkchat_cli.citations import hedges, negations, quantities, restrictions
from zkchat_cli.citations.clause_language import ClauseLanguage, language_of_text
from zkchat_cli.citations.sentence_parts import NEAR, SentencePart
from zkchat_cli.citations.word_tables import Token, read_tokens, unspaced_words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import statement_ends
from zkchat_cli.text.words import CJK_CHARACTER

# Characters before and after a quotation that are looked at
REACH = 300
# Words of an adverbial that a quotation may end with
_ADVERBIAL = 6
# Words of a subject without an article
_BARE_SUBJECT = 3
_ENDING_OF_ADVERBS = ("ly", "mente")
_DENIED = lazy_pattern(
    r"\A\s*[,;(–—-]\s*(?:"
    r"(?:which|but|although|though|and) (?:it|that|this|he|she|they)?\s*(?:\w+ ){0,2}?"
    r"(?:(?:is|was|are|were|does|did|do|has|have) not\b|(?:isn|wasn|aren|weren|doesn|didn)'t\b"
    r"|(?:is|was) (?:a lie|a myth|false|untrue|wrong|nonsense))"
    r"|(?:was|aber das|doch das|und das) (?:aber )?(?:nicht|falsch|gelogen|unwahr)\b"
    r"|ce qui (?:est faux|n'est pas|était faux|n'était pas)|mais c'est faux"
    r"|(?:lo cual|lo que|pero eso) (?:es|era|no es|no era) (?:falso|mentira|cierto|verdad)"
    r"|(?:o que|mas isso) (?:é|era|não é|não era) (?:falso|mentira|verdade|certo)"
    r"|что (?:неправда|неверно|не так)"
    r")",
    re.IGNORECASE,
)
"""Denies the whole statement before it."""
_INTERJECTED = lazy_pattern(
    r"\([^()]*\)|, (?:which|who|whose|where|when|qui|dont|que|который|которая|которое|die|der|das)"
    r"\b[^,]*,",
    re.IGNORECASE,
)
_REASON_FIRST = lazy_pattern(
    r"\A\s*(?:since|because|although|though|while|after|before|when|as|weil|obwohl|nachdem|bevor"
    r"|als|da|parce que|comme|après que|porque|como|cuando|quando|perché|поскольку|когда|хотя)"
    r"\b[^,]*, ?|\A\s*(?:no|nein|non|nee|nej|não|нет|لا), ",
    re.IGNORECASE,
)
_DIGIT_FIRST = lazy_pattern(r"['$€£¥]?\d")
_DIGIT_LAST = lazy_pattern(r"\d\Z")
_OPERATORS = lazy_pattern(r"\b(?:AND|OR)\b")
_IT_IS = lazy_pattern(r"\s*(?:it|this|that|which)(?:'s| is| was)?\s*", re.IGNORECASE)
_RELATIVE = lazy_pattern(r"\s*(?:which|who|whom|whose|qui)\b", re.IGNORECASE)
_GAP_MARKS = frozenset(",;:()、-")
_ARABIC_AND = lazy_pattern(r"[وف]\w\w")


def changes_what_follows(text: str, quoted: str, sample: str = "") -> bool:
    """Whether the words before a quotation negate, restrict or weaken it. `sample`: more text in
    the same language.
    """
    sentence = _last_sentence(text[-REACH:])
    language = language_of_text(f"{sentence} {quoted} {sample}")
    before = SentencePart(sentence, language)
    if before.says_nothing:
        return False
    if before.is_conditional and not _contrasts(before):
        return True
    if before.ends_in_quantifier or _continues_number(before, SentencePart(quoted, language)):
        return True
    main = _REASON_FIRST.sub("", _INTERJECTED.sub(",", sentence), count=1)
    clause = SentencePart(main, language).last_clause()
    if clause.ends_in_hedge:
        return True
    if _begins_clause(before, quoted) and not before.has(language.that_words):
        return False
    return clause.is_negated or clause.is_limited


def changes_what_precedes(text: str, quoted: str, sample: str = "") -> bool:
    """Whether the words behind a quotation negate, restrict or weaken it. `sample`: more text in
    the same language.
    """
    sentence = _first_sentence(text[:REACH])
    language = language_of_text(f"{quoted} {sentence} {sample}")
    after = SentencePart(sentence, language)
    if after.says_nothing or _DENIED.match(sentence):
        return not after.says_nothing
    after = after.without(language.no_negations, negations.UNSPACED_NO_NEGATIONS)
    after = after.without(language.no_conditions, restrictions.UNSPACED_CONCESSIONS)
    before = SentencePart(quoted, language)
    clause = after.first_clause()
    if _is_bounded(after, before) or _is_hedged_behind(after):
        return True
    if _completes_ne(after, before):
        return True
    if clause.is_negated or clause.is_negated_behind:
        return True
    if clause.is_conditional or clause.is_limited:
        return True
    return _is_excepted(after, before)


def changes_between(gap: str, sample: str) -> bool:
    """Whether words that a quotation leaves out within a sentence negate, restrict or weaken it."""
    language = language_of_text(f"{gap} {sample}")
    whole = SentencePart(gap, language)
    main = SentencePart(_INTERJECTED.sub(",", gap), language)
    if not main.says_nothing and (main.is_negated or main.is_negated_behind):
        return True
    if whole.is_conditional or whole.is_limited:
        return True
    return main.ends_in_hedge or main.ends_in_quantifier


def joins_clauses(gap: str, after: str, sample: str) -> bool:
    """Whether an ellipsis within a sentence joins the beginning of one clause with the end of
    another, or with one that has a subject of its own.
    """
    words = SentencePart(gap, language_of_text(f"{gap} {sample}"))
    borders = list(_gap_borders(words))
    if not borders:
        return False
    first = borders[0].start
    remainder = gap[borders[-1].end :]
    if any(map(str.isalnum, remainder)):
        if _IT_IS.fullmatch(remainder):
            return False
        return len(borders) > 1 or not _RELATIVE.match(gap)
    if not any(map(str.isalnum, gap[:first])):
        return False
    return bool(CJK_CHARACTER.match(after.strip()[:1])) or _begins_with_subject(
        after, words.language
    )


def _gap_borders(words: SentencePart) -> list[Token]:
    """The marks and words at which clauses or words of a list meet."""
    found: list[Token] = []
    for at, token in enumerate(words.tokens):
        is_border = token.text in _GAP_MARKS or bool(_ARABIC_AND.match(token.text))
        for table in words.language.all_borders:
            is_border = is_border or table.starts_at(words.tokens, at) > 0
        if is_border:
            end = token.start + 1 if _ARABIC_AND.match(token.text) else token.end
            found.append(token._replace(end=end))
    return found


def _begins_with_subject(text: str, language: ClauseLanguage) -> bool:
    """Whether a clause begins with its own subject: a pronoun, a determiner or a name."""
    bare = text.lstrip(" '(")
    tokens = read_tokens(bare[:50])
    tables = (language.subjects, language.determiners)
    if bare[:1].isupper() or any(table.starts_at(tokens, 0) > 0 for table in tables):
        return True
    return _begins_with_bare_noun(tokens, language)


def _begins_with_bare_noun(tokens: Sequence[Token], language: ClauseLanguage) -> bool:
    """Whether a few words before a finite verb are a subject without an article: "strong winds
    were".
    """
    for at, token in enumerate(tokens[: _BARE_SUBJECT + 1]):
        if language.finite_verbs.starts_at(tokens, at):
            return at > 0
        if not token.is_word or token.text.endswith(_ENDING_OF_ADVERBS):
            return False
        if any(table.starts_at(tokens, at) for table in (language.prepositions, language.adverbs)):
            return False
    return False


def without_operators(text: str, block: str) -> str:
    """The text without "not" if that is an operator in its block, as in `NOT a AND b`."""
    is_operator = "NOT" in block and _OPERATORS.search(block)
    return re.sub(r"\bNOT\b", " ", text) if is_operator else text


def negates_list(lead: str) -> bool:
    """Whether what introduces a list negates its items, or is a condition for them: "Never:",
    "If it rains:", "You may leave if:".
    """
    sentence = _last_sentence(lead.strip("#>*_ :")[-REACH:])
    language = language_of_text(sentence)
    words = SentencePart(sentence, language)
    tokens = words.tokens
    if language.conditions.starts_at(tokens, 0):
        return True
    if language.conditions.ends_at(tokens, len(tokens)) >= 0:
        return True
    return words.without(language.without_words, "").is_negated or words.is_negated_behind


def _last_sentence(text: str) -> str:
    """What follows the last end of a statement."""
    begin = max((end.end for end in statement_ends(text) if end.certain), default=0)
    return text[begin:]


def _first_sentence(text: str) -> str:
    """What precedes the first end of a statement."""
    return text[: next((end.start for end in statement_ends(text) if end.certain), len(text))]


def _begins_clause(before: SentencePart, quoted: str) -> bool:
    """Whether a quotation begins a clause with its own subject behind a comma or "and"."""
    tokens = before.tokens
    if not tokens:
        return False
    is_joint = before.language.and_words.ends_at(tokens, len(tokens)) >= 0
    if not is_joint and tokens[-1].text != ",":
        return False
    bare = quoted.lstrip(" '(")
    is_subject = before.language.subjects.starts_at(read_tokens(bare[:50]), 0) > 0
    return is_subject or (bare[:1].isupper() and before.language.language != "german")


def _contrasts(before: SentencePart) -> bool:
    """Whether a contrast separates a condition from a quotation: "if it rains, but …"."""
    tokens = before.tokens
    at = before.language.contrasts.ends_at(tokens, len(tokens))
    return at > 0 and tokens[at - 1].text == ","


def _continues_number(before: SentencePart, quoted: SentencePart) -> bool:
    """Whether a quotation begins with a number that words before it bound or begin."""
    language = before.language
    is_number = language.number_words.starts_at(quoted.tokens, 0) > 0
    if not is_number and not _DIGIT_FIRST.match(quoted.text.lstrip()):
        return False
    tokens = before.tokens
    if language.number_bounds.ends_at(tokens, len(tokens)) >= 0:
        return True
    end = len(tokens)
    joint = language.number_joints.ends_at(tokens, end)
    if joint >= 0:
        end = joint
    return is_number and language.number_words.ends_at(tokens, end) >= 0


def _is_bounded(after: SentencePart, quoted: SentencePart) -> bool:
    """Whether the words behind a quotation continue its number, or bound it."""
    language = after.language
    tokens = after.tokens
    first = 1 if tokens and tokens[0].text == "," else 0
    for at in (first, first + 1):
        if language.bounds_behind.starts_at(tokens, at):
            return True
    if _continues_unspaced_number(after.text.lstrip(), quoted.text):
        return True
    is_number = language.number_words.ends_at(quoted.tokens, len(quoted.tokens)) >= 0
    if not is_number and not _DIGIT_LAST.search(quoted.text):
        return False
    if language.number_bounds_behind.starts_at(tokens, 0):
        return True
    at = language.number_joints.starts_at(tokens, 0)
    return language.number_words.starts_at(tokens, at) > 0


def _continues_unspaced_number(after: str, quoted: str) -> bool:
    """Whether Chinese or Japanese words behind a quotation bound its number."""
    if after[:1].isascii():
        return False
    if quoted[-1:] in quantities.CJK_NUMERALS and after[:1] in quantities.CJK_MORE:
        return True
    return bool(unspaced_words(quantities.UNSPACED_BOUNDS_BEHIND).match(after))


def _is_hedged_behind(after: SentencePart) -> bool:
    """Whether the words behind a quotation say that it is only reported or possible."""
    tokens = [token for token in after.tokens if token.text not in ",(-"]
    for at in (0, 1):
        if after.language.hedges_behind.starts_at(tokens, at):
            return True
    return after.first_clause().has_unspaced(hedges.UNSPACED_HEDGES_BEHIND)


def _completes_ne(after: SentencePart, quoted: SentencePart) -> bool:
    """Whether "ne" in a French quotation is completed behind it: "il ne boit | que du vin"."""
    last = [token.text for token in quoted.tokens[-NEAR:]]
    if "ne" not in last and "n'" not in last:
        return False
    return any(after.language.ne_partners.starts_at(after.tokens, at) for at in range(3))


def _is_excepted(after: SentencePart, quoted: SentencePart) -> bool:
    """Whether what follows a comma, a dash or a contrast excepts or restricts: ", but not in
    winter", ", only if". "At 9:30, not 9:45" only contrasts, and excepts nothing.
    """
    language = after.language
    tokens = after.tokens
    contrast = language.contrasts.starts_at(tokens, 0)
    begin = contrast or _behind_first_mark(tokens)
    if begin == 0:
        return False
    joint = language.contrasts.starts_at(tokens, begin)
    begin += joint or language.and_words.starts_at(tokens, begin)
    if language.limits.starts_at(tokens, begin) or language.conditions.starts_at(tokens, begin):
        return True
    # A negation counts where the quotation ends, a restriction also behind some more words
    size = language.not_words.starts_at(tokens, begin)
    if not size or (not contrast and tokens[0].is_word):
        return False
    return bool(contrast or joint) or _is_adverbial(tokens[begin + size :], quoted, language)


def _behind_first_mark(tokens: Sequence[Token]) -> int:
    """The index of the token behind the first comma, bracket or dash; 0 if there is none."""
    marks = (at + 1 for at, token in enumerate(tokens) if token.text in ",(-")
    return next(marks, 0)


def _is_adverbial(rest: Sequence[Token], quoted: SentencePart, language: ClauseLanguage) -> bool:
    """Whether words begin with a preposition that is not that of the quotation's last words."""
    if not rest:
        return True
    last = [token.text for token in quoted.tokens[-_ADVERBIAL:]]
    return language.prepositions.starts_at(rest, 0) > 0 and rest[0].text not in last
