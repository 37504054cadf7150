"""See, shrink, export and import what the model sees."""

from zkchat_cli.cli.command import command_group
from zkchat_cli.cli.commands.context import compact, export_import, show

COMMAND = command_group(
    "What the model sees: the exact prompt, its figures, its summaries; out to a file and in again.",
    show.COMMANDS,
    compact.COMMANDS,
    export_import.COMMANDS,
)
