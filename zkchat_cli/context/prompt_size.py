"""Advice on a prompt that does not fit: what is largest, and what the user can do about it."""

from collections.abc import Iterable

from zkchat_cli.context.prompt_messages import FIXED_TAG
from zkchat_cli.models.prompts import PromptMessage

_MESSAGE = "the message itself"
_DOCUMENTS = "the documents with the message"
_RESULTS = "what tools have found"
_EARLIER = "earlier turns"
_PINNED = "pinned messages"
_FIXED = "instructions, memory and tools"
_ADVICE = {
    _MESSAGE: "shorten it",
    _DOCUMENTS: "name fewer or smaller ones",
    _RESULTS: "ask for less at once",
    _EARLIER: "summarize them (/compact, or zkchat context compact)",
    _PINNED: "unpin some (/pin lists them)",
    _FIXED: "use an agent with fewer tools, or a model with a larger window",
}
# The part of a prompt that a kind of message belongs to, in the question and elsewhere
_IN_QUESTION = {"conversation": _MESSAGE, "documents": _DOCUMENTS}
_ELSEWHERE = {"system": _FIXED, "memory": _FIXED}


def advise_on_size(messages: Iterable[PromptMessage], tool_tokens: int, question_id: str) -> str:
    """Names what is largest in a prompt for this question, and how to make it smaller."""
    tokens = dict.fromkeys(_ADVICE, 0)
    tokens[_FIXED] = tool_tokens
    question_seen = False
    for message in messages:
        in_question = question_id in message.source_ids
        question_seen = question_seen or in_question
        part = _part_of(message, in_question=in_question, after_question=question_seen)
        tokens[part] += message.tokens
    largest = max(tokens, key=lambda part: tokens[part])
    share = f"{tokens[largest]:,} of {sum(tokens.values()):,} tokens"
    return (
        f"Largest: {largest}, {share}. {_ADVICE[largest].capitalize()}, or set "
        "context.max_tokens to the model's window."
    )


def _part_of(message: PromptMessage, *, in_question: bool, after_question: bool) -> str:
    """The part of a prompt that a message belongs to: a key of `_ADVICE`."""
    if message.content.startswith(f"<{FIXED_TAG}"):
        return _PINNED
    found_by_tools = after_question and message.kind in ("tool_results", "conversation")
    otherwise = _RESULTS if found_by_tools else _EARLIER
    if in_question:
        return _IN_QUESTION.get(message.kind, otherwise)
    return _ELSEWHERE.get(message.kind, otherwise)
