"""mojentic's gateways as zkchat uses them: OpenAI's own models, proxies, requests that cannot be made, and what goes wrong beneath HTTP."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from model_calls import KEY, OLLAMA, OPENAI, REQUEST, Protocol, a_model, ask
from speaking import ModelServer, Reply, a_black_hole, a_server, openai_text

from zkchat_cli.llm import mojentic_adapter, providers
from zkchat_cli.llm.base import ModelConfig, Options, Request
from zkchat_cli.llm.http_errors import Endpoint, root_cause
from zkchat_cli.llm.openai.request import known_window, request_body
from zkchat_cli.models import PromptMessage, ToolCall

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with a_server() as running:
        yield running


def official(model: str, options: Options) -> dict[str, Any]:
    """What OpenAI itself would be sent."""
    return request_body(model, replace(REQUEST, options=options), "https://api.openai.com/v1", official=True)


@pytest.mark.parametrize("model", ["o3", "gpt-5", "gpt-5-of-tomorrow", "o1"])
def test_openais_models_that_reason_get_the_options_they_know(model: str) -> None:
    body = official(model, Options(max_output_tokens=99, reasoning_effort="low"))
    assert (body["max_completion_tokens"], body["reasoning_effort"], "max_tokens" in body) == (99, "low", False)


def test_those_that_do_not_get_theirs() -> None:
    body = official("gpt-4o", Options(max_output_tokens=99, temperature=0.5))
    assert (body["max_tokens"], body["temperature"]) == (99, 0.5)


@pytest.mark.parametrize("name", ["my-gpt-5-clone", "o1-mini-uncensored", "DeepSeek-R1"])
def test_anybody_elses_model_is_no_openais_whatever_its_name(server: ModelServer, name: str) -> None:
    request = replace(REQUEST, options=Options(max_output_tokens=99, temperature=0.5))
    assert OPENAI.ask(server, Reply(openai_text("Yes.")), request=request, name=name).text == "Yes."
    assert (server.bodies[0]["max_tokens"], server.bodies[0]["temperature"]) == (99, 0.5)


def test_the_windows_of_openais_own_models_are_known() -> None:
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
def test_a_call_that_cannot_be_made_is_not(name: str, key: str, kind: str, said: str) -> None:
    model = providers.provider("openai").open(ModelConfig(name, None, {"OPENAI_API_KEY": key}))
    model.prepare()
    error = ask(model).error
    assert (error.kind, error.message) == (kind, said)


def test_neither_is_one_of_an_ollama_without_a_model() -> None:
    error = ask(providers.provider("ollama").open(ModelConfig("", None, {}))).error
    assert (error.kind, error.message) == ("unknown_model", "ollama needs the name of a model")


@BOTH
def test_a_request_that_is_no_json_is_not_sent(server: ModelServer, protocol: Protocol) -> None:
    call = ToolCall(id="a", name="f", arguments={"n": float("nan")} if protocol is OLLAMA else {})
    asked = PromptMessage(role="assistant", content="", tool_calls=(call,), tokens=1, kind="conversation")
    options = Options(temperature=float("nan")) if protocol is OPENAI else Options()
    error = protocol.ask(server, Reply([]), request=Request((*REQUEST.messages, asked), options=options)).error
    assert (error.kind, server.asked) == ("bad_request", [])


@BOTH
def test_a_server_that_does_not_take_the_call(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mojentic_adapter, "CONNECT_SECONDS", 0.2)
    with a_black_hole() as address:
        error = ask(a_model(protocol.name, address)).error
    assert error.kind == "timeout"
    assert "did not accept the connection in time" in error.message


def test_a_server_elsewhere_is_called_through_the_proxy(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_the_window_of_a_listed_model_is_known(server: ModelServer, row: dict[str, Any], tokens: int | None) -> None:
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
def test_the_window_of_an_ollama_model_is_known(server: ModelServer, show: Any, tokens: int | None) -> None:
    server.gets["/api/show"] = show
    model = a_model("ollama", server.address)
    model.prepare()
    model.prepare()
    assert (model.window and model.window.tokens) == tokens
    assert len(server.everything) == 1


@BOTH
def test_a_character_in_two_halves_spoils_no_answer(server: ModelServer, protocol: Protocol) -> None:
    body = b"".join(piece for piece in protocol.text("HALF", "HALVES") if isinstance(piece, bytes))
    answer = protocol.ask(server, Reply([body.replace(b"HALVES", rb"\ude00 b").replace(b"HALF", rb"a \ud83d")]))
    assert (answer.text, answer.end.reason) == ("a \ufffd\ufffd b", "stop")


@BOTH
def test_an_answer_nested_without_end_is_one_that_cannot_be_read(server: ModelServer, protocol: Protocol) -> None:
    error = protocol.ask(server, Reply([protocol.begin("Hel"), b"data: " * (protocol is OPENAI) + b"[" * 100_000 + b"\n\n"])).error
    assert (error.kind, "cannot be read" in error.message) == ("bad_answer", True)


# a history that began with another provider

LONG = "chatcmpl-tool-0123456789abcdef0123456789abcdef"


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


def test_an_id_too_long_for_openai_is_shortened_once_its_turn_is_over(server: ModelServer) -> None:
    short, known, own = ids_sent(server, after_others(LONG, "call_1"), "m")
    assert (len(short), known, own) == (9, "call_1", LONG)


@pytest.mark.parametrize("model", ["mistral-large-latest", "Devstral-Small"])
def test_mistrals_models_get_ids_as_they_want_them(server: ModelServer, model: str) -> None:
    sent = ids_sent(server, after_others("toolu_01A09q90qw90lq917835lq9", "call|1", "abcDEF123"), model)
    assert all(len(each) == 9 and each.isalnum() for each in sent)
    assert (sent[2], sent[3], len(set(sent))) == ("abcDEF123", sent[0], 3)


def test_the_name_of_a_tool_that_is_none_goes_back_as_a_name(server: ModelServer) -> None:
    OPENAI.ask(server, Reply(openai_text("Yes.")), request=after_others("call_1", name="notes.find it!" + 99 * "x"))
    [first, _] = [message for message in server.bodies[-1]["messages"] if "tool_calls" in message]
    assert first["tool_calls"][0]["function"]["name"] == "notes_find_it_" + 50 * "x"


# an endpoint by itself


def test_a_dummy_for_a_key_is_no_secret() -> None:
    endpoint = Endpoint("The server", "http://127.0.0.1:1/v1", "Start it.", key="x")
    assert "exceeds the context" in endpoint.error_from_response(400, b'{"error": "exceeds the context"}').message


def test_what_looks_like_anybodys_key_is_not_said() -> None:
    said = (
        Endpoint("The server", "http://127.0.0.1:1", "Start it.").error_from_response(400, b'{"detail": "no key sk-abcdefgh1234"}').message
    )
    assert said.endswith("no key …")


def test_a_long_list_of_models_is_cut() -> None:
    models = [f"m{i}" for i in range(12)]
    hint = Endpoint("The server", "http://127.0.0.1:1", "Start it.").error_from_response(404, b"", model="m3x", models=models).hint
    assert hint.startswith("It has m3, ")
    assert hint.endswith(" and 4 more.")


@pytest.mark.parametrize(("after", "said"), [(7.0, "7 s"), (119.6, "120 s"), (700.0, "12 minutes"), (1e7, "116 days"), (None, "moment")])
def test_how_long_to_wait_is_said_as_one_says_it(after: float | None, said: str) -> None:
    endpoint = Endpoint("The server", "http://127.0.0.1:1", "Start it.")
    assert said in endpoint.error_from_response(429, b"", retry_after=after).hint


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"error": null}', b'{"error": {"message": null}}', b"[" * 100_000])
def test_a_refusal_without_words_is_one(body: bytes) -> None:
    error = Endpoint("The server", "http://127.0.0.1:1", "Start it.").error_from_response(418, body)
    assert error.message.endswith("rejects the request (418)")
    assert error.hint == "Start it."


def test_a_cause_without_words_is_named() -> None:
    assert root_cause(ValueError()) == "ValueError"
    assert root_cause(OSError(111, "x")) == "Connection refused"


@pytest.mark.parametrize(
    ("address", "local"), [("http://localhost:1", True), ("http://[::1]:1", True), ("http://a.lan", False), ("http://[", False)]
)
def test_this_machine_is_known(address: str, local: bool) -> None:
    assert Endpoint("The server", address, "Start it.").is_local is local


def test_the_sizes_of_messages_are_told_apart_from_words() -> None:
    body = json.dumps({"error": {"message": "exceeds the context size of 4096", "n_ctx": 4096}}).encode()
    assert Endpoint("The server", "http://127.0.0.1:1", "Start it.").server_message(body) == "exceeds the context size of 4096"
