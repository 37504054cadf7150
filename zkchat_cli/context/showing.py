"""A prompt word for word: what the next call would send, for reading. The figures of it are in `figures`."""

import json
from collections.abc import Iterator

from zkchat_cli.context import figures
from zkchat_cli.models import Prompt


def text(prompt: Prompt) -> str:
    """Every message under a line that says whose it is, what it is made of and how many tokens it takes; then the tools, then what was
    decided about documents and what is not sent."""
    return "\n".join(_lines(prompt))


def _lines(prompt: Prompt) -> Iterator[str]:
    for message in prompt.messages:
        yield f"── {message.role} · {message.kind.replace('_', ' ')} · {message.tokens} tokens"
        if message.content:
            yield message.content
        for call in message.tool_calls:
            yield f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})"
        yield ""
    for tool in prompt.tools:
        yield f"── tool {tool.name} · {tool.tokens} tokens"
        yield tool.descriptor["function"]["description"]
    yield from figures.documents(prompt)
    for dropped in prompt.dropped:
        yield f"not sent: {dropped.id} ({dropped.reason})"
