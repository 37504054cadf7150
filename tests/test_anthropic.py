"""Claude over the wire: Anthropic's own faults, whole answers, the key, the window.
test_model_faults.py has the faults of all servers.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from factories import chunk, make_app, prompt_message, report_of
from model_calls import ANTHROPIC, KEY, QUESTION, Answer, call_model, open_model
from model_server import (
    ModelServer,
    Reply,
    anthropic_begun,
    anthropic_block,
    anthropic_call,
    anthropic_calls,
    anthropic_end,
    anthropic_error,
    anthropic_error_event,
    anthropic_events,
    anthropic_start,
    anthropic_text,
    anthropic_thinking,
)

from zkchat_cli.events import ReasoningDelta, TextDelta
from zkchat_cli.llm.base import ModelConfig, Request, StreamFinished, Window
from zkchat_cli.llm.providers.anthropic import PROVIDER, AnthropicSettings
from zkchat_cli.models.messages import TokenUsage, ToolCall
from zkchat_cli.references.excerpts import format_tool_result

MIN_WINDOW = Window(200_000, "the minimum of all Claude models; the server does not say")


def call(server: ModelServer, *replies: Reply, **model: Any) -> Answer:
    server.says(*replies)
    return call_model(open_model("anthropic", server.address, **model), Request((QUESTION,)))


# faults

BEGUN = anthropic_begun("Hel")
NUMBER_AS_TEXT = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "text_delta", "text": 5},
}


@pytest.mark.parametrize(
    ("reply", "kind", "tries", "text", "message"),
    [
        (anthropic_error(529, "Overloaded"), "server", 3, "", "failed (529): Overloaded"),
        (
            Reply([anthropic_events(anthropic_error_event("overloaded_error", "Overloaded"))]),
            "server",
            3,
            "",
            "failed (529)",
        ),
        (
            Reply(
                [BEGUN, anthropic_events(anthropic_error_event("overloaded_error", "Overloaded"))]
            ),
            "server",
            1,
            "Hel",
            "failed (529)",
        ),
        (
            Reply([BEGUN, anthropic_events(*anthropic_end("refusal"))]),
            "content_filter",
            1,
            "Hel",
            "content filter",
        ),
        (Reply([anthropic_events({"type": "content_block_delta"})]), "bad_answer", 1, "", ""),
        (
            Reply([BEGUN, anthropic_events(NUMBER_AS_TEXT), *anthropic_text("lo")]),
            "bad_answer",
            1,
            "Hel",
            "",
        ),
    ],
    ids=[
        "529",
        "overloaded before text",
        "overloaded after text",
        "a refusal",
        "an event without its fields",
        "a number as text",
    ],
)
def test_fault_of_anthropics_own(
    server: ModelServer, reply: Reply, kind: str, tries: int, text: str, message: str
) -> None:
    answer = call(server, reply)
    assert (answer.error.kind, len(server.asked), answer.text) == (kind, tries, text)
    assert message in answer.error.message


# whole answers


def test_text_arrives_in_pieces_with_its_usage(server: ModelServer) -> None:
    usage = {
        "input_tokens": 20,
        "output_tokens": 1,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 80,
    }
    answer = call(server, Reply(anthropic_text("Grü", "ße ", "世界", **usage)))
    assert answer.deltas[:-1] == (TextDelta("Grü"), TextDelta("ße "), TextDelta("世界"))
    usage_of_all = TokenUsage(
        prompt_tokens=1000,
        completion_tokens=3,
        cache_write_tokens=80,
        cached_tokens=900,
        estimated=False,
    )
    assert answer.end == StreamFinished("stop", usage_of_all)
    assert call(server, Reply(anthropic_text("Hello", input_tokens=0))).end == StreamFinished(
        "stop", None
    )


def test_an_answer_without_its_first_event_is_read(server: ModelServer) -> None:
    """As llama.cpp begins one with a character of several tokens."""
    block = anthropic_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "να"})
    assert ANTHROPIC.ask(server, Reply([anthropic_events(*block, *anthropic_end())])).text == "να"


def test_tool_calls(server: ModelServer) -> None:
    calls = [("a", "find", '{"query": "filters"}'), ("a", "find", ""), ("b", "list", '{"cut": ')]
    found = [
        ToolCall(id="a", name="find", arguments={"query": "filters"}),
        ToolCall(id="a", name="find"),
    ]
    answer = call(server, Reply(anthropic_calls(*calls)))
    assert (list(answer.calls), answer.end.reason) == (
        [*found, ToolCall(id="b", name="list", malformed='{"cut": ')],
        "tool_calls",
    )
    assert list(call(server, Reply(anthropic_calls(*calls, finish="max_tokens"))).calls) == found
    # As imitations send it
    block = {"type": "tool_use", "id": "a", "name": "find", "input": {"query": "filters"}}
    whole = Reply(
        [
            anthropic_events(
                anthropic_start(), *anthropic_block(0, block), *anthropic_end("tool_use")
            )
        ]
    )
    assert call(server, whole).calls == (found[0],)


def test_thinking_with_calls_is_shown_and_kept_in_its_signed_form(server: ModelServer) -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    thinking = anthropic_thinking(0, "Let me look.", "c2ln")
    tool_call = anthropic_call(2, "a", "find", "{}")
    events = (
        anthropic_start(),
        *thinking,
        *anthropic_block(1, redacted),
        *tool_call,
        *anthropic_end("tool_use"),
    )
    answer = call(server, Reply([anthropic_events(*events)]))
    reasoning, _ = answer.deltas
    assert reasoning == ReasoningDelta("Let me look.")
    assert answer.end.thinking is not None
    assert answer.end.thinking.provider == "anthropic"
    assert answer.end.thinking.blocks == (
        {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
        redacted,
    )


# the server, the key, the window


def test_other_servers_get_the_key_in_both_headers(server: ModelServer) -> None:
    server.says(Reply(anthropic_text("Hello")))
    call_model(open_model("anthropic", server.address + "/v1/"), Request((QUESTION,)))
    [(path, body, headers)] = server.asked
    assert (path, body["model"], body["stream"]) == ("/v1/messages", "m", True)
    assert body["messages"][0]["content"][0]["text"] == QUESTION.content
    assert (headers["x-api-key"], headers["authorization"]) == (KEY, f"Bearer {KEY}")
    assert headers["anthropic-version"]


@pytest.mark.parametrize(
    ("model", "listed", "window"),
    [
        (
            "claude-opus-5",
            {"data": [{"id": "claude-opus-5", "max_input_tokens": 9_000}]},
            Window(9_000, "the server's list of models"),
        ),
        ("claude-opus-5", {"data": [{"id": "claude-opus-5"}]}, MIN_WINDOW),
        ("claude-opus-5", Reply([b"<html>"], 200), MIN_WINDOW),
        ("of-ones-own", Reply([b"{}"], 404), None),
    ],
)
def test_window_is_the_servers_or_the_minimum_of_claude(
    server: ModelServer, model: str, listed: Any, window: Window | None
) -> None:
    server.gets[ANTHROPIC.listing] = listed
    opened = open_model("anthropic", server.address, model)
    opened.prepare()
    opened.prepare()
    assert opened.window == window
    assert server.everything == [f"GET {ANTHROPIC.listing}"]


def test_models_of_the_server_are_listed(server: ModelServer) -> None:
    server.gets[ANTHROPIC.listing] = {
        "data": [{"id": "clam"}, {"id": "claude", "max_input_tokens": 300_000}],
        "has_more": False,
    }
    assert PROVIDER.open_remote is not None
    remote = PROVIDER.open_remote(
        ModelConfig("", AnthropicSettings(base_url=server.address), {"ANTHROPIC_API_KEY": KEY})
    )
    assert [(model.name, model.window) for model in remote.list_models()] == [
        ("clam", None),
        ("claude", 300_000),
    ]
    assert (remote.server.key_status, remote.server.is_configured) == (
        "ANTHROPIC_API_KEY is set",
        True,
    )


@pytest.mark.parametrize(
    ("listed", "counts"),
    [({"input_tokens": 1234}, [1234, 1234]), (Reply([b"{}"], 404), [None, None])],
)
def test_the_server_counts_the_tokens_of_a_prompt(
    server: ModelServer, listed: Any, counts: list[int | None]
) -> None:
    server.gets["/v1/messages/count_tokens"] = listed
    opened = open_model("anthropic", server.address)
    assert [opened.count_tokens(Request((QUESTION,))) for _ in range(2)] == counts
    # A server that does not count is not asked again
    assert len(server.everything) == (2 if counts[0] else 1)


# turns and the program


def citing_answer(text: str, *cited: dict[str, Any]) -> Reply:
    deltas = [
        {"type": "text_delta", "text": text},
        *({"type": "citations_delta", "citation": each} for each in cited),
    ]
    return Reply(
        [
            anthropic_events(
                anthropic_start(),
                *anthropic_block(0, {"type": "text", "text": ""}, *deltas),
                *anthropic_end(),
            )
        ]
    )


def test_claudes_own_citations_of_excerpts_are_verified_with_their_lines(
    vault: Path, tmp_path: Path, server: ModelServer
) -> None:
    looking = anthropic_calls(("toolu_1", "find_excerpts", '{"query": "compost heap"}'))
    server.says(Reply(looking), citing_answer("Compost needs air."), citing_answer("See [1]."))
    session = make_app(vault, tmp_path / "cache").session(
        open_model("anthropic", server.address, "claude-opus-5")
    )

    def cite(request: int, block: int) -> dict[str, Any]:
        found = search_results(server.bodies[request])[0]
        place = {
            "search_result_index": 0,
            "start_block_index": block,
            "end_block_index": block + 1,
            "source": found["source"],
        }
        return {
            "type": "search_result_location",
            "cited_text": found["content"][block]["text"],
            "title": found["title"],
            **place,
        }

    report_of(session.send("What does compost need?"))
    [first, *_] = search_results(server.bodies[1])
    assert first["citations"] == {"enabled": True}
    assert (first["title"][:4], "".join(line["text"] for line in first["content"])) == (
        "[1] ",
        session.state.references.chunk(1).text,
    )
    at = next(i for i, line in enumerate(first["content"]) if "patience" in line["text"])
    server.says(citing_answer("Compost needs air.", cite(1, at), cite(1, at)))
    report = report_of(session.send("And compost?"))
    words = first["content"][at]["text"].strip()
    assert report.answer == f"Compost needs air. (“{words}” [1])"
    [citation] = report.citations
    assert (citation.verdict, citation.quote) == ("verified", words)


def search_results(body: dict[str, Any]) -> list[dict[str, Any]]:
    results = [b for m in body["messages"] for b in m["content"] if b["type"] == "tool_result"]
    return [
        block
        for result in results
        for block in result["content"]
        if block["type"] == "search_result"
    ]


def test_a_server_that_knows_no_search_results_gets_text(server: ModelServer) -> None:
    found = chunk(3, "one\n\ntwo", relative_path="A.md", title="A", start_line=1)
    excerpts = format_tool_result([found], {})
    documents = prompt_message("user", excerpts, "documents", chunks=(found,))
    request = Request((QUESTION, documents, QUESTION))
    server.says(
        anthropic_error(400, "messages.0.content.1: unknown type search_result"),
        Reply(anthropic_text("Hello")),
    )
    assert (
        call_model(open_model("anthropic", server.address, "claude-opus-5"), request).text
        == "Hello"
    )
    first, second = (body["messages"][0]["content"][1] for body in server.bodies)
    assert (first["type"], first["source"], [line["text"] for line in first["content"]]) == (
        "search_result",
        "A.md:1-3",
        ["one\n\n", "two"],
    )
    assert (second["type"], second["text"]) == ("text", excerpts)


def test_thinking_goes_back_during_its_turn_only(
    vault: Path, tmp_path: Path, server: ModelServer
) -> None:
    thought = {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"}
    looking = [
        *anthropic_thinking(0, "Let me look.", "c2ln"),
        *anthropic_call(1, "toolu_1", "find_excerpts", '{"query": "filter"}'),
    ]
    server.says(
        Reply([anthropic_events(anthropic_start(), *looking, *anthropic_end("tool_use"))]),
        Reply(anthropic_text("A line [1].")),
        Reply(anthropic_text("You are welcome.")),
    )
    session = make_app(vault, tmp_path / "cache").session(open_model("anthropic", server.address))
    assert report_of(session.send("what is a filter?")).answer == "A line [1]."
    report_of(session.send("thanks"))
    second = server.bodies[1]["messages"]
    third = server.bodies[2]["messages"]
    assert [m["role"] for m in second] == ["user", "assistant", "user"]
    assert second[1]["content"] == [
        thought,
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "find_excerpts",
            "input": {"query": "filter"},
        },
    ]
    assert (second[2]["content"][0]["type"], second[2]["content"][0]["tool_use_id"]) == (
        "tool_result",
        "toolu_1",
    )
    assert [m["role"] for m in third] == ["user", "assistant", "user", "assistant", "user"]
    assert "thinking" not in json.dumps(third)
    assert server.bodies[1]["system"] == server.bodies[2]["system"]
    assert server.bodies[1]["tools"] == server.bodies[2]["tools"]
