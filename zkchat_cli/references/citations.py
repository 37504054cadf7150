"""Does the answer say where it comes from, and is it true? Reads `[n]` from an answer and checks each against the chunk it names.

Deterministic and cheap: regular expressions over the answer, one normalised search per quote. No second model call.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli.models import Citation, ContentChunk
from zkchat_cli.words import Sentence, fold, sentences

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_MARKER = re.compile(r"(?<![\w\[!])\[(\d{1,4}(?:\s*[-–,]\s*\d{1,4})*)\](?![(\[:]|\])|(?<=\])\[(\d{1,4})\](?![(:])")
_QUOTE = re.compile(r"“([^“”]{10,}?)”|\"([^\"\n]{10,}?)\"|«([^«»]{10,}?)»|„([^„“”]{10,}?)[“”]")
_MARKER_AFTER_END = re.compile(r"""([.!?…]["”’»*_)]*)[ \t]*((?:\[\d[\d\s,–-]*\])+)""")
"""A citation behind a full stop belongs to the sentence before it."""
_LARGEST_RANGE = 50
MIN_QUOTE = 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """`citations` in the answer's order, each (number, quote) once; `uncited` sentences that state something without a source."""

    citations: tuple[Citation, ...]
    uncited: int


def verify(answer: str, chunk: Callable[[int], ContentChunk | None]) -> Verdict:
    """Check every `[n]` of `answer`. `chunk` gives what was in the prompt under a number, None when nothing was.

    A citation is valid when its chunk was in the prompt and the words quoted just before it (10 or more characters in quotation marks)
    stand in that chunk, white space, case and typographic quotes aside; its lines are then the quote's own.
    """
    text = _without_code(answer)
    found: dict[tuple[int, str | None], Citation] = {}
    # quotations may hold `code` themselves, so they are read from the answer as it is; only one inside code is none
    quotes = [(m.end(), next(g for g in m.groups() if g)) for m in _QUOTE.finditer(answer) if text[m.start()] == answer[m.start()]]
    earlier_marker_end = 0
    for marker in _MARKER.finditer(text):
        quote = _quote_before(text, marker.start(), earlier_marker_end, quotes)
        for number in _numbers(marker[1] or marker[2]):
            found.setdefault((number, quote), _cite(number, quote, chunk(number)))
        if not (quote and text[marker.end() : marker.end() + 1] == "["):
            earlier_marker_end = marker.end()
    said = sentences(_MARKER_AFTER_END.sub(r" \2\1", text))
    uncited = sum(1 for s in said if _states_something(s) and not _MARKER.search(s.text))
    return Verdict(tuple(found.values()), uncited)


def _without_code(text: str) -> str:
    """The text with code blanked out, every other character where it was."""
    return _CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _numbers(marker: str) -> list[int]:
    numbers: list[int] = []
    for part in re.split(r"\s*,\s*", marker):
        first, _, last = re.sub(r"\s*[-–]\s*", "-", part).partition("-")
        start, end = int(first), int(last.partition("-")[0] or first)
        numbers += range(start, end + 1) if start <= end < start + _LARGEST_RANGE else [start]
    return numbers


def _quote_before(text: str, marker: int, earlier_marker: int, quotes: list[tuple[int, str]]) -> str | None:
    """The last quotation that ends between the marker before and this one, in the same line."""
    line_start = text.rfind("\n\n", 0, marker) + 1
    candidates = [quote for end, quote in quotes if max(earlier_marker, line_start) < end <= marker]
    return candidates[-1] if candidates else None


def _cite(number: int, quote: str | None, chunk: ContentChunk | None) -> Citation:
    if chunk is None:
        return Citation(number=number, quote=quote)
    lines = locate(quote, chunk) if quote else (chunk.start_line, chunk.end_line)
    start, end = lines or (chunk.start_line, chunk.end_line)
    return Citation(
        number=number,
        relative_path=chunk.relative_path,
        heading=chunk.heading,
        start_line=start,
        end_line=end,
        quote=quote,
        valid=lines is not None,
    )


def locate(quote: str, chunk: ContentChunk) -> tuple[int, int] | None:
    """The lines of the note on which the quoted words begin and end; None when they do not stand in the chunk."""
    wanted = _normal(quote.strip().rstrip("…").rstrip(" ."))
    if not wanted:
        return None
    running, starts = "", []
    for line in chunk.text.split("\n"):
        starts.append(len(running))
        bare = _normal(re.sub(r"^\s*(?:>\s?)+", "", line))
        running += bare + " " if bare else ""
    at = running.find(wanted)
    if at < 0:
        return None
    first = max(i for i, start in enumerate(starts) if start <= at)
    last = max(i for i, start in enumerate(starts) if start < at + len(wanted))
    return chunk.start_line + first, chunk.start_line + last


def _normal(text: str) -> str:
    straight = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x00AB: '"', 0x00BB: '"', 0x201E: '"'})
    return " ".join(fold(straight).split())


def _states_something(sentence: Sentence) -> bool:
    """Questions, lead-ins that end in a colon and scraps of up to three words claim nothing that would need a source."""
    bare = sentence.text.strip(" *_\"'”")
    return len(bare.split()) > 3 and not bare.endswith((":", "?"))
