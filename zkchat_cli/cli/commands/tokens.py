"""Count the tokens of a text."""

from typing import Annotated

from typer import Argument, Option

from zkchat_cli.cli.command import CommandContext, command, command_group, read_input
from zkchat_cli.errors import UsageError
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tokens.encodings import ENCODINGS

ORDER = 150
COMMAND = command_group()
MAX_BYTES = 100_000_000


@command(COMMAND, "as_json", examples=["zkchat tokens note.md", "git diff | zkchat tokens"])
def tokens(
    ctx: CommandContext,
    file: Annotated[
        str, Argument(metavar="[FILE|-]", help="A text file, or - for standard input.")
    ] = "-",
    encoding: Annotated[
        str, Option("--encoding", metavar="E", help=f"{' or '.join(ENCODINGS)}.")
    ] = ENCODINGS[0],
) -> None:
    """Count the tokens of a text."""
    if encoding not in ENCODINGS:
        raise UsageError(f"unknown encoding {encoding}", f"Choose {' or '.join(ENCODINGS)}.")
    text = read_input(file, MAX_BYTES, "a text file").decode("utf-8", "replace")
    counter = TokenCounter(encoding)
    count = counter.count(text)
    ctx.warn_about_estimates(counter)
    document = {
        "tokens": count,
        "encoding": encoding,
        "estimated": counter.estimated,
        "characters": len(text),
    }
    ctx.print_result(document, f"{'~' if counter.estimated else ''}{count}")
