"""Prompts: word for word, their token usage against the budgets, and the difference between those
of two turns.

The same lines for `zkchat context` and for the chat's commands.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from zkchat_cli.context.prompt_history import PromptDiff, SentPrompts
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import ContextUsage, Prompt, PromptMessage
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.prompt_status import sent_source_numbers
from zkchat_cli.views.text import (
    CELLS,
    IN_CHAT,
    BudgetBar,
    CommandHints,
    StyledLine,
    StyledSpan,
    short_count,
    styled_line,
)

MIN_CELLS = 4
WIDTH = 80
# Columns below which there is no column for the budgets
NARROW = 60
MAX_ITEMS = 10
MIN_SNIPPET = 12
# Characters of a message in a list of changes
MAX_CONTENT = 100
# Messages that are listed as not sent; of more, how many
MOST_DROPPED = 20
# The first line of a recalled passage
_PASSAGE = re.compile(r"^(?:user|assistant): .*", re.MULTILINE)
_DELIVERY = {"injected": "full text", "partly": "sections", "offered": "summary"}


def usage_lines(
    prompt: Prompt,
    history: Sequence[ZkChatMessage],
    width: int = WIDTH,
    hints: CommandHints = IN_CHAT,
) -> list[StyledLine]:
    """The token usage of a prompt, for a screen of `width` columns. The `history` says which turns
    are pinned.
    """
    due = prompt.usage.compaction
    limit = prompt.usage.effective_limit
    if due.due:
        compaction = f"Compaction is due: {due.reason} ({BudgetBar(due.at or 0, limit).percent})."
    elif due.at is None:
        compaction = (
            f"No compaction: the strategy {prompt.strategy} drops the oldest turns instead."
        )
    else:
        left = max(0, due.at - prompt.usage.total_tokens)
        compaction = (
            f"Compacts at {due.at:,} of {limit:,} tokens, {BudgetBar(due.at, limit).percent} "
            f"({left:,} left)."
        )
    return [
        *_component_lines(prompt.usage, width),
        styled_line(),
        *(
            styled_line(line, indent=len(line) - len(line.lstrip()) + 2)
            for line in _explanations(prompt)
        ),
        *_largest_item_lines(prompt, width, history, hints),
        styled_line(compaction, indent=2),
    ]


def _component_lines(usage: ContextUsage, width: int) -> Iterator[StyledLine]:
    mark = "~" if usage.estimated else ""
    narrow = width < NARROW
    cells = max(MIN_CELLS, min(CELLS, width - (30 if narrow else 40)))
    yield styled_line(
        f"{'component':<14} {'tokens':>8}" + ("" if narrow else f" {'budget':>9}"), "bold"
    )
    system, tools, messages = (
        usage.budget_status[name] for name in ("system", "tools", "messages")
    )
    parts = ((name, tokens) for name, tokens in usage.message_breakdown.items() if tokens)
    for name, tokens, limit, shown in (
        ("instructions", system.used, system.budget, f"{system.budget:,}"),
        ("tools", tools.used, tools.budget, f"{tools.budget:,}"),
        ("messages", messages.used, messages.budget, f"{messages.budget:,}"),
        *((f"  {part.replace('_', ' ')}", tokens, messages.budget, "") for part, tokens in parts),
        ("total", usage.total_tokens, usage.effective_limit, f"{usage.effective_limit:,}"),
    ):
        budget = "" if narrow else f" {shown:>9}"
        bar = BudgetBar(tokens, limit, cells)
        text = StyledSpan(f"{name:<14} {f'{mark}{tokens:,}':>8}{budget}  ")
        yield StyledLine((text, StyledSpan(bar.bar, bar.color), StyledSpan(f" {bar.percent:>4}")))


def _explanations(prompt: Prompt) -> Iterator[str]:
    """The window, what is above its budget and what to do about it, documents, and what is not
    sent: messages, memories, then tools.
    """
    usage = prompt.usage
    status = prompt.usage.budget_status
    source = f" ({usage.window_source})" if usage.window_source else ""
    yield (
        f"Context window: {usage.max_context:,} tokens{source}; at most "
        f"{usage.effective_limit:,} are sent. Strategy: {prompt.strategy}."
    )
    if prompt.retrieval is not None:
        yield f"Retrieval: {prompt.retrieval.mode} ({prompt.retrieval.reason})."
    spent = (
        f"{name.replace('_', ' ')} {tokens:,}"
        for name, tokens in usage.components.items()
        if tokens
    )
    yield f"Tokens spent on {', '.join(spent)}."
    if not usage.estimated:
        yield "Counted with the model's own tokenizer."
    else:
        yield (
            "~ estimated, calibrated with the usage that the provider has reported so far (× "
            f"{usage.calibration:.2f})"
        )
    for name, component, hint in (
        (
            "instructions",
            status["system"],
            "Use a larger window, or raise context.system_budget_ratio.",
        ),
        (
            "tools",
            status["tools"],
            "Offer fewer tools with an agent, or raise context.tool_budget_ratio.",
        ),
    ):
        if component.used > component.budget:
            left = f"{status['messages'].budget:,} are left for messages"
            yield f"{name} use {component.used:,} of {component.budget:,} tokens; {left}. {hint}"
    yield from _document_lines(prompt)
    for kind, many in (("message", "messages"), ("memory", "memories")):
        reasons = Counter(dropped.reason for dropped in prompt.dropped if dropped.kind == kind)
        if reasons:
            counts = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
            yield f"Not sent: {plural(reasons.total(), kind, many)} ({counts})"
    tools = [dropped for dropped in prompt.dropped if dropped.kind == "tool"]
    if tools:
        yield f"Tools not offered: {len(tools)} of {len(tools) + len(prompt.tools)}"
        yield from (f"  {dropped.id.removeprefix('tool:')}: {dropped.reason}" for dropped in tools)


def _largest_item_lines(
    prompt: Prompt, width: int, history: Sequence[ZkChatMessage], hints: CommandHints
) -> Iterator[StyledLine]:
    """The largest items with advice. The screen puts the advice below where there is no room beside
    it.
    """
    turns = accumulate(message.role == "user" for message in history)
    pinned = {
        message.id: turn for message, turn in zip(history, turns, strict=True) if message.pinned
    }
    items = []
    if prompt.tools:
        described = plural(len(prompt.tools), "tool description")
        items.append((prompt.usage.tool_tokens, described, "", f"{hints.agent} with fewer tools"))
    only_turn = sum(1 for m in prompt.messages if m.role == "user" and m.kind == "conversation") < 2
    for message in prompt.messages:
        if message.kind != "system":
            text = message.content or ", ".join(call.name for call in message.tool_calls)
            items.append(
                (
                    message.tokens,
                    message.kind.replace("_", " "),
                    text,
                    _advice(message, hints, pinned, only_turn=only_turn),
                )
            )
    if items:
        yield styled_line("Largest:")
    for tokens, kind, text, advice in sorted(items, key=lambda item: -item[0])[:MAX_ITEMS]:
        label = f"  {tokens:>6,}  {kind}"
        beside = width - len(label) - len(advice) - 6
        snippet = truncate(
            text, beside if beside >= MIN_SNIPPET else max(1, width - len(label) - 2)
        )
        right = (StyledSpan(f"({advice})", "dim"),) if advice else ()
        yield StyledLine(
            (StyledSpan(label + (f": {snippet}" if snippet else "")),), right, indent=10
        )


def _advice(
    message: PromptMessage, hints: CommandHints, pinned: Mapping[str, int], *, only_turn: bool
) -> str:
    """What makes a message smaller, if anything does. `only_turn`: there is no older turn that
    could be summarized.
    """
    if turns := [pinned[id_] for id_ in message.source_ids if id_ in pinned]:
        return hints.unpin.format(turns[0])
    match message.kind:
        case "memory":
            source = message.source_ids[0]
            key = source.removeprefix("fact:")
            return (
                hints.forget.format(key)
                if key != source
                else f"shorten {source}, or set context.memory_integration = false"
            )
        case "summary":
            return "a lower context.summary_ratio shortens the next summary"
        case "documents":
            return ("" if only_turn else f"{hints.compact}, or ") + "name [[Note#Heading]]"
        case "recalled":
            return "passages of earlier turns; the strategy summarize sends none"
    return "" if only_turn else hints.compact


def overview_lines(prompt: Prompt) -> Iterator[str]:
    """What a prompt is made of, in a few lines (`ask --show-context`)."""
    usage = prompt.usage
    mark = "~" if usage.estimated else ""
    yield (
        f"Context: {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, strategy "
        f"{prompt.strategy}"
    )
    yield f"  - tools: {len(prompt.tools)} ({mark}{short_count(usage.tool_tokens)} tokens)"
    for kind in dict.fromkeys(message.kind for message in prompt.messages):
        of_kind = [message for message in prompt.messages if message.kind == kind]
        names = ", ".join(truncate(id_, 60) for message in of_kind for id_ in message.source_ids)
        count = (
            sum(len(message.source_ids) for message in of_kind)
            if kind == "recalled"
            else len(of_kind)
        )
        what = names if kind == "memory" else plural(count, "message")
        tokens = short_count(sum(message.tokens for message in of_kind))
        yield f"  - {kind.replace('_', ' ')}: {what} ({mark}{tokens} tokens)"
        if kind == "recalled":
            yield from (
                f"      {truncate(line, WIDTH)}"
                for message in of_kind
                for line in _PASSAGE.findall(message.content)
            )
    yield from _document_lines(prompt)


def _document_lines(prompt: Prompt) -> list[str]:
    sent = sent_source_numbers(prompt)
    lines = []
    for each in prompt.documents:
        path = (
            f"{each.relative_path} (deleted since)"
            if each.relative_path in prompt.deleted
            else each.relative_path
        )
        if each.delivery and sent.issuperset(each.numbers):
            lines.append(
                f"  {_DELIVERY[each.delivery]:<11} {each.wikilink}  {path}: {each.delivery_reason}"
            )
        elif each.delivery:
            lines.append(
                f"  {'not now':<11} {each.wikilink}  {path}: its text was in an earlier prompt"
            )
    return ["Documents:", *lines] if lines else []


def prompt_text(prompt: Prompt) -> str:
    """Every message under a line with its role, kind and tokens; then the tools, what was decided
    about documents, and what is not sent.
    """
    lines = []
    for message in prompt.messages:
        lines.append(
            f"── {message.role} · {message.kind.replace('_', ' ')} · {message.tokens:,} tokens"
        )
        if message.content:
            lines.append(message.content)
        lines += [
            f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})"
            for call in message.tool_calls
        ]
        lines.append("")
    for tool in prompt.tools:
        lines += [
            f"── tool {tool.name} · {tool.tokens:,} tokens",
            tool.descriptor["function"]["description"],
        ]
    if prompt.retrieval is not None:
        lines.append(f"Retrieval: {prompt.retrieval.mode} ({prompt.retrieval.reason}).")
    lines += _document_lines(prompt)
    lines += [
        f"not sent: {dropped.id} ({dropped.reason})" for dropped in prompt.dropped[:MOST_DROPPED]
    ]
    if len(prompt.dropped) > MOST_DROPPED:
        lines.append(f"not sent: {len(prompt.dropped) - MOST_DROPPED} more; --json names them")
    return "\n".join(lines)


def sent_prompts_text(turn: SentPrompts) -> str:
    """What the calls of a turn were sent."""
    texts = []
    for sent in turn.calls:
        tokens = f"{sent.prompt.usage.total_tokens:,} tokens"
        if sent.usage is not None:
            tokens += (
                f" ({sent.usage.prompt_tokens:,} reported, {sent.usage.completion_tokens:,} "
                "answered)"
            )
        heading = (
            f"══ turn {turn.number} · call {sent.call} of {len(turn.calls)} · {sent.model} · "
            f"{tokens}"
        )
        texts.append(f"{heading}\n\n{prompt_text(sent.prompt)}")
    return "\n\n".join(texts)


def prompt_diff_text(a: SentPrompts, b: SentPrompts, found: PromptDiff) -> str:
    """What the prompt of turn `b` had that the one of `a` had not, and what it had lost."""
    lines = [
        f"turn {a.number}: {a.tokens:,} tokens; turn {b.number}: {b.tokens:,} "
        f"({b.tokens - a.tokens:+,d})"
    ]
    for sign, messages in (("+", [(message, "") for message in found.added]), ("-", found.removed)):
        for message, why in messages:
            content = (
                truncate(message.content, MAX_CONTENT)
                or f"calls {', '.join(call.name for call in message.tool_calls)}"
            )
            figures = (
                f"{message.role} · {message.kind.replace('_', ' ')} · {message.tokens:,} tokens"
            )
            lines.append(f"{sign} {figures} · {content}" + (f" ({why})" if why else ""))
    lines += [f"+ tool {name}" for name in found.tools_added] + [
        f"- tool {name}" for name in found.tools_removed
    ]
    return "\n".join(lines if len(lines) > 1 else [*lines, "The same was sent."])
