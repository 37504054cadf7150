"""Streams of OpenAI-compatible servers, with the deviations that real servers were seen to have.

An empty first event (Azure); finish reasons that are empty or of their own; reasoning in another field (OpenRouter, vLLM); errors in other
fields or on a line of their own (llama.cpp); tool calls without an index or all with the same one (Gemini, Ollama); fragments that repeat
the id; tool arguments that are not JSON; an answer in one piece; no `[DONE]`.
"""

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any

from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, counts, text_of
from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.models import ThinkingBlocks

PROVIDER_NAME = "openai"
"""Marks reasoning that goes back to an OpenAI-compatible server only."""
SIGNATURE = "extra_content"
"""The field of a call in which Gemini signs its reasoning, and without which it rejects the call's result."""
_OTHER_FIELD = re.compile(rb"[A-Za-z][\w-]*:")


class OpenAIReader(ChatReader):
    """The events of one response. Fragments of tool calls are put together here, because servers number them in many ways."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, int] = {}
        self._by_id: dict[str, int] = {}
        self._signatures: dict[int, Any] = {}
        self._reasoning = ""
        self._reasoning_details: list[dict[str, Any]] = []

    def parse_line(self, line: bytes) -> object:
        line = line.removeprefix(codecs.BOM_UTF8)
        if line.startswith(b"data:"):
            data = line[5:].strip()
            return "[DONE]" if data == b"[DONE]" else json.loads(data) if data else None
        if line.startswith(b"error:"):  # llama.cpp
            return {"error": json.loads(line[6:].strip() or b"null")}
        if not line.strip() or line.startswith(b":") or _OTHER_FIELD.match(line):
            return None
        raise ValueError("not a line of server-sent events")

    def read_event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        self._read_usage(event.get("usage"))
        choices = event.get("choices")
        choices = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
        chosen = next((choice for choice in choices if not choice.get("index")), None) or next(iter(choices), None)
        return self._read_choice(chosen, "delta") if chosen else {}

    def read_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        self._read_usage(document.get("usage"))
        choice = document["choices"][0]
        if not isinstance(choice["message"], dict):
            raise TypeError(choice)
        return self._read_choice(choice, "message")

    def _read_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            details = usage.get("prompt_tokens_details")
            self.usage = counts(usage, prompt_tokens="prompt_tokens", completion_tokens="completion_tokens")
            self.usage |= counts(details, cached_tokens="cached_tokens") if isinstance(details, dict) else {}

    def _read_choice(self, choice: Mapping[str, Any], key: str) -> dict[str, Any]:
        delta = choice.get(key) or {}
        content = delta.get("content")
        if isinstance(content, list):  # Mistral sends parts
            content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
        self._keep_reasoning(delta)
        reasoning = delta.get("reasoning_content")
        if reasoning is None and isinstance(delta.get("reasoning"), str):
            reasoning = delta["reasoning"]
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"]:
            self.finish = choice["finish_reason"]
        refusal = delta.get("refusal")
        return {
            "content": text_of(content or (refusal if isinstance(refusal, str) else content)),
            "reasoning_content": text_of(reasoning),
        }

    def _add_fragment(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index = fragment["index"] if isinstance(fragment.get("index"), int) else None
        added = PartialToolCall(str(fragment.get("id") or ""), str(function.get("name") or ""), arguments or "")
        place = self._find_call(index, added)
        if place is None:
            place = len(self.calls)
            self.calls.append(added)
        else:
            call = self.calls[place]
            # the costly check is last: a million fragments may come
            repeated = bool(added.id or added.name) and added.arguments == call.arguments and call.is_complete
            call.id = added.id or call.id
            call.name += "" if added.name == call.name else added.name
            call.arguments += "" if repeated else added.arguments
        self._by_index[index] = place
        if isinstance(signature := fragment.get(SIGNATURE), dict):
            self._signatures[place] = signature
        if added.id:
            self._by_id[added.id] = place

    def _find_call(self, index: int | None, added: PartialToolCall) -> int | None:
        """The call that a fragment continues or repeats; None if it starts one.

        Without an id and a name it continues the call of its index, or else the last one. A known id continues its call, whatever the
        index says; an unknown one starts a call. Without an id, another name starts a call, and so do other arguments after complete ones.
        """
        at_index = self._by_index.get(index)
        place = self._by_id.get(added.id)
        if place is None and (not added.id or (index is not None and at_index is not None and not self.calls[at_index].id)):
            place = at_index if at_index is not None or added.id or added.name or not self.calls else len(self.calls) - 1
        if place is None:
            return None
        known = self.calls[place]
        if not added.name or (added.name == known.name and added.arguments in ("", known.arguments)):
            return place
        continues = added.name == known.name or (index is not None and place == at_index)
        return place if continues and not known.is_complete else None

    def _keep_reasoning(self, delta: Mapping[str, Any]) -> None:
        if isinstance(delta.get("reasoning_content"), str):
            self._reasoning += text_of(delta["reasoning_content"])
        details = delta.get("reasoning_details")
        for part in details if isinstance(details, list) else ():
            if isinstance(part, dict):
                last = self._reasoning_details[-1] if self._reasoning_details else {}
                if not last or (last.get("type"), last.get("index")) != (part.get("type"), part.get("index")):
                    self._reasoning_details.append(last := {})
                for name, value in part.items():
                    continues = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(last.get(name), str)
                    last[name] = last[name] + value if continues else last.get(name) if value is None else value

    def thinking(self) -> ThinkingBlocks | None:
        """Reasoning fields of the message, as the server named them, and signatures of single calls, by their position.

        A model on this machine gets no plain reasoning back: it would only fill its window.
        """
        if not self.calls:
            return None
        fields = {"reasoning_content": "" if self.endpoint.is_local else self._reasoning, "reasoning_details": self._reasoning_details}
        message = {name: value for name, value in fields.items() if value}
        calls = [{"call": place, "fields": {SIGNATURE: self._signatures[place]}} for place in sorted(self._signatures)]
        blocks = ([{"message": message}] if message else []) + calls
        return ThinkingBlocks(provider=PROVIDER_NAME, blocks=tuple(blocks)) if blocks else None
