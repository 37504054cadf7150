"""Importing: what may come in, what it becomes, and how a wrong file is refused."""

import itertools
import json
from typing import Any

import pytest

from zkchat_cli.errors import UsageError
from zkchat_cli.models import Conversation, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.store.imports import read_archive

NOW = "2025-05-08T12:00:00+02:00"


def read(data: object) -> list[ConversationArchive]:
    fresh = itertools.count(1)
    text = data if isinstance(data, str) else json.dumps(data)
    return read_archive(text, vault="/notes", new_id=lambda: f"id{next(fresh)}", now=NOW)


def messages(*entries: dict[str, Any]) -> tuple[ZkChatMessage, ...]:
    [archive] = read(list(entries))
    return archive.messages


def refusal(data: object) -> str:
    with pytest.raises(UsageError) as e:
        read(data)
    assert "othing was imported" in e.value.hint
    return e.value.message


def own(**changes: object) -> dict[str, Any]:
    head = ZkChatMessage(id="q1", role="user", content="why", timestamp=NOW)
    talk = Conversation(id="c1", vault="/elsewhere", created_at=NOW, updated_at=NOW, head_id="q1")
    return ConversationArchive(conversation=talk, messages=(head,)).model_dump(mode="json") | changes


def test_a_list_of_messages_becomes_a_chain() -> None:
    [archive] = read([{"role": "user", "content": "why?"}, {"role": "user", "content": "hello?"}, {"role": "assistant", "content": "so"}])
    first, second, third = archive.messages
    assert [m.content for m in archive.messages] == ["why?", "hello?", "so"]
    assert (first.parent_id, second.parent_id, third.parent_id) == (None, first.id, second.id)
    assert archive.conversation.head_id == third.id
    assert (archive.conversation.vault, archive.conversation.title, archive.conversation.updated_at) == ("/notes", "why?", NOW)


def test_what_was_imported_can_be_stored() -> None:
    [archive] = read([{"role": "system", "content": "be brief"}, {"role": "user", "content": "why?"}])
    store = ChatSessionStore.open(None)
    store.restore(archive, lambda: "not needed")
    assert store.find(None, "/notes") == archive.conversation
    assert store.history(archive.conversation.id) == archive.messages
    store.close()


def test_times_are_kept_and_missing_ones_follow_the_message_before() -> None:
    told = messages(
        {"role": "user", "content": "a", "timestamp": "2023-05-08T13:56:00Z"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c", "created_at": "2023-05-09T08:00:00"},
        {"role": "user", "content": "d", "timestamp": 0},
    )
    assert [message.timestamp for message in told] == [
        "2023-05-08T13:56:00+00:00",
        "2023-05-08T13:56:00+00:00",
        "2023-05-09T08:00:00+02:00",
        "1970-01-01T00:00:00+00:00",
    ]


def test_without_any_time_it_is_now() -> None:
    [archive] = read([{"role": "user", "content": "a"}])
    assert archive.conversation.created_at == archive.messages[0].timestamp == NOW


def test_references_and_token_fields_come_along() -> None:
    [message] = messages(
        {
            "role": "user",
            "content": "see [[A]] and [[B]]",
            "references": [
                {"wikilink": "[[A]]", "relative_path": "A.md", "reference_type": "direct", "summary": None, "context_snippet": "x"},
                {"wikilink": "[[B]]", "relative_path": None, "reference_type": "direct"},
                {"wikilink": "[[C]]", "relative_path": None, "reference_type": "search", "status": "ambiguous"},
            ],
            "token_count": 7,
            "augmented_token_count": 20,
            "tool_tokens": None,
            "unknown": "is left aside",
        }
    )
    assert message.references == (
        DocumentReference(wikilink="[[A]]", relative_path="A.md", reference_type="direct", context_snippet="x"),
        DocumentReference(wikilink="[[B]]", reference_type="direct", status="broken"),
        DocumentReference(wikilink="[[C]]", reference_type="search", status="ambiguous"),
    )
    assert (message.token_count, message.augmented_token_count, message.tool_tokens) == (7, 20, None)


def test_tool_calls_are_read_in_both_spellings() -> None:
    asked, told = messages(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "x", "name": "find", "arguments": {"query": "a"}},
                {"id": "y", "type": "function", "function": {"name": "find", "arguments": '{"query": "b"}'}},
                {"id": "z", "function": {"name": "find", "arguments": "{half"}},
                {"name": "list", "arguments": None},
            ],
        },
        {"role": "tool", "content": None, "tool_call_id": "x", "name": "find"},
    )
    assert asked.content == told.content == ""
    assert asked.tool_calls[:3] == (
        ToolCall(id="x", name="find", arguments={"query": "a"}),
        ToolCall(id="y", name="find", arguments={"query": "b"}),
        ToolCall(id="z", name="find", arguments={"arguments": "{half"}),
    )
    assert asked.tool_calls[3].name == "list" and asked.tool_calls[3].id
    assert (told.tool_call_id, told.tool_name) == ("x", "find")


def test_content_in_parts_is_joined() -> None:
    assert messages({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})[0].content == "a\nb"


def test_what_no_store_could_hold_is_replaced() -> None:
    [message] = messages({"role": "user", "content": "nul \0 and half \ud83d", "model": "\udc00"})
    assert (message.content, message.model) == ("nul \ufffd and half \ufffd", "\ufffd")


def test_every_session_of_a_chat_sessions_file_is_read() -> None:
    talk, empty = read(
        {
            "one": {
                "messages": [{"role": "user", "content": "old words", "references": [], "timestamp": None, "tool_calls": None}],
                "created_at": "2024-01-01T10:00:00",
                "last_updated": "2024-01-02T10:00:00",
            },
            "two": {"messages": []},
        }
    )
    assert talk.conversation.title == "old words"
    assert talk.conversation.created_at == talk.messages[0].timestamp == "2024-01-01T10:00:00+02:00"
    assert talk.conversation.updated_at == "2024-01-02T10:00:00+02:00"
    assert (empty.messages, empty.conversation.head_id, empty.conversation.title) == ((), None, None)
    assert empty.conversation.created_at == empty.conversation.updated_at == NOW


def test_our_own_export_keeps_its_ids_and_its_vault() -> None:
    assert read(own()) == [ConversationArchive.model_validate(own())]


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert len(read("\ufeff" + json.dumps(own()))) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('[\n {"role": "user",\n  "content": }\n]', "Not valid JSON: line 3, column 14"),
        ("", "Not valid JSON: line 1, column 1"),
        ("[" * 200_000, "The JSON cannot be read"),
        ("[" + "9" * 5000 + "]", "The JSON cannot be read"),
        ("[" * 150 + "]" * 150, "The JSON cannot be read: it is nested more than 100 levels deep"),
        ("[]", "This JSON holds no conversation"),
        ("{}", "This JSON holds no conversation"),
        ("3", "This JSON holds no conversation"),
        ({"a": {"no messages": 1}}, "This JSON holds no conversation"),
    ],
)
def test_a_file_that_is_no_conversation_is_refused(data: object, said: str) -> None:
    assert said in refusal(data)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("text", 'message 2: is "text"; expected an object'),
        ({"content": "x"}, "message 2: role is null; expected one of system, user, assistant, tool"),
        ({"role": "bot", "content": "x"}, 'message 2: role is "bot"; expected one of system, user, assistant, tool'),
        ({"role": ["user"], "content": "x"}, 'message 2: role is ["user"]'),
        ({"role": "user"}, "message 2: content is null; expected a text"),
        ({"role": "user", "content": 5}, "message 2: content is 5; expected a text"),
        ({"role": "user", "content": [{"image": 1}]}, "message 2: content is "),
        ({"role": "user", "content": "x", "timestamp": "1:56 pm on 8 May"}, 'message 2: timestamp is "1:56 pm on 8 May"; expected a time'),
        ({"role": "user", "content": "x", "created_at": True}, "message 2: created_at is true; expected a time"),
        ({"role": "user", "content": "x", "timestamp": 1e300}, "message 2: timestamp is 1e+300"),
        ({"role": "user", "content": "x", "references": {}, "tool_calls": "a"}, 'message 2: tool_calls is "a"; expected a list'),
        ({"role": "user", "content": "x", "references": [3]}, "message 2, reference 1: is 3"),
        (
            {"role": "user", "content": "x", "references": [{"wikilink": "a", "reference_type": "other"}]},
            'message 2, reference 1: reference_type is "other"',
        ),
        ({"role": "user", "content": "x", "tool_calls": [3]}, "message 2, tool call 1: is 3; expected an object"),
        ({"role": "user", "content": "x", "tool_calls": [{"function": {}}]}, "message 2, tool call 1: is "),
        ({"role": "user", "content": "x", "tool_calls": [{"id": 3, "name": "a"}]}, "message 2, tool call 1: id is 3"),
        ({"role": "user", "content": "x", "token_count": "many"}, 'message 2: token_count is "many"'),
    ],
)
def test_the_wrong_entry_is_named(entry: object, said: str) -> None:
    assert said in refusal([{"role": "user", "content": "fine"}, entry])


def test_the_wrong_session_is_named() -> None:
    fine = {"messages": [{"role": "user", "content": "x"}]}
    assert "session 'b', message 1: role is \"bot\"" in refusal({"a": fine, "b": {"messages": [{"role": "bot", "content": "x"}]}})
    assert "session 'b': messages is {}; expected a list" in refusal({"a": fine, "b": {"messages": {}}})
    assert "session 'b': created_at is \"soon\"" in refusal({"a": fine, "b": fine | {"created_at": "soon"}})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 2}, "This is 'zkchat-conversation' version 2; this zkchat reads 'zkchat-conversation' version 1"),
        ({"format": "other"}, "This is 'other' version 1"),
        ({"messages": [{"id": "a", "role": "user", "content": "x", "timestamp": NOW, "mood": "good"}]}, 'messages 1 mood is "good"'),
        ({"messages": []}, "conversation: its head 'q1' is not one of the messages"),
        ({"compactions": [3]}, "compactions 1 is 3"),
    ],
)
def test_an_export_of_ours_is_read_strictly(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(own(**changes))
