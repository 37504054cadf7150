"""The tokens of a prompt against its budgets: a table, what is not sent, and how to make the
largest parts smaller.

`zkchat context stats` and `/context` show the same lines.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.context.message_priority import PLAIN
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.money import Price
from zkchat_cli.models.prompts import ContextUsage, Prompt, PromptMessage
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.money import money_text
from zkchat_cli.views.priorities import priorities_by_id, priorities_text, prompt_priority
from zkchat_cli.views.prompts import delivery_lines
from zkchat_cli.views.text import (
    CELLS,
    IN_CHAT,
    BudgetBar,
    CommandHints,
    StyledLine,
    StyledSpan,
    styled_line,
)

# Columns of the shortest bar, and of a screen with an unknown width
MIN_CELLS = 4
WIDTH = 80
# Columns of a screen below which the table has no budgets
NARROW = 60
# Columns of the table besides the bar, without the budgets and with them
NARROW_COLUMNS = 30
COLUMNS = 40
# Columns of what each component costs
COST_COLUMNS = 9
# Columns of the brackets and spaces around an advice
ADVICE_FRAME = 6
# Items that are listed, and columns that the text of one needs beside an advice
MAX_ITEMS = 10
MIN_SNIPPET = 12


def usage_lines(
    prompt: Prompt,
    history: Sequence[ZkChatMessage],
    width: int = WIDTH,
    hints: CommandHints = IN_CHAT,
    costs: Sequence[str] = (),
    price: Price | None = None,
) -> list[StyledLine]:
    """The token usage of a prompt, for a screen of `width` columns. The `history` says which turns
    are pinned and which priorities messages have, `costs` what things cost, and `price` what a
    token of the prompt costs.
    """
    lines = [*_component_lines(prompt.usage, width, price), styled_line()]
    for explanation in _explanations(prompt):
        indent = len(explanation) - len(explanation.lstrip()) + 2
        lines.append(styled_line(explanation, indent=indent))
    priorities = priorities_text(history)
    if priorities:
        lines.append(styled_line(priorities, indent=2))
    lines += _largest_item_lines(prompt, width, history, hints)
    lines.append(styled_line(_compaction_text(prompt, hints), indent=2))
    lines += [styled_line(cost, indent=2) for cost in costs if cost]
    return lines


def _compaction_text(prompt: Prompt, hints: CommandHints) -> str:
    """When the conversation will be compacted."""
    due = prompt.usage.compaction
    limit = prompt.usage.effective_limit
    if due.due:
        reason = f"{due.reason} ({BudgetBar(due.at or 0, limit).percent})"
        if due.runs_first:
            return f"Compaction is due with the next message: {reason}."
        return f"Compaction is due: {reason}. {hints.compact} runs it."
    if due.at is None:
        return f"No compaction: the strategy {prompt.strategy} drops the oldest turns instead."
    left = max(0, due.at - prompt.usage.total_tokens)
    percent = BudgetBar(due.at, limit).percent
    return f"Compacts at {due.at:,} of {limit:,} tokens, {percent} ({left:,} left)."


class _ComponentRow(NamedTuple):
    """A row of the table of tokens; `budget` is the column's text."""

    name: str
    tokens: int
    limit: int
    budget: str


def _component_lines(usage: ContextUsage, width: int, price: Price | None) -> Iterator[StyledLine]:
    mark = "~" if usage.estimated else ""
    is_narrow = width < NARROW
    shows_cost = price is not None and not is_narrow
    columns = NARROW_COLUMNS if is_narrow else COLUMNS
    if shows_cost:
        columns += COST_COLUMNS
    cells = max(MIN_CELLS, min(CELLS, width - columns))
    heading = f"{'component':<14} {'tokens':>8}"
    if not is_narrow:
        heading += f" {'budget':>9}"
    if shows_cost:
        heading += f" {'cost':>8}"
    yield styled_line(heading, "bold")
    for row in _component_rows(usage):
        bar = BudgetBar(row.tokens, row.limit, cells)
        tokens = f"{mark}{row.tokens:,}"
        text = f"{row.name:<14} {tokens:>8}"
        if not is_narrow:
            text += f" {row.budget:>9}"
        if price is not None and shows_cost:
            text += f" {money_text(price.share_of_prompt(row.tokens, usage.total_tokens)):>8}"
        share = StyledSpan(f" {bar.percent:>4}")
        yield StyledLine((StyledSpan(f"{text}  "), StyledSpan(bar.bar, bar.color), share))


def _component_rows(usage: ContextUsage) -> list[_ComponentRow]:
    status = usage.budget_status
    rows = []
    for name, key in (("instructions", "system"), ("tools", "tools"), ("messages", "messages")):
        budget = status[key].budget
        rows.append(_ComponentRow(name, status[key].used, budget, f"{budget:,}"))
    for part, tokens in usage.message_breakdown.items():
        if tokens:
            name = f"  {part.replace('_', ' ')}"
            rows.append(_ComponentRow(name, tokens, status["messages"].budget, ""))
    limit = usage.effective_limit
    rows.append(_ComponentRow("total", usage.total_tokens, limit, f"{limit:,}"))
    return rows


def _explanations(prompt: Prompt) -> Iterator[str]:
    """The window, the components above their budgets and what to do about them, the documents, and
    what is not sent: messages, memories, then tools.
    """
    usage = prompt.usage
    source = f" ({usage.window_source})" if usage.window_source else ""
    yield (
        f"Context window: {usage.max_context:,} tokens{source}; at most "
        f"{usage.effective_limit:,} are sent. Strategy: {prompt.strategy}."
    )
    if prompt.retrieval is not None:
        yield f"Retrieval: {prompt.retrieval.mode} ({prompt.retrieval.reason})."
    used = {name: tokens for name, tokens in usage.components.items() if tokens}
    spent = [f"{name.replace('_', ' ')} {tokens:,}" for name, tokens in used.items()]
    yield f"Tokens spent on {', '.join(spent)}."
    yield _counting_text(usage)
    yield from _budget_warnings(usage)
    yield from delivery_lines(prompt)
    yield from _dropped_lines(prompt)


def _counting_text(usage: ContextUsage) -> str:
    """How the tokens were counted."""
    if usage.by_characters:
        return "~ estimated by characters: zkchat doctor says which file of the tokenizer is wrong"
    factors = f"× {usage.calibration:.2f}"
    if usage.tool_tokens and usage.tool_calibration != usage.calibration:
        factors += f", tools × {usage.tool_calibration:.2f}"
    reported = f"calibrated with the usage that the provider has reported so far ({factors})"
    if usage.estimated:
        return f"~ estimated, {reported}"
    is_calibrated = usage.calibration != 1 or (usage.tool_tokens and usage.tool_calibration != 1)
    if is_calibrated:
        return f"Counted, and {reported}."
    return "Counted with a tokenizer, not estimated."


def _budget_warnings(usage: ContextUsage) -> Iterator[str]:
    """What is lent to messages, the components above their budgets, and what to do about them."""
    status = usage.budget_status
    messages = status["messages"]
    if messages.lent:
        share = messages.budget - messages.lent
        lent = f"{messages.lent:,} lent by instructions and tools"
        yield f"Messages may use {share:,} tokens and {lent}."
    if messages.used > messages.budget:
        yield (
            f"messages use {messages.used:,} of {messages.budget:,} tokens: "
            f"{messages.used - messages.budget:,} more than their budget."
        )
    left = f"{messages.budget:,} are left for messages"
    for name, key, hint in (
        ("instructions", "system", "Use a larger window, or raise context.system_budget_ratio."),
        ("tools", "tools", "Offer fewer tools with an agent, or raise context.tool_budget_ratio."),
    ):
        component = status[key]
        if component.used > component.budget:
            yield f"{name} use {component.used:,} of {component.budget:,} tokens; {left}. {hint}"


def _dropped_lines(prompt: Prompt) -> Iterator[str]:
    for kind, many in (("message", "messages"), ("memory", "memories")):
        reasons = Counter(dropped.reason for dropped in prompt.dropped if dropped.kind == kind)
        if reasons:
            counts = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
            yield f"Not sent: {plural(reasons.total(), kind, many)} ({counts})"
    tools = [dropped for dropped in prompt.dropped if dropped.kind == "tool"]
    if tools:
        yield f"Tools not offered: {len(tools)} of {len(tools) + len(prompt.tools)}"
    for tool in tools:
        yield f"  {tool.id.removeprefix('tool:')}: {tool.reason}"


class _PromptItem(NamedTuple):
    """A part of a prompt, and how to make it smaller."""

    tokens: int
    kind: str
    text: str
    advice: str


def _largest_item_lines(
    prompt: Prompt, width: int, history: Sequence[ZkChatMessage], hints: CommandHints
) -> Iterator[StyledLine]:
    """The largest items with advice. Where there is no room for the advice beside an item, the
    screen puts it below.
    """
    items = _prompt_items(prompt, history, hints)
    if items:
        yield styled_line("Largest:")
    for item in sorted(items, key=lambda item: -item.tokens)[:MAX_ITEMS]:
        label = f"  {item.tokens:>6,}  {item.kind}"
        room = width - len(label) - len(item.advice) - ADVICE_FRAME
        if room < MIN_SNIPPET:
            room = max(1, width - len(label) - 2)
        snippet = truncate(item.text, room)
        if snippet:
            label += f": {snippet}"
        right = (StyledSpan(f"({item.advice})", "dim"),) if item.advice else ()
        yield StyledLine((StyledSpan(label),), right, indent=10)


def _prompt_items(
    prompt: Prompt, history: Sequence[ZkChatMessage], hints: CommandHints
) -> list[_PromptItem]:
    items = []
    if prompt.tools:
        described = plural(len(prompt.tools), "tool description")
        advice = f"{hints.agent} with fewer tools"
        items.append(_PromptItem(prompt.usage.tool_tokens, described, "", advice))
    pinned = _pinned_turns(history)
    priorities = priorities_by_id(history)
    questions = [each for each in prompt.messages if each.role == "user"]
    only_turn = sum(message.kind == "conversation" for message in questions) < 2
    for message in prompt.messages:
        if message.kind == "system":
            continue
        text = message.content or ", ".join(call.name for call in message.tool_calls)
        advice = _advice(message, hints, pinned, only_turn=only_turn)
        kind = _describe_kind(message, prompt_priority(message, priorities))
        items.append(_PromptItem(message.tokens, kind, text, advice))
    return items


def _describe_kind(message: PromptMessage, priority: int | None) -> str:
    """The kind of a message, with a priority above that of plain ones."""
    kind = message.kind.replace("_", " ")
    if priority is not None and priority > PLAIN:
        kind += f", priority {priority}"
    return kind


def _pinned_turns(history: Sequence[ZkChatMessage]) -> dict[str, int]:
    """The turn of each pinned message, by its id."""
    pinned: dict[str, int] = {}
    turn = 0
    for message in history:
        turn += message.role == "user"
        if message.pinned:
            pinned[message.id] = turn
    return pinned


def _advice(
    message: PromptMessage, hints: CommandHints, pinned: Mapping[str, int], *, only_turn: bool
) -> str:
    """How a message can be made smaller; empty if it cannot. With `only_turn` there is no older
    turn that could be summarized.
    """
    for id_ in message.source_ids:
        if id_ in pinned:
            return hints.unpin.format(pinned[id_])
    compact = "" if only_turn else hints.compact
    match message.kind:
        case "memory":
            return _memory_advice(message.source_ids[0], hints)
        case "summary":
            return "a lower context.summary_ratio shortens the next summary"
        case "documents":
            name_section = "name [[Note#Heading]]"
            return name_section if only_turn else f"{compact}, or {name_section}"
        case "recalled":
            return "passages of earlier turns; the strategy summarize sends none"
    return compact


def _memory_advice(source: str, hints: CommandHints) -> str:
    key = source.removeprefix("fact:")
    if key != source:
        return hints.forget.format(key)
    return f"shorten {source}, or set context.memory_integration = false"
