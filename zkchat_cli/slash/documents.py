"""Commands that list documents: those of this conversation, and those of the vault that contain some words."""

from collections.abc import Iterable, Iterator

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.references import provenance
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.sources import number_ranges
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_RANGES = 8
"""Source numbers of one document, or ranges of them, that are listed."""
MAX_RESULTS = 10


def _refs(session: ZkChatSession) -> CommandResult:
    uses = provenance.count_source_uses(session.history)
    if not uses:
        return CommandResult("No documents have been named or found yet.")
    return CommandResult(lines=[line for use in uses for line in _document_lines(use, session.summaries)])


def _document_lines(use: provenance.SourceUse, summaries: DocumentSummaryService) -> Iterable[StyledLine]:
    reference = use.reference
    counts = ", ".join(_times(verb, n) for verb, n in (("named", use.named), ("found", use.found), ("cited", use.cited)) if n)
    if reference.relative_path is None:
        near = ", ".join(f"[[{name}]]" for name in reference.candidates)
        yield styled_line(f"✗ {reference.wikilink} not found", "yellow")
        yield styled_line("    " + "; ".join(filter(None, (counts, near and f"did you mean {near}?"))), "dim")
        return
    path = reference.relative_path
    yield StyledLine((StyledSpan(reference.wikilink, "bold"),), (StyledSpan(path, "cyan", path),))
    ranges = number_ranges(use.numbers)
    numbers = f"[{', '.join(ranges[:MAX_RANGES])}{', …' if len(ranges) > MAX_RANGES else ''}]" if ranges else ""
    yield styled_line("    " + " · ".join(filter(None, (numbers, ", ".join(use.types), counts))))
    if summary := summaries.summary(path) or reference.summary:
        yield styled_line(f"    {summary}", "dim")


def _times(verb: str, n: int) -> str:
    return f"{verb} {('once', 'twice')[n - 1]}" if n < 3 else f"{verb} {n} times"


def _search(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("search for what?", "/search WORDS; tag:, path: and [[links]] work as in `zkchat vault search`.")
    session.apply_scan(session.vault.refresh())
    results = list(_result_lines(session, argument))
    warnings = [styled_line(f"! {each.message}", "yellow") for each in session.vault.take_warnings()]
    return CommandResult(lines=[*warnings, *(results or [styled_line("Nothing found.")])])


def _result_lines(session: ZkChatSession, query: str) -> Iterator[StyledLine]:
    vault = session.vault
    for number, chunk in enumerate(vault.search(query, MAX_RESULTS), 1):
        heading, snippet = vault.snippet(chunk, query)
        where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
        place = StyledSpan(f"{chunk.relative_path}:{snippet.line}", "dim", chunk.relative_path)
        yield StyledLine((StyledSpan(f"{number:>2}  "), StyledSpan(where, "bold")), (place,))
        yield styled_line(f"    {snippet.text}")


COMMANDS = (
    SlashCommand("refs", "list the documents of this conversation, and how often each was used", lambda session, _: _refs(session)),
    SlashCommand(
        "search",
        "search the notes; results are not sent to the model",
        _search,
        "WORDS",
        details="To ask about a note, name it in a message as [[note]].",
    ),
)
