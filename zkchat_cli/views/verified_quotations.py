"""The quotations of a text with their verdicts; of misquoted ones the nearest wording, with the differences marked."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from zkchat_cli.citations.quotes import QuotationVerdict
from zkchat_cli.citations.verify_text import TextQuotation
from zkchat_cli.text.numbers import line_range, plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import fold
from zkchat_cli.views.sources import source_name
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_QUOTE = 200
MOST_COMPARED = 300
"""Words of a quotation up to which differences are marked."""
_VERDICT_LABELS: dict[QuotationVerdict, tuple[str, str]] = {
    "verified": ("✓ verified", "green"),
    "cut": ("✂ cut", "yellow"),
    "misquoted": ("✗ misquoted", "red"),
    "not_found": ("✗ not found", "red"),
    "outside": ("· outside", "dim"),
}
_WIDTH = max(len(label) for label, _ in _VERDICT_LABELS.values())


def quotation_lines(quotations: Sequence[TextQuotation], link_name: Callable[[str], str]) -> Iterator[StyledLine]:
    for each in quotations:
        label, style = _VERDICT_LABELS[each.found.verdict]
        quote = truncate(" ".join(each.quote.split()), MAX_QUOTE)
        verdict = StyledSpan(f"{label:<{_WIDTH}}", style, spoken=label.partition(" ")[2])
        yield StyledLine((verdict, StyledSpan(f"  “{quote}”")), _place_spans(each, link_name), indent=_WIDTH + 2)
        if spans := _explanation_spans(each):
            yield StyledLine((StyledSpan(" " * (_WIDTH + 2)), *spans), indent=_WIDTH + 2)
    counts = Counter(each.found.verdict for each in quotations)
    figures = ", ".join(
        f"{counts[verdict]} {label.partition(' ')[2]}" for verdict, (label, _) in _VERDICT_LABELS.items() if counts[verdict]
    )
    yield styled_line(f"{plural(len(quotations), 'quotation')}: {figures}", "bold")


def _place_spans(each: TextQuotation, link_name: Callable[[str], str]) -> tuple[StyledSpan, ...]:
    found = each.found
    if found.chunk is None:
        return (StyledSpan(each.page, "dim"),) if each.page else ()
    path = found.chunk.relative_path
    return (
        StyledSpan(f"{source_name(path, link_name(path), found.heading)}  ", "dim"),
        StyledSpan(f"{path}:{line_range(found.start_line, found.end_line)}", "cyan", path),
    )


def _explanation_spans(each: TextQuotation) -> list[StyledSpan]:
    found = each.found
    if found.verdict == "cut":
        return [StyledSpan(f"the note says: {found.sentence}", "yellow")]
    if each.named and found.nearest == " ".join(each.quote.split()):
        return [StyledSpan(f"the words are not in {each.named[0]}, but in this note", "yellow")]
    return [StyledSpan("the note says: "), *_difference_spans(each.quote, found.nearest)] if found.nearest else []


def _difference_spans(quote: str, nearest: str) -> Iterator[StyledSpan]:
    """The nearest wording with what the quotation has instead: `pruned in [-May-] {+March+}`."""
    quoted, written = quote.split(), nearest.split()
    if max(len(quoted), len(written)) > MOST_COMPARED:
        yield StyledSpan(truncate(nearest, MAX_QUOTE))
        return
    compared = SequenceMatcher(None, [_bare_word(word) for word in quoted], [_bare_word(word) for word in written], autojunk=False)
    for kind, first, last, start, end in compared.get_opcodes():
        if kind == "equal":
            yield StyledSpan(" ".join(written[start:end]) + " ")
            continue
        if last > first:
            yield StyledSpan(f"[-{' '.join(quoted[first:last])}-] ", "red")
        if end > start:
            yield StyledSpan(f"{{+{' '.join(written[start:end])}+}} ", "green")


def _bare_word(word: str) -> str:
    return fold(word).strip("*_`.,;:!?\"'“”‘’()")
