"""Frozen values that are stored, exported or printed as JSON."""

import tracemalloc

import pytest
from pydantic import ValidationError

from zkchat_cli.models.base import Value
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage

FIELDS = {"id": "m1", "role": "user", "content": "Hello", "timestamp": "2025-05-08"}
MESSAGES = 2_000


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="sauce"):
        Fact(key="k", content="c", sauce="user", source="user", created_at="2025-05-08")


class TrackedMessage(Value):
    """A message whose given fields pydantic remembers, as it does by default."""

    id: str
    role: str
    content: str
    timestamp: str


def bytes_of_each(model: type[Value]) -> float:
    # The first value builds the class
    model(**FIELDS)
    tracemalloc.start()
    try:
        kept = [model(**FIELDS) for _ in range(MESSAGES)]
        return tracemalloc.get_traced_memory()[0] / len(kept)
    finally:
        tracemalloc.stop()


def test_messages_do_not_remember_which_fields_were_given() -> None:
    class SlimMessage(TrackedMessage):
        model_post_init = ZkChatMessage.model_post_init

    message = ZkChatMessage(**FIELDS)
    assert message.model_dump(exclude_unset=True) == {}
    # A set of four names has 216 bytes in CPython 3.11.
    assert bytes_of_each(SlimMessage) < bytes_of_each(TrackedMessage) - 150
