"""Finds the note that a link means."""

from typing import Annotated

from zkchat_cli.errors import VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def resolve_wikilink(
    vault: Vault, wikilink: Annotated[str, "as [[Note]] or Note#Heading"]
) -> ToolOutput:
    """The path and lines that a [[wikilink]] points to, or the nearest notes when it is broken."""
    link = vault.resolve(wikilink)
    data: dict[str, object] = {"wikilink": truncate(wikilink, MAX_SHOWN), "path": link.target}
    if link.target is None:
        data["nearest"] = list(link.candidates)
        return ToolOutput(data=data, outcome="no such note")
    data["heading"] = truncate(link.heading, MAX_SHOWN) if link.heading else link.heading
    data["status"] = link.status
    if link.status == "ambiguous":
        data["others"] = list(link.candidates)
    note = ""
    if link.heading:
        try:
            first, last = vault.reader.section(link.target, link.heading)
            data["lines"] = f"{first}-{last}"
        except VaultError as e:
            # The note exists, so a missing heading is not a wrong call
            data["lines"] = None
            note = f"{e.message}. {e.hint}"
    return ToolOutput(data=data, note=note, outcome=link.target)


TOOL = declare_tool(resolve_wikilink, core=True)
