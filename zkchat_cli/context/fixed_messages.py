"""Decides which messages every prompt has word for word: pinned ones and standing instructions.

Only "from now on …", "always answer in …" and the like are standing instructions (the rules know
English, German and Chinese), not "translate this", nor a phrase in a long pasted text.
"""

import re
from functools import lru_cache

from zkchat_cli.models.messages import HIGHEST_PRIORITY, ZkChatMessage
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import FULL_STOPS, end_mark

# Longest instruction in characters; a longer message is a text to work on
MAX_CLASSIFIED = 2000
# Cached because each compaction looks at every message of the window again
CACHED_MESSAGES = 512

_START = (
    rf"(?:^|(?<=[{FULL_STOPS}\n]))[ \t]{{0,8}}(?:[-*] )?"
    r"(?:(?:and|but|so|please|also|und|aber|bitte|请)[ ,，]{0,2}){0,3}"
)
"""The start of a sentence.

All repetitions are bounded: a text of blank lines must not take a second.
"""
_VERBS = (
    r"(?:answer|reply|respond|use|write|cite|quote|mention|include|add|say|tell|call|ask|show"
    r"|give me|translate|invent|guess|summari[sz]e"
    r"|assume|change|delete|link|list|refer|format|explain|keep (?:it|your|answers)"
    r"|be (?:brief|concise|short|precise|exact|honest|polite))"
)
_LANGUAGES = (
    r"(?:english|german|french|spanish|italian|chinese|japanese|korean|portuguese|russian|dutch"
    r"|short|one sentence|bullet points)"
)
_GERMAN_VERBS = r"(?:antworte|schreibe?|nenne|verwende|benutze|zitiere|erkläre)"
_RULES = (
    rf"(?:always|never|don't ever|do not ever) {_VERBS}\b|(?:don't|do not) {_VERBS}\b",
    r"(?:make sure|be sure|remember|you (?:must|should|are to|shall))"
    r"(?: to| that you| you)? (?:always|never)\b",
    r"(?:from (?:now|here|today) on|from this point on|going forward"
    r"|for the rest of (?:this|our) (?:chat|conversation))\b",
    r"(?:in (?:all )?(?:your )?(?:future|further) (?:answers|replies)"
    r"|in (?:all|every one of) your (?:answers|replies))\b",
    r"(?:remember (?:that|:)|keep in mind (?:that|:)|don't forget that|do not forget that)",
    r"(?:answer|reply|respond|write) (?:me )?"
    rf"(?:only|always|exclusively|briefly|concisely|in {_LANGUAGES})\b",
    r"(?:ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft)\b",
    r"(?:immer|nie|niemals) (?:auf |in |mit |nur )",
    rf"{_GERMAN_VERBS}\b[^.!?\n]{{0,60}}\b(?:immer|nie|niemals|nur|stets)\b",
    r"(?:antworte|schreibe?) (?:mir )?(?:bitte )?(?:auf|kurz|knapp)\b"
    r"|merke? dir\b|denke? daran\b|vergiss nicht\b",
    r"(?:从现在(?:开始|起)|从今以后|今后|以后|始终|总是|永远|务必|不要再|记住|牢记|请记)",
)
_INSTRUCTION = lazy_pattern(rf"{_START}(?:{'|'.join(_RULES)})", re.IGNORECASE)


def is_fixed(message: ZkChatMessage) -> bool:
    """Whether every prompt has the message, even if its turn is folded or dropped. What the user
    said with /pin, /unpin or /priority wins.
    """
    if message.pinned is not None:
        return message.pinned
    if message.priority is not None:
        return message.priority == HIGHEST_PRIORITY
    return message.role == "user" and _gives_instruction(message.content)


@lru_cache(maxsize=CACHED_MESSAGES)
def _gives_instruction(content: str) -> bool:
    found = _INSTRUCTION.search(content) if len(content) <= MAX_CLASSIFIED else None
    if found is None:
        return False
    # "remember that note about owls?" is a question, not an instruction
    return end_mark(content, found.end()) not in ("?", "？")
