"""The note and the lines that a wikilink points to."""

from zkchat_cli.errors import VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, text
from zkchat_cli.vault.vault import Vault

MAX_SHOWN = 200


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    link = vault.resolve(arguments["wikilink"])
    data: dict[str, object] = {"wikilink": truncate(arguments["wikilink"], MAX_SHOWN), "path": link.target}
    if link.target is None:
        return ToolOutput(data={**data, "nearest": list(link.candidates)}, outcome="no such note")
    data |= {"heading": link.heading and truncate(link.heading, MAX_SHOWN), "status": link.status}
    if link.status == "ambiguous":
        data["others"] = list(link.candidates)
    note = ""
    if link.heading:
        try:
            data["lines"] = "-".join(map(str, vault.section(link.target, link.heading)))
        except VaultError as e:  # the note exists, so a missing heading is not a wrong call
            data["lines"], note = None, f"{e.message}. {e.hint}"
    return ToolOutput(data=data, note=note, outcome=link.target)


TOOL = Tool(
    name="resolve_wikilink",
    description="The path and lines that a [[wikilink]] points to, or the nearest notes when it is broken.",
    parameters={"wikilink": text("as [[Note]] or Note#Heading")},
    required=("wikilink",),
    run=_run,
)
