"""Does the answer say where it comes from, and is it true? Reads `[n]` from an answer and checks each against the chunk it names.

Deterministic and cheap: regular expressions over the answer, one normalised search per quote. No second model call.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli.models import Citation, ContentChunk
from zkchat_cli.vault.sections import heading_over
from zkchat_cli.words import Sentence, cjk, fold, sentences

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t>]*(?=\n)")
_DEFINITION = re.compile(r"^[ \t>]*\[[^\[\]\n]+\]:[^\n]*", re.MULTILINE)
_ITEM = r"\d{1,9}(?:\s{0,3}[-–—]\s{0,3}\d{1,9})?"
_MARKER = re.compile(rf"(?<![A-Za-z0-9_\[!])\[\s{{0,3}}({_ITEM}(?:\s{{0,3}}[,;，、]\s{{0,3}}{_ITEM})*)\s{{0,3}}\](?![(\]])")
"""Not `a[1]`, `![1]`, `[[1]]` or `[1](link)`. A CJK character may stand right before one: there are no spaces to put between."""
_QUOTE = re.compile(
    r"“([^“”]*(?:“[^“”]*”[^“”]*)*)”|„([^„“”]*)[“”]|«([^«»]*)»|「([^「」]*)」|『([^『』]*)』|"
    r"(?<![A-Za-z0-9_\"])\"(?=\S)((?:[^\"\n]|\n(?![ \t>]*\n))*)(?<=\S)\"(?![A-Za-z0-9_])"
)
_QUOTE_MARK = re.compile('[“”„«»「」『』"]')
_MARKER_FOLLOWS = re.compile(r"[\s.,;:!?。，]{0,3}\[\s{0,3}\d")
_MARKER_AFTER_END = re.compile(r"""([.!?…。！？]["'”’»」』*_)）]*)[ \t]*((?:\[\d[\d \t,;，、–—-]*\][ \t,]{0,3})+)(?!\()""")
"""A citation behind a full stop belongs to the sentence before it."""
_LARGEST_RANGE = 50
MIN_QUOTE = 10
_STRAIGHT = {**dict.fromkeys(map(ord, "‘’"), "'"), **dict.fromkeys(map(ord, "“”„«»"), '"'), **dict.fromkeys(map(ord, "*`"), None)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`citations` in the answer's order, each (number, quote) once; `uncited` sentences that state something without a source."""

    citations: tuple[Citation, ...]
    uncited: int


@dataclass(frozen=True, slots=True)
class _Quotation:
    """Quoted words and where they stand in the answer, quotation marks included."""

    start: int
    end: int
    words: str


def verify(answer: str, chunk: Callable[[int], ContentChunk | None]) -> Verdict:
    """Check every `[n]` of `answer`. `chunk` gives what was in the prompt under a number, None when nothing was.

    A citation is valid when its chunk was in the prompt and the words quoted just before it (10 or more characters in quotation marks)
    stand in that chunk, white space, case, emphasis and typographic quotes aside; its lines are then the quote's own.
    """
    text = _DEFINITION.sub(_blank, _without_code(answer))
    found: dict[tuple[int, str | None], Citation] = {}
    quotations = _quotations(answer, text)
    ends = [q.end for q in quotations]
    paragraphs = [m.start() for m in _BLANK_LINE.finditer(text)]
    earlier_marker_end = 0
    for marker in _MARKER.finditer(text):
        before = bisect_right(ends, marker.start())
        if before < len(quotations) and quotations[before].start < marker.start() and _MARKER_FOLLOWS.match(text, ends[before]):
            continue  # the quoted note's own footnote: what cites it follows the quotation
        paragraph = bisect_right(paragraphs, marker.start())
        since = max(earlier_marker_end, paragraphs[paragraph - 1] if paragraph else 0)
        quote = quotations[before - 1].words if before and ends[before - 1] > since else None
        for number in _numbers(marker[1]):
            if (number, quote) not in found:
                found[number, quote] = _cite(number, quote, chunk(number))
        if not (quote and text[marker.end() : marker.end() + 1] == "["):
            earlier_marker_end = marker.end()
    said = sentences(_MARKER_AFTER_END.sub(r" \2\1 ", text))
    uncited = sum(1 for s in said if _states_something(s) and not _MARKER.search(s.text))
    return Verdict(tuple(found.values()), uncited)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _without_code(text: str) -> str:
    """The text with code, fenced and between backticks, blanked out; every other character where it was."""
    fence = ""
    lines: list[str] = []
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(" " * len(line))
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            lines.append(" " * len(line))
        else:
            lines.append(line)
    return "".join(_without_spans(part) for part in re.split(r"(\n[ \t>]*(?=\n))", "\n".join(lines)))


def _without_spans(paragraph: str) -> str:
    """A run of backticks opens a span that the next run of the same length closes; one that nothing closes is text."""
    runs = list(_TICKS.finditer(paragraph))
    closing: dict[int, int] = {}
    partner = [0] * len(runs)
    for i in range(len(runs) - 1, -1, -1):
        partner[i] = closing.get(len(runs[i][0]), -1)
        closing[len(runs[i][0])] = i
    pieces: list[str] = []
    at = i = 0
    while i < len(runs):
        if partner[i] < 0:
            i += 1
            continue
        end = runs[partner[i]].end()
        pieces += [paragraph[at : runs[i].start()], re.sub(r"[^\n]", " ", paragraph[runs[i].start() : end])]
        at, i = end, partner[i] + 1
    return "".join([*pieces, paragraph[at:]])


def _quotations(answer: str, text: str) -> list[_Quotation]:
    """The quotations long enough to be checked. They may hold `code`, but quotation marks inside code are none (`text` is without)."""
    marks = _QUOTE_MARK.sub(lambda m: m[0] if text[m.start()] == m[0] else " ", answer)
    found = (_Quotation(m.start(), m.end(), answer[slice(*m.span(m.lastindex or 0))]) for m in _QUOTE.finditer(marks))
    return [q for q in found if len(q.words) >= MIN_QUOTE]


def _numbers(marker: str) -> list[int]:
    """The numbers of `1, 3-5`; of a range that runs backwards or is too long to be meant, its two ends."""
    numbers: list[int] = []
    for item in re.split(r"[,;，、]", marker):
        first, *rest = (int(n) for n in re.split(r"[-–—]", item))
        last = rest[0] if rest else first
        numbers += range(first, last + 1) if first <= last < first + _LARGEST_RANGE else [first, last]
    return numbers


def _cite(number: int, quote: str | None, chunk: ContentChunk | None) -> Citation:
    if chunk is None:
        return Citation(number=number, quote=quote)
    lines = locate(quote, chunk) if quote else (chunk.start_line, chunk.end_line)
    start, end = lines or (chunk.start_line, chunk.end_line)
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=(quote and lines and heading_over(start, chunk.text, chunk.start_line)) or chunk.heading,
        start_line=start,
        end_line=end,
        quote=quote,
        valid=lines is not None,
    )


def locate(quote: str, chunk: ContentChunk) -> tuple[int, int] | None:
    """The lines of the note on which the quoted words begin and end; None when they do not stand in the chunk."""
    wanted = " ".join(filter(None, (_normal(line) for line in quote.strip(" \n.…").split("\n"))))
    if not wanted:
        return None
    lines: list[str] = []
    starts: list[int] = []
    length = 0
    for line in chunk.text.split("\n"):
        starts.append(length)
        bare = _normal(line)
        lines += [bare] if bare else []
        length += len(bare) + 1 if bare else 0
    at = " ".join(lines).find(wanted)
    if at < 0:
        return None
    first = bisect_right(starts, at) - 1
    last = bisect_right(starts, at + len(wanted) - 1) - 1
    return chunk.start_line + first, chunk.start_line + last


def _normal(line: str) -> str:
    """A line for comparing: without block-quote marks, emphasis and backticks, folded, its quotation marks straight."""
    bare = re.sub(r"^\s*(?:>\s?)+", "", line).translate(_STRAIGHT)
    return " ".join(fold(bare).split())


def _states_something(sentence: Sentence) -> bool:
    """Questions, lead-ins that end in a colon and scraps of up to three words claim nothing that would need a source.

    Two CJK characters are taken for a word.
    """
    bare = sentence.text.strip(" *_\"'”")
    size = max(len(bare.split()), len(cjk().findall(bare)) // 2)
    return size > 3 and not bare.endswith((":", "?", "：", "？"))
