"""`context`: the body of the next model call's request, as the model's server would get it.

It can be sent by other programs (`curl --data @FILE`). API keys are in headers, so they are not
part of it.
"""

import json
from typing import Any

from zkchat_cli.exporters.base import Exporter


def export(request: dict[str, Any]) -> str:
    """The request as indented JSON."""
    return json.dumps(request, indent=2, ensure_ascii=False) + "\n"


EXPORTER = Exporter(suffix=".context.json", export=export, of="call")
