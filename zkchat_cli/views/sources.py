"""The sources of an answer: the list below it and in the window, an excerpt in its note as it is
now, and verified quotations.

A stored message contains everything that these lines need, so an old answer gets the same list.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.citations.quotes import QuotationVerdict, quote_ranges
from zkchat_cli.exporters.base import NO_SOURCE, UNSUPPORTED, describe_uncited
from zkchat_cli.models.citations import Citation, CitationVerdict, group_by_number, worst_verdict
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.chunk_budget import CUT_MARK
from zkchat_cli.references.documents import link_names
from zkchat_cli.text.numbers import line_range, plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import fold
from zkchat_cli.vault.links.wikilinks import note_name, write_link
from zkchat_cli.views.text import IN_CHAT, CommandHints, StyledLine, StyledSpan, styled_line

if TYPE_CHECKING:
    from zkchat_cli.citations.verify_text import TextQuotation
    from zkchat_cli.vault.vault import Vault

VERDICT_MARKS: dict[CitationVerdict | QuotationVerdict, StyledSpan] = {
    "verified": StyledSpan("✓", "green"),
    "cited": StyledSpan("○", "dim"),
    "cut": StyledSpan("✂", "yellow"),
    "misquoted": StyledSpan("✗", "red"),
    "missing": StyledSpan("✗", "red"),
    "not_found": StyledSpan("✗", "red"),
}
"""All wrong ones have the same mark, and the text says which."""
MAX_UNUSED = 3
MAX_HEADING = 80
MAX_QUOTE = 60
MAX_VERIFIED_QUOTE = 200
# Words of a quotation up to which differences are marked
MOST_COMPARED = 300
# Lines shown before and after an excerpt
CONTEXT = 3
MAX_CONTEXT_LINE = 400
_TYPES_OF_USER = ("direct", "import")
_LABEL_WIDTH = len("✗ misquoted")


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
    named, and if wanted, what was found.
    """
    name = link_names(references)
    groups = group_by_number(citations)
    used = {citation.relative_path for citation in citations}
    listed = [
        reference for reference in references if found or reference.reference_type in _TYPES_OF_USER
    ]
    about: dict[str | None, str] = {
        r.relative_path: r.summary for r in listed if r.relative_path and r.summary
    }
    digits = len(str(max(groups, default=0)))
    items = []
    for number, group in groups.items():
        lines = _cited_lines(number, group, digits, name) + _summary_lines(
            about.pop(group[0].relative_path, None)
        )
        items.append(
            SourceItem(
                str(number) if group[0].relative_path else "",
                worst_verdict(each.verdict for each in group),
                lines,
            )
        )
    for each in listed:
        # Suggestions for it were shown when the turn began
        if each.relative_path is None:
            items.append(
                SourceItem("", "broken", [styled_line(f"  ✗ {each.wikilink} not found", "yellow")])
            )
        elif each.relative_path not in used:
            path = StyledSpan(each.relative_path, "dim", each.relative_path)
            head = StyledLine((StyledSpan("  · "), StyledSpan(each.wikilink, "cyan")), (path,))
            items.append(
                SourceItem(each.relative_path, "not cited", [head, *_summary_lines(each.summary)])
            )
    return items


def turn_source_items(turn: Iterable[ZkChatMessage]) -> list[SourceItem]:
    """What the messages of a turn cite, and each other document that they name or that tools
    found.
    """
    references = {
        each.relative_path or each.wikilink: each for message in turn for each in message.references
    }
    return source_items(
        [each for message in turn for each in message.citations], [*references.values()], found=True
    )


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
    body = [line for item in items[:limit] for line in item.lines]
    if len(items) > limit:
        body.append(styled_line(f"  and {len(items) - limit} more: {rest}", "dim"))
    used = {citation.relative_path for citation in citations}
    found = dict.fromkeys(
        r.relative_path
        for r in references
        if r.relative_path and r.reference_type == "search" and with_unused
    )
    unused = [path for path in found if path not in used]
    last = [StyledSpan(describe_uncited(uncited), "yellow")] if uncited and (body or unused) else []
    for at, path in enumerate(unused[:MAX_UNUSED]):
        last += [
            StyledSpan(", " if at else " · not used: " if last else "not used: ", "dim"),
            StyledSpan(path, "dim", path),
        ]
    if len(unused) > MAX_UNUSED:
        last.append(StyledSpan(f" and {len(unused) - MAX_UNUSED} more", "dim"))
    if last:
        body.append(StyledLine((StyledSpan("  "), *last)))
    return [styled_line("Sources", "bold"), *body] if body else []


def no_source_line(retrieval: str | None, hints: CommandHints = IN_CHAT) -> str:
    more = (
        f"; {hints.ground} asks again with passages from them"
        if hints.ground and retrieval in ("tools", "none")
        else ""
    )
    return f"No source from your notes was used{more}"


def excerpt_lines(
    chunks: Iterable[ContentChunk], vault: "Vault", query: str
) -> Iterator[StyledLine]:
    """What a search found: for each excerpt its note, its place, and the line that shows why it was
    found.
    """
    for chunk in chunks:
        heading, snippet = vault.snippet(chunk, query)
        where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
        place = StyledSpan(f"{chunk.relative_path}:{snippet.line}", "dim", chunk.relative_path)
        yield StyledLine((StyledSpan(where, "bold"),), (place,))
        yield styled_line(f"  {snippet.text}", indent=2)


def source_name(relative_path: str, name: str, heading: str | None) -> str:
    """`[[note]] › heading`, with the note's `name` in links; a heading equal to its file's name is
    left out.
    """
    link = write_link(relative_path, name)
    return (
        f"{link} › {truncate(heading, MAX_HEADING)}"
        if heading and heading != note_name(relative_path)
        else link
    )


def number_ranges(numbers: Iterable[int]) -> list[str]:
    """Ascending numbers as ranges: `1-3`, `7`."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        first = runs.pop()[0] if runs and runs[-1][1] == number - 1 else number
        runs.append((first, number))
    return [line_range(*run) for run in runs]


def _cited_lines(
    number: int, citations: Sequence[Citation], digits: int, name: Callable[[str], str]
) -> list[StyledLine]:
    first = citations[0]
    mark = VERDICT_MARKS[worst_verdict(each.verdict for each in citations)]
    head = (StyledSpan(f"  {f'[{number}]':>{digits + 2}} "), mark)
    indent = digits + 7
    if first.relative_path is None:
        return [StyledLine((*head, StyledSpan(f" {NO_SOURCE}", mark.style)), indent=indent)]
    exact = [c for c in citations if c.verdict == "verified"] or citations
    places = ", ".join(
        dict.fromkeys(line_range(c.start_line, c.end_line) for c in exact if c.start_line)
    )
    where = StyledSpan(
        f"{first.relative_path}:{places}" if places else first.relative_path,
        "dim",
        first.relative_path,
    )
    note = source_name(first.relative_path, name(first.relative_path), first.heading)
    remarks = []
    for citation in citations:
        if citation.verdict == "misquoted":
            remarks.append(
                (
                    "the quoted words are not there: "
                    f"“{truncate(citation.quote or '', MAX_QUOTE)}”",
                    mark.style,
                )
            )
        elif citation.verdict == "cut":
            remarks.append(
                (
                    f"the quotation is cut; the note says: {citation.sentence}",
                    VERDICT_MARKS["cut"].style,
                )
            )
    if any(citation.is_unsupported for citation in citations):
        remarks.append((UNSUPPORTED, "yellow"))
    line = StyledLine((*head, StyledSpan(" "), StyledSpan(note)), (where,), indent)
    return [line, *(styled_line(f"{' ' * indent}{text}", style, indent) for text, style in remarks)]


def _summary_lines(summary: str | None) -> list[StyledLine]:
    return [styled_line(f"      {summary}", "dim", indent=6)] if summary else []


class SourceLocation(NamedTuple):
    """The lines of an excerpt today. `change` says what changed since; `note` is the text of the
    note if it still contains the excerpt.
    """

    first: int
    last: int
    note: str | None = None
    change: str = ""


def locate_chunk(chunk: ContentChunk, note: str | None) -> SourceLocation:
    """Find an excerpt in the text of its note, None if that is gone; of several occurrences, the
    one nearest to the old place.
    """
    if note is None:
        return SourceLocation(
            chunk.start_line,
            chunk.end_line,
            change="The note is deleted or cannot be read. This is what the model saw:",
        )
    words = chunk.text.removesuffix(CUT_MARK)
    old = sum(len(line) + 1 for line in note.split("\n")[: chunk.start_line - 1])
    found = [
        at for at in (note.rfind(words, 0, old + len(words)), note.find(words, old)) if at >= 0
    ]
    if not found or not words.strip():
        change = "The note was edited and no longer contains this text. This is what the model saw:"
        return SourceLocation(chunk.start_line, chunk.end_line, change=change)
    first = 1 + note.count("\n", 0, min(found, key=lambda at: abs(at - old)))
    old_lines = line_range(chunk.start_line, chunk.end_line)
    change = (
        ""
        if first == chunk.start_line
        else f"The note was edited: the text was on lines {old_lines} and is here now."
    )
    return SourceLocation(first, first + words.count("\n"), note, change)


def chunk_lines(
    chunk: ContentChunk, first: int, citations: Iterable[Citation], note: str | None
) -> Iterator[StyledLine]:
    """The excerpt with line numbers from `first` on and the quoted words marked; the lines of the
    `note` around it follow a dotted rule.
    """
    words = chunk.text.removesuffix(CUT_MARK)
    own = words.split("\n")
    begins = list(accumulate((len(line) + 1 for line in own), initial=0))
    quotes = [
        citation.quote
        for citation in citations
        if citation.quote and citation.verdict in ("verified", "cut")
    ]
    marked = quote_ranges(words, quotes)
    around = note.split("\n") if note is not None else []
    before = around[max(0, first - 1 - CONTEXT) : first - 1]
    after = around[first - 1 + len(own) :][:CONTEXT]
    while before and not before[0].strip():
        del before[0]
    while after and not after[-1].strip():
        del after[-1]
    digits = len(str(first + len(own) + len(after) - 1))
    for number, text in enumerate([*before, *own, *after], first - len(before)):
        if first <= number < first + len(own):
            rule = "│"
            spans = _marked_spans(text, begins[number - first], marked)
        else:
            rule = "┊"
            spans = [StyledSpan(text[:MAX_CONTEXT_LINE], "dim")] if text.strip() else []
        sign = ">" if any(span.quoted for span in spans) else " "
        head = StyledSpan(f"{sign} {number:>{digits}} {rule}{' ' if spans else ''}", "dim")
        yield StyledLine(
            (head, *(span._replace(text=span.text.replace("\t", "    ")) for span in spans)),
            indent=digits + 5,
        )


def _marked_spans(text: str, at: int, marked: Sequence[tuple[int, int]]) -> list[StyledSpan]:
    """One line, which begins at `at`, with the quoted ranges marked."""
    spans: list[StyledSpan] = []
    done = 0
    for begin, end in marked:
        begin = max(begin - at, done)
        end = min(end - at, len(text))
        if begin < end:
            spans += [
                StyledSpan(text[done:begin]),
                StyledSpan(text[begin:end], "bold green", quoted=True),
            ]
            done = end
    return [span for span in (*spans, StyledSpan(text[done:])) if span.text]


def quotation_lines(
    quotations: "Sequence[TextQuotation]", link_name: Callable[[str], str]
) -> Iterator[StyledLine]:
    """The quotations of a text with their verdicts, and of misquoted ones the nearest wording with
    the differences marked.
    """
    for each in quotations:
        found = each.found
        mark = VERDICT_MARKS[found.verdict]
        label = f"{mark.text} {found.verdict.replace('_', ' ')}"
        where: list[StyledSpan] = []
        if found.chunk is not None:
            path = found.chunk.relative_path
            place = StyledSpan(
                f"{path}:{line_range(found.start_line, found.end_line)}", "cyan", path
            )
            where = [
                StyledSpan(f"{source_name(path, link_name(path), found.heading)}  ", "dim"),
                place,
            ]
        verdict = mark._replace(text=f"{label:<{_LABEL_WIDTH}}")
        quote = StyledSpan(f"  “{truncate(' '.join(each.quote.split()), MAX_VERIFIED_QUOTE)}”")
        yield StyledLine((verdict, quote), tuple(where), indent=_LABEL_WIDTH + 2)
        spans = []
        if found.verdict == "cut":
            spans = [StyledSpan(f"the note says: {found.sentence}", "yellow")]
        elif each.named and found.nearest == " ".join(each.quote.split()):
            spans = [
                StyledSpan(f"the words are not in {each.named[0]}, but in this note", "yellow")
            ]
        elif found.nearest:
            spans = [StyledSpan("the note says: "), *_difference_spans(each.quote, found.nearest)]
        if spans:
            yield StyledLine(
                (StyledSpan(" " * (_LABEL_WIDTH + 2)), *spans), indent=_LABEL_WIDTH + 2
            )
    counts = Counter[str](each.found.verdict for each in quotations)
    figures = (
        f"{counts[verdict]} {verdict.replace('_', ' ')}"
        for verdict in VERDICT_MARKS
        if counts[verdict]
    )
    yield styled_line(f"{plural(len(quotations), 'quotation')}: {', '.join(figures)}", "bold")


def _difference_spans(quote: str, nearest: str) -> Iterator[StyledSpan]:
    """The nearest wording with what the quotation has instead: `pruned in [-May-] {+March+}`."""
    quoted = quote.split()
    written = nearest.split()
    if max(len(quoted), len(written)) > MOST_COMPARED:
        yield StyledSpan(truncate(nearest, MAX_VERIFIED_QUOTE))
        return
    bare_quoted, bare_written = (
        [fold(word).strip("*_`.,;:!?\"'“”‘’()") for word in words] for words in (quoted, written)
    )
    for kind, first, last, start, end in SequenceMatcher(
        None, bare_quoted, bare_written, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            yield StyledSpan(" ".join(written[start:end]) + " ")
            continue
        if last > first:
            yield StyledSpan(f"[-{' '.join(quoted[first:last])}-] ", "red")
        if end > start:
            yield StyledSpan(f"{{+{' '.join(written[start:end])}+}} ", "green")
