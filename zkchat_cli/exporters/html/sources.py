"""The sources of an answer: each with the verdicts of its citations, and the excerpt with the quoted words highlighted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.quotes import merge_ranges, quote_ranges
from zkchat_cli.exporters.base import NO_SOURCE
from zkchat_cli.models import Citation, CitationVerdict, ContentChunk, group_by_number, worst_verdict
from zkchat_cli.vault.links.wikilinks import note_name


class StatusLabel(NamedTuple):
    """How the page shows a citation's status: not by color alone."""

    sign: str
    description: str


STATUSES: dict[CitationVerdict, StatusLabel] = {
    "cited": StatusLabel("•", "cited without a quotation"),
    "verified": StatusLabel("✓", "verified: the source contains the quoted words"),
    "cut": StatusLabel("✂", "cut: the source contains the quoted words, but its whole sentence says something else"),
    "misquoted": StatusLabel("✗", "misquoted: the source does not contain the quoted words"),
    "missing": StatusLabel("?", f"missing: {NO_SOURCE}"),
}


class Source(NamedTuple):
    """A source in the list below an answer; `status` is the worst of its citations."""

    number: int
    status: CitationVerdict
    title: str
    citation: Citation | None
    """None if no such source was in the prompt."""
    mark_ids: list[str]
    quotes: dict[str, Citation]
    unsupported: bool
    excerpt: Markup | None


class SourceListBuilder:
    """The sources of one answer. `article` distinguishes its ids from those of others; `chunks` are the conversation's by number."""

    def __init__(self, article: str, citations: Sequence[Citation], chunks: Mapping[int, ContentChunk]) -> None:
        self._article, self._chunks = article, chunks
        self._by_number = group_by_number(citations)
        self._mark_ids: dict[int, list[str]] = {number: [] for number in self._by_number}

    def link(self, mark: CitationMark, text: str) -> Markup:
        """A citation mark as a link to its source; one with several numbers as a link for each number that is a citation."""
        if len(mark.numbers) == 1:
            return self._link(mark.numbers[0], mark, text)
        links = (self._link(n, mark, f"{n}") if n in self._by_number else Markup(n) for n in mark.numbers)
        return Markup("[%s]") % Markup(", ").join(links)

    def _link(self, number: int, mark: CitationMark, text: str) -> Markup:
        citations = self._by_number[number]
        status = worst_verdict(each.verdict for each in [each for each in citations if mark.span in each.spans] or citations)
        ids = self._mark_ids[number]
        ids.append(f"cite-{self._article}-{number}-{len(ids) + 1}")
        sign, description = STATUSES[status]  # ours, like all but the text; escaping them took 4 % of an export
        return Markup(
            f'<a id="{ids[-1]}" href="#source-{self._article}-{number}" class="cite {status}">{escape(text)}'
            f'<span class="sign" aria-hidden="true">{sign}</span><span class="unseen"> ({description})</span></a>'
        )

    def sources(self) -> list[Source]:
        """The list; call it after all links are made."""
        return [self._source(number, citations) for number, citations in self._by_number.items()]

    def _source(self, number: int, citations: Sequence[Citation]) -> Source:
        citation = next((citation for citation in citations if citation.relative_path is not None), None)
        chunk = self._chunks.get(number)
        if citation is None or chunk is None or chunk.relative_path != citation.relative_path:
            chunk = None
        quotes = {each.quote: each for each in citations if each.quote}
        present = [quote for quote, each in quotes.items() if each.verdict in ("verified", "cut")]
        return Source(
            number=number,
            status=worst_verdict(each.verdict for each in citations),
            title=source_title(citation, chunk) if citation else "",
            citation=citation,
            mark_ids=self._mark_ids[number],
            quotes=quotes,
            unsupported=any(each.is_unsupported for each in citations),
            excerpt=highlight_quotes(chunk.text, present) if chunk else None,
        )


def source_title(source: Citation | ContentChunk, chunk: ContentChunk | None = None) -> str:
    """Note and heading."""
    chunk = source if isinstance(source, ContentChunk) else chunk
    title = chunk.title if chunk else note_name(source.relative_path or "")
    return f"{title} › {source.heading}" if source.heading and source.heading != title else title


def highlight_quotes(excerpt: str, quotes: Iterable[str]) -> Markup:
    """An excerpt with the quoted words that it contains highlighted."""
    parts = ""
    at = 0
    for start, end in merge_ranges(each for quote in quotes for each in quote_ranges(excerpt, quote)):
        parts += f"{escape(excerpt[at:start])}<mark>{escape(excerpt[start:end])}</mark>"
        at = end
    return Markup(f"{parts}{escape(excerpt[at:])}")
