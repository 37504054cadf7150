"""The sentences of a user's message that teach something. Rules find them when the message is
stored, so that no model can invent one.
"""

import re

from zkchat_cli.summarization.sentence_scoring import (
    FEATURE_WEIGHT,
    ScoredSentence,
    score_sentences,
)
from zkchat_cli.text.patterns import lazy_pattern

MAX_POINTS = 5
# Characters of a message that are read for its learning points: a longer one is pasted
MAX_READ = 4_000
MIN_WORDS = 3
_CORRECTING = lazy_pattern(
    r"(?:no|nope|wait|sorry|actually|correction|wrong|rather|i meant|i was wrong"
    r"|that(?:'|’)?s (?:wrong|not (?:right|true|correct))"
    r"|nein|korrektur|eigentlich|falsch|ich meinte)\b"
    r"|不对|不是|错了|更正|其实",
    re.IGNORECASE,
)
_STATES = lazy_pattern(
    r", not \w|\bnot \w.{0,40}, but "
    r"|\b(?:that|this) is (?:wrong|not)\b"
    r"|\b(?:is|are) (?:called|named)\b"
    r"|\blet['’]s\b"
    r"|\b(?:remember|note) that\b"
    r"|nicht \w.{0,40}, sondern |\bheißt\b",
    re.IGNORECASE,
)
"""A correction, a name, a decision or something to remember, which a sentence's words alone do not
show.
"""
_REQUEST = lazy_pattern(
    r"(?:please (?!remember that|note that)"
    r"|can|could|would|will|tell|show|give|list|find|search|write|explain|summari[sz]e|compare|help"
    r"|describe|what|which|who|where|when|why|how|go on|continue"
    r"|bitte|zeig|such|finde|schreib|erkläre?|was|wer|wo|wann|warum|wie"
    r"|montre|explique|cherche)\b"
    r"|请|告诉|解释|帮我|给我|列出|什么|怎么|为什么",
    re.IGNORECASE,
)


def find_learning_points(message: str) -> tuple[str, ...]:
    """The sentences of a user's message that state, decide or correct something, in order;
    questions and requests do not.
    """
    sentences = score_sentences(message[:MAX_READ])
    points = [sentence.text for sentence in sentences if _is_learning_point(sentence)]
    return tuple(points[:MAX_POINTS])


def _is_learning_point(sentence: ScoredSentence) -> bool:
    if sentence.is_question or sentence.is_quotation or sentence.is_lead_in:
        return False
    text = sentence.text
    if _REQUEST.match(text):
        return False
    has_number = any(map(str.isdigit, sentence.words))
    has_feature = sentence.weight >= FEATURE_WEIGHT or has_number
    if _CORRECTING.match(text) or _STATES.search(text):
        return has_feature or len(sentence.words) > 1
    return has_feature and len(sentence.words) >= MIN_WORDS
