"""Importing conversations: what a file may contain, what it becomes, and how a wrong file is
refused.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

from zkchat_cli.errors import UsageError
from zkchat_cli.importers import read_conversations
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference

NOW = "2025-05-08T12:00:00+02:00"


def read(data: object, encoding: str = "utf-8") -> list[ConversationArchive]:
    fresh = itertools.count(1)
    text = data if isinstance(data, str) else json.dumps(data)
    data = text.encode(encoding, "surrogatepass")
    return read_conversations(data, vault="/notes", new_id=lambda: f"id{next(fresh)}", now=NOW)[1]


def messages(*entries: dict[str, Any]) -> tuple[ZkChatMessage, ...]:
    [archive] = read(list(entries))
    return archive.messages


def refusal(data: object) -> str:
    with pytest.raises(UsageError) as e:
        read(data)
    assert "othing was imported" in e.value.hint
    return e.value.message


HEAD = {"id": "q1", "role": "user", "content": "why", "timestamp": NOW}
TALK = {"id": "c1", "vault": "/elsewhere", "created_at": NOW, "updated_at": NOW, "head_id": "q1"}


def own(**changes: object) -> dict[str, Any]:
    head = ZkChatMessage.model_validate(HEAD)
    talk = Conversation.model_validate(TALK)
    return (
        ConversationArchive(conversation=talk, messages=(head,)).model_dump(mode="json") | changes
    )


def test_a_list_of_messages_becomes_a_chain() -> None:
    [archive] = read(
        [
            {"role": "user", "content": "why?"},
            {"role": "user", "content": "hello?"},
            {"role": "assistant", "content": "so"},
        ]
    )
    first, second, third = archive.messages
    assert [m.content for m in archive.messages] == ["why?", "hello?", "so"]
    assert (first.parent_id, second.parent_id, third.parent_id) == (None, first.id, second.id)
    assert archive.conversation.head_id == third.id
    assert (
        archive.conversation.vault,
        archive.conversation.title,
        archive.conversation.updated_at,
    ) == ("/notes", "why?", NOW)


def test_a_developer_is_the_system() -> None:
    told = messages(
        {"role": "developer", "content": "Be brief."}, {"role": "user", "content": "why?"}
    )
    assert [each.role for each in told] == ["system", "user"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_messages_are_read_alike_in_every_unicode_encoding(encoding: str) -> None:
    [archive] = read('[{"role": "user", "content": "Grüße 漢字 😀\\u0000\\ud800"}]', encoding)
    assert archive.messages[0].content == "Grüße 漢字 😀\0\ud800"


def test_a_missing_time_is_that_of_the_message_before() -> None:
    told = messages(
        {"role": "user", "content": "a", "timestamp": "2023-05-08T13:56:00Z"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c", "created_at": "2023-05-09T08:00:00"},
    )
    assert [message.timestamp for message in told] == [
        "2023-05-08T13:56:00+00:00",
        "2023-05-08T13:56:00+00:00",
        "2023-05-09T08:00:00+02:00",
    ]


def test_references_and_token_counts_are_read() -> None:
    [message] = messages(
        {
            "role": "user",
            "content": "see [[A]] and [[B]]",
            "references": [
                {
                    "wikilink": "[[A]]",
                    "relative_path": "A.md",
                    "reference_type": "direct",
                    "summary": None,
                    "context_snippet": "x",
                },
                {"wikilink": "[[B]]", "relative_path": None, "reference_type": "direct"},
                {
                    "wikilink": "[[C]]",
                    "relative_path": None,
                    "reference_type": "search",
                    "status": "ambiguous",
                },
            ],
            "token_count": 7,
            "augmented_token_count": 20,
            "tool_tokens": None,
            "unknown": "is left aside",
        }
    )
    assert message.references == (
        DocumentReference(
            wikilink="[[A]]", relative_path="A.md", reference_type="direct", context_snippet="x"
        ),
        DocumentReference(wikilink="[[B]]", reference_type="direct", status="broken"),
        DocumentReference(wikilink="[[C]]", reference_type="search", status="ambiguous"),
    )
    assert (message.token_count, message.augmented_token_count, message.tool_tokens) == (
        7,
        20,
        None,
    )


def test_tool_calls_are_read_in_both_forms() -> None:
    asked, told = messages(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "x", "name": "find", "arguments": {"query": "a"}},
                {
                    "id": "y",
                    "type": "function",
                    "function": {"name": "find", "arguments": '{"query": "b"}'},
                },
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
        ToolCall(id="z", name="find", malformed="{half"),
    )
    assert asked.tool_calls[3] == ToolCall(id="list", name="list")
    assert (told.tool_call_id, told.tool_name) == ("x", "find")


def test_every_session_of_a_chat_sessions_file_is_read() -> None:
    talk, empty = read(
        {
            "one": {
                "messages": [
                    {
                        "role": "user",
                        "content": "old words",
                        "references": [],
                        "timestamp": None,
                        "tool_calls": None,
                    }
                ],
                "created_at": "2024-01-01T10:00:00",
                "last_updated": "2024-01-02T10:00:00",
            },
            "two": {"messages": []},
        }
    )
    assert talk.conversation.title == "old words"
    assert talk.conversation.created_at == talk.messages[0].timestamp == "2024-01-01T10:00:00+02:00"
    assert talk.conversation.updated_at == "2024-01-02T10:00:00+02:00"
    assert (empty.messages, empty.conversation.head_id, empty.conversation.title) == (
        (),
        None,
        None,
    )
    assert empty.conversation.created_at == empty.conversation.updated_at == NOW


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            '[\n {"role": "user",\n  "content": }\n]',
            "Not valid JSON: Expecting value: line 3 column 14",
        ),
        ("[" * 200_000, "Not valid JSON"),
        *(
            (data, "This JSON holds no conversation")
            for data in ("[]", "3", '{"a": 1}', '{"a": {"text": 1}}')
        ),
        ({"a": {"messages": 1}}, "a.messages: it must be a list (found 1)"),
        ([{"role": "user"}, "text"], "[1]: it must be an object"),
        ([{"role": "user", "content": 5}], "[0].content: it must be text (found 5)"),
        *(
            ([{"role": "user", "timestamp": time}], "[0].timestamp: it must be a")
            for time in ("1:56 pm on 8 May", "12", True, 1e20)
        ),
        *(
            ([{"role": "user", "token_count": number}], "[0].token_count: it must be ")
            for number in ("12", True, -1, 1e300, 1.5)
        ),
        (
            {"a": {"messages": [], "last_updated": "3"}},
            'a.last_updated: it must be a time such as 2025-05-08T12:00:00Z (found "3")',
        ),
        ([{"role": "user", "tool_calls": [{"id": "a", "name": 3}]}], "[0].tool_calls[0].name: "),
    ],
)
def test_a_wrong_file_is_refused_and_the_error_names_the_place(data: object, message: str) -> None:
    assert refusal(data).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"version": 4},
            "This is 'zkchat-conversation' version 4; this zkchat reads "
            "'zkchat-conversation' versions 1 to 3",
        ),
        ({"format": "other"}, "This is 'other' version 3"),
        ({"messages": [{**HEAD, "mood": "good"}]}, "messages[0].mood: this key is unknown"),
        *(
            ({"messages": [{**HEAD, "token_count": number}]}, "messages[0].token_count: ")
            for number in ("12", True, -1, 2.5, 10**310)
        ),
        (
            {"messages": [{**HEAD, "usage": {"prompt_tokens": 1e400, "completion_tokens": 1}}]},
            "messages[0].usage.prompt_tokens: ",
        ),
        (
            {"messages": [{**HEAD, "timings_ms": {"prepare": "3"}}]},
            "messages[0].timings_ms.prepare: ",
        ),
        (
            {"messages": [{**HEAD, "timestamp": "yesterday"}]},
            "The export is inconsistent: 'yesterday' is no time such as ",
        ),
        (
            {"conversation": {**TALK, "updated_at": "12"}},
            "The export is inconsistent: '12' is no time such as ",
        ),
    ],
)
def test_our_own_export_is_read_strictly(changes: dict[str, Any], message: str) -> None:
    assert refusal(own(**changes)).startswith(message)


def test_the_command_imports_a_list_of_messages_and_its_export_as_a_copy(
    zkchat: Program, tmp_path: Path
) -> None:
    file = tmp_path / "talk.json"
    file.write_text(
        '[{"role": "user", "content": "see [[Combining]] and [[Gone]]"}, {"role": '
        '"assistant", "content": "so [[Filters]]"}]'
    )
    told = zkchat("context", "import", "--file", file, "--json").json
    assert (told["format"], told["messages"]) == ("messages", 2)
    export = zkchat("context", "export", told["conversation_id"], "--format", "json")
    again = zkchat("context", "import", "--file", "-", "--json", stdin=export.out).json
    assert (again["messages"], again["conversation_id"]) == (0, told["conversation_id"])


def test_nothing_of_a_wrong_file_is_imported(zkchat: Program, tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    file.write_text(
        json.dumps(
            {
                "a": {"messages": [{"role": "user", "content": "x"}]},
                "b": {"messages": [{"role": "bot"}]},
            }
        )
    )
    refused = zkchat("context", "import", "--file", file)
    assert (refused.exit_status, "b.messages[0].role" in refused.err) == (2, True)
    assert zkchat("context", "export").exit_status == 3
    assert zkchat("context", "import", "--file", tmp_path / "none.json").exit_status == 2
