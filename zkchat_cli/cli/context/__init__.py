"""See, shrink, export and import what the model sees."""

from zkchat_cli import cli
from zkchat_cli.cli.context import carrying, looking, shrinking

COMMAND = cli.app(
    "What the model sees: the exact prompt, its figures, its summaries; out to a file and in again.",
    looking.ROOM,
    shrinking.ROOM,
    carrying.ROOM,
)
