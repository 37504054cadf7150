"""The figures of a prompt as a table with bars: the same text for `context stats` and `/context`, for a screen of any width.

What is too long for a line goes on below it, so that nothing is cut that says what to do.
"""

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from zkchat_cli.chat.command_hints import IN_CHAT, CommandHints
from zkchat_cli.context.budget import budget_warnings
from zkchat_cli.context.compaction_policy import SummaryCoverage
from zkchat_cli.context.tool_filter import CORE
from zkchat_cli.models import Compaction, ContextUsage, Prompt, PromptMessage, ZkChatMessage
from zkchat_cli.text.truncate import truncate

BAR_CELLS = 20
LEAST_CELLS = 4
WIDTH = 80
NARROW = 60
"""Columns below which the column of budgets gives way to the bars."""
LARGEST = 10
LEAST_SNIPPET = 12
TOOL = "tool:"
"""What stands before the name of a tool that is left out, among the messages that are."""
_DELIVERED = {"injected": "whole", "partly": "in part", "offered": "to be read"}


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """A bar of `cells` characters, filled to `share` (0 to 1); anything at all fills a cell."""
    filled = min(cells, max(1 if share > 0 else 0, round(share * cells)))
    return "█" * filled + "░" * (cells - filled)


def thousands(tokens: int) -> str:
    """`812`, `12.1k`, `128k`: short enough for a toolbar."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens / 1000:.0f}k"


@dataclass(frozen=True, slots=True)
class _Item:
    """Something in a prompt that takes tokens, and what would make it take fewer."""

    tokens: int
    kind: str
    text: str
    advice: str


def table(
    prompt: Prompt,
    width: int = WIDTH,
    pinned: Mapping[str, int] = MappingProxyType({}),
    ways: CommandHints = IN_CHAT,
    *,
    filtered: bool = True,
) -> str:
    """Tokens per component against its budget, the largest items with what to do about each, what was left out, and whether compaction is
    due, in lines of at most `width` columns (40 or more). `pinned` is what `pinned` says of the conversation, `filtered`
    whether tools beyond their budget are left out."""
    usage = prompt.usage
    lines = [*_components(usage, width), ""]
    for each in (*_facts(prompt), *(f"{what}. {hint}" for what, hint in budget_warnings(usage, filtered=filtered).values())):
        lines += _wrapped(each, width)
    for each in (*documents(prompt), *left_out(prompt)):
        lines += _wrapped(each, width)
    lines += _largest(_items(prompt, _Advice(ways, pinned, filtered)), width)
    lines += _wrapped(_compaction(prompt), width)
    return "\n".join(lines)


def pinned(history: Iterable[ZkChatMessage]) -> dict[str, int]:
    """The turns of the pinned messages, by the messages' ids: how many of the user's messages there have been, as `/unpin` counts."""
    found, turn = {}, 0
    for message in history:
        turn += message.role == "user"
        if message.pinned:
            found[message.id] = turn
    return found


def _components(usage: ContextUsage, width: int) -> Iterator[str]:
    mark = "~" if usage.estimated else ""
    narrow = width < NARROW
    cells = max(LEAST_CELLS, min(BAR_CELLS, width - (30 if narrow else 40)))

    def row(name: str, tokens: int, of: int, *, budgeted: bool = True) -> str:
        share = tokens / of if of else float(tokens > 0)
        budget = "" if narrow else f" {of if budgeted else '':>8}"
        return f"{name:<14} {mark + str(tokens):>8}{budget}  {bar(share, cells)} {min(share, 9.99):4.0%}"

    yield f"{'component':<14} {'tokens':>8}" + ("" if narrow else f" {'budget':>8}")
    status = usage.budget_status
    yield row("instructions", status.system.used, status.system.budget)
    yield row("tools", status.tools.used, status.tools.budget)
    yield row("messages", status.messages.used, status.messages.budget)
    for part, tokens in usage.message_breakdown.model_dump().items():
        if tokens:
            yield row(f"  {part.replace('_', ' ')}", tokens, status.messages.budget, budgeted=False)
    yield row("total", usage.total_tokens, usage.effective_limit)


def _facts(prompt: Prompt) -> Iterator[str]:
    usage = prompt.usage
    source = f" ({usage.window_source})" if usage.window_source else ""
    yield f"window {usage.max_context}{source}, at most {usage.effective_limit} are sent; strategy {prompt.strategy}"
    parts = {name.replace("_", " "): tokens for name, tokens in usage.components.model_dump().items() if tokens}
    yield "spent on " + ", ".join(f"{name} {tokens}" for name, tokens in parts.items())
    if not usage.estimated:
        yield "counted with the model's own vocabulary"
    elif usage.calibration != 1:
        yield f"~ estimated, calibrated by what the provider reported (× {usage.calibration:.2f})"
    else:
        yield "~ estimated: the provider has reported no figures yet"


def left_out(prompt: Prompt) -> Iterator[str]:
    """What of the conversation and of the tools was not sent, a line each: messages by the reason, tools by their names."""
    messages = Counter(dropped.reason for dropped in prompt.dropped if not dropped.id.startswith(TOOL))
    if messages:
        reasons = ", ".join(f"{count} {reason}" for reason, count in messages.items())
        yield f"not sent: {sum(messages.values())} messages ({reasons})"
    tools = [dropped for dropped in prompt.dropped if dropped.id.startswith(TOOL)]
    if tools:
        yield f"tools left out: {len(tools)} of {len(tools) + len(prompt.tools)}"
        yield from (f"  {dropped.id.removeprefix(TOOL)}: {dropped.reason}" for dropped in tools)


def _compaction(prompt: Prompt) -> str:
    due = prompt.usage.compaction
    if due.due:
        return f"compaction is due: {due.reason}"
    if due.at is None:
        return f"compaction is not due: with the strategy {prompt.strategy} the oldest turns are left out instead"
    return f"compaction is not due before {due.at} tokens: {max(0, due.at - prompt.usage.total_tokens)} to go"


def _wrapped(text: str, width: int) -> list[str]:
    """A line, going on below where it is too long."""
    if columns(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    wide = 2 if columns(text) > len(text) else 1
    return textwrap.wrap(text, width // wide, subsequent_indent=indent, break_on_hyphens=False) or [text]


def columns(text: str) -> int:
    """How many columns a text takes on a screen."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def documents(prompt: Prompt) -> list[str]:
    """The documents that messages name: which are in the prompt, which the model is to read, and why."""
    found = [r for r in prompt.documents if r.delivery]
    lines = [f"  {_DELIVERED[r.delivery]:<11} {r.wikilink}  {r.relative_path}: {r.delivery_reason}" for r in found if r.delivery]
    return ["documents:", *lines] if lines else []


def _largest(all_items: Iterable[_Item], width: int) -> Iterator[str]:
    """The largest items with what is to be done about each: below it, where there is no room beside it."""
    items = sorted(all_items, key=lambda item: -item.tokens)[:LARGEST]
    if items:
        yield "largest:"
    for item in items:
        label = f"  {item.tokens:>6}  {item.kind}"
        advice = f"  ({item.advice})" if item.advice else ""
        room = width - columns(label) - 2 - columns(advice)
        beside = room >= LEAST_SNIPPET
        snippet = _snippet(item.text, room if beside else width - columns(label) - 2)
        yield label + (f": {snippet}" if snippet else "") + (advice if beside else "")
        if advice and not beside:
            yield from textwrap.wrap(item.advice, width, initial_indent=" " * 10, subsequent_indent=" " * 10)


def _snippet(text: str, room: int) -> str:
    """The beginning of a text in so many columns."""
    snippet = truncate(text, room) if room > 0 else ""
    while columns(snippet) > room and len(snippet) > 1:
        snippet = truncate(snippet, max(1, len(snippet) - max(1, (columns(snippet) - room) // 2)))
    return snippet


@dataclass(frozen=True, slots=True)
class _Advice:
    """What is to be done about what is large; the fields are what `table` takes."""

    ways: CommandHints
    pinned: Mapping[str, int]
    filtered: bool

    def on_tools(self, prompt: Prompt) -> str:
        """Core tools are always offered; the others the filter leaves out where they are too much, and an agent does without for good."""
        if all(tool.name in CORE for tool in prompt.tools):
            return ""
        share = prompt.usage.budget_status.tools
        if share.used > share.budget and not self.filtered:
            return 'context.tool_filter = "auto" leaves out some'
        return f"an agent may have fewer: {self.ways.agent}"

    def on(self, message: PromptMessage, *, alone: bool) -> str:
        """`alone`: there is only one turn, so nothing that could be folded."""
        ways = self.ways
        if numbers := [self.pinned[id_] for id_ in message.source_ids if id_ in self.pinned]:
            return ways.unpin.format(numbers[0])
        if message.kind == "memory":
            of = message.source_ids[0]
            fact = of.removeprefix("fact:")
            return ways.forget.format(fact) if fact != of else f"shorten {of}, or set context.memory_integration = false"
        if message.kind == "summary":
            return f"lower context.summary_ratio; {ways.afresh} starts without it"
        if alone:
            return f"{ways.afresh} starts without it"
        if message.kind == "documents":
            return f"{ways.compact}; name fewer documents at once"
        return f"{ways.compact} folds {'old results' if message.kind == 'tool_results' else 'older turns'}"


def _items(prompt: Prompt, advice: _Advice) -> Iterator[_Item]:
    if prompt.tools:
        count = f"{len(prompt.tools)} tool descriptions"
        yield _Item(prompt.usage.tool_tokens, count, "", advice.on_tools(prompt))
    alone = sum(1 for m in prompt.messages if m.role == "user" and m.kind == "conversation") < 2
    for message in prompt.messages:
        if message.kind != "system":
            text = message.content or ", ".join(call.name for call in message.tool_calls)
            yield _Item(message.tokens, message.kind.replace("_", " "), text, advice.on(message, alone=alone))


def state(usage: ContextUsage) -> str:
    """The colour of a budget: green below 70 %, yellow below 90 %, red from there."""
    share = usage.total_tokens / usage.effective_limit
    return "green" if share < 0.7 else "yellow" if share < 0.9 else "red"


def describe(compaction: Compaction, ways: CommandHints = IN_CHAT) -> str:
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
        f"{problem} Nothing is deleted; {'nothing was changed' if would else f'{ways.undo} takes it back'}."
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


def standing(compaction: Compaction, covers: SummaryCoverage) -> str:
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


def saved(compaction: Compaction, ways: CommandHints = IN_CHAT) -> str:
    """What a compaction did, in one line."""
    done = []
    if compaction.messages_folded:
        how = "left out" if compaction.mode == "truncated" else f"folded into a summary{_made(compaction)}"
        done.append(f"{compaction.messages_folded} messages {how}")
    if compaction.results_masked:
        done.append(f"{compaction.results_masked} old results shortened")
    if not done:
        return f"nothing could be made smaller{'; ' + compaction.problem if compaction.problem else ''}"
    failed = f"; the model's summary failed: {compaction.problem}" if compaction.problem else ""
    undone = f"; {ways.undo} takes it back" if ways.undo else ""
    return f"{', '.join(done)}, {compaction.tokens_before - compaction.tokens_after} tokens saved{failed}{undone}"
