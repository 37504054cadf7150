"""What happens in a turn besides the answer: tool calls, what the user approves, and compactions
with their cost.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ToolCall, ToolRun
from zkchat_cli.models.money import Price, TokenCounts
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import reveal_invisible, sanitize_name
from zkchat_cli.text.truncate import format_arguments
from zkchat_cli.tools import find_tool
from zkchat_cli.views.money import money_text
from zkchat_cli.views.text import (
    IN_CHAT,
    CommandHints,
    StyledLine,
    styled_line,
    times_text,
    usage_text,
)

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
_METHODS = {
    "full": "by the model",
    "simple": "by the model, in a simpler request",
    "extractive": "extractive",
}


class _ActionVerbs(NamedTuple):
    """How a compaction's actions are called, before it or after it."""

    summarize: str
    drop: str
    shorten: str


_WOULD = _ActionVerbs("summarize", "drop", "shorten")
_DID = _ActionVerbs("summarized", "dropped", "shortened")


def tools_line(finished: Sequence[tuple[ToolRun, int]]) -> str:
    """What tools did, each with the number of its excerpts, in one line: `searched twice, read, 6
    excerpts`.
    """
    calls = Counter(_verb(run) for run, _ in finished)
    words: list[str] = []
    for verb, count in calls.items():
        words.append(verb if count == 1 else f"{verb} {times_text(count)}")
    excerpts = sum(count for _, count in finished)
    if excerpts or "searched" in calls:
        words.append(plural(excerpts, "excerpt"))
    return f"  {', '.join(words)}"


def _verb(run: ToolRun) -> str:
    """The tool's verb in the past tense, or its name if it has none."""
    tool = find_tool(run.name)
    if tool is None or not tool.verb:
        return run.name
    return tool.verb


def tool_line(run: ToolRun, excerpts: int) -> str:
    """A tool call with all of its arguments, its result and its cost."""
    if run.ok:
        result = plural(run.tokens, "token")
        if excerpts:
            result = f"{plural(excerpts, 'excerpt')}, {result}"
    else:
        result = f"failed: {run.outcome}" if run.outcome else "failed"
    arguments = format_arguments(run.arguments)
    return sanitize_name(f"  {run.name} {arguments}  {result}, {run.duration_ms:.0f} ms")


def call_question(call: ToolCall) -> str:
    """The question whether a tool may be called, with all of its arguments: what the user approves
    is what is sent.
    """
    arguments = reveal_invisible(call.arguments_text)
    return f"Call {reveal_invisible(call.name)} with {arguments}?"


def diff_lines(diff: str) -> Iterator[StyledLine]:
    """A unified diff in the colors of `git diff`, with invisible characters made visible.

    Lines outside of hunks are headers; the text of a note can look like a header, so hunks are
    counted.
    """
    if not diff:
        return
    # Lines of the hunk that are left, in the old text and in the new one
    old = 0
    new = 0
    for line in diff.removesuffix("\n").split("\n"):
        if old <= 0 and new <= 0 and not line.startswith("\\"):
            hunk = _HUNK.match(line)
            if hunk:
                old = int(hunk["old"] or 1)
                new = int(hunk["new"] or 1)
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
    failure = _failure_text(compaction)
    cost = "" if short else _cost_text(compaction)
    if compaction.mode == "none":
        return _nothing_to_compact(compaction, failure, cost)
    actions = " and ".join(_actions(compaction, with_method=not short))
    if compaction.preview:
        text = f"Would {actions}"
        outcome = "; nothing was changed"
    else:
        text = actions[0].upper() + actions[1:]
        outcome = f"; undo: {hints.undo}" if hints.undo else ""
    return (
        f"{text}: {compaction.tokens_before:,} → {compaction.tokens_after:,} "
        f"tokens{failure}{cost}{outcome}"
    )


def requested_compaction_text(
    compaction: Compaction, hints: CommandHints = IN_CHAT, price: Price | None = None
) -> str:
    """What a compaction that the user requested did, or would do with which summary. `price` is
    that of the prompts.
    """
    text = describe_compaction(compaction, hints)
    if compaction.preview and price is not None and compaction.mode != "none":
        before = money_text(price.cost(TokenCounts(compaction.tokens_before)))
        after = money_text(price.cost(TokenCounts(compaction.tokens_after)))
        text += f". The next prompt costs {before} now, and {after} then."
    if compaction.preview and compaction.summary:
        text += f"\n\n{compaction.summary}"
    return text


def _failure_text(compaction: Compaction) -> str:
    if not compaction.problem:
        return ""
    failed = "the first request" if compaction.mode == "simple" else "the model's summary"
    return f"; {failed} failed: {compaction.problem}".rstrip(".")


def _cost_text(compaction: Compaction) -> str:
    if compaction.previewed:
        return "; no further call: the preview had made the summary"
    return f"; cost: {usage_text(compaction.usage)}" if compaction.usage else ""


def _nothing_to_compact(compaction: Compaction, failure: str, cost: str) -> str:
    why = "there are no older turns that a summary would make smaller"
    if compaction.made_after is None:
        why = "there are no messages yet"
    elif compaction.problem and not compaction.model_calls:
        why = compaction.problem
        failure = ""
    return f"Nothing to compact: {why}{failure}{cost}".rstrip(".") + "."


def _actions(compaction: Compaction, *, with_method: bool) -> list[str]:
    """What a compaction did with messages and tool results, or what it would do."""
    verbs = _WOULD if compaction.preview else _DID
    actions = []
    if compaction.messages_folded:
        verb = verbs.drop if compaction.mode == "truncated" else verbs.summarize
        action = f"{verb} {plural(compaction.messages_folded, 'message')}"
        if with_method and compaction.mode in _METHODS:
            action += f" ({_METHODS[compaction.mode]})"
        actions.append(action)
    if compaction.results_masked:
        actions.append(f"{verbs.shorten} {_results_text(compaction.results_masked)}")
    return actions


def _results_text(number: int) -> str:
    return plural(number, "old tool result or document", "old tool results and documents")


def describe_active_compaction(compaction: Compaction, coverage: Mapping[str, Any]) -> str:
    """What the current summary covers, and how many results are shortened."""
    shortened = ""
    if compaction.masked:
        shortened = f"{_results_text(len(compaction.masked))} shortened"
    if not compaction.summary:
        return f"No summary; {shortened}."
    covered = f"{plural(coverage['turns'], 'turn')} ({plural(coverage['messages'], 'message')})"
    dates = f"{coverage['first_date']} to {coverage['last_date']}"
    size = f"summarized in {compaction.summary_tokens:,} tokens ({compaction.mode})"
    text = f"{covered}, {dates}, {size}"
    return f"{text}; {shortened}:" if shortened else f"{text}:"
