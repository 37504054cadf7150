"""Masking: old tool results and documents without their middles, the cheapest way to make a conversation smaller.

They were read, and what came of them stands in the answers; their beginnings, ends and source numbers stay, so that the model knows what it
looked at and can look again. Which messages are masked is stored with the compaction and changes with the next one only, so that the
front of the prompt stays the same from turn to turn. The log keeps every word.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.message_priority import is_critical, is_fixed
from zkchat_cli.context.turn_history import TurnHistory
from zkchat_cli.context.turns import Turn
from zkchat_cli.models import ContentChunk, PromptMessage, ZkChatMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter

HEAD, TAIL = 400, 160
"""Characters that stay of a text."""
WORTH = 0.5
"""A masked text takes at most this share of the whole one; otherwise it is left as it is."""
_MOST_SOURCES = 8
_MASKABLE = ("tool_results", "documents")


def find_maskable(turns: Iterable[Turn], counter: TokenCounter, *, spare_critical: bool = False) -> tuple[str, ...]:
    """The ids of the messages whose results or documents take clearly less when masked, in their order; of turns in which the user has
    said that something is critical only when those are not spared."""
    return tuple(
        dict.fromkeys(
            message.id
            for turn in turns
            if not (spare_critical and any(map(is_critical, turn.messages)))
            for message, shown in _shown(turn)
            if not is_fixed(message) and _mask(message, shown, counter).tokens <= WORTH * shown.tokens
        )
    )


def mask_messages(turns: Sequence[Turn], ids: Iterable[str], counter: TokenCounter) -> TurnHistory:
    """The turns with these messages masked."""
    history = TurnHistory.from_turns(turns)
    found: dict[int, set[str]] = {}
    for id_ in ids:
        if place := history.count_through(id_):
            found.setdefault(place - 1, set()).add(id_)
    return history.with_replaced({place: _masked(history[place], here, counter) for place, here in found.items()})


def _masked(turn: Turn, ids: set[str], counter: TokenCounter) -> Turn:
    by_shown = {id(shown): message for message, shown in _shown(turn) if message.id in ids}
    return replace(turn, prompt=tuple(_mask(by_shown[id(m)], m, counter) if id(m) in by_shown else m for m in turn.prompt))


def _shown(turn: Turn) -> list[tuple[ZkChatMessage, PromptMessage]]:
    """The messages that brought something in, each with what the prompt has of that."""
    there = {message.id: message for message in turn.messages}
    return [(there[m.source_ids[0]], m) for m in turn.prompt if m.kind in _MASKABLE and m.source_ids and m.source_ids[0] in there]


def _mask(message: ZkChatMessage, shown: PromptMessage, counter: TokenCounter) -> PromptMessage:
    text = shown.content
    again = f"Call {truncate(message.tool_name, 60)} again" if message.tool_name else "Read them again"
    note = f"\n[… the middle of this older text is left out.{_sources(message.chunks)} {again} to see it whole. …]\n"
    content = text[:HEAD] + note + text[-TAIL:] if len(text) > HEAD + TAIL else text
    return shown.model_copy(update={"content": content, "tokens": counter.count(content) + MESSAGE_OVERHEAD})


def _sources(chunks: Sequence[ContentChunk]) -> str:
    if not chunks:
        return ""
    named = [f"{chunk.number} {truncate(chunk.relative_path, 80)}:{chunk.start_line}" for chunk in chunks[:_MOST_SOURCES]]
    more = f" and {len(chunks) - _MOST_SOURCES} more" if len(chunks) > _MOST_SOURCES else ""
    return f" Its sources: {', '.join(named)}{more}."
