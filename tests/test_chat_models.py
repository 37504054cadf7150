"""Models of servers in the whole program: a real terminal, a real HTTP server in the words of
OpenAI or Ollama.
"""

import json
import time
from pathlib import Path

import pytest
from conftest import Program
from model_server import (
    ModelServer,
    Reply,
    ollama_text,
    openai_delta,
    openai_error,
    openai_text,
    sse,
)
from terminal_screen import CTRL_C, ENTER, ESCAPE, TAB, Chat, stored_conversations

KEY = "sk-this-is-a-secret-4711"


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.gets["/v1/models"] = {
        "data": [{"id": "tiny", "max_model_len": 8192}, {"id": "large", "max_model_len": 200_000}]
    }
    server.gets["/api/tags"] = {"models": [{"name": "qwen3:8b"}]}
    server.gets["/api/show"] = {"model_info": {"qwen3.context_length": 40_960}}
    server.says(Reply(openai_text("A filter says ", "which tasks you want.")))
    return server


@pytest.fixture
def zkchat(zkchat: Program, server: ModelServer) -> Program:
    zkchat.env |= {
        "OPENAI_BASE_URL": f"{server.address}/v1",
        "OPENAI_API_KEY": KEY,
        "OLLAMA_HOST": server.address,
    }
    return zkchat


def everything_written(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


# one question


def test_a_question_is_answered_by_the_server_and_nothing_else_is_printed(
    zkchat: Program, server: ModelServer
) -> None:
    done = zkchat("ask", "What is a filter?", "--model", "openai/tiny", "--answer-only")
    assert (done.exit_status, done.out, done.err) == (
        0,
        "A filter says which tasks you want.\n",
        "",
    )
    [(path, body, headers)] = server.asked
    assert (path, body["model"], headers["authorization"]) == (
        "/v1/chat/completions",
        "tiny",
        f"Bearer {KEY}",
    )


def test_the_key_is_never_written(zkchat: Program, server: ModelServer, tmp_path: Path) -> None:
    server.says(
        Reply(openai_text("Fine.")),
        openai_error(401, f"Incorrect API key provided: {KEY}"),
        openai_error(400, f"Your key {KEY} is odd"),
        Reply([sse({"error": {"message": f"no more for {KEY}"}})]),
    )
    done = zkchat("chat", "--model", "openai/tiny", "--verbose", stdin="a\nb\nc\n")
    said = done.out + done.err
    done = zkchat(
        "ask", "What is a filter?", "--model", "openai/tiny", "--verbose", "--stream-json"
    )
    said += done.out + done.err + zkchat("context", "export", "--format", "json").out
    done = zkchat("doctor", "--model", "openai/tiny", "--verbose")
    assert "OPENAI_API_KEY is set" in done.out
    assert KEY not in said + done.out + done.err
    assert KEY.encode() not in everything_written(tmp_path)
    assert b"asking openai/tiny" in everything_written(tmp_path)


# a chat


def test_the_chat_streams_an_answer_and_shows_the_window_found_meanwhile(
    zkchat: Program, server: ModelServer
) -> None:
    server.says(
        Reply([piece for event in openai_text("one ", "two ", "three") for piece in (event, 0.4)])
    )
    with Chat(zkchat, "--model", "openai/tiny", columns=100) as chat:
        chat.wait_until(lambda: "7.4k" in "".join(chat.toolbars()), "90 % of the window of 8192")
        chat.say("Count.")
        chat.wait_for("one two")
        assert "three" not in chat.everything()
        chat.wait_for(" s · Ctrl-C stops")
        chat.wait_for("one two three")
        chat.wait_for(" tokens in, ~3 out\n")


def test_a_model_that_would_not_answer_is_reported_above_the_prompt(zkchat: Program) -> None:
    with Chat(zkchat, "--model", "openai/tny", columns=120) as chat:
        chat.wait_for("has no model tny")
        chat.wait_for("It has tiny, large.")
    zkchat.env |= {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": ""}
    with Chat(zkchat, "--model", "openai/gpt-5") as chat:
        chat.wait_for("OPENAI_API_KEY is not set")


def test_reasoning_is_shown_before_the_answer_stored_and_not_sent_back(
    zkchat: Program, server: ModelServer
) -> None:
    thought = sse(
        openai_delta(reasoning_content="First I "),
        openai_delta(reasoning_content="think of tasks."),
    )
    server.says(Reply([thought, *openai_text("It says which.")]))
    with Chat(zkchat, "--model", "openai/tiny", columns=100) as chat:
        chat.ask("What is a filter?", "It says which.")
        lines = [line.strip() for line in chat.everything().split("\n")]
        assert (
            lines.index("thinking")
            < lines.index("First I think of tasks.")
            < lines.index("It says which.")
        )
        chat.ask("And again?", "It says which.")
    assert [m.get("reasoning") for m in stored_conversations(zkchat)] == [
        None,
        "First I think of tasks.",
    ] * 2
    assert "think of tasks" not in json.dumps(server.bodies[-1])


def test_reasoning_can_be_left_unseen(zkchat: Program, server: ModelServer) -> None:
    server.says(Reply([sse(openai_delta(reasoning_content="Hm.")), *openai_text("It says which.")]))
    zkchat.env["ZKCHAT_CHAT__SHOW_REASONING"] = "false"
    with Chat(zkchat, "--model", "openai/tiny", columns=100) as chat:
        chat.ask("What is a filter?", "It says which.")
        assert "Hm." not in chat.everything()


def test_the_wait_for_a_server_is_counted_down_and_ended_by_ctrl_c(
    zkchat: Program, server: ModelServer
) -> None:
    server.says(
        openai_error(429, "slow down", {"retry-after": "60"}), Reply(openai_text("Here I am."))
    )
    with Chat(zkchat, "--model", "openai/tiny") as chat:
        chat.say("Hello?")
        chat.wait_for("again in")
        began = time.monotonic()
        chat.type(CTRL_C)
        chat.wait_for("stopped before the answer began; /retry asks again")
        assert time.monotonic() - began < 5  # of the 60 s
        assert "again in" not in chat.everything()
        chat.ask("Now?", "Here I am.")


def test_the_model_is_changed_in_the_middle_of_a_conversation(
    zkchat: Program, server: ModelServer
) -> None:
    with Chat(zkchat, "--model", "openai/tiny", columns=100) as chat:
        chat.ask("What is a filter?", "which tasks you want.")
        chat.type("/model" + ENTER)
        chat.wait_for("openai/tiny, context window 8,192 tokens (the server's list of models)")
        for name in ("openai/large", "ollama/qwen3:8b", "offline"):
            chat.wait_for(name)
        chat.type(ESCAPE)
        chat.wait_for("nothing chosen")
        chat.wait_for_prompt()
        listed = chat.everything().count("ollama/qwen3:8b")
        chat.type("/model qw")
        chat.wait_until(lambda: chat.everything().count("ollama/qwen3:8b") > listed, "the menu")
        chat.type(TAB)
        chat.wait_for("/model ollama/qwen3:8b")
        # Kill the line: how a completion is taken is another test's matter
        chat.type("\x15")
        chat.ask(
            "/model ollama/qwen3:8b", "Switched to ollama/qwen3:8b, context window 32,768 tokens"
        )
        chat.wait_until(lambda: "29.5k" in "".join(chat.toolbars()), "90 % of the new window")
        server.says(*([Reply(ollama_text("By Ollama."))] * 2))
        chat.ask("And you?", "By Ollama.")
        chat.ask("/model large", "Switched to openai/large, context window 200,000 tokens")
        chat.ask("/model nobody/here", "unknown model 'nobody/here'")
    assert server.bodies[-1]["options"]["num_ctx"] == 32768
    assert [m["model"] for m in stored_conversations(zkchat) if m["role"] == "assistant"] == [
        "openai/tiny",
        "ollama/qwen3:8b",
    ]
