"""/why: how a document came into the conversation, whether it is in the prompt now, and what cites it."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError, ZkchatError
from zkchat_cli.models import Prompt
from zkchat_cli.references import provenance
from zkchat_cli.references.provenance import CitedInAnswer, FoundByTool, NamedByUser, Provenance
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.sources import MARKS, place, status
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

LONGEST_ARGUMENTS = 80
MOST_SHOWN = 10
"""Excerpts of one call that are listed."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("which document?", "/why PATH, a title, a [[link]] or a source's number; /refs lists them.")
    known = provenance.trace(_meant(session, argument), session.history)
    try:
        prompt, problem = session.prompt(), ""
    except ZkchatError as e:
        prompt, problem = None, e.message
    memory = prompt is not None and _in_memory(prompt, known.key)
    if not (known.named or known.found or memory):
        raise UsageError(f"{known.key} has not come into this conversation", "/refs lists the documents that have.")
    return CommandResult(lines=list(_told(known, prompt, problem, in_memory=memory)))


def _meant(session: ZkChatSession, argument: str) -> str:
    """The document that the user means: of this conversation, else of the vault."""
    digits = argument.strip("[] ")
    chunk = session.references.chunk(int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
    if chunk is not None:
        return chunk.relative_path
    keys = provenance.meant(argument, session.history)
    if len(keys) > 1:
        raise UsageError(f"{truncate(argument, 80)} may mean {len(keys)} documents", f"Give a path: {', '.join(keys[:5])}")
    if keys:
        return keys[0]
    try:
        return session.vault.locate(argument)[0]
    except VaultError as e:
        raise UsageError(e.message, e.hint) from e


def _told(known: Provenance, prompt: Prompt | None, problem: str, *, in_memory: bool) -> Iterable[StyledLine]:
    tell = provenance.whereabouts(prompt) if prompt else lambda _: f"the prompt cannot be made now: {problem}"
    yield StyledLine((StyledSpan(known.key, "bold", known.key if _is_path(known) or in_memory else None),))
    if in_memory:
        yield styled_line("  project memory: it goes into every prompt")
    for named in known.named:
        yield from _naming(named, tell(named.message_id))
    for _, found in groupby(known.found, key=lambda each: each.message_id):
        call = list(found)
        yield from _call(call, tell(call[0].message_id))
    yield from _citing(known.cited)


def _is_path(known: Provenance) -> bool:
    return bool(known.found) or any(named.reference.relative_path for named in known.named)


def _naming(named: NamedByUser, where: str) -> Iterable[StyledLine]:
    reference = named.reference
    how = {
        "link": f"is linked from what you named in turn {named.turn}",
        "import": f"was imported by {reference.wikilink} in turn {named.turn}",
        "memory": f"came from memory in turn {named.turn}",
    }.get(reference.reference_type, f"you named it in turn {named.turn}: {reference.wikilink}")
    if reference.relative_path is None:
        near = ", ".join(f"[[{name}]]" for name in reference.candidates)
        yield styled_line(f"  {how}, which leads nowhere{'; nearest: ' + near if near else ''}", "yellow")
        return
    yield styled_line(f"  {how}")
    delivered = {
        "injected": "its text went into the prompt",
        "partly": "sections of it went into the prompt",
        "offered": "the model got its summary and was asked to read it",
        None: "",
    }[reference.delivery]
    why = f"{delivered}: {reference.delivery_reason}" if delivered and reference.delivery_reason else delivered
    if why:
        yield styled_line(f"      {why}", indent=6)
    for chunk in named.chunks[:MOST_SHOWN]:
        yield styled_line(f"      [{chunk.number}] lines {place(chunk.start_line, chunk.end_line)}", indent=6)
    yield styled_line(f"      {where}", "dim", indent=6)


def _call(found: Sequence[FoundByTool], where: str) -> Iterable[StyledLine]:
    first = found[0]
    asked = truncate(provenance.asked(first.arguments), LONGEST_ARGUMENTS)
    yield styled_line(f"  found in turn {first.turn} by {first.tool} {asked}".rstrip())
    for each in found[:MOST_SHOWN]:
        chunk = each.chunk
        facts = [f"lines {place(chunk.start_line, chunk.end_line)}", f"{each.rank} of {each.of} excerpts"]
        facts += [] if chunk.score is None else [f"score {chunk.score:.2f}"]
        yield styled_line(f"      [{chunk.number}] {', '.join(facts)}", indent=6)
    if len(found) > MOST_SHOWN:
        yield styled_line(f"      and {len(found) - MOST_SHOWN} more", "dim", indent=6)
    yield styled_line(f"      {where}", "dim", indent=6)


def _citing(cited: Sequence[CitedInAnswer]) -> Iterable[StyledLine]:
    if not cited:
        yield styled_line("  no answer cites it", "dim")
    for each in cited:
        mark, style = MARKS[status(each.citation)]
        quote = f" “{truncate(each.citation.quote, 60)}”" if each.citation.quote else ""
        lines = f" line {place(each.citation.start_line, each.citation.end_line)}" if each.citation.start_line else ""
        yield StyledLine(
            (StyledSpan(f"  cited in turn {each.turn}: [{each.citation.number}] "), StyledSpan(mark, style), StyledSpan(f"{lines}{quote}"))
        )


def _in_memory(prompt: Prompt, path: str) -> bool:
    return any(message.kind == "memory" and path in message.source_ids for message in prompt.messages)


def _documents(session: ZkChatSession) -> list[str]:
    return [provenance.key_of(use.reference) for use in provenance.uses(session.history)]


COMMAND = SlashCommand(
    "why",
    "how a document came into the conversation",
    _run,
    "PATH",
    _documents,
    more="A path, a title, a [[link]] or the number of a source: who named it, which search found it, and whether the model sees it now.",
)
