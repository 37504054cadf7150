"""The figures of a prompt as a table with bars: the same text for `context stats` and `/context`."""

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
    if compaction.mode == "none":
        return "Nothing to compact: there are no older turns that a summary would make smaller."
    verb = "would fold" if compaction.preview else "folded"
    return (
        f"Compaction {verb} {compaction.messages_folded} messages into a summary of {compaction.summary_tokens} tokens: "
        f"the prompt {'would go' if compaction.preview else 'went'} from {compaction.tokens_before} to {compaction.tokens_after} tokens. "
        "Nothing is deleted; /compact undo takes it back."
    )
