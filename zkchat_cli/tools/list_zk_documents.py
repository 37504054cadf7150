"""List the notes of a folder, with a tag or with a date, by path."""

from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import Arguments, Tool, ToolOutput, clamp_limit, clamp_position, join_notes, number, plural, text
from zkchat_cli.vault.listing import NoteEntry
from zkchat_cli.vault.vault import Vault

DEFAULT_LIMIT, MOST = 30, 100
MAX_SHOWN = 200
MAX_TAGS = 10


def _run(arguments: Arguments, vault: Vault) -> ToolOutput:
    limit, clamped = clamp_limit(arguments, DEFAULT_LIMIT, MOST)
    first = max(0, clamp_position(arguments, "offset", 0))
    found = vault.list_notes(*(arguments.get(name, "") for name in ("folder", "tag", "since", "until")))
    shown = found[first : first + limit]
    after = first + len(shown)
    more = f"{len(found) - after} more: ask again with offset={after}, a folder or a tag." if shown and after < len(found) else ""
    none = "" if shown else f"None from offset {first} on." if found else "No such note."
    return ToolOutput(
        data={"total": len(found), "documents": [_describe_note(entry) for entry in shown]},
        note=join_notes(clamped, more, none),
        outcome=f"{len(shown)} of {plural(len(found), 'note')}",
    )


def _describe_note(entry: NoteEntry) -> dict[str, object]:
    """A note in few tokens; without its title if the path says it."""
    described: dict[str, object] = {"path": entry.path}
    if entry.title != entry.path.rpartition("/")[2].rpartition(".")[0]:
        described["title"] = truncate(entry.title, MAX_SHOWN)
    if entry.tags:
        described["tags"] = [truncate(tag, MAX_SHOWN) for tag in entry.tags[:MAX_TAGS]]
    return described


TOOL = Tool(
    name="list_zk_documents",
    description="List notes: paths, titles, tags.",
    parameters={
        "folder": text("only in or below this folder"),
        "tag": text("only with this tag or one nested in it"),
        "since": text('only notes with this date or later: 2024-05-01, "last week"'),
        "until": text("only notes with this date or earlier"),
        "limit": number(f"1 to {MOST}, default {DEFAULT_LIMIT}"),
        "offset": number("notes to skip"),
    },
    required=(),
    run=_run,
)
