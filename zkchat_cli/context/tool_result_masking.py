"""Masking: cuts the middles of old tool results and documents, the cheapest way to shrink a conversation.

The answers contain what mattered of them. Beginnings, ends and source numbers stay, so that the model knows what it read and can read it
again. The masked messages are stored with the compaction and change only with the next one, so that the front of the prompt stays the same.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache

from zkchat_cli.context.budget import MESSAGE_OVERHEAD
from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.models import PromptMessage, ZkChatMessage
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter

HEAD, TAIL = 400, 160
"""Characters of a masked text."""
MAX_MASKED_SHARE = 0.5
"""A text is masked only if this leaves at most this share of its tokens."""
CACHED_TURNS = 256
"""All prompts of a turn mask the same, and counting takes long."""
_MAX_SOURCES = 8
_LEFT_OUT = "\n[… the middle of this older text is left out."
_MASKABLE = ("tool_results", "documents")


def find_maskable(turns: Iterable[Turn], counter: TokenCounter) -> tuple[str, ...]:
    """The ids of the messages with much smaller results or documents when masked."""
    found: dict[str, None] = {}
    for turn in turns:
        long = [m for m in turn.prompt if _is_maskable(m) and len(m.content) * MAX_MASKED_SHARE > HEAD + TAIL]
        messages = {message.id: message for message in turn.messages} if long else {}  # the store may have to read them
        for rendered in long:
            message = messages.get(rendered.source_ids[0])
            if message is None or is_fixed(message):
                continue
            if _mask(message, rendered, counter).tokens <= MAX_MASKED_SHARE * rendered.tokens:
                found[message.id] = None
    return tuple(found)


def mask_messages(history: TurnHistory, ids: Collection[str], counter: TokenCounter) -> TurnHistory:
    """The turns with the results and documents of these messages masked."""
    if not ids:
        return history
    turns, masked, left = [*history.turns], [], {*ids}
    for position in range(len(turns) - 1, -1, -1):  # from the end, where they are
        if own := left.intersection(turns[position].ids):
            turns[position] = _mask_turn(turns[position], frozenset(own), counter)
            masked.append(turns[position])
            left -= own
            if not left:
                break
    return history._replace(turns=tuple(turns), masked=tuple(masked))


def mask_result(message: ZkChatMessage, counter: TokenCounter) -> ZkChatMessage | None:
    """A tool result of the turn in progress as it is sent when the turn needs its room; None if that would save little."""
    content = _masked_text(message, message.content)
    tokens = counter.count_raw(content)
    if message.role != "tool" or is_fixed(message) or tokens > MAX_MASKED_SHARE * counter.count_raw(message.content):
        return None
    return message.model_copy(update={"content": content, "token_count": tokens})


def is_masked(rendered: PromptMessage) -> bool:
    return rendered.kind in _MASKABLE and _LEFT_OUT in rendered.content


@lru_cache(maxsize=CACHED_TURNS)
def _mask_turn(turn: Turn, ids: frozenset[str], counter: TokenCounter) -> Turn:
    messages = {message.id: message for message in turn.messages if message.id in ids}
    rendered = (_mask(messages[m.source_ids[0]], m, counter) if _is_maskable(m) and m.source_ids[0] in messages else m for m in turn.prompt)
    return turn.with_prompt(tuple(rendered))


def _is_maskable(rendered: PromptMessage) -> bool:
    """Whether these are results or documents."""
    return rendered.kind in _MASKABLE and bool(rendered.source_ids)


def _mask(message: ZkChatMessage, rendered: PromptMessage, counter: TokenCounter) -> PromptMessage:
    content = _masked_text(message, rendered.content)
    return rendered.model_copy(update={"content": content, "tokens": counter.count(content) + MESSAGE_OVERHEAD})


def _masked_text(message: ZkChatMessage, text: str) -> str:
    again = f"Call {truncate(message.tool_name, 60)} again" if message.tool_name else "Read them again"
    sources = [f"{chunk.number} {truncate(chunk.relative_path, 80)}:{chunk.start_line}" for chunk in message.chunks[:_MAX_SOURCES]]
    more = f" and {len(message.chunks) - _MAX_SOURCES} more" if len(message.chunks) > _MAX_SOURCES else ""
    named = f" Its sources: {', '.join(sources)}{more}." if sources else ""
    note = f"{_LEFT_OUT}{named} {again} to see it whole. …]\n"
    return text[:HEAD] + note + text[-TAIL:] if len(text) > HEAD + TAIL else text
