"""Lists the sources of the last answer, or shows one of them."""

from collections.abc import Iterator
from datetime import datetime

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.outdated_citations import mark_outdated
from zkchat_cli.errors import UsageError
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references import provenance
from zkchat_cli.references.chunk_budget import CUT_MARK
from zkchat_cli.references.related_notes import used_notes
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.slash.lookups import last_answer, note_text, numbered_chunk
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.call_excerpts import call_excerpt_lines
from zkchat_cli.views.provenance import citation_lines
from zkchat_cli.views.source_in_note import chunk_lines, locate_chunk
from zkchat_cli.views.sources import (
    number_ranges,
    source_lines,
    source_name,
)
from zkchat_cli.views.text import IN_CHAT, StyledLine, StyledSpan, styled_line

ALL = "all"


def sources(session: ZkChatSession, argument: str) -> Lines:
    """List the sources of the last answer; N shows excerpt N and its quotations.

    The excerpt is shown in the note as it is now, with its quotations marked and the answers that
    cite it. `all` lists the excerpts of the conversation by the tool call that found them.
    """
    if not argument:
        return _last_sources(session)
    if argument == ALL:
        return _excerpts_by_call(session)
    chunk = numbered_chunk(session, argument)
    if chunk is None or chunk.number is None:
        valid = ", ".join(number_ranges(session.state.references.numbers))
        raise UsageError(
            f"unknown source {truncate(argument, 40)}",
            f"Valid numbers: {valid}" if valid else "Nothing has been found yet.",
        )
    return _excerpt_lines(session, chunk, chunk.number)


def _last_sources(session: ZkChatSession) -> list[StyledLine]:
    last = last_answer(session)

    def now() -> datetime:
        return datetime.fromisoformat(session.services.now())

    lines = source_lines(
        mark_outdated(last.answer.citations, session.vault.reader.read_if_there, now),
        session.state.references.get_latest_references(),
        last.answer.uncited_statements or 0,
        session.runtime.settings.references.max_displayed,
        IN_CHAT.all_sources,
    )
    used = used_notes(last)
    deleted = [path for path in used if not session.vault.has_file(path)]
    if deleted:
        lines.append(styled_line(f"  deleted since: {', '.join(deleted)}", "yellow"))
    return lines or [styled_line("The last answer has no sources.")]


def _excerpts_by_call(session: ZkChatSession) -> list[StyledLine]:
    """The excerpts that each tool call of the conversation found, and those that came with a
    question.
    """
    references = session.state.references
    lines: list[StyledLine] = []
    for turn, message in provenance.with_turns(session.history):
        found = references.get_chunks_of_tool(message.tool_call_id or message.id)
        if found:
            lines += call_excerpt_lines(turn, message, found, session.vault.link_name)
    return lines or [styled_line("Nothing has been found yet.")]


def _excerpt_lines(
    session: ZkChatSession, chunk: ContentChunk, number: int
) -> Iterator[StyledLine]:
    cited = provenance.find_citations(number, session.history)
    path = chunk.relative_path
    location = locate_chunk(chunk, note_text(session, path))
    name = source_name(path, session.vault.link_name(path), chunk.heading)
    lines = line_range(location.first, location.last)
    yield StyledLine(
        (StyledSpan(f"[{number}] {name}", "bold"),),
        (StyledSpan(f"{path}:{lines}", "cyan", path),),
    )
    if location.change:
        yield styled_line(location.change, "yellow", indent=0)
    yield styled_line()
    citations = (each.citation for each in cited)
    yield from chunk_lines(chunk, location.first, citations, location.note)
    if chunk.text.endswith(CUT_MARK):
        yield styled_line("The excerpt was cut here to fit the context window.", "dim")
    yield styled_line()
    yield from citation_lines(cited, is_changed=bool(location.change))


def _source_numbers(session: ZkChatSession) -> list[str]:
    """The numbers of all sources, those of the last answer first, and `all` if there are any."""
    references = session.state.references
    latest = [chunk.number for chunk in references.get_latest_referenced_chunks()]
    numbers = [str(number) for number in dict.fromkeys((*latest, *references.numbers))]
    return [*numbers, ALL] if numbers else []


COMMAND = declare_command(
    sources, Topic.SOURCES, order=20, argument="[N | all]", values=_source_numbers
)
