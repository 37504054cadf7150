"""`context import` of the request that `context export --format context` writes: in each server's
form, without loss, and only once.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, write_notes
from factories import NOON
from model_calls import KEY
from terminal_screen import Script

from zkchat_cli.importers import read_conversations
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ModelConfig, Request
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.prompts import PromptMessage

MEMORY = "We write in English."
CALL = ToolCall(id="c1", name="find_excerpts", arguments={"query": "筛选"})


def read(document: object) -> tuple[ZkChatMessage, ...]:
    """The messages of a request."""
    ids = iter(range(100))
    data = json.dumps(document).encode()
    kind, [archive] = read_conversations(
        data, vault="/notes", new_id=lambda: f"id{next(ids)}", now=NOON
    )
    assert kind == "a request"
    return archive.messages


def said(messages: tuple[ZkChatMessage, ...]) -> list[tuple[str, str, str | None]]:
    return [(each.role, each.content, each.tool_call_id) for each in messages]


def prompt_message(role: Any, content: str, **fields: Any) -> PromptMessage:
    return PromptMessage(role=role, content=content, tokens=1, kind="conversation", **fields)


@pytest.mark.parametrize("provider", ["openai", "responses", "ollama", "anthropic"])
def test_every_servers_form_is_read(provider: str) -> None:
    name = "openai" if provider == "responses" else provider
    declared = providers.provider(name)
    given: dict[str, Any] = {"api": "responses"} if provider == "responses" else {}
    env = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    model = declared.open(ModelConfig("m", declared.settings(**given), env))
    messages = (
        prompt_message("system", "Be kind."),
        prompt_message("user", "Is there an anvil?"),
        prompt_message("assistant", "I look.", tool_calls=(CALL,)),
        prompt_message("tool", "Nothing.", tool_call_id="c1"),
        prompt_message("assistant", "No."),
        prompt_message("user", "Why?"),
    )
    found = read(json.loads(json.dumps(model.body(Request(messages)))))
    texts = [each for each in said(found) if each[1]]
    assert texts == [
        ("system", "Be kind.", None),
        ("user", "Is there an anvil?", None),
        ("assistant", "I look.", None),
        ("tool", "Nothing.", "c1"),
        ("assistant", "No.", None),
        ("user", "Why?", None),
    ]
    [calls] = [each.tool_calls for each in found if each.tool_calls]
    assert (calls[0].id, calls[0].name, calls[0].arguments) == ("c1", CALL.name, CALL.arguments)
    assert {each.model for each in found if each.role == "assistant"} == {"m"}


def test_excerpts_that_claude_gets_as_search_results_stay_with_their_numbers() -> None:
    excerpt = {
        "type": "search_result",
        "source": "Roof.md:3-4",
        "title": "[2] Roof",
        "content": [{"type": "text", "text": "Tiles.\n"}, {"type": "text", "text": "Nails."}],
    }
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [excerpt]}
    [question, found] = read(
        {"model": "m", "messages": [{"role": "user", "content": [excerpt, result]}]}
    )
    assert question.content == "[2] Roof (Roof.md:3-4)\nTiles.\nNails."
    assert (found.role, found.content) == ("tool", question.content)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"model": "m", "messages": [{"role": "wizard", "content": "x"}]}, "[0].role"),
        ({"model": "m", "input": [3]}, "[0]"),
        ({"model": "m", "system": 3, "messages": [{"role": "user", "content": 3}]}, "[0].content"),
        ({"model": "m", "input": [{"type": "function_call"}]}, "[0].tool_calls"),
        ({"model": "m"}, "no conversation"),
    ],
)
def test_a_wrong_request_is_refused(
    zkchat: Program, tmp_path: Path, document: object, problem: str
) -> None:
    file = tmp_path / "call.json"
    file.write_text(json.dumps(document))
    done = zkchat("context", "import", "--file", file)
    assert (done.exit_status, problem in done.err) == (2, True)
    assert zkchat("sessions", "list", "--json").json == []


@pytest.fixture
def exported(zkchat: Program, script: Script, tmp_path: Path) -> Path:
    """The request of a conversation with memory, a named note, a tool and a summary."""
    write_notes(zkchat.vault, {"ZKCHAT.md": MEMORY})
    search = {"name": "find_excerpts", "arguments": {"query": "compost"}}
    for asked in ("How are filters joined?", "And [[Combining]]?", "When is compost ready?"):
        model = script({"tool_calls": [search]}, {"text": f"About {asked}"})
        options = ["-c"] if zkchat("sessions", "list", "--json").json else []
        zkchat("ask", *options, asked, "--model", model)
    zkchat("context", "compact", "--keep", 2)
    file = tmp_path / "call.context.json"
    zkchat("context", "export", "--format", "context", "-o", file)
    return file


def test_an_imported_request_is_exported_as_it_was(
    zkchat: Program, exported: Path, tmp_path: Path
) -> None:
    there = Program(zkchat.vault, tmp_path / "another home")
    done = there("context", "import", "--file", exported, "--json").json
    assert done["format"] == "a request"
    assert done["title"] == "When is compost ready?"
    again = there("context", "export", "--format", "context").json
    assert again["messages"] == json.loads(exported.read_text())["messages"]


def test_the_own_export_is_already_here(zkchat: Program, exported: Path, tmp_path: Path) -> None:
    whole = tmp_path / "talk.json"
    zkchat("context", "export", "--format", "json", "-o", whole)
    [stored] = zkchat("sessions", "list", "--json").json
    for file in (exported, whole):
        done = zkchat("context", "import", "--file", file)
        assert done.out == f"{stored['id']}  already here  How are filters joined?\n"
    assert [each["id"] for each in zkchat("sessions", "list", "--json").json] == [stored["id"]]


def test_an_imported_request_is_imported_once(
    zkchat: Program, exported: Path, tmp_path: Path
) -> None:
    there = Program(zkchat.vault, tmp_path / "another home")
    first = there("context", "import", "--file", exported, "--json").json
    second = there("context", "import", "--file", exported, "--json").json
    assert (second["conversation_id"], second["messages"]) == (first["conversation_id"], 0)
    assert len(there("sessions", "list", "--json").json) == 1


def test_the_same_question_with_another_answer_is_another_conversation(
    zkchat: Program, tmp_path: Path
) -> None:
    file = tmp_path / "talk.json"
    for answer in ("Yes.", "No."):
        talk = [{"role": "user", "content": "Roof?"}, {"role": "assistant", "content": answer}]
        file.write_text(json.dumps(talk))
        assert "2 messages" in zkchat("context", "import", "--file", file).out
    assert "already here" in zkchat("context", "import", "--file", file).out


@pytest.mark.parametrize("format_", ["md", "html"])
def test_an_export_for_people_is_refused_with_the_format_to_use(
    zkchat: Program, tmp_path: Path, format_: str
) -> None:
    file = tmp_path / f"talk.{format_}"
    zkchat("ask", "When is compost ready?")
    zkchat("context", "export", "--format", format_, "-o", file)
    done = zkchat("context", "import", file)
    assert done.exit_status == 2
    assert done.err.startswith(f"zkchat: This is an export in {format_}; context import reads json")
    assert "--format json" in done.err
