"""The texts that an embedder gets for a chunk.

A chunk is embedded in windows of about 100 tokens, each below the note's title and the chunk's last
heading. A small model blurs a whole chunk: the best of its windows finds passages far better (MRR
.51 instead of .33 on dialogues; of windows of 60, 100 and 160 tokens, those of 100 were best on
questions about notes). More of the heading path, or none of it, is worse.
"""

from collections.abc import Iterator

from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.text.literals import remove_addresses
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import FULL_STOPS

# About 100 tokens
WINDOW_CHARACTERS = 400
_BETWEEN_SENTENCES = lazy_pattern(rf"(?<=[{FULL_STOPS}])\s+")
"""Simpler than `split_sentences`: a window may begin behind an abbreviation, and another rule would
mean that all vectors are computed again.
"""


def windows_of_chunk(title: str, headings: str, text: str) -> list[str]:
    """What to embed for a chunk; `headings` has one per line."""
    last_heading = headings.rpartition("\n")[2]
    context = " › ".join(dict.fromkeys(name for name in (title, last_heading) if name))
    windows = split_windows(text)
    return [f"{context}\n{window}" for window in windows] if context else windows


def split_windows(text: str) -> list[str]:
    """The plain text of Markdown in windows that end with a line or a sentence, at least one."""
    windows: list[str] = []
    current = ""
    for piece in _pieces(text):
        if current and len(current) + len(piece) > WINDOW_CHARACTERS:
            windows.append(current)
            current = ""
        current = f"{current} {piece}".strip()
        # No line or sentence ends
        while len(current) > 2 * WINDOW_CHARACTERS:
            windows.append(current[:WINDOW_CHARACTERS])
            current = current[WINDOW_CHARACTERS:]
    if current or not windows:
        windows.append(current)
    return windows


def _pieces(text: str) -> Iterator[str]:
    """The lines of a text without Markdown, long ones as their sentences."""
    for line in text.split("\n"):
        written = line.strip()
        if not written:
            continue
        plain = " ".join(remove_addresses(to_plain_text(written) or written).split())
        if len(plain) > WINDOW_CHARACTERS:
            yield from _BETWEEN_SENTENCES.split(plain)
        else:
            yield plain
