"""Verify the quotations of a text against the notes."""

from typing import Annotated

from typer import Argument, Exit, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, read_input

ORDER = 60
COMMAND = command_group()
MAX_BYTES = 10_000_000
# Exit code if a quotation does not hold
NOT_VERIFIED = 1


@command(
    COMMAND,
    *options.NOTES,
    examples=["zkchat verify draft.md", 'zkchat ask "what is a note?" | zkchat verify -'],
)
def verify(
    ctx: CommandContext,
    file: Annotated[
        str, Argument(metavar="FILE|-", help="A text with quotations, or - for standard input.")
    ],
    strict: Annotated[
        bool, Option("--strict", help="Also check a few words without a source that no note has.")
    ] = False,
) -> None:
    """Verify the quotations of a text: exit code 1 if one is not what a note says.

    The text may be an answer of another program, a draft or a paper. Each quotation gets its
    verdict (✓ ✂ ✗), note, heading and line; a misquoted one also the nearest wording, with the
    differences marked. A [[link]], path:line, or [n] with a footnote or a list at the end of the
    text names the source; without one, all notes are searched. Fewer than three words without a
    source, code, and names of notes are not quotations. Nor are words that no note has, if fewer
    than five of them say something and no source is named with them, unless with --strict.
    """
    from zkchat_cli.citations.verify_text import verify_text
    from zkchat_cli.views.quotations import quotation_lines

    text = read_input(file, MAX_BYTES, "a text file").decode("utf-8", "replace")
    with ctx.indexed_vault() as (vault, _):
        quotations = verify_text(text, vault, strict=strict)
        lines = [*quotation_lines(quotations, vault.link_name)] if quotations else []
    holds = all(each.found.verdict == "verified" for each in quotations)
    document = {"quotations": [each.document() for each in quotations], "ok": holds}
    ctx.print_result(document, lines, "The text has no quotations.")
    if not holds:
        raise Exit(NOT_VERIFIED)
