"""What a message of the user teaches about them and their work: what they state, decide or correct, in their own words.

It is found by rules when the message is stored, so that every message has its learning points and no model is called for them.
"""

import re

from zkchat_cli.summarization.sentence_scoring import FEATURE_WEIGHT, ScoredSentence, score_sentences
from zkchat_cli.text.patterns import lazy_pattern

MAX_POINTS = 5
MAX_READ = 4_000
"""Characters of a message that are read: a longer one is pasted."""
MIN_WORDS = 3
_STATES = lazy_pattern(
    r", not \w|\bnot \w.{0,40}, but |\b(?:that|this) is (?:wrong|not)\b|\b(?:is|are) (?:called|named)\b|\blet['’]s\b|"
    r"\b(?:remember|note) that\b|nicht \w.{0,40}, sondern |\bheißt\b",
    re.IGNORECASE,
)
"""A correction, a name, a decision or something to remember, which a sentence's words alone do not show."""
_REQUEST = lazy_pattern(
    r"(?:please (?!remember that|note that)|can|could|would|will|tell|show|give|list|find|search|write|explain|summari[sz]e|compare|help|"
    r"describe|what|which|who|where|when|why|how|go on|continue|bitte|zeig|such|finde|schreib|erkläre?|was|wer|wo|wann|warum|wie|montre|"
    r"explique|cherche)\b|"
    r"请|告诉|解释|帮我|给我|列出|什么|怎么|为什么",
    re.IGNORECASE,
)


def find_learning_points(message: str) -> tuple[str, ...]:
    """The sentences of a user's message that state, decide or correct something, in order; questions and requests do not."""
    found = [
        sentence.text
        for sentence in score_sentences(message[:MAX_READ])
        if not (sentence.is_question or sentence.is_quotation or sentence.is_lead_in or _REQUEST.match(sentence.text))
        and _teaches(sentence)
    ]
    return tuple(found[:MAX_POINTS])


def _teaches(sentence: ScoredSentence) -> bool:
    has_feature = sentence.weight >= FEATURE_WEIGHT or any(word.isdigit() for word in sentence.words)
    if sentence.corrects or _STATES.search(sentence.text):
        return has_feature or len(sentence.words) > 1
    return has_feature and len(sentence.words) >= MIN_WORDS
