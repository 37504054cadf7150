"""The excerpts of a conversation by the call that found them, as lines."""

from collections.abc import Callable, Iterable, Iterator

from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.numbers import line_range, plural
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import format_arguments, truncate
from zkchat_cli.views.sources import source_name
from zkchat_cli.views.text import StyledLine, StyledSpan

# Characters of a call's arguments
MAX_ARGUMENTS = 60


def call_excerpt_lines(
    turn: int,
    message: ZkChatMessage,
    chunks: Iterable[ContentChunk],
    name: Callable[[str], str],
) -> Iterator[StyledLine]:
    """A call of a turn and the excerpts that it found. The `message` is its result, or the question
    that brought the excerpts with it; `name` is a note's name in links.
    """
    found = list(chunks)
    head = sanitize_name(f"turn {turn}, {_call_text(message)}: {plural(len(found), 'excerpt')}")
    yield StyledLine((StyledSpan(head, "bold"),))
    for chunk in found:
        path = chunk.relative_path
        where = f"{path}:{line_range(chunk.start_line, chunk.end_line)}"
        note = source_name(path, name(path), chunk.heading)
        yield StyledLine(
            (StyledSpan(f"  [{chunk.number}] {note}"),), (StyledSpan(where, "dim", path),)
        )


def _call_text(message: ZkChatMessage) -> str:
    """The tool with its arguments; of a question, what its excerpts are."""
    if message.role == "user":
        return "with the question"
    run = message.tool_run
    arguments = truncate(format_arguments(run.arguments), MAX_ARGUMENTS) if run is not None else ""
    return f"{message.tool_name or 'a tool'} {arguments}".rstrip()
