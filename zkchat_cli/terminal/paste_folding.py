"""A long paste is one placeholder character in the input line, shown as `[pasted 120 lines]` and sent in full.

One character is deleted, undone and skipped as a whole by every key, and no edit can leave half of it.
"""

import re

MAX_LINES = 8
"""Lines from which a paste is folded."""
MAX_CHARACTERS = 1_500
_FIRST, _LAST = 0x10F000, 0x10FFFD
_PLACEHOLDER = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
"""The end of Unicode's private planes, where fonts have no characters."""


class Pastes:
    """The long pastes of a chat, for its whole duration: the input history may contain any of them."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def fold(self, text: str) -> str:
        """The text to insert for a paste: a placeholder, or a short text itself, with `\\n` line ends."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.count("\n") < MAX_LINES and len(text) <= MAX_CHARACTERS:
            return text
        self._texts.append(text)
        return chr(_FIRST + len(self._texts) - 1)

    def unfold(self, line: str) -> str:
        """The line with every paste in full."""
        return line if line.isascii() else _PLACEHOLDER.sub(lambda match: self.text(match[0]) or match[0], line)

    def text(self, character: str) -> str | None:
        """The paste of a placeholder; None for any other character."""
        number = ord(character) - _FIRST
        return self._texts[number] if 0 <= number < len(self._texts) else None

    def label(self, character: str) -> str | None:
        """The label of a placeholder; None for any other character."""
        text = self.text(character)
        if text is None:
            return None
        lines = len(text.removesuffix("\n").split("\n"))
        return f"[pasted {lines} lines]" if lines > 1 else f"[pasted {len(text)} characters]"
