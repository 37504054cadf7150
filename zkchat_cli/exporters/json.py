"""`json`: the whole conversation, every branch and summary, without loss; `context import` reads it again."""

import json

from zkchat_cli.exporters import Exporter
from zkchat_cli.models import ConversationArchive


def export(archive: ConversationArchive) -> str:
    return json.dumps(archive.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


EXPORTER = Exporter(name="json", suffix=".json", help="everything, lossless; can be imported again", export=export)
