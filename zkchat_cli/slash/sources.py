"""/sources: what the last answer rests on; `/sources N` shows the excerpt with that number, with what was quoted from it."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.references import provenance
from zkchat_cli.references.aggregate import merge
from zkchat_cli.references.chunk_format import CUT
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import source_in_note
from zkchat_cli.views.sources import MARKS, listing, name_of, place, ranges, status
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MOST_LOOKED_THROUGH = 10
"""Notes in which the words of one that is gone are looked for."""
MOST_WORDS = 200
"""Characters of an excerpt by which such notes are searched."""


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    return CommandResult(lines=_of_number(session, argument) if argument else _of_last_answer(session))


def _of_last_answer(session: ZkChatSession) -> list[StyledLine]:
    last = provenance.last_exchange(session.history)
    if last is None:
        raise UsageError("there is no answer yet", "Ask something first.")
    named = last.question.references if last.question else ()
    limit = session.settings.references.max_displayed
    shown = listing(last.answer.citations, merge(named, last.answer.references), last.answer.uncited_statements or 0, limit)
    return shown or [styled_line("The last answer rests on no document.")]


def _of_number(session: ZkChatSession, argument: str) -> list[StyledLine]:
    digits = argument.strip("[] ")
    chunk = session.references.chunk(int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
    if chunk is None or chunk.number is None:
        there = ", ".join(ranges(sorted(c.number for c in session.references.chunks if c.number is not None)))
        raise UsageError(f"there is no source {truncate(argument, 40)}", f"There are: {there}" if there else "Nothing has been found yet.")
    cited = provenance.citations_of(chunk.number, session.history)
    found = _standing(session, chunk)
    head = StyledLine(
        (StyledSpan(f"[{chunk.number}] ", "bold"), StyledSpan(name_of(chunk.relative_path, chunk.heading), "bold")),
        (StyledSpan(f"{found.path}:{place(found.first, found.last)}", "cyan", found.path),),
    )
    told = [styled_line(found.news, "yellow", indent=0)] if found.news else []
    cut = [styled_line("It was cut there: it was too long for the context window.", "dim")] if chunk.text.endswith(CUT) else []
    shown = source_in_note.show(chunk, found.first, (each.citation for each in cited), found.note)
    return [head, *told, styled_line(), *shown, *cut, styled_line(), *_uses(cited)]


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where an excerpt stands today; `news` if that is not as it was, `note` the text around it, if it still stands in one."""

    path: str
    first: int
    last: int
    note: str | None = None
    news: str = ""


def _standing(session: ZkChatSession, chunk: ContentChunk) -> _Standing:
    path, was = chunk.relative_path, place(chunk.start_line, chunk.end_line)
    try:
        note = session.vault.read(path)
    except VaultError:
        return _elsewhere(session, chunk) or _Standing(
            path, chunk.start_line, chunk.end_line, news="The note is gone. This is what the model saw:"
        )
    now = source_in_note.locate_now(chunk, note)
    if now.state == "changed":
        news = "The note has been edited since, and does not say this any more. This is what the model saw:"
        return _Standing(path, now.first, now.last, news=news)
    moved = f"The note has been edited since: what the model saw on lines {was} stands here now." if now.state == "moved" else ""
    return _Standing(path, now.first, now.last, note, moved)


def _elsewhere(session: ZkChatSession, chunk: ContentChunk) -> _Standing | None:
    """Another note that says the same, word for word: the one that is gone under its new name."""
    vault = session.vault
    with suppress(VaultError):
        session.apply_scan(vault.refresh())
        named = vault.resolve(PurePosixPath(chunk.relative_path).stem).target
        similar = [found.relative_path for found in vault.search(chunk.text[:MOST_WORDS].replace('"', " "), MOST_LOOKED_THROUGH)]
        for path in dict.fromkeys(filter(None, (named, *similar))):
            note = vault.read(path)
            now = source_in_note.locate_now(chunk, note)
            if now.state != "changed":
                news = f"The note {chunk.relative_path} is gone; these words stand in {path} now."
                return _Standing(path, now.first, now.last, note, news)
    return None


def _uses(cited: Sequence[provenance.CitedInAnswer]) -> Iterable[StyledLine]:
    if not cited:
        yield styled_line("No answer cites it.", "dim")
    for each in cited:
        came_to = status(each.citation)
        mark, style = MARKS[came_to]
        quote = f"“{truncate(each.citation.quote, 80)}”" if each.citation.quote else ""
        said = {
            "verified": f"its quotation stands here: {quote}",
            "cited": "without a quotation",
            "misquoted": f"the quoted words are not here: {quote}",
            "missing": "but it was not in that prompt",
        }[came_to]
        yield StyledLine((StyledSpan(mark, style), StyledSpan(f" cited in turn {each.turn}, {said}")), indent=2)


def _numbers(session: ZkChatSession) -> list[str]:
    return [str(chunk.number) for chunk in session.references.chunks]


COMMAND = SlashCommand("sources", "what the last answer rests on; N shows that excerpt and its quotes", _run, "[N]", _numbers)
