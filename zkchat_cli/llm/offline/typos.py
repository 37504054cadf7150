"""Mistyped words of the frame of a request: "lsit al notes". Pure."""

from zkchat_cli.llm.offline.note_scope import PUNCTUATION
from zkchat_cli.llm.offline.request_slots import FRAME_VOCABULARY, bare_text
from zkchat_cli.text.word_lists import REQUEST_LANGUAGES
from zkchat_cli.text.words import stopwords

# Words at the beginning that may be mistyped words of a frame
FRAME_WORDS = 6
# Shorter words have too many neighbours to be corrected
SHORTEST_TYPO = 4
# In a shorter one only two swapped letters count
SHORTEST_SWAPPED = 3

COMMON_WORDS = frozenset(
    bare_text(word) for language in REQUEST_LANGUAGES for word in stopwords(language)
)
"""Words in any sentence: "cuánto" is not "cuándo" mistyped, and "now or never?" no choice."""


def correct_frame(text: str) -> str:
    """A message with the mistyped words of its frame corrected: "lsit al notes"."""
    words = text.split()
    for position, word in enumerate(words[:FRAME_WORDS]):
        bare = bare_text(word.strip(PUNCTUATION))
        if len(bare) < SHORTEST_SWAPPED or bare in FRAME_VOCABULARY or bare in COMMON_WORDS:
            continue
        near = [known for known in FRAME_VOCABULARY if is_typo(bare, known)]
        if near:
            words[position] = near[0]
    return " ".join(words)


def is_typo(typed: str, known: str) -> bool:
    """Whether one slip of the fingers makes a word of another: two letters swapped or, in a word of
    five letters and more, one that is wrong, missing or too many.
    """
    # "outlined" is not "outline" mistyped
    if typed.startswith(known) or known.startswith(typed):
        return False
    start = 0
    while typed[start] == known[start]:
        start += 1
    rest = typed[start:]
    other = known[start:]
    if len(rest) == len(other) and rest[:2] == other[1::-1] and rest[2:] == other[2:]:
        return True
    # The first letter is seldom wrong
    if start == 0 or len(known) <= SHORTEST_TYPO:
        return False
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:]
