"""`context export --format context`: the very request that the next call would send; and the schema
of the lossless format.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program
from factories import AppFixture, message, report_of, resume
from model_calls import KEY
from model_server import ModelServer, Reply, anthropic_text, ollama_text, openai_text

from zkchat_cli.exporters import exporter
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Model, ModelConfig
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.slash import run

TEXTS: dict[str, Callable[..., list[bytes | float | str]]] = {
    "openai": openai_text,
    "ollama": ollama_text,
    "anthropic": anthropic_text,
}
QUESTION = "Where is the anvil? [[Filters]]"


def a_model(provider: str, address: str) -> Model:
    env = {
        f"{provider.upper()}_BASE_URL": address,
        f"{provider.upper()}_API_KEY": KEY,
        "OLLAMA_HOST": address,
    }
    return providers.provider(provider).open(
        ModelConfig("m", providers.provider(provider).settings(), env)
    )


@pytest.mark.parametrize("provider", TEXTS)
def test_it_is_what_the_server_gets_to_the_last_character(
    app: AppFixture, server: ModelServer, provider: str
) -> None:
    server.says(Reply(TEXTS[provider]("There.")))
    call = message(
        "assistant",
        "",
        "a1",
        parent_id="q1",
        tool_calls=(ToolCall(id="c1", name="find_excerpts", arguments={"query": "筛选"}),),
    )
    found = message(
        "tool", "Nothing.", "t1", parent_id="a1", tool_call_id="c1", tool_name="find_excerpts"
    )
    session = resume(
        app,
        (message("user", "Is there an anvil?", "q1"), call, found),
        model=a_model(provider, server.address),
    )
    session.runtimes.prepare()
    shown = exporter("context").export(session.request(QUESTION))
    report_of(session.send(QUESTION))
    assert json.loads(shown) == server.bodies[0]
    assert "筛选" in shown
    assert KEY not in shown


def test_without_a_server_it_is_the_form_that_most_of_them_speak(zkchat: Program) -> None:
    zkchat("ask", "How are filters joined?")
    request = zkchat("context", "export", "--format", "context").json
    assert request["model"] == "offline"
    described = [tool["function"]["name"] for tool in request["tools"]]
    assert {"find_excerpts", "read_zk_document"} < set(described)
    [calling, *_] = [message for message in request["messages"] if "tool_calls" in message]
    answer = request["messages"][request["messages"].index(calling) + 1]
    assert (answer["role"], answer["tool_call_id"]) == ("tool", calling["tool_calls"][0]["id"])
    assert json.loads(calling["tool_calls"][0]["function"]["arguments"])["query"]


def test_the_model_can_be_another_than_the_settings_one(
    zkchat: Program, script: Callable[..., str]
) -> None:
    zkchat("ask", "How are filters joined?")
    model = script({"text": "never asked"})
    assert (
        zkchat("context", "export", "--format", "context", "--model", model).json["model"] == model
    )


def test_the_slash_command_writes_it_too(app: AppFixture, tmp_path: Path) -> None:
    session = resume(
        app,
        (
            message("user", "Is there an anvil?", "q1"),
            message("assistant", "No.", "a1", parent_id="q1"),
        ),
    )
    run(f"/export context {tmp_path / 'call.json'}", session)
    assert json.loads((tmp_path / "call.json").read_text())["messages"][-1]["content"] == "No."


def test_a_conversation_can_be_exported_after_its_vault_is_gone(
    zkchat: Program, tmp_path: Path
) -> None:
    id_ = zkchat("ask", "What is a filter?", "--json").json["conversation_id"]
    zkchat.vault.rename(tmp_path / "gone")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert (
        zkchat("context", "export", id_, "--format", "json", cwd=elsewhere).json["messages"][0][
            "content"
        ]
        == "What is a filter?"
    )
    refused = zkchat("context", "export", cwd=elsewhere)
    assert (refused.exit_status, refused.out) == (3, "")
    assert "no vault" in refused.err


def test_a_file_is_replaced_whole_or_not_at_all(zkchat: Program, tmp_path: Path) -> None:
    zkchat("ask", "How are filters joined?")
    file = tmp_path / "talk.md"
    file.write_text("what was there")
    file.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(file)
    assert zkchat("context", "export", "no-such", "-o", link).exit_status == 3
    assert file.read_text() == "what was there"
    done = zkchat("context", "export", "-o", link)
    assert (done.exit_status, done.out) == (0, "")
    assert file.read_text().startswith("---\nconversation: ")
    assert (file.stat().st_mode & 0o777, link.is_symlink()) == (0o640, True)
    assert sorted(path.name for path in tmp_path.iterdir() if "talk" in path.name) == ["talk.md"]
    for place in (tmp_path, tmp_path / "no" / "such" / "folder.md"):
        refused = zkchat("context", "export", "-o", place)
        assert (refused.exit_status, "cannot be written" in refused.err, refused.out) == (
            3,
            True,
            "",
        )
