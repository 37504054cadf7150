"""Index the notes, search them, and see how links join them and which answers used them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from zkchat_cli import cli, conversations, wiring
from zkchat_cli.config import environment
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.models import ContentChunk, IndexReport, LinkResolution, Mention, MentionKind
from zkchat_cli.terminal.mending import mend, somebody
from zkchat_cli.terminal.safe import neutralise_name
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.tools import counted
from zkchat_cli.vault import LinkRow, Vault
from zkchat_cli.wiring import Bench, Choices

COMMAND = cli.app("The notes: index, search, links.")

LimitOption = Annotated[int, typer.Option("-k", "--limit", metavar="N", min=1, max=1000, help="How many results.")]
NoteArgument = Annotated[str, typer.Argument(metavar="NOTE", help="Path or name of a note.")]
_HOW: dict[MentionKind, str] = {
    "named": "named by you",
    "import": "imported",
    "link": "linked from a note you named",
    "memory": "from memory",
    "found": "found",
    "cited": "cited",
}


@contextmanager
def _indexed(choices: Choices, screen: Screen, *, full: bool = False) -> Iterator[tuple[Vault, IndexReport]]:
    with cli.opened_vault(choices) as vault:
        with screen.progress_bar("Indexing") as progress:
            report = vault.refresh(full=full, progress=progress)
        _tell_rebuilt(report, screen)
        yield vault, report


def _tell_rebuilt(report: IndexReport, screen: Screen) -> None:
    if report.rebuilt:
        screen.warn(f"the index was rebuilt: {report.rebuilt}")


@COMMAND.command()
def index(
    full: Annotated[bool, typer.Option("--full", help="Build the index anew.")] = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Bring the index up to date, and the vectors, if notes are searched by meaning."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen, full=full) as (notes, report):
        with screen.progress_bar("Embedding") as progress:
            notes.embed(progress, verify=full)
        now = notes.status()
        _print_report(screen, report.model_copy(update={"semantic": now.semantic, "vectors": now.vectors}), as_json=as_json)
        _warn(screen, notes)


@COMMAND.command()
def status(
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """What the index holds, and which notes gave trouble."""
    screen = Screen.of()
    with cli.opened_vault(Choices(vault, config_file=config)) as notes:
        report = notes.status() if notes.indexed else notes.refresh()
        _tell_rebuilt(report, screen)
        _print_report(screen, report, as_json=as_json)
        _warn(screen, notes)


def _warn(screen: Screen, notes: Vault) -> None:
    for warning in notes.take_warnings():
        screen.warn(warning.message, warning.hint)


def _print_report(screen: Screen, report: IndexReport, *, as_json: bool) -> None:
    if as_json:
        screen.json(report)
        return
    held = (counted(report.notes, "note"), counted(report.chunks, "chunk"), counted(report.links, "link"))
    screen.print(", ".join(held) + (f", {report.broken_links} of them broken" if report.links else ""))
    if report.added or report.changed or report.removed:
        screen.print(f"{report.added} added, {report.changed} changed, {report.removed} removed in {report.seconds:.2f} s")
    if report.vectors is not None:
        screen.print(f"{report.vectors} of {report.chunks} chunks have a vector and are found by their meaning")
    for problem in report.problems:
        screen.print(f"  ! {problem}", "yellow")


@COMMAND.command(epilog=cli.examples("zkchat vault search '\"due before\" -sorting tag:project path:Archive/'"))
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or - to read one query per line.")],
    limit: LimitOption = 10,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Search the notes; best excerpts first."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        for line in _lines(query):
            found = notes.search(line, limit)
            _warn(screen, notes)
            if as_json:
                documents = [_result(chunk) for chunk in found]
                screen.json({"query": line, "results": documents} if query == "-" else documents)
                continue
            for chunk in found:
                heading, snippet = notes.snippet(chunk, line)
                where = f"{chunk.title} › {heading}" if heading and heading != chunk.title else chunk.title
                screen.print(f"{where}   {chunk.relative_path}:{snippet.line}", "bold")
                screen.print(f"  {snippet.text}")
            if not found:
                screen.remark("Nothing found: try fewer or other words.")


def _result(chunk: ContentChunk) -> dict[str, Any]:
    return chunk.model_dump(mode="json", include={"relative_path", "title", "heading", "start_line", "end_line", "score", "text"})


def _lines(argument: str) -> Iterator[str]:
    """The argument itself, or with `-` each line of standard input as it comes."""
    if argument != "-":
        yield argument
        return
    for line in cli.piped():
        yield line.rstrip("\r\n")


@COMMAND.command(epilog=cli.examples("zkchat vault resolve '[[Note#Heading]]'"))
def resolve(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text with links, or - to read one text per line.")],
    source: Annotated[str | None, typer.Option("--from", metavar="NOTE", help="Resolve as if the text stood in this note.")] = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Say where each link of a text points."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        at = _source(notes, source, screen) if source else None
        for line in _lines(text):
            links = notes.links_in(line, at)
            if as_json:
                screen.json([_link(link) for link in links])
                continue
            for link in links:
                target = link.target or f"not found{'; nearest: ' + ', '.join(link.candidates) if link.candidates else ''}"
                lost = f", {link.reason} (not {', '.join(link.candidates)})" if link.status == "ambiguous" else ""
                screen.print(f"{link.raw} → {target}{lost}")
            if not links:
                screen.remark("There is no link in it.")


def _link(link: LinkResolution) -> dict[str, Any]:
    return link.model_dump(mode="json", exclude={"text", "line"})


@COMMAND.command()
def links(
    note: NoteArgument,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The links in a note."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        at = _path(notes, note)
        _print_rows(screen, notes.links(at), f"{at} links to nothing.", as_json=as_json)


@COMMAND.command()
def backlinks(
    note: NoteArgument,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The links that point to a note."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        at = _path(notes, note)
        _print_rows(screen, notes.backlinks(at), f"Nothing links to {at}.", as_json=as_json)


@COMMAND.command()
def mentions(
    note: NoteArgument,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The conversations and answers that used a note, the newest first."""
    screen = Screen.of()
    with cli.opened(Choices(vault, config_file=config)) as bench:
        bench.vault.refresh()
        found = _mentions(bench, note)
    if as_json:
        screen.json([mention.model_dump(mode="json") for mention in found])
        return
    conversation = None
    for mention in found:
        if mention.conversation_id != conversation:
            conversation = mention.conversation_id
            screen.print(neutralise_name(f"{conversation}  {mention.title or 'untitled'}"), "bold")
        asked = f"  {mention.question}" if mention.question else ""
        screen.print(neutralise_name(f"  {conversations.day(mention.timestamp)}{asked}"))
        screen.print(f"      {_used(mention)}", "dim")
    if not found:
        screen.remark("No answer has used this note.")


def _mentions(bench: Bench, note: str) -> tuple[Mention, ...]:
    """Of a note that is gone the path is enough, if an answer has used it."""
    root = str(bench.vault.root)
    try:
        path = _path(bench.vault, note)
    except VaultError:
        if found := bench.store.mentions(root, note):
            return found
        raise
    return bench.store.mentions(root, path)


def _used(mention: Mention) -> str:
    how = ", ".join(_HOW[kind] for kind in mention.how)
    numbers = f" {' '.join(f'[{number}]' for number in mention.numbers)}" if mention.numbers else ""
    held = f", {mention.held} of {mention.citations} citation{'s' if mention.citations > 1 else ''} held" if mention.citations else ""
    return f"{how}{numbers}{held}"


@COMMAND.command()
def broken(
    headings: Annotated[bool, typer.Option("--headings", help="Also links to headings and blocks that their notes do not have.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Show how links that surely meant a note would be mended, and ask.")] = False,
    unsure: Annotated[bool, typer.Option("--unsure", help="With --fix: the others too, with the nearest name.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: mend them without asking.")] = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The links that lead nowhere, and what they may have meant."""
    screen = Screen.of()
    if fix:
        choices = Choices(vault, config_file=config)
        git = wiring.settings(choices, environment(), Path.cwd()).values.vault.git
        with _indexed(choices, screen) as (notes, _):
            mend(notes, screen, git=git, unsure=unsure, yes=yes, as_json=as_json, says=somebody(screen))
        return
    if yes or unsure:
        raise UsageError(f"{'--yes' if yes else '--unsure'} goes with --fix", "zkchat vault broken --fix shows what would be mended.")
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        found = notes.broken_links()
        links = [*found.links, *(notes.broken_headings() if headings else ())]
    if as_json:
        screen.json([{**_row(link.row), "candidates": list(link.candidates)} for link in links])
    for link in [] if as_json else links:
        near = f"   nearest: {', '.join(link.candidates)}" if link.candidates else ""
        screen.print(f"{link.row.source}:{link.row.line}  {link.row.raw}{near}")
    if not as_json:
        screen.remark(counted(len(links), "broken link") if links else "No broken links.")
    if found.looked_up < found.names:
        hint = "zkchat vault resolve '[[NAME]]' looks for those of any other"
        screen.warn(f"nearest notes are given for the first {found.looked_up} of {found.names} names", hint)


@COMMAND.command()
def orphans(
    linking: Annotated[bool, typer.Option("--linking", help="Also notes that link to others, if nothing links to them.")] = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The notes that neither link to others nor are linked to."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        found = notes.orphans(linking=linking)
    if as_json:
        screen.json([{"relative_path": path} for path in found])
        return
    for path in found:
        screen.print(path)
    screen.remark(counted(len(found), "note") if found else "No note stands alone.")


@COMMAND.command()
def hubs(
    limit: LimitOption = 10,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The notes that most others link to."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        found = notes.hubs(limit)
    if as_json:
        screen.json([{"relative_path": hub.path, "linked_from": hub.linked_from, "links_to": hub.links_to} for hub in found])
        return
    for hub in found:
        screen.print(f"{hub.linked_from:>5} in {hub.links_to:>5} out   {hub.path}")
    if not found:
        screen.remark("No note links to another.")


@COMMAND.command()
def path(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Path or name of a note.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Path or name of the other.")],
    directed: Annotated[bool, typer.Option("--directed", help="Follow links only the way they point.")] = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The shortest way over links from one note to another."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        ends = _path(notes, source), _path(notes, target)
        found = notes.shortest_path(*ends, directed=directed)
    if as_json:
        steps = found and [_row(link) for link in found.links]
        screen.json({"source": ends[0], "target": ends[1], "notes": found and found.notes, "links": steps})
        return
    if found is None:
        screen.remark(f"No links lead from {ends[0]} to {ends[1]}.")
        return
    screen.print(found.notes[0])
    for here, link, there in zip(found.notes, found.links, found.notes[1:], strict=False):
        screen.print(f"  {'→' if link.source == here else '←'} {there}   {link.raw} in {link.source}:{link.line}")


@COMMAND.command()
def neighbours(
    note: NoteArgument,
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=1, max=100, help="How many links away.")] = 1,
    limit: Annotated[int, typer.Option("-k", "--limit", metavar="N", min=1, help="How many results.")] = 1000,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The notes around a note, nearest first."""
    screen = Screen.of()
    with _indexed(Choices(vault, config_file=config), screen) as (notes, _):
        found = notes.neighbours(_path(notes, note), depth, limit=limit + 1)
    if as_json:
        screen.json([{"relative_path": near.path, "distance": near.distance} for near in found[:limit]])
    for near in [] if as_json else found[:limit]:
        screen.print(f"{near.distance:>3}  {near.path}")
    if not as_json and not found:
        screen.remark("No links join it with another note.")
    if len(found) > limit:
        screen.warn(f"these are the nearest {limit}, there are more", "-k N shows N")


def _source(notes: Vault, note: str, screen: Screen) -> str:
    """The note that a path or a name means; where there is none, the path of one that could be."""
    source = notes.path_of(note) or notes.resolve(note).target
    if source is None:
        screen.warn(f"there is no note {note}", "links are resolved as if there were")
    return source or note


def _path(notes: Vault, note: str) -> str:
    """The note that a path or a name means. Raises VaultError that names the nearest ones."""
    if path := notes.path_of(note):
        return path
    link = notes.resolve(note.strip().removeprefix("[[").removesuffix("]]"))
    if link.target is None:
        near = ", ".join(link.candidates)
        raise VaultError(f"there is no note {note}", f"Nearest: {near}" if near else "zkchat vault search finds notes by their words.")
    return link.target


def _print_rows(screen: Screen, rows: Sequence[LinkRow], none: str, *, as_json: bool) -> None:
    if as_json:
        screen.json([_row(row) for row in rows])
        return
    for row in rows:
        screen.print(f"{row.source}:{row.line}  {row.raw} → {row.target or 'not found'}")
    if not rows:
        screen.remark(none)


def _row(row: LinkRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("source", "target", "raw", "line", "context_snippet")}
