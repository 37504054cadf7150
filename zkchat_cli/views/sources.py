"""The sources of an answer: the list below it and in the window, and the excerpts of a search.

A stored message contains everything that these lines need, so an old answer gets the same list.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.citations.quotes import QuotationVerdict
from zkchat_cli.exporters.base import (
    FOUND_BY_ZKCHAT,
    NO_SOURCE,
    UNSUPPORTED,
    describe_misattribution,
    describe_uncited,
    evidence_items,
    format_location,
)
from zkchat_cli.models.citations import (
    Citation,
    CitationVerdict,
    FoundSentence,
    QuoteRemark,
    group_by_number,
    worst_verdict,
)
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.documents import document_key, link_names
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.links.wikilinks import note_name, write_link
from zkchat_cli.views.text import IN_CHAT, CommandHints, StyledLine, StyledSpan, styled_line

if TYPE_CHECKING:
    from zkchat_cli.vault.vault import Vault

VERDICT_MARKS: dict[CitationVerdict | QuotationVerdict, StyledSpan] = {
    "verified": StyledSpan("✓", "green"),
    "cited": StyledSpan("○", "dim"),
    "cut": StyledSpan("✂", "yellow"),
    "misattributed": StyledSpan("✗", "red"),
    "misquoted": StyledSpan("✗", "red"),
    "missing": StyledSpan("✗", "red"),
    "not_found": StyledSpan("✗", "red"),
}
"""All wrong citations have the same mark; the text says what is wrong."""
QUOTE_REMARKS: dict[QuoteRemark, str] = {
    "hidden_characters": "the passage has characters that do not show",
    "without_accents": "quoted without the accents of the note",
    "not_checked": "imported; its quotation was not checked here",
}
# Documents that are listed as not used
MAX_UNUSED = 3
# Characters of a heading, so that a source takes two rows at most, and of a quotation
MAX_HEADING = 40
MAX_QUOTE = 60
# Columns of a source's line besides the digits of its number
_MARKS_WIDTH = len("  [] ✓ ")


class SourceItem(NamedTuple):
    """A source and the lines about it. `key` is what `/open` takes: its number, or the path of a
    note; empty where there is no note.
    """

    key: str
    verdict: str
    lines: list[StyledLine]


def source_items(
    citations: Sequence[Citation], references: Sequence[DocumentReference], *, found: bool = False
) -> list[SourceItem]:
    """The cited sources by number, then the references that no citation uses: those that the user
    named, and with `found` also those that tools found.
    """
    listed = list(references)
    if not found:
        listed = [each for each in references if each.is_named and not each.added]
    used = {citation.relative_path for citation in citations}
    items = _cited_items(citations, link_names(references), listed)
    for reference in listed:
        if reference.relative_path is None or reference.relative_path not in used:
            items.append(_uncited_item(reference))
    return items


def _cited_items(
    citations: Sequence[Citation],
    name: Callable[[str], str],
    listed: Iterable[DocumentReference],
) -> list[SourceItem]:
    """The sources with these citations. The summary of a listed document is below its first
    source.
    """
    groups = group_by_number(citations)
    summaries: dict[str | None, str] = {}
    for reference in listed:
        if reference.relative_path and reference.summary:
            summaries[reference.relative_path] = reference.summary
    digits = len(str(max(groups, default=0)))
    items = []
    for number, group in groups.items():
        first, *_ = group
        path = first.relative_path
        lines = _cited_lines(number, group, digits, name)
        lines += _summary_lines(summaries.pop(path, None))
        verdict = worst_verdict(each.verdict for each in group)
        items.append(SourceItem(str(number) if path else "", verdict, lines))
    return items


def _uncited_item(reference: DocumentReference) -> SourceItem:
    path = reference.relative_path
    # Suggestions for it were shown when the turn began
    if path is None:
        line = styled_line(f"  ✗ {reference.wikilink} not found", "yellow")
        return SourceItem("", "broken", [line])
    link = (StyledSpan("  · "), StyledSpan(reference.wikilink, "cyan"))
    head = StyledLine(link, (StyledSpan(path, "dim", path),))
    return SourceItem(path, "not cited", [head, *_summary_lines(reference.summary)])


def turn_source_items(turn: Iterable[ZkChatMessage]) -> list[SourceItem]:
    """What the messages of a turn cite, and each other document that they name or that tools
    found.
    """
    references: dict[str, DocumentReference] = {}
    citations: list[Citation] = []
    for message in turn:
        references |= {document_key(reference): reference for reference in message.references}
        citations += message.citations
    return source_items(citations, [*references.values()], found=True)


def evidence_lines(evidence: Sequence[FoundSentence]) -> list[StyledLine]:
    """The sentences that zkchat has found for an answer without a source."""
    if not evidence:
        return []
    lines = [styled_line(f"{FOUND_BY_ZKCHAT}:", "bold")]
    for found, item in zip(evidence, evidence_items(evidence), strict=True):
        left = (StyledSpan("  "), VERDICT_MARKS["verified"], StyledSpan(f" {item}"))
        place = StyledSpan(format_location(found), "dim", found.relative_path)
        lines.append(StyledLine(left, (place,), indent=4))
    return lines


def source_lines(
    citations: Sequence[Citation],
    references: Sequence[DocumentReference],
    uncited: int,
    limit: int,
    rest: str,
    *,
    with_unused: bool = True,
) -> list[StyledLine]:
    """The sources of an answer, at most `limit` (`rest` is the command that lists all), with the
    documents that the user named; then uncited sentences and, if wanted, unused documents. Empty if
    there is nothing to list.
    """
    items = source_items(citations, references)
    lines = [line for item in items[:limit] for line in item.lines]
    if len(items) > limit:
        lines.append(styled_line(f"  and {len(items) - limit} more: {rest}", "dim"))
    unused = _unused_paths(citations, references) if with_unused else []
    if lines or unused:
        last = _last_spans(uncited, unused)
        if last:
            lines.append(StyledLine((StyledSpan("  "), *last)))
    return [styled_line("Sources", "bold"), *lines] if lines else []


def _unused_paths(
    citations: Sequence[Citation], references: Sequence[DocumentReference]
) -> list[str]:
    """The documents that were found and not cited."""
    used = {citation.relative_path for citation in citations}
    found = [each.relative_path for each in references if each.reference_type == "search"]
    return [path for path in dict.fromkeys(found) if path and path not in used]


def _last_spans(uncited: int, unused: Sequence[str]) -> list[StyledSpan]:
    """How many sentences have no citation, and the first unused documents."""
    spans: list[StyledSpan] = []
    if uncited:
        spans.append(StyledSpan(describe_uncited(uncited), "yellow"))
    separator = " · not used: " if uncited else "not used: "
    for path in unused[:MAX_UNUSED]:
        spans += [StyledSpan(separator, "dim"), StyledSpan(path, "dim", path)]
        separator = ", "
    if len(unused) > MAX_UNUSED:
        spans.append(StyledSpan(f" and {len(unused) - MAX_UNUSED} more", "dim"))
    return spans


def no_source_line(retrieval: str | None, hints: CommandHints = IN_CHAT) -> str:
    """The line below an answer without sources; if the model got no passages, with the command that
    asks again with some.
    """
    line = "No source from your notes was used"
    if hints.ground and retrieval in ("tools", "none"):
        line += f"; {hints.ground} asks again with passages from them"
    return line


def excerpt_lines(
    chunks: Iterable[ContentChunk], vault: "Vault", query: str
) -> Iterator[StyledLine]:
    """The excerpts that a search found, each with its note, its place, and the line that shows why
    it was found.
    """
    for chunk in chunks:
        heading, snippet = vault.snippet(chunk, query)
        where = chunk.title
        if heading and heading != chunk.title:
            where = f"{chunk.title} › {heading}"
        place = StyledSpan(f"{chunk.relative_path}:{snippet.line}", "dim", chunk.relative_path)
        yield StyledLine((StyledSpan(where, "bold"),), (place,))
        yield styled_line(f"  {snippet.text}", indent=2)


def source_name(relative_path: str, name: str, heading: str | None) -> str:
    """`[[note]] › heading`, with the note's `name` in links; a heading equal to its file's name is
    left out.
    """
    link = write_link(relative_path, name)
    if heading and heading != note_name(relative_path):
        return f"{link} › {truncate(heading, MAX_HEADING)}"
    return link


class _NumberRange(NamedTuple):
    """Consecutive numbers."""

    first: int
    last: int


def number_ranges(numbers: Iterable[int]) -> list[str]:
    """Ascending numbers as ranges: `1-3`, `7`."""
    ranges: list[_NumberRange] = []
    for number in numbers:
        first = number
        if ranges and ranges[-1].last == number - 1:
            first = ranges.pop().first
        ranges.append(_NumberRange(first, number))
    return [line_range(first, last) for first, last in ranges]


def _cited_lines(
    number: int, citations: Sequence[Citation], digits: int, name: Callable[[str], str]
) -> list[StyledLine]:
    first = citations[0]
    mark = VERDICT_MARKS[worst_verdict(each.verdict for each in citations)]
    head = (StyledSpan(f"  {f'[{number}]':>{digits + 2}} "), mark)
    indent = digits + _MARKS_WIDTH
    if first.relative_path is None:
        return [StyledLine((*head, StyledSpan(f" {NO_SOURCE}", mark.style)), indent=indent)]
    path = first.relative_path
    places = _cited_places(citations)
    where = StyledSpan(f"{path}:{places}" if places else path, "dim", path)
    note = StyledSpan(f" {source_name(path, name(path), first.heading)}")
    outdated = [StyledSpan(f" ({first.outdated})", "yellow")] if first.outdated else []
    lines = [StyledLine((*head, note, *outdated), (where,), indent)]
    remarks = _remarks(citations, mark.style)
    margin = " " * indent
    lines += [styled_line(margin + remark.text, remark.style, indent) for remark in remarks]
    return lines


def _cited_places(citations: Sequence[Citation]) -> str:
    """The lines of the verified quotations, or of all citations if no quotation is."""
    verified = [each for each in citations if each.verdict == "verified"]
    ranges: dict[str, None] = {}
    for each in verified or citations:
        if each.start_line:
            ranges[line_range(each.start_line, each.end_line)] = None
    return ", ".join(ranges)


def _remarks(citations: Iterable[Citation], style: str) -> list[StyledSpan]:
    """What is wrong with these citations of one source; wrong quotations get this `style`."""
    remarks: list[StyledSpan] = []
    is_unsupported = False
    for citation in citations:
        if citation.verdict == "misquoted":
            quote = truncate(citation.quote or "", MAX_QUOTE)
            remarks.append(StyledSpan(f"the quoted words are not there: “{quote}”", style))
        elif citation.verdict == "misattributed":
            quote = truncate(citation.quote or "", MAX_QUOTE)
            text = f"{describe_misattribution(citation)}: “{quote}”"
            remarks.append(StyledSpan(text, style))
        elif citation.verdict == "cut":
            text = f"the quotation is cut; the note says: {citation.sentence}"
            remarks.append(StyledSpan(text, VERDICT_MARKS["cut"].style))
        remarks += [StyledSpan(QUOTE_REMARKS[each], "yellow") for each in citation.remarks]
        is_unsupported = is_unsupported or citation.is_unsupported
    if is_unsupported:
        remarks.append(StyledSpan(UNSUPPORTED, "yellow"))
    return remarks


def _summary_lines(summary: str | None) -> list[StyledLine]:
    return [styled_line(f"      {summary}", "dim", indent=6)] if summary else []
