"""`context`: what the next model call would send, messages and tools, in the language of the model's server.

It is the body of the request, so that it can be sent by other means (`curl --data @FILE`); keys travel in headers, and are not in it.
"""

import json
from typing import Any

from zkchat_cli.exporters.base import Exporter


def export(request: dict[str, Any]) -> str:
    return json.dumps(request, indent=2, ensure_ascii=False) + "\n"


EXPORTER = Exporter(
    name="context", suffix=".context.json", help="the next call's request, as the model's server would get it", export=export, of="call"
)
