"""What a compaction did, in words, and what it cost."""

from zkchat_cli.context.compaction_policy import SummaryCoverage
from zkchat_cli.models import Compaction
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.command_hints import IN_CHAT, CommandHints
from zkchat_cli.views.token_usage import usage_text

_METHODS = {"full": "by the model", "simple": "by the model, in a simpler request", "extractive": "extractive"}


def describe_compaction(compaction: Compaction, hints: CommandHints = IN_CHAT) -> str:
    """What a compaction did, or would do, in sentences."""
    failure = f" T{_failure_text(compaction)[1:].rstrip('.')}." if compaction.problem else ""
    cost = f" Cost: {usage_text(compaction.usage)}." if compaction.usage else ""
    if compaction.mode == "none":
        why = "there are no older turns that a summary would make smaller"
        if compaction.problem and not compaction.model_calls:
            why, failure = compaction.problem, ""
        return f"Nothing to compact: {'there are no messages yet' if compaction.made_after is None else why}.{failure}{cost}"
    text = _actions_text(compaction)
    text = f"Would {text}" if compaction.preview else text[0].upper() + text[1:]
    outcome = "Nothing was changed." if compaction.preview else f"Nothing is deleted. To undo: {hints.undo}"
    return f"{text}. Prompt: {compaction.tokens_before:,} → {compaction.tokens_after:,} tokens.{failure}{cost} {outcome}"


def compaction_line(compaction: Compaction, hints: CommandHints = IN_CHAT) -> str:
    """What a compaction did, in one line of a terminal with 80 columns."""
    done = (compaction.messages_folded, "message"), (compaction.results_masked, "result")
    actions = " and ".join(plural(number, what) for number, what in done if number)
    if not actions:
        return f"nothing to compact{f': {compaction.problem}' if compaction.problem else ''}"
    failure = f"; {_failure_text(compaction).rstrip('.')}" if compaction.problem else ""
    undo = f"; undo: {hints.undo}" if hints.undo else ""
    verb = "dropped" if compaction.mode == "truncated" else "compacted"
    return f"{verb} {actions}, {compaction.tokens_before - compaction.tokens_after:,} tokens saved{failure}{undo}"


def _failure_text(compaction: Compaction) -> str:
    what = "the first request" if compaction.mode == "simple" else "the model's summary"
    return f"{what} failed: {compaction.problem}"


def describe_active_compaction(compaction: Compaction, coverage: SummaryCoverage) -> str:
    """What the prompt contains in place of older turns."""
    parts = []
    if compaction.summary:
        parts.append(
            f"{plural(coverage.turns, 'turn')} ({plural(coverage.messages, 'message')}), {coverage.first_date} to {coverage.last_date}, "
            f"summarized in {compaction.summary_tokens:,} tokens ({compaction.mode})"
        )
    if compaction.masked:
        parts.append(f"{_results_text(len(compaction.masked))} shortened")
    return f"{'; '.join(parts)}:" if compaction.summary else f"No summary; {'; '.join(parts)}."


def _results_text(number: int) -> str:
    return f"{number} old tool results and documents" if number != 1 else "1 old tool result or document"


def _actions_text(compaction: Compaction) -> str:
    """`summarized 10 messages in 90 tokens (extractive)`."""
    summarize, drop, shorten = ("summarize", "drop", "shorten") if compaction.preview else ("summarized", "dropped", "shortened")
    actions = []
    if compaction.messages_folded:
        messages = plural(compaction.messages_folded, "message")
        summary = f" in {compaction.summary_tokens:,} tokens"
        method = f" ({_METHODS[compaction.mode]})" if compaction.mode in _METHODS else ""
        actions.append(f"{drop} {messages}" if compaction.mode == "truncated" else f"{summarize} {messages}{summary}{method}")
    if compaction.results_masked:
        actions.append(f"{shorten} {_results_text(compaction.results_masked)}")
    return " and ".join(actions)
