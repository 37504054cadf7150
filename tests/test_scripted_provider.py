"""The scripted model: replies from a file, with every field that a reply may have."""

import json
from pathlib import Path
from typing import Any

import pytest
from factories import prompt_message

from zkchat_cli.errors import ProviderError
from zkchat_cli.events import TextDelta
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Delta, ModelConfig, Request, StreamFinished
from zkchat_cli.llm.providers.scripted import ScriptedModel
from zkchat_cli.models.messages import TokenUsage

REQUEST = Request((prompt_message("user", "Hello “you” 😀"),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.jsonl"


def opened(file: Path, *lines: Any) -> ScriptedModel:
    """The model that plays these lines; a text stands in the file as it is."""
    file.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines),
        encoding="utf-8",
    )
    model = providers.provider("scripted").open(ModelConfig(str(file)))
    assert isinstance(model, ScriptedModel)
    return model


def refused(file: Path, *lines: Any) -> ProviderError:
    with pytest.raises(ProviderError) as e:
        opened(file, *lines)
    assert e.value.hint
    return e.value


@pytest.mark.parametrize(
    ("reply", "deltas"),
    [
        (
            {"deltas": ["Hel", "", "lo"]},
            [TextDelta("Hel"), TextDelta("lo"), StreamFinished("stop")],
        ),
        ({}, [StreamFinished("stop")]),
        (
            {"usage": {"prompt_tokens": 7, "completion_tokens": 3}},
            [
                StreamFinished(
                    "stop", TokenUsage(prompt_tokens=7, completion_tokens=3, estimated=False)
                )
            ],
        ),
        ('{"text": "a\u2028b\u0085c"}', [TextDelta("a\u2028b\u0085c"), StreamFinished("stop")]),
    ],
    ids=["deltas", "empty", "usage", "line separators"],
)
def test_reply_becomes_deltas(file: Path, reply: Any, deltas: list[Delta]) -> None:
    assert list(opened(file, reply).stream(REQUEST)) == deltas


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 2"),
        ({"txt": "x"}, "line 2: txt"),
        ({"deltas": [1]}, "line 2: deltas.0"),
        ('{"delay_ms": Infinity}', "line 2: delay_ms"),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": 1}}, "line 2: usage.prompt_tokens"),
        (
            {"usage": {"prompt_tokens": 10**310, "completion_tokens": 1}},
            "line 2: usage.prompt_tokens",
        ),
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
