"""The quotations of a text with their verdicts (`zkchat verify`)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.numbers import line_range, plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.sources import QUOTE_REMARKS, VERDICT_MARKS, source_name
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

if TYPE_CHECKING:
    from zkchat_cli.citations.verify_text import TextQuotation

# Characters of a quotation
MAX_QUOTE = 200
# Words of a quotation up to which differences are marked
MOST_COMPARED = 300
_LEAST_WIDTH = len("✗ misquoted")
_PUNCTUATION = "*_`.,;:!?\"'“”‘’()"


def quotation_lines(
    quotations: Sequence["TextQuotation"], link_name: Callable[[str], str]
) -> Iterator[StyledLine]:
    """The quotations of a text with their verdicts, below misquoted ones the nearest wording with
    the differences marked; last, how many quotations have each verdict.
    """
    width = max(_LEAST_WIDTH, *(len(_verdict_label(each)) for each in quotations))
    for each in quotations:
        yield _verdict_line(each, link_name, width)
        remark = _remark_spans(each)
        if remark:
            yield StyledLine((StyledSpan(" " * (width + 2)), *remark), indent=width + 2)
        if each.outdated:
            yield styled_line(" " * (width + 2) + each.outdated, "yellow", width + 2)
    counts = Counter[str](each.found.verdict for each in quotations)
    given = [verdict for verdict in VERDICT_MARKS if counts[verdict]]
    figures = [f"{counts[verdict]} {verdict.replace('_', ' ')}" for verdict in given]
    yield styled_line(f"{plural(len(quotations), 'quotation')}: {', '.join(figures)}", "bold")


def _verdict_label(quotation: "TextQuotation") -> str:
    verdict = quotation.found.verdict
    return f"{VERDICT_MARKS[verdict].text} {verdict.replace('_', ' ')}"


def _verdict_line(
    quotation: "TextQuotation", link_name: Callable[[str], str], width: int
) -> StyledLine:
    found = quotation.found
    mark = VERDICT_MARKS[found.verdict]
    verdict = mark._replace(text=f"{_verdict_label(quotation):<{width}}")
    quote = StyledSpan(f"  “{truncate(_on_one_line(quotation.quote), MAX_QUOTE)}”")
    if found.chunk is None:
        return StyledLine((verdict, quote), indent=width + 2)
    path = found.chunk.relative_path
    name = source_name(path, link_name(path), found.heading)
    lines = line_range(found.start_line, found.end_line)
    where = (StyledSpan(f"{name}  ", "dim"), StyledSpan(f"{path}:{lines}", "cyan", path))
    return StyledLine((verdict, quote), where, indent=width + 2)


def _remark_spans(quotation: "TextQuotation") -> list[StyledSpan]:
    """What the notes say instead; empty if the quotation is right or nothing is near."""
    found = quotation.found
    if found.verdict == "cut":
        return [StyledSpan(f"the note says: {found.sentence}", "yellow")]
    spans: list[StyledSpan] = []
    if quotation.missing:
        place = f"; the words are in {found.place}" if found.verdict == "misattributed" else ""
        spans.append(StyledSpan(f"no note {quotation.missing}{place}", "yellow"))
    elif found.verdict == "misattributed":
        named = quotation.named[0]
        spans.append(StyledSpan(f"the words are not in {named}, but in this note", "yellow"))
    elif found.remarks:
        told = "; ".join(QUOTE_REMARKS[remark] for remark in found.remarks)
        spans.append(StyledSpan(told, "yellow"))
    if found.nearest:
        lead = "; the note says: " if spans else "the note says: "
        spans += [StyledSpan(lead), *_difference_spans(quotation.quote, found.nearest)]
    return spans


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _difference_spans(quote: str, nearest: str) -> Iterator[StyledSpan]:
    """The nearest wording with what the quotation has instead: `pruned in [-May-] {+March+}`."""
    quoted = quote.split()
    written = nearest.split()
    if max(len(quoted), len(written)) > MOST_COMPARED:
        yield StyledSpan(truncate(nearest, MAX_QUOTE))
        return
    bare_quoted = [_bare_word(word) for word in quoted]
    bare_written = [_bare_word(word) for word in written]
    matcher = SequenceMatcher(None, bare_quoted, bare_written, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            yield StyledSpan(" ".join(written[start:end]) + " ")
            continue
        if last > first:
            yield StyledSpan(f"[-{' '.join(quoted[first:last])}-] ", "red")
        if end > start:
            yield StyledSpan(f"{{+{' '.join(written[start:end])}+}} ", "green")


def _bare_word(word: str) -> str:
    """A word as it is compared: without case and punctuation."""
    return fold(word).strip(_PUNCTUATION)
