"""Say which note a wikilink points to."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.tools import Finding, Tool
from zkchat_cli.vault import Vault


def _run(arguments: Mapping[str, Any], vault: Vault) -> Finding:
    target = arguments["wikilink"].strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    link = vault.resolve(target.partition("|")[0])
    if link.target is None:
        return Finding(data={"wikilink": arguments["wikilink"], "path": None, "nearest": list(link.candidates)})
    return Finding(data={"wikilink": arguments["wikilink"], "path": link.target, "heading": link.heading, "status": link.status})


TOOL = Tool(
    name="resolve_wikilink",
    description="The path of the note that a [[wikilink]] points to, or the nearest names when it is broken.",
    parameters={"wikilink": {"type": "string", "description": "the link, as [[Note]] or Note#Heading"}},
    required=("wikilink",),
    run=_run,
)
