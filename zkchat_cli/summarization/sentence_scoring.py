"""Splits messages into sentences, and weighs each one for a summary.

A sentence weighs more if it has a date, or speaks of the speaker, of people, of a decision. Capital
letters do not count: German capitalizes every noun, and some chats have none. Rare words are
weighed elsewhere, for every language (`sentence_ranker`).
"""

import textwrap
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import STOPWORDS, terms

# Messages that stay split: a rolling summary reads those that the last one quotes again each time
CACHED_MESSAGES = 2048
# Factor for each of the _FEATURES that a sentence has
FEATURE_WEIGHT = 1.4
QUESTION_WEIGHT = 0.6
# Praise, wishes and advice ("you did great") say less than what speakers tell about themselves
SECOND_PERSON_WEIGHT = 0.8
# A quotation from a note can be read again there; what was said about it cannot
QUOTATION_WEIGHT = 0.4
# Characters of a sentence: longer text without a sentence end, such as a raw transcript, is split
_MAX_SENTENCE = 400
# Letters that are left of a word without its ending
_MIN_STEM = 3

_SELF = frozenset(
    """
    i i'm i've i'd i'll my mine me we we're we've our us ich mein meine meinen wir unser unsere
    je j'ai mon ma nous 我的 我们
    """.split()
)
_OTHER = frozenset(
    """
    you you're you've you'll your yours du dein deine ihr sie vous votre tu
    """.split()
)
_WHEN = frozenset(
    """
    yesterday today tomorrow tonight ago last next since until week weekend month year years
    weeks months days day morning evening night recently soon just monday tuesday wednesday
    thursday friday saturday sunday january february march april june july august september
    october november december spring summer autumn fall winter gestern heute morgen woche monat
    jahr montag dienstag mittwoch donnerstag freitag samstag sonntag hier demain semaine mois an
    昨天 今天 明天 去年 今年 明年 上周 下周 上个 下个 星期 周末
    """.split()
)
_PEOPLE = frozenset(
    """
    mother father mom mum dad parents grandma grandpa kid kids child children son daughter
    brother sister wife husband partner friend friends family aunt uncle cousin colleague boss
    neighbour neighbor teacher dog cat mutter vater kinder sohn tochter bruder schwester frau
    mann freund freundin familie 妈妈 爸爸 孩子 朋友 妻子 丈夫 儿子 女儿
    """.split()
)
_DECIDED = frozenset(
    """
    decided decide decision agreed agree chose choose prefer plan planning planned promise must
    never always instead rule goal deadline beschlossen entschieden plan immer nie muss statt 决定
    计划 必须 同意 永远
    """.split()
)
_FEATURES = (_SELF, _WHEN, _PEOPLE, _DECIDED)
# First words of a sentence that mean nothing without the one before
_POINTING = frozenset(
    """
    he he's she she's it it's its his her hers him they they're their them this that that's
    these those there such both neither er es sein ihre dies dieser diese dieses das dort
    """.split()
)
_POINTING_CHINESE = ("他", "她", "它", "这", "那")
_FULL_STOP = lazy_pattern(r"(?<=[.!?…])\s+")
_CITED = lazy_pattern(r"^(?:\[\d{1,6}\][\s,.]*)+|(?:\s*\[\d{1,6}\])+[.。]?$")
"""Source numbers at the ends of a sentence: without the sources they mean nothing."""
_QUOTATION = lazy_pattern(r"[\"“„«「].*[\"”“»」]")


class ScoredSentence(NamedTuple):
    """A sentence, word for word except for white space, and its `size` in bytes. `words` are its
    stems, sorted, so that sums over them are the same in every process. `refers_back` is true of
    "She moved there in May.", and `is_lead_in` of "From your notes:".
    """

    text: str
    size: int
    words: tuple[str, ...]
    weight: float
    refers_back: bool
    is_quotation: bool
    is_question: bool
    is_lead_in: bool


@lru_cache(maxsize=16_384)
def light_stem(word: str) -> str:
    """A word without common English endings. Snowball's stems join more words, which costs .02 of
    LoCoMo's answers in a summary.
    """
    for suffix in ("ingly", "edly", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word[: -len(suffix)]
            if suffix in ("ies", "ied"):
                word += "y"
            break
    # "note" and "notes" both become "not"
    if len(word) > _MIN_STEM and word[-1] == "e":
        return word[:-1]
    # "stopped" has become "stopp", and now "stop"
    if len(word) > _MIN_STEM + 1 and word[-1] == word[-2]:
        return word[:-1]
    return word


@lru_cache(maxsize=CACHED_MESSAGES)
def score_sentences(content: str) -> tuple[ScoredSentence, ...]:
    """The distinct sentences of a message: prose, list items and quotes, without code, tables and
    headings.
    """
    found = sentences(content)
    # Without capital letters each full stop ends a sentence
    if content == content.lower():
        found = list(chain.from_iterable(map(_FULL_STOP.split, found)))
    texts: dict[str, None] = {}
    for piece in _wrap_long(found):
        texts[_CITED.sub("", " ".join(piece.split()))] = None
    return tuple(_score(text) for text in texts if text)


def _wrap_long(pieces: Iterable[str]) -> list[str]:
    wrapped: list[str] = []
    for piece in pieces:
        # Wrapping takes as long as all the rest
        if len(piece) <= _MAX_SENTENCE and "\t" not in piece:
            wrapped.append(piece)
        else:
            wrapped += textwrap.wrap(piece, _MAX_SENTENCE, break_on_hyphens=False)
    return wrapped


def _score(text: str) -> ScoredSentence:
    all_terms = terms(text)
    present = frozenset(all_terms)
    words = {light_stem(term) for term in present if _is_content_word(term)}
    is_question = text.rstrip("\"'”’」』)*_ ").endswith(("?", "？"))
    is_quotation = bool(_QUOTATION.fullmatch(text))
    begins_with_pointing = bool(all_terms) and all_terms[0] in _POINTING
    return ScoredSentence(
        text=text,
        size=len(text.encode("utf-8", "surrogatepass")),
        words=tuple(sorted(words)),
        weight=_weight(present, is_question=is_question, is_quotation=is_quotation),
        refers_back=begins_with_pointing or text.startswith(_POINTING_CHINESE),
        is_quotation=is_quotation,
        is_question=is_question,
        is_lead_in=text.endswith((":", "：")),
    )


def _is_content_word(term: str) -> bool:
    """Whether a word says something about the subject: single Latin letters do not."""
    if term in STOPWORDS:
        return False
    return len(term) > 1 or not term.isascii() or term.isdigit()


def _weight(present: frozenset[str], *, is_question: bool, is_quotation: bool) -> float:
    features = sum(not feature.isdisjoint(present) for feature in _FEATURES)
    weight: float = FEATURE_WEIGHT**features
    if is_question:
        weight *= QUESTION_WEIGHT
    if is_quotation:
        weight *= QUOTATION_WEIGHT
    if present & _OTHER and not present & _SELF:
        weight *= SECOND_PERSON_WEIGHT
    return weight
