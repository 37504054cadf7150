"""The options of commands that draw a graph, and how they print it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from zkchat_cli.cli.text_output import write_document

if TYPE_CHECKING:
    from zkchat_cli.cli.command import CommandContext
    from zkchat_cli.references.reference_graph import ReferenceGraph

DEFAULT_FORMAT = "mermaid"
# Files in which Mermaid is a block of code
NOTE_SUFFIXES = (".md", ".markdown")
_FORMAT_OF_SUFFIX = {".dot": "dot", ".gv": "dot", ".html": "html", ".htm": "html", ".json": "json"}


def complete_formats() -> list[str]:
    """The names of the formats."""
    from zkchat_cli.views import graph_formats

    return graph_formats.names()


FormatOption = Annotated[
    str | None,
    Option(
        "--format",
        metavar="F",
        help="mermaid, dot, html or json; left out: as the name of --output says, else mermaid.",
        autocompletion=complete_formats,
    ),
]
NotesOption = Annotated[
    int, Option("-n", "--limit", metavar="N", min=1, max=1000, help="At most N notes.")
]


def check_format(name: str | None) -> None:
    """Raise UsageError for a format that does not exist, before the work is done."""
    from zkchat_cli.views import graph_formats

    if name is not None:
        graph_formats.graph_format(name)


def print_graph(
    ctx: "CommandContext", graph: "ReferenceGraph", format_: str | None, output: Path | None
) -> None:
    """Draw a graph in this format, and say what it leaves out. Raises UsageError for an unknown
    format.
    """
    from zkchat_cli.views import graph_formats
    from zkchat_cli.views.graph_formats.base import describe_omissions

    chosen = format_ or DEFAULT_FORMAT
    if output is not None and format_ is None:
        chosen = _FORMAT_OF_SUFFIX.get(output.suffix.lower(), DEFAULT_FORMAT)
    if ctx.as_json:
        chosen = "json"
    text = graph_formats.graph_format(chosen)(graph)
    if chosen == "mermaid" and output is not None and output.suffix.lower() in NOTE_SUFFIXES:
        text = f"```mermaid\n{text}```\n"
    write_document(ctx, text, output)
    omitted = describe_omissions(graph)
    if omitted:
        ctx.screen.remark(f"{omitted}; --limit draws more.")
