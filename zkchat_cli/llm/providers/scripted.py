"""Replies from a file, for tests and demonstrations: `scripted/FILE`, JSON lines, one reply per
model call, the first again after the last.

A line: {"text" or "deltas": […], "reasoning", "tool_calls": [{"name", "arguments"}],
"finish_reason", "usage": {"prompt_tokens", "completion_tokens"}, "delay_ms" (before each delta),
"error"}, all optional; the error comes after the text. {"echo": true} answers with the prompt it
got, as JSON.
"""

import json
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from zkchat_cli.errors import ProviderError, reason, value_problem
from zkchat_cli.events import ReasoningDelta, TextDelta
from zkchat_cli.fileio import read_file
from zkchat_cli.llm import base
from zkchat_cli.llm.base import Delta, Model, ModelConfig, Provider, Request
from zkchat_cli.models.base import Value
from zkchat_cli.models.messages import FinishReason, TokenUsage, ToolCall

MAX_SCRIPT = 10_000_000


class _ScriptedCall(Value):
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class _ScriptedReply(Value):
    text: str = ""
    deltas: tuple[str, ...] = ()
    reasoning: str = ""
    tool_calls: tuple[_ScriptedCall, ...] = ()
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None
    delay_ms: Annotated[float, Field(ge=0, le=3_600_000)] = 0
    error: (
        Literal[
            "timeout",
            "rate_limit",
            "context_length",
            "auth",
            "server",
            "connection",
            "cut",
            "empty",
        ]
        | None
    ) = None
    echo: bool = False


@dataclass
class ScriptedModel(Model):
    """Plays the replies of a file, in order and again from the first."""

    name: str
    replies: tuple[_ScriptedReply, ...]
    _calls: int = field(default=0, init=False)

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """The next reply; see the top of this file."""
        reply = self.replies[self._calls % len(self.replies)]
        self._calls += 1
        if reply.reasoning:
            yield ReasoningDelta(reply.reasoning)
        for piece in _pieces(reply, request):
            time.sleep(reply.delay_ms / 1000)
            if piece:
                yield TextDelta(piece)
        if reply.error:
            problem = f"{self.name}: the call failed ({reply.error})"
            yield base.StreamFailed(ProviderError(reply.error, problem, "Try again."))
            return
        calls = tuple(
            ToolCall(id=f"call-{self._calls}-{i}", **call.model_dump())
            for i, call in enumerate(reply.tool_calls, 1)
        )
        usage = reply.usage and reply.usage.model_copy(update={"estimated": False})
        reason: FinishReason = "tool_calls" if calls else "stop"
        yield base.StreamFinished(reply.finish_reason or reason, usage, calls)


def _pieces(reply: _ScriptedReply, request: Request) -> Sequence[str]:
    """The texts of a reply; with `echo` the prompt as JSON."""
    if not reply.echo:
        return reply.deltas or [reply.text]
    prompt = {
        "messages": [message.model_dump(mode="json") for message in request.messages],
        "tools": [tool.descriptor for tool in request.tools],
    }
    return [json.dumps(prompt, ensure_ascii=False)]


def _open(config: ModelConfig) -> ScriptedModel:
    file = config.name
    try:
        text = read_file(file, MAX_SCRIPT).decode("utf-8-sig")
    except (OSError, ValueError) as e:
        hint = "Name a UTF-8 file of JSON lines, at most 10 MB."
        raise ProviderError(
            "unknown_model", f"scripted/{file} cannot be read: {reason(e)}", hint
        ) from e
    replies = tuple(
        _parse_reply(line, f"{file}, line {number}")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    )
    if not replies:
        raise ProviderError(
            "bad_script",
            f"{file} contains no replies",
            'Write one JSON object a line, such as {"text": "Hello"}.',
        )
    return ScriptedModel(f"scripted/{file}", replies)


def _parse_reply(line: str, location: str) -> _ScriptedReply:
    """A reply. Raises ProviderError that names the line and the wrong key."""
    try:
        return _ScriptedReply.model_validate_json(line)
    except ValidationError as e:
        first = e.errors()[0]
        key = ".".join(map(str, first["loc"]))
        problem = value_problem(first)
        if key:
            problem = f"{key}: {problem}"
        hint = f"A reply may have: {', '.join(_ScriptedReply.model_fields)}."
        raise ProviderError("bad_script", f"{location}: {problem}", hint) from e


PROVIDER = Provider(name="scripted", open=_open)
