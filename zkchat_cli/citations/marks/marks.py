"""Which places of a text cite: `[1]`, `[1, 3]`, `[source 2]`, `【1】`, `[^1]`, superscripts, `[[Note]]` and `Queries/Filters.md:12`.

This reads what is written and knows nothing of what was in the prompt; whether a citation holds is for `references.citations` to say.
Numbers in code, in Markdown links, in definitions (`[1]: …`) and after a letter (`a[1]`, `m²`) cite nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from zkchat_cli.citations.marks.patterns import LONGEST_PATH, CitationMark
from zkchat_cli.citations.marks.stream_parser import CitationMarkParser
from zkchat_cli.models import Citation

__all__ = ["LONGEST_PATH", "CitationMark", "CitationMarkParser", "MarkedText", "cited_marks", "find_marks", "read_marks", "split_at_marks"]


class MarkedText(NamedTuple):
    """`code` are the places of code and of definitions; `closing` is the fence that an open code block at the end still needs."""

    marks: tuple[CitationMark, ...]
    code: tuple[tuple[int, int], ...]
    closing: str


def find_marks(text: str) -> list[CitationMark]:
    """The marks of a text, in its order; definitions are none."""
    return [mark for mark in read_marks(text).marks if not mark.defines]


def read_marks(text: str) -> MarkedText:
    """The marks of a text, definitions among them, and what of it is code."""
    reader = CitationMarkParser(definitions=True)
    found = [*reader.feed(text), *reader.close()]
    return MarkedText(tuple(found), tuple(reader.code), reader.closing)


def split_at_marks(text: str, found: Iterable[CitationMark]) -> Iterator[tuple[str, CitationMark | None]]:
    """The text cut into what is between the marks and the marks themselves; put together again it is the text. None of it is empty.

    A mark that begins before the one before it ends, or that is not within the text, is left out.
    """
    at = 0
    for mark in found:
        if at <= mark.start < mark.end <= len(text):
            if at < mark.start:
                yield text[at : mark.start], None
            yield text[mark.start : mark.end], mark
            at = mark.end
    if at < len(text):
        yield text[at:], None


def cited_marks(text: str, citations: Sequence[Citation]) -> list[CitationMark]:
    """The marks of an answer that its citations rest on, by their spans, in the answer's order; definitions of their numbers, too.

    Messages of older versions were stored without spans; in them every mark with a cited number counts. A mark by name has the number of
    the citation it came to, and its `name` still.
    """
    at: dict[tuple[int, int], list[int]] = {}
    for citation in citations:
        for span in citation.spans:
            at.setdefault(span, []).append(citation.number)
    known = {citation.number for citation in citations}
    written = {mark.span: mark for mark in read_marks(text).marks}
    found = {span: mark for span, mark in written.items() if (mark.defines or not at) and known.intersection(mark.numbers)}
    for (start, end), numbers in at.items():
        if 0 <= start < end <= len(text):
            mark = written.get((start, end)) or CitationMark(start, end, name=text[start:end])
            found[start, end] = replace(mark, numbers=tuple(n for n in mark.numbers if n in numbers) or tuple(dict.fromkeys(numbers)))
    return [found[span] for span in sorted(found)]
