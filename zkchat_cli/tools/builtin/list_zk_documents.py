"""Lists notes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.tools.line_requests import LineRequest, describe_rest
from zkchat_cli.tools.listed_lines import (
    DUE_TASKS,
    TASKS,
    list_lines,
    lists_lines,
    locate_link,
)
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.note_properties import read_properties
from zkchat_cli.vault.vault import Vault

DEFAULT_LISTED = 30
MOST_LISTED = 100
# Tags of one note in an answer, values of one property, and names with counts
MOST_TAGS = 10
MOST_VALUES = 10
MOST_COUNTED = 100
# Most beginnings of notes in an answer, and characters of each
MOST_BEGINNINGS = 20
BEGINNING = 600
# Sections of one note, each of a day, in an answer
MOST_SECTIONS = 10
# Notes that no other note links to. What models are not told costs them nothing
ORPHANS = "orphans"
ORDERS = ("path", "newest", "oldest")
GROUPS = ("tags", "folders", "property names")


def list_zk_documents(
    vault: Vault,
    folder: Annotated[str, "in or below it"] = "",
    tag: Annotated[str, "this or one nested in it"] = "",
    since: Annotated[str, 'date: 2024-05-01, "last week"'] = "",
    until: Annotated[str, "date"] = "",
    about: Annotated[str, "words, in any form"] = "",
    property: Annotated[str, 'such as "status: open"'] = "",  # noqa: A002
    links_to: Annotated[str, "note"] = "",
    order: Annotated[str, "path, newest or oldest"] = "path",
    show: Annotated[str, "properties; or tags or folders, to count them; or open tasks"] = "",
    excerpts: Annotated[int, f"beginnings of so many, up to {MOST_BEGINNINGS}"] = 0,
    limit: Annotated[int, f"1 to {MOST_LISTED}, default {DEFAULT_LISTED}"] = DEFAULT_LISTED,
    offset: Annotated[int, "notes to skip"] = 0,
) -> ToolOutput:
    """Count and list notes, by any of: folder, tag, dates, words, property, link; "-X": not X."""
    if order not in ORDERS:
        raise ToolArgumentError("list_zk_documents: order must be path, newest or oldest")
    wanted = NoteSelection(
        folder=folder,
        tag=tag,
        # The words and dates of tasks are their own, and not those of their whole notes
        since="" if show == DUE_TASKS else since,
        until="" if show == DUE_TASKS else until,
        about="" if show in TASKS else about,
        property=property,
        newest=order == "newest",
        oldest=order == "oldest",
    )
    names = [name.strip() for name in show.split(",") if name.strip()]
    wanted = _with_links(vault, wanted, links_to)
    if ORPHANS in names:
        wanted = wanted._replace(linked_from="")
    begin = max(0, offset)
    most = min(max(limit, 1), MOST_LISTED)
    if lists_lines(show):
        return list_lines(vault, wanted, LineRequest(show, about, since, until, begin, most))
    found = vault.catalog.list_notes(wanted)
    if show in GROUPS:
        return _count_names(vault, show, found)
    shown = found[begin:][:most]
    dated = bool(wanted.newest or wanted.oldest or since or until)
    documents = [_describe(vault, entry, names, dated=dated) for entry in shown]
    return ToolOutput(
        chunks=_beginnings(vault, shown[: min(excerpts, MOST_BEGINNINGS)]),
        data={"total": len(found), "documents": documents},
        note=describe_rest(begin, len(shown), len(found)),
        outcome=f"{len(shown)} of {plural(len(found), 'note')}",
    )


def _with_links(vault: Vault, wanted: NoteSelection, links_to: str) -> NoteSelection:
    """The selection of notes that link to a note or, with a minus, do not. Raises VaultError for a
    note that does not exist.
    """
    target = locate_link(vault, links_to)
    if links_to.startswith("-"):
        return wanted._replace(lacks_links_to=target)
    return wanted._replace(links_to=target)


def _count_names(vault: Vault, group: str, found: Iterable[NoteEntry]) -> ToolOutput:
    """How many of the notes have each tag or property, or are in each folder."""
    counts: Counter[str] = Counter()
    for entry in found:
        match group:
            case "tags":
                counts.update(entry.tags)
            case "folders":
                counts[entry.path.rpartition("/")[0]] += 1
            case _:
                counts.update(read_properties(vault.root, entry.path).keys())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = {truncate(name, MAX_SHOWN): count for name, count in ordered[:MOST_COUNTED]}
    return ToolOutput(
        data={"total": len(counts), "notes": shown},
        outcome=plural(len(counts), group.removesuffix("s")),
    )


def _describe(
    vault: Vault, entry: NoteEntry, names: Sequence[str], *, dated: bool
) -> dict[str, object]:
    document: dict[str, object] = {"path": entry.path}
    if entry.title != note_name(entry.path):
        document["title"] = truncate(entry.title, MAX_SHOWN)
    if entry.tags:
        document["tags"] = [truncate(tag, MAX_SHOWN) for tag in entry.tags[:MOST_TAGS]]
    if dated:
        document["date"] = entry.day
    if entry.sections:
        document["sections"] = [section.day for section in entry.sections[:MOST_SECTIONS]]
    if names:
        document["properties"] = _properties(vault, entry.path, names)
    return document


def _properties(vault: Vault, path: str, names: Sequence[str]) -> dict[str, str]:
    """The values of these properties of a note, or with `*` of all."""
    known = read_properties(vault.root, path)
    wanted = known if "*" in names else [name.casefold() for name in names]
    found: dict[str, str] = {}
    for name in wanted:
        values = known.get(name, ())
        if values:
            found[name] = truncate(", ".join(values[:MOST_VALUES]), MAX_SHOWN)
    return found


def _beginnings(vault: Vault, entries: Iterable[NoteEntry]) -> tuple[ContentChunk, ...]:
    """The whole lines at the beginning of each note, or of its sections of the wanted time, as
    excerpts.
    """
    found: list[ContentChunk] = []
    for entry in entries:
        for line in [section.line for section in entry.sections[:MOST_SECTIONS]] or [1]:
            chunk = vault.reader.first_chunk(entry.path, line)
            if chunk is not None:
                found.append(_cut(chunk))
    return tuple(found)


def _cut(chunk: ContentChunk) -> ContentChunk:
    """A chunk with its first lines only, if it is long."""
    lines = chunk.text.split("\n")
    length = 0
    count = 0
    for line in lines:
        length += len(line) + 1
        if count and length > BEGINNING:
            break
        count += 1
    cut = {"text": "\n".join(lines[:count]), "end_line": chunk.start_line + count - 1}
    return chunk.model_copy(update=cut)


TOOL = declare_tool(list_zk_documents, verb="listed notes")
