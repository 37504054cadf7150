"""Ollama's chat API: the address, the request, and the stream. Imports nothing heavy: the embedder uses it, too."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from zkchat_cli.llm.base import Request
from zkchat_cli.llm.chat_reader import ChatReader, PartialToolCall, counts, text_of


def parse_address(host: str) -> str:
    """OLLAMA_HOST as Ollama itself reads it: scheme, host and port may each be left out; 0.0.0.0 is called at 127.0.0.1."""
    host = host.strip().strip("\"'")
    try:
        url = urlsplit(host if "://" in host else f"http://{host}")
        port = url.port or ({"http": 80, "https": 443}.get(url.scheme, 11434) if "://" in host else 11434)
    except ValueError:
        return host  # the first call reports that it is invalid
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(url.hostname or "", url.hostname or "127.0.0.1")
    user = "".join(url.netloc.rpartition("@")[:2])
    return f"{url.scheme}://{user}{f'[{name}]' if ':' in name else name}:{port}{url.path}".rstrip("/")


def request_body(model: str, request: Request) -> dict[str, Any]:
    """The request's JSON. The context window goes with each call: Ollama would silently cut a longer prompt."""
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    messages: list[dict[str, Any]] = []
    for message in request.messages:
        messages.append({"role": message.role, "content": message.content})
        if message.role == "tool":  # models that call several tools at once need to know which result this is
            messages[-1] |= {"tool_call_id": message.tool_call_id, "tool_name": names.get(message.tool_call_id or "", "")}
        if message.tool_calls:
            calls = message.tool_calls
            messages[-1]["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in calls
            ]
    options = request.options
    settings = {"temperature": options.temperature, "num_ctx": request.window, "num_predict": options.max_output_tokens}
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "options": {name: value for name, value in settings.items() if value is not None},
        "stream": True,
    }
    if options.reasoning_effort:
        body["think"] = options.reasoning_effort
    if request.tools:
        body["tools"] = [tool.descriptor for tool in request.tools]
    return body


class OllamaReader(ChatReader):
    """One JSON document a line. Real servers end without a reason or with one of their own, leave out figures, and send tool arguments as
    text, which may not be JSON."""

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
