"""Ollama's stream: one JSON document a line. Imports mojentic.

Real servers end without a reason or with one of their own, leave out figures, and send tool arguments as text, which may not be JSON.
"""

import json
from collections.abc import Mapping
from typing import Any

from zkchat_cli.llm.mojentic_adapter import ChatReader, PartialToolCall, counts, text_of


class OllamaReader(ChatReader):
    closes_with_finish = True

    def parse_line(self, line: bytes) -> object:
        return json.loads(line) if line.strip() and not line.startswith(b":") else None

    def read_event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        message = event.get("message", {})
        for call in message.get("tool_calls") or ():
            function = call["function"]
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
            if not isinstance(arguments, str | dict | None):
                raise TypeError(arguments)
            self.calls.append(PartialToolCall(text_of(call.get("id")), text_of(function.get("name")), text))
        if event.get("done"):
            self.finish = str(event.get("done_reason") or "stop")
            self.usage = counts(event, prompt_tokens="prompt_eval_count", completion_tokens="eval_count")
        return {"content": text_of(message.get("content")), "reasoning_content": text_of(message.get("thinking"))}

    def read_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        return self.read_event(document)
