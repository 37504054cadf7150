"""The first start: without settings and without notes at hand, somebody at a terminal is asked; nobody else is."""

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Program
from pytest_httpserver import HTTPServer
from terminal_screen import CTRL_C, CTRL_D, Chat

from zkchat_cli.app import factory
from zkchat_cli.app.startup_options import StartupOptions
from zkchat_cli.vault.discovery import VaultCandidate, abbreviate_home, find_vaults


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two vaults, one of them in Obsidian's list, and some folders that are none."""
    made = tmp_path / "anna"
    for name in ("Documents/Garden/.obsidian", "Documents/Letters", "notes/deep", "Pictures", "empty", ".config/obsidian"):
        (made / name).mkdir(parents=True)
    (made / "Documents/Garden/Compost.md").write_text("# Compost\n\nA heap needs air.\n")
    (made / "Documents/Garden/Worms.md").write_text("# Worms\n\nThey like it dark.\n")
    (made / "Documents/Letters/a.md").write_text("not a vault by any sign\n")
    (made / "notes/deep/a.markdown").write_text("A plan.\n")
    listed = {"1": {"path": str(made / "gone"), "ts": 9}, "2": {"path": str(made / "Documents/Garden"), "ts": 5}}
    (made / ".config/obsidian/obsidian.json").write_text(json.dumps({"vaults": listed}))
    return made


@pytest.fixture
def stranger(zkchat: Program, home: Path) -> Program:
    """zkchat as it is started for the first time, in a folder without notes."""
    nobody = {"HOME": str(home), "XDG_CONFIG_HOME": "", "OLLAMA_HOST": "127.0.0.1:9", "OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    return replace(zkchat, vault=home / "empty", env=nobody)


def config(program: Program) -> Path:
    return program.home / "config" / "config.toml"


def test_the_likeliest_folders_come_first_with_their_notes(home: Path) -> None:
    found = find_vaults(home, home / "empty", {}, seconds=10)
    assert found == [VaultCandidate(home / "Documents/Garden", 2, why="Obsidian"), VaultCandidate(home / "notes", 1)]
    assert find_vaults(home, home / "Documents/Letters", {}, seconds=10)[1] == VaultCandidate(
        home / "Documents/Letters", 1, why="the current folder"
    )
    assert [abbreviate_home(each.path, home) for each in found] == ["~/Documents/Garden", "~/notes"]


def test_the_folder_search_ends_in_time(home: Path) -> None:
    for folder in range(40):
        (home / f"notes/{folder}").mkdir()
        for note in range(30):
            (home / f"notes/{folder}/{note}.md").touch()
    began = time.monotonic()
    assert [(each.notes, each.more) for each in find_vaults(home, home / "empty", {}, seconds=10)][1] == (1000, True)
    find_vaults(home, home / "empty", {}, seconds=0.01)
    assert find_vaults(home, home / "empty", {}, seconds=0) == []
    assert time.monotonic() - began < 5


def test_two_answers_and_a_yes_begin_a_chat_and_are_kept(stranger: Program, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/tags").respond_with_json({"models": [{"name": "qwen3:8b"}, {"name": "nomic-embed-text"}]})
    with Chat(stranger, OLLAMA_HOST=httpserver.url_for("/")) as chat:
        chat.wait_for("[1]")
        assert "1  ~/Documents/Garden   2 notes, Obsidian" in chat.screen_text()
        chat.type("9\r")
        chat.wait_for("Type a number from 1 to 3")
        chat.type("~/none\r")
        chat.wait_for("There is no folder ~/none.")
        chat.enter()
        chat.wait_for("Which model should answer?")
        chat.wait_for("1  ollama/qwen3:8b   on this machine")
        assert "nomic" not in chat.screen_text()
        chat.type("2\r")
        chat.wait_for("[y/N]")
        assert not config(stranger).exists()
        chat.type("y\r")
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
        chat.wait_for("Which model should answer?")
        chat.type(CTRL_C)
        assert chat.wait_for_end() == 130
    assert not config(stranger).exists()


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes calls and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_server_that_does_not_answer_keeps_nobody_waiting(stranger: Program, silent: str) -> None:
    with Chat(replace(stranger, env={**stranger.env, "OLLAMA_HOST": silent})) as chat:
        chat.wait_for("[1]")
        began = time.monotonic()
        chat.type("2\r")
        chat.wait_for("Which model should answer?")
        chat.type(CTRL_C)
        assert chat.wait_for_end() == 130
        assert time.monotonic() - began < 4.5  # 5 s are what a call of that server may take


def test_the_others_are_offered_when_one_server_does_not_answer(silent: str, httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/v1/models").respond_with_json({"data": [{"id": "gpt-5"}]})
    env = {"OLLAMA_HOST": silent, "OPENAI_BASE_URL": httpserver.url_for("/v1"), "OPENAI_API_KEY": "k", "ZKCHAT_HOME": str(tmp_path)}
    offers = {offer.provider: offer for offer in factory.available_models(factory.settings(StartupOptions(), env, tmp_path), env, 1.0)}
    assert offers["openai"].names == ("openai/gpt-5",)
    assert (offers["ollama"].names, "did not answer in time" in offers["ollama"].problem) == ((), True)


def test_the_demo_is_tried_out_without_leaving_anything(stranger: Program) -> None:
    with Chat(stranger, columns=40) as chat:
        chat.wait_for("Welcome to zkchat. There are no settings")  # broken between words
        chat.wait_for("[1]")
        chat.type("3\r")
        chat.wait_for("Which model should answer?")
        chat.enter()
        chat.wait_for_prompt()
        assert "[y/N]" not in chat.everything()
    assert not config(stranger).exists()


def test_in_a_pipe_the_error_stays_and_with_settings_nobody_is_asked(stranger: Program) -> None:
    done = stranger("chat", stdin="hello\n")
    assert (done.exit_status, "no vault" in done.err, done.out) == (3, True, "")
    config(stranger).parent.mkdir(parents=True)
    config(stranger).write_text("# mine\n")
    with Chat(stranger) as chat:
        assert chat.wait_for_end() == 3
        assert "no vault" in chat.everything()
