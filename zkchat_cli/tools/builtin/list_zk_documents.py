"""Lists notes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import MAX_SHOWN, ToolArgumentError, ToolOutput, declare_tool
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.note_properties import read_properties
from zkchat_cli.vault.note_tasks import find_tasks, has_words
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
ORDERS = ("path", "newest", "oldest")
GROUPS = ("tags", "folders")
TASKS = {"tasks": ("open", "done"), "open tasks": ("open",), "done tasks": ("done",)}


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
    is_without_link = links_to.startswith("-")
    target = links_to.removeprefix("-")
    linked = vault.locate(target).path if target else ""
    wanted = NoteSelection(
        folder=folder,
        tag=tag,
        since=since,
        until=until,
        # The words of a task are its own, and not those of its whole note
        about="" if show in TASKS else about,
        property=property,
        links_to="" if is_without_link else linked,
        newest=order == "newest",
        lacks_links_to=linked if is_without_link else None,
        oldest=order == "oldest",
    )
    found = vault.catalog.list_notes(wanted)
    if show in GROUPS:
        return _count_names(show, found)
    begin = max(0, offset)
    if show in TASKS:
        tasks = _find_tasks(vault, found, TASKS[show], about)
        return _list_tasks(vault, tasks, begin, min(max(limit, 1), MOST_LISTED))
    shown = found[begin:][: min(max(limit, 1), MOST_LISTED)]
    names = [name.strip() for name in show.split(",") if name.strip()]
    dated = bool(wanted.newest or wanted.oldest or since or until)
    documents = [_describe(vault, entry, names, dated=dated) for entry in shown]
    return ToolOutput(
        chunks=_beginnings(vault, shown[: min(excerpts, MOST_BEGINNINGS)]),
        data={"total": len(found), "documents": documents},
        note=_describe_rest(begin, len(shown), len(found)),
        outcome=f"{len(shown)} of {plural(len(found), 'note')}",
    )


def _describe_rest(begin: int, shown: int, found: int) -> str:
    """How to get the notes that are not shown; empty if there are none."""
    if not shown:
        return "No such note."
    end = begin + shown
    if end < found:
        return f"{found - end} more: ask again with offset={end}, a folder or a tag."
    return ""


def _count_names(group: str, found: Iterable[NoteEntry]) -> ToolOutput:
    """How many of the notes have each tag, or are in each folder."""
    counts: Counter[str] = Counter()
    for entry in found:
        if group == "tags":
            counts.update(entry.tags)
        else:
            counts[entry.path.rpartition("/")[0]] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = {truncate(name, MAX_SHOWN): count for name, count in ordered[:MOST_COUNTED]}
    return ToolOutput(
        data={"total": len(counts), "notes": shown},
        outcome=plural(len(counts), group.removesuffix("s")),
    )


class _FoundTask(NamedTuple):
    """A task, and the path of its note."""

    path: str
    line: int


def _find_tasks(
    vault: Vault, notes: Iterable[NoteEntry], states: Sequence[str], about: str
) -> list[_FoundTask]:
    """The tasks of notes, in their order; those about something have its words, or their note is
    named so.
    """
    found: list[_FoundTask] = []
    for note in notes:
        for task in find_tasks(vault.reader.read_if_there(note.path) or ""):
            is_about = not about or has_words(f"{note.title} {task.text}", about)
            if task.state in states and is_about:
                found.append(_FoundTask(note.path, task.line))
    return found


def _list_tasks(vault: Vault, tasks: Sequence[_FoundTask], begin: int, limit: int) -> ToolOutput:
    """The lines of the tasks as excerpts, and how many there are in how many notes."""
    chunks: list[ContentChunk] = []
    for task in tasks[begin : begin + limit]:
        chunks += vault.reader.chunks(task.path, task.line, task.line)[:1]
    return ToolOutput(
        chunks=tuple(chunks),
        data={"total": len(tasks), "notes": len({task.path for task in tasks})},
        note=_describe_rest(begin, len(chunks), len(tasks)),
        outcome=f"{len(chunks)} of {plural(len(tasks), 'task')}",
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
