"""The border between values and rows: a value's queried fields are columns, all its others are JSON in `rest`.

Fields at their default are left out of `rest`; a lone surrogate, which no UTF-8 file can hold, becomes U+FFFD on the way in (`storable`).
"""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from zkchat_cli.errors import StoreError
from zkchat_cli.models import Compaction, Conversation, Value, ZkChatMessage
from zkchat_cli.store import prompt_codec
from zkchat_cli.store.prompt_codec import storable

MESSAGE = ("id", "parent_id", "role", "content", "status", "timestamp")
COMPACTION = ("id", "created_at", "last_id", "undone")
ASIDE = ("rest", "packed")
"""The columns behind those of MESSAGE."""
REFERENCE = ("summary", "context_snippet", "headings", "candidates", "delivery_reason")
"""What is packed of a reference."""
CONVERSATION = ("id", "vault", "title", "created_at", "updated_at", "head_id")


def from_message(message: ZkChatMessage) -> dict[str, Any]:
    """With what is long and never queried, chunks and the words of references, packed.

    What a tool brought in stands in its message's content, as JSON: there, the text of a chunk is a place in it (start, length).
    """
    rest = _rest(message, MESSAGE)
    aside: dict[str, Any] = {"chunks": chunks} if (chunks := rest.pop("chunks", None)) else {}
    for chunk in chunks or ():
        said = prompt_codec.encoded(chunk["text"]).decode()
        place = message.content.find(said)
        if place >= 0:
            chunk["text"] = [place, len(said)]
    words = [{name: reference.pop(name) for name in REFERENCE if name in reference} for reference in rest.get("references", ())]
    if any(words):
        aside["references"] = words
    return _columns(message, MESSAGE) | {"rest": _json(rest), "packed": prompt_codec.packed(aside) if aside else None}


def from_compaction(compaction: Compaction) -> dict[str, Any]:
    """`rest` as it is, not as JSON yet."""
    return _columns(compaction, COMPACTION) | {"rest": _rest(compaction, COMPACTION)}


def from_conversation(conversation: Conversation) -> dict[str, Any]:
    return _columns(conversation, CONVERSATION)


def to_message(row: tuple[Any, ...]) -> ZkChatMessage:
    """A row of MESSAGE, `rest` and `packed`. A long history is read in one go, so each step here counts 2 000 times."""
    *columns, rest, packed = row
    value = prompt_codec.decoded(rest)
    value["id"], value["parent_id"], value["role"], value["content"], value["status"], value["timestamp"] = columns
    if packed is not None:
        aside = prompt_codec.unpacked(packed)
        for chunk in aside.get("chunks", ()):
            if isinstance(place := chunk["text"], list):
                chunk["text"] = prompt_codec.decoded(value["content"][place[0] : sum(place)])
        for reference, words in zip(value.get("references", ()), aside.pop("references", ()), strict=False):
            reference.update(words)
        value.update(aside)
    return ZkChatMessage.model_validate(value)


def to_messages(found: Iterable[tuple[Any, ...]]) -> tuple[ZkChatMessage, ...]:
    """Rows as `to_message` takes them."""
    with uncollected():
        return tuple(map(to_message, found))


MANY = 10_000
"""Values made at once that are worth more than looking after them costs."""


@contextmanager
def uncollected() -> Iterator[None]:
    """For making thousands of values. None of them is garbage while they are made, and the collector, which looks for some after each 700,
    would take two thirds of the time."""
    collecting = gc.isenabled()
    gc.disable()
    before = gc.get_count()[0]
    try:
        yield
    finally:
        if collecting:
            # not if somebody has frozen what this would thaw; of a few values it is not even asked, for the answer is counted out
            if gc.get_count()[0] - before > MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # both at once make the values old ones: to look through the new ones takes a third of the time again
            gc.enable()


def to_conversation(row: tuple[Any, ...]) -> Conversation:
    return Conversation.model_validate(dict(zip(CONVERSATION, row, strict=True)))


def _columns(value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: storable(field) if isinstance(field := getattr(value, name), str) else field for name in names}


def _rest(value: Value, columns: tuple[str, ...]) -> dict[str, Any]:
    try:
        return value.model_dump(mode="json", exclude=set(columns), exclude_defaults=True)
    except ValueError as e:  # pydantic stops at some 250 levels; a model can make up arguments of any depth
        raise StoreError(f"A value cannot be stored: {e}", "Nothing was changed; its tool calls are nested too deeply.") from e


def _json(rest: dict[str, Any]) -> str:
    return prompt_codec.encoded(rest).decode()
