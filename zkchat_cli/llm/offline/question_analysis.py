"""What a message asks for: its words and their weight, the kind of answer it wants, and what of the conversation it points back to. Pure.

The core knows no language: words, their rarity and their order. On top of it lies a little help for English, and for Chinese and Japanese
question words, which would otherwise stick to the words of the question, as there are no spaces between.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from zkchat_cli.models import PromptMessage
from zkchat_cli.text.words import STOPWORDS, cjk_pattern, content_terms, stem, terms

Intent = Literal["any", "definition", "how", "why", "when", "where", "which", "whether"]

LINK = re.compile(r"""!?\[\[([^\[\]]*)\]\](?:>[1-9](?![0-9]))?|(?<!\S)@(?:"[^"\n]+"|<[^<>\n]+>|[^\s"<>]+)""")
"""What names a document: a wikilink (`[[Note]]>2` with those it leads to), or an `@path`, which has no title."""
MOST_WORDS = 64
"""Words of a message that count, the first ones: a pasted page asks no better with more."""
MOST_QUESTIONS = 3
MOST_TOPIC = 24
FILLER_WEIGHT, TOPIC_WEIGHT = 0.3, 0.5
_FILLER = frozenset(
    """able actually allow another anything ask best better bit bring call called change cause come continue correct detail details
    different do done easy elaborate else ever every example examples explain exactly find found further general get give go good
    happen happens help idea information involve keep kind know like list long look lot made main make many matter mean meaning
    means much need note notes one ones order possible possibly provide put question quick really reason right say says see set
    show simple someone something sort start stuff take talk tell thing things think thought time try turn type understand us use
    used useful using usually want way ways well whether without wonder work works write""".split()
)
"""Words that questions are made of: they say little of what a question is about. Compared as they are, and as stems."""
_FILLER_STEMS = frozenset(stem(word) for word in _FILLER)
_ASKS_FOR_A_DOCUMENT = frozenset(
    stem(w)
    for w in """summarise summarize summary summaries overview gist tldr outline point points key main content contents explain describe
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
_TALK = re.compile(r"\b(?:conversation|chat|discussion|so far|we (?:said|talked|discussed))\b|对话|對話|聊天", re.IGNORECASE)
_MORE = re.compile(r"\b(?:more|else|go on|continue|further|elaborate|in detail|weiter|mehr)\b|更多|继续|繼續|详细|詳細", re.IGNORECASE)
_ADDS = re.compile(
    r"\s*(?:and|also|but|or|so|then|what about|how about|what if|und|et|y)\b|\s*(?:还有|還有|那么|那麼|那|另外|以及)", re.IGNORECASE
)
_POINTS = re.compile(
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
_CJK_ASKING = re.compile(
    "什么是|什麼是|是什么意思|是什麼意思|是什么|是什麼|为什么|為什麼|什么|什麼|怎么样|怎麼樣|怎样|怎樣|怎么|怎麼|如何|哪些|哪里|哪裡|哪个|哪個|哪|多少|"
    "是否|能不能|可不可以|可以|有没有|有沒有|请问|請問|需要|应该|應該|关于|關於|之间|之間|还有|還有|吗|嗎|呢|吧|的|了|是|它们|它們|它|说|說|"
    "とは|ですか|なに|何|どう|どこ|なぜ|いつ|무엇|어떻게|왜"
)
_INTENTS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    (
        "definition",
        re.compile(
            r"\s*(?:what(?:'s| is| are|s)\b(?! the (?:best|way))|define\b|who (?:is|are|was)\b|(?:.*\b)?what does .* mean)|"
            r".*(?:什么是|什麼是|是什么|是什麼|とは)",
            re.IGNORECASE,
        ),
    ),
    ("how", re.compile(r".*\b(?:how (?:do|can|to|should|does|would|could)|steps?)\b|.*(?:如何|怎么|怎麼|怎样|怎樣|どう)", re.IGNORECASE)),
    ("why", re.compile(r".*\bwhy\b|.*(?:为什么|為什麼|なぜ)", re.IGNORECASE)),
    ("when", re.compile(r".*\bwhen\b|.*(?:什么时候|什麼時候|何时|何時|いつ)", re.IGNORECASE)),
    ("where", re.compile(r".*\bwhere\b|.*(?:哪里|哪裡|どこ)", re.IGNORECASE)),
    ("which", re.compile(r".*\b(?:which|list|what kinds?|what types?|how many)\b|.*(?:哪些|哪个|哪個|有什么|有什麼)", re.IGNORECASE)),
    ("whether", re.compile(r"\s*(?:can|could|does|do|is|are|will|should|may)\b|.*(?:吗|嗎|是否|能不能)", re.IGNORECASE)),
)
_ENDS = re.compile(r"(?<=[?？])\s*|\n+")
_TOLD = re.compile(r"^[-(\d) ]*user: (.*)$", re.MULTILINE)
_QUOTED = re.compile(r"(?:“([^“”]*(?:“[^“”]*”[^“”]*)*)”|«([^«»]*)»|「([^「」]*)」) \[(\d+)\]")
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]")
_ENDINGS = ("e", "s", "es", "ed", "ing", "ion", "ation", "ment")
FARTHEST_BACK = 24
"""Messages that are looked at for what another one points back to."""
FARTHEST_IN = 500
"""Characters at either end of a message in which it is looked for what it asks."""


@dataclass(frozen=True, slots=True)
class AnalyzedQuestion:
    """One question: what to search for, the stems that its answer should hold with their weights, and all its stems in order."""

    text: str
    query: str
    weights: dict[str, float]
    order: tuple[str, ...]
    intent: Intent = "any"
    alone: str = ""
    """What to search for besides, where the question may be answered without the topic that the conversation brings in."""
    topic: frozenset[str] = frozenset()
    """Stems that only the conversation brings in."""
    follows: bool = False
    bound: bool = False
    """Whether the answer must be about the topic, too ("undo that"), not only may be ("what about dates?")."""
    names: frozenset[str] = frozenset()
    """Stems of words that look like names: capitalised within a sentence, or with a digit."""


@dataclass(frozen=True, slots=True)
class PriorExchange:
    """A quotation of an earlier answer, and its number."""

    text: str
    source: int


@dataclass(frozen=True, slots=True)
class AskedParts:
    """What a message asks. `said` are the quotations that should not come again; with `more` they must not.

    `pointed` is the number of the excerpt that the message points to ("the second one", "[2]").
    """

    questions: tuple[AnalyzedQuestion, ...]
    summary: bool = False
    document: bool = False
    """It asks for a document as such, not for something in it."""
    conversation: bool = False
    """It asks to sum up what was said."""
    follows: bool = False
    telling: bool = True
    """Whether it has words of its own, beside those that questions are made of."""
    more: bool = False
    said: tuple[PriorExchange, ...] = ()
    pointed: int | None = None
    sections: frozenset[str] = frozenset()
    """Headings that its links name, folded to stems."""


def understand(messages: Sequence[PromptMessage], asked: int) -> AskedParts:
    """What the message at `asked` asks for, in the light of those before it."""
    whole = messages[asked].content if asked >= 0 else ""
    text = without_links(whole)
    earlier = _earlier(messages[: max(asked, 0)])
    said = _said(messages[: max(asked, 0)])
    brings = any(not title for title in LINK.findall(whole))  # a file is what the message is about
    back = bool(earlier or said) and not brings and points_back(text)
    pointed = _pointed(text[:FARTHEST_IN], said) if earlier or said else None
    text = _NUMBER.sub(" ", text) if pointed else text
    linked = LINK.findall(whole)
    topic = _topic(earlier, said, pointed) if back or pointed is not None else ""
    questions = tuple(_question(part, topic) for part in ([text] if topic else _parts(text)))
    follows = any(question.follows for question in questions)
    own = _own(text)
    return AskedParts(
        questions=questions,
        summary=asks_for_summary(text),
        document=not own - _ASKS_FOR_A_DOCUMENT and not follows,
        follows=follows,
        telling=bool(own - _FILLER_STEMS - _ASKS_FOR_A_DOCUMENT - _ORDINAL_STEMS),
        conversation=asks_for_summary(text) and bool(_TALK.search(text)),
        more=follows and bool(_MORE.search(text)) and not own - _ASKS_FOR_A_DOCUMENT - _FILLER_STEMS,
        said=said,
        pointed=None if pointed is None else pointed.source,
        sections=frozenset(
            " ".join(map(stem, terms(link.partition("|")[0].partition("#")[2].rpartition("#")[2]))) for link in linked if "#" in link
        ),
    )


def stems(text: str) -> list[str]:
    """What words are compared by: the stems of a text, and its emoji, in order."""
    return [*map(stem, terms(text)), *(() if text.isascii() else _EMOJI.findall(text))]


def asks_for_summary(text: str) -> bool:
    """Whether a message, or the beginning or end of a long one, asks to sum something up."""
    return bool(_SUMMARY.search(_ends_of(text)))


def _about_documents(text: str) -> bool:
    return asks_for_summary(text) or bool(_COMPARISON.search(text))


def _ends_of(text: str) -> str:
    return text if len(text) <= 2 * FARTHEST_IN else f"{text[:FARTHEST_IN]}\n{text[-FARTHEST_IN:]}"


def without_links(text: str) -> str:
    """Documents that a message names are read anyway; their titles would only outweigh the question's own words."""
    bare = LINK.sub(" ", text)
    return bare if set(terms(bare)) - STOPWORDS else text


def other_forms(question: AnalyzedQuestion, words: Collection[str]) -> str:
    """Other forms that these words of the question may have in the notes, English ones: complete, completes, completion for completed."""
    forms: list[str] = []
    for word in dict.fromkeys(terms(question.text)):
        base = stem(word)
        if base in words and len(base) >= 4 and base.isascii() and base.isalpha() and question.weights[base] >= 1:
            forms += [form for form in (base, *(base + ending for ending in _ENDINGS)) if form != word]
    return " ".join(forms)


def points_back(text: str) -> bool:
    """Whether a message is understood only from what was said before: it has no words of its own, or few and a word that points back."""
    own = _own(text) - _FILLER_STEMS
    if not own or _NUMBER.search(text):
        return True
    words = terms(text)
    if len(own) <= 4 and _POINTS.search(_EXPLETIVE.sub(" ", text)) and len(words) <= 14:
        return True
    return bool(_ADDS.match(text)) and len(own) <= (6 if cjk_pattern().search(text) else 2)


def _own(text: str) -> set[str]:
    """The stems of a text that are no stopwords."""
    return {stem(t) for t in terms(_CJK_ASKING.sub(" ", text)) if t not in STOPWORDS}


def _earlier(before: Sequence[PromptMessage]) -> list[str]:
    """What the user said earlier, the newest first; of turns that only a summary or a recollection tells of, too."""
    # a message of several sources is no question but quotes whole turns
    asked = [m.content for m in before if m.role == "user" and m.kind == "conversation" and len(m.source_ids) == 1]
    told = [
        line for m in before if m.role == "user" and (m.kind == "summary" or len(m.source_ids) > 1) for line in _TOLD.findall(m.content)
    ]
    if not asked and not told:
        told = [line for m in before if m.kind == "summary" for line in m.content.split("\n")[-4:-1]]
    return [*reversed(asked[-FARTHEST_BACK:]), *reversed(told[-FARTHEST_BACK:])]


def _said(before: Sequence[PromptMessage]) -> tuple[PriorExchange, ...]:
    """The quotations of the earlier answers, those of the last one first."""
    answers = [m.content for m in before if (m.role == "assistant" and m.content) or m.kind == "summary"][-FARTHEST_BACK:]
    return tuple(PriorExchange(a or b or c, int(n)) for answer in reversed(answers) for a, b, c, n in _QUOTED.findall(answer))


def _pointed(text: str, said: Sequence[PriorExchange]) -> PriorExchange | None:
    """The quotation that a message points to by its place in the answers or by its number; a number need not have been quoted."""
    if number := _NUMBER.search(text):
        return next((s for s in said if s.source == int(number[1])), PriorExchange("", int(number[1])))
    if not said or len(_own(text) - _FILLER_STEMS) > 2:
        return None
    if _LAST.search(text):
        return said[-1]
    return next((s for s, nth in zip(said, _NTH, strict=False) if nth.search(text)), None)


def _topic(earlier: Sequence[str], said: Sequence[PriorExchange], pointed: PriorExchange | None) -> str:
    """What the conversation is about: the quotation that is pointed to, or the last full question and what was asked since."""
    if pointed is not None and pointed.text:
        return pointed.text
    words: list[str] = []
    for message in earlier:
        words.append(without_links(message))
        if not points_back(words[-1]):
            break
    return "\n".join(words) or " ".join(s.text for s in said[:1])


def _parts(text: str) -> list[str]:
    """The questions of a message that asks several, each with words of its own; else the whole message."""
    parts = [part.strip() for part in _ENDS.split(text) if part.strip()]
    asking = [part for part in parts if part.endswith(("?", "？"))]
    if not 1 < len(asking) <= MOST_QUESTIONS or len(asking) < len(parts) - 1 or not all(_own(p) - _FILLER_STEMS for p in asking):
        return [text]
    return asking if not any(points_back(p) for p in asking) else [text]


def _question(text: str, topic: str) -> AnalyzedQuestion:
    plain = _CJK_ASKING.sub(" ", text) if cjk_pattern().search(text) else text
    plain = plain if plain.strip() else text
    own = content_terms(plain)[:MOST_WORDS]
    weights: dict[str, float] = {}
    fillers = _FILLER_STEMS | _ASKS_FOR_A_DOCUMENT if _about_documents(text) else _FILLER_STEMS
    mixed = any(term.isascii() for term in own)
    for term in own:
        alone = mixed and len(term) == 1 and not term.isascii()  # 和, 用: a character between words of other scripts
        if not (topic and term in STOPWORDS):
            weight = FILLER_WEIGHT if stem(term) in fillers or alone else 1.0
            weights[stem(term)] = max(weight, weights.get(stem(term), 0.0))
    weights |= dict.fromkeys(_EMOJI.findall(text)[:MOST_WORDS], 1.0)
    telling = any(weight >= 1 for weight in weights.values())
    about = fillers | _ASKS_FOR_A_DOCUMENT if _about_documents(topic) else fillers
    added = [t for t in content_terms(_CJK_ASKING.sub(" ", topic)) if t not in STOPWORDS and stem(t) not in about | weights.keys()]
    added = added[:MOST_TOPIC]
    weights |= {stem(t): TOPIC_WEIGHT if telling else 1.0 for t in added}
    kept = " ".join(t for t in own if t not in STOPWORDS and stem(t) not in fillers)
    bound = not _ADDS.match(text) or bool(_POINTS.search(text))
    return AnalyzedQuestion(
        text=text.strip(),
        query=" ".join(dict.fromkeys(f"{kept} {' '.join(added)}".split())) if added else " ".join(plain.split()),
        weights=weights,
        order=tuple(stems(plain)[:MOST_WORDS]),
        intent=next((intent for intent, pattern in _INTENTS if pattern.match(" ".join(text[:FARTHEST_IN].split()))), "any"),
        topic=frozenset(map(stem, added)) if telling else frozenset(),
        follows=bool(added),
        bound=bound,
        alone=kept if telling and added and not bound else "",
        names=frozenset(stem(t) for word in re.findall(r"(?<=[\w,] )[A-Z][\w-]+|(?<!\w)\w*\d\w*", text) for t in terms(word)),
    )
