"""Streams of OpenAI-compatible servers and Ollama that deviate from the format: answers are read completely and once."""

import json
from typing import Any

import pytest
from model_calls import OLLAMA, OPENAI, QUESTION, Answer, Protocol, a_model, ask
from model_server import (
    RESET,
    ModelServer,
    Reply,
    ndjson,
    ollama_calls,
    ollama_end,
    ollama_frame,
    openai_calls,
    openai_delta,
    openai_error,
    openai_text,
    running_server,
    sse,
)

from zkchat_cli.llm.base import Request, ThinkingPart
from zkchat_cli.models import PromptMessage, ThinkingBlocks, TokenUsage, ToolCall

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)


@pytest.fixture(scope="module")
def server() -> Any:
    with running_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _unused(server: ModelServer) -> None:
    server.asked.clear()


def read_stream(server: ModelServer, *frames: Any, done: bool = True, finish: str = "stop") -> Answer:
    """What is made of an OpenAI server's events; with the usual end, unless they have one."""
    ending = [sse(openai_delta(finish)), sse(b"[DONE]")] if done else []
    return OPENAI.ask(server, Reply([*(sse(frame) for frame in frames), *ending]))


def fragment(arguments: Any, index: int | None = None, **head: str) -> dict[str, Any]:
    """A piece of a tool call."""
    name = {"name": head.pop("name")} if "name" in head else {}
    place = {} if index is None else {"index": index}
    return openai_delta(tool_calls=[{**place, **head, "function": {**name, "arguments": arguments}}])


# ends


@BOTH
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_finish_reason(server: ModelServer, protocol: Protocol, finish: str) -> None:
    answer = protocol.ask(server, Reply(protocol.text("A ", "filter", finish=finish)))
    assert (answer.end.reason, answer.text) == (finish, "A filter")


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("end", [[], [b"data: [DONE]"], [0.05, RESET]])
def test_answer_is_complete_after_its_finish_reason(server: ModelServer, finish: str, end: list[Any]) -> None:
    answer = OPENAI.ask(server, Reply([*openai_text("A filter", finish=finish)[:-1], *end]))
    assert (answer.end.reason, answer.text, len(server.asked)) == (finish, "A filter", 1)


def test_tool_calls_are_complete_after_their_finish_reason(server: ModelServer) -> None:
    answer = OPENAI.ask(server, Reply(openai_calls(("a", "find_excerpts", '{"query": "x"}'))[:-1]))
    assert ([call.arguments for call in answer.calls], answer.end.reason) == ([{"query": "x"}], "tool_calls")


@pytest.mark.parametrize("finish", ["max_tokens", "MAX_TOKENS", "model_length"])
def test_length_limit_has_several_names(server: ModelServer, finish: str) -> None:
    assert OPENAI.ask(server, Reply(openai_text("A filter", finish=finish))).end.reason == "length"


@pytest.mark.parametrize("finish", ["error", "abort", "insufficient_system_resource"])
@pytest.mark.parametrize("end", [[], [b"data: [DONE]\n\n"]])
def test_error_as_finish_reason_is_an_error(server: ModelServer, finish: str, end: list[Any]) -> None:
    answer = OPENAI.ask(server, Reply([*openai_text("A filter", finish=finish)[:-1], *end]))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("cut", "A filter", 1)
    assert f"the server gave up ({finish})" in answer.error.message


def test_call_cut_by_the_length_limit_is_dropped(server: ModelServer) -> None:
    answer = read_stream(server, fragment("{}", 0, id="a", name="f"), fragment('{"que', 1, id="b", name="g"), finish="length")
    assert ([call.name for call in answer.calls], answer.end.reason) == (["f"], "tool_calls")
    answer = read_stream(server, openai_delta(content="A filter"), fragment('{"que', 0, id="a", name="f"), finish="length")
    assert (answer.text, answer.calls, answer.end.reason) == ("A filter", (), "length")


@pytest.mark.parametrize("indent", [None, 2])
def test_answer_in_one_document_is_read(server: ModelServer, indent: int | None) -> None:
    message = {
        "role": "assistant",
        "content": "A filter",
        "reasoning_content": "Let me see.",
        "tool_calls": [{"id": "a", **ollama_call("f", "{}")}],
    }
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    answer = OPENAI.ask(server, Reply([json.dumps(whole, indent=indent).encode()], headers={"content-type": "application/json"}))
    assert (answer.text, answer.reasoning, [call.name for call in answer.calls]) == ("A filter", "Let me see.", ["f"])
    assert answer.end.usage == TokenUsage(prompt_tokens=5, completion_tokens=2, estimated=False)
    assert len(server.asked) == 1


@pytest.mark.parametrize("choices", [7, [], [7], [{}], [{"message": {"content": 7}}], [{"message": {"tool_calls": [7]}}]])
def test_malformed_document_is_a_bad_answer(server: ModelServer, choices: Any) -> None:
    assert OPENAI.ask(server, Reply([json.dumps({"choices": choices}).encode()])).error.kind == "bad_answer"


@pytest.mark.parametrize("end", [{}, {"done_reason": ""}, {"done_reason": None}, {"done_reason": "load"}, {"done_reason": "unload"}])
def test_ollama_may_end_without_a_reason(server: ModelServer, end: dict[str, Any]) -> None:
    answer = OLLAMA.ask(server, Reply([ndjson(ollama_frame("A ")), ndjson(ollama_frame("filter", done=True, **end))]))
    assert (answer.end.reason, answer.text) == ("stop", "A filter")


@BOTH
@pytest.mark.parametrize("pieces", [(), ("",), (" \n",)])
def test_empty_answer_is_finished(server: ModelServer, protocol: Protocol, pieces: tuple[str, ...]) -> None:
    answer = protocol.ask(server, Reply(protocol.text(*pieces)))
    assert (answer.end.reason, answer.text.strip(), len(server.asked)) == ("stop", "", 1)


def test_content_filter_within_an_answer_keeps_its_text(server: ModelServer) -> None:
    answer = OPENAI.ask(server, Reply([sse(openai_delta(content="A filter")), sse(openai_delta("content_filter")), sse(b"[DONE]")]))
    assert (answer.error.kind, answer.text, len(server.asked)) == ("content_filter", "A filter", 1)
    assert "other words" in answer.error.hint


@pytest.mark.parametrize(
    "error",
    [
        {
            "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            "code": "content_filter",
        },
        {"message": "Your request was rejected by our safety system.", "code": "content_policy_violation"},
    ],
)
def test_content_filter_before_the_first_word(server: ModelServer, error: dict[str, str]) -> None:
    answer = OPENAI.ask(server, openai_error(400, **error))
    assert (answer.error.kind, len(server.asked)) == ("content_filter", 1)


# events


@pytest.mark.parametrize(
    "frame",
    [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"choices": None},
        {"choices": [], "usage": None},
        {"object": "ping"},
        openai_delta(role="assistant", content=None),
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [{"index": 0}]},
    ],
)
def test_empty_events_are_skipped(server: ModelServer, frame: dict[str, Any]) -> None:
    assert read_stream(server, frame, openai_delta(content="A filter"), frame).text == "A filter"


def test_refusal_is_shown_as_text(server: ModelServer) -> None:
    assert read_stream(server, openai_delta(refusal="I cannot "), openai_delta(refusal="say that.")).text == "I cannot say that."


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_has_two_field_names(server: ModelServer, name: str) -> None:
    answer = read_stream(server, openai_delta(**{name: "Let me "}), openai_delta(**{name: "see."}), openai_delta(content="A filter"))
    assert (answer.reasoning, answer.text) == ("Let me see.", "A filter")


def test_characters_cut_by_the_network_are_whole(server: ModelServer) -> None:
    whole = sse(openai_delta(content="筛选器 🌱"))
    answer = OPENAI.ask(server, Reply([part for i in range(0, len(whole), 7) for part in (whole[i : i + 7], 0.002)] + openai_text()))
    assert answer.text == "筛选器 🌱"


# usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({"prompt_tokens": 20, "completion_tokens": 3}, (20, 3, None)),
        ({"prompt_tokens": 20, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 16}}, (20, 3, 16)),
        ({"prompt_tokens": 20, "completion_tokens": None, "prompt_tokens_details": None}, (20, 0, None)),
        ({"prompt_tokens": 20, "prompt_tokens_details": {"cached_tokens": None}}, (20, 0, None)),
        ({"prompt_tokens": None}, None),
        ({"prompt_tokens": 0, "completion_tokens": 3}, None),
        ({"prompt_tokens": "many"}, None),
        ({"prompt_tokens": -1}, None),
        ({"prompt_tokens": 12.5}, None),
        ("much", None),
    ],
)
def test_usage(server: ModelServer, usage: Any, expected: tuple[int, int, int | None] | None) -> None:
    end = OPENAI.ask(server, Reply(openai_text("A filter", usage=usage))).end
    wanted = expected and TokenUsage(prompt_tokens=expected[0], completion_tokens=expected[1], cached_tokens=expected[2], estimated=False)
    assert (end.reason, end.usage) == ("stop", wanted)


@pytest.mark.parametrize(("figures", "expected"), [({"prompt_eval_count": 9, "eval_count": 3}, (9, 3)), ({"prompt_eval_count": 9}, (9, 0))])
def test_ollamas_counts_are_usage(server: ModelServer, figures: dict[str, int], expected: tuple[int, int]) -> None:
    usage = OLLAMA.ask(server, Reply([ndjson(ollama_frame("A"), ollama_frame(done=True, done_reason="stop", **figures))])).end.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (*expected, False)


# tool calls


@pytest.mark.parametrize("arguments", ["{not json", "[]", "7", '{"query": ', "[" * 100_000])
def test_malformed_arguments_are_kept(server: ModelServer, arguments: str) -> None:
    for answer in (
        OPENAI.ask(server, Reply(openai_calls(("a", "find_excerpts", arguments)))),
        OLLAMA.ask(server, Reply([ndjson(ollama_frame(message={"tool_calls": [ollama_call("find_excerpts", arguments)]}), ollama_end())])),
    ):
        [call] = answer.calls
        assert (call.arguments, call.malformed, answer.end.reason) == ({}, arguments, "tool_calls")


def ollama_call(name: Any, arguments: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("arguments", ['{"query": "x"}', {"query": "x"}])
def test_arguments_may_be_text_or_an_object(server: ModelServer, arguments: Any) -> None:
    assert [call.arguments for call in read_stream(server, fragment(arguments, 0, id="a", name="f")).calls] == [{"query": "x"}]
    answer = OLLAMA.ask(server, Reply([ndjson(ollama_frame(message={"tool_calls": [ollama_call("f", arguments)]}), ollama_end())]))
    assert [call.arguments for call in answer.calls] == [{"query": "x"}]


@pytest.mark.parametrize("arguments", ["", None, " \n", "null", '""', {}])
def test_missing_arguments_are_an_empty_object(server: ModelServer, arguments: Any) -> None:
    assert [call.arguments for call in read_stream(server, fragment(arguments, 0, id="a", name="f")).calls] == [{}]
    answer = OLLAMA.ask(server, Reply([ndjson(ollama_frame(message={"tool_calls": [ollama_call("f", arguments)]}), ollama_end())]))
    assert [call.arguments for call in answer.calls] == [{}]


@pytest.mark.parametrize("arguments", ['"{\\"query\\": \\"x\\"}"', '{}{"query": "x"}'], ids=["JSON in JSON", "after none"])
def test_wrapped_arguments_are_unwrapped(server: ModelServer, arguments: str) -> None:
    assert [call.arguments for call in read_stream(server, fragment(arguments, 0, id="a", name="f")).calls] == [{"query": "x"}]


@pytest.mark.parametrize(
    "frames",
    [
        [fragment('{"n":', id="a", name="f"), fragment(" 1}", id="a"), fragment('{"n": 2}', id="b", name="f")],
        [fragment('{"n":', id="a", name="f"), fragment(" 1}", id="a", name="f"), fragment('{"n": 2}', id="b", name="f")],
        [fragment('{"n":', id="a", name="f"), fragment('{"n":', id="b", name="f"), fragment("1}", id="a"), fragment("2}", id="b")],
        [
            fragment('{"n":', 0, id="a", name="f"),
            fragment('{"n":', 0, id="b", name="f"),
            fragment("1}", 0, id="a"),
            fragment("2}", 0, id="b"),
        ],
        [fragment('{"n":', 0, id="a", name="f"), fragment("1}", 1), fragment('{"n":', 2, id="b", name="f"), fragment("2}", 3)],
        [fragment('{"n": 1}', 0, id="", name="f"), fragment('{"n": 2}', 0, id="", name="f")],
        [fragment('{"n": 1}', 0, id="f", name="f"), fragment('{"n": 2}', 0, id="f", name="f")],
        [fragment('{"n": 1}', name="f"), fragment('{"n": 2}', name="f")],
        [fragment("", 0, id="a", name="f"), fragment('{"n": 1}', 1, id="a", name="f"), fragment('{"n": 2}', 2, id="b", name="f")],
        [fragment('{"n": 1}', 0, id="a", name="f"), fragment('{"n": 1}', 1, id="a", name="f"), fragment('{"n": 2}', 2, id="b", name="f")],
        [fragment('{"n":', 0, name="f"), fragment("1}", 0, id="a"), fragment('{"n": 2}', 1, id="b", name="f")],
        [openai_delta(tool_calls=[{"index": 0, "id": n, **ollama_call("f", {"n": n})} for n in (1, 2)])],
    ],
    ids=[
        "id again",
        "id and name again",
        "mixed, by id",
        "mixed, one index",
        "another index for the rest",
        "one index, no ids (Gemini)",
        "one id",
        "no index, no ids",
        "first without arguments (LocalAI)",
        "said twice",
        "id comes later",
        "ids are numbers",
    ],
)
def test_two_calls_of_one_tool_are_two_calls(server: ModelServer, frames: list[dict[str, Any]]) -> None:
    answer = read_stream(server, *frames, finish="tool_calls")
    assert [(call.name, call.arguments, call.malformed) for call in answer.calls] == [("f", {"n": 1}, None), ("f", {"n": 2}, None)]


def test_calls_without_ids(server: ModelServer) -> None:
    answer = OLLAMA.ask(server, Reply(ollama_calls(("f", {"query": "x"}), ("f", {"query": "y"}))))
    assert [(call.id, call.arguments) for call in answer.calls] == [("", {"query": "x"}), ("", {"query": "y"})]


SIGNED = {"google": {"thought_signature": "c2ln"}}


def calls_again(server: ModelServer, answer: Answer, **request: Any) -> dict[str, Any]:
    """The message with an answer's calls, as it is sent back with their results."""
    thinking = next((delta.blocks for delta in answer.deltas if isinstance(delta, ThinkingPart)), None)
    asked = PromptMessage(role="assistant", content="", tool_calls=answer.calls, thinking=thinking, tokens=9, kind="conversation")
    results = [PromptMessage(role="tool", content="{}", tool_call_id=c.id, tokens=9, kind="tool_results") for c in answer.calls]
    ask(a_model("openai", **request), Request((QUESTION, asked, *results)))
    message: dict[str, Any] = server.bodies[-1]["messages"][1]
    return message


@pytest.mark.parametrize("done", [True, False])
def test_signature_of_a_call_goes_back_with_it(server: ModelServer, done: bool) -> None:
    first, second = fragment('{"n": 1}', 0, id="a", name="f"), fragment('{"n": 2}', 0, id="b", name="f")
    second["choices"][0]["delta"]["tool_calls"][0]["extra_content"] = SIGNED
    answer = OPENAI.ask(server, Reply([sse(first, second, openai_delta("tool_calls")), *([sse(b"[DONE]")] if done else [])]))
    server.says(Reply(openai_text("Yes.")))
    message = calls_again(server, answer, address=OPENAI.address(server))
    assert [call.get("extra_content") for call in message["tool_calls"]] == [None, SIGNED]
    assert message.keys() == {"role", "content", "tool_calls"}


@pytest.mark.parametrize("far", [True, False])
def test_reasoning_before_a_call_goes_back_as_the_server_named_it(server: ModelServer, far: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    address = OPENAI.address(server).replace("127.0.0.1", "0.0.0.0" if far else "127.0.0.1")
    text = {"type": "reasoning.text", "index": 0, "format": None}
    secret = {"type": "reasoning.encrypted", "index": 0, "data": "c2ln"}
    frames = [
        openai_delta(reasoning_content="Let me ", reasoning_details=[{**text, "text": "Let me "}]),
        openai_delta(reasoning_content="see.", reasoning_details=[{**text, "text": "see.", "signature": "s"}, "odd"]),
        fragment("{}", 0, id="a", name="f"),
        openai_delta(reasoning_details=[secret]),
        openai_delta("tool_calls"),
    ]
    server.says(Reply([sse(*frames, b"[DONE]")]), Reply(openai_text("Yes.")))
    answer = ask(a_model("openai", address))
    assert answer.reasoning == "Let me see."
    message = calls_again(server, answer, address=address)
    assert message.get("reasoning_content") == ("Let me see." if far else None)
    assert message["reasoning_details"] == [{**text, "text": "Let me see.", "signature": "s"}, secret]


def test_reasoning_before_text_does_not_go_back(server: ModelServer) -> None:
    answer = read_stream(server, openai_delta(reasoning_content="Hm.", reasoning_details=[{"type": "reasoning.text", "text": "Hm."}]))
    assert not any(isinstance(delta, ThinkingPart) for delta in answer.deltas)


def test_deepseek_gets_reasoning_with_each_call() -> None:
    model: Any = a_model("openai", "https://api.deepseek.com")
    asked = PromptMessage(role="assistant", content="", tool_calls=(ToolCall(id="a", name="f"),), tokens=9, kind="conversation")
    [_, message] = model.body(Request((QUESTION, asked)))["messages"]
    assert message["reasoning_content"] == ""


def test_reasoning_of_another_provider_is_not_sent(server: ModelServer) -> None:
    call = ToolCall(id="a", name="f", arguments={})
    thought = ThinkingBlocks(provider="anthropic", blocks=({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},))
    asked = PromptMessage(role="assistant", content="", tool_calls=(call,), thinking=thought, tokens=9, kind="conversation")
    OPENAI.ask(server, Reply(openai_text("Yes.")), request=Request((QUESTION, asked)))
    assert "c2ln" not in server.raw[-1]


def test_call_without_a_name(server: ModelServer) -> None:
    assert [call.name for call in read_stream(server, fragment("{}", 0, id="a")).calls] == ["unnamed"]
    answer = OLLAMA.ask(server, Reply([ndjson(ollama_frame(message={"tool_calls": [ollama_call(None, {})]}), ollama_end())]))
    assert [call.name for call in answer.calls] == ["unnamed"]


@BOTH
@pytest.mark.parametrize("calls", [7, [7], ["f"], [{"function": 7}], [{"id": 7, "function": {"name": 7}}]])
def test_malformed_calls_keep_the_text_before_them(server: ModelServer, protocol: Protocol, calls: Any) -> None:
    frame = openai_delta(tool_calls=calls) if protocol is OPENAI else ollama_frame(message={"tool_calls": calls})
    body = sse(frame) if protocol is OPENAI else json.dumps(frame).encode() + b"\n"
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), 0.02, body, *protocol.text()]))
    assert answer.text == "A filter"
