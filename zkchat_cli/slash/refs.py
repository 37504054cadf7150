"""/refs: every document of this conversation, and how often each was named, found and cited."""

from collections.abc import Iterable

from zkchat_cli.lines import Line, Span, line
from zkchat_cli.references import provenance
from zkchat_cli.references.listing import ranges
from zkchat_cli.references.summaries import DocumentSummaryService
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand

MOST_NUMBERS = 8
"""Numbers of one document, or ranges of them, that are listed."""


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    uses = provenance.uses(session.history)
    if not uses:
        return Outcome("No document has been mentioned or found yet.")
    return Outcome(lines=[each for use in uses for each in _described(use, session.summaries)])


def _described(use: provenance.Use, summaries: DocumentSummaryService) -> Iterable[Line]:
    reference = use.reference
    often = [_times(verb, n) for verb, n in (("named", use.named), ("found", use.found), ("cited", use.cited)) if n]
    if reference.relative_path is None:
        near = ", ".join(f"[[{name}]]" for name in reference.candidates)
        yield line(f"✗ {reference.wikilink} not found", "yellow")
        yield line("    " + "; ".join(filter(None, (", ".join(often), near and f"nearest: {near}"))), "dim")
        return
    path = reference.relative_path
    yield Line((Span(reference.wikilink, "bold"),), (Span(path, "cyan", path),))
    numbers = ranges(use.numbers)
    shown = ", ".join(numbers[:MOST_NUMBERS]) + (", …" if len(numbers) > MOST_NUMBERS else "")
    facts = (f"[{shown}]" if numbers else "", ", ".join(use.types), ", ".join(often))
    yield line("    " + " · ".join(filter(None, facts)))
    if about := summaries.summary(path) or reference.summary:  # it may have been described since
        yield line(f"    {about}", "dim")


def _times(verb: str, n: int) -> str:
    return f"{verb} {('once', 'twice')[n - 1]}" if n < 3 else f"{verb} {n} times"


COMMAND = SlashCommand("refs", "the documents of this conversation, and how often each was used", _run)
