"""The answer of chat completions: its events, as OpenAI and others send them."""

from collections.abc import Iterable, Mapping
from typing import Any

from zkchat_cli.llm.chat_reader import NOTHING, ChatReader, PartialToolCall, ReadEvent, text_of
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.models.messages import ThinkingBlocks
from zkchat_cli.text.numbers import whole_number

# Marks reasoning that goes back to the same API only
CHAT = "openai"


class ChatCompletionsReader(ChatReader):
    """The events of one response. Reasoning is in `reasoning_content` (llama.cpp, vLLM) or
    `reasoning` (OpenRouter, Groq, LM Studio).
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._by_index: dict[int | None, PartialToolCall] = {}
        self._reasoning_details: list[dict[str, Any]] = []
        self._reasoning_content = ""
        # The index of the choice that is read: the first that came
        self._choice: int | None = None

    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """See ChatReader."""
        self.count_usage(event.get("usage"), "prompt_tokens", "completion_tokens")
        choices = event.get("choices")
        if not choices:
            return NOTHING
        if self._choice is None:
            self._choice = whole_number(choices[0].get("index")) or 0
        for choice in choices:
            # A second choice would be mixed into the answer
            if (whole_number(choice.get("index")) or 0) == self._choice:
                return self._read_choice(choice)
        return NOTHING

    def _read_choice(self, choice: Mapping[str, Any]) -> ReadEvent:
        # A server that does not stream sends a message instead of a delta
        delta = choice.get("delta") or choice.get("message") or {}
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(fragment)
        if old_call := delta.get("function_call"):
            # The form of a call before there were several
            self._add_fragment({"function": old_call})
        for detail in delta.get("reasoning_details") or ():
            self._add_reasoning_detail(detail)
        self.finish = text_of(choice.get("finish_reason")) or self.finish
        reasoning = text_of(delta.get("reasoning_content"))
        self._reasoning_content += reasoning
        thought = reasoning or text_of(delta.get("reasoning"))
        content = _read_content(delta.get("content") or delta.get("refusal"))
        return ReadEvent(content.text, content.reasoning + thought)

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        """Add a fragment to the call of its index, or begin another call."""
        function = fragment.get("function") or {}
        signature = fragment.get("extra_content")
        extra: dict[str, Any] = {}
        # Gemini signs its calls
        if isinstance(signature, dict):
            extra["extra_content"] = signature
            self.hidden_bytes += len(str(signature))
        added = PartialToolCall(
            fragment.get("id"), function.get("name"), function.get("arguments"), extra
        )
        index = whole_number(fragment.get("index"))
        call = self._by_index.get(index)
        if call is None or _begins_another(added, call):
            self._by_index[index] = added
            self.add_call(added)
            return
        call.add_piece(added)
        self.hidden_bytes += added.size

    def _add_reasoning_detail(self, detail: Mapping[str, Any]) -> None:
        """Keep a detail unchanged, because OpenRouter needs it back; the text of a detail comes in
        pieces.
        """
        self.hidden_bytes += len(str(detail))
        last = self._reasoning_details[-1] if self._reasoning_details else {}
        is_piece = all(last.get(key) == detail.get(key) for key in ("type", "index"))
        if not is_piece:
            last = {}
            self._reasoning_details.append(last)
        for name, value in detail.items():
            if value is None:
                continue
            if name in ("text", "summary", "data"):
                last[name] = last.get(name, "") + value
            else:
                last[name] = value

    def thinking(self) -> ThinkingBlocks | None:
        """The keys of the message and its calls that OpenRouter, DeepSeek and Gemini need back."""
        block: dict[str, Any] = {
            "reasoning_details": self._reasoning_details,
            "reasoning_content": self._reasoning_content,
        }
        if any(call.extra for call in self.calls):
            block["tool_calls"] = [call.extra for call in self.calls]
        sent = {name: value for name, value in block.items() if value}
        return ThinkingBlocks(provider=CHAT, blocks=(sent,)) if sent else None


def _begins_another(fragment: PartialToolCall, call: PartialToolCall) -> bool:
    """Whether a fragment of the same index is another call: it has another id or, without ids,
    another name or a name with arguments.
    """
    if fragment.id and call.id:
        return fragment.id != call.id
    if not (fragment.name and call.name):
        return False
    return bool(fragment.arguments) or fragment.name != call.name


def _read_content(content: object) -> ReadEvent:
    """The text of a message. Mistral lists texts, and thoughts as lists of texts."""
    if not isinstance(content, list):
        return ReadEvent(text_of(content), "")
    thoughts = [part for each in content for part in each.get("thinking") or ()]
    return ReadEvent(_join_texts(content), _join_texts(thoughts))


def _join_texts(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join(text_of(part.get("text")) for part in parts)
