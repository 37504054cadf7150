"""`json`: the whole conversation without loss: every branch, summary and past prompt. The command
`context import` reads it again.
"""

from zkchat_cli.exporters.base import Exporter
from zkchat_cli.models.archive import ConversationArchive


def export(archive: ConversationArchive) -> str:
    """The archive as indented JSON."""
    return archive.model_dump_json(indent=2) + "\n"


EXPORTER = Exporter(suffix=".json", export=export, prompts=True)
