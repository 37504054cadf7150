"""What a compaction did, in words."""

from zkchat_cli.context.compaction_policy import SummaryCoverage
from zkchat_cli.models import Compaction
from zkchat_cli.views.command_hints import IN_CHAT, CommandHints

_METHODS = {"full": "by the model", "simple": "by the model, in a simpler request", "extractive": "extractive"}


def describe_compaction(compaction: Compaction, hints: CommandHints = IN_CHAT) -> str:
    """What a compaction did, or would do, in sentences."""
    failure = f" T{_failure(compaction)[1:].rstrip('.')}." if compaction.problem else ""
    if compaction.mode == "none":
        return f"Nothing to compact: a summary would not make the older turns smaller.{failure}"
    text = _actions(compaction, size=True)
    text = f"Would {text}" if compaction.preview else text[0].upper() + text[1:]
    outcome = "Nothing was changed." if compaction.preview else f"Nothing is deleted. To undo: {hints.undo}"
    return f"{text}. Prompt: {compaction.tokens_before:,} → {compaction.tokens_after:,} tokens.{failure} {outcome}"


def compaction_line(compaction: Compaction, hints: CommandHints = IN_CHAT) -> str:
    """What a compaction did, in one line."""
    actions = _actions(compaction, size=False)
    if not actions:
        return f"nothing to compact{f': {compaction.problem}' if compaction.problem else ''}"
    failure = f"; {_failure(compaction).rstrip('.')}" if compaction.problem else ""
    undo = f"; to undo: {hints.undo}" if hints.undo else ""
    return f"{actions}, {compaction.tokens_before - compaction.tokens_after:,} tokens saved{failure}{undo}"


def _failure(compaction: Compaction) -> str:
    what = "the first request" if compaction.mode == "simple" else "the model's summary"
    return f"{what} failed: {compaction.problem}"


def describe_active_compaction(compaction: Compaction, coverage: SummaryCoverage) -> str:
    """What the prompt contains in place of older turns."""
    parts = []
    if compaction.summary:
        parts.append(
            f"{coverage.turns} turns ({coverage.messages} messages), {coverage.first_date} to {coverage.last_date}, "
            f"summarized in {compaction.summary_tokens:,} tokens ({compaction.mode})"
        )
    if compaction.masked:
        parts.append(f"{len(compaction.masked)} old tool results and documents shortened")
    return f"{'; '.join(parts)}:" if compaction.summary else f"No summary; {'; '.join(parts)}."


def _actions(compaction: Compaction, *, size: bool) -> str:
    """`summarized 10 messages (extractive)`, with `size` also the tokens of the summary; empty if nothing was done."""
    summarize, drop, shorten = ("summarize", "drop", "shorten") if compaction.preview else ("summarized", "dropped", "shortened")
    actions = []
    if compaction.messages_folded:
        messages = f"{compaction.messages_folded} messages"
        summary = f" in {compaction.summary_tokens:,} tokens" if size else ""
        method = f" ({_METHODS[compaction.mode]})" if compaction.mode in _METHODS else ""
        actions.append(f"{drop} {messages}" if compaction.mode == "truncated" else f"{summarize} {messages}{summary}{method}")
    if compaction.results_masked:
        actions.append(f"{shorten} {compaction.results_masked} old tool results and documents")
    return " and ".join(actions)
