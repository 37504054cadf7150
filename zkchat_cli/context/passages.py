"""Passages of a conversation: a message, or a part of a long one. A long message is never quoted
whole.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.dates import MONTHS, WEEKDAYS
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.relative_dates import with_dates
from zkchat_cli.tokens.counter import TokenCounter

# Size of the longest message that stays in one piece, in bytes (some 200 tokens)
MAX_WHOLE = 800
# Size of each part of a longer message, in bytes
PART_SIZE = 480
# Tokens of the mark for a gap between parts of a message
GAP_TOKENS = 3
GAP = "[…]"
_SOFT_BREAK = lazy_pattern(r"(?<=[.!?…])[ ]?\n[ ]{0,3}(?=[^\W\d_]|\[)")
"""A line break between two sentences of one paragraph, which Markdown shows as a space."""
_FENCES = ("```", "~~~")
_INTRODUCTION = (
    "Said earlier in this conversation; quoted because it may help with the message below. […] "
    "marks what is left out, and dates in brackets are added."
)


class RecallPassage(NamedTuple):
    """Part `part` of the `parts` of a message in turn `turn`; both count from 0.

    `text` is verbatim except for soft line breaks. Where it is quoted, dates are added to
    "yesterday" and the like.
    """

    message: ZkChatMessage
    text: str
    turn: int
    part: int = 0
    parts: int = 1
    # Whether the text begins with the name of its speaker
    is_named: bool = False
    # Tokens including the speaker, the line end, and a gap mark for a part; exact for a whole
    # message
    raw_tokens: int = 0

    @property
    def day(self) -> str:
        """The date of the message, `2025-05-08`."""
        return self.message.timestamp[:10]

    @property
    def dated_text(self) -> str:
        """The text with dates behind "yesterday" and the like."""
        return with_dates(self.text, self.day)

    @property
    def text_with_speaker(self) -> str:
        """The text as it is quoted: after its speaker, and with a mark if it does not begin the
        message.
        """
        if self.is_named and self.part == 0:
            return self.dated_text
        gap = "" if self.part == 0 else f"{GAP} "
        return f"{self.message.role}: {gap}{self.dated_text}"

    def precedes_directly(self, other: "RecallPassage") -> bool:
        """Whether the other passage is the next part of the same message."""
        return self.message.id == other.message.id and self.part + 1 == other.part


def split_into_passages(
    message: ZkChatMessage, turn: int, counter: TokenCounter, *, is_named: bool = False
) -> Iterator[RecallPassage]:
    """The passages of a message in turn `turn`; none if the message has no text. `is_named`: it
    begins with the name of its speaker.
    """
    if not message.content.strip():
        return
    texts = split_message(message.content)
    for part, text in enumerate(texts):
        passage = RecallPassage(message, text, turn, part, len(texts), is_named)
        tokens = counter.count_raw(f"{passage.text_with_speaker}\n")
        if len(texts) > 1:
            tokens += GAP_TOKENS
        yield passage._replace(raw_tokens=tokens)


def split_message(text: str) -> list[str]:
    """The text in parts of about `PART_SIZE` bytes; a short text is one part.

    It is split at lines; a long line is split between words.
    """
    # Put each paragraph's sentences on one line, so that none looks like another speaker's
    if not any(fence in text for fence in _FENCES):
        text = _SOFT_BREAK.sub(" ", text)
    if _size(text) <= MAX_WHOLE:
        return [text.strip()]
    parts: list[str] = []
    lines: list[str] = []
    size = 0
    for line in _short_lines(text):
        length = _size(line) + 1
        if lines and size + length > PART_SIZE:
            parts.append("\n".join(lines))
            lines = []
            size = 0
        lines.append(line)
        size += length
    return [*parts, "\n".join(lines)] if lines else parts


def _short_lines(text: str) -> Iterator[str]:
    """The lines that are not blank.

    A line longer than a part comes in several pieces, split between words if possible.
    """
    for line in text.splitlines():
        start = 0
        while not _fits_a_part(line, start):
            cut = _find_cut(line, start)
            piece = line[start:cut].rstrip()
            if piece:
                yield piece
            start = cut
        piece = line[start:].rstrip()
        if piece:
            yield piece


def _fits_a_part(line: str, start: int) -> bool:
    """Whether the rest of a line is no longer than a part."""
    return len(line) - start <= PART_SIZE and _size(line[start:]) <= PART_SIZE


def _find_cut(line: str, start: int) -> int:
    """The end of a part that begins at `start`: a space in its second half, if there is one."""
    characters = line[start : start + PART_SIZE]
    width = PART_SIZE * len(characters) // _size(characters)
    cut = line.rfind(" ", start + width // 2, start + width)
    return cut if cut > 0 else start + width


def _size(text: str) -> int:
    """Bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass"))


def format_passages(passages: Sequence[RecallPassage]) -> str:
    """The passages as the model gets them: by day, with speakers, and with marks for gaps within a
    message.
    """
    lines = [_INTRODUCTION]
    before: RecallPassage | None = None
    for position, passage in enumerate(passages):
        if before is None or passage.day != before.day:
            lines.append(f"{_format_day(passage.day)}:")
        continues = before is not None and before.precedes_directly(passage)
        line = passage.dated_text if continues else passage.text_with_speaker
        is_last_part = passage.part + 1 == passage.parts
        following = passages[position + 1 : position + 2]
        is_continued = any(map(passage.precedes_directly, following))
        if not is_last_part and not is_continued:
            line += f" {GAP}"
        lines.append(line)
        before = passage
    return "\n".join(lines)


def _format_day(day: str) -> str:
    """A date with its weekday, which makes "last Friday" understandable."""
    with suppress(ValueError):
        when = date.fromisoformat(day)
        return f"{WEEKDAYS[when.weekday()]}, {when.day} {MONTHS[when.month - 1]} {when.year}"
    return day
