"""/refs: every document of this conversation, and how often each was named, found and cited."""

from collections.abc import Iterable

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references import provenance
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.sources import ranges
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MOST_NUMBERS = 8
"""Numbers of one document, or ranges of them, that are listed."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:  # noqa: ARG001  every command has this shape
    uses = provenance.count_source_uses(session.history)
    if not uses:
        return CommandResult("No document has been mentioned or found yet.")
    return CommandResult(lines=[each for use in uses for each in _described(use, session.summaries)])


def _described(use: provenance.SourceUse, summaries: DocumentSummaryService) -> Iterable[StyledLine]:
    reference = use.reference
    often = [_times(verb, n) for verb, n in (("named", use.named), ("found", use.found), ("cited", use.cited)) if n]
    if reference.relative_path is None:
        near = ", ".join(f"[[{name}]]" for name in reference.candidates)
        yield styled_line(f"✗ {reference.wikilink} not found", "yellow")
        yield styled_line("    " + "; ".join(filter(None, (", ".join(often), near and f"nearest: {near}"))), "dim")
        return
    path = reference.relative_path
    yield StyledLine((StyledSpan(reference.wikilink, "bold"),), (StyledSpan(path, "cyan", path),))
    numbers = ranges(use.numbers)
    shown = ", ".join(numbers[:MOST_NUMBERS]) + (", …" if len(numbers) > MOST_NUMBERS else "")
    facts = (f"[{shown}]" if numbers else "", ", ".join(use.types), ", ".join(often))
    yield styled_line("    " + " · ".join(filter(None, facts)))
    if about := summaries.summary(path) or reference.summary:  # it may have been described since
        yield styled_line(f"    {about}", "dim")


def _times(verb: str, n: int) -> str:
    return f"{verb} {('once', 'twice')[n - 1]}" if n < 3 else f"{verb} {n} times"


COMMAND = SlashCommand("refs", "the documents of this conversation, and how often each was used", _run)
