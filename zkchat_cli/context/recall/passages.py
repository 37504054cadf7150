"""Passages: a message, or the pieces of a long one, as recall finds and quotes them.

A message that is as long as a chapter is never quoted whole; what bears on a question is some lines of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from zkchat_cli.models import ZkChatMessage
from zkchat_cli.tokens.counter import TokenCounter

WHOLE = 800
"""Bytes of a message that stays in one piece (some 200 tokens)."""
PIECE = 480
"""Bytes of a piece of a longer one."""
_SOFT_BREAK = re.compile(r"(?<=[.!?…])[ ]?\n[ ]{0,3}(?=[^\W\d_]|\[)")
"""Between two sentences of one paragraph, where Markdown shows a space."""
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class RecallPassage:
    """Piece `part` of `parts` of a message in the conversation's turn at `turn` (both from 0); `text` word for word but for soft breaks."""

    message: ZkChatMessage
    text: str
    turn: int
    part: int = 0
    parts: int = 1

    @property
    def day(self) -> str:
        return self.message.timestamp[:10]

    @property
    def text_with_speaker(self) -> str:
        """The passage with its speaker."""
        return f"{self.message.role}: {'' if self.part == 0 else '[…] '}{self.text}"

    def precedes_directly(self, other: "RecallPassage") -> bool:
        """Whether nothing of their message stands between them."""
        return self.message.id == other.message.id and self.part + 1 == other.part

    def count_tokens(self, counter: TokenCounter) -> int:
        """Of its line, its end and the mark of a gap included."""
        return counter.count(self.text_with_speaker) + (1 if self.parts == 1 else 4)


def split_into_passages(message: ZkChatMessage, turn: int) -> tuple[RecallPassage, ...]:
    """What there is to quote of a message: nothing of a tool's result, which is the notes' text and can be looked up there."""
    if message.role == "tool" or not message.content.strip():
        return ()
    texts = split_message(_unbroken(message.content))
    return tuple(RecallPassage(message, text, turn, part, len(texts)) for part, text in enumerate(texts))


def split_message(text: str) -> list[str]:
    """`text` in pieces of about `PIECE` bytes, cut at lines where it has some, else between words; whole when it is short."""
    if _size(text) <= WHOLE:
        return [text.strip()]
    found: list[str] = []
    gathered: list[str] = []
    size = 0
    for line in _short_lines(text):
        length = _size(line) + 1
        if gathered and size + length > PIECE:
            found.append("\n".join(gathered))
            gathered, size = [], 0
        gathered.append(line)
        size += length
    return [*found, "\n".join(gathered)] if gathered else found


def _unbroken(text: str) -> str:
    """`text` with each paragraph's sentences on one line: a line of its own would not look like its speaker's. Code stays as it is."""
    return text if any(fence in text for fence in _FENCES) else _SOFT_BREAK.sub(" ", text)


def _short_lines(text: str) -> Iterator[str]:
    """The lines that say something; longer ones than a piece in several, cut between words if they have any."""
    for line in text.splitlines():
        start, end = 0, len(line)
        while _size(line[start : start + PIECE]) > PIECE or end - start > PIECE:
            width = PIECE * len(line[start : start + PIECE]) // _size(line[start : start + PIECE])
            cut = line.rfind(" ", start + width // 2, start + width)
            cut = cut if cut > 0 else start + width
            if piece := line[start:cut].rstrip():
                yield piece
            start = cut
        if piece := line[start:].rstrip():
            yield piece


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
