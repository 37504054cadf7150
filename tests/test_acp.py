"""Conversations of an editor: the SDK's client speaks with `zkchat acp` over real pipes."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from acp import RequestError, schema
from acp_client import editor
from conftest import Program

from zkchat_cli.acp.prompt_blocks import read_prompt
from zkchat_cli.acp.updates import code_block

Script = Callable[..., str]


def test_a_conversation_begun_in_an_editor_goes_on_in_the_terminal_and_back(
    zkchat: Program,
) -> None:
    async def first() -> str:
        async with editor(zkchat, "--unsafe") as client:
            created = await client.agent.new_session(cwd=str(zkchat.vault))
            assert created.modes.current_mode_id == "none"
            assert await client.ask(created.session_id, "What is a filter?") == "end_turn"
            assert "Sources" in client.said()
            [commands] = [
                u for u in client.updates if u.session_update == "available_commands_update"
            ]
            assert "context" in [command.name for command in commands.available_commands]
            searches = [u for u in client.updates if u.session_update == "tool_call"]
            located = [
                u for u in client.updates if u.session_update == "tool_call_update" and u.locations
            ]
            assert located[0].tool_call_id in [u.tool_call_id for u in searches]
            assert Path(located[0].locations[0].path).is_file()
            assert located[0].locations[0].line >= 1
            assert await client.ask(created.session_id, "/tokens") == "end_turn"
            assert "--unsafe has no effect" in client.said("agent_thought_chunk")
            for mode in ("researcher", "none"):
                await client.ask(created.session_id, f"/agent {mode}")
                assert client.updates[-1].current_mode_id == mode
            await client.ask(created.session_id, "/copy")
            assert "The next prompt uses" in client.said() and client.said().endswith(
                "The editor has its own way to do that."
            )
            with pytest.raises(RequestError, match="there is no agent 'nobody'"):
                await client.agent.set_session_mode(session_id=created.session_id, mode_id="nobody")
            with pytest.raises(RequestError, match="no open session"):
                await client.ask("gone", "What is a filter?")
            return str(created.session_id)

    async def again(id_: str) -> str:
        async with editor(zkchat) as client:
            listed = await client.agent.list_sessions(cwd=str(zkchat.vault))
            assert [each.session_id for each in listed.sessions] == [id_]
            await client.agent.load_session(cwd=str(zkchat.vault), session_id=id_)
            return client.said("user_message_chunk")

    id_ = asyncio.run(first())
    assert "What is a filter?" in zkchat("sessions", "show", id_).out
    assert zkchat("ask", "--cid", id_, "And a limit?").exit_status == 0
    assert asyncio.run(again(id_)) == "What is a filter?And a limit?"


def test_a_cancelled_answer_is_stored_as_far_as_it_came(zkchat: Program, script: Script) -> None:
    model = script({"deltas": ["It is ", *["slow "] * 200], "delay_ms": 100})

    async def talk() -> str:
        async with editor(zkchat, "--model", model) as client:
            created = await client.agent.new_session(cwd=str(zkchat.vault))
            turn = asyncio.create_task(client.ask(created.session_id, "How fast is it?"))
            await client.heard.wait()
            await client.agent.cancel(session_id=created.session_id)
            assert await turn == "cancelled"
            assert await client.ask(created.session_id, "/tokens") == "end_turn"
            return str(created.session_id)

    shown = zkchat("sessions", "show", asyncio.run(talk()), "--json").json
    assert [message["status"] for message in shown["history"]] == ["complete", "unfinished"]


def test_servers_that_an_editor_hands_over_are_said_to_be_unsupported(zkchat: Program) -> None:
    async def talk() -> str:
        async with editor(zkchat) as client:
            server = schema.McpServerStdio(name="wiki", command="/bin/false", args=[], env=[])
            created = await client.agent.new_session(cwd=str(zkchat.vault), mcp_servers=[server])
            await client.ask(created.session_id, "What is a filter?")
            return client.said("agent_thought_chunk")

    assert "hands over are not supported: wiki" in asyncio.run(talk())


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_change_is_asked_for_with_its_diff(zkchat: Program, script: Script, answer: str) -> None:
    model = script(
        {
            "tool_calls": [
                {
                    "name": "create_note",
                    "arguments": {"path": "Draft.md", "content": "Hel\u200blo\b"},
                }
            ]
        },
        {"text": "It is written."},
    )

    async def talk() -> list[schema.ToolCallUpdate]:
        async with editor(zkchat, "--unsafe", "--model", model, answer=answer) as client:
            created = await client.agent.new_session(cwd=str(zkchat.vault))
            await client.ask(created.session_id, "Write a draft.")
            return client.questions

    [question] = asyncio.run(talk())
    [diff] = [part for part in question.content or [] if part.type == "diff"]
    assert (diff.path, diff.old_text) == (str(zkchat.vault / "Draft.md"), None)
    assert "Hel<U+200B>lo␈" in diff.new_text
    assert (zkchat.vault / "Draft.md").exists() == (answer == "yes")


def test_the_sources_stand_below_an_answer_that_is_cut_in_a_code_block(
    zkchat: Program, script: Script
) -> None:
    model = script({"text": "Run:\n```sh\nls", "finish_reason": "length"})

    async def talk() -> str:
        async with editor(zkchat, "--model", model) as client:
            created = await client.agent.new_session(cwd=str(zkchat.vault))
            assert (
                await client.ask(created.session_id, "What does [[Filters]] say?") == "max_tokens"
            )
            return client.said()

    assert asyncio.run(talk()).startswith("Run:\n```sh\nls\n```\n\n```\nSources")


def test_lines_that_are_no_messages_are_answered_with_a_sentence(zkchat: Program) -> None:
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": 1},
    }
    # The editor leaves without waiting
    asked_at_the_end = {"jsonrpc": "2.0", "id": 2, "method": "session/list", "params": {}}
    done = zkchat(
        "acp", stdin=f"no json\n[1]\n{json.dumps(initialize)}\n{json.dumps(asked_at_the_end)}\n"
    )
    first, second, third = done.lines[:3]
    assert (
        first["error"]["code"],
        second["error"]["code"],
        third["result"]["agentInfo"]["name"],
    ) == (-32700, -32700, "zkchat")
    assert "Traceback" not in done.err


def test_no_line_of_a_result_ends_the_code_block_that_shows_it() -> None:
    assert (code_block("a"), code_block("a\n````sh\nls")) == (
        "```\na\n```",
        "`````\na\n````sh\nls\n`````",
    )


def test_what_the_editor_attaches_becomes_links_and_text(tmp_path: Path) -> None:
    (tmp_path / "My note.md").write_text("x")
    uri = (tmp_path / "My note.md").as_uri()
    selected = schema.EmbeddedResourceContentBlock(
        type="resource",
        resource=schema.TextResourceContents(uri=uri, text="some lines with @secrets"),
    )
    blocks = [
        schema.TextContentBlock(type="text", text="Explain"),
        schema.ResourceContentBlock(type="resource_link", name="My note.md", uri=uri),
        schema.ResourceContentBlock(type="resource_link", name="page", uri="https://example.org/"),
        selected,
    ]
    text, typed = read_prompt(blocks, tmp_path.resolve())
    assert typed == "Explain [[My note.md]]"
    assert text == (
        f"See page (https://example.org/)\n\nFrom My note.md:\nsome lines with @secrets\n\n{typed}"
    )
