"""Follow the links between notes."""

from typing import Annotated

from zkchat_cli.errors import VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, Note, ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault

MOST_BACKLINKS = 20
MOST_LINKS = 50


def find_backlinks(
    vault: Vault,
    relative_path: Note,
    offset: Annotated[int, f"links to skip; {MOST_BACKLINKS} come at a time"] = 0,
) -> ToolOutput:
    """The lines in other notes that link to a note, as excerpts."""
    path, _ = vault.locate(relative_path)
    rows = vault.backlinks(path)
    after = max(0, offset) + MOST_BACKLINKS
    shown = rows[max(0, offset) : after]
    note = f"{len(rows) - after} more: ask again with offset={after}." if after < len(rows) else ""
    data = {"path": path, "backlinks": len(rows)}
    return ToolOutput(
        vault.link_lines(shown), data, note if shown else "No other note links to it."
    )


def find_forward_links(vault: Vault, relative_path: Note) -> ToolOutput:
    """The links in a note: where each leads (null if broken), and their lines as excerpts."""
    path, _ = vault.locate(relative_path)
    rows = vault.links(path)
    shown = rows[:MOST_LINKS]
    note = (
        f"{len(rows) - MOST_LINKS} more: read {path} from start_line={shown[-1].line}."
        if len(rows) > MOST_LINKS
        else ""
    )
    links = [
        {"link": truncate(row.raw, MAX_SHOWN), "line": row.line, "path": row.target}
        for row in shown
    ]
    data = {"path": path, "count": len(rows), "links": links}
    return ToolOutput(vault.link_lines(shown), data, note if rows else "It links to nothing.")


def find_link_path(vault: Vault, source: Note, target: Note) -> ToolOutput:
    """How two notes are connected: the shortest way over links, with the linking lines as
    excerpts.
    """
    start = vault.locate(source)[0]
    end = vault.locate(target)[0]
    found = vault.shortest_path(start, end)
    if found is None:
        data = {"source": start, "target": end, "path": None}
        return ToolOutput(
            data=data, note="No path of links connects them.", outcome="not connected by links"
        )
    notes, links = found
    return ToolOutput(vault.link_lines(links), {"path": notes})


def resolve_wikilink(
    vault: Vault, wikilink: Annotated[str, "as [[Note]] or Note#Heading"]
) -> ToolOutput:
    """The path and lines that a [[wikilink]] points to, or the nearest notes when it is broken."""
    link = vault.resolve(wikilink)
    data: dict[str, object] = {"wikilink": truncate(wikilink, MAX_SHOWN), "path": link.target}
    if link.target is None:
        return ToolOutput(data={**data, "nearest": list(link.candidates)}, outcome="no such note")
    data |= {"heading": link.heading and truncate(link.heading, MAX_SHOWN), "status": link.status}
    if link.status == "ambiguous":
        data["others"] = list(link.candidates)
    note = ""
    if link.heading:
        try:
            data["lines"] = "-".join(map(str, vault.section(link.target, link.heading)))
        except VaultError as e:
            # The note exists, so a missing heading is not a wrong call
            data["lines"], note = None, f"{e.message}. {e.hint}"
    return ToolOutput(data=data, note=note, outcome=link.target)


TOOLS = [
    declare_tool(tool)
    for tool in (find_backlinks, find_forward_links, find_link_path, resolve_wikilink)
]
