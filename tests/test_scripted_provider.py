"""The scripted model: replies from a file, with every field that a reply may have."""

import json
from pathlib import Path
from typing import Any

import pytest
from factories import prompt_message

from zkchat_cli import tools
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Delta, ModelConfig, ReasoningPart, Request, StreamFailed, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.providers.scripted import ScriptedModel
from zkchat_cli.models import PromptTool, TokenUsage

REQUEST = Request((prompt_message("user", "Hello “you” 😀"),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.jsonl"


def opened(file: Path, *lines: Any) -> ScriptedModel:
    """The model that plays these lines; a text stands in the file as it is."""
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    model = providers.provider("scripted").open(ModelConfig(str(file)))
    assert isinstance(model, ScriptedModel)
    return model


def played(model: ScriptedModel) -> list[Delta]:
    return list(model.stream(REQUEST))


def refused(file: Path, *lines: Any) -> ProviderError:
    with pytest.raises(ProviderError) as e:
        opened(file, *lines)
    assert e.value.hint
    return e.value


@pytest.mark.parametrize(
    ("reply", "deltas"),
    [
        ({"text": "Hello"}, [TextPart("Hello"), StreamFinished("stop")]),
        ({"deltas": ["Hel", "", "lo"]}, [TextPart("Hel"), TextPart("lo"), StreamFinished("stop")]),
        ({"text": "Yes", "reasoning": "Hm"}, [ReasoningPart("Hm"), TextPart("Yes"), StreamFinished("stop")]),
        ({}, [StreamFinished("stop")]),
        ({"finish_reason": "length"}, [StreamFinished("length")]),
        (
            {"usage": {"prompt_tokens": 7, "completion_tokens": 3}},
            [StreamFinished("stop", TokenUsage(prompt_tokens=7, completion_tokens=3, estimated=False))],
        ),
        ('{"text": "a\u2028b\u0085c"}', [TextPart("a\u2028b\u0085c"), StreamFinished("stop")]),
    ],
    ids=["text", "deltas", "reasoning", "empty", "finish reason", "usage", "line separators"],
)
def test_reply_becomes_deltas(file: Path, reply: Any, deltas: list[Delta]) -> None:
    assert played(opened(file, reply)) == deltas


def test_tool_calls_get_ids(file: Path) -> None:
    call = {"name": "find_excerpts", "arguments": {"query": "a"}}
    text, calls, end = played(opened(file, {"text": "Let me look", "tool_calls": [call, {"name": "other"}]}))
    assert isinstance(calls, ToolCallsPart)
    assert [(c.id, c.name, c.arguments) for c in calls.calls] == [("call-1-1", "find_excerpts", {"query": "a"}), ("call-1-2", "other", {})]
    assert (text, end) == (TextPart("Let me look"), StreamFinished("tool_calls"))


def test_delay_before_each_delta(file: Path) -> None:
    pauses: list[float] = []
    model = opened(file, {"deltas": ["a", "b"], "delay_ms": 250})
    model.pause = pauses.append
    played(model)
    assert pauses == [0.25, 0.25]


def test_echo_answers_with_the_prompt_as_json(file: Path) -> None:
    described = PromptTool(name="find_excerpts", descriptor=tools.load_tools()[0].descriptor, tokens=9)
    (echo, _) = opened(file, {"echo": True}).stream(Request(REQUEST.messages, (described,)))
    assert isinstance(echo, TextPart)
    assert "Hello “you” 😀" in echo.text
    document = json.loads(echo.text)
    assert document["messages"][0]["role"] == "user"
    assert document["tools"] == [described.descriptor]


def test_first_reply_follows_the_last(file: Path) -> None:
    model = opened(file, {"text": "one"}, {"text": "two"})
    assert [played(model)[0] for _ in range(5)] == [TextPart(t) for t in ("one", "two", "one", "two", "one")]


@pytest.mark.parametrize("kind", ["timeout", "rate_limit", "context_length", "auth", "server", "connection", "cut", "empty"])
def test_error_comes_after_the_text(file: Path, kind: str) -> None:
    text, end = played(opened(file, {"text": "Partly", "error": kind, "tool_calls": [{"name": "never"}]}))
    assert text == TextPart("Partly")
    assert isinstance(end, StreamFailed)
    assert end.error.kind == kind
    assert str(file) in end.error.message
    assert end.error.hint


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 2"),
        ({"txt": "x"}, "line 2: txt"),
        ({"deltas": [1]}, "line 2: deltas.0"),
        ('{"delay_ms": Infinity}', "line 2: delay_ms"),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": 1}}, "line 2: usage.prompt_tokens"),
        ({"usage": {"prompt_tokens": 10**310, "completion_tokens": 1}}, "line 2: usage.prompt_tokens"),
        ({"tool_calls": [{"name": "a", "id": "x"}]}, "line 2: tool_calls.0.id"),
        ('{"text": "\\ud800"}', "line 2"),
    ],
)
def test_invalid_line_is_named_with_its_field(file: Path, line: Any, told: str) -> None:
    error = refused(file, {"text": "good"}, line)
    assert error.kind == "bad_script"
    assert told in error.message
    assert "tool_calls" in error.hint


@pytest.mark.parametrize("lines", [[], ["", "  "]])
def test_file_without_replies_is_an_error(file: Path, lines: list[str]) -> None:
    assert refused(file, *lines).kind == "bad_script"


@pytest.mark.parametrize("name", ["", "/no/such/file", "/", "a\0b", "x" * 5000])
def test_unreadable_file_is_an_unknown_model(name: str) -> None:
    with pytest.raises(ProviderError) as e:
        providers.provider("scripted").open(ModelConfig(name))
    assert e.value.kind == "unknown_model"
    assert e.value.hint


def test_file_that_is_not_utf_8_is_an_error(file: Path) -> None:
    file.write_bytes(b'{"text": "\xff"}')
    with pytest.raises(ProviderError, match="cannot be read"):
        providers.provider("scripted").open(ModelConfig(str(file)))
