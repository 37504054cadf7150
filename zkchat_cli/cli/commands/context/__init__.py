"""See, shrink, export and import what the model sees."""

from zkchat_cli.cli import command
from zkchat_cli.cli.commands.context import compact, export_import, show

COMMAND = command.app(
    "What the model sees: the exact prompt, its figures, its summaries; out to a file and in again.",
    show.ROOM,
    compact.ROOM,
    export_import.ROOM,
)
