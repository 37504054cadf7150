"""`json`: the whole conversation, every branch and summary, without loss; `context import` reads it again."""

import json

from zkchat_cli.exporters import Exporter
from zkchat_cli.models import ConversationArchive


def export(archive: ConversationArchive) -> str:
    try:
        return archive.model_dump_json(indent=2) + "\n"  # a fifth of the time that Python's own encoder takes to indent
    except ValueError:  # a lone surrogate, which no UTF-8 holds; what comes out of a store has none
        return json.dumps(archive.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


EXPORTER = Exporter(name="json", suffix=".json", help="everything, lossless; can be imported again", export=export)
