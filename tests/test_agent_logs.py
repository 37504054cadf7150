"""Sessions of Claude Code and Codex: what becomes of their records, and that importing twice adds
nothing.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

from zkchat_cli.errors import UsageError
from zkchat_cli.importers.claude_code import read_claude_code
from zkchat_cli.importers.codex import read_codex
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.messages import ZkChatMessage

NOW = "2026-03-01T12:00:00+00:00"


def claude(
    uuid: str, parent: str | None, type_: str, content: object, **fields: Any
) -> dict[str, Any]:
    message = {"role": type_, "content": content, **fields.pop("message", {})}
    return {
        "type": type_,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": f"2026-02-03T10:00:0{uuid[-1]}.000Z",
        "message": message,
        **fields,
    }


ANSWER = {
    "id": "msg_1",
    "model": "claude-sonnet-4-5",
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 900, "output_tokens": 40},
}
CLAUDE = [
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    claude("u1", None, "user", "Why does the [[Heat pump]] stop?"),
    claude(
        "u2",
        "u1",
        "assistant",
        [{"type": "thinking", "thinking": "Look it up.", "signature": "…"}],
        message=ANSWER,
    ),
    claude(
        "u3",
        "u2",
        "assistant",
        [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "pump.md"}}],
        message=ANSWER,
    ),
    claude(
        "u4",
        "u3",
        "user",
        [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": "defrosts at 2 °C"}],
            }
        ],
    ),
    claude(
        "u5",
        "u4",
        "assistant",
        [{"type": "text", "text": "It defrosts below 2 °C."}],
        message={**ANSWER, "id": "msg_2"},
    ),
    claude("u6", "u5", "user", "<local-command-stdout>", isMeta=True),
    claude("u7", "u6", "user", "And at night?"),
    {"type": "summary", "summary": "Heat pump stops", "leafUuid": "u7"},
]


def codex_item(type_: str, **payload: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-02-03T10:00:00.000Z",
        "type": "response_item",
        "payload": {"type": type_, **payload},
    }


CODEX = [
    {
        "timestamp": "2026-02-03T09:59:59.000Z",
        "type": "session_meta",
        "payload": {"id": "0199", "cwd": "/work", "cli_version": "0.98"},
    },
    codex_item(
        "message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>\n  <cwd>/work</cwd>"}],
    ),
    {
        "timestamp": "2026-02-03T10:00:00.000Z",
        "type": "turn_context",
        "payload": {"model": "gpt-5.2-codex"},
    },
    codex_item(
        "message", role="user", content=[{"type": "input_text", "text": "How warm is the buffer?"}]
    ),
    {
        "timestamp": "2026-02-03T10:00:00.000Z",
        "type": "event_msg",
        "payload": {"type": "user_message", "message": "How warm is the buffer?"},
    },
    codex_item(
        "reasoning",
        summary=[{"type": "summary_text", "text": "Search the notes."}],
        encrypted_content="…",
    ),
    codex_item(
        "function_call", name="shell", arguments='{"command": ["rg", "buffer"]}', call_id="c1"
    ),
    codex_item("function_call_output", call_id="c1", output="Heat pump.md: 45 °C"),
    codex_item("message", role="assistant", content=[{"type": "output_text", "text": "45 °C."}]),
    {
        "timestamp": "2026-02-03T10:00:09.000Z",
        "type": "event_msg",
        "payload": {"type": "moon_phase", "value": 0.4},
    },
]


def lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def read_claude(records: list[dict[str, Any]]) -> ConversationArchive:
    return read_claude_code(lines(records), "s1.jsonl", vault="/notes", now=NOW)


def outline(messages: tuple[ZkChatMessage, ...]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


def test_a_session_of_claude_code_becomes_a_conversation() -> None:
    archive = read_claude(CLAUDE)
    assert outline(archive.messages) == [
        ("user", "Why does the [[Heat pump]] stop?"),
        ("assistant", ""),
        ("tool", "defrosts at 2 °C"),
        ("assistant", "It defrosts below 2 °C."),
        ("user", "And at night?"),
    ]
    assert [m.parent_id for m in archive.messages[1:]] == [m.id for m in archive.messages[:-1]]
    called = archive.messages[1]
    assert called.model == "claude-sonnet-4-5"
    assert [(call.name, call.arguments) for call in called.tool_calls] == [
        ("Read", {"file_path": "pump.md"})
    ]
    assert archive.conversation.title == "Heat pump stops"
    assert archive.conversation.head_id == archive.messages[-1].id


def test_what_nobody_said_to_claude_is_no_message() -> None:
    records = [
        claude("u1", None, "user", "<command-name>/clear</command-name>"),
        claude("u2", "u1", "user", [{"type": "text", "text": "[Request interrupted by user]"}]),
        claude("u3", "u2", "user", "Why does it stop?"),
        claude("u4", "u3", "assistant", "API Error: 529", isApiErrorMessage=True),
        claude("u5", "u4", "assistant", "It is too hot."),
    ]
    data = "\n".join(map(json.dumps, records)).encode()
    archive = read_claude_code(data, "s1.jsonl", vault="/notes", now=NOW)
    assert [message.content for message in archive.messages] == [
        "Why does it stop?",
        "It is too hot.",
    ]


def test_an_old_session_of_codex_becomes_a_conversation() -> None:
    def message(role: str, kind: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    records = [
        {"id": "old-1", "timestamp": NOW, "instructions": None},
        {"record_type": "state"},
        message("user", "input_text", "Why does it stop?"),
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "hot"},
        message("assistant", "output_text", "It is too hot."),
    ]
    data = "\n".join(map(json.dumps, records)).encode()
    archive = read_codex(data, "rollout.jsonl", vault="/notes", now=NOW)
    assert [(message.role, message.content) for message in archive.messages] == [
        ("user", "Why does it stop?"),
        ("assistant", ""),
        ("tool", "hot"),
        ("assistant", "It is too hot."),
    ]


def test_records_that_are_no_message_are_kept() -> None:
    messages = read_claude(CLAUDE).messages
    assert [record["type"] for record in messages[0].other_records] == ["file-history-snapshot"]
    assert [record["uuid"] for record in messages[3].other_records] == ["u6"]
    [event] = (
        read_codex(lines(CODEX), "r.jsonl", vault="/notes", now=NOW).messages[-1].other_records
    )
    assert event["payload"] == {"type": "moon_phase", "value": 0.4}


def test_calls_at_once_and_subagents_keep_their_order() -> None:
    calls = [
        claude(
            "u2",
            "u1",
            "assistant",
            [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}],
            message=ANSWER,
        ),
        claude(
            "u3", "u2", "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "one"}]
        ),
        claude(
            "u4",
            "u3",
            "assistant",
            [{"type": "tool_use", "id": "t2", "name": "Task", "input": {}}],
            message=ANSWER,
        ),
        claude("v5", None, "user", "Search the notes.", isSidechain=True),
        claude(
            "u6", "u4", "user", [{"type": "tool_result", "tool_use_id": "t2", "content": "two"}]
        ),
    ]
    archive = read_claude([CLAUDE[1], *calls])
    question, answer, one, aside, two = archive.messages
    assert [call.id for call in answer.tool_calls] == ["t1", "t2"]
    assert (answer.parent_id, one.parent_id, two.parent_id) == (question.id, answer.id, one.id)
    assert aside.parent_id is None
    assert archive.conversation.head_id == two.id


def test_a_session_of_codex_becomes_a_conversation() -> None:
    archive = read_codex(lines(CODEX), "rollout.jsonl", vault="/notes", now=NOW)
    assert outline(archive.messages) == [
        ("user", "How warm is the buffer?"),
        ("assistant", ""),
        ("tool", "Heat pump.md: 45 °C"),
        ("assistant", "45 °C."),
    ]
    called = archive.messages[1]
    assert called.model == "gpt-5.2-codex"
    assert called.tool_calls[0].arguments == {"command": ["rg", "buffer"]}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"type": 1}\n[]\n{}', "line 2 is not a JSON record but \\[\\]"),
        (b"", "it has no messages"),
    ],
)
def test_a_wrong_log_is_refused(data: bytes, problem: str) -> None:
    for read in (read_claude_code, read_codex):
        with pytest.raises(UsageError, match=problem):
            read(data, "s.jsonl", vault="/notes", now=NOW)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        "x",
        [],
        [7],
        {"role": 3},
        [{"type": "text", "text": 4}, {"type": "tool_use", "input": 5}],
    ],
)
def test_odd_values_do_not_stop_an_import(odd: object) -> None:
    records = [
        CLAUDE[1],
        claude(
            "u2", "u1", "assistant", odd, message={"model": odd, "usage": {"input_tokens": odd}}
        ),
        claude("u3", "u2", "user", odd),
    ]
    assert read_claude([*records, {"type": "user", "message": odd, "timestamp": odd}]).messages
    items = [
        codex_item("message", role="user", content=odd),
        codex_item("function_call", arguments=odd),
        codex_item("reasoning", summary=odd),
    ]
    outputs = [
        codex_item("function_call_output", output=odd),
        {"type": "response_item", "payload": odd},
    ]
    assert read_codex(
        lines([CODEX[0], CODEX[3], *items, *outputs]), "r", vault="/notes", now=NOW
    ).messages


def test_a_folder_is_imported_and_a_session_that_grew_adds_only_what_is_new(
    zkchat: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "projects"
    folder.mkdir()
    (folder / "broken.jsonl").write_text("{}\nno\n{}\n")
    assert (
        str(folder / "broken.jsonl: line 2")
        in zkchat("context", "import", "--from", "codex", str(folder)).err
    )
    (folder / "s1.jsonl").write_bytes(lines(CLAUDE[:6]))
    first = zkchat("context", "import", "--from", "claude-code", str(folder), "--json")
    assert "left out: " + str(folder / "broken.jsonl: line 2") in first.err
    assert first.json["messages"] == 4
    (folder / "broken.jsonl").unlink()
    assert "already here" in zkchat("context", "import", "--from", "claude-code", str(folder)).out
    elsewhere = zkchat(
        "context",
        "import",
        "--from",
        "claude-code",
        str(folder),
        "--vault",
        zkchat.vault / "Garden",
    )
    assert (
        elsewhere.exit_status != 0
        and f"was imported with other notes: {zkchat.vault}" in elsewhere.err
    )
    (folder / "s1.jsonl").write_bytes(lines(CLAUDE) + b'{"type": "us')
    grown = zkchat(
        "context", "import", "--from", "claude-code", str(folder / "s1.jsonl"), "--json"
    ).json
    assert (grown["conversation_id"], grown["messages"]) == (first.json["conversation_id"], 1)
    shown = zkchat("sessions", "show", grown["conversation_id"]).out
    assert "And at night?" in shown
    assert "defrosts below 2" in zkchat("sessions", "search", "defrosts").out
    continued = zkchat(
        "ask",
        "--cid",
        first.json["conversation_id"],
        "And at noon?",
        "--vault",
        zkchat.vault / "Garden",
    )
    assert f"this conversation began with other notes, {zkchat.vault}" in continued.err
    with closing(
        sqlite3.connect(zkchat.home / "data" / "conversations.db", isolation_level=None)
    ) as store:
        store.execute(
            "CREATE TRIGGER no BEFORE INSERT ON message WHEN NEW.content = 'No.' BEGIN "
            "SELECT RAISE(ABORT, 'no'); END"
        )
    (folder / "s1.jsonl").write_bytes(lines([*CLAUDE, claude("u99", "u1", "user", "No.")]))
    (folder / "s2.jsonl").write_bytes(
        lines([{**record, "sessionId": "s2"} for record in CLAUDE[:6]])
    )
    other = zkchat("context", "import", "--from", "claude-code", str(folder), "--json")
    assert "s1.jsonl: The store" in other.err
    assert other.json["messages"] == 4


def test_what_the_command_needs_is_said(zkchat: Program, tmp_path: Path) -> None:
    for arguments in ([], ["--from", "claude-code"], ["x", "--file", "y"]):
        result = zkchat("context", "import", *arguments)
        assert result.exit_status == 2
        assert "Give one file, or --from" in result.err
    assert (
        "reads sessions of claude-code and codex"
        in zkchat("context", "import", "--from", "clippy", "x").err
    )
    assert "has no .jsonl file" in zkchat("context", "import", "--from", "codex", str(tmp_path)).err
