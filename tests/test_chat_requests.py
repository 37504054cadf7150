"""Requests to OpenAI-compatible servers and Ollama: options, ids, proxies, windows, and requests
that cannot be sent.
"""

from typing import Any

import pytest
from model_calls import KEY, OLLAMA, OPENAI, REQUEST, Protocol, call_model, open_model
from model_server import ModelServer, Reply, closed_port, openai_text

from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ModelConfig, Options, Request, Window
from zkchat_cli.llm.providers.openai import PROVIDER
from zkchat_cli.llm.providers.openai.server import OpenAISettings
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.prompts import PromptMessage

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)


@pytest.mark.parametrize(
    ("model", "official", "expected"),
    [
        ("gpt-5", True, {"max_completion_tokens": 99, "reasoning_effort": "low"}),
        (
            "gpt-4o",
            True,
            {"max_completion_tokens": 99, "reasoning_effort": "low", "temperature": 0.5},
        ),
        (
            "my-gpt-5-clone",
            False,
            {"max_tokens": 99, "reasoning_effort": "low", "temperature": 0.5},
        ),
    ],
)
def test_options_by_server_and_model(model: str, official: bool, expected: dict[str, Any]) -> None:
    options = Options(max_output_tokens=99, temperature=0.5, reasoning_effort="low")
    settings = OpenAISettings(api="chat", base_url="" if official else "http://127.0.0.1:8080/v1")
    body = PROVIDER.open(ModelConfig(model, settings)).body(REQUEST._replace(options=options))
    assert {
        name: value
        for name, value in body.items()
        if name not in ("model", "messages", "stream", "stream_options", "tools")
    } == expected


def test_windows_of_openais_models_are_known() -> None:
    models: list[Any] = [
        PROVIDER.open(ModelConfig(name, None, {"OPENAI_API_KEY": KEY}))
        for name in ("gpt-4o-2024-11-20", "gpt-of-tomorrow")
    ]
    assert [window and window.tokens for window in (model.find_window() for model in models)] == [
        128_000,
        None,
    ]


@pytest.mark.parametrize(
    ("provider", "name", "key", "message"),
    [
        ("ollama", "", "", "ollama needs the name of a model"),
        ("openai", "", KEY, "openai needs the name of a model"),
        ("openai", "gpt-4o", "", "OpenAI needs a key, and OPENAI_API_KEY is not set"),
        (
            "openai",
            "gpt-4o",
            "sk-secret 0123",
            "OPENAI_API_KEY contains characters that are not valid in a key",
        ),
        (
            "anthropic",
            "claude-opus-5",
            "",
            "Anthropic needs a key, and ANTHROPIC_API_KEY is not set",
        ),
        (
            "anthropic",
            "claude-opus-5",
            "sk-ключ",
            "ANTHROPIC_API_KEY contains characters that are not valid in a key",
        ),
    ],
)
def test_wrong_configuration_is_reported_without_a_call(
    provider: str, name: str, key: str, message: str
) -> None:
    model = providers.provider(provider).open(
        ModelConfig(name, None, {f"{provider.upper()}_API_KEY": key})
    )
    model.prepare()
    error = call_model(model).error
    assert (error.kind, error.message) == ("auth" if name else "unknown_model", message)


def test_proxy_is_used_for_other_machines_only(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(variable, server.address)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    server.says(Reply(openai_text("Yes.")))
    assert (
        call_model(open_model("openai", "http://models.invalid/v1", allow_insecure=True)).text
        == "Yes."
    )
    assert server.everything == ["POST http://models.invalid/v1/chat/completions"]
    assert OPENAI.ask(server, Reply(openai_text("Yes."))).text == "Yes."
    assert server.everything[1:] == ["POST /v1/chat/completions"]


@pytest.mark.parametrize(
    ("listed", "name"), [("vendor/m", "vendor/m:nitro"), ("models/gemini-3", "gemini-3")]
)
def test_a_model_may_be_listed_under_another_name(
    server: ModelServer, listed: str, name: str
) -> None:
    server.gets["/v1/models"] = {"data": [{"id": listed, "context_length": 4096}]}
    model: Any = open_model("openai", f"{server.address}/v1", name)
    model.prepare()
    assert (model.window, model.check()) == (Window(4096, "the server's list of models"), None)


def test_a_server_that_was_started_late_is_asked_for_the_window_again(server: ModelServer) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "m", "max_model_len": 4096}]}
    model: Any = open_model("openai", closed_port() + "/v1")
    model.prepare()
    model.server.address = f"{server.address}/v1"
    model.prepare()
    assert model.window == Window(4096, "the server's list of models")


@pytest.mark.parametrize(
    ("protocol", "answer", "tokens"),
    [
        (OPENAI, {"data": [{"id": "m", "max_model_len": 4096}]}, 4096),
        (OPENAI, {"data": [{"id": "m", "n_ctx": None, "meta": {"n_ctx": 4096}}]}, 4096),
        (OPENAI, {"data": [{"id": "m", "max_model_len": 4096, "meta": "a text"}]}, 4096),
        (OPENAI, {"data": [{"id": "m", "context_length": "4096"}]}, None),
        (OPENAI, {"data": [{"id": "m"}]}, None),
        (OPENAI, {"data": [{"id": "m", "owned_by": "organization_owner"}]}, 7424),
        (
            OLLAMA,
            {"model_info": {"general.architecture": "llama", "llama.context_length": 8192}},
            8192,
        ),
        (
            OLLAMA,
            {"model_info": {"general.architecture": "llama", "llama.context_length": 131072}},
            32768,
        ),
        (
            OLLAMA,
            {
                "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
                "parameters": "num_ctx 65536",
            },
            65536,
        ),
        (OLLAMA, {"model_info": {}}, None),
        (OLLAMA, [], None),
        (OLLAMA, Reply([b"{"]), None),
    ],
)
def test_window_is_asked_for_once(
    server: ModelServer, protocol: Protocol, answer: Any, tokens: int | None
) -> None:
    server.gets |= {
        "/v1/models": answer,
        "/api/show": answer,
        "/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 7424}]},
    }
    model = open_model(protocol.name, protocol.address(server))
    model.prepare()
    model.prepare()
    assert (model.window and model.window.tokens) == tokens
    # LM Studio has it in a list of its own
    assert len(server.everything) == 1 + (tokens == 7424)


def test_calls_of_another_provider_are_made_valid() -> None:
    call = ToolCall(id=50 * "i", name="notes.find it!")
    asked = PromptMessage(
        role="assistant", content="", tool_calls=(call,), tokens=9, kind="conversation"
    )
    result = PromptMessage(
        role="tool", content="{}", tool_call_id=call.id, tokens=9, kind="tool_results"
    )
    request = Request((*REQUEST.messages, asked, result))
    _, asking, answered = PROVIDER.open(ModelConfig("gpt-5", OpenAISettings(api="chat"))).body(
        request
    )["messages"]
    assert asking["tool_calls"][0]["function"]["name"] == "notes__find_it_"
    assert (asking["tool_calls"][0]["id"], answered["tool_call_id"]) == (40 * "i", 40 * "i")
