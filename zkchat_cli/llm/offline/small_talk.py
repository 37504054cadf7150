"""Small talk: thanks, greetings and questions about the conversation need no search. Pure."""

import re
from collections.abc import Sequence

from zkchat_cli.text.answer_phrases import PHRASES, language_of_question
from zkchat_cli.text.courtesy import MAX_COURTESY, Courtesy, find_courtesy
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.request_phrases import RequestPhrases, request_phrases
from zkchat_cli.text.word_lists import ENGLISH, FRENCH, GERMAN, PORTUGUESE, SPANISH
from zkchat_cli.text.words import is_latin, is_stopword, terms

_WORDS_OF_LANGUAGES = {
    GERMAN: "hallo moin servus tschuss danke klar genau prima toll guten",
    FRENCH: "bonjour salut merci adieu bonsoir beaucoup",
    SPANISH: "hola gracias vale adios buenos buenas muchas",
    PORTUGUESE: "ola oi obrigado obrigada tchau bom boa valeu",
}
"""Words of small talk that tell its language."""
_CJK_REPLIES: dict[Courtesy, str] = {
    "greeting": "你好！请问关于笔记的任何问题。\n",
    "thanks": "不客气。\n",
    "consent": "好的。\n",
}
_ABOUT_ME = lazy_pattern(
    r"\b(?:what can you do|who are you|what are you|how (?:do|can) you (?:work|help)"
    r"|how are you|are you (?:\w+ )?there"
    r"|wer bist du|was (?:kannst|bist) du|wie (?:geht es dir|gehts|kannst du(?: mir)? helfen)"
    r"|qui (?:es[- ]tu|êtes[- ]vous)|que (?:peux[- ]tu|pouvez[- ]vous)(?: faire)?"
    r"|(?:comment )?(?:ça va|vas[- ]tu|allez[- ]vous)"
    r"|qui[ée]n eres|qu[eé] (?:puedes hacer|sabes hacer|eres)|c[oó]mo est[aá]s"
    r"|quem é você|o que (?:você|vc) (?:pode|sabe|consegue) fazer|como (?:você )?(?:está|vai))\b"
    r"|你是谁|你能做什么",
    re.I,
)
_ASKED = lazy_pattern(
    r"\bwhat (?:did|have|had) (?:i|we)\b"
    r"|\bwhat (?:was|were) (?:my|our)\b"
    r"|我(?:之前|刚才|一开始|先前).*(?:问|說|说)"
    r"|\bwas (?:habe?|hatte) ich\b"
    r"|\bqu['’](?:ai[- ]je|est[- ]ce que j['’]ai)\b"
    r"|\bqué (?:te )?(?:pregunté|he preguntado)\b"
    r"|\bque (?:eu )?(?:te )?perguntei\b",
    re.I,
)
_REPEAT = lazy_pattern(
    r"\brepeat\b"
    r"|\b(?:say|tell|show)\b.*\bagain\b"
    r"|\bwhat did you (?:say|answer)\b"
    r"|\bwiederhole?\b|\bsag\w* .*\bnoch ?(?:ein)?mal\b|\brépéte[rz]?\b|\brépète\b"
    r"|\brepite\b|\brepita\b|\brepete\b"
    r"|再说一遍|重复一遍",
    re.I,
)
_CONVERSATION_WORDS = frozenset(
    """
    ask asked asking question questions first last say said tell told talk talked talking
    discuss discussed answer answers answered repeat again conversation chat far earlier
    previously start beginning begin please you me kindly just one show gefragt gesagt zuerst
    zuletzt frage demande dit d'abord pregunte preguntado primero bitte wiederhole wiederhol sag
    sage antwort letzte noch nochmal einmal repete repetez reponse derniere repite respuesta ultima
    repita resposta perguntei primeiro
""".split()
)
"""Words of questions about the conversation."""
_FIRST = lazy_pattern(
    r"\b(?:first|start|beginning|begin|zuerst|anfang|d['’]abord|primero)\b|最初|一开始|第一", re.I
)
# Marks that would turn a question of the user, or a fact, into a quotation or a citation
QUOTE_MARKS = lazy_pattern(r"[“”„«»「」『』\"`\[\]<>]")
_LONGEST_QUESTION = 200


def reply_to_small_talk(text: str, questions: Sequence[str], answers: Sequence[str]) -> str | None:
    """The reply to thanks, a greeting or a question about the conversation; None for a message with
    any other word, which needs a search.

    "thanks!" is small talk, "thanks, and how do I undo it?" is not. `questions` and `answers` are
    the earlier ones, in order.
    """
    found = terms(text)
    if not found or len(found) > MAX_COURTESY:
        return None
    if _ABOUT_ME.search(text):
        return f"{_phrases(text, questions).introduction}\n"
    if _has_only(found, _CONVERSATION_WORDS):
        if _REPEAT.search(text):
            return _repeat(text, questions, answers)
        if _ASKED.search(text):
            return _list_questions(text, questions)
    return _reply_to_courtesy(text)


def _has_only(found: Sequence[str], allowed: frozenset[str]) -> bool:
    """Whether a message has only these words, stopwords and words of other scripts."""
    return all(word in allowed or is_stopword(word) or not word.isascii() for word in found)


def _phrases(text: str, questions: Sequence[str]) -> RequestPhrases:
    return request_phrases([text, *reversed(questions)])


def _repeat(text: str, questions: Sequence[str], answers: Sequence[str]) -> str:
    """The last answer, or the first if the message asks for that."""
    if not answers:
        return f"{_phrases(text, questions).nothing_answered}\n"
    return answers[0] if _FIRST.search(text) else answers[-1]


def _list_questions(text: str, questions: Sequence[str]) -> str:
    """The earlier questions, or the first if the message asks for that."""
    phrases = _phrases(text, questions)
    if not questions:
        return f"{phrases.first_message}\n"
    plain = [
        " ".join(QUOTE_MARKS.sub("", question).split())[:_LONGEST_QUESTION]
        for question in questions
    ]
    if _FIRST.search(text):
        return f"{phrases.first_question.format(question=plain[0])}\n"
    return f"{phrases.questions}\n\n" + "".join(f"- {question}\n" for question in plain)


def _reply_to_courtesy(text: str) -> str | None:
    """The reply to thanks, a greeting or consent."""
    courtesy = find_courtesy(text)
    if courtesy is None:
        return None
    if not is_latin(text):
        return _CJK_REPLIES[courtesy]
    reply: str = getattr(PHRASES[_language_of_courtesy(text)], courtesy)
    return f"{reply}\n"


def _language_of_courtesy(text: str) -> str:
    """The language of small talk, by its own words or by common ones; else English."""
    found = terms(text)
    for language, known in _WORDS_OF_LANGUAGES.items():
        if not frozenset(known.split()).isdisjoint(found):
            return language
    return language_of_question(text) or ENGLISH
