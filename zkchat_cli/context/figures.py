"""The figures of a prompt as a table with bars: the same text for `context stats` and `/context`."""

from zkchat_cli.context.compaction import Covers
from zkchat_cli.models import Compaction, ContextUsage, Prompt
from zkchat_cli.words import shorten

BAR_CELLS = 20
_DELIVERED = {"injected": "whole", "partly": "in part", "offered": "to be read"}
_ADVICE = {
    "tool_results": "/compact folds old results into a summary",
    "conversation": "/compact folds older turns into a summary",
    "documents": "name fewer documents at once",
    "memory": "shorten ZKCHAT.md, or set context.memory_integration = false",
    "summary": "lower context.summary_ratio",
    "system": "",
}


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """A bar of `cells` characters, filled to `share` (0 to 1); anything at all fills a cell."""
    filled = min(cells, max(1 if share > 0 else 0, round(share * cells)))
    return "█" * filled + "░" * (cells - filled)


def thousands(tokens: int) -> str:
    """`812`, `12.1k`, `128k`: short enough for a toolbar."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens / 1000:.0f}k"


def table(prompt: Prompt) -> str:
    """Tokens per component against its budget, the largest items with what to do about them, and whether compaction is due."""
    usage = prompt.usage
    mark = "~" if usage.estimated else ""
    lines = [f"{'component':<14} {'tokens':>8} {'budget':>8}"]
    for name, status in (
        ("instructions", usage.budget_status.system),
        ("tools", usage.budget_status.tools),
        ("messages", usage.budget_status.messages),
    ):
        share = status.used / status.budget if status.budget else 0.0
        lines.append(f"{name:<14} {mark + str(status.used):>8} {status.budget:>8}  {bar(share)} {share:4.0%}")
        if name == "messages":
            lines += [
                f"  {part.replace('_', ' '):<12} {mark + str(tokens):>8}"
                for part, tokens in usage.message_breakdown.model_dump().items()
                if tokens
            ]
    share = usage.total_tokens / usage.effective_limit
    lines.append(f"{'total':<14} {mark + str(usage.total_tokens):>8} {usage.effective_limit:>8}  {bar(share)} {share:4.0%}")
    source = f" ({usage.window_source})" if usage.window_source else ""
    lines.append(f"window {usage.max_context}{source}, at most {usage.effective_limit} are sent; strategy {prompt.strategy}")
    lines += documents(prompt)
    lines += _largest(prompt)
    if prompt.dropped:
        lines.append(f"not sent: {len(prompt.dropped)} messages ({', '.join(dict.fromkeys(d.reason for d in prompt.dropped))})")
    lines.append(f"compaction is due: {usage.compaction.reason}" if usage.compaction.due else "compaction is not due")
    return "\n".join(lines)


def documents(prompt: Prompt) -> list[str]:
    """The documents that messages name: which are in the prompt, which the model is to read, and why."""
    found = [r for r in prompt.documents if r.delivery]
    lines = [f"  {_DELIVERED[r.delivery]:<11} {r.wikilink}  {r.relative_path}: {r.delivery_reason}" for r in found if r.delivery]
    return ["documents:", *lines] if lines else []


def _largest(prompt: Prompt) -> list[str]:
    items = sorted((m for m in prompt.messages if m.kind != "system"), key=lambda m: -m.tokens)[:5]
    if not items:
        return []
    lines = ["largest:"]
    for item in items:
        advice = _ADVICE[item.kind]
        lines.append(
            f"  {item.tokens:>6}  {item.kind.replace('_', ' ')}: {shorten(item.content, 48)}" + (f"  ({advice})" if advice else "")
        )
    return lines


def state(usage: ContextUsage) -> str:
    """The colour of a budget: green below 70 %, yellow below 90 %, red from there."""
    share = usage.total_tokens / usage.effective_limit
    return "green" if share < 0.7 else "yellow" if share < 0.9 else "red"


def describe(compaction: Compaction) -> str:
    """What a compaction did, or would do."""
    problem = f" The model's summary failed: {compaction.problem.rstrip('.')}." if compaction.problem else ""
    if compaction.mode == "none":
        return f"Nothing to compact: there are no older turns that a summary would make smaller.{problem}"
    would = compaction.preview
    means = []
    if compaction.mode != "masked":
        kind = "a note that they are left out" if compaction.mode == "truncated" else f"a summary of {compaction.summary_tokens} tokens"
        means.append(f"{'would fold' if would else 'folded'} {compaction.messages_folded} messages into {kind}{_made(compaction)}")
    if compaction.results_masked:
        means.append(f"{'would shorten' if would else 'shortened'} {compaction.results_masked} old results and documents")
    return (
        f"Compaction {' and '.join(means)}: "
        f"the prompt {'would go' if would else 'went'} from {compaction.tokens_before} to {compaction.tokens_after} tokens."
        f"{problem} Nothing is deleted; {'nothing was changed' if would else '/compact undo takes it back'}."
    )


_MADE = {
    "full": " written by the model",
    "simple": " written by the model from a shortened conversation",
    "extractive": " of its own sentences",
}


def _made(compaction: Compaction) -> str:
    calls = compaction.model_calls
    asked = f" ({calls} model call{'' if calls == 1 else 's'}{_cost(compaction)})" if calls else ""
    return _MADE.get(compaction.mode, "") + asked


def _cost(compaction: Compaction) -> str:
    return f", {compaction.usage.prompt_tokens + compaction.usage.completion_tokens} tokens" if compaction.usage else ""


def standing(compaction: Compaction, covers: Covers) -> str:
    """What stands in the prompt in place of older turns."""
    told = []
    if compaction.summary:
        told.append(
            f"{covers.turns} turns ({covers.messages} messages), {covers.first_date} to {covers.last_date}, "
            f"in {compaction.summary_tokens} tokens ({compaction.mode})"
        )
    if compaction.masked:
        told.append(f"{len(compaction.masked)} old results and documents without their middles")
    return f"{'; '.join(told)}:" if compaction.summary else f"No summary; {'; '.join(told)}."


def saved(compaction: Compaction) -> str:
    """What a compaction did, in one line of a chat."""
    done = []
    if compaction.messages_folded:
        how = "left out" if compaction.mode == "truncated" else f"folded into a summary{_made(compaction)}"
        done.append(f"{compaction.messages_folded} messages {how}")
    if compaction.results_masked:
        done.append(f"{compaction.results_masked} old results shortened")
    if not done:
        return f"nothing could be made smaller{'; ' + compaction.problem if compaction.problem else ''}"
    failed = f"; the model's summary failed: {compaction.problem}" if compaction.problem else ""
    return f"{', '.join(done)}, {compaction.tokens_before - compaction.tokens_after} tokens saved{failed}; /compact undo takes it back"
