"""/sources: list the sources of the last answer; N shows excerpt N and its quotations.

The excerpt is shown in the note as it is now, with its quotations marked and the answers that cite it.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.references import provenance
from zkchat_cli.references.chunk_format import CUT_MARK
from zkchat_cli.slash.base import Lines, citation_lines, last_answer, locate_in_note, numbered_chunk, slash_command
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.sources import chunk_lines, number_ranges, source_lines, source_name
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


@slash_command("[N]", lambda session: [str(number) for number in session.references.numbers])
def run(session: ZkChatSession, argument: str) -> Lines:
    if not argument:
        last = last_answer(session)
        named, citations = last.question.references if last.question else (), last.answer.citations
        references = provenance.merge_references(named, last.answer.references)
        limit = session.runtime.settings.references.max_displayed
        lines = source_lines(citations, references, last.answer.uncited_statements or 0, limit)
        paths = dict.fromkeys(path for path in (*(c.relative_path for c in citations), *(r.relative_path for r in named)) if path)
        if deleted := [path for path in paths if not session.vault.has_file(path)]:
            lines.append(styled_line(f"  deleted since: {', '.join(deleted)}", "yellow"))
        yield from lines or [styled_line("The last answer has no sources.")]
        return
    chunk = numbered_chunk(session, argument)
    if chunk is None or chunk.number is None:
        valid = ", ".join(number_ranges(session.references.numbers))
        raise UsageError(f"unknown source {truncate(argument, 40)}", f"Valid numbers: {valid}" if valid else "Nothing has been found yet.")
    cited = provenance.find_citations(chunk.number, session.history)
    location = locate_in_note(session, chunk)
    path = chunk.relative_path
    name = StyledSpan(f"[{chunk.number}] {source_name(path, session.vault.link_name(path), chunk.heading)}", "bold")
    yield StyledLine((name,), (StyledSpan(f"{path}:{line_range(location.first, location.last)}", "cyan", path),))
    if location.change:
        yield styled_line(location.change, "yellow", indent=0)
    yield styled_line()
    yield from chunk_lines(chunk, location.first, (each.citation for each in cited), location.note)
    if chunk.text.endswith(CUT_MARK):
        yield styled_line("The excerpt was cut here to fit the context window.", "dim")
    yield styled_line()
    yield from citation_lines(cited, changed=bool(location.change))
