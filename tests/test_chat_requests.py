"""Requests to OpenAI-compatible servers and Ollama: options, ids, proxies, windows, and requests that cannot be sent."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from model_calls import KEY, OLLAMA, OPENAI, REQUEST, Protocol, a_model, ask
from model_server import ModelServer, Reply, openai_text, running_server

from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ModelConfig, Options, Request
from zkchat_cli.llm.openai_chat import known_window, request_body
from zkchat_cli.models import PromptMessage, ToolCall

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_server() as running:
        yield running


def official(model: str, options: Options) -> dict[str, Any]:
    """What OpenAI itself would be sent."""
    return request_body(model, replace(REQUEST, options=options), "https://api.openai.com/v1", official=True)


@pytest.mark.parametrize("model", ["o3", "gpt-5", "gpt-5-of-tomorrow", "o1"])
def test_options_of_openais_reasoning_models(model: str) -> None:
    body = official(model, Options(max_output_tokens=99, reasoning_effort="low"))
    assert (body["max_completion_tokens"], body["reasoning_effort"], "max_tokens" in body) == (99, "low", False)


def test_options_of_openais_other_models() -> None:
    body = official("gpt-4o", Options(max_output_tokens=99, temperature=0.5))
    assert (body["max_tokens"], body["temperature"]) == (99, 0.5)


@pytest.mark.parametrize("name", ["my-gpt-5-clone", "o1-mini-uncensored", "DeepSeek-R1"])
def test_models_of_other_servers_get_the_usual_options_whatever_their_name(server: ModelServer, name: str) -> None:
    request = replace(REQUEST, options=Options(max_output_tokens=99, temperature=0.5))
    assert OPENAI.ask(server, Reply(openai_text("Yes.")), request=request, name=name).text == "Yes."
    assert (server.bodies[0]["max_tokens"], server.bodies[0]["temperature"]) == (99, 0.5)


def test_windows_of_openais_models_are_known() -> None:
    assert known_window("gpt-4o") == 128_000
    assert known_window("gpt-of-tomorrow") is None


@pytest.mark.parametrize(
    ("name", "key", "kind", "said"),
    [
        ("", KEY, "unknown_model", "openai needs the name of a model"),
        ("gpt-4o", "", "auth", "OpenAI needs a key, and OPENAI_API_KEY is not set"),
        ("gpt-4o", "sk-secret 0123", "auth", "OPENAI_API_KEY contains characters that no key has"),
        ("gpt-4o", "sk-Schlüssel", "auth", "OPENAI_API_KEY contains characters that no key has"),
    ],
)
def test_wrong_configuration_is_reported_without_a_call(name: str, key: str, kind: str, said: str) -> None:
    model = providers.provider("openai").open(ModelConfig(name, None, {"OPENAI_API_KEY": key}))
    model.prepare()
    error = ask(model).error
    assert (error.kind, error.message) == (kind, said)


def test_ollama_needs_the_name_of_a_model() -> None:
    error = ask(providers.provider("ollama").open(ModelConfig("", None, {}))).error
    assert (error.kind, error.message) == ("unknown_model", "ollama needs the name of a model")


@BOTH
def test_request_with_a_number_that_json_lacks_is_not_sent(server: ModelServer, protocol: Protocol) -> None:
    call = ToolCall(id="a", name="f", arguments={"n": float("nan")} if protocol is OLLAMA else {})
    asked = PromptMessage(role="assistant", content="", tool_calls=(call,), tokens=1, kind="conversation")
    options = Options(temperature=float("nan")) if protocol is OPENAI else Options()
    error = protocol.ask(server, Reply([]), request=Request((*REQUEST.messages, asked), options=options)).error
    assert (error.kind, server.asked) == ("bad_request", [])


def test_proxy_is_used_for_other_machines_only(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(variable, server.address)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    server.says(Reply(openai_text("Yes.")))
    assert ask(a_model("openai", "http://models.invalid/v1")).text == "Yes."
    assert server.everything == ["POST http://models.invalid/v1/chat/completions"]
    assert OPENAI.ask(server, Reply(openai_text("Yes."))).text == "Yes."
    assert server.everything[1:] == ["POST /v1/chat/completions"]


@pytest.mark.parametrize(
    ("row", "tokens"),
    [
        ({"max_model_len": 4096}, 4096),
        ({"meta": {"n_ctx": 4096}}, 4096),
        ({"top_provider": {"context_length": 4096}}, 4096),
        ({"context_length": "4096"}, None),
        ({}, None),
    ],
)
def test_window_of_a_listed_model(server: ModelServer, row: dict[str, Any], tokens: int | None) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "m", **row}]}
    model = a_model("openai", f"{server.address}/v1")
    model.prepare()
    model.prepare()
    assert (model.window and model.window.tokens) == tokens
    assert len(server.everything) == 1


@pytest.mark.parametrize(
    ("show", "tokens"),
    [
        ({"model_info": {"general.architecture": "llama", "llama.context_length": 8192}}, 8192),
        ({"model_info": {"general.architecture": "llama", "llama.context_length": 131072}}, 32768),
        ({"model_info": {"general.architecture": "llama", "llama.context_length": 131072}, "parameters": "num_ctx 65536"}, 65536),
        ({"model_info": {}}, None),
        ([], None),
        (Reply([b"{"]), None),
    ],
)
def test_window_of_an_ollama_model(server: ModelServer, show: Any, tokens: int | None) -> None:
    server.gets["/api/show"] = show
    model = a_model("ollama", server.address)
    model.prepare()
    model.prepare()
    assert (model.window and model.window.tokens) == tokens
    assert len(server.everything) == 1


@BOTH
def test_surrogate_halves_are_replaced(server: ModelServer, protocol: Protocol) -> None:
    body = b"".join(piece for piece in protocol.text("HALF", "HALVES") if isinstance(piece, bytes))
    answer = protocol.ask(server, Reply([body.replace(b"HALVES", rb"\ude00 b").replace(b"HALF", rb"a \ud83d")]))
    assert (answer.text, answer.end.reason) == ("a \ufffd\ufffd b", "stop")


# a history that began with another provider


def after_others(*ids: str, name: str = "find_excerpts") -> Request:
    """A question after a turn with calls of these ids, and one of its own."""

    def said(role: str, content: str, **more: Any) -> PromptMessage:
        return PromptMessage.model_validate({"role": role, "content": content, "tokens": 9, "kind": "conversation", **more})

    def turn(*ids: str) -> list[PromptMessage]:
        calls = tuple(ToolCall(id=each, name=name, arguments={}) for each in ids)
        return [said("user", "Why?"), said("assistant", "", tool_calls=calls), *(said("tool", "{}", tool_call_id=each) for each in ids)]

    return Request((*turn(*ids), said("assistant", "Because."), *turn(ids[0])))


def ids_sent(server: ModelServer, request: Request, model: str) -> list[str]:
    """Those of calls, which must be those of their results."""
    OPENAI.ask(server, Reply(openai_text("Yes.")), request=request, name=model)
    messages = server.bodies[-1]["messages"]
    called = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert called == [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return called


@pytest.mark.parametrize("model", ["mistral-large-latest", "Devstral-Small"])
def test_mistrals_models_get_ids_of_nine_characters(server: ModelServer, model: str) -> None:
    sent = ids_sent(server, after_others("toolu_01A09q90qw90lq917835lq9", "call|1", "abcDEF123"), model)
    assert all(len(each) == 9 and each.isalnum() for each in sent)
    assert (sent[2], sent[3], len(set(sent))) == ("abcDEF123", sent[0], 3)


def test_invalid_tool_name_is_made_valid(server: ModelServer) -> None:
    OPENAI.ask(server, Reply(openai_text("Yes.")), request=after_others("call_1", name="notes.find it!" + 99 * "x"))
    [first, _] = [message for message in server.bodies[-1]["messages"] if "tool_calls" in message]
    assert first["tool_calls"][0]["function"]["name"] == "notes_find_it_" + 50 * "x"
