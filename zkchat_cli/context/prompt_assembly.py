"""Assembly of the prompt: one pure function from the log to what the model gets, the same for a call and for `context show`.

The order keeps the front byte for byte the same from turn to turn, so that a provider's prompt cache hits: instructions, memory, summary,
recent turns; then what belongs to this message alone (recalled turns, smart memory); then the message itself, after the documents it
names, with what its tools have found so far.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zkchat_cli.context import tool_filter
from zkchat_cli.context.budget import MESSAGE_OVERHEAD, Budget, compaction_due, history_budget, measure_usage, remaining_message_budget
from zkchat_cli.context.recall.index import RecallIndex, format_passages
from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turn_history import TurnHistory
from zkchat_cli.context.turns import Turn, render_turn
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import (
    Compaction,
    CompactionDue,
    ContextUsage,
    DocumentReference,
    Dropped,
    Prompt,
    PromptMessage,
    PromptTool,
    ZkChatMessage,
)
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """All a prompt is made of. `history` holds the branch's finished turns; `current` the turn in progress.

    `memory` goes into every prompt, `smart` is what bears on this message. Tools are `filtered` where they are too much; `offered` names
    those that the last prompt had, which stay while there is room.
    """

    instructions: str
    history: Sequence[Turn]
    current: tuple[ZkChatMessage, ...] = ()
    memory: tuple[MemoryItem, ...] = ()
    contextual_memory: tuple[MemoryItem, ...] = ()
    compaction: Compaction | None = None
    tool_descriptors: tuple[dict[str, Any], ...] = ()
    filter_tools: bool = False
    previous_tools: frozenset[str] = frozenset()
    recall_index: RecallIndex | None = None
    """What recall knows of the history so far, to be kept from prompt to prompt; without one it is made anew."""


def assemble_prompt(material: PromptInputs, budget: Budget, strategy: Strategy, counter: TokenCounter, *, explain: bool = True) -> Prompt:
    """What the next model call sends, within the effective limit. Same material, same prompt, to the byte.

    `dropped` names the messages that are left out only when asked to `explain`: in a long conversation that is thousands with each call.

    Instructions, tools, memory, what is pinned or instructed, and the turn in progress are always sent, and the summary unless it alone is
    too much; the history gets what is left of the messages' budget (see `room_for_history`). Raises PromptTooLarge, naming the largest
    items, when the first alone are over the limit.
    """
    parts = _lay_out(material, budget, strategy, counter)
    kept = parts.fixed_recent
    wanted = before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit and parts.smart:
        parts = replace(parts, smart=())
        before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit and parts.summary:  # a smaller window than the one the summary was made for
        parts = replace(parts, summary=())
        before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit:  # nor may a smaller window have room for the documents named
        parts = replace(parts, current=render_turn(material.current, counter, thinking=True, documents=False))
        before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit:
        raise _too_large(before, parts, kept)
    asked = next((m for m in material.current if m.role == "user"), None)
    offer = HistoryWindow(
        parts.history,
        parts.folded,
        parts.recent,
        asked.prompt_text if asked else "",
        _room(before, parts, budget),
        counter,
        asked_at=asked.timestamp if asked else "",
        index=material.recall_index or RecallIndex(),
        recent_tokens=parts.recent_tokens,
        fixed_tokens=parts.fixed_recent,
        drop_batch=budget.drop_batch,
    )
    choice, recalled = _fitted(strategy.choose(offer), offer)
    first_kept = choice.turns[0].number if choice.turns else None
    left = (turn for turn in parts.fixed_turns if first_kept is None or turn.number < first_kept)
    history = (*(m for turn in left for m in turn.fixed), *(m for turn in choice.turns for m in turn.prompt), *recalled)
    messages = (*parts.head, *parts.summary, *parts.fixed, *history, *parts.smart, *parts.current)
    compaction = _due(wanted, parts.recent_tokens, strategy, budget)
    return Prompt(
        messages=messages,
        tools=parts.tools,
        usage=measure_usage(messages, parts.tools, budget, estimated=counter.estimated, calibration=counter.factor, compaction=compaction),
        dropped=(*((*_dropped(parts, choice), *_unsayable(material, choice, messages)) if explain else ()), *_left_out(material, parts)),
        documents=_documents((*(m for turn in choice.turns for m in turn.messages), *material.current)) if explain else (),
        strategy=strategy.name,
    )


def count_uncompacted_tokens(material: PromptInputs, budget: Budget, strategy: Strategy, counter: TokenCounter) -> int:
    """Tokens of the prompt as it would be if every turn that no summary covers were sent: what a compaction is judged by.

    The prompt itself will not do: made to fit, it may be as large after a compaction that was badly needed as before.
    """
    parts = _lay_out(material, budget, strategy, counter)
    return parts.measure(budget, counter).total_tokens + parts.recent_tokens


@dataclass(frozen=True, slots=True)
class _Parts:
    """The material rendered: the turns, of which the summary covers the first `folded` that can be sent, and those after it; and what is
    sent always.

    Something is pinned or instructed in `fixed_before`, turns that failed or are covered, and in `fixed_turns`, those after the summary.
    """

    filtered: tool_filter.FilteredTools
    head: tuple[PromptMessage, ...]
    summary: tuple[PromptMessage, ...]
    smart: tuple[PromptMessage, ...]
    fixed_before: tuple[Turn, ...]
    fixed_turns: tuple[Turn, ...]
    current: tuple[PromptMessage, ...]
    history: TurnHistory
    folded: int
    recent: tuple[Turn, ...]
    recent_tokens: int

    @property
    def tools(self) -> tuple[PromptTool, ...]:
        return self.filtered.tools

    @property
    def fixed(self) -> tuple[PromptMessage, ...]:
        return tuple(m for turn in self.fixed_before for m in turn.fixed)

    @property
    def always(self) -> tuple[PromptMessage, ...]:
        return (*self.head, *self.summary, *self.fixed, *self.smart, *self.current)

    @property
    def fixed_recent(self) -> int:
        """Tokens that the turns after the summary take at the least."""
        return sum(turn.fixed_tokens for turn in self.fixed_turns)

    def measure(self, budget: Budget, counter: TokenCounter) -> ContextUsage:
        return measure_usage(self.always, self.tools, budget, estimated=counter.estimated)


def _lay_out(material: PromptInputs, budget: Budget, strategy: Strategy, counter: TokenCounter) -> _Parts:
    history = TurnHistory.from_turns(material.history)
    border, fixed = 0, history.turns_with_fixed()
    if material.compaction and material.compaction.summary and strategy.summarizes:
        border = history.count_through(material.compaction.last_id)
    return _Parts(
        filtered=_tools(material, history, budget, counter),
        head=(_fixed(material.instructions, "system", "system", counter), *(_memory(item, counter) for item in material.memory)),
        summary=_summary(material.compaction, strategy, counter),
        smart=_smart(material.contextual_memory, counter),
        fixed_before=tuple(turn for place, turn in fixed if place < border or turn.failed),
        fixed_turns=tuple(turn for place, turn in fixed if place >= border and not turn.failed),
        current=render_turn(material.current, counter, thinking=True),
        history=history,
        folded=history.count_sendable(border),
        recent=history.sendable_turns(border),
        recent_tokens=history.tokens(border),
    )


def _room(before: ContextUsage, parts: _Parts, budget: Budget) -> int:
    """Tokens for earlier turns. The newest is sent whatever share it takes, if it can be: the next question is most likely about it."""
    room, left = history_budget(before, budget), remaining_message_budget(before)
    newest = parts.recent[-1].foldable_tokens + parts.fixed_recent if parts.recent else 0
    return max(room, newest) if newest <= left else room


def _tools(material: PromptInputs, history: TurnHistory, budget: Budget, counter: TokenCounter) -> tool_filter.FilteredTools:
    described = tuple(_describe(descriptor, counter) for descriptor in material.tool_descriptors)
    if not material.filter_tools:
        return tool_filter.FilteredTools(described)
    called = {call.name for message in material.current for call in message.tool_calls}
    recent = ["\n".join(m.content for m in turn.messages if m.role != "tool") for turn in history[-tool_filter.RECENT :]]
    talk = tool_filter.ToolRelevanceInput(_question(material), recent, history.called_tools | called, material.previous_tools)
    return tool_filter.select_tools(described, talk, budget.tools, budget.max_context)


def _question(material: PromptInputs) -> str:
    return next((m.prompt_text for m in material.current if m.role == "user"), "")


def count_covered_turns(compaction: Compaction, turns: Sequence[Turn]) -> int:
    """How many turns, from the first, a compaction's summary stands for. Looked for from the end, where it is."""
    for border in range(len(turns), 0, -1):
        if any(message.id == compaction.last_id for message in turns[border - 1].messages):
            return border
    return 0


def _fitted(choice: Selection, offer: HistoryWindow) -> tuple[Selection, tuple[PromptMessage, ...]]:
    """The choice with fewer quotations where they take more than was thought (the oldest give way), and those as a message."""
    room = offer.budget - sum(turn.tokens for turn in choice.turns) - offer.other_fixed_tokens(choice.turns)
    while True:
        recalled = _recalled(choice, offer.counter)
        over = sum(m.tokens for m in recalled) - room
        if over <= 0 or not recalled:
            return choice, recalled
        going = 0
        while going < len(choice.passages) and over > 0:
            over -= choice.passages[going].count_tokens(offer.counter)
            going += 1
        choice = replace(choice, passages=choice.passages[going:])


def _due(always: ContextUsage, history: int, strategy: Strategy, budget: Budget) -> CompactionDue:
    """Judged by what the conversation would send if it could, not by what was made to fit."""
    if not strategy.summarizes:
        return CompactionDue(due=False)
    allowed = always.message_tokens + history_budget(always, budget)
    if history:  # a summary of a larger window's may take more than all messages may
        allowed = min(allowed, always.budget_status.messages.budget)
    return compaction_due(always.message_tokens + history, always.total_tokens + history, budget, allowed)


def _describe(descriptor: dict[str, Any], counter: TokenCounter) -> PromptTool:
    tokens = counter.count(json.dumps(descriptor, ensure_ascii=False))
    return PromptTool(name=descriptor["function"]["name"], descriptor=descriptor, tokens=tokens)


def _fixed(text: str, kind: str, role: str, counter: TokenCounter, source_ids: tuple[str, ...] = ()) -> PromptMessage:
    tokens = counter.count(text) + MESSAGE_OVERHEAD
    return PromptMessage.model_validate({"role": role, "content": text, "tokens": tokens, "kind": kind, "source_ids": source_ids})


def fence(tag: str, text: str, about: str = "") -> str:
    """Text that is data, between tags it cannot close itself."""
    harmless = re.sub(rf"<\s*/\s*(?={tag})", r"<\\/", text, flags=re.IGNORECASE)
    return f"<{tag}{about}>\n{harmless}\n</{tag}>"


def _memory(item: MemoryItem, counter: TokenCounter) -> PromptMessage:
    tag, about = (
        ("agent-memory", f"agent={_quoted(item.key)}")
        if item.kind == "agent"
        else ("project-memory", f"path={_quoted(item.relative_path)}")
    )
    return _fixed(fence(tag, item.content, f" {about}"), "memory", "system", counter, (_source(item),))


def _quoted(name: str | None) -> str:
    return json.dumps(name, ensure_ascii=False)


def _smart(items: Sequence[MemoryItem], counter: TokenCounter) -> tuple[PromptMessage, ...]:
    """Memory that comes with this message alone: a message for each file, one for all that was remembered. None of it is the system's,
    which some providers take to the front, where it would change with every turn."""
    files = [_memory(item, counter).model_copy(update={"role": "user"}) for item in items if item.kind == "file"]
    remembered = [item for item in items if item.kind != "file"]
    if not remembered:
        return tuple(files)
    text = fence("smart-memory", "\n".join(item.content for item in remembered))
    ids = tuple(map(_source, remembered))
    return (*files, _fixed(text, "memory", "user", counter, ids))


def _source(item: MemoryItem) -> str:
    return item.relative_path or f"{item.kind}:{item.key}"


def _summary(compaction: Compaction | None, strategy: Strategy, counter: TokenCounter) -> tuple[PromptMessage, ...]:
    if compaction is None or not strategy.summarizes or not compaction.summary:
        return ()
    return (_fixed(format_summary(compaction.summary), "summary", "user", counter, (compaction.id,)),)


def format_summary(summary: str) -> str:
    """A summary as the model gets it."""
    return fence("conversation-summary", summary)


def _recalled(choice: Selection, counter: TokenCounter) -> tuple[PromptMessage, ...]:
    if not choice.passages:
        return ()
    text = fence("recalled-conversation", format_passages(choice.passages))
    return (_fixed(text, "conversation", "user", counter, tuple(dict.fromkeys(p.message.id for p in choice.passages))),)


def _documents(messages: Sequence[ZkChatMessage]) -> tuple[DocumentReference, ...]:
    """What the messages name, each once, as it was delivered last."""
    found = {(r.relative_path or r.wikilink, r.heading): r for m in messages if m.role == "user" for r in m.references}
    return tuple(found.values())


def _dropped(parts: _Parts, choice: Selection) -> list[Dropped]:
    sent = {turn.id for turn in choice.turns}
    recalled = {passage.message.id for passage in choice.passages}
    reasons = [(turn, "the model call failed") for turn in parts.history.failed_turns]
    folded = "in the summary" if parts.summary else "no room, nor for the summary"
    reasons += [(turn, folded) for turn in parts.history.sendable_turns()[: parts.folded]]
    reasons += [(turn, "no room") for turn in parts.recent if turn.id not in sent]
    return [
        Dropped(id=message.id, reason=f"{reason}; quoted because it bears on the message" if message.id in recalled else reason)
        for turn, reason in reasons
        for fixed in [{id_ for m in turn.fixed for id_ in m.source_ids}]
        for message in turn.messages
        if message.id not in fixed
    ]


def _unsayable(material: PromptInputs, choice: Selection, messages: Sequence[PromptMessage]) -> list[Dropped]:
    """Messages of turns that are sent which no provider would take: only an import or a stopped turn has them."""
    sent = {id_ for message in messages for id_ in message.source_ids}
    there = (*(m for turn in choice.turns for m in turn.messages), *material.current)
    return [
        Dropped(id=m.id, reason="a tool result without its call" if m.role == "tool" else "it says nothing")
        for m in there
        if m.id not in sent
    ]


def _left_out(material: PromptInputs, parts: _Parts) -> list[Dropped]:
    """Tools that the filter left out, as `tool:NAME`, and what was remembered but has no room."""
    sent = {id_ for message in parts.smart for id_ in message.source_ids}
    return [
        *(Dropped(id=f"tool:{name}", reason=reason) for name, reason in parts.filtered.omitted),
        *(Dropped(id=_source(item), reason="no room") for item in material.contextual_memory if _source(item) not in sent),
    ]


def _too_large(usage: ContextUsage, parts: _Parts, kept: int) -> PromptTooLarge:
    """What is fixed is named with the turn it stands in, since that can be undone."""
    fixed = [(turn.fixed_tokens, turn.number) for turn in (*parts.fixed_before, *parts.fixed_turns)]
    items = [(m.tokens, f"{m.kind.replace('_', ' ')} “{truncate(m.content, 40)}”") for m in (*parts.head, *parts.summary, *parts.current)]
    items.append((usage.tool_tokens, f"{len(parts.tools)} tool descriptions"))
    items += [(tokens, f"kept of turn {number} (/unpin {number})") for tokens, number in fixed]
    largest = ", ".join(f"{name}: {tokens}" for tokens, name in sorted(items, reverse=True)[:3])
    remedy = "Shorten the message, or raise context.max_tokens if the model has a larger window."
    if fixed:
        unpin = f"Take back what is kept in every prompt, in the chat by /unpin {max(fixed)[1]} first; /pin lists it."
        remedy = f"{unpin} Or: {remedy[0].lower()}{remedy[1:]}"
    return PromptTooLarge(
        f"what must be sent takes {usage.total_tokens + kept} tokens; "
        f"the limit is {usage.effective_limit} of a window of {usage.max_context}",
        f"Largest: {largest}. {remedy}",
    )
