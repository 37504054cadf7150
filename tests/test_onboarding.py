"""The first start: without settings and without notes at hand, somebody at a terminal is asked;
nobody else is.
"""

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Program
from pytest_httpserver import HTTPServer
from terminal_screen import CTRL_C, CTRL_D, Chat

from zkchat_cli.app.model_servers import available_models
from zkchat_cli.app.settings import StartupOptions, load_settings
from zkchat_cli.vault.filesystem import find_vaults


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two vaults, one of them in Obsidian's list, and some folders that are none."""
    made = tmp_path / "anna"
    for name in (
        "Documents/Garden/.obsidian",
        "Documents/Letters",
        "notes/deep",
        "Pictures",
        "empty/.tool",
        ".config/obsidian",
    ):
        (made / name).mkdir(parents=True)
    (made / "Documents/Garden/Compost.md").write_text("# Compost\n\nA heap needs air.\n")
    (made / "Documents/Garden/Worms.md").write_text("# Worms\n\nThey like it dark.\n")
    (made / "Documents/Letters/a.md").write_text("not a vault by any sign\n")
    (made / "notes/deep/a.md").write_text("A plan.\n")
    (made / "empty/.tool/README.md").write_text("Not a note.\n")
    listed = {
        "1": {"path": str(made / "gone"), "ts": 9},
        "2": {"path": str(made / "Documents/Garden"), "ts": 5},
    }
    (made / ".config/obsidian/obsidian.json").write_text(json.dumps({"vaults": listed}))
    return made


@pytest.fixture
def stranger(zkchat: Program, home: Path) -> Program:
    """zkchat as it is started for the first time, in a folder without notes."""
    nobody = {"OLLAMA_HOST": "127.0.0.1:9", "LLAMA_ARG_PORT": "9"}
    return replace(
        zkchat, vault=home / "empty", env={"HOME": str(home), "XDG_CONFIG_HOME": "", **nobody}
    )


class ChatWithoutCommand(Chat):
    """`zkchat` alone, with an option of the chat."""

    name = "--model=offline"


def config(program: Program) -> Path:
    return program.home / "config" / "config.toml"


def test_obsidians_vaults_and_usual_places_with_notes_are_found(home: Path) -> None:
    assert find_vaults(home) == [home / "Documents/Garden", home / "notes"]


def test_two_answers_and_a_yes_begin_a_chat_and_are_kept(
    stranger: Program, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/api/tags").respond_with_json(
        {"models": [{"name": "qwen3:8b"}, {"name": "nomic-embed-text"}]}
    )
    with Chat(stranger, OLLAMA_HOST=httpserver.url_for("/")) as chat:
        chat.wait_for("[1]")
        assert "/anna/Documents/Garden" in "".join(chat.screen_text().split())
        chat.type("9\r")
        chat.wait_for("Type a number from 1 to 3")
        chat.type("~/none\r")
        chat.wait_for("~/none is no folder with Markdown notes.")
        chat.type("~/empty\r")
        chat.wait_for("~/empty is no folder with Markdown notes.")
        chat.enter()
        chat.wait_for("Which model should answer?")
        chat.wait_for("1  ollama/qwen3:8b")
        assert "nomic" not in chat.screen_text()
        chat.type("gpt5\r")
        chat.wait_for("Unknown model 'gpt5'. Models are named PROVIDER")
        chat.type("2\r")
        chat.wait_for("Save this choice for the next start? [Y/n]")
        assert not config(stranger).exists()
        chat.enter()
        chat.wait_for_prompt()
        assert "Garden (2) · offline" in chat.everything()
        chat.type(CTRL_D)
        assert chat.wait_for_end() == 0
    garden = stranger.vault.parent / "Documents/Garden"
    assert stranger("config", "get", "vault.path").out.strip() == str(garden)
    assert stranger("config", "get", "model").out.strip() == "offline"
    assert stranger("ask", "What does a heap need?").exit_status == 0


def test_ctrl_c_leaves_and_nothing_was_changed(stranger: Program) -> None:
    with Chat(stranger) as chat:
        chat.wait_for("[1]")
        chat.type("2\r")
        chat.type("7\r")
        chat.wait_for("Type 1, or type its name.")
        assert chat.wait_for_end(lambda: chat.type(CTRL_C)) == 130
    assert not config(stranger).exists()


def test_the_others_are_offered_when_one_server_does_not_answer(
    httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/v1/models").respond_with_json({"data": [{"id": "gpt-5"}]})
    openai = {"OPENAI_BASE_URL": httpserver.url_for("/v1"), "OPENAI_API_KEY": "k"}
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes calls and never answers
        env = {
            "OLLAMA_HOST": f"127.0.0.1:{silent.getsockname()[1]}",
            "ZKCHAT_HOME": str(tmp_path),
            **openai,
        }
        offers = {
            offer.provider: offer
            for offer in available_models(load_settings(StartupOptions(), env, tmp_path), 2)
        }
    assert offers["openai"].names == ("openai/gpt-5",)
    assert (offers["ollama"].names, "did not answer in time" in offers["ollama"].problem) == (
        (),
        True,
    )


@pytest.mark.parametrize("named", [(), ("--model", "ollama/none")])
def test_the_demo_is_tried_out_without_leaving_anything(
    stranger: Program, named: tuple[str, ...]
) -> None:
    with Chat(stranger, *named, columns=40) as chat:
        # Broken between words
        chat.wait_for("Welcome to zkchat. Enter takes the first\n    answer.")
        chat.wait_for("[1]")
        chat.type("3\r")
        if not named:
            chat.wait_for("Which model should answer?")
            chat.enter()
        chat.wait_for_prompt()
        assert "[Y/n]" not in chat.everything()
    assert not config(stranger).exists()


def test_a_pipe_gets_an_error_and_a_terminal_the_questions_even_with_settings_that_name_no_vault(
    stranger: Program,
) -> None:
    done = stranger("chat", stdin="hello\n")
    assert (done.exit_status, "no vault" in done.err, done.out) == (3, True, "")
    config(stranger).parent.mkdir(parents=True)
    config(stranger).write_text("# mine\n")
    with Chat(stranger) as chat:
        chat.wait_for("Which notes do you want to chat with?")


def test_the_chat_after_the_questions_suggests_one_about_the_newest_note(stranger: Program) -> None:
    garden = stranger.vault.parent / "Documents/Garden"
    (garden / "Worms.md").write_text("They live in the soil.\n")
    with ChatWithoutCommand(stranger) as chat:
        chat.wait_for("[1]")
        chat.enter()
        chat.wait_for("[Y/n]")
        assert "Which model" not in chat.everything()
        chat.type("n\r")
        chat.wait_for_prompt()
        chat.wait_for("to try: What do my notes say about Worms?")
    assert not config(stranger).exists()


def test_a_llama_cpp_server_on_this_machine_is_offered_and_saved_with_its_address(
    stranger: Program, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/v1/models").respond_with_json({"data": [{"id": "qwen3-8b"}]})
    with Chat(stranger, LLAMA_ARG_PORT=str(httpserver.port)) as chat:
        chat.wait_for("[1]")
        chat.enter()
        chat.wait_for("1  openai/qwen3-8b (llama.cpp on this machine)")
        chat.enter()
        chat.wait_for("[Y/n]")
        chat.enter()
        chat.wait_for_prompt()
        assert "openai/qwen3-8b" in chat.everything()
    assert (
        stranger("config", "get", "openai.base_url").out.strip()
        == f"http://127.0.0.1:{httpserver.port}/v1"
    )
    assert stranger("config", "get", "openai.key_variable").out.strip() == "LLAMA_API_KEY", (
        "a key of OpenAI is not for this server"
    )
