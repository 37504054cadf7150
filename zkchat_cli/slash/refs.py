"""/refs: list the documents of this conversation, and how often each was used.

For each document: how often it was named, found and cited, its source numbers, and its summary.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.views.sources import number_ranges
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_RANGES = 8  # source numbers of one document, or ranges of them, that are listed


@slash_command()
def run(session: ZkChatSession, _: str) -> Lines:
    documents = provenance.trace_documents(session.history).values()
    if not documents:
        yield styled_line("No documents have been named or found yet.")
    for document in documents:
        reference = document.references[0]
        calls = {each.message_id for each in document.found}
        citations = sum(max(1, len(each.citation.spans)) for each in document.cited)
        uses = (("named", len(document.named)), ("found", len(calls)), ("cited", citations))
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
        chunks = [*(each.chunk for each in document.found), *(chunk for each in document.named for chunk in each.chunks)]
        ranges = number_ranges(sorted({chunk.number for chunk in chunks if chunk.number is not None}))
        numbers = f"[{', '.join(ranges[:MAX_RANGES])}{', …' if len(ranges) > MAX_RANGES else ''}]" if ranges else ""
        types = ", ".join(dict.fromkeys(each.reference_type for each in document.references))
        yield styled_line("    " + " · ".join(filter(None, (numbers, types, counts))))
        stored = next((each.summary for each in document.references if each.summary is not None), None)
        if summary := (None if is_deleted else session.summaries.summary(path)) or stored:
            yield styled_line(f"    {summary}", "dim")
