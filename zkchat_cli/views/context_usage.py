"""The token usage of a prompt: components against their budgets, the largest items with advice, and when compaction is due.

The same lines for `context stats` and `/context`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from zkchat_cli.context.tool_result_masking import is_masked
from zkchat_cli.models import ContextUsage, Prompt, PromptMessage, ZkChatMessage
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.command_hints import IN_CHAT, CommandHints
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line
from zkchat_cli.views.token_usage import CELLS, BudgetBar, short_count

MIN_CELLS = 4
WIDTH = 80
NARROW = 60
"""Columns below which there is no column for the budgets."""
MAX_ITEMS = 10
MIN_SNIPPET = 12
_PASSAGE = re.compile(r"^(?:user|assistant): .*", re.MULTILINE)
"""The first line of a recalled passage."""
_SOURCE = re.compile(r'[{ ]"source": (\d{1,9}), "path": "')
_DELIVERY = {"injected": "full text", "partly": "sections", "offered": "summary"}


def usage_lines(
    prompt: Prompt,
    width: int = WIDTH,
    pinned: Mapping[str, int] = MappingProxyType({}),
    hints: CommandHints = IN_CHAT,
) -> list[StyledLine]:
    """The token usage of a prompt, for a screen of `width` columns. `pinned` is the result of `pinned_turns`."""
    usage = prompt.usage
    text = [
        *_window_lines(prompt),
        *_budget_warnings(usage),
        *document_lines(prompt),
        *omitted_lines(prompt),
    ]
    return [
        *_component_lines(usage, width),
        styled_line(),
        *(styled_line(line, indent=len(line) - len(line.lstrip()) + 2) for line in text),
        *_largest_item_lines(_prompt_items(prompt, hints, pinned), width),
        styled_line(_compaction_line(prompt), indent=2),
    ]


def _budget_warnings(usage: ContextUsage) -> Iterator[str]:
    """What instructions and tools that exceed their budget leave for messages, and what to do."""
    left, status = usage.budget_status.messages.budget, usage.budget_status
    if status.system.used > status.system.budget:
        hint = "Use a larger window, or raise context.system_budget_ratio."
        yield f"instructions use {status.system.used:,} of {status.system.budget:,} tokens; {left:,} are left for messages. {hint}"
    if status.tools.used > status.tools.budget:
        hint = "Offer fewer tools with an agent, or raise context.tool_budget_ratio."
        yield f"tools use {status.tools.used:,} of {status.tools.budget:,} tokens; {left:,} are left for messages. {hint}"


def overview_lines(prompt: Prompt) -> Iterator[str]:
    """What a prompt is made of, in a few lines (`ask --show-context`)."""
    usage = prompt.usage
    mark = "~" if usage.estimated else ""
    yield f"Context: {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, strategy {prompt.strategy}"
    yield f"  - tools: {len(prompt.tools)} ({mark}{short_count(usage.tool_tokens)} tokens)"
    messages: dict[str, list[PromptMessage]] = {}
    for message in prompt.messages:
        messages.setdefault(message.kind, []).append(message)
    for kind, of_kind in messages.items():
        names = ", ".join(truncate(id_, 60) for message in of_kind for id_ in message.source_ids)
        count = sum(len(message.source_ids) for message in of_kind) if kind == "recalled" else len(of_kind)
        what = names if kind == "memory" else plural(count, "message")
        tokens = short_count(sum(message.tokens for message in of_kind))
        yield f"  - {kind.replace('_', ' ')}: {what} ({mark}{tokens} tokens)"
        if kind == "recalled":
            yield from (f"      {truncate(line, WIDTH)}" for message in of_kind for line in _PASSAGE.findall(message.content))
    yield from document_lines(prompt)


def pinned_turns(history: Iterable[ZkChatMessage]) -> dict[str, int]:
    """The ids of the pinned messages, each with the number of its turn as `/unpin` counts them."""
    pinned, turn = {}, 0
    for message in history:
        turn += message.role == "user"
        if message.pinned:
            pinned[message.id] = turn
    return pinned


def _component_lines(usage: ContextUsage, width: int) -> Iterator[StyledLine]:
    mark = "~" if usage.estimated else ""
    narrow = width < NARROW
    cells = max(MIN_CELLS, min(CELLS, width - (30 if narrow else 40)))

    def row(name: str, tokens: int, limit: int, *, budgeted: bool = True) -> StyledLine:
        budget = "" if narrow else f" {f'{limit:,}' if budgeted else '':>9}"
        text = StyledSpan(f"{name:<14} {f'{mark}{tokens:,}':>8}{budget}  ")
        return StyledLine((text, *BudgetBar(tokens, limit, cells).spans))

    yield styled_line(f"{'component':<14} {'tokens':>8}" + ("" if narrow else f" {'budget':>9}"), "bold")
    status = usage.budget_status
    yield row("instructions", status.system.used, status.system.budget)
    yield row("tools", status.tools.used, status.tools.budget)
    yield row("messages", status.messages.used, status.messages.budget)
    for part, tokens in usage.message_breakdown.model_dump().items():
        if tokens:
            yield row(f"  {part.replace('_', ' ')}", tokens, status.messages.budget, budgeted=False)
    yield row("total", usage.total_tokens, usage.effective_limit)


def _window_lines(prompt: Prompt) -> Iterator[str]:
    usage = prompt.usage
    source = f" ({usage.window_source})" if usage.window_source else ""
    yield f"Context window: {usage.max_context:,} tokens{source}; at most {usage.effective_limit:,} are sent. Strategy: {prompt.strategy}."
    yield from retrieval_lines(prompt)
    parts = {name.replace("_", " "): tokens for name, tokens in usage.components.model_dump().items() if tokens}
    yield f"Tokens spent on {', '.join(f'{name} {tokens:,}' for name, tokens in parts.items())}."
    if not usage.estimated:
        yield "Counted with the model's own tokenizer."
    else:
        yield f"~ estimated, calibrated with the usage that the provider has reported so far (× {usage.calibration:.2f})"


def omitted_lines(prompt: Prompt) -> Iterator[str]:
    """What is not sent: messages and memories counted by reason, then the tools by name."""
    for kind, many in (("message", "messages"), ("memory", "memories")):
        reasons = Counter(dropped.reason for dropped in prompt.dropped if dropped.kind == kind)
        if reasons:
            counts = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
            yield f"Not sent: {plural(reasons.total(), kind, many)} ({counts})"
    tools = [dropped for dropped in prompt.dropped if dropped.kind == "tool"]
    if tools:
        yield f"Tools not offered: {len(tools)} of {len(tools) + len(prompt.tools)}"
        yield from (f"  {dropped.id.removeprefix('tool:')}: {dropped.reason}" for dropped in tools)


def document_lines(prompt: Prompt) -> list[str]:
    """The documents that messages name: how much of each is in the prompt, and why."""
    sent = sent_source_numbers(prompt)
    lines = []
    for each in prompt.documents:
        path = f"{each.relative_path} (deleted since)" if each.relative_path in prompt.deleted else each.relative_path
        if each.delivery and sent.issuperset(each.numbers):
            lines.append(f"  {_DELIVERY[each.delivery]:<11} {each.wikilink}  {path}: {each.delivery_reason}")
        elif each.delivery:
            lines.append(f"  {'not now':<11} {each.wikilink}  {path}: its text was in an earlier prompt")
    return ["Documents:", *lines] if lines else []


def sent_source_numbers(prompt: Prompt) -> set[int]:
    """The numbers of the excerpts that are in a prompt in full."""
    texts = (m.content for m in prompt.messages if m.kind in ("documents", "tool_results") and not is_masked(m))
    return {int(number) for text in texts for number in _SOURCE.findall(text)}


def retrieval_lines(prompt: Prompt) -> Iterator[str]:
    """Who searches the notes for the next answer, and why."""
    if prompt.retrieval is not None:
        yield f"Retrieval: {prompt.retrieval.mode} ({prompt.retrieval.reason})."


def _compaction_line(prompt: Prompt) -> str:
    due, limit = prompt.usage.compaction, prompt.usage.effective_limit
    if due.due:
        return f"Compaction is due: {due.reason} ({BudgetBar(due.at or 0, limit).percent})."
    if due.at is None:
        return f"No compaction: the strategy {prompt.strategy} drops the oldest turns instead."
    left = max(0, due.at - prompt.usage.total_tokens)
    return f"Compacts at {due.at:,} of {limit:,} tokens, {BudgetBar(due.at, limit).percent} ({left:,} left)."


class _Item(NamedTuple):
    """A part of a prompt that takes tokens, and how to make it smaller."""

    tokens: int
    kind: str
    text: str
    advice: str


def _largest_item_lines(items: Iterable[_Item], width: int) -> Iterator[StyledLine]:
    """The largest items with advice. The screen puts the advice below where there is no room beside it."""
    largest = sorted(items, key=lambda item: -item.tokens)[:MAX_ITEMS]
    if largest:
        yield styled_line("Largest:")
    for item in largest:
        label = f"  {item.tokens:>6,}  {item.kind}"
        beside = width - len(label) - len(item.advice) - 6
        snippet = truncate(item.text, beside if beside >= MIN_SNIPPET else max(1, width - len(label) - 2))
        advice = (StyledSpan(f"({item.advice})", "dim"),) if item.advice else ()
        yield StyledLine((StyledSpan(label + (f": {snippet}" if snippet else "")),), advice, indent=10)


def _advice(message: PromptMessage, hints: CommandHints, pinned: Mapping[str, int], *, only_turn: bool) -> str:
    """What makes a message smaller, if anything does. `only_turn`: there is no older turn that could be summarized."""
    if turns := [pinned[id_] for id_ in message.source_ids if id_ in pinned]:
        return hints.unpin.format(turns[0])
    if message.kind == "memory":
        source = message.source_ids[0]
        key = source.removeprefix("fact:")
        return hints.forget.format(key) if key != source else f"shorten {source}, or set context.memory_integration = false"
    if message.kind == "summary":
        return "a lower context.summary_ratio shortens the next summary"
    if message.kind == "documents":
        return ("" if only_turn else f"{hints.compact}, or ") + "name [[Note#Heading]]"
    if message.kind == "recalled":
        return "passages of earlier turns; the strategy summarize sends none"
    return "" if only_turn else hints.compact


def _prompt_items(prompt: Prompt, hints: CommandHints, pinned: Mapping[str, int]) -> Iterator[_Item]:
    if prompt.tools:
        yield _Item(prompt.usage.tool_tokens, plural(len(prompt.tools), "tool description"), "", f"{hints.agent} with fewer tools")
    only_turn = sum(1 for m in prompt.messages if m.role == "user" and m.kind == "conversation") < 2
    for message in prompt.messages:
        if message.kind != "system":
            text = message.content or ", ".join(call.name for call in message.tool_calls)
            yield _Item(message.tokens, message.kind.replace("_", " "), text, _advice(message, hints, pinned, only_turn=only_turn))
