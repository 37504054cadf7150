"""Quotations in notes: whether a note contains the quoted words, where, and whether its sentence is
cut so that it says something else: "safe to walk on" where the note says "not safe to walk on". In
doubt a quotation counts as cut, because then the whole sentence is shown.

A quotation that no note has gets the wording most like it: most of its words that say something, in
the same order. A thousand quotations are compared with thousands of notes, so only the paragraphs
with most of its telling words are compared with it word by word.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Literal, NamedTuple

from zkchat_cli.citations.normalized_text import (
    NormalizedText,
    find_words,
    normalize_quoted,
    normalize_rendered,
    normalize_source,
    task_states,
)
from zkchat_cli.citations.quotations import MIN_QUOTE
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import STATEMENT_END
from zkchat_cli.text.words import CJK_CHARACTER, STOPWORDS, content_terms, fold
from zkchat_cli.vault.sections import ChunkHeading, chunk_headings

# Characters before and after a quotation that are looked at
REACH = 300
_NEGATION = (
    r"(?:(?:not(?! "
    r"(?:only|just|merely)\b)|never|no|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|barely|scarcely|rarely"
    r"|seldom|false|untrue|wrong|myth|den(?:y|ies|ied)|doubt(?:s|ed)?|unlikely|impossible|fail(?:s|ed)? "
    r"to|refus(?:es?|ed) to"
    r"|instead of|rather than|lacks?"
    r"|nicht|nie|niemals|kein(?:e[nrsm]?)?|nichts|niemand|ohne|weder|kaum|ne|pas|jamais|sans|aucune?|rien|nunca|jamas|ningun[ao]?|nada|nadie"
    r"|non|nao|niet|nooit|geen|zonder)\b|\bn'(?=\w))"
)
_NEGATED = lazy_pattern(
    rf"\b{_NEGATION}|n't\b|(?:un|non|anti)-\Z|[不没沒未無无非別别勿莫](?:可以?|能|能够|会|會|要|得|許|许|應該|应该)?\Z"
)
_CONDITION = (
    r"(?:(?:if|unless|except|provided|as long as|whether|not true that|false "
    r"that|wenn|falls|sofern|ausser|es sei denn|si|sauf|a moins"
    r"|salvo|excepto|a menos|tenzij|indien)\b)"
)
_CONDITIONAL = lazy_pattern(rf"\b{_CONDITION}|如果|若|除非")
_LIMITED = lazy_pattern(
    r"\b(?<!not )(?:only|solely|exclusively|nur|seulement|uniquement|solo|solamente|alleen)\b|只|僅|仅"
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


def _changes_what_follows(text: str) -> bool:
    sentence = _STATEMENT.split(text[-REACH:])[-1]
    clause = _CLAUSE.split(_REASON_FIRST.sub("", _INTERJECTED.sub(",", sentence), count=1))[-1]
    return bool(_CONDITIONAL.search(sentence) or _NEGATED.search(clause) or _LIMITED.search(clause))


def _changes_what_precedes(text: str) -> bool:
    sentence = _STATEMENT.split(text[:REACH], maxsplit=1)[0]
    clause = re.split(r"[,;:()，、：（）]| - |\b(?:but|aber|mais|pero)\b", sentence, maxsplit=1)[0]
    return bool(
        _NEGATED_NEXT.match(sentence)
        or _NEGATED_LATER.search(clause)
        or _CONDITIONAL.search(clause)
        or _LIMITED.search(clause)
        or _CONDITIONAL_NEXT.match(sentence)
    )


_ENDS = " \t\r\n.…,;:，。；：、"
_BEGINS_BLOCK = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||$)")
_ONE_LINE = lazy_pattern(r"[ \t>]*(?:#{1,6}[ \t]|[-*_=]{3,}[ \t]*$|```|~~~|\||\[!|</?t[dhr]\b)")
"""A line that is a block of its own: a heading, a rule, a fence, a table row or cell, a callout's
title.
"""
_OPERATORS = lazy_pattern(r"\b(?:AND|OR)\b")
# Occurrences of a quotation to look at for one that is not cut
_MAX_PLACES = 50
_MAX_SENTENCE = 1000

# Words of a part of a quotation; searching for more could take seconds, and nobody reads so long a
# mark
MAX_WORDS = 300
# An ellipsis in a quotation
OMISSION = lazy_pattern(r"\[(?:…|\.{3,4})\]|\((?:…|\.{3,4})\)|…|\.{3,}|\. \. \.")
LEAST_SHARE = 0.5
"""Share of a quotation's words, by weight, that a wording must have in the same order; else it has
little to do with the quotation.
"""
# Weight of a word that says nothing by itself
COMMON = 0.4
_MOST_TERMS = 24
_MOST_BLOCKS = 3
_MOST_WORDS = 1000
# Words that a wording may have more than the quotation, on each side of their longest common run
_SLACK = 4
_WORD = lazy_pattern(r"[^\W_]+(?:[.,'’:/-][^\W_]+)*|[%°€$]")
_CHARACTER_WORD = lazy_pattern(rf"{CJK_CHARACTER.pattern}|(?:(?!{CJK_CHARACTER.pattern})[^\W_])+")
BLOCK_BORDER = lazy_pattern(r"\n(?=[ \t>]*(?:\n|[-*+#|]|\d{1,9}[.)]))")

QuotationVerdict = Literal["verified", "cut", "misquoted", "not_found"]


class FoundQuotation(NamedTuple):
    """Where a note contains a quotation, for a `cut` one with the whole sentence; for a `misquoted`
    one, where the `nearest` wording is.
    """

    verdict: QuotationVerdict
    chunk: ContentChunk | None = None
    heading: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    sentence: str | None = None
    nearest: str | None = None


@dataclass(frozen=True)
class QuotableChunk:
    """A chunk to search for quotations; its normalized text is computed once."""

    chunk: ContentChunk

    @cached_property
    def _source(self) -> NormalizedText:
        return normalize_source(self.chunk.text)

    @cached_property
    def _rendered(self) -> NormalizedText:
        return normalize_rendered(self.chunk.text)

    @cached_property
    def folded(self) -> str:
        return fold_in_place(self.chunk.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self.chunk.text.split("\n")

    @cached_property
    def headings(self) -> list[ChunkHeading]:
        """The headings in the chunk with their lines in the note."""
        return chunk_headings(self.chunk)

    def place_at(
        self, verdict: QuotationVerdict, first: int, last: int, sentence: str | None = None
    ) -> FoundQuotation:
        """A quotation on these lines of the text, from 0, under the last heading at or above
        them.
        """
        first = self.chunk.start_line + first
        last = self.chunk.start_line + last
        heading = next((text for line, text in reversed(self.headings) if line <= first), None)
        return FoundQuotation(
            verdict, self.chunk, heading or self.chunk.heading, first, last, sentence
        )

    def locate(self, quote: str) -> FoundQuotation | None:
        """Where the note contains the quoted words, preferably not `cut`; None if the chunk does
        not contain them. The words are a run of whole words. A quotation with omissions (`…`,
        `[...]`) must have all its parts in one section, in order.
        """
        cut: FoundQuotation | None = None
        for gaps in (False, True):
            for rendered in (False, True):
                parts = _normalized_parts(quote, rendered, gaps)
                if not parts:
                    continue
                states = task_states(quote) if rendered else []
                place = self._find(self._rendered if rendered else self._source, parts, states)
                if place and place.verdict == "verified":
                    return place
                cut = cut or place
        return cut

    def _find(
        self, text: NormalizedText, parts: Sequence[str], states: Sequence[str]
    ) -> FoundQuotation | None:
        """The first uncut place, else the first, among those with tasks in these `states`, which
        the rendered text does not have.
        """
        cut: tuple[int, int] | None = None
        if len(parts) == 1:
            places = ([at] for at in find_words(text, parts[0]))
        elif sum(map(len, parts)) < MIN_QUOTE:
            return None
        else:
            borders = [
                0,
                *(text.starts[line - self.chunk.start_line] for line, _ in self.headings),
                len(text.text),
            ]
            places = (
                found
                for section in pairwise(borders)
                if (found := _find_in_order(text, parts, *section))
            )
        for count, found in enumerate(places):
            first = text.line_at(found[0])
            last = text.line_at(found[-1] + len(parts[-1]) - 1)
            in_note = iter(task_states("\n".join(self._lines[first : last + 1])) if states else "")
            if not all(state in in_note for state in states):
                continue
            if not self._is_cut(text, parts, found):
                return self.place_at("verified", first, last)
            cut = cut or (first, last)
            if count == _MAX_PLACES:
                break
        if cut is None:
            return None
        begin, after = self._block_range(*cut)
        block = "\n".join(self._lines[begin:after])
        normalized = ((each, normalize_rendered(each)) for each in sentences(block))
        quoted = [
            each
            for each, words in normalized
            if any(next(find_words(words, part), None) is not None for part in parts)
        ]
        return self.place_at(
            "cut", *cut, " ".join((" ".join(quoted) or block).split())[:_MAX_SENTENCE]
        )

    @cached_property
    def _blocks(self) -> list[int]:
        """The lines, from 0, that begin a paragraph, list item, heading or table row, or are blank
        or follow one of these.
        """
        alone = [bool(_ONE_LINE.match(line)) for line in self._lines]
        return [
            i
            for i, line in enumerate(self._lines)
            if i == 0 or alone[i] or alone[i - 1] or _BEGINS_BLOCK.match(line)
        ]

    def _block_range(self, first: int, last: int) -> tuple[int, int]:
        """The first line of the block with the line `first`, and the line after the block with the
        line `last`.
        """
        begin = self._blocks[bisect_right(self._blocks, first) - 1]
        following = bisect_right(self._blocks, last)
        return begin, self._blocks[following] if following < len(self._blocks) else len(self._lines)

    def _is_cut(self, text: NormalizedText, parts: Sequence[str], found: Sequence[int]) -> bool:
        """Whether the quotation leaves out words of its sentence that negate or restrict it: before
        and after it in its paragraph, or at its ellipses.
        """
        ends = [at + len(part) for at, part in zip(found, parts, strict=True)]
        begin, end = self._block_range(text.line_at(found[0]), text.line_at(ends[-1] - 1))
        limit = text.starts[end] if end < len(text.starts) else len(text.text)
        # What ends a sentence may be quoted
        ends = [end - (text.text[end - 1] in "!?！？。") for end in ends]
        before = text.text[text.starts[begin] : found[0]]
        after = text.text[ends[-1] : limit]
        block = "\n".join(self._lines[begin:end])
        if "NOT" in block and _OPERATORS.search(block):  # "not" is the operator
            before = re.sub(r"\bnot\b", " ", before)
            after = re.sub(r"\bnot\b", " ", after)
        if _changes_what_follows(before) or _changes_what_precedes(after):
            return True
        for gap in (text.text[end:at] for end, at in zip(ends, found[1:], strict=False)):
            first, *others = _STATEMENT.split(gap)
            if not others and (
                _NEGATED.search(gap) or _CONDITIONAL.search(gap) or _LIMITED.search(gap)
            ):
                return True
            if others and (_changes_what_precedes(first) or _changes_what_follows(others[-1])):
                return True
        return False


def find_quotation(quote: str, chunks: Iterable[QuotableChunk]) -> FoundQuotation:
    """Where the quotation is: the first chunk that has its words uncut, else one that has them
    `cut`, else the nearest wording.
    """
    cut: FoundQuotation | None = None
    wrong: tuple[float, int, int, QuotableChunk] | None = None
    for each in chunks:
        if found := each.locate(quote):
            if found.verdict == "verified":
                return found
            cut = cut or found
        elif (
            cut is None
            and (near := find_nearest(quote, each.folded))
            and near[0] >= (wrong[0] if wrong else LEAST_SHARE)
        ):
            wrong = (*near, each) if wrong is None or near[0] > wrong[0] else wrong
    if cut or not wrong:
        return cut or FoundQuotation("not_found")
    _, start, end, source = wrong
    text = source.chunk.text
    place = source.place_at("misquoted", text.count("\n", 0, start), text.count("\n", 0, end))
    return place._replace(nearest=" ".join(text[start:end].split()))


@lru_cache(maxsize=8)
def _normalized_parts(quote: str, rendered: bool, gaps: bool) -> tuple[str, ...]:
    """The normalized parts to search for, split at omissions if `gaps`; empty if there are none.
    Cached for searches in many chunks.
    """
    if gaps and not OMISSION.search(quote.strip(_ENDS)):
        return ()
    normalize = normalize_quoted if rendered else normalize_source
    found: list[str] = []
    for part in OMISSION.split(quote) if gaps else [quote]:
        bare = part.strip(_ENDS)
        # `.5`
        is_fraction = (
            bare[:1].isdigit()
            and part[: part.find(bare)].endswith(".")
            and not part.startswith("..")
        )
        found.append(normalize(f".{bare}" if is_fraction else bare).text)
    return tuple(filter(None, found))


def _find_in_order(
    text: NormalizedText, parts: Sequence[str], start: int, end: int
) -> list[int] | None:
    """Where the parts are, one after another; of several places of the first part the last one
    before the second.
    """
    found: list[int] = []
    for part in parts:
        at = next(find_words(text, part, start, end), None)
        if at is None:
            return None
        found.append(at)
        start = at + len(part)
    *_, found[0] = find_words(text, parts[0], found[0], found[1])
    return found


def fold_in_place(text: str) -> str:
    """The text without case and diacritics, with every character where it was."""
    lowered = text.lower()
    if text.isascii() or len(lowered) != len(text):
        return lowered
    folded = {c: fold(c) for c in set(lowered) if not c.isascii()}
    return lowered.translate({ord(c): bare for c, bare in folded.items() if len(bare) == 1})


def find_nearest(quote: str, folded: str) -> tuple[float, int, int] | None:
    """The wording in a text from `fold_in_place` that is most like the quotation: the share of its
    words, and where it begins and ends. None if the text has none of its telling words.
    """
    wanted, terms = _read_quotation(quote)
    if 3 * sum(term in folded for term in terms) < len(terms):
        return None
    borders = [0, *(border.end() for border in BLOCK_BORDER.finditer(folded)), len(folded)]
    blocks = [
        (-sum(folded.find(term, start, end) >= 0 for term in terms), end - start, start)
        for start, end in pairwise(borders)
    ]
    found = (
        _compare(wanted, folded, start, start + size)
        for count, size, start in sorted(blocks)[:_MOST_BLOCKS]
        if count
    )
    return max(filter(None, found), key=lambda wording: wording[0], default=None)


def _compare(
    wanted: Sequence[str], text: str, start: int, end: int
) -> tuple[float, int, int] | None:
    """The wording in this block."""
    words = list(islice(_words(text, start, end), _MOST_WORDS))
    compared = SequenceMatcher(None, wanted, [word[0] for word in words], autojunk=False)
    longest = compared.find_longest_match()
    near = max(0, longest.b - longest.a - _SLACK)
    words = words[near : near + len(wanted) + 2 * _SLACK]
    compared.set_seq2([word[0] for word in words])
    blocks = [block for block in compared.get_matching_blocks() if block.size]
    if not blocks:
        return None
    weights = [
        COMMON if w in STOPWORDS or (len(w) == 1 and w.isascii() and not w.isdigit()) else 1
        for w in wanted
    ]
    weight = sum(sum(weights[block.a : block.a + block.size]) for block in blocks)
    begin = max(0, blocks[0].b - blocks[0].a)
    behind = len(wanted) - blocks[-1].a - blocks[-1].size
    final = min(len(words), blocks[-1].b + blocks[-1].size + behind) - 1
    return weight / (sum(weights) or 1), words[begin].start(), words[final].end()


@lru_cache(maxsize=8)
def _read_quotation(quote: str) -> tuple[list[str], list[str]]:
    """The words of a quotation, and the longest telling ones."""
    folded = fold_in_place(quote)
    words = [word[0] for word in islice(_words(folded, 0, len(folded)), _MOST_WORDS)]
    return words, sorted(dict.fromkeys(content_terms(quote)), key=len, reverse=True)[:_MOST_TERMS]


def _words(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Words, and Chinese and Japanese characters one by one."""
    has_cjk = not text.isascii() and CJK_CHARACTER.search(text, start, end)
    return (_CHARACTER_WORD if has_cjk else _WORD).finditer(text, start, end)


def quote_ranges(text: str, quotes: Iterable[str]) -> list[tuple[int, int]]:
    """The character ranges of the quotations that `text` contains, one per part between ellipses;
    those that overlap or touch are one. Only words are compared, in any case: emphasis, list
    markers and typography between them do not matter.
    """
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(found for quote in quotes for found in _find_parts(text, quote)):
        if merged and begin <= merged[-1][1]:
            begin = merged[-1][0]
            end = max(end, merged.pop()[1])
        merged.append((begin, end))
    return merged


def _find_parts(text: str, quote: str) -> list[tuple[int, int]]:
    """Where the parts of a quotation are, in order; nowhere if one is missing."""
    found: list[tuple[int, int]] = []
    at = 0
    for part in OMISSION.split(quote):
        words = re.findall(r"[^\W_]+", part)
        if not words:
            continue
        place = (
            re.compile(r"[\W_]*".join(words), re.IGNORECASE).search(text, at)
            if len(words) <= MAX_WORDS
            else None
        )
        if place is None:
            return []
        at = place.end()
        ending = re.search(r"[\W_]*\Z", part.rstrip())
        at += len(ending[0]) if ending and text.startswith(ending[0], at) else 0
        found.append((place.start(), at))
    return found
