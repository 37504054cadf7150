"""What an answer rests on, under it: each source with what its citations came to, and the excerpt with the quoted words marked in it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from zkchat_cli.citations.mark_syntax import CitationMark
from zkchat_cli.exporters.base import came_in
from zkchat_cli.exporters.html.elements import element, folded, text
from zkchat_cli.models import Citation, CitationStatus, ContentChunk, DocumentReference
from zkchat_cli.text.words import fold

WORDS: dict[CitationStatus, tuple[str, str]] = {
    "verified": ("✓", "verified: the quoted words stand there"),
    "cited": ("•", "cited, without quoting it"),
    "misquoted": ("✗", "misquoted: the quoted words do not stand there"),
    "missing": ("?", "missing: no such source was in the prompt"),
}
"""A sign and what it means, as colour alone must not tell it; from good to bad."""

_BACK_LINKS = 10
_FROM_GOOD_TO_BAD = list(WORDS)
_QUOTE_MARKS = re.compile(r"[ \t]*(?:>[ \t]?)+")
_AROUND = " \n.…"
_STRAIGHT = str.maketrans({**dict.fromkeys("‘’", "'"), **dict.fromkeys("“”„«»", '"')})
_RUNS = re.compile(r"\s+|[^\s*`_]+")
"""White space, and words without the signs of emphasis."""


class SourceList:
    """The sources of one answer, the `name` of which tells its anchors from those of others; `chunks` are the conversation's by number."""

    def __init__(self, name: str, citations: Iterable[Citation], chunks: Mapping[int, ContentChunk]) -> None:
        self._name = name
        self._chunks = chunks
        self._by_number: dict[int, list[Citation]] = {}
        self._at: dict[tuple[int, tuple[int, int]], list[CitationStatus]] = {}
        self._places: dict[int, list[str]] = {}
        for citation in citations:
            self._by_number.setdefault(citation.number, []).append(citation)
            for span in citation.spans:
                self._at.setdefault((citation.number, span), []).append(citation.effective_status)

    def anchor(self, mark: CitationMark, written: str) -> str:
        """A mark of one of these citations as a link to its source; several numbers as a link each, those that are none as they are."""
        if len(mark.numbers) == 1:
            return self._link(mark.numbers[0], mark, written)
        links = ", ".join(self._link(n, mark, str(n)) if n in self._by_number else text(n) for n in mark.numbers)
        return f"[{links}]"

    def _link(self, number: int, mark: CitationMark, written: str) -> str:
        status = _worst(self._at.get((number, mark.span)) or self._standings(number))
        sign, words = WORDS[status]
        places = self._places.setdefault(number, [])
        places.append(f"cite-{self._name}-{number}-{len(places) + 1}")
        said = element("span", text(f" ({words})"), class_="unseen")
        seen = element("span", sign, class_="sign", aria_hidden="true")
        return element("a", text(written), seen, said, id=places[-1], href=f"#source-{self._name}-{number}", class_=f"cite {status}")

    def _standings(self, number: int) -> list[CitationStatus]:
        return [citation.effective_status for citation in self._by_number[number]]

    def html(self) -> str:
        """The list; call it when all anchors have been made."""
        if not self._by_number:
            return ""
        title = element("h3", "Sources", id=f"sources-{self._name}")
        entries = element("ul", *map(self._entry, sorted(self._by_number)))
        return element("section", title, entries, class_="sources", aria_labelledby=f"sources-{self._name}")

    def _entry(self, number: int) -> str:
        citations = self._by_number[number]
        source = next((citation for citation in citations if citation.relative_path is not None), None)
        chunk = self._chunks.get(number)
        if source is None or chunk is None or chunk.relative_path != source.relative_path:
            chunk = None
        status = _worst(self._standings(number))
        sign, words = WORDS[status]
        places = self._places.get(number, [])
        line = [
            element("span", text(f"[{number}]"), class_="number"),
            element("span", sign, class_="sign", aria_hidden="true"),
            *(where(source, chunk) if source else []),
            element("span", text(words), class_="status"),
            *(element("a", "↩", href=f"#{place}", aria_label=f"back to where {number} is cited") for place in places[:_BACK_LINKS]),
        ]
        parts = [element("p", " ".join(line)), *_quotes(citations)]
        if chunk is not None:
            quotes = [citation.quote for citation in citations if citation.quote]
            parts.append(folded("The excerpt", element("pre", highlighted(chunk.text, quotes), dir="auto"), class_="excerpt", open_=True))
        return element("li", *parts, id=f"source-{self._name}-{number}", class_=status)


def _worst(standings: Iterable[CitationStatus]) -> CitationStatus:
    return max(standings, key=_FROM_GOOD_TO_BAD.index)


def where(source: Citation | ContentChunk, chunk: ContentChunk | None = None) -> list[str]:
    """Note and heading, path and lines."""
    path = source.relative_path or ""
    title = chunk.title if chunk else PurePosixPath(path).stem
    shown = f"{title} › {source.heading}" if source.heading and source.heading != title else title
    lines = "" if source.start_line is None else f":{source.start_line}"
    if lines and source.end_line not in (None, source.start_line):
        lines += f"-{source.end_line}"
    return [element("cite", text(shown), dir="auto"), element("code", text(f"{path}{lines}"))]


def _quotes(citations: Iterable[Citation]) -> list[str]:
    quotes = {citation.quote: citation.effective_status for citation in citations if citation.quote}
    return [
        element("p", element("q", text(quote), dir="auto"), " ", text(f"{WORDS[standing][0]} {standing}"), class_=f"quote {standing}")
        for quote, standing in quotes.items()
    ]


def unused(references: Sequence[DocumentReference], uncited: int) -> str:
    """What was named or found and no answer of the turn cites, the links that lead nowhere, and how much has no citation at all."""
    parts = []
    if references:
        parts = [element("h3", "Not cited"), element("ul", *map(_unused, references))]
    if uncited:
        parts.append(element("p", f"{uncited} sentence{'s have' if uncited > 1 else ' has'} no citation."))
    return element("div", *parts, class_="unused") if parts else ""


def _unused(reference: DocumentReference) -> str:
    broken = reference.relative_path is None
    named = element("code", text(reference.relative_path)) if not broken else element("span", "✗ ", text(reference.wikilink), dir="auto")
    reason = f" ({reference.delivery_reason})" if reference.delivery_reason else ""
    return element("li", named, text(f": {came_in(reference)}{reason}"), class_="broken" if broken else None)


# Marking


def highlighted(excerpt: str, quotes: Sequence[str]) -> str:
    """An excerpt as HTML with the quoted words marked, as far as they stand in it."""
    found = sorted(span for quote in quotes if (span := _as_written(quote, excerpt) or _find(quote, *_comparable(excerpt))))
    parts = []
    at = 0
    for start, end in found:
        start, end = max(start, at), max(end, at)
        while end < len(excerpt) and unicodedata.combining(excerpt[end]):
            end += 1
        parts += [text(excerpt[at:start]), element("mark", text(excerpt[start:end])) if start < end else ""]
        at = end
    return "".join([*parts, text(excerpt[at:])])


def _as_written(quote: str, excerpt: str) -> tuple[int, int] | None:
    wanted = quote.strip(_AROUND)
    at = excerpt.find(wanted) if wanted else -1
    return None if at < 0 else (at, at + len(wanted))


def _find(quote: str, letters: str, places: Sequence[int]) -> tuple[int, int] | None:
    wanted = _comparable(quote.strip(_AROUND))[0].strip()
    at = letters.find(wanted) if wanted else -1
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


@lru_cache(maxsize=16)  # several quotes of one excerpt
def _comparable(words: str) -> tuple[str, list[int]]:
    """Letters for comparing (case, white space, emphasis, quotation marks and marks of quoted lines aside), and where each stands."""
    letters: list[str] = []
    places: list[int] = []
    begin, spaced = 0, False
    for line in words.split("\n"):
        quoted = _QUOTE_MARKS.match(line)
        for run in _RUNS.finditer(line, quoted.end() if quoted else 0):
            start = begin + run.start()
            if run[0].isspace():
                letters += [] if spaced else [" "]
                places += [] if spaced else [start]
                spaced = True
            elif run[0].isascii():
                letters.append(run[0].lower())
                places += range(start, begin + run.end())
                spaced = False
            else:
                for at, letter in enumerate(map(_bare, run[0]), start):
                    letters.append(letter)
                    places += [at] * len(letter)
                spaced = False
        begin += len(line) + 1
        if not spaced:
            letters.append(" ")
            places.append(begin - 1)
            spaced = True
    return "".join(letters), places


@lru_cache(maxsize=4096)
def _bare(letter: str) -> str:
    return fold(letter.translate(_STRAIGHT))
