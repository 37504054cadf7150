"""What is in every prompt, word for word, though its turn is folded or dropped: messages that are pinned, and the user's instructions."""

import json
import re
from collections.abc import Sequence
from itertools import count

from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.message_priority import is_fixed
from zkchat_cli.models import PromptMessage, ZkChatMessage
from zkchat_cli.tokens.counter import TokenCounter

TAG = "kept-message"


def render_fixed_messages(
    messages: Sequence[ZkChatMessage], number: int, counter: TokenCounter, *, failed: bool = False
) -> tuple[PromptMessage, ...]:
    """The fixed messages of turn `number` as they are sent without it, in order; of one that came to nothing only what was pinned."""
    return tuple(_kept(m, number, counter) for m in messages if m.content and (m.pinned if failed else is_fixed(m)))


def _kept(message: ZkChatMessage, number: int, counter: TokenCounter) -> PromptMessage:
    content = fence_verbatim(
        TAG,
        message.content,
        turn=number,
        role=message.role,
        date=message.timestamp[:10],
        why="pinned by the user" if message.pinned else "an instruction of the user that still holds",
    )
    tokens = counter.count(content) + MESSAGE_OVERHEAD
    return PromptMessage(role="user", content=content, tokens=tokens, kind="conversation", source_ids=(message.id,))


def fence_verbatim(tag: str, text: str, **about: object) -> str:
    """`text` unchanged, byte for byte, between tags that it cannot close: where it has the tag in it, they get a number it has not."""
    there = {found[1] for found in re.finditer(rf"{tag}(?:-(\d+))?", text, re.IGNORECASE)}
    name = tag if not there else next(f"{tag}-{n}" for n in count(2) if str(n) not in there)
    attributes = "".join(f" {key}={json.dumps(value, ensure_ascii=False)}" for key, value in about.items())
    return f"<{name}{attributes}>\n{text}\n</{name}>"
