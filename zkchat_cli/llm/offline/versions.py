"""Answers to "what changed since 4.0?": the versions of a changelog, each with its first lines."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, SEARCH_TOOL, AskedTurn
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.request_handler import RequestHandler, plain_name
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.note_phrases import note_phrases
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.request_phrases import request_phrases

# Notes that are read, and versions in an answer
MOST_READ = 2
MOST_VERSIONS = 7
# Lines of the only version
MOST_OF_ONE = 6
# A note with fewer is no changelog
FEWEST_VERSIONS = 2
LONGEST_LINE = 220
_QUERY = "changelog releases versions new changes"
_VERSION_LINE = lazy_pattern(
    r"\s*(?:#{1,6} +|[-*+] +)(?:\*\*|\[)?(?:[^\W\d]\w*["
    r" -]){0,2}v?(?P<version>\d{1,3}(?:\.\d{1,3}){1,3})"
    r"\b(?:\*\*|\])?:?(?: *[(–—-].*)?\s*"
)


class _VersionPart(NamedTuple):
    """What a note says of a version."""

    version: str
    source: QuoteSource


def next_version_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """A search for the changelog, then the reading of what was found."""
    searches = turn.calls_of(SEARCH_TOOL)
    if not searches:
        query = f"{_QUERY} {request.version}"
        return [WantedCall(SEARCH_TOOL, {"query": query, "limit": EXCERPTS})]
    if turn.calls_of(READ_TOOL):
        return []
    counts: dict[str, int] = {}
    for excerpt in searches[-1].excerpts:
        found = sum(bool(_VERSION_LINE.fullmatch(line)) for line in excerpt.text.split("\n"))
        counts[excerpt.path] = counts.get(excerpt.path, 0) + found
    paths = [path for path in counts if counts[path]]
    paths.sort(key=lambda path: -counts[path])
    return [WantedCall(READ_TOOL, {"relative_path": path}) for path in paths[:MOST_READ]]


def answer_with_versions(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """The wanted versions of the note with the most of them; None if no note has any."""
    best: list[_VersionPart] = []
    for call in turn.calls_of(READ_TOOL):
        parts = list(_split_at_versions(call.excerpts))
        wanted = [part for part in parts if _is_wanted(part.version, request)]
        if len(parts) >= FEWEST_VERSIONS and len(wanted) > len(best):
            best = wanted
    if not best:
        return None
    # A long version is in several excerpts
    by_version: dict[str, list[QuoteSource]] = {}
    for part in best:
        by_version.setdefault(part.version, []).append(part.source)
    most = MOST_OF_ONE if len(by_version) == 1 else 1
    lines = [_line(version, sources, most) for version, sources in by_version.items()]
    texts = [part.source.text for part in best]
    name = plain_name(best[0].source.title)
    head = request_phrases(turn.asked, texts).outline.format(name=name)
    phrases = note_phrases(turn.asked, texts)
    left = len(lines) - MOST_VERSIONS
    # A long note was not read to its end
    is_cut = any(call.data.get("note") for call in turn.calls_of(READ_TOOL))
    count = f"{'≥ ' if is_cut else ''}{phrases.number(left)}"
    more = phrases.and_more_in.format(count=count, name=name)
    rest = f"\n{more}\n" if left > 0 else ""
    return OfflineAnswer(f"{head}\n\n{''.join(lines[:MOST_VERSIONS])}{rest}", "answer")


def _split_at_versions(excerpts: Sequence[QuoteSource]) -> Iterator[_VersionPart]:
    """The lines below each version in the excerpts of a note, in their order."""
    version = ""
    for excerpt in excerpts:
        lines: list[str] = []
        for line in excerpt.text.split("\n"):
            found = _VERSION_LINE.fullmatch(line)
            is_other_heading = found is None and re.match(r"#{1,2} ", line)
            if found or is_other_heading:
                if version and any(map(str.strip, lines)):
                    yield _VersionPart(version, excerpt._replace(text="\n".join(lines)))
                lines = []
                version = found["version"] if found else ""
            else:
                lines.append(line)
        if version and any(map(str.strip, lines)):
            yield _VersionPart(version, excerpt._replace(text="\n".join(lines)))


def _is_wanted(version: str, request: NoteRequest) -> bool:
    """Whether a version is the asked one or, if all since that one are wanted, a later one."""
    found = tuple(map(int, version.split(".")))
    asked = tuple(map(int, request.version.split(".")))
    if request.is_later:
        return found >= asked
    shorter = min(len(found), len(asked))
    return found[:shorter] == asked[:shorter]


def _line(version: str, sources: Sequence[QuoteSource], most: int) -> str:
    """A version with as many of its lines, each as a line of its own; without one that can be
    quoted only its number.
    """
    key_lines = summarize_excerpts(sources if most > 1 else sources[:1], most)
    short = [quote for quote in key_lines if len(quote.text) <= LONGEST_LINE]
    if not short:
        return f"- {version} [{sources[0].source}]\n"
    return "".join(f"- {version}: {format_quotes([quote])}" for quote in short)


VERSIONS = RequestHandler(
    frozenset((SEARCH_TOOL, READ_TOOL)), next_version_calls, answer_with_versions
)
