"""What a server said about a model is remembered: a server that is down changes no figure."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from model_calls import OLLAMA
from model_server import Reply, running_server

from zkchat_cli.llm.model_reports import ModelReport, ModelReports

REMEMBERED = "remembered until the server answers"


def stats(zkchat: Program, *options: object) -> Any:
    """`context stats` in a process of its own."""
    return zkchat("context", "stats", "--model", "ollama/qwen3", "--json", *options).json


@pytest.fixture
def stopped(zkchat: Program) -> Program:
    """zkchat with a server that was asked once, and that is down now."""
    with running_server() as server:
        server.gets["/api/show"] = {
            "model_info": {"qwen3.context_length": 12_288},
            "capabilities": ["tools"],
        }
        zkchat.env["OLLAMA_HOST"] = server.address
        assert stats(zkchat)["max_context"] == 12_288
    return zkchat


def test_a_server_that_is_down_does_not_change_the_window(stopped: Program) -> None:
    found = stats(stopped)
    assert (found["max_context"], found["window_source"]) == (
        12_288,
        f"Ollama: model_info.qwen3.context_length, {REMEMBERED}",
    )
    shown = stopped("context", "stats", "--model", "ollama/qwen3").out
    assert (
        f"Context window: 12,288 tokens (Ollama: model_info.qwen3.context_length, {REMEMBERED})"
        in shown
    )


def test_it_is_remembered_for_this_model_and_this_server_only(stopped: Program) -> None:
    other = stopped("context", "stats", "--model", "ollama/other", "--json").json
    assert other["max_context"] == 32_768
    stopped.env["OLLAMA_HOST"] = "http://127.0.0.1:9/elsewhere"
    assert stats(stopped)["max_context"] == 32_768


def test_what_the_server_says_now_counts(stopped: Program) -> None:
    with running_server() as server:
        server.gets["/api/show"] = {"model_info": {"qwen3.context_length": 4_096}}
        stopped.env["OLLAMA_HOST"] = server.address
        found = stats(stopped)
    assert (found["max_context"], found["window_source"]) == (
        4_096,
        "Ollama: model_info.qwen3.context_length",
    )


def test_a_setting_counts_more_than_what_is_remembered(stopped: Program) -> None:
    assert stats(stopped, "--max-context", 6000)["max_context"] == 6000


def test_a_question_that_is_not_stored_leaves_no_report(zkchat: Program) -> None:
    with running_server() as server:
        server.gets["/api/show"] = {"model_info": {"qwen3.context_length": 12_288}}
        zkchat.env["OLLAMA_HOST"] = server.address
        server.says(Reply(OLLAMA.text("Because.")))
        zkchat("ask", "--no-store", "Why?", "--model", "ollama/qwen3")
    assert stats(zkchat)["max_context"] == 32_768


def test_the_file_has_no_password_of_an_address(tmp_path: Path) -> None:
    file = tmp_path / "reports.json"
    address = "https://me:secret@host.example"
    ModelReports(file).remember("ollama/m", address, ModelReport(4_096, "its server"))
    assert "secret" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert ModelReports(file).find("ollama/m", address) == ModelReport(4_096, "its server")


@pytest.mark.parametrize("content", ["", "[1]", "{", json.dumps({"m": 1}), "\0"])
def test_a_damaged_file_is_as_none_and_is_replaced(tmp_path: Path, content: str) -> None:
    file = tmp_path / "reports.json"
    file.write_text(content)
    reports = ModelReports(file)
    assert reports.find("m", "http://host") is None
    reports.remember("m", "http://host", ModelReport(calls_tools=False))
    assert ModelReports(file).find("m", "http://host") == ModelReport(calls_tools=False)
