"""Lists the documents of the conversation."""

from collections.abc import Iterator

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references.provenance import Provenance, trace_documents
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.views.provenance import did_you_mean
from zkchat_cli.views.sources import number_ranges
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

# Source numbers of one document, or ranges of them, that are listed
MAX_RANGES = 8
_TIMES = {1: "once", 2: "twice"}


def refs(session: ZkChatSession, _: str) -> Lines:
    """List the documents of this conversation, and how often each was used.

    For each document: how often it was named, found and cited, its source numbers, and its summary.
    """
    documents = trace_documents(session.history).values()
    if not documents:
        yield styled_line("No documents have been named or found yet.")
    for document in documents:
        path = document.references[0].relative_path
        if path is None:
            yield from _broken_link_lines(document)
        else:
            yield from _document_lines(session, document, path)


def _broken_link_lines(document: Provenance) -> Iterator[StyledLine]:
    reference = document.references[0]
    near = did_you_mean(reference.candidate_links)
    yield styled_line(f"✗ {reference.wikilink} not found", "yellow")
    yield styled_line(f"    {_uses_text(document)}{near}", "dim")


def _document_lines(
    session: ZkChatSession, document: Provenance, path: str
) -> Iterator[StyledLine]:
    link = document.references[0].wikilink if document.named else session.vault.link_to(path)
    is_deleted = not session.vault.has_file(path)
    where = [StyledSpan(path, "cyan", path)]
    if is_deleted:
        where.append(StyledSpan("  deleted since", "yellow"))
    yield StyledLine((StyledSpan(link, "bold"),), tuple(where))

    types = dict.fromkeys(each.reference_type for each in document.references)
    facts = (_numbers_text(document), ", ".join(types), _uses_text(document))
    yield styled_line(f"    {' · '.join(filter(None, facts))}")

    summary = None if is_deleted else session.summaries.summary(path)
    summary = summary or _stored_summary(document)
    if summary:
        yield styled_line(f"    {summary}", "dim")


def _uses_text(document: Provenance) -> str:
    """`named once, cited 3 times`"""
    cited = sum(max(1, len(each.citation.spans)) for each in document.cited)
    uses = {"named": len(document.named), "found": len(document.found), "cited": cited}
    return ", ".join(
        f"{verb} {_TIMES.get(count, f'{count} times')}" for verb, count in uses.items() if count
    )


def _numbers_text(document: Provenance) -> str:
    """The numbers of its excerpts: `[1-3, 7]`, at most MAX_RANGES ranges."""
    numbers = {number for each in document.references for number in each.numbers}
    ranges = number_ranges(sorted(numbers))
    if not ranges:
        return ""
    more = ", …" if len(ranges) > MAX_RANGES else ""
    return f"[{', '.join(ranges[:MAX_RANGES])}{more}]"


def _stored_summary(document: Provenance) -> str | None:
    """The summary that the model got, if it got one."""
    summaries = (each.summary for each in document.references if each.summary is not None)
    return next(summaries, None)


COMMAND = declare_command(refs, Topic.SOURCES, order=10, priority=2)
