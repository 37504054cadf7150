"""What takes the room of a prompt, and what the user can do about it."""

from collections.abc import Iterable

from zkchat_cli.context.turns import FIXED_TAG
from zkchat_cli.models import PromptMessage

_ADVICE = {
    "the message itself": "shorten it",
    "the documents with the message": "name fewer or smaller ones",
    "what tools have found": "ask for less at once",
    "earlier turns": "summarize them (/compact, or zkchat context compact)",
    "pinned messages": "unpin some (/pin lists them)",
    "instructions, memory and tools": "use an agent with fewer tools, or a model with a larger window",
}
_IN_QUESTION = {"conversation": "the message itself", "documents": "the documents with the message"}
_ELSEWHERE = {"system": "instructions, memory and tools", "memory": "instructions, memory and tools"}


def advise_on_size(messages: Iterable[PromptMessage], tool_tokens: int, question_id: str) -> str:
    """What is largest in a prompt for this question, and how to make it smaller."""
    tokens = dict.fromkeys(_ADVICE, 0) | {"instructions, memory and tools": tool_tokens}
    asked = False
    for message in messages:
        now = question_id in message.source_ids
        asked = asked or now
        later = "what tools have found" if asked and message.kind in ("tool_results", "conversation") else "earlier turns"
        part = _IN_QUESTION.get(message.kind, later) if now else _ELSEWHERE.get(message.kind, later)
        tokens["pinned messages" if message.content.startswith(f"<{FIXED_TAG}") else part] += message.tokens
    largest = max(tokens, key=lambda part: tokens[part])
    share = f"{tokens[largest]:,} of {sum(tokens.values()):,} tokens"
    return f"Largest: {largest}, {share}. {_ADVICE[largest].capitalize()}, or set context.max_tokens to the model's window."
