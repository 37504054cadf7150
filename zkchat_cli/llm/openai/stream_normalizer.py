"""How servers speak OpenAI's language: the events of their streams made regular, before mojentic reads them.

Importing this file imports mojentic. What is lenient here is what real servers were seen to do: an empty first event (Azure), finish
reasons that are empty or their own, reasoning under another name (OpenRouter, vLLM), errors under other names or on a line of their own
(llama.cpp), tool calls without an index or all with the same one (Gemini, Ollama), pieces that each say the id again, and tool arguments
that are no JSON.
"""

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

from zkchat_cli.llm import mojentic_adapter
from zkchat_cli.llm.http_errors import error_in
from zkchat_cli.text.words import replace_surrogates

# isort: split
from mojentic.llm.gateways.openai_recovery import _OpenAIDecoder
from mojentic.llm.recovery import _Attempt
from mojentic.llm.recovery_stream import RecoveryStreamEvent

ATTACHED = "extra_content"
"""Under which Gemini signs its thoughts, in a call, and without which it refuses the call's result."""
_FIELD = re.compile(rb"[A-Za-z][\w-]*:")


def data(line: bytes) -> bytes | None:
    """What a line of the stream says, as JSON or `[DONE]`; None for what says nothing. Raises ValueError for what is no such line."""
    line = line.removeprefix(codecs.BOM_UTF8)
    if line.startswith(b"data:"):
        return line[5:].strip() or None
    if line.startswith(b"error:"):  # llama.cpp's
        return b'{"error":' + (line[6:].strip() or b"null") + b"}"
    if not line.strip() or line.startswith(b":") or _FIELD.match(line):
        return None
    raise ValueError("invalid SSE line")


@dataclass(slots=True)
class _PartialToolCall:
    """A tool call as far as it has come."""

    id: str
    name: str
    arguments: str = ""

    @property
    def is_whole(self) -> bool:
        return self.arguments.rstrip().endswith("}") and mojentic_adapter.MALFORMED not in mojentic_adapter.read_arguments(self.arguments)


class StreamNormalizer(_OpenAIDecoder):  # type: ignore[misc]
    """Events of the stream made regular before mojentic reads them. `said` is the finish reason in the server's own word."""

    def __init__(self) -> None:
        super().__init__()
        self.finish: str | None = None
        self.said: str | None = None
        self._calls: list[_PartialToolCall] = []
        self._by_index: dict[int | None, int] = {}
        self._by_id: dict[str, int] = {}
        self._attached: dict[int, Any] = {}
        self._thought = ""
        self._details: list[dict[str, Any]] = []

    def events(self, frame: object, attempt: _Attempt) -> tuple[list[RecoveryStreamEvent], bool]:
        if frame == "[DONE]" and self.finish is None:
            self.finish = "stop"
        if isinstance(frame, dict):
            error = error_in(frame)
            choices = self._one(frame.get("choices"))
            usage = _figures(frame.get("usage"))
            if error is not None:
                frame = {**frame, "error": error}
            elif not choices and usage is None:
                return [], True
            else:
                frame = {**frame, "usage": usage, "choices": [self._regular(choice) for choice in choices]}
        events: tuple[list[RecoveryStreamEvent], bool] = super().events(frame, attempt)
        return events

    @classmethod
    def of_document(cls, body: bytes) -> "StreamNormalizer | None":
        """What says a whole answer that came where a stream was asked for; None if it is none."""
        said = cls()
        try:
            answer = json.loads(body)
            [choice] = said._one(answer["choices"])
            if not isinstance(choice["message"], dict):
                return None
            delta = said._regular(choice, "message")["delta"]
            said.content, said.thinking = said.text(delta, "content"), said.text(delta, "reasoning_content")
            for call in delta.get("tool_calls") or ():
                said.accumulate(call)
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        said.evidence["usage"] = _figures(answer.get("usage"))
        return said

    def metrics(self, common: dict[str, Any]) -> RecoveryStreamEvent:
        event = super().metrics(common)
        return event.model_copy(update={"metrics": event.metrics.model_copy(update={"finish_reason": self.said or self.finish})})

    @staticmethod
    def _one(choices: object) -> list[dict[str, Any]]:
        """The one answer that was asked for, or none."""
        every = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
        return [choice for choice in every if not choice.get("index")][:1] or every[:1]

    def _regular(self, choice: dict[str, Any], said_in: str = "delta") -> dict[str, Any]:
        delta = dict(choice.get(said_in) or {})
        if isinstance(delta.get("content"), list):  # Mistral's, in parts
            delta["content"] = "".join(str(part.get("text") or "") for part in delta["content"] if isinstance(part, dict))
        if not delta.get("content") and isinstance(delta.get("refusal"), str):
            delta["content"] = delta["refusal"]
        self._think(delta)
        if delta.get("reasoning_content") is None and isinstance(delta.get("reasoning"), str):
            delta["reasoning_content"] = delta["reasoning"]
        delta = mojentic_adapter.sanitize_surrogates(delta, "content", "reasoning_content")
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            delta["tool_calls"] = [self._placed(call) if isinstance(call, dict) else call for call in calls]
        finish = choice.get("finish_reason") or None
        if isinstance(finish, str):
            self.said = finish
            finish = finish if finish in ("stop", "tool_calls", "content_filter") else "stop"
        return {**choice, "delta": delta, "finish_reason": finish}

    def _placed(self, fragment: dict[str, Any]) -> dict[str, Any]:
        """The fragment with an index of its own call, and what of it is said for the first time."""
        function = fragment.get("function")
        function = dict(function) if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index = fragment["index"] if isinstance(fragment.get("index"), int) else None
        said = _PartialToolCall(str(fragment.get("id") or ""), str(function.get("name") or ""), arguments or "")
        place = self._place(index, said)
        if place is None:
            place = len(self._calls)
            self._calls.append(said)
        else:
            call = self._calls[place]
            if (said.id or said.name) and said.arguments == call.arguments and call.is_whole:  # the costly last: a million pieces may come
                said.arguments = ""
            if said.name == call.name:
                said.name = ""
            call.id, call.name, call.arguments = said.id or call.id, call.name + said.name, call.arguments + said.arguments
        self._by_index[index] = place
        if isinstance(attached := fragment.get(ATTACHED), dict):
            self._attached[place] = attached
        if said.id:
            self._by_id[said.id] = place
        return {**fragment, "id": said.id or None, "index": place, "function": {"name": said.name or None, "arguments": said.arguments}}

    def _place(self, index: int | None, said: _PartialToolCall) -> int | None:
        """The call that a fragment goes on with, or says again; None if it begins another.

        What has neither an id nor a name goes on with the call of its index, or else with the last. An id that is known goes on with its
        call, whatever the index says; one that is not begins a call. So does, without both, another name, and so do other arguments for a
        call that has all of its own.
        """
        at = self._by_index.get(index)
        place = self._by_id.get(said.id)
        if place is None and (not said.id or (index is not None and at is not None and not self._calls[at].id)):
            place = at if at is not None or said.id or said.name or not self._calls else len(self._calls) - 1
        if place is None:
            return None
        known = self._calls[place]
        if not said.name or (said.name == known.name and said.arguments in ("", known.arguments)):
            return place
        goes_on = said.name == known.name or (index is not None and place == at)
        return place if goes_on and not known.is_whole else None

    def wanted_back(self, *, thoughts: bool) -> tuple[dict[str, Any], ...]:
        """What the server wants back with its calls: fields of their `message`, as it named them, and of single ones, by their place.
        Nothing without calls."""
        if not self._calls:
            return ()
        fields = {"reasoning_content": self._thought if thoughts else "", "reasoning_details": self._details}
        message = {name: value for name, value in fields.items() if value}
        calls = ({"call": place, "fields": {ATTACHED: self._attached[place]}} for place in sorted(self._attached))
        return (*([{"message": message}] if message else []), *calls)

    def _think(self, delta: dict[str, Any]) -> None:
        if isinstance(delta.get("reasoning_content"), str):
            self._thought += replace_surrogates(delta["reasoning_content"])
        details = delta.get("reasoning_details")
        for said in details if isinstance(details, list) else ():
            if isinstance(said, dict):
                last = self._details[-1] if self._details else {}
                if not last or (last.get("type"), last.get("index")) != (said.get("type"), said.get("index")):
                    self._details.append(last := {})
                for name, value in said.items():
                    goes_on = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(last.get(name), str)
                    last[name] = last[name] + value if goes_on else last.get(name) if value is None else value

    def completed_tools(self) -> list[dict[str, Any]]:
        tools = []
        for index in sorted(self.fragments):
            call = self.fragments[index]
            arguments = mojentic_adapter.read_arguments(call["arguments"])
            tools.append({"id": call["id"], "function": {"name": call["name"] or "nameless", "arguments": arguments}})
        return tools


def _figures(usage: object) -> dict[str, Any] | None:
    """What of a usage is numbers, as mojentic demands; None if there is none."""
    if not isinstance(usage, dict):
        return None
    counts = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {key: value for key, value in usage.items() if key not in counts or (type(value) is int and value >= 0)}
