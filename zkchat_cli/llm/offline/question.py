"""What a message asks for: its words and their weights, and what it refers to in the conversation. Pure.

The core knows no language: words, their rarity, their order. English gets a little help, and so do Chinese and Japanese question words,
which would otherwise stick to the words of the question, as there are no spaces.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from zkchat_cli.models import PromptMessage
from zkchat_cli.text.words import STOPWORDS, cjk_pattern, content_terms, stem, terms

LINK = re.compile(r"""!?\[\[([^\[\]]*)\]\](?:>[1-9](?![0-9]))?|(?<!\S)@(?:"[^"\n]+"|<[^<>\n]+>|[^\s"<>]+)""")
"""The name of a document: a wikilink (`[[Note]]>2` with the notes it links to), or an `@path`, which has no title."""
MAX_WORDS = 64
"""Only the first words of a message count: a pasted page asks no better."""
MAX_QUESTIONS = 3
MAX_TOPIC_WORDS = 24
MAX_HISTORY = 24
"""Messages to look back at for what a follow-up is about."""
MAX_ENDS = 500
"""Characters at either end of a long message that may contain its request."""
FILLER_WEIGHT, TOPIC_WEIGHT = 0.3, 0.5
_FILLERS = frozenset(
    stem(word)
    for word in """able actually allow another anything ask best better bit bring call called change cause come continue correct detail
    details different do done easy elaborate else ever every example examples explain exactly find found further general get give go good
    happen happens help idea information involve keep kind know like list long look lot made main make many matter mean meaning
    means much need note notes one ones order possible possibly provide put question quick really reason right say says see set
    show simple someone something sort start stuff take talk tell thing things think thought time try turn type understand us use
    used useful using usually want way ways well whether without wonder work works write""".split()
)
"""Words that many questions contain: they say little about the subject."""
_DOCUMENT_WORDS = frozenset(
    stem(word)
    for word in """summarise summarize summary summaries overview gist tldr outline point points key main content contents explain describe
    discuss note notes document page file text compare comparison difference differences differ contrast versus vs between tell show read
    say says zusammenfassen fasse zusammen zusammenfassung résumer résume resume resumen resumir 总结 概括 摘要 概述 要点 內容 内容 總結
    比较 比較 区别 區別 不同""".split()
)
_SUMMARY = re.compile(
    r"\b(?:summar(?:y|i[sz]\w*)|overview|tl;?dr|gist|(?:key|main) points?|outline|recap)\b"
    r"|\b(?:zusammenfass\w*|fasse\b.*\bzusammen|résum\w*|resum\w+)\b|总结|總結|概括|摘要|概述|要点|要點|要約",
    re.IGNORECASE,
)
_COMPARISON = re.compile(r"\b(?:compar\w+|differ\w*|versus|vs|contrast)\b|区别|區別|比较|比較|不同|差异|差異", re.IGNORECASE)
_CONVERSATION = re.compile(r"\b(?:conversation|chat|discussion|so far|we (?:said|talked|discussed))\b|对话|對話|聊天", re.IGNORECASE)
_MORE = re.compile(r"\b(?:more|else|go on|continue|further|elaborate|in detail|weiter|mehr)\b|更多|继续|繼續|详细|詳細", re.IGNORECASE)
_ADDITION = re.compile(
    r"\s*(?:and|also|but|or|so|then|what about|how about|what if|und|et|y)\b|\s*(?:还有|還有|那么|那麼|那|另外|以及)", re.IGNORECASE
)
_PRONOUN = re.compile(
    r"\b(?:it|its|them|they|their|these|those|one|ones|former|latter|same)\b(?! (?:is|are|was|were|a|an|any)\b)"
    r"|\b(?:this|that)\b(?= *(?:[?.!,;]|$))|\b(?:do|does|undo|about|is|was|of|with|like|for|to|after|before|than|mean) (?:this|that)\b"
    r"|它|这个|這個|那个|那個|其中|上述|这样|這樣",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|isn't|does|would|makes?) it (?:possible|ok|okay|true|necessary|sense|safe|worth|better|take)\b", re.IGNORECASE
)
_ORDINALS = (("first|1st", "第一"), ("second|2nd|other", "第二|另一"), ("third|3rd", "第三"), ("fourth|4th", "第四"))
_ORDINAL_STEMS = frozenset(stem(t) for english, chinese in _ORDINALS for t in terms(f"{english} {chinese} 二个 一个 三个 四个"))
_NTH = [re.compile(rf"\b(?:the|your)\b[\w ]*\b(?:{english})\b|{chinese}", re.IGNORECASE) for english, chinese in _ORDINALS]
_LAST = re.compile(r"\bthe last (?:one|quote|quotation|point|source|sentence|note)\b|最后一", re.IGNORECASE)
_NUMBER = re.compile(r"\[(\d{1,6})\]")
_CJK_QUESTION_WORDS = re.compile(
    "什么是|什麼是|是什么意思|是什麼意思|是什么|是什麼|为什么|為什麼|什么|什麼|怎么样|怎麼樣|怎样|怎樣|怎么|怎麼|如何|哪些|哪里|哪裡|哪个|哪個|哪|多少|"
    "是否|能不能|可不可以|可以|有没有|有沒有|请问|請問|需要|应该|應該|关于|關於|之间|之間|还有|還有|吗|嗎|呢|吧|的|了|是|它们|它們|它|说|說|"
    "とは|ですか|なに|何|どう|どこ|なぜ|いつ|무엇|어떻게|왜"
)
_QUESTION_END = re.compile(r"(?<=[?？])\s*|\n+")
_SUMMARIZED_QUESTION = re.compile(r"^[-(\d) ]*user: (.*)$", re.MULTILINE)
_QUOTATION = re.compile(r"(?:“([^“”]*(?:“[^“”]*”[^“”]*)*)”|«([^«»]*)»|「([^「」]*)」) \[(\d+)\]")
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]")
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w-]+|(?<!\w)\w*\d\w*")
_ENDINGS = ("e", "s", "es", "ed", "ing", "ion", "ation", "ment")


@dataclass(frozen=True, slots=True)
class AnalyzedQuestion:
    """One question: the query to search for, the stems that its answer should contain with their weights, and all its stems in order."""

    text: str
    query: str
    weights: dict[str, float]
    stems: tuple[str, ...]
    query_without_topic: str = ""
    """A second query, if the question may be answered without the topic of the conversation."""
    topic: frozenset[str] = frozenset()
    """Stems that come from the conversation only."""
    needs_topic: bool = False
    """Whether the answer must be about the topic ("undo that"), or only may be ("what about dates?")."""
    is_follow_up: bool = False
    names: frozenset[str] = frozenset()
    """Stems of words that look like names: capitalized within a sentence, or with a digit."""


@dataclass(frozen=True, slots=True)
class EarlierQuote:
    """A quotation of an earlier answer, and its source number."""

    text: str
    source: int


@dataclass(frozen=True, slots=True)
class AnalyzedMessage:
    """What a message asks. `earlier_quotes` should not be quoted again; if it `wants_more`, they must not."""

    questions: tuple[AnalyzedQuestion, ...]
    wants_summary: bool = False
    about_document: bool = False
    """It asks for a document as a whole, not for something in it."""
    about_conversation: bool = False
    """It asks to sum up the conversation."""
    is_follow_up: bool = False
    has_subject: bool = True
    """It has words other than those of questions in general."""
    wants_more: bool = False
    earlier_quotes: tuple[EarlierQuote, ...] = ()
    source: int | None = None
    """The number of the excerpt that it refers to ("the second one", "[2]")."""
    sections: frozenset[str] = frozenset()
    """The headings in its links, as stems."""


def analyze_message(messages: Sequence[PromptMessage], position: int) -> AnalyzedMessage:
    """What the message at `position` asks, in the context of those before it."""
    content = messages[position].content if position >= 0 else ""
    before = messages[: max(position, 0)]
    text = remove_links(content)
    links = LINK.findall(content)
    earlier, quotes = _earlier_questions(before), _earlier_quotes(before)
    referenced = _referenced_quote(text[:MAX_ENDS], quotes) if earlier or quotes else None
    refers_back = bool(earlier or quotes) and all(links) and refers_to_earlier(text)  # an @file, without a title, is its own subject
    text = _NUMBER.sub(" ", text) if referenced else text
    topic = _topic(earlier, quotes, referenced) if refers_back or referenced else ""
    questions = tuple(_analyze_question(part, topic) for part in ([text] if topic else _split_questions(text)))
    is_follow_up = any(question.is_follow_up for question in questions)
    subject = _subject(text)
    wants_summary = asks_for_summary(text)
    return AnalyzedMessage(
        questions=questions,
        wants_summary=wants_summary,
        about_document=not subject - _DOCUMENT_WORDS and not is_follow_up,
        about_conversation=wants_summary and bool(_CONVERSATION.search(text)),
        is_follow_up=is_follow_up,
        has_subject=bool(subject - _FILLERS - _DOCUMENT_WORDS - _ORDINAL_STEMS),
        wants_more=is_follow_up and bool(_MORE.search(text)) and not subject - _DOCUMENT_WORDS - _FILLERS,
        earlier_quotes=quotes,
        source=referenced.source if referenced else None,
        sections=frozenset(
            " ".join(map(stem, terms(link.partition("|")[0].partition("#")[2].rpartition("#")[2]))) for link in links if "#" in link
        ),
    )


def stems(text: str) -> list[str]:
    """The stems of a text and its emoji, by which words are compared."""
    return [*map(stem, terms(text)), *(() if text.isascii() else _EMOJI.findall(text))]


def asks_for_summary(text: str) -> bool:
    """Whether a message, or the beginning or end of a long one, asks for a summary."""
    return bool(_SUMMARY.search(text if len(text) <= 2 * MAX_ENDS else f"{text[:MAX_ENDS]}\n{text[-MAX_ENDS:]}"))


def remove_links(text: str) -> str:
    """The documents are read anyway; the words of their titles would outweigh those of the question."""
    bare = LINK.sub(" ", text)
    return bare if set(terms(bare)) - STOPWORDS else text


def word_forms(question: AnalyzedQuestion, words: Collection[str]) -> str:
    """Other English forms of these words of the question: complete, completes, completion for completed."""
    forms: list[str] = []
    for word in dict.fromkeys(terms(question.text)):
        base = stem(word)
        if base in words and len(base) >= 4 and base.isascii() and base.isalpha() and question.weights[base] >= 1:
            forms += [form for form in (base, *(base + ending for ending in _ENDINGS)) if form != word]
    return " ".join(forms)


def refers_to_earlier(text: str) -> bool:
    """Whether a message makes sense only in its conversation: it has no subject, or few words and a pronoun."""
    subject = _subject(text) - _FILLERS
    if not subject or _NUMBER.search(text):
        return True
    if len(subject) <= 4 and _PRONOUN.search(_EXPLETIVE.sub(" ", text)) and len(terms(text)) <= 14:
        return True
    return bool(_ADDITION.match(text)) and len(subject) <= (6 if cjk_pattern().search(text) else 2)


def _subject(text: str) -> set[str]:
    return {stem(term) for term in terms(_CJK_QUESTION_WORDS.sub(" ", text)) if term not in STOPWORDS}


def _earlier_questions(before: Sequence[PromptMessage]) -> list[str]:
    """The user's earlier messages, newest first; then those in a summary or in recalled turns, which have several sources."""
    users = [m for m in before if m.role == "user"]
    asked = [m.content for m in users if m.kind == "conversation" and len(m.source_ids) == 1]
    summarized = [line for m in users if m.kind == "summary" or len(m.source_ids) > 1 for line in _SUMMARIZED_QUESTION.findall(m.content)]
    if not asked and not summarized:
        summarized = [line for m in before if m.kind == "summary" for line in m.content.split("\n")[-4:-1]]
    return [*reversed(asked[-MAX_HISTORY:]), *reversed(summarized[-MAX_HISTORY:])]


def _earlier_quotes(before: Sequence[PromptMessage]) -> tuple[EarlierQuote, ...]:
    """The quotations of the earlier answers, those of the last answer first."""
    answers = [m.content for m in before if (m.role == "assistant" and m.content) or m.kind == "summary"][-MAX_HISTORY:]
    return tuple(EarlierQuote(a or b or c, int(n)) for answer in reversed(answers) for a, b, c, n in _QUOTATION.findall(answer))


def _referenced_quote(text: str, quotes: Sequence[EarlierQuote]) -> EarlierQuote | None:
    """The quotation that a message refers to by position or number; a number need not have been quoted."""
    if number := _NUMBER.search(text):
        return next((quote for quote in quotes if quote.source == int(number[1])), EarlierQuote("", int(number[1])))
    if not quotes or len(_subject(text) - _FILLERS) > 2:
        return None
    if _LAST.search(text):
        return quotes[-1]
    return next((quote for quote, nth in zip(quotes, _NTH, strict=False) if nth.search(text)), None)


def _topic(earlier: Sequence[str], quotes: Sequence[EarlierQuote], referenced: EarlierQuote | None) -> str:
    """The text of the quotation referred to; else the last question that stands alone, with those after it."""
    if referenced is not None and referenced.text:
        return referenced.text
    questions: list[str] = []
    for message in earlier:
        questions.append(remove_links(message))
        if not refers_to_earlier(questions[-1]):
            break
    return "\n".join(questions) or " ".join(quote.text for quote in quotes[:1])


def _split_questions(text: str) -> list[str]:
    """The questions of a message if each has a subject of its own, else the whole message."""
    parts = [part.strip() for part in _QUESTION_END.split(text) if part.strip()]
    questions = [part for part in parts if part.endswith(("?", "？"))]
    several = 1 < len(questions) <= MAX_QUESTIONS and len(questions) >= len(parts) - 1
    return questions if several and not any(refers_to_earlier(question) for question in questions) else [text]


def _analyze_question(text: str, topic: str) -> AnalyzedQuestion:
    plain = _CJK_QUESTION_WORDS.sub(" ", text) if cjk_pattern().search(text) else text
    plain = plain if plain.strip() else text
    words = content_terms(plain)[:MAX_WORDS]
    fillers = _fillers(text)
    mixed = any(word.isascii() for word in words)
    weights: dict[str, float] = {}
    for word in words:
        if not (topic and word in STOPWORDS):
            particle = mixed and len(word) == 1 and not word.isascii()  # 和, 用 between words of other scripts
            weight = FILLER_WEIGHT if stem(word) in fillers or particle else 1.0
            weights[stem(word)] = max(weight, weights.get(stem(word), 0.0))
    weights |= dict.fromkeys(_EMOJI.findall(text)[:MAX_WORDS], 1.0)
    has_subject = any(weight >= 1 for weight in weights.values())
    ignored = fillers | _fillers(topic) | weights.keys()
    topic_words = content_terms(_CJK_QUESTION_WORDS.sub(" ", topic))
    added = [word for word in topic_words if word not in STOPWORDS and stem(word) not in ignored][:MAX_TOPIC_WORDS]
    weights |= {stem(word): TOPIC_WEIGHT if has_subject else 1.0 for word in added}
    own = " ".join(word for word in words if word not in STOPWORDS and stem(word) not in fillers)
    needs_topic = not _ADDITION.match(text) or bool(_PRONOUN.search(text))
    return AnalyzedQuestion(
        text=text.strip(),
        query=" ".join(dict.fromkeys(f"{own} {' '.join(added)}".split())) if added else " ".join(plain.split()),
        weights=weights,
        stems=tuple(stems(plain)[:MAX_WORDS]),
        query_without_topic=own if has_subject and added and not needs_topic else "",
        topic=frozenset(map(stem, added)) if has_subject else frozenset(),
        needs_topic=needs_topic,
        is_follow_up=bool(added),
        names=frozenset(stem(term) for word in _NAME.findall(text) for term in terms(word)),
    )


def _fillers(text: str) -> frozenset[str]:
    return _FILLERS | _DOCUMENT_WORDS if asks_for_summary(text) or _COMPARISON.search(text) else _FILLERS
