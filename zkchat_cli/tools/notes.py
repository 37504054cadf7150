"""Find and read notes."""

from typing import Annotated

from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.vault import Vault

DEFAULT_EXCERPTS = 6
MOST_EXCERPTS = 20
MOST_READ = 40
DEFAULT_RELATED = 5
MOST_RELATED = 15
DEFAULT_LISTED = 30
MOST_LISTED = 100
MOST_TAGS = 10


def find_excerpts(
    vault: Vault,
    query: Annotated[
        str,
        'words to search for; "a phrase", tag:x, path:x, after:2024-05, before:, on: and '
        "-word narrow it",
    ],
    limit: Annotated[int, f"1 to {MOST_EXCERPTS}, default {DEFAULT_EXCERPTS}"] = DEFAULT_EXCERPTS,
) -> ToolOutput:
    """Search the user's notes by words; returns numbered excerpts with path, heading and lines,
    best first.
    """
    limit = min(max(limit, 1), MOST_EXCERPTS)
    found = vault.search(query, limit + 1)
    if not found:
        return ToolOutput(note="Nothing found. Try fewer or other words.")
    more = (
        f"There is more: ask again with a limit up to {MOST_EXCERPTS}, or with other words."
        if len(found) > limit
        else ""
    )
    return ToolOutput(tuple(found[:limit]), note=more)


def find_zk_documents_related_to(
    vault: Vault,
    query: Annotated[str, "what the notes should be about"] = "",
    relative_path: Annotated[str, "path or wikilink of a note; instead of query"] = "",
    limit: Annotated[int, f"1 to {MOST_RELATED}, default {DEFAULT_RELATED}"] = DEFAULT_RELATED,
) -> ToolOutput:
    """Notes about a query, or related to a note by links and words: each with why and an
    excerpt.
    """
    query = query.strip()
    path = relative_path.strip()
    if bool(query) == bool(path):
        raise ToolArgumentError(
            "find_zk_documents_related_to needs query or relative_path"
            + (", not both" if query else "")
        )
    limit = min(max(limit, 1), MOST_RELATED)
    found = (
        vault.related_notes(vault.locate(path)[0], limit + 1)
        if path
        else vault.notes_about(query, limit + 1)
    )
    if not found:
        return ToolOutput(
            note="No note is related to it by links or words."
            if path
            else "Nothing found. Try fewer or other words."
        )
    shown = found[:limit]
    more = (
        f"There are more: ask for a limit up to {MOST_RELATED}."
        if len(found) > limit and limit < MOST_RELATED
        else ""
    )
    data = {
        "documents": [
            {"path": note.chunk.relative_path, "why": "; ".join(note.why)} for note in shown
        ]
    }
    return ToolOutput(tuple(note.chunk for note in shown), data, more)


def list_zk_documents(
    vault: Vault,
    folder: Annotated[str, "only in or below this folder"] = "",
    tag: Annotated[str, "only with this tag or one nested in it"] = "",
    since: Annotated[str, 'only notes with this date or later: 2024-05-01, "last week"'] = "",
    until: Annotated[str, "only notes with this date or earlier"] = "",
    limit: Annotated[int, f"1 to {MOST_LISTED}, default {DEFAULT_LISTED}"] = DEFAULT_LISTED,
    offset: Annotated[int, "notes to skip"] = 0,
) -> ToolOutput:
    """List notes: paths, titles, tags."""
    found = vault.list_notes(folder, tag, since, until)
    shown = found[max(0, offset) :][: min(max(limit, 1), MOST_LISTED)]
    after = max(0, offset) + len(shown)
    note = (
        f"{len(found) - after} more: ask again with offset={after}, a folder or a tag."
        if after < len(found)
        else ""
    )
    documents: list[dict[str, object]] = []
    for entry in shown:
        documents.append({"path": entry.path})
        if entry.title != note_name(entry.path):
            documents[-1]["title"] = truncate(entry.title, MAX_SHOWN)
        if entry.tags:
            documents[-1]["tags"] = [truncate(tag, MAX_SHOWN) for tag in entry.tags[:MOST_TAGS]]
    data = {"total": len(found), "documents": documents}
    return ToolOutput(
        data=data,
        note=note if shown else "No such note.",
        outcome=f"{len(shown)} of {plural(len(found), 'note')}",
    )


def read_zk_document(
    vault: Vault,
    relative_path: Annotated[str, "path, or a wikilink such as [[Note#Heading]]"],
    start_line: Annotated[int | None, "first line, from 1"] = None,
    end_line: Annotated[int | None, "last line"] = None,
) -> ToolOutput:
    """Read a note, a section or some lines of it; returns numbered excerpts."""
    path, heading = vault.locate(relative_path)
    first, last = vault.section(path, heading) if heading else (1, None)
    start = start_line or first
    end = end_line or last
    if end is not None and end < start:
        raise ToolArgumentError(
            f"read_zk_document: end_line {end} is before start_line {start}; lines count from 1"
        )
    found = vault.chunks(path, start, end)
    shown = tuple(found[:MOST_READ])
    if len(found) > MOST_READ:
        return ToolOutput(
            shown,
            note=(
                f"Cut after line {shown[-1].end_line}: read on with "
                f"start_line={shown[-1].end_line + 1}."
            ),
        )
    return ToolOutput(
        shown,
        note=""
        if shown
        else f"{path} has no text there; it ends in line {vault.chunks(path)[-1].end_line}.",
    )


TOOLS = [
    declare_tool(tool)
    for tool in (find_excerpts, find_zk_documents_related_to, list_zk_documents, read_zk_document)
]
