"""What happens in a turn besides the answer: tool calls, what the user approves, and compactions
with their cost.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ToolCall, ToolRun
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import reveal_invisible, sanitize_name
from zkchat_cli.text.truncate import format_arguments, truncate
from zkchat_cli.tools import find_tool
from zkchat_cli.views.text import IN_CHAT, CommandHints, StyledLine, styled_line, usage_text

# Characters of a call's arguments that are shown
MAX_ARGUMENTS = 400
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_METHODS = {
    "full": "by the model",
    "simple": "by the model, in a simpler request",
    "extractive": "extractive",
}


def tools_line(finished: Sequence[tuple[ToolRun, int]]) -> str:
    """What tools did, each with the number of its excerpts, in one line: `searched twice, read, 6
    excerpts`.
    """
    calls = Counter(_verb(run) for run, _ in finished)
    words = [
        f"{name}{'' if count == 1 else ' twice' if count == 2 else f' {count} times'}"
        for name, count in calls.items()
    ]
    excerpts = sum(count for _, count in finished)
    return (
        "  "
        f"{', '.join([*words, *([plural(excerpts, 'excerpt')] if excerpts or 'searched' in calls else [])])}"
    )


def _verb(run: ToolRun) -> str:
    """What a tool did, in the past tense; the name of a tool that does not say it."""
    tool = find_tool(run.name)
    return tool.verb if tool is not None and tool.verb else run.name


def tool_line(run: ToolRun, excerpts: int) -> str:
    """A tool call with all of its arguments, its result and its cost."""
    result = (
        f"{plural(excerpts, 'excerpt')}, {plural(run.tokens, 'token')}"
        if excerpts
        else plural(run.tokens, "token")
    )
    failure = f"failed: {run.outcome}" if run.outcome else "failed"
    return sanitize_name(
        f"  {run.name} {format_arguments(run.arguments)}  {result if run.ok else failure}, "
        f"{run.duration_ms:.0f} ms"
    )


def call_question(call: ToolCall) -> str:
    arguments = truncate(
        reveal_invisible(json.dumps(call.arguments, ensure_ascii=False)), MAX_ARGUMENTS
    )
    return f"Call {reveal_invisible(call.name)} with {arguments}?"


def diff_lines(diff: str) -> Iterator[StyledLine]:
    """A unified diff in the colors of `git diff`, with invisible characters made visible.

    Lines outside of hunks are headers; the text of a note can look like a header, so hunks are
    counted.
    """
    old = new = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        if old <= 0 and new <= 0 and not line.startswith("\\"):
            hunk = _HUNK.match(line)
            old, new = (int(count or 1) for count in hunk.groups()) if hunk else (0, 0)
            style = "cyan" if hunk else "bold"
        else:
            old -= line[:1] in (" ", "-")
            new -= line[:1] in (" ", "+")
            style = _STYLES.get(line[:1], "")
        yield styled_line(reveal_invisible(line), style)


def describe_compaction(
    compaction: Compaction, hints: CommandHints = IN_CHAT, *, short: bool = False
) -> str:
    """What a compaction did, or would do: `Summarized 10 messages (extractive): 5,060 → 3,810
    tokens; undo: /compact undo`

    The `short` form, without method and cost, is one line of a terminal with 80 columns.
    """
    failed = "the first request" if compaction.mode == "simple" else "the model's summary"
    failure = f"; {failed} failed: {compaction.problem}".rstrip(".") if compaction.problem else ""
    cost = f"; cost: {usage_text(compaction.usage)}" if compaction.usage and not short else ""
    if compaction.mode == "none":
        why = "there are no older turns that a summary would make smaller"
        if compaction.made_after is None:
            why = "there are no messages yet"
        elif compaction.problem and not compaction.model_calls:
            why = compaction.problem
            failure = ""
        return f"Nothing to compact: {why}{failure}{cost}"
    summarize, drop, shorten = (
        ("summarize", "drop", "shorten")
        if compaction.preview
        else ("summarized", "dropped", "shortened")
    )
    actions = []
    if compaction.messages_folded:
        method = (
            f" ({_METHODS[compaction.mode]})" if compaction.mode in _METHODS and not short else ""
        )
        actions.append(
            f"{drop if compaction.mode == 'truncated' else summarize} "
            f"{plural(compaction.messages_folded, 'message')}{method}"
        )
    if compaction.results_masked:
        actions.append(f"{shorten} {_results_text(compaction.results_masked)}")
    text = " and ".join(actions)
    text = f"Would {text}" if compaction.preview else text[0].upper() + text[1:]
    outcome = (
        "; nothing was changed"
        if compaction.preview
        else f"; undo: {hints.undo}"
        if hints.undo
        else ""
    )
    return (
        f"{text}: {compaction.tokens_before:,} → {compaction.tokens_after:,} "
        f"tokens{failure}{cost}{outcome}"
    )


def _results_text(number: int) -> str:
    return plural(number, "old tool result or document", "old tool results and documents")


def describe_active_compaction(compaction: Compaction, coverage: Mapping[str, Any]) -> str:
    shortened = f"{_results_text(len(compaction.masked))} shortened" if compaction.masked else ""
    if not compaction.summary:
        return f"No summary; {shortened}."
    covered = f"{plural(coverage['turns'], 'turn')} ({plural(coverage['messages'], 'message')})"
    covered += f", {coverage['first_date']} to {coverage['last_date']}"
    summarized = (
        f"{covered}, summarized in {compaction.summary_tokens:,} tokens ({compaction.mode})"
    )
    return f"{'; '.join(filter(None, (summarized, shortened)))}:"
