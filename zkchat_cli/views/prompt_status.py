"""Whether messages and excerpts are in a prompt, and if not, why."""

import re
from collections.abc import Iterable

from zkchat_cli.context.masks import is_masked
from zkchat_cli.models.prompts import Prompt

# The number of an excerpt in JSON, or in the text that a small model gets
_SOURCE = re.compile(r'[{ ]"source": (\d{1,9}), "path": "|^\[(\d{1,9})\] ', re.MULTILINE)


class PromptStatus:
    """Tells for each message of a conversation whether it is in this prompt. The ids are collected
    once, because a conversation can have thousands of messages.
    """

    def __init__(self, prompt: Prompt) -> None:
        self._drop_reasons = {dropped.id: dropped.reason for dropped in prompt.dropped}
        self._sent: set[str] = set()
        self._shortened: set[str] = set()
        for message in prompt.messages:
            if message.kind != "recalled":
                self._sent.update(message.source_ids)
            if is_masked(message):
                self._shortened.update(message.source_ids)
        self._source_numbers = sent_source_numbers(prompt)

    def describe_message(self, message_id: str) -> str:
        """Whether the message is in the prompt, with the reason if it was left out."""
        if message_id in self._drop_reasons:
            return f"not in the prompt now: {self._drop_reasons[message_id]}"
        if message_id in self._shortened:
            return "in the prompt now, but shortened"
        return "in the prompt now" if message_id in self._sent else "not in the prompt now"

    def describe_excerpts(self, message_id: str, numbers: Iterable[int]) -> str:
        """The same for a message with excerpts that have these source numbers: the message can be
        in the prompt without their text.
        """
        is_dropped = message_id in self._drop_reasons
        if not is_dropped and not self._source_numbers.issuperset(numbers):
            return "its text is not in the prompt now: it was shortened, or its turn is not sent"
        return self.describe_message(message_id)


def sent_source_numbers(prompt: Prompt) -> set[int]:
    """The source numbers of the excerpts that are in the prompt with their texts."""
    numbers: set[int] = set()
    for message in prompt.messages:
        if message.kind in ("documents", "tool_results") and not is_masked(message):
            for in_json, in_text in _SOURCE.findall(message.content):
                numbers.add(int(in_json or in_text))
    return numbers
