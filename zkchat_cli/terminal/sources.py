"""The lines under an answer: which notes it cites and whether the citations hold, what else was found, what was not."""

from collections.abc import Sequence

from zkchat_cli.models import Citation, DocumentReference, TurnReport
from zkchat_cli.terminal.safe import neutralise_name
from zkchat_cli.words import shorten

Line = tuple[str, str]
"""A line and the style it is shown in."""


def lines(report: TurnReport, limit: int) -> list[Line]:
    """Sources of an answer: each cited note with its mark, path and summary, then broken links, then what was found and not cited."""
    cited: dict[int, list[Citation]] = {}
    for citation in report.citations:
        cited.setdefault(citation.number, []).append(citation)
    by_path: dict[str | None, DocumentReference] = {r.relative_path: r for r in report.references if r.relative_path}
    shown: list[list[Line]] = []
    for number, group in sorted(cited.items()):
        shown.append(_cited(number, group, by_path.pop(group[0].relative_path, None)))  # a note is described once
    used = {c.relative_path for c in report.citations}
    shown += [_named(r) for r in report.references if r.reference_type == "direct" and r.relative_path not in used]
    unused = [r.relative_path for r in report.references if r.reference_type == "search" and r.relative_path not in used]
    body = [line for group in shown[:limit] for line in group]
    if len(shown) > limit:
        body.append((f"  and {len(shown) - limit} more: /refs", "dim"))
    if unused:
        body.append((f"  found, not cited: {', '.join(p for p in unused if p)}", "dim"))
    if report.uncited_statements and body:  # an honest "your notes don't say" rests on nothing and needs no reproach
        n = report.uncited_statements
        body.append((f"  {n} sentence{'s' if n > 1 else ''} {'have' if n > 1 else 'has'} no citation", "yellow"))
    return [("Sources", "bold"), *((neutralise_name(line), style) for line, style in body)] if body else []


def _cited(number: int, citations: Sequence[Citation], reference: DocumentReference | None) -> list[Line]:
    first = citations[0]
    if first.relative_path is None:
        return [(f"  [{number}] ✗ no such source was in the prompt", "red")]
    held = all(c.valid for c in citations)
    title = first.relative_path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    where = f"{title} › {first.heading}" if first.heading and first.heading != title else title
    places = ", ".join(dict.fromkeys(_place(c) for c in citations))
    doubt = "" if held else "  the quoted words are not there"
    found = [(f"  [{number}] {'✓' if held else '✗'} {where}   {first.relative_path}:{places}{doubt}", "green" if held else "red")]
    return found + ([(f"        {reference.summary}", "dim")] if reference and reference.summary else [])


def _place(citation: Citation) -> str:
    return str(citation.start_line) if citation.start_line == citation.end_line else f"{citation.start_line}-{citation.end_line}"


def _named(reference: DocumentReference) -> list[Line]:
    """A document that the user named. The nearest names of a broken link were told when the turn began."""
    if reference.relative_path is None:
        return [(f"  ✗ {reference.wikilink} not found", "yellow")]
    about = [(f"        {reference.summary}", "dim")] if reference.summary else []
    return [(f"  · {reference.wikilink}   {reference.relative_path}", "cyan"), *about]


def tool_line(name: str, arguments: dict[str, object], ok: bool, excerpts: int, tokens: int, milliseconds: float) -> str:
    """A tool call in one line: what was asked, what came back, what it cost."""
    asked = " ".join(f'"{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in arguments.items())
    outcome = f"{excerpts} excerpt{'' if excerpts == 1 else 's'}, {tokens} tokens" if ok else "failed"
    return neutralise_name(f"  {name} {shorten(asked, 44)}  {outcome}, {milliseconds:.0f} ms")
