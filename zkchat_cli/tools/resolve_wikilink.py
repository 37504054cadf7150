"""Say which note a wikilink points to."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools import Finding, Tool
from zkchat_cli.vault import Vault
from zkchat_cli.words import shorten

LONGEST_SHOWN = 200


def _run(arguments: Mapping[str, Any], vault: Vault) -> Finding:
    link = vault.resolve(arguments["wikilink"])
    asked = shorten(arguments["wikilink"], LONGEST_SHOWN)
    if link.target is None:
        return Finding(data={"wikilink": asked, "path": None, "nearest": list(link.candidates)})
    heading = link.heading and shorten(link.heading, LONGEST_SHOWN)
    return Finding(data={"wikilink": asked, "path": link.target, "heading": heading, "status": link.status})


TOOL = Tool(
    name="resolve_wikilink",
    description="The path of the note that a [[wikilink]] points to, or the nearest names when it is broken.",
    parameters={"wikilink": {"type": "string", "description": "the link, as [[Note]] or Note#Heading"}},
    required=("wikilink",),
    run=_run,
)
