"""Classifies messages and gives them a priority from 1 to 10, by readable rules.

The rules know English, German and Chinese; in other languages every message is a question or a statement. Only standing instructions
("from now on …", "always answer in …") count as instructions, since every prompt repeats them: "translate this" is none, nor is a phrase in
a long pasted text.
"""

import re
from functools import lru_cache
from typing import Literal

from zkchat_cli.models import ZkChatMessage

MessageKind = Literal[
    "instruction", "decision", "correction", "question", "answer", "statement", "acknowledgement", "tool_call", "tool_result", "system"
]

PRIORITIES: dict[MessageKind, int] = {
    "system": 9,
    "instruction": 9,
    "decision": 8,
    "correction": 8,
    "question": 5,
    "answer": 5,
    "statement": 5,
    "tool_call": 3,
    "tool_result": 3,
    "acknowledgement": 2,
}
PINNED, CRITICAL, CITED, IMPORTANT, NEUTRAL = 10, 8, 7, 6, 5
MAX_CLASSIFIED = 2000
"""Characters; a longer message is a text to work on, not an instruction, a decision or a correction."""
MAX_ACKNOWLEDGEMENT = 40
CACHED_MESSAGES = 32_768
"""Each compaction classifies every message again."""

_START = r"(?:^|(?<=[.!?。！？\n]))[ \t]{0,8}(?:[-*] )?(?:(?:and|but|so|please|also|und|aber|bitte|请)[ ,，]{0,2}){0,3}"
"""The start of a sentence. All repetitions are bounded: a text of blank lines must not take a second."""
_VERBS = (
    r"(?:answer|reply|respond|use|write|cite|quote|mention|include|add|say|tell|call|ask|show|give me|translate|invent|guess|summari[sz]e|"
    r"assume|change|delete|link|list|refer|format|explain|keep (?:it|your|answers)|be (?:brief|concise|short|precise|exact|honest|polite))"
)
_INSTRUCTION = (
    rf"(?:always|never|don't ever|do not ever) {_VERBS}\b|(?:don't|do not) {_VERBS}\b",
    r"(?:make sure|be sure|remember|you (?:must|should|are to|shall))(?: to| that you| you)? (?:always|never)\b",
    r"(?:from (?:now|here|today) on|from this point on|going forward|for the rest of (?:this|our) (?:chat|conversation))\b",
    r"(?:in (?:all )?(?:your )?(?:future|further) (?:answers|replies)|in (?:all|every one of) your (?:answers|replies))\b",
    r"(?:remember (?:that|:)|keep in mind (?:that|:)|don't forget that|do not forget that)",
    r"(?:answer|reply|respond|write) (?:me )?(?:only|always|exclusively|briefly|concisely|in (?:english|german|french|spanish|italian|"
    r"chinese|japanese|korean|portuguese|russian|dutch|short|one sentence|bullet points))\b",
    r"(?:ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft)\b",
    r"(?:immer|nie|niemals) (?:auf |in |mit |nur )",
    r"(?:antworte|schreib|schreibe|nenne|verwende|benutze|zitiere|erkläre)\b[^.!?\n]{0,60}\b(?:immer|nie|niemals|nur|stets)\b",
    r"(?:antworte|schreib|schreibe) (?:mir )?(?:bitte )?(?:auf|kurz|knapp)\b|(?:merk|merke) dir\b|(?:denk|denke) daran\b|vergiss nicht\b",
    r"(?:从现在(?:开始|起)|从今以后|今后|以后|始终|总是|永远|务必|不要再|记住|牢记|请记)",
)
_DECISION = (
    r"(?:ok(?:ay)?,? )?(?:i|we)(?:'ve|’ve| have| had)? (?:just |now |finally )?(?:decided|chosen|chose|agreed|settled on|opted)\b",
    r"(?:ok(?:ay)?,? )?(?:let's|let’s|let us) (?:go with|use|take|stick (?:with|to)|do it)\b",
    r"(?:i'll|i’ll|i will|we'll|we will) (?:go with|use)\b",
    r"(?:it is|it's) decided\b|(?:the |my |our )?decision\s*(?::|is\b)",
    r"(?:ich habe mich|wir haben uns) (?:\w+ ){0,4}entschieden\b|(?:wir|ich) (?:nehmen|nehme) \w|(?:es ist )?(?:entschieden|beschlossen)\b",
    r"(?:我们?(?:已经?|最终)?(?:决定|选择|选定)|就(?:用|选|这么)|决定)",
)
_CORRECTION = (
    r"(?:no|nope|wrong|incorrect|actually|sorry|correction)\s*[,:—-]\s*\S|(?:i|what i) meant\b|not quite[,:.]",
    r"(?:that|this|it)(?:'s|’s| is| was) (?:wrong|incorrect|not (?:right|correct|true|what))\b",
    r"(?:you're|you’re|you are|you were) (?:wrong|mistaken)\b",
    r"(?:nein|falsch|korrektur|doch)\s*[,:—-]\s*\S|das (?:stimmt (?:so )?nicht|ist (?:falsch|nicht richtig))\b",
    r"(?:ich meinte|gemeint war)\b",
    r"(?:不对|错了|不是的|更正|纠正|我(?:的意思是|是说|指的是)|你(?:说|弄|搞)错)",
)
_QUESTION = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|"
    r"wer|wen|wem|was|welche[rsmn]?|wann|wo|warum|wieso|wie|gibt es)\b",
    re.IGNORECASE,
)
_ACKNOWLEDGEMENT = frozenset(
    """thanks thank you thx ok okay k great good nice yes yep yeah no nope perfect cool got it sure fine awesome understood right alright
    very much so a lot that's that is helps wonderful excellent all well done danke dir gut super ja nein alles klar passt prima schön
    verstanden merci gracias 谢谢 谢谢你 多谢 好的 好 嗯 是的 对 行 可以 明白 明白了 知道了 了解 收到""".split()
)


def _rules(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_START}(?:{'|'.join(patterns)})", re.IGNORECASE)


_USER_RULES: tuple[tuple[MessageKind, re.Pattern[str]], ...] = (
    ("instruction", _rules(_INSTRUCTION)),
    ("correction", _rules(_CORRECTION)),
    ("decision", _rules(_DECISION)),
)


def classify_message(message: ZkChatMessage) -> MessageKind:
    if message.role == "user":
        return _classify_user_message(message.content)
    if message.role == "assistant":
        return "tool_call" if message.tool_calls and not message.content.strip() else "answer"
    return "tool_result" if message.role == "tool" else "system"


@lru_cache(maxsize=CACHED_MESSAGES)
def _classify_user_message(content: str) -> MessageKind:
    if len(content) > MAX_CLASSIFIED:
        return "question" if _is_question(content[-MAX_CLASSIFIED:]) else "statement"
    if is_acknowledgement(content):
        return "acknowledgement"
    for name, rule in _USER_RULES:
        found = rule.search(content)
        if found and not _is_in_question(content, found.end()):
            return name
    return "question" if _is_question(content) else "statement"


def _is_in_question(content: str, at: int) -> bool:
    """Whether the sentence around `at` is a question: "remember that note about owls?" is no instruction."""
    end = re.compile(r"[.!?。！？\n]").search(content, at)
    return end is not None and end[0] in "?？"


def _is_question(content: str) -> bool:
    return content.rstrip().endswith(("?", "？", "吗", "呢")) or _QUESTION.match(content.lstrip()) is not None


def is_acknowledgement(content: str) -> bool:
    """Whether the message only says "thanks" or "ok"."""
    if len(content) > MAX_ACKNOWLEDGEMENT:
        return False
    words = re.findall(r"[\w'’]+", content.casefold())
    return all(word.replace("’", "'") in _ACKNOWLEDGEMENT for word in words)


def priority_of(message: ZkChatMessage) -> int:
    """From 1 to 10; the user's value if set, else by the rules."""
    if message.pinned:
        return PINNED
    if message.priority_set:
        return message.priority
    if message.status == "failed":
        return 1
    by_kind = PRIORITIES[classify_message(message)]
    return max(by_kind, CITED) if any(c.valid for c in message.citations) else by_kind


def is_instruction(message: ZkChatMessage) -> bool:
    """Whether it is a standing instruction; not if the user lowered its priority."""
    return (
        message.role == "user" and not (message.priority_set and message.priority < CRITICAL) and classify_message(message) == "instruction"
    )


def is_fixed(message: ZkChatMessage) -> bool:
    """Whether every prompt has the message word for word, even if its turn is folded or dropped: pinned, or a standing instruction."""
    return message.pinned or is_instruction(message)


def is_critical(message: ZkChatMessage) -> bool:
    """Whether the user marked it critical: it is masked last and recalled first."""
    return message.priority_set and message.priority >= CRITICAL
