"""Where a command's document goes: to a file with `--output`, to the screen, or as it is to a
pipe.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from zkchat_cli.errors import StoreError, reason
from zkchat_cli.fileio import atomic_write

if TYPE_CHECKING:
    from zkchat_cli.cli.command import CommandContext

OutputOption = Annotated[
    Path | None,
    Option("-o", "--output", metavar="FILE", help="Write to this file, completely or not at all."),
]


def write_document(ctx: "CommandContext", text: str, output: Path | None) -> None:
    """Write a document to a file and say so; without one, to standard output: a pipe gets the text
    as it is, a terminal sanitized text. Raises StoreError if the file cannot be written.
    """
    if output is not None:
        _write_file(output, text.encode("utf-8", "backslashreplace"))
        ctx.screen.progress(f"Wrote {output}")
    elif ctx.screen.out.isatty():
        ctx.screen.write(text)
    else:
        ctx.screen.out.write(text)


def _write_file(output: Path, data: bytes) -> None:
    """Write a file completely or not at all; a pipe is simply written to. Raises StoreError."""
    try:
        target = output.expanduser().resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            atomic_write(target, data)
    except (OSError, RuntimeError, ValueError) as e:
        raise StoreError(
            f"{output} cannot be written: {reason(e)}", "Name another place with -o."
        ) from e
