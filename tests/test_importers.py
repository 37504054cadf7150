"""Importing conversations: what a file may contain, what it becomes, and how a wrong file is refused."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from building import Ids
from conftest import Program

from zkchat_cli.errors import UsageError
from zkchat_cli.importers.conversation_file import LARGEST_FILE, read_conversations
from zkchat_cli.models import Conversation, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore

NOW = "2025-05-08T12:00:00+02:00"


def read(data: object) -> list[ConversationArchive]:
    fresh = itertools.count(1)
    text = data if isinstance(data, str) else json.dumps(data)
    data = text.encode("utf-8", "surrogatepass")
    return read_conversations(data, vault="/notes", new_id=lambda: f"id{next(fresh)}", now=NOW).archives


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


def test_a_missing_time_is_that_of_the_message_before() -> None:
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


def test_references_and_token_counts_are_read() -> None:
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


def test_tool_calls_are_read_in_both_forms() -> None:
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
    ("entry", "message"),
    [
        ("text", '[1] is "text"; expected an object'),
        ({"content": "x"}, "[1].role is null; expected one of system, user, assistant, tool"),
        ({"role": ["user"], "content": "x"}, '[1].role is ["user"]; expected one of'),
        ({"role": "user"}, "[1].content is null; expected a text"),
        ({"role": "user", "content": [{"image": 1}]}, "[1].content is "),
        ({"role": "user", "content": "x", "timestamp": "1:56 pm on 8 May"}, '[1].timestamp is "1:56 pm on 8 May"; expected a time'),
        ({"role": "user", "content": "x", "created_at": True}, "[1].created_at is true; expected a time"),
        ({"role": "user", "content": "x", "timestamp": 1e300}, "[1].timestamp is 1e+300"),
        ({"role": "user", "content": "x", "references": {}, "tool_calls": "a"}, '[1].tool_calls is "a"; expected a list'),
        ({"role": "user", "content": "x", "references": [3]}, "[1].references[0] is 3; expected an object"),
        (
            {"role": "user", "content": "x", "references": [{"wikilink": "a", "reference_type": "other"}]},
            '[1].references[0].reference_type is "other"',
        ),
        ({"role": "user", "content": "x", "tool_calls": [3]}, "[1].tool_calls[0] is 3; expected an object"),
        ({"role": "user", "content": "x", "tool_calls": [{"id": 3, "name": "a"}]}, "[1].tool_calls[0].id is 3"),
        ({"role": "user", "content": "x", "token_count": "many"}, '[1].token_count is "many"'),
    ],
)
def test_an_error_names_the_key_path(entry: object, message: str) -> None:
    assert refusal([{"role": "user", "content": "fine"}, entry]).startswith(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": {"messages": []}, "b": {"messages": [{"role": "bot"}]}}, 'b.messages[0].role is "bot"'),
        ({"a": {"messages": []}, "b": {"messages": {}}}, "b.messages is {}; expected a list of messages"),
        ({"a": {"messages": []}, "b": {"messages": [], "created_at": "soon"}}, 'b.created_at is "soon"'),
        ({"a": {"messages": []}, "b": 3}, "b is 3; expected an object"),
        ([{"messages": []}, {"messages": 3}], "[1].messages is 3; expected a list"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content is 5"),
        ([{"prompt": "a", "response": "b"}, {"prompt": "a"}], "[1] is "),
        ([{"prompt": "a", "response": 3}], "[0].content is 3; expected a text"),
        ([{"prompt": "a", "response": "b", "tool_results": [3]}], "[0].tool_results[0] is 3; expected an object"),
        ([{"prompt": "a", "response": "b", "model": 3}], "[0].model is 3"),
        ('{"role": "user", "content": "x"}\n\n{"role": "bot"}', '[1].role is "bot"'),
        ('{"role": "user", "content": "x"}\n{"role": ', "Not valid JSON: line 2, column 10"),
        ('{"role": "user", "content": "x"}\n' + "[" * 200 + "]" * 200, "Line 2 cannot be read: it is nested more"),
        ('{"role": "user", "content": "x"}\n' + "9" * 5000, "Line 2 cannot be read: Exceeds the limit"),
    ],
)
def test_an_error_names_the_session_or_the_line(data: object, message: str) -> None:
    assert refusal(data).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 4}, "This is 'zkchat-conversation' version 4; this zkchat reads 'zkchat-conversation' versions 1 to 3"),
        ({"format": "other"}, "This is 'other' version 3"),
        ({"messages": [{"id": "a", "role": "user", "content": "x", "timestamp": NOW, "mood": "good"}]}, 'messages[0].mood is "good"'),
        ({"messages": []}, "The export is inconsistent: conversation.head_id: 'q1' is not one of the messages"),
        ({"messages": own()["messages"] * 2}, "The export is inconsistent: messages[1].id: 'q1' is used twice"),
        ({"messages": [own()["messages"][0] | {"parent_id": "q1"}]}, "The export is inconsistent: messages[0].parent_id: 'q1' is not"),
        ({"compactions": [3]}, "compactions[0] is 3"),
    ],
)
def test_our_own_export_is_read_strictly(changes: dict[str, Any], message: str) -> None:
    assert refusal(own(**changes)).startswith(message)


LLM_LOGS = Path(__file__).with_name("samples") / "llm-logs-0.36.json"
"""Made by llm itself: two turns with instructions, one with a fragment, one with a tool call."""


def test_a_log_of_llm_becomes_its_conversations() -> None:
    imported = read_conversations(LLM_LOGS.read_bytes(), vault="/notes", new_id=Ids(), now=NOW)
    talk, fragment, tool = imported.archives
    assert imported.kind == "a log of llm"
    assert [(m.role, m.content) for m in talk.messages] == [
        ("system", "Answer in one sentence."),
        ("user", "What does compost need?"),
        ("assistant", "Compost needs air, water and patience."),
        ("user", "And how long does it take?"),
        ("assistant", "Compost needs air, water and patience."),
    ]
    assert talk.messages[2].model == "fake"
    assert talk.conversation.title == "What does compost need?"
    assert talk.conversation.created_at == "2026-11-21T20:10:41.228064+00:00"
    assert fragment.messages[0].content == "a note\n\nSecond talk"
    asked, calling, found, answered = tool.messages
    assert (asked.role, calling.tool_calls[0].name, calling.tool_calls[0].id) == ("user", "llm_version", "tc-1")
    assert (found.role, found.content, found.tool_call_id, found.tool_name) == ("tool", "0.36", "tc-1", "llm_version")
    assert answered.parent_id == found.id


def test_each_line_can_be_a_message() -> None:
    [archive] = read('{"role": "user", "content": "a\u2028b"}\n\n{"role": "assistant", "content": "c"}\n')
    assert [m.content for m in archive.messages] == ["a\u2028b", "c"]
    assert [m.content for m in read('{"role": "user", "content": "alone"}')[0].messages] == ["alone"]


def test_each_line_can_be_a_conversation() -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "x"}]})
    assert [len(archive.messages) for archive in read(f"{line}\n{line}")] == [1, 1]
    assert len(read(line)) == 1
    ours = json.dumps(own())
    assert read(f"{ours}\n{ours}") == [ConversationArchive.model_validate(own())] * 2


def test_a_file_in_another_encoding_or_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="Not valid UTF-8: invalid start byte at byte 3"):
        read_conversations('[\n"ü"]'.encode("latin-1"), vault="/notes", new_id=Ids(), now=NOW)
    with pytest.raises(UsageError, match="larger than 1024 MB"):
        read_conversations(bytes(LARGEST_FILE + 1), vault="/notes", new_id=Ids(), now=NOW)


def test_the_command_finds_the_notes_that_questions_link_to(zkchat: Program, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "see [[Combining]] and [[Gone]]"}\n{"role": "assistant", "content": "so [[Filters]]"}\n')
    told = zkchat("context", "import", "--file", file, "--json").json
    assert (told["format"], told["messages"], told["references"], told["compactions"], told["copy"]) == ("messages", 2, 2, 0, False)
    export = zkchat("context", "export", told["conversation_id"], "--format", "json")
    question, answer = export.json["messages"]
    assert [(r["relative_path"], r["status"]) for r in question["references"]] == [("Queries/Combining.md", "found"), (None, "broken")]
    assert answer["references"] == []
    again = zkchat("context", "import", "--file", "-", "--json", stdin=export.out).json
    assert (again["copy"], again["conversation_id"] != told["conversation_id"]) == (True, True)


def test_nothing_of_a_wrong_file_is_imported(zkchat: Program, tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    file.write_text(json.dumps({"a": {"messages": [{"role": "user", "content": "x"}]}, "b": {"messages": [{"role": "bot"}]}}))
    refused = zkchat("context", "import", "--file", file)
    assert (refused.exit_status, "b.messages[0].role" in refused.err) == (2, True)
    assert zkchat("context", "export").exit_status == 3
    assert zkchat("context", "import", "--file", tmp_path / "none.json").exit_status == 2
