"""Show, compact, export and import what the model sees."""

from zkchat_cli.cli.command import command_group
from zkchat_cli.cli.commands.context import compact, export_import, show

COMMAND = command_group(
    "What the model sees: the exact prompt, its token usage and summaries; compact, export and import.",
    show.COMMANDS,
    compact.COMMANDS,
    export_import.COMMANDS,
)
