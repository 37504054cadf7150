"""A long paste is one character in the line being typed, shown as `[pasted 120 lines]` and sent as what was pasted.

As one character it is deleted, undone and moved over as a whole, by every key there is, and no edit can leave half a marker behind.
"""

import re

LONGEST_SHOWN = 8
"""Lines of a paste that are shown as they are."""
MOST_CHARACTERS = 1_500
_FIRST, _LAST = 0x10F000, 0x10FFFD
_MARK = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
"""The end of Unicode's private planes, where no font has signs of its own."""


class Pastes:
    """The long pastes of a chat. They are kept as long as it lasts: a line of its history may hold any."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def fold(self, text: str) -> str:
        """What goes into the line for a paste: the text itself, with `\\n` line ends, or the character that stands for it."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if (text.count("\n") < LONGEST_SHOWN and len(text) <= MOST_CHARACTERS) or _FIRST + len(self._texts) > _LAST:
            return text
        self._texts.append(text)
        return chr(_FIRST + len(self._texts) - 1)

    def unfold(self, line: str) -> str:
        """The line with every paste in full."""
        return line if line.isascii() else _MARK.sub(lambda mark: self.text(mark[0]) or mark[0], line)

    def text(self, character: str) -> str | None:
        """What a character stands for; None for one that stands for itself."""
        number = ord(character) - _FIRST
        return self._texts[number] if 0 <= number < len(self._texts) else None

    def shown(self, character: str) -> str | None:
        """How a paste is shown; None for any other character."""
        text = self.text(character)
        if text is None:
            return None
        lines = len(text.removesuffix("\n").split("\n"))
        return f"[pasted {lines} lines]" if lines > 1 else f"[pasted {len(text)} characters]"
