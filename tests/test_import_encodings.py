"""Messages of other programs are read alike, however their file is encoded."""

import json

import pytest
from factories import NOON, CountingIds
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.importers.conversation_file import read_conversations

pytestmark = pytest.mark.untraced


@settings(max_examples=20, deadline=None)
@given(
    entries=st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.text(max_size=30)},
            optional={"timestamp": st.just(NOON), "token_count": st.integers(0, 99)},
        ),
        min_size=1,
        max_size=6,
    ),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"]),
)
def test_messages_are_read_alike_in_every_unicode_encoding(entries: list[dict[str, str]], encoding: str) -> None:
    text = json.dumps(entries, ensure_ascii=encoding == "utf-8")
    [archive] = read_conversations(text.encode(encoding, "surrogatepass"), vault="/notes", new_id=CountingIds(), now=NOON).archives
    expected = [(entry["role"], entry["content"]) for entry in entries]
    assert [(message.role, message.content) for message in archive.messages] == expected
