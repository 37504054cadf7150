"""What a model sent, as the store and other providers accept it: without numbers and characters
that JSON does not have.
"""

import json
from typing import Any

from zkchat_cli.models.messages import ThinkingBlocks, ToolCall, ZkChatMessage
from zkchat_cli.text.words import replace_surrogates

# Deepest JSON accepted from a model: the store and servers read little more, and no tool's
# arguments have more than one level
MAX_JSON_DEPTH = 50


def storable_thinking(thinking: ThinkingBlocks) -> ThinkingBlocks | None:
    """Reasoning in the form in which it is stored and sent back; None if it cannot be stored."""
    blocks = _storable_json([*thinking.blocks])
    return None if blocks is None else thinking.model_copy(update={"blocks": tuple(blocks)})


def without_unstored_thinking(message: ZkChatMessage) -> ZkChatMessage:
    """A message without the reasoning that is useless after its turn."""
    if message.thinking is None or message.thinking.stored:
        return message
    return message.model_copy(update={"thinking": None})


def storable_call(call: ToolCall, id_: str) -> ToolCall:
    """A model's tool call with another id, without text that cannot be stored."""
    arguments = _storable_json(call.arguments)
    malformed = call.malformed and replace_surrogates(call.malformed)
    if arguments is None:
        malformed = "nested too deeply"
    return ToolCall(
        id=id_, name=replace_surrogates(call.name), arguments=arguments or {}, malformed=malformed
    )


def _storable_json(value: Any) -> Any:
    """The value without what Python reads but JSON lacks ("NaN", "Infinity", lone surrogates): no
    provider would accept it.

    None if it is nested too deeply.
    """
    if _is_deeper(value, MAX_JSON_DEPTH):
        return None
    return json.loads(
        replace_surrogates(json.dumps(value, ensure_ascii=False)), parse_constant=lambda _: None
    )


def _is_deeper(value: object, levels: int) -> bool:
    """Whether a JSON value has more than `levels` levels of objects and lists."""
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return False
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)
