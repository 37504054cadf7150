"""A part of a sentence that is quoted or left out: whether it negates, restricts or weakens what is
beside it, and where its clauses begin and end.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from zkchat_cli.citations import hedges, negations, quantities, restrictions
from zkchat_cli.citations.clause_language import ClauseLanguage
from zkchat_cli.citations.word_tables import Token, WordTable, read_tokens, unspaced_words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import CJK_CHARACTER

# Words between a hedge and a quotation
NEAR = 4
_KANA = lazy_pattern("[\u3040-\u30ff]")
_PERCENT = lazy_pattern(
    r"\d\s?[%‰]\s+(?:(?:of|der|des|de|du|do|da|dos|das|di|van|av|af|d')\s*"
    r"(?:(?:the|all|our|les|la|le|los|las|el)\s+|l')?)?\Z",
    re.IGNORECASE,
)
_CLAUSE_MARKS = frozenset(":()-")


@dataclass(frozen=True)
class SentencePart:
    """A part of a sentence in a language."""

    text: str
    language: ClauseLanguage

    @cached_property
    def tokens(self) -> list[Token]:
        return read_tokens(self.text)

    @cached_property
    def lowered(self) -> str:
        return self.text.replace("İ", "i").lower()

    @property
    def says_nothing(self) -> bool:
        return not any(map(str.isalnum, self.text))

    def has(self, table: WordTable) -> bool:
        return table.is_in(self.tokens)

    def has_unspaced(self, table: str) -> bool:
        """Whether it has a word of a script without spaces."""
        return not self.text.isascii() and bool(unspaced_words(table).search(self.lowered))

    def without(self, table: WordTable, unspaced: str) -> "SentencePart":
        """The words without those of a table."""
        text = self.text
        for first, last in reversed(list(table.find(self.tokens))):
            text = f"{text[: self.tokens[first].start]} - {text[self.tokens[last - 1].end :]}"
        if unspaced and not text.isascii():
            text = unspaced_words(unspaced).sub(",", text)
        return SentencePart(text, self.language)

    def last_clause(self) -> "SentencePart":
        """The clause that ends the text."""
        at = len(self.tokens)
        while at > 0:
            if self._begins_clause_at(at):
                return SentencePart(self.text[self.tokens[at - 1].end :], self.language)
            at -= 1
        return self

    def _begins_clause_at(self, at: int) -> bool:
        """Whether a clause that is not negated with the one before it begins at a token."""
        tokens = self.tokens
        before = tokens[at - 1]
        if before.text in _CLAUSE_MARKS or self._is_cjk_comma(before):
            return True
        for table in (self.language.contrasts, self.language.reasons):
            if table.ends_at(tokens, at) >= 0:
                return True
        is_joint = before.text == "," or self.language.and_words.ends_at(tokens, at) >= 0
        return is_joint and self.language.subjects.starts_at(tokens, at) > 0

    def _is_cjk_comma(self, token: Token) -> bool:
        if token.text != ",":
            return False
        around = self.text[max(0, token.start - 1) : token.end + 1]
        return bool(CJK_CHARACTER.search(around))

    def first_clause(self) -> "SentencePart":
        """The text up to where another clause begins."""
        language = self.language
        borders = (language.contrasts, language.reasons, language.and_words, language.that_words)
        tables = (*borders, language.without_words)
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            size = language.conditions.starts_at(self.tokens, at)
            is_border = any(table.starts_at(self.tokens, at) for table in tables)
            if not size and (is_border or not token.is_word):
                return SentencePart(self.text[: token.start], language)
            at += size or 1
        return self

    @property
    def is_negated(self) -> bool:
        bare = self.without(self.language.no_negations, negations.UNSPACED_NO_NEGATIONS)
        if bare.has(self.language.negating) or "n't" in bare.lowered:
            return True
        found = unspaced_words(negations.UNSPACED_NEGATIONS).finditer(bare.lowered)
        if bare.text.isascii():
            return False
        # In Japanese these are parts of nouns
        is_japanese = bool(_KANA.search(bare.text))
        return any(not is_japanese or each.end() == len(bare.lowered) for each in found)

    @property
    def is_negated_behind(self) -> bool:
        if self.has(self.language.negations_behind):
            return True
        if self.text.isascii():
            return False
        is_ending = self.lowered.rstrip(" ,、").endswith(negations.JAPANESE_ENDINGS)
        return is_ending or self.has_unspaced(negations.UNSPACED_NEGATIONS_BEHIND)

    @property
    def is_conditional(self) -> bool:
        bare = self.without(self.language.no_conditions, restrictions.UNSPACED_CONCESSIONS)
        if bare.has(self.language.conditions):
            return True
        if bare.has_unspaced(restrictions.UNSPACED_CONDITIONS):
            return True
        starts = self.language.first_conditions
        return any(
            first == 0 or not bare.tokens[first - 1].is_word
            for first, _ in starts.find(bare.tokens)
        )

    @property
    def is_limited(self) -> bool:
        bare = self.without(self.language.no_limits, restrictions.UNSPACED_NO_LIMITS)
        return bare.has(self.language.limits) or bare.has_unspaced(restrictions.UNSPACED_LIMITS)

    @property
    def ends_in_hedge(self) -> bool:
        """Whether a hedge is among its last words, without a mark behind it."""
        last = self.tokens[-NEAR - 1 :]
        for at in range(len(last) - 1, -1, -1):
            if not last[at].is_word and last[at].text != ",":
                last = last[at + 1 :]
                break
        return self.language.hedging.is_in(last) or self.has_unspaced(hedges.UNSPACED_HEDGES)

    @property
    def ends_in_quantifier(self) -> bool:
        """Whether it ends with words such as "most of the", perhaps with one more word."""
        tokens = self.tokens
        language = self.language
        if _PERCENT.search(self.text) or self._ends_in_unspaced_quantifier():
            return True
        for end in (len(tokens), len(tokens) - 1):
            at = end
            while at > 0 and language.of_words.starts_at(tokens[: at + 1], at - 1) == 1:
                if language.quantifiers.ends_at(tokens, at) >= 0:
                    return True
                at -= 1
            if at > 0 and language.quantifiers.ends_at(tokens, at) >= 0:
                return True
        return False

    def _ends_in_unspaced_quantifier(self) -> bool:
        if self.text.isascii():
            return False
        bare = self.lowered.rstrip().removesuffix("的").removesuffix("の")
        found = unspaced_words(quantities.UNSPACED_QUANTIFIERS).finditer(bare)
        return any(each.end() >= len(bare) - 1 for each in found)
