"""Courtesies: messages that only greet, thank, consent or say goodbye."""

import re
from typing import Literal

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import is_stopword, terms

Courtesy = Literal["greeting", "farewell", "thanks", "consent"]

# Most words of a courtesy
MAX_COURTESY = 12
_WORDS: dict[Courtesy, frozenset[str]] = {
    "greeting": frozenset(
        "hi hello hey greetings hallo moin servus bonjour bonsoir salut hola ola oi ciao".split()
    ),
    "farewell": frozenset("bye goodbye tschuss adios adieu tchau".split()),
    "thanks": frozenset(
        "thanks thank thx ty cheers danke merci gracias grazie obrigado obrigada valeu".split()
    ),
    "consent": frozenset(
        """
        ok okay cool great good nice perfect awesome wonderful excellent super fine understood
        alright sure yes yeah yep no nope right wow lol haha helpful interesting brilliant amazing
        sense klar gut vale bien genau prima toll sorry nevermind
        """.split()
    ),
}
"""The words of each courtesy; the first that fits counts."""
_COMPANIONS = frozenset(
    """
    again morning evening night day days today now later see know got it's makes make made works
    work worked helps helped help lot lots so much very really never mind please always one time
    job bit fur alles sehr viel vielen dank beaucoup mucho muchas buenos dias tag guten evening
    then well that's oh ah hmm haha everything you're dear friend
    """.split()
)
"""Words that a courtesy may have, too."""
_ALLOWED = _COMPANIONS.union(*_WORDS.values())
_TIME_OF_DAY = lazy_pattern(
    r"(?:hallo |hola |ola |oi )?"
    r"(?:guten (?:tag|morgen|abend)|buen[oa]s (?:dias|tardes|noches)|bo[am] (?:dia|tarde|noite))"
)
"""Greetings of words that greet only together, folded."""
_CJK: tuple[tuple[Courtesy, re.Pattern[str]], ...] = (
    (
        "thanks",
        lazy_pattern(
            "(?:非常|太)?(?:谢谢|謝謝|多谢|多謝|感谢|感謝|ありがとう|감사합니다)(?:你|您|啦|了|ございます)?"
        ),
    ),
    ("greeting", lazy_pattern("(?:你好|您好|こんにちは|안녕하세요)(?:啊|呀)?")),
    (
        "consent",
        lazy_pattern("(?:好的|好吧|好|明白|知道|了解|懂|再见|再見)(?:了|啦|吧)?"),
    ),
)


def find_courtesy(text: str) -> Courtesy | None:
    """What a message says that is nothing but a courtesy: "thanks!", not "thanks, and how do I undo
    it?".
    """
    found = terms(text)
    if not found or len(found) > MAX_COURTESY:
        return None
    bare = re.sub(r"[\W_]+", "", text)
    for courtesy, pattern in _CJK:
        if pattern.fullmatch(bare):
            return courtesy
    if _TIME_OF_DAY.fullmatch(" ".join(found)):
        return "greeting"
    if "?" in text or not all(map(_is_allowed, found)):
        return None
    for courtesy, words in _WORDS.items():
        if not words.isdisjoint(found):
            return courtesy
    return None


def _is_allowed(word: str) -> bool:
    """Whether a courtesy may have the word: one of its own, a stopword, or one of another
    script.
    """
    return word in _ALLOWED or is_stopword(word) or not word.isascii()
