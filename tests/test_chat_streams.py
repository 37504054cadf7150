"""Streams of OpenAI-compatible servers and Ollama that deviate from the format: answers are read
completely and once.
"""

import json
from typing import Any

import pytest
from model_calls import OLLAMA, OPENAI, QUESTION, Answer, Protocol
from model_server import (
    RESET,
    ModelServer,
    Reply,
    ndjson,
    ollama_end,
    ollama_frame,
    openai_delta,
    openai_text,
    sse,
)

from zkchat_cli.llm.base import Request
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.models.prompts import PromptMessage

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)


def read_stream(
    server: ModelServer, *frames: Any, done: bool = True, finish: str = "stop"
) -> Answer:
    """What is made of an OpenAI server's events; with the usual end, unless they have one."""
    ending = [sse(openai_delta(finish)), sse(b"[DONE]")] if done else []
    return OPENAI.ask(server, Reply([*(sse(frame) for frame in frames), *ending]))


def fragment(arguments: Any, index: int | None = None, **head: str) -> dict[str, Any]:
    """A piece of a tool call."""
    name = {"name": head.pop("name")} if "name" in head else {}
    place = {} if index is None else {"index": index}
    return openai_delta(
        tool_calls=[{**place, **head, "function": {**name, "arguments": arguments}}]
    )


# ends


@BOTH
@pytest.mark.parametrize(
    ("texts", "finish"), [(["A ", "filter"], "stop"), (["A ", "filter"], "length"), ([], "stop")]
)
def test_finish_reason_also_of_an_empty_answer(
    server: ModelServer, protocol: Protocol, texts: list[str], finish: str
) -> None:
    answer = protocol.ask(server, Reply(protocol.text(*texts, finish=finish)))
    assert (answer.end.reason, answer.text, len(server.asked)) == (finish, "".join(texts), 1)


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("end", [[], [b"data: [DONE]"], [0.05, RESET]])
def test_answer_is_complete_after_its_finish_reason(
    server: ModelServer, finish: str, end: list[Any]
) -> None:
    answer = OPENAI.ask(server, Reply([*openai_text("A filter", finish=finish)[:-1], *end]))
    assert (answer.end.reason, answer.text, len(server.asked)) == (finish, "A filter", 1)


def test_call_cut_by_the_length_limit_is_dropped(server: ModelServer) -> None:
    answer = read_stream(
        server,
        fragment("{}", 0, id="a", name="f"),
        fragment('{"que', 1, id="b", name="g"),
        finish="length",
    )
    assert ([call.name for call in answer.calls], answer.end.reason) == (["f"], "tool_calls")
    answer = read_stream(
        server,
        openai_delta(content="A filter"),
        fragment('{"que', 0, id="a", name="f"),
        finish="length",
    )
    assert (answer.text, answer.calls, answer.end.reason) == ("A filter", (), "length")


@pytest.mark.parametrize(
    ("finish", "kind", "words"),
    [
        ("error", "cut", "the server gave up (error)"),
        ("content_filter", "content_filter", "Ask it differently"),
    ],
)
def test_answer_that_the_server_gave_up_keeps_its_text(
    server: ModelServer, finish: str, kind: str, words: str
) -> None:
    answer = read_stream(server, openai_delta(content="A filter"), finish=finish)
    assert (answer.error.kind, answer.text, len(server.asked)) == (kind, "A filter", 1)
    assert words in f"{answer.error.message} {answer.error.hint}"


# events


@pytest.mark.parametrize(
    "frame",
    [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"object": "ping"},
        openai_delta(role="assistant", content=None),
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
    ],
)
def test_empty_events_are_skipped(server: ModelServer, frame: dict[str, Any]) -> None:
    assert read_stream(server, frame, openai_delta(content="A filter"), frame).text == "A filter"


def test_refusal_is_shown_as_text(server: ModelServer) -> None:
    assert (
        read_stream(
            server, openai_delta(refusal="I cannot "), openai_delta(refusal="say that.")
        ).text
        == "I cannot say that."
    )


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("reasoning", "Let me see."),
        ("reasoning_content", "Let me see."),
        ("content", [{"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}]),
    ],
)
def test_reasoning_has_three_forms(server: ModelServer, name: str, sent: object) -> None:
    answer = read_stream(
        server,
        openai_delta(**{name: sent}),
        openai_delta(content=[{"type": "text", "text": "A filter"}]),
    )
    assert (answer.reasoning, answer.text) == ("Let me see.", "A filter")


@BOTH
@pytest.mark.parametrize(
    ("sent", "text", "reasoning"),
    [
        ("\n<think>\nLet me </see.\n</think>\n\n <th", "<th", "\nLet me </see.\n"),
        ("<think></think> A <think> b </think>", "A <think> b </think>", ""),
        ("  <thin", "<thin", ""),
        ("<think>Let me </", "", "Let me </"),
    ],
)
def test_thoughts_in_a_tag_are_reasoning(
    server: ModelServer, protocol: Protocol, sent: str, text: str, reasoning: str
) -> None:
    for size in (1, 4, 99):
        answer = protocol.ask(
            server, Reply(protocol.text(*(sent[i : i + size] for i in range(0, len(sent), size))))
        )
        assert (answer.text, answer.reasoning) == (text, reasoning)


def test_characters_cut_by_the_network_are_whole(server: ModelServer) -> None:
    whole = sse(openai_delta(content="筛选器 🌱"))
    answer = OPENAI.ask(
        server,
        Reply(
            [part for i in range(0, len(whole), 7) for part in (whole[i : i + 7], 0.002)]
            + openai_text()
        ),
    )
    assert answer.text == "筛选器 🌱"


# usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({"prompt_tokens": 20, "completion_tokens": 3}, (20, 3, None)),
        (
            {
                "prompt_tokens": 20,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 16},
            },
            (20, 3, 16),
        ),
        (
            {"prompt_tokens": 20, "completion_tokens": None, "prompt_tokens_details": None},
            (20, 0, None),
        ),
        ({"prompt_tokens": "many"}, None),
    ],
)
def test_usage(
    server: ModelServer, usage: Any, expected: tuple[int, int, int | None] | None
) -> None:
    end = OPENAI.ask(server, Reply(openai_text("A filter", usage=usage))).end
    wanted = expected and TokenUsage(
        prompt_tokens=expected[0],
        completion_tokens=expected[1],
        cached_tokens=expected[2],
        estimated=False,
    )
    assert (end.reason, end.usage) == ("stop", wanted)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [({"prompt_eval_count": 9, "eval_count": 3}, (9, 3)), ({"prompt_eval_count": 9}, (9, 0))],
)
def test_ollamas_counts_are_usage(
    server: ModelServer, figures: dict[str, int], expected: tuple[int, int]
) -> None:
    usage = OLLAMA.ask(
        server,
        Reply([ndjson(ollama_frame("A"), ollama_frame(done=True, done_reason="stop", **figures))]),
    ).end.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (*expected, False)


# tool calls


def ollama_reply(name: Any, arguments: Any) -> Reply:
    calls = [{"function": {"name": name, "arguments": arguments}}]
    return Reply([ndjson(ollama_frame(message={"tool_calls": calls}), ollama_end())])


@pytest.mark.parametrize(
    "arguments",
    ["", None, "null", '{"query": "x"}', "{not json", "[]", "7", '{"query": ', "[" * 100_000],
)
def test_arguments_are_parsed_or_kept_as_malformed(
    server: ModelServer, arguments: str | None
) -> None:
    expected = {"": {}, None: {}, "null": {}, '{"query": "x"}': {"query": "x"}}.get(arguments)
    for answer in (
        read_stream(server, fragment(arguments, 0, id="a", name="f")),
        OLLAMA.ask(server, ollama_reply("f", arguments)),
    ):
        [call] = answer.calls
        assert (call.arguments, call.malformed, answer.end.reason) == (
            expected or {},
            arguments if expected is None else None,
            "tool_calls",
        )


@pytest.mark.parametrize(
    "frames",
    [
        [
            fragment('{"n":', id="a", name="f"),
            fragment(" 1}", id="a", name="f"),
            fragment('{"n": 2}', id="b", name="f"),
        ],
        [fragment('{"n": 1}', 0, id="a", name="f"), fragment('{"n": 2}', 0, id="b", name="f")],
        [
            fragment('{"n": 1}', 0, id="", name="f"),
            fragment('{"n": 2}', 0, id="", name="f"),
            fragment("", 0, name="f"),
        ],
        [
            fragment('{"n":', 0, name="f"),
            fragment("1}", 0, id="a"),
            fragment('{"n": 2}', 1, id="b", name="f"),
        ],
        [fragment('{"n":', 0, name="f"), fragment("1}", 0), fragment({"n": 2}, 1, name="f")],
    ],
    ids=["no index", "one index", "one index, no ids", "id comes later", "no ids, and an object"],
)
def test_two_calls_of_one_tool_are_two_calls(
    server: ModelServer, frames: list[dict[str, Any]]
) -> None:
    answer = read_stream(server, *frames, finish="tool_calls")
    assert [(call.name, call.arguments, call.malformed) for call in answer.calls] == [
        ("f", {"n": 1}, None),
        ("f", {"n": 2}, None),
    ]


def test_what_servers_want_back_with_a_call_goes_back_with_it(server: ModelServer) -> None:
    text = {"type": "reasoning.text", "index": 0}
    secret = {"type": "reasoning.encrypted", "index": 0, "data": "c2ln"}
    frames = [
        openai_delta(reasoning_content="Let me ", reasoning_details=[{**text, "text": "Let me "}]),
        openai_delta(
            reasoning="see.", reasoning_details=[{**text, "text": "see.", "signature": "s"}, secret]
        ),
        fragment("{}", 0, id="a", name="f"),
        openai_delta(
            tool_calls=[{"index": 0, "extra_content": {"google": {"thought_signature": "s"}}}]
        ),
    ]
    answer = read_stream(server, *frames, finish="tool_calls")
    assert answer.reasoning == "Let me see."
    thinking = answer.end.thinking
    asked = PromptMessage(
        role="assistant",
        content="",
        tool_calls=answer.calls,
        thinking=thinking,
        tokens=9,
        kind="conversation",
    )
    result = PromptMessage(
        role="tool", content="{}", tool_call_id="a", tokens=9, kind="tool_results"
    )
    OPENAI.ask(server, Reply(openai_text("Yes.")), request=Request((QUESTION, asked, result)))
    sent = server.bodies[-1]["messages"][1]
    assert sent["reasoning_details"] == [{**text, "text": "Let me see.", "signature": "s"}, secret]
    assert sent["reasoning_content"] == "Let me "
    assert sent["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "s"}}


def test_calls_without_a_name_or_arguments(server: ModelServer) -> None:
    assert [
        call.name
        for call in read_stream(server, fragment("", 0, name="f"), fragment("", 0, name="g")).calls
    ] == ["f", "g"]
    assert [call.name for call in read_stream(server, fragment("{}", 0, id="a")).calls] == [
        "unnamed"
    ]
    assert [call.name for call in OLLAMA.ask(server, ollama_reply(None, {})).calls] == ["unnamed"]


@BOTH
@pytest.mark.parametrize(
    "calls", [7, [7], ["f"], [{"function": 7}], [{"id": 7, "function": {"name": 7}}]]
)
def test_malformed_calls_keep_the_text_before_them(
    server: ModelServer, protocol: Protocol, calls: Any
) -> None:
    frame = (
        openai_delta(tool_calls=calls)
        if protocol is OPENAI
        else ollama_frame(message={"tool_calls": calls})
    )
    body = sse(frame) if protocol is OPENAI else json.dumps(frame).encode() + b"\n"
    answer = protocol.ask(server, Reply([protocol.begin("A filter"), 0.02, body, *protocol.text()]))
    assert answer.text == "A filter"
