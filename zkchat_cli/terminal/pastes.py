"""Long pastes: the input line has a label instead of the text, which is sent in full."""

import re

# A paste is folded if it has this many lines, or more than this many characters
MAX_LINES = 8
MAX_CHARACTERS = 1_500
_LABEL = re.compile(r"\[pasted [^\[\]\n]*\]")


class Pastes:
    """The long pastes of a chat, for its whole duration, because the input history may contain any
    of them.

    The input line shows `[pasted 120 lines]` instead of the text.
    """

    def __init__(self) -> None:
        # The pasted texts, by label
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text to insert for a paste, with `\n` line ends: a label, or the text itself if it is
        short.
        """
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.count("\n") < MAX_LINES and len(text) <= MAX_CHARACTERS:
            return text
        lines = len(text.removesuffix("\n").split("\n"))
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        label = f"[pasted {size}]"
        number = 2
        while self._texts.setdefault(label, text) != text:
            label = f"[pasted {size}, {number}]"
            number += 1
        return label

    def unfold(self, line: str) -> str:
        """The line with every paste in full."""
        return _LABEL.sub(lambda label: self._texts.get(label[0], label[0]), line)

    def label_at_end(self, text: str) -> str:
        """The label at the end of the text, which is deleted as a whole; empty if there is none."""
        for label in self._texts:
            if text.endswith(label):
                return label
        return ""
