"""Thoughts and tool calls that a server sends as text: they are no part of the answer."""

import json
from typing import Any

import pytest
from conftest import Program
from hypothesis import given
from hypothesis import strategies as st
from model_calls import ANTHROPIC, OLLAMA, OPENAI, QUESTION, Protocol
from model_server import (
    ModelServer,
    Reply,
    anthropic_block,
    anthropic_end,
    anthropic_events,
    anthropic_start,
    openai_delta,
    openai_text,
    sse,
)

from zkchat_cli.llm.base import Request
from zkchat_cli.llm.marked_text import MarkSplitter

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)
HARMONY = (
    "<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant"
    "<|channel|>final<|message|>A filter.<|return|>"
)
CALL = '{"name": "find_excerpts", "arguments": {"query": "filter"}}'
FENCED = "Write it so:\n\n```xml\n<think>\nx\n</think>\n<tool_call>{}</tool_call>\n```\nDone."


@BOTH
@pytest.mark.parametrize(
    ("sent", "text", "reasoning"),
    [
        ("Let me see.\n</think>\n\nA filter.", "A filter.", "Let me see.\n"),
        ("Let me see.</think>A filter.", "A filter.", "Let me see."),
        ("<thinking>Let me see.</thinking>\nA filter.", "A filter.", "Let me see."),
        ("[THINK]Let me see.[/THINK]A filter.", "A filter.", "Let me see."),
        (HARMONY, "A filter.", "Let me see."),
        ("A\n<think>\nb\n</think>\nC", "A\nC", "\nb\n"),
        (FENCED, FENCED, ""),
        ("Close it with `</think>`.", "Close it with `</think>`.", ""),
        ("The mark </think> ends it.", "The mark </think> ends it.", ""),
        ("a <|channel|> of b", "a <|channel|> of b", ""),
    ],
)
def test_thoughts_are_no_part_of_the_answer(
    server: ModelServer, protocol: Protocol, sent: str, text: str, reasoning: str
) -> None:
    for size in (1, 5, 999):
        pieces = [sent[i : i + size] for i in range(0, len(sent), size)]
        answer = protocol.ask(server, Reply(protocol.text(*pieces)))
        assert (answer.text, answer.reasoning) == (text, reasoning)


PARTS = st.sampled_from(
    [
        *("a", " ", "`", "\n", "```", "<", "{", "[", "final"),
        *("<think>", "</think>", "<thinking>", "[THINK]", "[/THINK]", "<tool_call>"),
        *("</tool_call>", "<|channel|>", "<|message|>", "<|end|>", "<|start|>"),
    ]
)


def split(pieces: list[str]) -> tuple[str, str, list[str]]:
    marks = MarkSplitter(holds_json=True)
    found = [piece for text in pieces for piece in marks.feed(text)] + marks.end()
    text = ""
    reasoning = ""
    for piece in found:
        match piece.kind:
            case "text":
                text += piece.text
            case "reasoning":
                reasoning += piece.text
            case "withdrawn":
                reasoning += text
                text = ""
    return text, reasoning, [piece.text for piece in found if piece.kind in ("call", "json")]


@given(st.lists(PARTS, max_size=12), st.integers(1, 5))
def test_the_pieces_in_which_a_text_comes_do_not_matter(parts: list[str], size: int) -> None:
    whole = "".join(parts)
    assert split([whole[i : i + size] for i in range(0, len(whole), size)]) == split([whole])


@given(st.text(alphabet="ab <>|/`\n#-", max_size=60).map(str.lstrip))
def test_a_text_without_marks_is_unchanged(text: str) -> None:
    assert split(list(text)) == (text, "", [])


@BOTH
@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (f"<tool_call>\n{CALL}\n</tool_call>", ""),
        (f"Let me look.\n<tool_call>{CALL}</tool_call>", "Let me look.\n"),
        (f"[TOOL_CALLS][{CALL}]", ""),
        ('[TOOL_CALLS]find_excerpts[ARGS]{"query": "filter"}', ""),
        (CALL, ""),
        ('{"name": "find_excerpts", "parameters": {"query": "filter"}}', ""),
        (
            "<tool_call>\n<function=find_excerpts>\n<parameter=query>\nfilter\n</parameter>\n"
            "</function>\n</tool_call>",
            "",
        ),
        (
            "<|channel|>commentary to=functions.find_excerpts <|constrain|>json<|message|>"
            '{"query": "filter"}<|call|>',
            "",
        ),
    ],
)
def test_a_call_written_as_text_is_a_call(
    server: ModelServer, protocol: Protocol, sent: str, text: str
) -> None:
    for size in (3, 999):
        pieces = [sent[i : i + size] for i in range(0, len(sent), size)]
        answer = protocol.ask(server, Reply(protocol.text(*pieces)))
        [call] = answer.calls
        assert (call.name, call.arguments) == ("find_excerpts", {"query": "filter"})
        assert (answer.text, answer.end.reason) == (text, "tool_calls")


@pytest.mark.parametrize(
    "sent",
    [
        '<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "find_excerpts", "arguments": {"q": 1}}</tool_call>',
        "<tool_call>find it</tool_call>",
        'Let me look.\n<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
        '{"name": "fly", "arguments": {}}',
    ],
)
def test_a_call_of_no_tool_is_an_error_and_no_answer(server: ModelServer, sent: str) -> None:
    answer = OPENAI.ask(server, Reply(openai_text(sent)))
    assert (answer.error.kind, answer.text) == ("no_tools", "")


@pytest.mark.parametrize(
    "sent", ['{"filter": "a mesh"}', "[1, 2]", "{", '{"name": "Ada"} is a name']
)
def test_json_that_is_no_call_is_an_answer(server: ModelServer, sent: str) -> None:
    assert OPENAI.ask(server, Reply(openai_text(sent))).text == sent
    assert OPENAI.ask(server, Reply(openai_text(CALL)), request=Request((QUESTION,))).text == CALL


def test_ask_prints_the_answer_without_thoughts(zkchat: Program, server: ModelServer) -> None:
    zkchat.env["OPENAI_BASE_URL"] = server.address + "/v1"
    server.says(Reply(openai_text("Let me ", "see.\n</think>\n\n", "A filter.")))
    done = zkchat("ask", "--answer-only", "--model", "openai/m", "What is a filter?")
    assert (done.exit_status, done.out) == (0, "A filter.\n")
    done = zkchat("ask", "--json", "--model", "openai/m", "What is a filter?")
    assert json.loads(done.out)["answer"] == "A filter."


def test_a_call_that_no_tool_fits_is_answered_with_passages(
    zkchat: Program, server: ModelServer
) -> None:
    zkchat.env["OPENAI_BASE_URL"] = server.address + "/v1"
    call = '<tool_call>{"name": "fly", "arguments": {}}</tool_call>'
    server.says(Reply(openai_text(call)), Reply(openai_text("A filter.")))
    done = zkchat("ask", "--answer-only", "--model", "openai/m", "What is a filter?")
    assert (done.exit_status, done.out, len(server.asked)) == (0, "A filter.\n", 2)
    assert "wrote a tool call as text" in done.err
    assert "tools" not in server.bodies[1]


# events


def test_halves_of_a_character_in_two_events_are_one(server: ModelServer) -> None:
    halves = [rb'{"choices":[{"index":0,"delta":{"content":"\ud83c"}}]}']
    halves.append(rb'{"choices":[{"index":0,"delta":{"content":"\udf31!"}}]}')
    body = [sse(half) for half in halves] + [sse(openai_delta("stop")), sse(b"[DONE]")]
    assert OPENAI.ask(server, Reply(body)).text == "🌱!"


def test_data_of_one_event_in_several_lines(server: ModelServer) -> None:
    text = json.dumps(openai_delta(content="A filter"), indent=1)
    event = "".join(f"data: {line}\n" for line in text.split("\n")) + "\n"
    answer = OPENAI.ask(server, Reply([event.encode(), *openai_text(".")]))
    assert answer.text == "A filter."


@BOTH
def test_a_byte_order_mark_before_the_stream(server: ModelServer, protocol: Protocol) -> None:
    answer = protocol.ask(server, Reply([b"\xef\xbb\xbf", *protocol.text("A filter")]))
    assert answer.text == "A filter"


def test_a_second_choice_is_left_out(server: ModelServer) -> None:
    def choice(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
        return {"index": index, "delta": {"content": text}, "finish_reason": finish}

    body = sse(
        {"choices": [choice(0, "A "), choice(1, "No")]},
        {"choices": [choice(1, "thing.", "length")]},
        {"choices": [choice(1, "x"), choice(0, "filter", "stop")]},
        b"[DONE]",
    )
    answer = OPENAI.ask(server, Reply([body]))
    assert (answer.text, answer.end.reason) == ("A filter", "stop")


def test_a_function_call_of_an_old_server_is_a_call(server: ModelServer) -> None:
    frames = [
        openai_delta(content=None, function_call={"name": "find_excerpts", "arguments": ""}),
        openai_delta(function_call={"arguments": '{"query": '}),
        openai_delta(function_call={"arguments": '"filter"}'}),
        openai_delta("function_call"),
    ]
    answer = OPENAI.ask(server, Reply([sse(*frames), sse(b"[DONE]")]))
    [call] = answer.calls
    assert (call.name, call.arguments) == ("find_excerpts", {"query": "filter"})


@pytest.mark.parametrize(
    ("block", "delta"),
    [
        ({"type": "mystery", "text": "hidden"}, {"type": "text_delta", "text": "hidden"}),
        (
            {"type": "server_tool_use", "id": "s", "name": "web", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"q": 1}'},
        ),
        ({"text": "no type"}, {"type": "mystery_delta"}),
    ],
    ids=["new", "server tool", "no type"],
)
def test_anthropic_blocks_that_are_not_known_say_nothing(
    server: ModelServer, block: dict[str, Any], delta: dict[str, Any]
) -> None:
    text = anthropic_block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Yes."})
    events = [anthropic_start(), *anthropic_block(0, block, delta), *text, *anthropic_end()]
    answer = ANTHROPIC.ask(server, Reply([anthropic_events(*events)]))
    assert (answer.text, answer.calls, answer.end.reason) == ("Yes.", (), "stop")
