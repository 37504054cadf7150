"""Assembly of the prompt: one pure function from the log to what the model gets, the same for a call and for `context show`.

The order keeps the front byte for byte the same from turn to turn, so that a provider's prompt cache hits: instructions, memory, summary,
recent turns; then what belongs to this message alone (recalled turns); then the message itself with what its tools have found so far.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zkchat_cli.context.budget import MESSAGE_OVERHEAD, Budget, due, measure
from zkchat_cli.context.recall import RecallIndex, quote
from zkchat_cli.context.strategies import Choice, Offer, Strategy
from zkchat_cli.context.turns import Turn, render
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
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.words import shorten


@dataclass(frozen=True, slots=True)
class Material:
    """All a prompt is made of. `history` holds the branch's finished turns; `current` the turn in progress."""

    instructions: str
    history: tuple[Turn, ...]
    current: tuple[ZkChatMessage, ...] = ()
    memory: tuple[MemoryItem, ...] = ()
    smart: tuple[MemoryItem, ...] = ()
    compaction: Compaction | None = None
    descriptors: tuple[dict[str, Any], ...] = ()
    index: RecallIndex | None = None
    """What recall knows of the history so far, to be kept from prompt to prompt; without one it is made anew."""


def assemble(material: Material, budget: Budget, strategy: Strategy, counter: TokenCounter, *, explain: bool = True) -> Prompt:
    """What the next model call sends, within the effective limit. Same material, same prompt, to the byte.

    `dropped` names what is left out only when asked to `explain`: in a long conversation that is thousands of messages with each call.

    Instructions, tools, memory, what is pinned or instructed, and the turn in progress are always sent, and the summary unless it alone is
    too much; the history gets what is left of the messages' budget. Raises PromptTooLarge, naming the largest items, when the first alone
    are over the limit.
    """
    parts = _lay_out(material, strategy, counter)
    wanted = parts.measure(budget, counter)
    kept = parts.fixed_recent
    if wanted.total_tokens + kept > budget.effective_limit:  # a smaller window than the one the summary was made for
        parts = replace(parts, summary=())
    before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit:  # nor may a smaller window have room for what was remembered
        parts = replace(parts, smart=())
        before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit:  # nor for the documents named
        parts = replace(parts, current=render(material.current, counter, thinking=True, documents=False))
        before = parts.measure(budget, counter)
    if before.total_tokens + kept > budget.effective_limit:
        raise _too_large(before, parts, kept)
    room = max(0, min(budget.messages - before.message_tokens, budget.effective_limit - before.total_tokens))
    asked = next((m for m in material.current if m.role == "user"), None)
    offer = Offer(
        parts.recent,
        parts.folded,
        asked.content if asked else "",
        room,
        counter,
        asked_at=asked.timestamp if asked else "",
        index=material.index or RecallIndex(),
    )
    choice = _fitted(strategy.choose(offer), offer)
    left = parts.recent[: len(parts.recent) - len(choice.kept)]
    history = (*(m for turn in left for m in turn.fixed), *(m for turn in choice.kept for m in turn.prompt), *_recalled(choice, counter))
    messages = (*parts.head, *parts.summary, *parts.fixed, *history, *parts.smart, *parts.current)
    return Prompt(
        messages=messages,
        tools=parts.tools,
        usage=measure(messages, parts.tools, budget, estimated=counter.estimated, compaction=_due(wanted, parts.recent, strategy, budget)),
        dropped=tuple(_dropped(parts, choice)) if explain else (),
        documents=_documents((*(m for turn in choice.kept for m in turn.messages), *material.current)) if explain else (),
        strategy=strategy.name,
    )


def whole(material: Material, budget: Budget, strategy: Strategy, counter: TokenCounter) -> int:
    """Tokens of the prompt as it would be if every turn that no summary covers were sent: what a compaction is judged by.

    The prompt itself will not do: made to fit, it may be as large after a compaction that was badly needed as before.
    """
    parts = _lay_out(material, strategy, counter)
    return parts.measure(budget, counter).total_tokens + sum(turn.tokens for turn in parts.recent)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The material rendered: turns that failed (never sent), those the summary covers, those after it; and what is sent always.

    `fixed` is what is pinned or instructed in turns that failed or are covered.
    """

    tools: tuple[PromptTool, ...]
    head: tuple[PromptMessage, ...]
    summary: tuple[PromptMessage, ...]
    smart: tuple[PromptMessage, ...]
    fixed: tuple[PromptMessage, ...]
    current: tuple[PromptMessage, ...]
    failed: tuple[Turn, ...]
    folded: tuple[Turn, ...]
    recent: tuple[Turn, ...]

    @property
    def always(self) -> tuple[PromptMessage, ...]:
        return (*self.head, *self.summary, *self.fixed, *self.smart, *self.current)

    @property
    def fixed_recent(self) -> int:
        """Tokens that the turns after the summary take at the least."""
        return sum(turn.fixed_tokens for turn in self.recent if turn.fixed)

    def measure(self, budget: Budget, counter: TokenCounter) -> ContextUsage:
        return measure(self.always, self.tools, budget, estimated=counter.estimated)


def _lay_out(material: Material, strategy: Strategy, counter: TokenCounter) -> _Parts:
    turns = material.history
    border = 0
    if material.compaction and material.compaction.summary and strategy.summarizes:
        border = covered_by(material.compaction, turns)
    return _Parts(
        tools=tuple(_describe(descriptor, counter) for descriptor in material.descriptors),
        head=(_fixed(material.instructions, "system", "system", counter), *(_memory(item, counter) for item in material.memory)),
        summary=_summary(material.compaction, strategy, counter),
        smart=_smart(material.smart, counter),
        fixed=tuple(m for position, turn in enumerate(turns) if turn.fixed and (position < border or turn.failed) for m in turn.fixed),
        current=render(material.current, counter, thinking=True),
        failed=tuple(turn for turn in turns if turn.failed),
        folded=tuple(turn for turn in turns[:border] if not turn.failed),
        recent=tuple(turn for turn in turns[border:] if not turn.failed),
    )


def covered_by(compaction: Compaction, turns: Sequence[Turn]) -> int:
    """How many turns, from the first, a compaction's summary stands for. Looked for from the end, where it is."""
    for border in range(len(turns), 0, -1):
        if any(message.id == compaction.last_id for message in turns[border - 1].messages):
            return border
    return 0


def _fitted(choice: Choice, offer: Offer) -> Choice:
    """The choice with fewer quotations where they take more than was thought: the oldest give way."""
    left = offer.recent[: len(offer.recent) - len(choice.kept)]
    room = offer.room - sum(turn.tokens for turn in choice.kept) - sum(turn.fixed_tokens for turn in left if turn.fixed)
    while choice.recalled:
        over = sum(m.tokens for m in _recalled(choice, offer.counter)) - room
        if over <= 0:
            break
        going = 0
        while going < len(choice.recalled) and over > 0:
            over -= choice.recalled[going].tokens(offer.counter)
            going += 1
        choice = replace(choice, recalled=choice.recalled[going:])
    return choice


def _due(always: ContextUsage, recent: Sequence[Turn], strategy: Strategy, budget: Budget) -> CompactionDue:
    """Judged by what the conversation would send if it could, not by what was made to fit."""
    if not strategy.summarizes:
        return CompactionDue(due=False)
    history = sum(turn.tokens for turn in recent)
    return due(always.message_tokens + history, always.total_tokens + history, budget)


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
    text = fence("project-memory", item.content, f" path={json.dumps(item.relative_path, ensure_ascii=False)}")
    return _fixed(text, "memory", "system", counter, (item.relative_path,))


def _smart(items: Sequence[MemoryItem], counter: TokenCounter) -> tuple[PromptMessage, ...]:
    """Memory that comes with this message alone: a message for each file, one for all that was remembered. None of it is the system's,
    which some providers take to the front, where it would change with every turn."""
    files = [_memory(item, counter).model_copy(update={"role": "user"}) for item in items if item.kind == "file"]
    remembered = [item for item in items if item.kind != "file"]
    if not remembered:
        return tuple(files)
    text = fence("smart-memory", "\n".join(item.content for item in remembered))
    ids = tuple(item.relative_path or f"fact:{item.key}" for item in remembered)
    return (*files, _fixed(text, "memory", "user", counter, ids))


def _summary(compaction: Compaction | None, strategy: Strategy, counter: TokenCounter) -> tuple[PromptMessage, ...]:
    if compaction is None or not strategy.summarizes or not compaction.summary:
        return ()
    return (_fixed(summary_text(compaction.summary), "summary", "user", counter, (compaction.id,)),)


def summary_text(summary: str) -> str:
    """A summary as the model gets it."""
    return fence("conversation-summary", summary)


def _recalled(choice: Choice, counter: TokenCounter) -> tuple[PromptMessage, ...]:
    if not choice.recalled:
        return ()
    text = fence("recalled-conversation", quote(choice.recalled))
    return (_fixed(text, "conversation", "user", counter, tuple(dict.fromkeys(p.message.id for p in choice.recalled))),)


def _documents(messages: Sequence[ZkChatMessage]) -> tuple[DocumentReference, ...]:
    """What the messages name, each once, as it was delivered last."""
    found = {(r.relative_path or r.wikilink, r.heading): r for m in messages if m.role == "user" for r in m.references}
    return tuple(found.values())


def _dropped(parts: _Parts, choice: Choice) -> list[Dropped]:
    sent = {turn.id for turn in choice.kept}
    recalled = {passage.message.id for passage in choice.recalled}
    reasons = [(turn, "the model call failed") for turn in parts.failed]
    reasons += [(turn, "in the summary" if parts.summary else "no room, nor for the summary") for turn in parts.folded]
    reasons += [(turn, "no room") for turn in parts.recent if turn.id not in sent]
    return [
        Dropped(id=message.id, reason=f"{reason}; quoted because it bears on the message" if message.id in recalled else reason)
        for turn, reason in reasons
        for fixed in [{id_ for m in turn.fixed for id_ in m.source_ids}]
        for message in turn.messages
        if message.id not in fixed
    ]


def _too_large(usage: ContextUsage, parts: _Parts, kept: int) -> PromptTooLarge:
    """What is fixed is named with the turn it stands in, since that can be undone."""
    fixed = [(turn.fixed_tokens, turn.number) for turn in (*parts.failed, *parts.folded, *parts.recent) if turn.fixed]
    items = [(m.tokens, f"{m.kind.replace('_', ' ')} “{shorten(m.content, 40)}”") for m in (*parts.head, *parts.summary, *parts.current)]
    items.append((usage.tool_tokens, f"{len(parts.tools)} tool descriptions"))
    items += [(tokens, f"kept of turn {number} (/unpin {number})") for tokens, number in fixed]
    largest = ", ".join(f"{name}: {tokens}" for tokens, name in sorted(items, reverse=True)[:3])
    remedy = "Shorten the message, or raise context.max_tokens if the model has a larger window."
    if fixed:
        remedy = f"Take back what is kept in every prompt, /unpin {max(fixed)[1]} first; /pin lists it. Or: {remedy[0].lower()}{remedy[1:]}"
    return PromptTooLarge(
        f"what must be sent takes {usage.total_tokens + kept} tokens; "
        f"the limit is {usage.effective_limit} of a window of {usage.max_context}",
        f"Largest: {largest}. {remedy}",
    )
