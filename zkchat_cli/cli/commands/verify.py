"""Verify the quotations of a text against the notes."""

from typing import Annotated

from typer import Argument, Exit, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, read_input
from zkchat_cli.errors import UsageError

ORDER = 60
COMMAND = command_group()
MAX_BYTES = 10_000_000
# Exit code if a quotation does not hold
NOT_VERIFIED = 1


@command(
    COMMAND,
    *options.NOTES,
    examples=[
        "zkchat verify draft.md",
        "zkchat verify draft.md --stamp",
        'zkchat ask "what is a note?" | zkchat verify -',
    ],
)
def verify(
    ctx: CommandContext,
    file: Annotated[
        str, Argument(metavar="FILE|-", help="A text with quotations, or - for standard input.")
    ],
    strict: Annotated[
        bool, Option("--strict", help="Also check a few words without a source that no note has.")
    ] = False,
    stamp: Annotated[
        bool,
        Option(
            "--stamp", help="Write into this note that its quotations are verified, if all are."
        ),
    ] = False,
    undo: Annotated[
        bool, Option("--undo", help="Take the last --stamp of this note back.")
    ] = False,
) -> None:
    """Verify the quotations of a text: exit code 1 if one is not what a note says.

    The text may be an answer of another program, a draft or a paper. Each quotation gets its
    verdict (✓ ✂ ✗), note, heading and line; a misquoted one also the nearest wording, with the
    differences marked. A [[link]], path:line, or [n] with a footnote or a list at the end of the
    text names the source; without one, all notes are searched. Fewer than three words without a
    source, code, and names of notes are not quotations. Nor are words that no note has, if fewer
    than five of them say something and no source is named with them, unless with --strict.
    Beside the verdict it says if a note is stale, or has changed since it was verified.
    """
    from zkchat_cli.cli import note_verification

    if undo:
        if stamp or strict:
            raise UsageError("--undo cannot be combined with another option", "Give it alone.")
        note_verification.undo_stamp(ctx, file)
        return
    data = read_input(file, MAX_BYTES, "a text file")
    with ctx.indexed_vault() as (vault, _):
        own_path = note_verification.note_path(vault, file) if stamp else None
        checked = note_verification.check_note(vault, data, strict=strict)
        written = None
        if own_path is not None and checked.may_be_stamped:
            written = note_verification.write_stamp(vault, own_path, data, checked)
        lines = [*note_verification.checked_lines(checked, vault, own_path, written)]
        document = note_verification.checked_document(checked, written)
    ctx.print_result(document, lines, "The text has no quotations.")
    if not checked.holds or (stamp and written is None):
        raise Exit(NOT_VERIFIED)
