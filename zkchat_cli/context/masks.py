"""Masking: old tool results and documents lose the middles of their text.

Pure functions. Masking is the cheapest way to shrink a conversation, because the answers contain
what mattered. Beginnings, ends and source numbers stay, so that the model knows what it read and
can read it again. The set of masked texts changes only with the next compaction, so that the front
of the prompt stays the same.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.context.prompt_messages import MASK_NOTE, MASKED_IMAGES_NOTE, is_masked_text
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.fences import escape_line
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, TokenCounter


class MaskSize(NamedTuple):
    """Characters that a masked text keeps at its beginning and at its end."""

    head: int
    tail: int

    @property
    def total(self) -> int:
        """Characters that are kept."""
        return self.head + self.tail


USUAL_MASK = MaskSize(head=400, tail=160)
# In a window that has no room for several turns with such beginnings
SHORT_MASK = MaskSize(head=150, tail=50)
# Largest share of its tokens that masking may leave of a text; otherwise the text stays whole
MAX_MASKED_SHARE = 0.5
# Cached because all prompts of a turn mask the same texts, and counting takes long
CACHED_TURNS = 256
_MAX_SOURCES = 8
_MASKABLE = ("tool_results", "documents")
# Most characters of names in the note about the missing middle
MAX_TOOL_NAME = 60
MAX_PATH = 80


def mask_size(compaction: Compaction) -> MaskSize:
    """What masked texts keep under this compaction."""
    return SHORT_MASK if compaction.masks_later else USUAL_MASK


def find_maskable(
    turns: Iterable[Turn], counter: TokenCounter, size: MaskSize = USUAL_MASK
) -> tuple[str, ...]:
    """The ids of the messages that become much smaller when their results or documents are
    masked.
    """
    found: dict[str, None] = {}
    for turn in turns:
        long = [rendered for rendered in turn.prompt if _may_shrink(rendered, size)]
        if not long:
            continue
        # Read only now: the store may have to load the messages
        messages = {message.id: message for message in turn.messages}
        for rendered in long:
            message = messages.get(_source_of(rendered))
            if message is None or is_fixed(message):
                continue
            if _mask(message, rendered, counter, size).tokens <= MAX_MASKED_SHARE * rendered.tokens:
                found[message.id] = None
    return tuple(found)


def _may_shrink(message: PromptMessage, size: MaskSize) -> bool:
    """Whether a message has results or documents that are long enough to become much smaller, or
    pictures.
    """
    is_long = len(message.content) * MAX_MASKED_SHARE > size.total
    return _is_maskable(message) and (is_long or bool(message.images))


def mask_messages(
    history: TurnHistory,
    ids: Collection[str],
    counter: TokenCounter,
    size: MaskSize = USUAL_MASK,
) -> TurnHistory:
    """The turns with the results and documents of these messages masked."""
    if not ids:
        return history
    turns = list(history.turns)
    left = set(ids)
    # From the end, where the masked turns are
    for position in reversed(range(len(turns))):
        if not left:
            break
        own = left.intersection(turns[position].ids)
        if own:
            turns[position] = _mask_turn(turns[position], frozenset(own), counter, size)
            left -= own
    return history._replace(turns=tuple(turns))


def mask_result(message: ZkChatMessage, counter: TokenCounter) -> ZkChatMessage | None:
    """A tool result of the turn in progress, shortened because the turn needs room; None if that
    would save little.
    """
    if message.role != "tool" or is_fixed(message):
        return None
    content = _masked_text(message, message.content, USUAL_MASK)
    tokens = counter.count_raw(content)
    if tokens > MAX_MASKED_SHARE * counter.count_raw(message.content):
        return None
    return message.model_copy(update={"content": content, "token_count": tokens})


def is_masked(rendered: PromptMessage) -> bool:
    """Whether a message of a prompt has been masked."""
    return rendered.kind in _MASKABLE and is_masked_text(rendered.content)


@lru_cache(maxsize=CACHED_TURNS)
def _mask_turn(turn: Turn, ids: frozenset[str], counter: TokenCounter, size: MaskSize) -> Turn:
    messages = {message.id: message for message in turn.messages if message.id in ids}
    rendered: list[PromptMessage] = []
    for each in turn.prompt:
        message = messages.get(_source_of(each)) if _is_maskable(each) else None
        rendered.append(each if message is None else _mask(message, each, counter, size))
    return turn.with_prompt(tuple(rendered))


def _is_maskable(rendered: PromptMessage) -> bool:
    """Whether the message contains tool results or documents."""
    return rendered.kind in _MASKABLE and bool(rendered.source_ids)


def _source_of(rendered: PromptMessage) -> str:
    """The id of the log message that a maskable message was made from."""
    return rendered.source_ids[0]


def _mask(
    message: ZkChatMessage, rendered: PromptMessage, counter: TokenCounter, size: MaskSize
) -> PromptMessage:
    content = _masked_text(message, rendered.content, size)
    if rendered.images:
        names = [truncate(image.relative_path, MAX_PATH) for image in rendered.images]
        again = "The user can name them again to send them"
        content += f"{MASKED_IMAGES_NOTE} {escape_line(', '.join(names))}. {again}. …]"
    return rendered.model_copy(
        update={
            "content": content,
            "images": (),
            "image_tokens": 0,
            "tokens": counter.count(content) + MESSAGE_OVERHEAD,
            "chunks": rendered.chunks if content == rendered.content else (),
        }
    )


def _masked_text(message: ZkChatMessage, text: str, size: MaskSize) -> str:
    if len(text) <= size.total:
        return text
    again = "Read them again"
    if message.tool_name:
        again = f"Call {truncate(message.tool_name, MAX_TOOL_NAME)} again"
    note = f"{MASK_NOTE}{_named_sources(message)} {again} to see it whole. …]\n"
    return text[: size.head] + note + text[-size.tail :]


def _named_sources(message: ZkChatMessage) -> str:
    """A sentence that names the numbers and places of a message's chunks; empty without chunks."""
    if not message.chunks:
        return ""
    sources: list[str] = []
    for chunk in message.chunks[:_MAX_SOURCES]:
        path = truncate(chunk.relative_path, MAX_PATH)
        sources.append(f"{chunk.number} {escape_line(path)}:{chunk.start_line}")
    others = len(message.chunks) - _MAX_SOURCES
    more = f" and {others} more" if others > 0 else ""
    return f" Its sources: {', '.join(sources)}{more}."
