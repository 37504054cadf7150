"""/sources: what the last answer is based on; `/sources N` shows excerpt N and what was quoted from it."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.references import provenance
from zkchat_cli.references.chunk_format import CUT_MARK
from zkchat_cli.references.provenance import merge_references
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import source_in_note
from zkchat_cli.views.sources import MARKS, citation_status, line_range, number_ranges, source_lines, source_name
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_SEARCHED = 10
"""Notes that are searched for the words of a note that was deleted or renamed."""
QUERY_LENGTH = 200
"""Characters of an excerpt that this search uses."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    return CommandResult(lines=_excerpt_lines(session, argument) if argument else _answer_sources(session))


def _answer_sources(session: ZkChatSession) -> list[StyledLine]:
    last = provenance.last_exchange(session.history)
    if last is None:
        raise UsageError("there is no answer yet", "Ask something first.")
    named = last.question.references if last.question else ()
    limit = session.settings.references.max_displayed
    lines = source_lines(last.answer.citations, merge_references(named, last.answer.references), last.answer.uncited_statements or 0, limit)
    return lines or [styled_line("The last answer has no sources.")]


def _excerpt_lines(session: ZkChatSession, argument: str) -> list[StyledLine]:
    number = base.parse_source_number(argument)
    chunk = session.references.chunk(number) if number is not None else None
    if chunk is None or chunk.number is None:
        valid = ", ".join(number_ranges(sorted(c.number for c in session.references.chunks if c.number is not None)))
        raise UsageError(f"unknown source {truncate(argument, 40)}", f"Valid numbers: {valid}" if valid else "Nothing has been found yet.")
    citations = provenance.find_citations(chunk.number, session.history)
    location = _locate(session, chunk)
    head = StyledLine(
        (StyledSpan(f"[{chunk.number}] ", "bold"), StyledSpan(source_name(chunk.relative_path, chunk.heading), "bold")),
        (StyledSpan(f"{location.path}:{line_range(location.first, location.last)}", "cyan", location.path),),
    )
    changed = [styled_line(location.change, "yellow", indent=0)] if location.change else []
    cut = [styled_line("The excerpt was cut here to fit the context window.", "dim")] if chunk.text.endswith(CUT_MARK) else []
    excerpt = source_in_note.chunk_lines(chunk, location.first, (each.citation for each in citations), location.note)
    return [head, *changed, styled_line(), *excerpt, *cut, styled_line(), *_citation_lines(citations)]


@dataclass(frozen=True, slots=True)
class _CurrentLocation:
    """Where an excerpt is in the vault today: `change` says what changed since, `note` is the text of the note that contains it."""

    path: str
    first: int
    last: int
    note: str | None = None
    change: str = ""


def _locate(session: ZkChatSession, chunk: ContentChunk) -> _CurrentLocation:
    path, old_lines = chunk.relative_path, line_range(chunk.start_line, chunk.end_line)
    try:
        note = session.vault.read(path)
    except VaultError:
        change = "The note no longer exists. This is what the model saw:"
        return _locate_in_another_note(session, chunk) or _CurrentLocation(path, chunk.start_line, chunk.end_line, change=change)
    now = source_in_note.locate_chunk(chunk, note)
    if now.state == "changed":
        change = "The note was edited and no longer contains this text. This is what the model saw:"
        return _CurrentLocation(path, now.first, now.last, change=change)
    change = f"The note was edited: the text was on lines {old_lines} and is here now." if now.state == "moved" else ""
    return _CurrentLocation(path, now.first, now.last, note, change)


def _locate_in_another_note(session: ZkChatSession, chunk: ContentChunk) -> _CurrentLocation | None:
    """A note that contains the same text: the deleted one under its new name."""
    vault = session.vault
    with suppress(VaultError):
        session.apply_scan(vault.refresh())
        namesake = vault.resolve(PurePosixPath(chunk.relative_path).stem).target
        similar = [found.relative_path for found in vault.search(chunk.text[:QUERY_LENGTH].replace('"', " "), MAX_SEARCHED)]
        for path in dict.fromkeys(filter(None, (namesake, *similar))):
            note = vault.read(path)
            now = source_in_note.locate_chunk(chunk, note)
            if now.state != "changed":
                change = f"The note {chunk.relative_path} no longer exists; the same text is in {path}."
                return _CurrentLocation(path, now.first, now.last, note, change)
    return None


def _citation_lines(citations: Sequence[provenance.CitedInAnswer]) -> Iterable[StyledLine]:
    if not citations:
        yield styled_line("No answer cites it.", "dim")
    for each in citations:
        status = citation_status(each.citation)
        mark, style = MARKS[status]
        quote = f"“{truncate(each.citation.quote, 80)}”" if each.citation.quote else ""
        result = {
            "verified": f"the quotation is in the note: {quote}",
            "cited": "without a quotation",
            "misquoted": f"the quotation is not in the note: {quote}",
            "missing": "but it was not in that prompt",
        }[status]
        yield StyledLine((StyledSpan(mark, style), StyledSpan(f" cited in turn {each.turn}, {result}")), indent=2)


COMMAND = SlashCommand(
    "sources",
    "list the sources of the last answer; N shows excerpt N and its quotations",
    _run,
    "[N]",
    lambda session: [str(chunk.number) for chunk in session.references.chunks],
)
