"""Writes an answer as the frames that mojentic decodes: of chat completions, or of Ollama. Pure.

The servers' own frames differ from the format, and mojentic rejects an answer for any difference: a
tool call without an index, empty arguments, a missing `[DONE]`. A `ChatReader` understands them,
and what it has read is written here in exactly the format.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from zkchat_cli.events import ReasoningDelta, TextDelta
from zkchat_cli.llm.base import Delta, StreamFinished
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.text.words import replace_surrogates

Frame = dict[str, Any]
Encode = Callable[[Iterable[Delta]], bytes]
"""Writes deltas as frames."""


def encode_chat_completions(deltas: Iterable[Delta]) -> bytes:
    """The server-sent events of chat completions for these deltas."""
    written = (f"data: {_json(frame)}\n\n" for frame in chain(*map(_chat_frames, deltas)))
    return "".join(written).encode()


def encode_ollama_chat(deltas: Iterable[Delta]) -> bytes:
    """The lines of Ollama's chat for these deltas."""
    return "".join(f"{_json(frame)}\n" for frame in chain(*map(_ollama_frames, deltas))).encode()


def _json(frame: Frame | str) -> str:
    if isinstance(frame, str):
        return frame
    return replace_surrogates(json.dumps(frame, ensure_ascii=False))


def _chat_frames(delta: Delta) -> Iterator[Frame | str]:
    match delta:
        case TextDelta(text):
            yield _choice({"content": text})
        case ReasoningDelta(text):
            yield _choice({"reasoning_content": text})
        case StreamFinished():
            calls = readable_calls(delta)
            for index, call in enumerate(calls):
                arguments = json.dumps(call.arguments, ensure_ascii=False)
                function = {"name": call.name, "arguments": arguments}
                yield _choice(
                    {"tool_calls": [{"index": index, "id": call.id, "function": function}]}
                )
            if delta.usage is not None:
                usage = delta.usage.model_dump(include={"prompt_tokens", "completion_tokens"})
                yield {"choices": [], "usage": usage}
            yield _choice({}, finish_reason=delta.reason)
            yield "[DONE]"


def _choice(delta: Frame, finish_reason: str | None = None) -> Frame:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def _ollama_frames(delta: Delta) -> Iterator[Frame]:
    match delta:
        case TextDelta(text):
            yield _message(content=text)
        case ReasoningDelta(text):
            yield _message(content="", thinking=text)
        case StreamFinished():
            for call in readable_calls(delta):
                function = {"name": call.name, "arguments": call.arguments}
                yield _message(content="", tool_calls=[{"id": call.id, "function": function}])
            # Ollama has no reason of its own for tool calls
            reason = "length" if delta.reason == "length" else "stop"
            end = {**_message(content=""), "done": True, "done_reason": reason}
            if delta.usage is not None:
                end["prompt_eval_count"] = delta.usage.prompt_tokens
                end["eval_count"] = delta.usage.completion_tokens
            yield end


def _message(**parts: object) -> Frame:
    return {"message": {"role": "assistant", **parts}, "done": False}


def readable_calls(end: StreamFinished) -> list[ToolCall]:
    """The tool calls that have arguments: mojentic rejects the whole answer for one that has
    something else, which zkchat shows to the model.
    """
    return [call for call in end.calls if call.malformed is None]
