"""The marks of an answer that belong to its citations, and the text between them."""

from collections.abc import Iterable, Iterator, Sequence

from zkchat_cli.citations.marks import CitationMark, read_marks
from zkchat_cli.models.citations import Citation


def split_at_marks(
    text: str, marks: Iterable[CitationMark]
) -> Iterator[tuple[str, CitationMark | None]]:
    """Split the text into its marks and the pieces between them, none of them empty. Marks that
    overlap or lie outside are left out.
    """
    at = 0
    for mark in marks:
        if at <= mark.start < mark.end <= len(text):
            if at < mark.start:
                yield text[at : mark.start], None
            yield text[mark.start : mark.end], mark
            at = mark.end
    if at < len(text):
        yield text[at:], None


def cited_marks(text: str, citations: Sequence[Citation]) -> list[CitationMark]:
    """The marks of an answer that belong to its citations, in the answer's order, and the
    definitions of their numbers. A mark by name also gets the number of its citation. Citations of
    imported messages have no spans: there every mark with a cited number counts.
    """
    numbers_at = _numbers_by_span(citations)
    known = {citation.number for citation in citations}
    written = {mark.span: mark for mark in read_marks(text).marks}
    found: dict[tuple[int, int], CitationMark] = {}
    for span, mark in written.items():
        may_count = mark.defines or not numbers_at
        if may_count and not known.isdisjoint(mark.numbers):
            found[span] = mark
    for span, numbers in numbers_at.items():
        start, end = span
        if 0 <= start < end <= len(text):
            mark = written.get(span) or CitationMark(start, end, name=text[start:end])
            found[span] = _numbered_as(mark, numbers)
    return [found[span] for span in sorted(found)]


def _numbered_as(mark: CitationMark, cited: Sequence[int]) -> CitationMark:
    """The mark with those of its numbers that are cited; one by name with all that are cited."""
    own = tuple(number for number in mark.numbers if number in cited)
    return mark._replace(numbers=own or tuple(dict.fromkeys(cited)))


def _numbers_by_span(citations: Iterable[Citation]) -> dict[tuple[int, int], list[int]]:
    """The numbers that are cited at each span of an answer."""
    numbers: dict[tuple[int, int], list[int]] = {}
    for citation in citations:
        for span in citation.spans:
            numbers.setdefault(span, []).append(citation.number)
    return numbers
