"""The notes: index, search, links, and the answers that used them."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.change_recovery import settle_change, show_recovery, undo_last_change
from zkchat_cli.cli.command import CommandContext, command, command_group, read_piped
from zkchat_cli.cli.graph_output import FormatOption, NotesOption, check_format, print_graph
from zkchat_cli.cli.link_repairs import fix_links
from zkchat_cli.cli.text_output import OutputOption
from zkchat_cli.errors import UsageError, nearest_names, on_one_line
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import StyledLine, StyledSpan, describe_semantic_status, styled_line

if TYPE_CHECKING:
    from zkchat_cli.models.notes import IndexReport, LinkResolution
    from zkchat_cli.vault.index.values import LinkRow
    from zkchat_cli.vault.vault import Vault

ORDER = 50
# Notes of a graph: more are hard to read
GRAPH_NOTES = 60
COMMAND = command_group(
    """The notes: index, search, links.

`search -` and `resolve -` read one item per line from standard input, and print one JSON line each
with --json."""
)
NoteArgument = Annotated[str, Argument(metavar="NOTE", help="Path, name or title of a note.")]


@command(COMMAND, *options.NOTES)
def index(
    ctx: CommandContext,
    full: Annotated[bool, Option("--full", help="Rebuild the index.")] = False,
    semantic: Annotated[
        bool, Option("--semantic", help="Compute all vectors for search by meaning.")
    ] = False,
) -> None:
    """Update the index; the chat computes vectors in the background, `--semantic` computes all
    now.
    """
    with ctx.indexed_vault(full=full) as (notes, report):
        if semantic:
            with ctx.screen.progress_bar("Embedding") as progress:
                notes.embed(progress, all_languages=True)
        _print_report(ctx, notes, report.model_copy(update={"semantic": notes.status().semantic}))


@command(COMMAND, *options.NOTES)
def status(ctx: CommandContext) -> None:
    """What the index contains, and which notes have problems."""
    with ctx.open_vault() as notes:
        if not notes.has_index:
            notes.refresh()
        report = notes.status()
        _print_report(ctx, notes, report)
    if report.unfinished:
        ctx.screen.warn(report.unfinished)


def _print_report(ctx: CommandContext, notes: "Vault", report: "IndexReport") -> None:
    broken = f", {report.broken_links:,} of them broken" if report.links else ""
    lines = [
        f"{plural(report.notes, 'note')}, {plural(report.chunks, 'chunk')}, "
        f"{plural(report.links, 'link')}{broken}"
    ]
    if report.added or report.changed or report.removed:
        lines.append(
            f"{report.added:,} added, {report.changed:,} changed, {report.removed:,} "
            f"removed in {report.seconds:.2f} s"
        )
    if report.semantic is not None:
        lines.append(f"search by meaning: {describe_semantic_status(report.semantic)}")
    problems = [styled_line(f"  ! {problem}", "yellow") for problem in report.problems]
    ctx.print_result(report, [*map(styled_line, lines), *problems])
    ctx.print_warnings(notes)


@command(
    COMMAND,
    *options.NOTES,
    examples=["zkchat vault search '\"due before\" -sorting tag:project path:Archive/'"],
)
def search(
    ctx: CommandContext,
    query: Annotated[str, Argument(metavar="QUERY", help="A query, or - to read one per line.")],
    limit: options.LimitOption = 10,
) -> None:
    """Search the notes; best excerpts first."""
    from zkchat_cli.vault.search.search_watch import SearchWatch
    from zkchat_cli.views.sources import excerpt_lines

    with ctx.indexed_vault() as (notes, _):
        watch = SearchWatch(notes.semantic)
        if query == "-" and notes.semantic:
            notes.semantic.begin_batch()
        for line in _input_lines(query):
            found = notes.search(line, limit)
            ctx.print_warnings(notes)
            documents = [chunk.to_result() for chunk in found]
            document = {"query": line, "results": documents} if query == "-" else documents
            ctx.print_result(
                document,
                excerpt_lines(found, notes, line),
                "Nothing found. Try fewer or other words.",
            )
        unready = watch.warning()
        if unready is not None:
            ctx.screen.warn(unready.message, unready.hint)
        ctx.embed_for_a_moment(notes)


def _input_lines(argument: str) -> Iterator[str]:
    """The argument, or for `-` each line of standard input as it arrives."""
    if argument != "-":
        yield argument
        return
    while line := read_piped(sys.stdin.readline):
        yield line.rstrip("\r\n")


@command(COMMAND, *options.NOTES, examples=["zkchat vault resolve '[[Note#Heading]]'"])
def resolve(
    ctx: CommandContext,
    text: Annotated[
        str, Argument(metavar="TEXT", help="Text with links, or - to read one text per line.")
    ],
    source: Annotated[
        str | None,
        Option("--from", metavar="NOTE", help="Resolve as if the text were in this note."),
    ] = None,
) -> None:
    """Show the target of each link in a text."""
    with ctx.indexed_vault() as (notes, _):
        path = _source_path(ctx, notes, source) if source else None
        for line in _input_lines(text):
            links = notes.resolve_links(line, path)
            documents = [link.model_dump(mode="json", exclude={"text", "line"}) for link in links]
            shown = "\n".join(_resolution_text(link) for link in links)
            ctx.print_result(documents, shown, "No links in the text.")


def _source_path(ctx: CommandContext, notes: "Vault", source: str) -> str:
    """The path of the note that --from names; one that does not exist stays as it is."""
    if notes.find_file(source) is None and notes.resolve(source).target is None:
        ctx.screen.warn(f"there is no note {source}", "links are resolved as if it existed")
        return source
    return _note_path(notes, source)


def _resolution_text(link: "LinkResolution") -> str:
    """`[[Note]] → Folder/Note.md`"""
    if link.target is None:
        return on_one_line(f"{link.raw} → not found", nearest_names(link.candidates))
    if link.status == "ambiguous":
        others = ", ".join(link.candidates)
        return f"{link.raw} → {link.target}, {link.reason} (not {others})"
    return f"{link.raw} → {link.target}"


@command(
    COMMAND,
    *options.NOTES,
    examples=["zkchat vault list --tag book --property 'status: read' --newest"],
)
def list_(
    ctx: CommandContext,
    about: Annotated[
        str, Option("--about", metavar="WORDS", help="With these words, in any form; best first.")
    ] = "",
    tag: Annotated[
        str,
        Option("--tag", metavar="TAG", help="With this tag or one nested in it; -TAG: without it."),
    ] = "",
    folder: Annotated[
        str, Option("--folder", metavar="FOLDER", help="In or below this folder.")
    ] = "",
    having: Annotated[
        str,
        Option(
            "--property", metavar="NAME[: VALUE]", help='With this: "status: open", "rating: >= 4".'
        ),
    ] = "",
    target: Annotated[
        str,
        Option("--links-to", metavar="NOTE", help="With a link to this note; -NOTE: without one."),
    ] = "",
    source: Annotated[
        str,
        Option(
            "--linked-from", metavar="NOTE", help="With a link from this note; -: without any link."
        ),
    ] = "",
    since: Annotated[
        str, Option("--since", metavar="DATE", help='From this date: 2024-05-01, "last week".')
    ] = "",
    until: Annotated[str, Option("--until", metavar="DATE", help="Up to this date.")] = "",
    newest: Annotated[bool, Option("--newest", help="The latest first, not by path.")] = False,
    oldest: Annotated[bool, Option("--oldest", help="The earliest first.")] = False,
    limit: options.LimitOption = 1000,
) -> None:
    """List the notes by path, with their dates and tags."""
    from zkchat_cli.vault.catalog import NoteSelection

    with ctx.indexed_vault() as (notes, _):
        name = target.removeprefix("-")
        linked = _note_path(notes, name) if name else ""
        is_without_link = target.startswith("-")
        linking = _note_path(notes, source) if source.strip("-") else ""
        wanted = NoteSelection(
            folder=folder,
            tag=tag,
            since=since,
            until=until,
            about=about,
            property=having,
            links_to="" if is_without_link else linked,
            newest=newest,
            lacks_links_to=linked if is_without_link else None,
            oldest=oldest,
            linked_from=linking if source else None,
        )
        found = notes.catalog.list_notes(wanted)[:limit]
    lines = []
    for note in found:
        tags = "".join(f" #{each}" for each in note.tags)
        path = StyledSpan(note.path, "cyan", note.path)
        lines.append(StyledLine((path,), (StyledSpan(f"{note.day}{tags}", "dim"),)))
    documents = [
        {"relative_path": note.path, "title": note.title, "tags": note.tags, "date": note.day}
        for note in found
    ]
    ctx.print_result(documents, lines, "No note matches.")


@command(COMMAND, *options.NOTES)
def links(ctx: CommandContext, note: NoteArgument) -> None:
    """The links in a note."""
    with ctx.indexed_vault() as (notes, _):
        path = _note_path(notes, note)
        _print_links(ctx, notes.graph.links(path), f"{path} has no links.")


@command(COMMAND, *options.NOTES)
def backlinks(ctx: CommandContext, note: NoteArgument) -> None:
    """The links that point to a note."""
    with ctx.indexed_vault() as (notes, _):
        path = _note_path(notes, note)
        _print_links(ctx, notes.graph.backlinks(path), f"Nothing links to {path}.")


@command(COMMAND, *options.NOTES, examples=["zkchat vault graph Garden -o garden.html"])
def graph(
    ctx: CommandContext,
    note: NoteArgument,
    format_: FormatOption = None,
    output: OutputOption = None,
    limit: NotesOption = GRAPH_NOTES,
    depth: Annotated[
        int, Option("--depth", metavar="N", min=0, max=10, help="Notes up to N links away.")
    ] = 1,
) -> None:
    """Draw the notes that are linked with a note, in either direction."""
    from zkchat_cli.references.reference_graph import note_graph

    check_format(format_)
    with ctx.indexed_vault() as (notes, _):
        path = _note_path(notes, note)
        drawn = note_graph(notes.graph, path, depth, limit)
    print_graph(ctx, drawn, format_, output)


@command(COMMAND, *options.NOTES)
def mentions(
    ctx: CommandContext,
    top: Annotated[  # noqa: ARG001
        bool, Option("--top", help="The only list so far, so it may be left out.")
    ] = True,
    limit: options.LimitOption = 20,
) -> None:
    """The notes that answers used most, over all conversations."""
    with ctx.open_app() as app:
        used = app.store.facts.most_used_notes(str(app.vault.root), limit)
    lines = []
    for each in used:
        counts = (
            f"{plural(each.answers, 'answer')}, {plural(each.citations, 'citation')}, "
            f"{plural(each.conversations, 'conversation')}"
        )
        path = StyledSpan(each.relative_path, "cyan", each.relative_path)
        deleted = "" if os.path.lexists(app.vault.root / each.relative_path) else "  deleted since"
        lines.append(
            StyledLine(
                (path, StyledSpan(deleted, "yellow")),
                (StyledSpan(f"{counts}, last on {each.last_used[:10]}", "dim"),),
            )
        )
    ctx.print_result(used, lines, "No answer has used a note.")


@command(COMMAND, *options.NOTES, examples=["zkchat vault broken --fix"])
def broken(
    ctx: CommandContext,
    fix: Annotated[
        bool, Option("--fix", help="Show repairs for links with one possible target, and ask.")
    ] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="With --fix: repair without asking.")] = False,
) -> None:
    """Links without a target, and the nearest names."""
    with ctx.indexed_vault() as (notes, _):
        if fix or yes:
            fix_links(ctx, notes, yes=yes)
            return
        links = notes.graph.broken_links()
    lines = []
    for link in links:
        nearest = nearest_names(link.candidates)
        line = f"{link.row.source}:{link.row.line}  {link.row.raw}   {nearest}"
        lines.append(line.rstrip())
    documents = [{**link.row._asdict(), "candidates": list(link.candidates)} for link in links]
    ctx.print_result(documents, "\n".join(lines), "No broken links.")


@command(COMMAND, *options.NOTES, examples=["zkchat vault recover --undo"])
def recover(
    ctx: CommandContext,
    finish: Annotated[bool, Option("--finish", help="Show what is left, and make it.")] = False,
    undo: Annotated[bool, Option("--undo", help="Show what was made, and take it back.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do it without asking.")] = False,
) -> None:
    """A change of notes that another zkchat did not finish.

    A rename that is killed is finished by the next zkchat of the same user. Everybody else can
    finish it, or take it back, with this command.
    """
    if finish and undo:
        raise UsageError("--finish and --undo contradict each other", "Give one of them.")
    with ctx.open_vault() as notes:
        if finish or undo:
            settle_change(ctx, notes, undo=undo, yes=yes)
        else:
            show_recovery(ctx, notes)


@command(COMMAND, *options.NOTES, examples=["zkchat vault undo"])
def undo(
    ctx: CommandContext,
    yes: Annotated[bool, Option("--yes", "-y", help="Do it without asking.")] = False,
) -> None:
    """Take back the last change of notes that zkchat made for you.

    All changes of one turn of a chat are taken back together. A note that was edited since keeps
    its text. Called again, it takes back the change before.
    """
    with ctx.open_vault() as notes:
        undo_last_change(ctx, notes, yes=yes)


def _note_path(notes: "Vault", note: str) -> str:
    """The path of a note named by its path, name, title or link. Raises VaultError for none and for
    several.
    """
    return notes.find_file(note) or notes.locate(note).path


def _print_links(ctx: CommandContext, links: "Sequence[LinkRow]", none: str) -> None:
    lines: list[str] = []
    for each in links:
        target = each.target or "not found"
        lines.append(f"{each.source}:{each.line}  {each.raw} → {target}")
    ctx.print_result([each._asdict() for each in links], "\n".join(lines), none)
