"""What tools did in a turn, in a line for each call or one for all."""

from collections import Counter
from collections.abc import Sequence

from zkchat_cli.models import ToolRun
from zkchat_cli.text.arguments import format_arguments
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize_name

_PAST_TENSES = {
    **dict.fromkeys(("find_excerpts", "find_zk_documents_related_to"), "searched"),
    **dict.fromkeys(("recall_conversation", "retrieve_from_smart_memory"), "recalled"),
    "read_zk_document": "read",
    "list_zk_documents": "listed notes",
    "store_in_smart_memory": "remembered",
}
"""What a tool did; another tool is shown by its name."""


def tools_line(finished: Sequence[tuple[ToolRun, int]]) -> str:
    """What tools did, each with the number of its excerpts, in one line: `searched twice, read, 6 excerpts`."""
    calls = Counter(_PAST_TENSES.get(run.name, run.name) for run, _ in finished)
    words = [f"{name}{'' if count == 1 else ' twice' if count == 2 else f' {count} times'}" for name, count in calls.items()]
    excerpts = sum(count for _, count in finished)
    return f"  {', '.join([*words, *([plural(excerpts, 'excerpt')] if excerpts or 'searched' in calls else [])])}"


def tool_line(run: ToolRun, excerpts: int) -> str:
    """A tool call with all of its arguments, its result and its cost."""
    result = f"{plural(excerpts, 'excerpt')}, {plural(run.tokens, 'token')}" if excerpts else plural(run.tokens, "token")
    failure = f"failed: {run.outcome}" if run.outcome else "failed"
    return sanitize_name(f"  {run.name} {format_arguments(run.arguments)}  {result if run.ok else failure}, {run.duration_ms:.0f} ms")
