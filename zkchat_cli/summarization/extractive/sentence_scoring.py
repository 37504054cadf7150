"""What a message says, sentence by sentence, and what each sentence is worth to who remembers the conversation.

Worth comes from marks that anyone can read off a sentence: it says when, how much, which title or `[[link]]`, something of the speaker,
of people, of what was decided. Capital letters are no mark: in German they would make a name of every noun, in a chat without any they
are missing. How rare its words are in this conversation says the same in every language.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.text.words import CJK, STOPWORDS, stem, terms

REMEMBERED = 32_768
"""Messages whose statements are kept at hand: a rolling summary reads the same ones again each time."""
MARK = 1.4
"""What a mark multiplies the worth of a sentence by."""
QUESTION = 0.6
"""Also for what only announces ("For example:"): what follows is a list or code."""
ABOUT_THE_OTHER = 0.8
"""Praise, wishes and advice ("you did great") carry less than what speakers say of themselves."""
SAYS_LITTLE = 3
"""An answer of so few words that count says nothing without its question: "Yes, in May."."""
_LONGEST = 400
"""Characters. What has no end of a sentence for so long is taken in pieces: a transcript without marks, a dump."""


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
_MARKS = (_SELF, _WHEN, _PEOPLE, _DECIDED)
_POINTING = _words(
    """he he's she she's it it's its his her hers him they they're their them this that that's these those there such both neither
    er es sein ihre dies dieser diese dieses das dort"""
)
_POINTING_UNSPACED = ("他", "她", "它", "这", "那")
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
"""Numbers of sources at the borders of a sentence: the summary names the documents, the numbers would stand for nothing."""
_QUOTATION = re.compile(r"[\"“„«「].*[\"”“»」]")
_CLAUSE = re.compile(rf"[,;:，；：、]\s*|\s+|(?<=[{CJK}])")


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence, word for word but for its white space.

    `words` are the stems it covers, sorted, so that sums over them are the same in every process. `leans` says that it points back
    ("She moved there in May."), `brief` that it may say nothing without the question it answers, `corrects` that it opens as a correction,
    `quotes` that all of it is a quotation, `announces` that it only leads to what follows ("From your notes:"), and that is left out or
    stands for itself.
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


@lru_cache(maxsize=REMEMBERED)
def score_sentences(content: str) -> tuple[ScoredSentence, ...]:
    """The statements of a message, each once: its prose, list items and quotes, without code, tables and headings."""
    loose = content == content.lower()
    pieces = (piece for sentence in sentences(content) for piece in _pieces(sentence, loose=loose))
    return tuple(_statement(text) for text in dict.fromkeys(_CITED.sub("", piece) for piece in pieces) if text)


def _pieces(sentence: str, *, loose: bool) -> Iterator[str]:
    """The sentence on one line; cut at each full stop where no capital letters tell, and at clauses where it has no end."""
    flat = " ".join(sentence.split())
    for piece in _LOOSE_END.split(flat) if loose or len(flat) > _LONGEST else (flat,):
        begin = 0
        while len(piece) - begin > _LONGEST:
            borders = [end.end() for end in _CLAUSE.finditer(piece, begin + _LONGEST // 2, begin + _LONGEST)]
            end = borders[-1] if borders else begin + _LONGEST
            yield piece[begin:end].strip()
            begin = end
        yield piece[begin:].strip()


def _asks(text: str) -> bool:
    return text.rstrip("\"'”’」』)*_ ").endswith(("?", "？"))


def _announces(text: str) -> bool:
    return text.endswith((":", "："))


def _statement(text: str) -> ScoredSentence:
    said = terms(text)
    there = frozenset(said)
    words = {stem(term) for term in there if term not in STOPWORDS and (len(term) > 1 or not term.isascii() or term.isdigit())}
    marks = sum(not mark.isdisjoint(there) for mark in _MARKS) + bool(_NUMBER.search(text)) + bool(_NAMED.search(text))
    weight = MARK**marks
    asks, announces = _asks(text), _announces(text)
    if asks or announces:
        weight *= QUESTION
    if there & _OTHER and not there & _SELF:
        weight *= ABOUT_THE_OTHER
    first = said[0] if said else ""
    brief = len(words - _ANSWERING) <= SAYS_LITTLE or (first in _ANSWERING and len(words) <= 2 * SAYS_LITTLE)
    return ScoredSentence(
        text=text,
        words=tuple(sorted(words)),
        weight=weight,
        refers_back=first in _POINTING or text.startswith(_POINTING_UNSPACED),
        is_short=brief,
        corrects=bool(_CORRECTING.match(text)),
        is_quotation=bool(_QUOTATION.fullmatch(text)),
        is_question=asks,
        is_lead_in=brief and announces,
    )
