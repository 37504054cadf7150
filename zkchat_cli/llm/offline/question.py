"""What a message asks for: small talk needs no search; a question the searches, and the words of an
answer with their weights. Pure.

The core uses words and their rarity, whatever the language. English gets a little help, and so do
Chinese and Japanese question words, which would otherwise stick to the other words, because there
are no spaces.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.dates import find_period, is_all_stopwords, parse_period
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import (
    CJK_QUESTION_WORDS,
    content_terms,
    is_filler,
    is_stopword,
    language_of,
    stem,
    stopwords,
    terms,
)

# Only the first words of a message count: a pasted page does not make a better question
MAX_WORDS = 64
MAX_TOPIC_WORDS = 12
MAX_QUERY = 400  # characters of a query
# A message with a pronoun and more words than these has a subject of its own
MAX_PRONOUN_WORDS = 4
MAX_ADDED_WORDS = 3
"""The same for a message that begins like the rest of a sentence ("only on Fridays?", "and inside
code blocks?"). A whole question that begins so ("and what is a literature note?") has a subject of
its own.
"""
FILLER_WEIGHT = 0.3
TOPIC_WEIGHT = 0.5
_LINK = lazy_pattern(rf"""(!?{WIKILINK})|(?<!\S)@(?:"([^"\n]+)"|<([^<>\n]+)>|([^\s"<>]+))""")
"""The name of a document: a wikilink or an `@path`."""
_DOCUMENT_WORDS = """
    summarise summarize summary summaries overview gist tldr outline point points key main content contents explain describe discuss
    note notes document page file text compare comparison difference differences differ contrast versus vs between tell show read
    say says zusammenfassen fasse zusammen zusammenfassung résumer résume resume resumen resumir
    总结 概括 摘要 概述 要点 內容 内容 總結 比较 比較 区别 區別 不同
""".split()
"""Words of a request for a document as a whole."""
_SUMMARY = lazy_pattern(
    r"\b(?:summar(?:y|i[sz]\w*)|overview|tl;?dr|gist|(?:key|main) points?|outline|recap)\b"
    r"|\b(?:zusammenfass\w*|fasse\b.*\bzusammen|résum\w*|resum\w+)\b|总结|總結|概括|摘要|概述|要点|要點|要約",
    re.IGNORECASE,
)
_ADDITION = lazy_pattern(
    r"\s*(?:and|also|but|or|so|then|what about|how about|what if|und|et|y"
    r"|only|per|instead|again|still|in|on|at|for|with|without|by|nur)\b|\s*(?:还有|還有|那么|那麼|那|另外|以及)",
    re.I,
)
_WHOLE_QUESTION = lazy_pattern(
    r"\b(?:what|which|who|whose|when|where|why|how|wie|wer|was|wann|wo|warum|welche\w*|pourquoi|quand|cómo|cuándo|dónde)"
    r"(?!\s+(?:about|if|else|mit|für|noch)\b)(?:\s+\w+){2}",
    re.I,
)
"""A question word and what it asks: "how often?" is not whole."""
_PRONOUN = lazy_pattern(
    r"\b(?:it|its|them|they|their|he|his|she|both|ones|one(?=\s*(?:[?.!,;]|$))|same"
    r"|the (?:other|others|first|second|latter|former)|one of (?:them|these|those)"
    r"|(?:this|these|those)(?!\s+(?:morning|evening|day|week|weekend|month|quarter|year))"
    r"|that(?=\s*(?:[?.!,;]|$)|\s+(?:off|on|up|out|way|be|work|works|mean|happen|do|go|again|too|then|instead|one|also|possible)\b)"
    r"|damit|davon|dafür|dazu|dabei|cela|ça|eso|esto)\b|它|这个|這個|那个|那個|其中|上述|这样|這樣",
    re.I,
)
# Only the words of dates matter here, not the days that they mean; the search knows what day it is
_ANY_DAY = date(1950, 1, 1)
_YEAR = lazy_pattern(r"\b\d{4}\b")
_OPERATORS = lazy_pattern(r"(?<!\S)-+(?=\w)|[\"“”„«»「」]")
"""A question about `find -name` excludes nothing, and words in quotation marks need not be found as
a phrase.
"""
_DATE_OPERATOR = lazy_pattern(r"(?<!\S)(after|before|on):(\S+)", re.IGNORECASE)
_SUMMARIZED_QUESTION = lazy_pattern(r"\buser: (.*)$", re.MULTILINE)

# Words of a message of small talk
MAX_SMALL_TALK = 12
INTRODUCTION = (
    "I search your notes and quote the sentences that answer; I am not a language model. "
    "Ask me about anything in your notes, "
    "or type /help to see what else zkchat can do.\n"
)
_REPLIES = {
    frozenset(
        "hi hello hey greetings hallo moin servus bonjour salut hola ciao".split()
    ): "Hello! Ask me about anything in your notes.\n",
    frozenset("bye goodbye tschuss adios adieu".split()): "Goodbye!\n",
    frozenset(
        "thanks thank thx ty cheers danke merci gracias grazie obrigado".split()
    ): "You're welcome.\n",
    frozenset(
        """ok okay cool great good nice perfect awesome wonderful excellent super fine understood alright sure yes yeah yep no nope right
        wow lol haha helpful interesting brilliant amazing sense klar gut vale bien genau prima toll sorry nevermind""".split()
    ): "All right.\n",
}
_COMPANIONS = frozenset(
    """again morning evening night day days today now later see know got it's makes make made works work worked helps helped help lot lots
    so much very really never mind please always one time job bit fur alles sehr viel vielen dank beaucoup mucho muchas buenos dias tag
    guten evening then well that's oh ah hmm haha everything you're dear friend""".split()
)
_CJK_REPLIES = (
    (
        re.compile(
            "(?:非常|太)?(?:谢谢|謝謝|多谢|多謝|感谢|感謝|ありがとう|감사합니다)(?:你|您|啦|了|ございます)?"
        ),
        "不客气。\n",
    ),
    (
        re.compile("(?:你好|您好|こんにちは|안녕하세요)(?:啊|呀)?"),
        "你好！请问关于笔记的任何问题。\n",
    ),
    (re.compile("(?:好的|好吧|好|明白|知道|了解|懂|再见|再見)(?:了|啦|吧)?"), "好的。\n"),
)
_ABOUT_ME = lazy_pattern(
    r"\b(?:what can you do|who are you|what are you|how (?:do|can) you (?:work|help)|how "
    r"are you|are you (?:\w+ )?there)\b"
    r"|你是谁|你能做什么",
    re.I,
)
_ASKED = lazy_pattern(
    r"\bwhat (?:did|have|had) (?:i|we)\b|\bwhat (?:was|were) "
    r"(?:my|our)\b|我(?:之前|刚才|一开始|先前).*(?:问|說|说)"
    r"|\bwas (?:habe?|hatte) ich\b|\bqu['’](?:ai[- ]je|est[- ]ce que j['’]ai)\b|\bqué "
    r"(?:te )?(?:pregunté|he preguntado)\b",
    re.I,
)
_REPEAT = lazy_pattern(
    r"\brepeat\b|\b(?:say|tell|show)\b.*\bagain\b|\bwhat did you (?:say|answer)\b|再说一遍|重复一遍",
    re.I,
)
_CONVERSATION_WORDS = frozenset(
    """ask asked asking question questions first last say said tell told talk talked talking discuss discussed answer answers answered
    repeat again conversation chat far earlier previously start beginning begin please you me kindly just one show
    gefragt gesagt zuerst zuletzt frage demande dit d'abord pregunte preguntado primero""".split()
)
_FIRST = lazy_pattern(
    r"\b(?:first|start|beginning|begin|zuerst|anfang|d['’]abord|primero)\b|最初|一开始|第一", re.I
)
# Would turn a question of the user, or a fact, into a quotation or a citation
QUOTE_MARKS = lazy_pattern(r"[“”„«»「」『』\"`\[\]<>]")
_LONGEST_QUESTION = 200


def reply_to_small_talk(text: str, questions: Sequence[str], answers: Sequence[str]) -> str | None:
    """The reply to thanks, a greeting or a question about the conversation; None for a message with
    any other word, which needs a search. "thanks!" is small talk, "thanks, and how do I undo it?"
    is not. `questions` and `answers` are the earlier ones, in order.
    """
    words = terms(text)
    if not words or len(words) > MAX_SMALL_TALK:
        return None
    if _ABOUT_ME.search(text):
        return INTRODUCTION

    def has_only(allowed: frozenset[str]) -> bool:
        return all(word in allowed or is_stopword(word) or not word.isascii() for word in words)

    if _REPEAT.search(text) and has_only(_CONVERSATION_WORDS):
        return (
            answers[0 if _FIRST.search(text) else -1]
            if answers
            else "I have not answered anything yet.\n"
        )
    if _ASKED.search(text) and has_only(_CONVERSATION_WORDS):
        if not questions:
            return "This is your first message.\n"
        plain = [
            " ".join(QUOTE_MARKS.sub("", question).split())[:_LONGEST_QUESTION]
            for question in questions
        ]
        if _FIRST.search(text):
            return f"Your first question was: {plain[0]}\n"
        return "You asked:\n\n" + "".join(f"- {question}\n" for question in plain)
    bare = re.sub(r"[\W_]+", "", text)
    if reply := next((reply for pattern, reply in _CJK_REPLIES if pattern.fullmatch(bare)), None):
        return reply
    if "?" in text:
        return None
    found = [reply for known, reply in _REPLIES.items() if not known.isdisjoint(words)]
    return found[0] if found and has_only(_COMPANIONS.union(*_REPLIES)) else None


class AnalyzedQuestion(NamedTuple):
    """`text` is the question for a comparison by meaning, `searches` are the queries for it, best
    first. `weights` has the words that an answer should contain, in any form; those in `subject`
    are the question's own, without the fillers. `about_document`: it asks for a document as a
    whole; `about_period`: for the notes of a time ("what did I do last week?").
    """

    text: str
    searches: tuple[str, ...]
    weights: dict[str, float]
    subject: frozenset[str]
    wants_summary: bool = False
    about_document: bool = False
    about_period: bool = False
    is_follow_up: bool = False
    # A follow-up without the words of the question before it, if it has words of its own
    alone: "AnalyzedQuestion | None" = None


def analyze_question(messages: Sequence[PromptMessage], position: int) -> AnalyzedQuestion:
    """What the message at `position` asks. One that cannot stand alone also gets the words of the
    question before it.
    """
    message = messages[position].content if position >= 0 else ""
    text = _remove_links(message)
    names = set(content_terms(" ".join(map(_document_name, _LINK.finditer(message)))))
    _, dates, rest = find_period(text, _ANY_DAY) or (None, "", text)
    language = language_of(terms(text))
    weights = {
        word: FILLER_WEIGHT if is_filler(word, language) else 1.0 for word in _content_words(rest)
    }
    # In the text, not only the date of a note
    weights = dict.fromkeys(_YEAR.findall(dates), FILLER_WEIGHT) | weights
    own = _subject_words(rest)
    plain = " ".join(
        _DATE_OPERATOR.sub(
            _plain_operator, _OPERATORS.sub(" ", _LINK.sub(_document_name, message))
        ).split()
    )
    about_document = not _without(_subject_words(text, fillers=True), _DOCUMENT_WORDS, language)
    topic = ""
    # To the last question, or the last one in a summary; small talk does not count
    if position > 0 and refers_to_earlier(text):
        before = messages[:position]
        asked = [
            line
            for m in before
            if m.kind == "summary"
            for line in _SUMMARIZED_QUESTION.findall(m.content)
        ] + user_messages(before)
        topic = next(
            (each for each in reversed(asked) if reply_to_small_talk(each, (), ()) is None), ""
        )
    topic = _remove_links(topic) if names else _LINK.sub(_document_name, topic)
    added = _without(_subject_words(topic), [*_DOCUMENT_WORDS, *weights], language)[
        :MAX_TOPIC_WORDS
    ]
    about_period = bool(dates) and (not own or is_all_stopwords(rest))
    searches = _queries(plain, "" if about_period else dates)
    subject = frozenset(own or weights)
    alone = AnalyzedQuestion(
        plain, searches, weights, subject, asks_for_summary(text), about_document, about_period
    )
    if not added:
        return alone
    weights = {word: weight for word, weight in weights.items() if word not in stopwords(language)}
    weights |= dict.fromkeys(added, TOPIC_WEIGHT if own else 1.0)
    joined = " ".join(dict.fromkeys([*added, *own, *sorted(names)]))
    searches = _queries(f"{joined} {dates}", plain)
    full = f"{' '.join(topic.split())} {plain}"
    subject = frozenset([*own, *added])
    return AnalyzedQuestion(
        full,
        searches,
        weights,
        subject,
        alone.wants_summary,
        is_follow_up=True,
        alone=alone if own else None,
    )


def _queries(*texts: str) -> tuple[str, ...]:
    return tuple(truncate(text, MAX_QUERY) for text in texts if text)


def _plain_operator(operator: re.Match[str]) -> str:
    """`on:2024-05-01` as it is, but `on:call` as words: a search would refuse it."""
    return operator[0] if parse_period(operator[2], _ANY_DAY) else f"{operator[1]} {operator[2]}"


def asks_for_summary(text: str) -> bool:
    return bool(_SUMMARY.search(text))


def _remove_links(text: str) -> str:
    """`text` without links if it has other words: the documents are read anyway, and the words of
    their names would outweigh them.
    """
    bare = _LINK.sub(" ", text)
    return bare if _subject_words(bare, fillers=True) else text


def _document_name(link: re.Match[str]) -> str:
    name = link[link.lastindex or 0]
    if name.endswith("]]"):
        name = name.lstrip("!")[2:-2].partition("|")[0]
    return PurePosixPath(name.replace("#", " ")).name.removesuffix(".md")


def refers_to_earlier(text: str) -> bool:
    """Whether a message makes sense only in its conversation: it has no subject, or few words and a
    pronoun or the form of an addition.
    """
    subject = _subject_words(text)
    is_addition = _ADDITION.match(text) and not _WHOLE_QUESTION.search(text)
    return len(subject) <= (
        MAX_PRONOUN_WORDS if _PRONOUN.search(text) else MAX_ADDED_WORDS if is_addition else 0
    )


def _subject_words(text: str, *, fillers: bool = False) -> list[str]:
    """The different words of a text without stopwords and, unless wanted, fillers of its
    language.
    """
    language = language_of(terms(text))
    every = dict.fromkeys(word for word in _content_words(text) if word not in stopwords(language))
    return [word for word in every if fillers or not is_filler(word, language)]


def _without(words: Sequence[str], others: Iterable[str], language: str) -> list[str]:
    """The words that are not among the others in any form."""
    stems = {stem(word, (language,)) for word in others}
    return [word for word in words if stem(word, (language,)) not in stems]


def _content_words(text: str) -> list[str]:
    return content_terms(CJK_QUESTION_WORDS.sub(" ", text).strip() or text)[:MAX_WORDS]


def user_messages(messages: Sequence[PromptMessage]) -> list[str]:
    return [m.content for m in messages if m.role == "user" and m.kind == "conversation"]
