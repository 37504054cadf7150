"""A prompt for reading: the same for `context show`, `/show` and what compares two prompts.

Blocks are texts with the names of styles; a text may have several lines, and is word for word what the model gets. Where a screen takes
lines, `lines` makes them.
"""

from collections.abc import Iterable, Iterator

from zkchat_cli.context import figures
from zkchat_cli.context.past import Changes, Past
from zkchat_cli.lines import Line, line
from zkchat_cli.models import Prompt, PromptMessage, Sent
from zkchat_cli.words import shorten

Block = tuple[str, str]
LONGEST = 100
"""Characters of a message in a list of changes."""
MOST_DROPPED = 20
"""Messages that are listed as not sent; of more, how many."""


def prompt(shown: Prompt, most_dropped: int | None = None) -> Iterator[Block]:
    """All that is sent: each message and tool below a heading, then what is not sent, and why; of that, `most_dropped` by name."""
    for message in shown.messages:
        yield _heading(message), "bold"
        if message.content:
            yield message.content, ""
        for call in message.tool_calls:
            yield f"{call.name}({call.arguments})", "cyan"
        yield "", ""
    for tool in shown.tools:
        yield f"── tool {tool.name} · {tool.tokens} tokens", "bold"
        yield tool.descriptor["function"]["description"], ""
    for text in figures.documents(shown):
        yield text, "dim"
    for dropped in shown.dropped[:most_dropped]:
        yield f"not sent: {dropped.id} ({dropped.reason})", "dim"
    if most_dropped is not None and len(shown.dropped) > most_dropped:
        yield f"not sent: {len(shown.dropped) - most_dropped} more; --json names them", "dim"


def past(turn: Past, call: int | None = None) -> Iterator[Block]:
    """What the calls of a turn were sent, or one of them. Raises UsageError when there is no such call."""
    for sent in turn.calls if call is None else (turn.call(call),):
        yield f"══ turn {turn.number} · call {sent.call} of {len(turn.calls)} · {sent.model} · {_cost(sent)}", "bold"
        yield "", ""
        yield from prompt(sent.prompt, MOST_DROPPED)
        if sent.call != len(turn.calls) and call is None:
            yield "", ""


def changed(a: Past, b: Past, found: Changes) -> Iterator[Block]:
    """What the prompt of turn `b` had that the one of `a` had not, and what it had lost."""
    yield f"turn {a.number}: {a.tokens} tokens; turn {b.number}: {b.tokens} ({b.tokens - a.tokens:+d})", "bold"
    for message in found.added:
        yield f"+ {_brief(message)}", "green"
    for message, why in found.lost:
        yield f"- {_brief(message)}" + (f" ({why})" if why else ""), "red"
    for name in found.tools_added:
        yield f"+ tool {name}", "green"
    for name in found.tools_lost:
        yield f"- tool {name}", "red"
    if not (found.added or found.lost or found.tools_added or found.tools_lost):
        yield "The same was sent.", ""


def lines(blocks: Iterable[Block]) -> list[Line]:
    """Blocks as lines for a screen."""
    return [line(text, style, indent=0) for block, style in blocks for text in block.split("\n")]


def _heading(message: PromptMessage) -> str:
    return f"── {message.role} · {message.kind.replace('_', ' ')} · {message.tokens} tokens"


def _brief(message: PromptMessage) -> str:
    called = " ".join(call.name for call in message.tool_calls)
    said = shorten(message.content, LONGEST) or (f"calls {called}" if called else "")
    return f"{message.role} · {message.kind.replace('_', ' ')} · {message.tokens} tokens · {said}"


def _cost(sent: Sent) -> str:
    counted = f"{sent.prompt.usage.total_tokens} tokens"
    return counted if sent.usage is None else f"{counted} ({sent.usage.prompt_tokens} reported, {sent.usage.completion_tokens} answered)"
