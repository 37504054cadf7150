"""Splits messages into sentences and weighs each one for a summary.

A sentence weighs more if it has a date, a number, a title or `[[link]]`, or speaks of the speaker, of people, of a decision. Capital
letters do not count: German capitalizes every noun, and some chats have none. Rare words are weighed elsewhere, for every language
(`selection`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.text.words import CJK, STOPWORDS, stem, terms

CACHED_MESSAGES = 32_768
"""A rolling summary reads the same messages again each time."""
FEATURE_WEIGHT = 1.4
"""Factor for each of these features."""
QUESTION_WEIGHT = 0.6
"""Also for lead-ins such as "For example:", which a list or code follows."""
SECOND_PERSON_WEIGHT = 0.8
"""Praise, wishes and advice ("you did great") say less than what speakers tell about themselves."""
MAX_SHORT = 3
"""Content words of an answer that means nothing without its question: "Yes, in May."."""
_MAX_SENTENCE = 400
"""Characters; longer text without a sentence end, such as a raw transcript, is split."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SELF = _words("i i'm i've i'd i'll my mine me we we're we've our us ich mein meine meinen wir unser unsere je j'ai mon ma nous 我的 我们")
_OTHER = _words("you you're you've you'll your yours du dein deine ihr sie vous votre tu")
_WHEN = _words(
    """yesterday today tomorrow tonight ago last next since until week weekend month year years weeks months days day morning evening night
    recently soon just monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december spring summer autumn fall winter gestern heute morgen woche monat jahr montag dienstag mittwoch donnerstag
    freitag samstag sonntag hier demain semaine mois an 昨天 今天 明天 去年 今年 明年 上周 下周 上个 下个 星期 周末"""
)
_PEOPLE = _words(
    """mother father mom mum dad parents grandma grandpa kid kids child children son daughter brother sister wife husband partner friend
    friends family aunt uncle cousin colleague boss neighbour neighbor teacher dog cat mutter vater kinder sohn tochter bruder schwester
    frau mann freund freundin familie 妈妈 爸爸 孩子 朋友 妻子 丈夫 儿子 女儿"""
)
_DECIDED = _words(
    """decided decide decision agreed agree chose choose prefer plan planning planned promise must never always instead rule goal deadline
    beschlossen entschieden plan immer nie muss statt 决定 计划 必须 同意 永远"""
)
_FEATURES = (_SELF, _WHEN, _PEOPLE, _DECIDED)
_POINTING = _words(
    """he he's she she's it it's its his her hers him they they're their them this that that's these those there such both neither
    er es sein ihre dies dieser diese dieses das dort"""
)
_POINTING_CHINESE = ("他", "她", "它", "这", "那")
_ANSWERING = _words("yes yeah yep no nope sure exactly right correct maybe ok okay ja nein genau doch stimmt oui non 是的 对 不是 好的")
_NUMBER = re.compile(r"\d")
_NAMED = re.compile(r"""\[\[[^\[\]]{1,200}\]\]|["“„«「『][^"“”„«»「」『』]{2,200}["”“»」』]""")
_CORRECTING = re.compile(
    r"(?:no|nope|wait|sorry|actually|correction|wrong|rather|i meant|i was wrong|that(?:'|’)?s (?:wrong|not (?:right|true|correct))|"
    r"nein|korrektur|eigentlich|falsch|ich meinte)\b|不对|不是|错了|更正|其实",
    re.IGNORECASE,
)
_LOOSE_END = re.compile(r"(?<=[.!?…])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)\s+(?=\S)")
_CITED = re.compile(r"^(?:\[\d{1,6}\][\s,.]*)+|(?:\s*\[\d{1,6}\])+[.。]?$")
"""Source numbers at the ends of a sentence: without the sources they mean nothing."""
_QUOTATION = re.compile(r"[\"“„«「].*[\"”“»」]")
_CLAUSE = re.compile(rf"[,;:，；：、]\s*|\s+|(?<=[{CJK}])")


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence, word for word except for white space.

    `words` are its stems, sorted, so that sums over them are the same in every process. `refers_back`: "She moved there in May.";
    `is_short`: may mean nothing without the question it answers; `corrects`: starts as a correction; `is_lead_in`: "From your notes:".
    """

    text: str
    words: tuple[str, ...]
    weight: float
    refers_back: bool
    is_short: bool
    corrects: bool
    is_quotation: bool
    is_question: bool
    is_lead_in: bool


@lru_cache(maxsize=CACHED_MESSAGES)
def score_sentences(content: str) -> tuple[ScoredSentence, ...]:
    """The distinct sentences of a message: prose, list items and quotes, without code, tables and headings."""
    is_lower_case = content == content.lower()
    pieces = (piece for sentence in sentences(content) for piece in _split(sentence, is_lower_case=is_lower_case))
    return tuple(_score(text) for text in dict.fromkeys(_CITED.sub("", piece) for piece in pieces) if text)


def _split(sentence: str, *, is_lower_case: bool) -> Iterator[str]:
    """The sentence on one line; split at each full stop if there are no capital letters, and at clauses if it is too long."""
    flat = " ".join(sentence.split())
    for piece in _LOOSE_END.split(flat) if is_lower_case or len(flat) > _MAX_SENTENCE else (flat,):
        start = 0
        while len(piece) - start > _MAX_SENTENCE:
            clause_ends = [match.end() for match in _CLAUSE.finditer(piece, start + _MAX_SENTENCE // 2, start + _MAX_SENTENCE)]
            end = clause_ends[-1] if clause_ends else start + _MAX_SENTENCE
            yield piece[start:end].strip()
            start = end
        yield piece[start:].strip()


def _score(text: str) -> ScoredSentence:
    all_terms = terms(text)
    present = frozenset(all_terms)
    words = {stem(term) for term in present if term not in STOPWORDS and (len(term) > 1 or not term.isascii() or term.isdigit())}
    features = sum(not feature.isdisjoint(present) for feature in _FEATURES) + bool(_NUMBER.search(text)) + bool(_NAMED.search(text))
    weight = FEATURE_WEIGHT**features
    is_question, ends_with_colon = text.rstrip("\"'”’」』)*_ ").endswith(("?", "？")), text.endswith((":", "："))
    if is_question or ends_with_colon:
        weight *= QUESTION_WEIGHT
    if present & _OTHER and not present & _SELF:
        weight *= SECOND_PERSON_WEIGHT
    first = all_terms[0] if all_terms else ""
    is_short = len(words - _ANSWERING) <= MAX_SHORT or (first in _ANSWERING and len(words) <= 2 * MAX_SHORT)
    return ScoredSentence(
        text=text,
        words=tuple(sorted(words)),
        weight=weight,
        refers_back=first in _POINTING or text.startswith(_POINTING_CHINESE),
        is_short=is_short,
        corrects=bool(_CORRECTING.match(text)),
        is_quotation=bool(_QUOTATION.fullmatch(text)),
        is_question=is_question,
        is_lead_in=is_short and ends_with_colon,
    )
