"""/refs: list the documents of this conversation, and how often each was used.

For each document: how often it was named, found and cited, its source numbers, and its summary.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import Lines, SlashCommand
from zkchat_cli.views.sources import number_ranges
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_RANGES = 8  # source numbers of one document, or ranges of them, that are listed


def _refs(session: ZkChatSession, _: str) -> Lines:
    documents = provenance.trace_documents(session.history).values()
    if not documents:
        yield styled_line("No documents have been named or found yet.")
    for document in documents:
        reference = document.references[0]
        uses = (("named", len(document.named)), ("found", document.calls), ("cited", document.citations))
        counts = ", ".join(f"{verb} {('once', 'twice')[n - 1] if n < 3 else f'{n} times'}" for verb, n in uses if n)
        path = reference.relative_path
        if path is None:
            near = f"; did you mean {reference.candidate_links}?" if reference.candidate_links else ""
            yield styled_line(f"✗ {reference.wikilink} not found", "yellow")
            yield styled_line(f"    {counts}{near}", "dim")
            continue
        name = reference.wikilink if document.named else session.vault.link_to(path)
        is_deleted = not session.vault.has_file(path)
        mark = (StyledSpan("  deleted since", "yellow"),) if is_deleted else ()
        yield StyledLine((StyledSpan(name, "bold"),), (StyledSpan(path, "cyan", path), *mark))
        ranges = number_ranges(document.numbers)
        numbers = f"[{', '.join(ranges[:MAX_RANGES])}{', …' if len(ranges) > MAX_RANGES else ''}]" if ranges else ""
        yield styled_line("    " + " · ".join(filter(None, (numbers, ", ".join(document.reference_types), counts))))
        if summary := (None if is_deleted else session.summaries.summary(path)) or document.summary:
            yield styled_line(f"    {summary}", "dim")


COMMAND = SlashCommand(_refs)
