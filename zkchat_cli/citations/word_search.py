"""Finds the words of a quotation in the text of a note."""

from collections.abc import Iterator, Sequence

from zkchat_cli.citations import accents
from zkchat_cli.citations.normalized_text import NormalizedText
from zkchat_cli.citations.quotable_words import is_word_border


def find_words(
    text: NormalizedText, words: NormalizedText, start: int = 0, end: int | None = None
) -> Iterator[int]:
    """Where the words are in the text, from border to border of its words and with its accents, or
    wholly without accents.
    """
    size = len(words.text)
    at = text.text.find(words.text, start, end)
    while at >= 0:
        is_whole = is_word_border(text.text, at) and is_word_border(text.text, at + size)
        if is_whole and _have_same_accents(text, words, at):
            yield at
        at = text.text.find(words.text, at + 1, end)


def _have_same_accents(text: NormalizedText, words: NormalizedText, at: int) -> bool:
    if text.written.isascii() and words.written.isascii():
        return True
    return accents.agree(words.accents, text.accents.part(at, at + len(words.text)))


def find_in_order(
    text: NormalizedText, parts: Sequence[NormalizedText], start: int, end: int
) -> list[int] | None:
    """Where the parts are, one after another; of several places of the first part the last one
    before the second.
    """
    found: list[int] = []
    for part in parts:
        at = next(find_words(text, part, start, end), None)
        if at is None:
            return None
        found.append(at)
        start = at + len(part.text)
    *_, found[0] = find_words(text, parts[0], found[0], found[1])
    return found


def lacks_accents(
    text: NormalizedText, parts: Sequence[NormalizedText], found: Sequence[int]
) -> bool:
    """Whether parts that were found here are written without the accents of the text."""
    if text.written.isascii():
        return False
    return any(
        accents.lacks_accents(part.accents, text.accents.part(at, at + len(part.text)))
        for part, at in zip(parts, found, strict=True)
    )
