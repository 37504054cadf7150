"""The list of sources below an answer: cited notes and whether the quotations are correct, uncited sentences, unused documents.

A stored message contains everything that these lines need, so an old answer gets the same list.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from zkchat_cli.exporters.base import NO_SOURCE, UNSUPPORTED, describe_uncited
from zkchat_cli.models import Citation, CitationVerdict, DocumentReference, TurnReport, group_by_number, worst_verdict
from zkchat_cli.references.provenance import link_names
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.links.wikilinks import note_name, write_link
from zkchat_cli.views.command_hints import IN_CHAT, CommandHints
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

VERDICT_MARKS: dict[CitationVerdict, StyledSpan] = {
    "verified": StyledSpan("✓", "green", spoken="verified:"),
    "cited": StyledSpan("○", "dim", spoken="cited:"),
    "cut": StyledSpan("✂", "yellow", spoken="cut:"),
    "misquoted": StyledSpan("✗", "red", spoken="misquoted:"),
    "missing": StyledSpan("✗", "red", spoken="missing:"),
}
"""Both wrong ones have the same mark, and the text says which."""
MAX_UNUSED = 3
MAX_HEADING = 80
MAX_QUOTE = 60
_TYPES_OF_USER = ("direct", "import")


def source_lines(
    citations: Sequence[Citation],
    references: Sequence[DocumentReference],
    uncited: int,
    limit: int,
    rest: str = "/refs",
    *,
    with_unused: bool = True,
) -> list[StyledLine]:
    """The sources of an answer, at most `limit` (`rest` is the command that lists all): cited ones by number, then the documents that the
    user named, then uncited sentences and, if wanted, unused documents. Empty if there is nothing to list.
    """
    name = link_names(references)
    groups = group_by_number(citations)
    used = {citation.relative_path for citation in citations}
    spare = [r for r in references if r.relative_path is None or r.relative_path not in used]
    about: dict[str | None, str] = {
        r.relative_path: r.summary for r in references if r.reference_type in _TYPES_OF_USER and r.relative_path and r.summary
    }
    digits = len(str(max(groups, default=0)))
    shown = [
        _cited_lines(number, group, digits, name) + _summary_lines(about.pop(group[0].relative_path, None))
        for number, group in groups.items()
    ]
    shown += [_named_lines(reference) for reference in spare if reference.reference_type in _TYPES_OF_USER]
    body = [each for group in shown[:limit] for each in group]
    if len(shown) > limit:
        body.append(styled_line(f"  and {len(shown) - limit} more: {rest}", "dim"))
    unused = dict.fromkeys(r.relative_path for r in spare if r.relative_path and r.reference_type == "search" and with_unused)
    last = [StyledSpan(describe_uncited(uncited), "yellow")] if uncited and (body or unused) else []
    if unused:
        last += [StyledSpan(" · " if last else "", "dim"), *_unused_spans(list(unused))]
    if last:
        body.append(StyledLine((StyledSpan("  "), *last)))
    return [styled_line("Sources", "bold"), *body] if body else []


def no_source_line(report: TurnReport, hints: CommandHints = IN_CHAT) -> str:
    """The warning below an answer that lacks a source."""
    more = f"; {hints.ground} asks again with passages from them" if hints.ground and report.retrieval in ("tools", "none") else ""
    return f"No source from your notes was used{more}"


def source_name(relative_path: str, name: str, heading: str | None) -> str:
    """`[[note]] › heading`, with the note's `name` in links; a heading equal to its file's name is left out."""
    link = write_link(relative_path, name)
    return f"{link} › {truncate(heading, MAX_HEADING)}" if heading and heading != note_name(relative_path) else link


def number_ranges(numbers: Iterable[int]) -> list[str]:
    """Ascending numbers as ranges: `1-3`, `7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ["-".join(map(str, run)) for run in runs]


def _cited_lines(number: int, citations: Sequence[Citation], digits: int, name: Callable[[str], str]) -> list[StyledLine]:
    first = citations[0]
    mark = VERDICT_MARKS[worst_verdict(each.verdict for each in citations)]
    head = (StyledSpan(f"  {f'[{number}]':>{digits + 2}} "), mark)
    indent = digits + 7
    if first.relative_path is None:
        return [StyledLine((*head, StyledSpan(f" {NO_SOURCE}", mark.style)), indent=indent)]
    exact = [c for c in citations if c.verdict == "verified"] or citations
    places = ", ".join(dict.fromkeys(line_range(c.start_line, c.end_line) for c in exact if c.start_line))
    where = StyledSpan(f"{first.relative_path}:{places}" if places else first.relative_path, "dim", first.relative_path)
    note = source_name(first.relative_path, name(first.relative_path), first.heading)
    lines = [StyledLine((*head, StyledSpan(" "), StyledSpan(note)), (where,), indent)]
    for citation in citations:
        if citation.verdict == "misquoted":
            quote = truncate(citation.quote or "", MAX_QUOTE)
            lines.append(styled_line(f"{' ' * indent}the quoted words are not there: “{quote}”", mark.style, indent))
        elif citation.verdict == "cut":
            lines.append(
                styled_line(f"{' ' * indent}the quotation is cut; the note says: {citation.sentence}", VERDICT_MARKS["cut"].style, indent)
            )
    if any(citation.is_unsupported for citation in citations):
        lines.append(styled_line(f"{' ' * indent}{UNSUPPORTED}", "yellow", indent))
    return lines


def _named_lines(reference: DocumentReference) -> list[StyledLine]:
    """A document that the user named. Suggestions for a broken link were shown when the turn began."""
    if reference.relative_path is None:
        return [styled_line(f"  ✗ {reference.wikilink} not found", "yellow")]
    path = StyledSpan(reference.relative_path, "dim", reference.relative_path)
    head = StyledLine((StyledSpan("  · ", spoken="  "), StyledSpan(reference.wikilink, "cyan")), (path,))
    return [head, *_summary_lines(reference.summary)]


def _summary_lines(summary: str | None) -> list[StyledLine]:
    return [styled_line(f"      {summary}", "dim", indent=6)] if summary else []


def _unused_spans(paths: Sequence[str]) -> Iterator[StyledSpan]:
    for at, path in enumerate(paths[:MAX_UNUSED]):
        yield StyledSpan(", " if at else "not used: ", "dim")
        yield StyledSpan(path, "dim", path)
    if len(paths) > MAX_UNUSED:
        yield StyledSpan(f" and {len(paths) - MAX_UNUSED} more", "dim")
