"""What a question asks for: the searches for it, and the words of an answer with their weights.
Pure.

The core uses words and their rarity, whatever the language. English gets a little help, and so do
Chinese and Japanese question words, which would otherwise stick to the other words, because there
are no spaces.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.llm.offline.small_talk import reply_to_small_talk
from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.dates import find_period_words, is_all_stopwords, parse_period
from zkchat_cli.text.languages import language_of_query
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.word_lists import CJK_QUESTION_WORDS, FREQUENT_WORDS
from zkchat_cli.text.words import content_terms, is_filler, language_of, stem, stopwords, terms

# Only the first words of a message count: a pasted page does not make a better question
MAX_WORDS = 64
MAX_TOPIC_WORDS = 12
# Most characters of a query
MAX_QUERY = 400
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
    summarise summarize summary summaries overview gist tldr outline point points key main
    content contents explain describe discuss note notes document page file text compare
    comparison difference differences differ contrast versus vs between tell show read say says
    zusammenfassen fasse zusammen zusammenfassung résumer résume resume resumen resumir
    总结 概括 摘要 概述 要点 內容 内容 總結 比较 比較 区别 區別 不同
""".split()
"""Words of a request for a document as a whole."""
_NOTE_WORDS = frozenset(
    "notiz notizen zettel nota notas anotacao anotacoes apunte apuntes fiche fiches".split()
)
"""Words for a note in a request, which tell its language only with others ("Notiz Zahnarzt")."""
_SUMMARY = lazy_pattern(
    r"\b(?:summar(?:y|i[sz]\w*)|overview|tl;?dr|gist|(?:key|main) points?|outline|recap)\b"
    r"|\b(?:zusammenfass\w*|fasse\b.*\bzusammen|résum\w*|resum\w+)\b"
    r"|总结|總結|概括|摘要|概述|要点|要點|要約",
    re.IGNORECASE,
)
_ADDITION = lazy_pattern(
    r"\s*(?:and|also|but|or|so|then|what about|how about|what if|und|et|y"
    r"|only|per|instead|again|still|in|on|at|for|with|without|by|nur)\b"
    r"|\s*(?:还有|還有|那么|那麼|那|另外|以及)",
    re.I,
)
_WHOLE_QUESTION = lazy_pattern(
    r"\b(?:what|which|who|whose|when|where|why|how"
    r"|wie|wer|was|wann|wo|warum|welche\w*|pourquoi|quand|cómo|cuándo|dónde)"
    r"(?!\s+(?:about|if|else|mit|für|noch)\b)(?:\s+\w+){2}",
    re.I,
)
"""A question word and what it asks: "how often?" is not whole."""
_PRONOUN = lazy_pattern(
    r"\b(?:it|its|them|they|their|he|his|she|both|ones|one(?=\s*(?:[?.!,;]|$))|same"
    r"|the (?:other|others|first|second|latter|former)|one of (?:them|these|those)"
    r"|(?:this|these|those)(?!\s+(?:morning|evening|day|week|weekend|month|quarter|year))"
    r"|that(?=\s*(?:[?.!,;]|$)|\s+(?:off|on|up|out|way|be|work|works|mean|happen|do|go|again"
    r"|too|then|instead|one|also|possible)\b)"
    r"|damit|davon|dafür|dazu|dabei|cela|ça|eso|esto)\b"
    r"|它|这个|這個|那个|那個|其中|上述|这样|這樣",
    re.I,
)
# Only the words of dates matter here, not the days that they mean; the search knows what day it is
_ANY_DAY = date(year=1950, month=1, day=1)
_YEAR = lazy_pattern(r"\b\d{4}\b")
_OPERATORS = lazy_pattern(r"(?<!\S)-+(?=\w)|[\"“”„«»「」]")
"""A question about `find -name` excludes nothing, and words in quotation marks need not be found as
a phrase.
"""
_DATE_OPERATOR = lazy_pattern(r"(?<!\S)(after|before|on):(\S+)", re.IGNORECASE)
_SUMMARIZED_QUESTION = lazy_pattern(r"\buser: (.*)$", re.MULTILINE)


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
    # The words of a date beside a subject: "on 3 November"
    dates: str = ""
    # Whether the message only named a time, and the rest is of the question before: "and in June?"
    only_names_time: bool = False
    # The message as it was typed, which tells its language
    typed: str = ""
    # A follow-up without the words of the question before it, if it has words of its own
    alone: "AnalyzedQuestion | None" = None

    @property
    def asked(self) -> str:
        """What tells the language of the question."""
        return self.typed or self.text


def analyze_text(text: str) -> AnalyzedQuestion:
    """What a text asks by itself, whatever was said before it."""
    return _analyze_alone(text, _words_of(text))


def analyze_question(messages: Sequence[PromptMessage], position: int) -> AnalyzedQuestion:
    """What the message at `position` asks. One that cannot stand alone also gets the words of the
    question before it.
    """
    message = messages[position].content if position >= 0 else ""
    words = _words_of(message)
    alone = _analyze_alone(message, words)
    if position <= 0 or not refers_to_earlier(words.text):
        return alone
    topic = _earlier_question(messages[:position])
    topic = _remove_links(topic) if words.names else _LINK.sub(_document_name, topic)
    known = [*_DOCUMENT_WORDS, *alone.weights]
    added = _without(_subject_words(topic), known, words.language)
    if not added:
        return alone
    return _with_topic(alone, words, topic, added[:MAX_TOPIC_WORDS])


class _MessageWords(NamedTuple):
    """The words of a message: its text without links if it has other words, the words of the
    documents it names, its date, the text without that, and the words of its subject.
    """

    text: str
    names: frozenset[str]
    dates: str
    undated: str
    subject: list[str]
    language: str


def _words_of(message: str) -> _MessageWords:
    text = _remove_links(message)
    names = " ".join(_document_name(link) for link in _LINK.finditer(message))
    named = find_period_words(text)
    dates = ""
    undated = text
    if named is not None:
        dates = named.words
        undated = named.rest
    return _MessageWords(
        text,
        frozenset(content_terms(names)),
        dates,
        undated,
        subject=_subject_words(undated),
        language=_language_of(text),
    )


def _analyze_alone(message: str, words: _MessageWords) -> AnalyzedQuestion:
    """What a message asks without the messages before it."""
    weights = dict.fromkeys(_YEAR.findall(words.dates), FILLER_WEIGHT)
    common = stopwords(words.language)
    content = _content_words(words.undated)
    uncommon = [each for each in content if each not in common]
    for word in uncommon or content:
        # A year in the text counts as a word, and not only as the date of a note
        weights[word] = FILLER_WEIGHT if is_filler(word, words.language) else 1.0
    plain = _LINK.sub(_document_name, message)
    plain = _OPERATORS.sub(" ", plain)
    plain = _DATE_OPERATOR.sub(_plain_operator, plain)
    plain = " ".join(plain.split())
    about_period = bool(words.dates) and (not words.subject or is_all_stopwords(words.undated))
    other_words = _without(
        _subject_words(words.text, fillers=True), _DOCUMENT_WORDS, words.language
    )
    return AnalyzedQuestion(
        plain,
        searches=_queries(plain, "" if about_period else words.dates),
        weights=weights,
        subject=frozenset(words.subject or weights),
        wants_summary=asks_for_summary(words.text),
        about_document=not other_words,
        about_period=about_period,
        dates="" if about_period else words.dates,
    )


def _earlier_question(messages: Sequence[PromptMessage]) -> str:
    """The last question before, or the last one in a summary; small talk does not count."""
    asked: list[str] = []
    for message in messages:
        if message.kind == "summary":
            asked += _SUMMARIZED_QUESTION.findall(message.content)
    asked += user_messages(messages)
    for question in reversed(asked):
        if reply_to_small_talk(question, (), ()) is None:
            return question
    return ""


def _with_topic(
    alone: AnalyzedQuestion, words: _MessageWords, topic: str, added: Sequence[str]
) -> AnalyzedQuestion:
    """A question with words of the question before it, the `topic`."""
    common = stopwords(words.language)
    weights = {word: weight for word, weight in alone.weights.items() if word not in common}
    weights |= dict.fromkeys(added, TOPIC_WEIGHT if words.subject else 1.0)
    joined = " ".join(dict.fromkeys([*added, *words.subject, *sorted(words.names)]))
    return AnalyzedQuestion(
        f"{' '.join(topic.split())} {alone.text}",
        searches=_queries(f"{joined} {words.dates}", alone.text),
        weights=weights,
        subject=frozenset([*words.subject, *added]),
        wants_summary=alone.wants_summary,
        is_follow_up=True,
        alone=alone if words.subject else None,
    )


def _queries(*texts: str) -> tuple[str, ...]:
    return tuple(truncate(text, MAX_QUERY) for text in texts if text)


def _plain_operator(operator: re.Match[str]) -> str:
    """`on:2024-05-01` as it is, but `on:call` as words: a search would refuse it."""
    return operator[0] if parse_period(operator[2], _ANY_DAY) else f"{operator[1]} {operator[2]}"


def asks_for_summary(text: str) -> bool:
    """Whether a message asks for a summary, by its words."""
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
    if _PRONOUN.search(text):
        return len(subject) <= MAX_PRONOUN_WORDS
    if _ADDITION.match(text) and not _WHOLE_QUESTION.search(text):
        return len(subject) <= MAX_ADDED_WORDS
    return not subject


def _subject_words(text: str, *, fillers: bool = False) -> list[str]:
    """The different words of a text without stopwords and, unless wanted, fillers of its
    language.
    """
    language = _language_of(text)
    every = dict.fromkeys(word for word in _content_words(text) if word not in stopwords(language))
    if fillers:
        return list(every)
    return [word for word in every if not is_filler(word, language) and word not in _NOTE_WORDS]


def _language_of(text: str) -> str:
    """The language of the stopwords and fillers of a text: "wie viel" has one stopword only."""
    language = language_of_query(text)
    return language if language in FREQUENT_WORDS else language_of(terms(text))


def _without(words: Sequence[str], others: Iterable[str], language: str) -> list[str]:
    """The words that are not among the others in any form."""
    stems = {stem(word, (language,)) for word in others}
    return [word for word in words if stem(word, (language,)) not in stems]


def _content_words(text: str) -> list[str]:
    return content_terms(CJK_QUESTION_WORDS.sub(" ", text).strip() or text)[:MAX_WORDS]


def user_messages(messages: Sequence[PromptMessage]) -> list[str]:
    """The texts that the user has typed."""
    return [m.content for m in messages if m.role == "user" and m.kind == "conversation"]
