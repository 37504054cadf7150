"""Passages: a message, or the parts of a long one, as recall finds and quotes them. A long message is never quoted whole."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from zkchat_cli.models import SpokenMessage
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.tokens.counter import TokenCounter

MAX_WHOLE = 800
"""Bytes of a message that stays in one piece (some 200 tokens)."""
PART_SIZE = 480
"""Bytes of a part of a longer message."""
FRAME_TOKENS = 40
"""Tokens around the quoted passages."""
DATE_TOKENS = 8
_SOFT_BREAK = lazy_pattern(r"(?<=[.!?…])[ ]?\n[ ]{0,3}(?=[^\W\d_]|\[)")
"""Between two sentences of one paragraph, where Markdown shows a space."""
_FENCES = ("```", "~~~")
_INTRODUCTION = "Said earlier in this conversation; quoted because it may help with the message below. […] marks what is left out."


class RecallPassage(NamedTuple):
    """Part `part` of `parts` of a message in turn `turn` (both from 0); `text` is verbatim except for soft line breaks."""

    message: SpokenMessage
    text: str
    turn: int
    part: int = 0
    parts: int = 1
    raw_tokens: int = 0
    """With speaker, line end, and a gap mark if it is a part; exact for a whole message."""

    @property
    def day(self) -> str:
        return self.message.timestamp[:10]

    @property
    def text_with_speaker(self) -> str:
        return f"{self.message.role}: {'' if self.part == 0 else '[…] '}{self.text}"

    def precedes_directly(self, other: "RecallPassage") -> bool:
        """Whether the other passage is the next part of the same message."""
        return self.message.id == other.message.id and self.part + 1 == other.part


def split_into_passages(message: SpokenMessage, turn: int, counter: TokenCounter) -> Iterator[RecallPassage]:
    """The passages of a message. A tool result has none: its text can be looked up in the notes."""
    texts = split_message(message.content) if message.content.strip() else []
    for part, text in enumerate(texts):
        passage = RecallPassage(message, text, turn, part, len(texts))
        tokens = counter.count_raw(f"{passage.text_with_speaker}\n") + (0 if len(texts) == 1 else 3)
        yield passage._replace(raw_tokens=tokens)


def split_message(text: str) -> list[str]:
    """The text in parts of about `PART_SIZE` bytes, split at lines, else between words; a short text in one part."""
    text = _join_soft_breaks(text)
    if _size(text) <= MAX_WHOLE:
        return [text.strip()]
    parts: list[str] = []
    lines: list[str] = []
    size = 0
    for line in _short_lines(text):
        length = _size(line) + 1
        if lines and size + length > PART_SIZE:
            parts.append("\n".join(lines))
            lines, size = [], 0
        lines.append(line)
        size += length
    return [*parts, "\n".join(lines)] if lines else parts


def _join_soft_breaks(text: str) -> str:
    """Each paragraph's sentences on one line, so that no line looks like another speaker's. Text with code stays as it is."""
    return text if any(fence in text for fence in _FENCES) else _SOFT_BREAK.sub(" ", text)


def _short_lines(text: str) -> Iterator[str]:
    """The lines that are not blank; a line longer than a part in several, split between words if possible."""
    for line in text.splitlines():
        start, end = 0, len(line)
        while _size(line[start : start + PART_SIZE]) > PART_SIZE or end - start > PART_SIZE:
            width = PART_SIZE * len(line[start : start + PART_SIZE]) // _size(line[start : start + PART_SIZE])
            cut = line.rfind(" ", start + width // 2, start + width)
            cut = cut if cut > 0 else start + width
            if piece := line[start:cut].rstrip():
                yield piece
            start = cut
        if piece := line[start:].rstrip():
            yield piece


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def format_passages(passages: Sequence[RecallPassage]) -> str:
    """The passages as the model gets them: by day, with speakers; gaps within a message are marked."""
    lines = [_INTRODUCTION]
    for before, passage, after in zip((None, *passages), passages, (*passages[1:], None), strict=False):
        if before is None or passage.day != before.day:
            lines.append(f"{_format_day(passage.day)}:")
        continues = before is not None and before.precedes_directly(passage)
        is_cut = passage.part + 1 < passage.parts and not (after is not None and passage.precedes_directly(after))
        lines.append((passage.text if continues else passage.text_with_speaker) + (" […]" if is_cut else ""))
    return "\n".join(lines)


def _format_day(day: str) -> str:
    """`Monday, 8 May 2023`: the weekday makes "last Friday" understandable."""
    try:
        when = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{WEEKDAYS[when.weekday()]}, {when.day} {MONTHS[when.month - 1]} {when.year}"
