"""Messages that are not about the notes: thanks, greetings, and questions about the conversation. They are answered without a search.

A message counts as small talk only if it has no other words: "thanks!" does, "thanks, and how do I undo it?" does not.
"""

import re
from collections.abc import Sequence

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.stopwords import is_stopword
from zkchat_cli.text.words import terms

MAX_SMALL_TALK = 12
"""Words of a message of small talk."""
INTRODUCTION = (
    "I search your notes and quote the sentences that answer; I am not a language model. Ask me about anything in your notes, "
    "or type /help to see what else zkchat can do.\n"
)
_REPLIES = {
    frozenset("hi hello hey greetings hallo moin servus bonjour salut hola ciao".split()): "Hello! Ask me about anything in your notes.\n",
    frozenset("bye goodbye tschuss adios adieu".split()): "Goodbye!\n",
    frozenset("thanks thank thx ty cheers danke merci gracias grazie obrigado".split()): "You're welcome.\n",
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
    (re.compile("(?:非常|太)?(?:谢谢|謝謝|多谢|多謝|感谢|感謝|ありがとう|감사합니다)(?:你|您|啦|了|ございます)?"), "不客气。\n"),
    (re.compile("(?:你好|您好|こんにちは|안녕하세요)(?:啊|呀)?"), "你好！请问关于笔记的任何问题。\n"),
    (re.compile("(?:好的|好吧|好|明白|知道|了解|懂|再见|再見)(?:了|啦|吧)?"), "好的。\n"),
)
_ABOUT_ME = lazy_pattern(
    r"\b(?:what can you do|who are you|what are you|how (?:do|can) you (?:work|help)|how are you|are you (?:\w+ )?there)\b"
    r"|你是谁|你能做什么",
    re.I,
)
_ASKED = lazy_pattern(
    r"\bwhat (?:did|have|had) (?:i|we)\b|\bwhat (?:was|were) (?:my|our)\b|我(?:之前|刚才|一开始|先前).*(?:问|說|说)"
    r"|\bwas (?:habe?|hatte) ich\b|\bqu['’](?:ai[- ]je|est[- ]ce que j['’]ai)\b|\bqué (?:te )?(?:pregunté|he preguntado)\b",
    re.I,
)
_REPEAT = lazy_pattern(r"\brepeat\b|\b(?:say|tell|show)\b.*\bagain\b|\bwhat did you (?:say|answer)\b|再说一遍|重复一遍", re.I)
_CONVERSATION_WORDS = frozenset(
    """ask asked asking question questions first last say said tell told talk talked talking discuss discussed answer answers answered
    repeat again conversation chat far earlier previously start beginning begin please you me kindly just one show
    gefragt gesagt zuerst zuletzt frage demande dit d'abord pregunte preguntado primero""".split()
)
_FIRST = lazy_pattern(r"\b(?:first|start|beginning|begin|zuerst|anfang|d['’]abord|primero)\b|最初|一开始|第一", re.I)
QUOTE_MARKS = lazy_pattern(r"[“”„«»「」『』\"`\[\]<>]")
"""Would turn a question of the user, or a fact, into a quotation or a citation."""
_LONGEST_QUESTION = 200


def reply_to_small_talk(text: str, questions: Sequence[str], answers: Sequence[str]) -> str | None:
    """The reply to a message that needs no search; None for any other message. `questions` and `answers` are the earlier ones, in order."""
    words = terms(text)
    if not words or len(words) > MAX_SMALL_TALK:
        return None
    if _ABOUT_ME.search(text):
        return INTRODUCTION
    if _REPEAT.search(text) and _has_only(words, _CONVERSATION_WORDS):
        return answers[0 if _FIRST.search(text) else -1] if answers else "I have not answered anything yet.\n"
    if _ASKED.search(text) and _has_only(words, _CONVERSATION_WORDS):
        return _list_questions(text, questions)
    bare = re.sub(r"[\W_]+", "", text)
    if reply := next((reply for pattern, reply in _CJK_REPLIES if pattern.fullmatch(bare)), None):
        return reply
    if "?" in text:
        return None
    found = [reply for known, reply in _REPLIES.items() if not known.isdisjoint(words)]
    return found[0] if found and _has_only(words, _COMPANIONS.union(*_REPLIES)) else None


def _has_only(words: Sequence[str], allowed: frozenset[str]) -> bool:
    return all(word in allowed or is_stopword(word) or not word.isascii() for word in words)


def _list_questions(text: str, questions: Sequence[str]) -> str:
    if not questions:
        return "This is your first message.\n"
    bare = [" ".join(QUOTE_MARKS.sub("", question).split())[:_LONGEST_QUESTION] for question in questions]
    if _FIRST.search(text):
        return f"Your first question was: {bare[0]}\n"
    return "You asked:\n\n" + "".join(f"- {question}\n" for question in bare)
