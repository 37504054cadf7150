"""Commands about what an answer is based on: its sources, how a document came into the conversation, and the note in an editor."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError, ZkchatError
from zkchat_cli.models import ContentChunk, Prompt
from zkchat_cli.references import provenance
from zkchat_cli.references.chunk_format import CUT_MARK
from zkchat_cli.references.provenance import CitedInAnswer, FoundByTool, NamedByUser, Provenance, merge_references
from zkchat_cli.slash.base import CommandResult, NoteToOpen, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import source_in_note
from zkchat_cli.views.prompts import prompt_status
from zkchat_cli.views.sources import MARKS, line_range, number_ranges, source_lines, source_name
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_ARGUMENTS = 80
MAX_EXCERPTS = 10
"""Excerpts of one tool call that are listed."""
_WITH_LINE = re.compile(r"(.+):(\d{1,9})")


def _numbered_chunk(session: ZkChatSession, argument: str) -> ContentChunk | None:
    """The excerpt with this source number (`3`, `[3]`); None if there is none, or the argument is something else."""
    digits = argument.strip("[] ")
    return session.references.chunk(int(digits)) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


# /sources


def _sources(session: ZkChatSession, argument: str) -> CommandResult:
    return CommandResult(lines=_excerpt_lines(session, argument) if argument else _answer_sources(session))


def _answer_sources(session: ZkChatSession) -> list[StyledLine]:
    last = provenance.last_exchange(session.history)
    if last is None:
        raise UsageError("there is no answer yet", "Ask something first.")
    named = last.question.references if last.question else ()
    limit = session.runtime.settings.references.max_displayed
    lines = source_lines(last.answer.citations, merge_references(named, last.answer.references), last.answer.uncited_statements or 0, limit)
    return lines or [styled_line("The last answer has no sources.")]


def _excerpt_lines(session: ZkChatSession, argument: str) -> list[StyledLine]:
    chunk = _numbered_chunk(session, argument)
    if chunk is None or chunk.number is None:
        valid = ", ".join(number_ranges(sorted(c.number for c in session.references.chunks if c.number is not None)))
        raise UsageError(f"unknown source {truncate(argument, 40)}", f"Valid numbers: {valid}" if valid else "Nothing has been found yet.")
    citations = provenance.find_citations(chunk.number, session.history)
    location = _locate(session, chunk)
    path = chunk.relative_path
    head = StyledLine(
        (StyledSpan(f"[{chunk.number}] ", "bold"), StyledSpan(source_name(path, chunk.heading), "bold")),
        (StyledSpan(f"{path}:{line_range(location.first, location.last)}", "cyan", path),),
    )
    changed = [styled_line(location.change, "yellow", indent=0)] if location.change else []
    cut = [styled_line("The excerpt was cut here to fit the context window.", "dim")] if chunk.text.endswith(CUT_MARK) else []
    excerpt = source_in_note.chunk_lines(chunk, location.first, (each.citation for each in citations), location.note)
    return [head, *changed, styled_line(), *excerpt, *cut, styled_line(), *_citation_lines(citations)]


@dataclass(frozen=True, slots=True)
class _CurrentLocation:
    """The lines of an excerpt today. `change` says what changed since; `note` is the text of the note if it still contains the excerpt."""

    first: int
    last: int
    note: str | None = None
    change: str = ""


def _locate(session: ZkChatSession, chunk: ContentChunk) -> _CurrentLocation:
    try:
        note = session.vault.read(chunk.relative_path)
    except VaultError:
        return _CurrentLocation(chunk.start_line, chunk.end_line, change="The note no longer exists. This is what the model saw:")
    now = source_in_note.locate_chunk(chunk, note)
    if now.state == "changed":
        change = "The note was edited and no longer contains this text. This is what the model saw:"
        return _CurrentLocation(now.first, now.last, change=change)
    old_lines = line_range(chunk.start_line, chunk.end_line)
    change = f"The note was edited: the text was on lines {old_lines} and is here now." if now.state == "moved" else ""
    return _CurrentLocation(now.first, now.last, note, change)


def _citation_lines(citations: Sequence[CitedInAnswer], *, numbered: bool = False) -> Iterable[StyledLine]:
    if not citations:
        yield styled_line("No answer cites it.", "dim")
    for each in citations:
        status = each.citation.effective_status
        mark, style = MARKS[status]
        quote = f"“{truncate(each.citation.quote, 80)}”" if each.citation.quote else ""
        result = {
            "verified": f"the quotation is in the note: {quote}",
            "cited": "without a quotation",
            "misquoted": f"the quotation is not in the note: {quote}",
            "missing": "but it was not in that prompt",
        }[status]
        number = f" as [{each.citation.number}]" if numbered else ""
        yield StyledLine((StyledSpan(mark, style), StyledSpan(f" cited in turn {each.turn}{number}, {result}")), indent=2)


# /why


def _why(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("which document?", "/why PATH, a title, a [[link]] or a source's number; /refs lists them.")
    document = provenance.trace_document(_find_document(session, argument), session.history)
    try:
        prompt, problem = session.prompt(), ""
    except ZkchatError as e:
        prompt, problem = None, e.message
    in_memory = prompt is not None and any(m.kind == "memory" and document.key in m.source_ids for m in prompt.messages)
    if not (document.named or document.found or in_memory):
        raise UsageError(f"{document.key} is not part of this conversation", "/refs lists the documents that are.")
    return CommandResult(lines=list(_provenance_lines(document, prompt, problem, in_memory=in_memory)))


def _find_document(session: ZkChatSession, argument: str) -> str:
    """The document that the user means: one of this conversation, else one of the vault."""
    chunk = _numbered_chunk(session, argument)
    if chunk is not None:
        return chunk.relative_path
    keys = provenance.matching_documents(argument, session.history)
    if len(keys) > 1:
        raise UsageError(f"{truncate(argument, 80)} matches {len(keys)} documents", f"Give a path: {', '.join(keys[:5])}")
    if keys:
        return keys[0]
    try:
        return session.vault.locate(argument)[0]
    except VaultError as e:
        raise UsageError(e.message, e.hint) from e


def _provenance_lines(document: Provenance, prompt: Prompt | None, problem: str, *, in_memory: bool) -> Iterable[StyledLine]:
    describe = prompt_status(prompt) if prompt else lambda _: f"the prompt cannot be built now: {problem}"
    is_path = in_memory or document.found or any(named.reference.relative_path for named in document.named)
    yield StyledLine((StyledSpan(document.key, "bold", document.key if is_path else None),))
    if in_memory:
        yield styled_line("  project memory: included in every prompt")
    for named in document.named:
        yield from _named_lines(named, describe(named.message_id))
    for message_id, found in groupby(document.found, key=lambda each: each.message_id):
        yield from _tool_call_lines(list(found), describe(message_id))
    for line in _citation_lines(document.cited, numbered=True):
        yield StyledLine((StyledSpan("  "), *line.left), indent=4)


def _named_lines(named: NamedByUser, in_prompt: str) -> Iterable[StyledLine]:
    reference = named.reference
    how = {
        "import": f"imported by {reference.wikilink} in turn {named.turn}",
        "memory": f"came from memory in turn {named.turn}",
    }.get(reference.reference_type, f"you named it in turn {named.turn}: {reference.wikilink}")
    if reference.relative_path is None:
        near = ", ".join(f"[[{name}]]" for name in reference.candidates)
        yield styled_line(f"  {how}, not found{f'; did you mean {near}?' if near else ''}", "yellow")
        return
    yield styled_line(f"  {how}")
    delivery = {
        "injected": "its full text was in the prompt",
        "partly": "sections of it were in the prompt",
        "offered": "the model got its summary and was asked to read it",
    }.get(reference.delivery or "")
    if delivery:
        yield styled_line(f"      {delivery}{f': {reference.delivery_reason}' if reference.delivery_reason else ''}", indent=6)
    for chunk in named.chunks[:MAX_EXCERPTS]:
        yield styled_line(f"      [{chunk.number}] lines {line_range(chunk.start_line, chunk.end_line)}", indent=6)
    yield styled_line(f"      {in_prompt}", "dim", indent=6)


def _tool_call_lines(found: Sequence[FoundByTool], in_prompt: str) -> Iterable[StyledLine]:
    first = found[0]
    arguments = truncate(provenance.format_arguments(first.arguments), MAX_ARGUMENTS)
    yield styled_line(f"  found in turn {first.turn} by {first.tool} {arguments}".rstrip())
    for each in found[:MAX_EXCERPTS]:
        chunk = each.chunk
        score = "" if chunk.score is None else f", score {chunk.score:.2f}"
        lines = line_range(chunk.start_line, chunk.end_line)
        yield styled_line(f"      [{chunk.number}] lines {lines}, {each.rank} of {each.of} excerpts{score}", indent=6)
    yield styled_line(f"      {in_prompt}", "dim", indent=6)


# /open


def _open(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        last = provenance.last_exchange(session.history)
        argument = next((str(each.number) for each in last.answer.citations if each.relative_path), "") if last else ""
        if not argument:
            raise UsageError("which note?", "/open [[note]], a path or the number of a source.")
    chunk = _numbered_chunk(session, argument)
    if chunk is not None:
        return _open_at(session, chunk.relative_path, _locate(session, chunk).first)
    if argument.strip("[] ").isdecimal():
        raise UsageError(f"unknown source {argument}", "/sources lists the sources of the last answer, /refs all documents.")
    with_line = _WITH_LINE.fullmatch(argument)
    try:
        path, heading = session.vault.locate(with_line[1] if with_line else argument)
    except VaultError as e:
        raise UsageError(e.message, e.hint) from e
    line = int(with_line[2]) if with_line else session.vault.section(path, heading)[0] if heading else 1
    return _open_at(session, path, line)


def _open_at(session: ZkChatSession, path: str, line: int) -> CommandResult:
    text = session.vault.read(path)
    line = max(1, min(line, text.count("\n") + 1))
    return CommandResult(f"{truncate(path, 200)}:{line}", open_note=NoteToOpen(session.vault.root / path, line, text))


COMMANDS = (
    SlashCommand(
        "sources",
        "list the sources of the last answer; N shows excerpt N and its quotations",
        _sources,
        "[N]",
        lambda session: [str(chunk.number) for chunk in session.references.chunks],
    ),
    SlashCommand(
        "why",
        "show how a document came into the conversation",
        _why,
        "PATH",
        lambda session: [provenance.document_key(use.reference) for use in provenance.count_source_uses(session.history)],
        "A path, a title, a [[link]] or the number of a source: who named it, which search found it, and if the model sees it now.",
    ),
    SlashCommand(
        "open",
        "open a note, or source N, in your editor",
        _open,
        "[[[note]] | path | N]",
        details="Uses the setting terminal.open_command (with {path} and {line}), else $VISUAL or $EDITOR, else shows the note here.",
    ),
)
