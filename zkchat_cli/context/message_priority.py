"""The priority of a message, from 1 to 10: what leaves the prompt last, and is recalled first.

The user sets it with `/priority`, and pins give 10. Otherwise the kind of the message decides, by
rules that can be read: a decision matters more than a question, and thanks matter less.
"""

import re
from functools import lru_cache

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.models.messages import HIGHEST_PRIORITY, ZkChatMessage
from zkchat_cli.text.courtesy import find_courtesy
from zkchat_cli.text.decisions import may_decide, states_correction, states_decision

# Pinned messages and standing instructions: every prompt has them word for word
PINNED = HIGHEST_PRIORITY
# The user's decisions, and summaries
DECISION = 9
SUMMARY = 9
CORRECTION = 7
# Questions, answers and statements
PLAIN = 5
TOOLS = 3
SMALL_TALK = 2
# The least priority that keeps a message word for word when its turn leaves the prompt
IMPORTANT = 8
# Cached because each prompt looks at the same messages again
CACHED_MESSAGES = 2048
_NAME = r"[^\W\d_a-z][\w.'’-]{0,30}"
SPEAKER = re.compile(rf"(?:\([^()\n]{{1,60}}\)\s*)?(?P<name>{_NAME}(?: {_NAME})?): ?(?=\S)")
"""A speaker's name in front of a message ("Ada: …"), which imported dialogues have."""


def message_priority(message: ZkChatMessage) -> int:
    """The priority of a message, 10 for one that every prompt has."""
    if is_fixed(message):
        return PINNED
    if message.priority is not None:
        return min(message.priority, PINNED - 1)
    return kind_priority(message)


def kind_priority(message: ZkChatMessage) -> int:
    """The priority of a message by its kind: what it has if the user says nothing."""
    match message.role:
        case "user":
            return _user_priority(message.content)
        case "system":
            return SUMMARY
        case "tool":
            return TOOLS
        case "assistant" if not message.content.strip():
            return TOOLS
    return PLAIN


@lru_cache(maxsize=CACHED_MESSAGES)
def _user_priority(content: str) -> int:
    # In a dialogue of people with names nobody is the user
    speaker = SPEAKER.match(content)
    if speaker is not None and not may_decide(speaker["name"]):
        return PLAIN
    if states_decision(content):
        return DECISION
    if states_correction(content):
        return CORRECTION
    return SMALL_TALK if find_courtesy(content) else PLAIN


def describe_priority(message: ZkChatMessage) -> str:
    """A priority that a reader should see: `priority 9 of 10`; empty for messages that are plain
    or small talk by their kind.
    """
    priority = message_priority(message)
    if message.priority is None and priority < IMPORTANT:
        return ""
    return f"priority {priority} of {PINNED}"
