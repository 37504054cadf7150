"""Writes what changes with links or names: the targets of links, and the aliases by which links
call a note.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.links.wikilinks import (
    LinkKind,
    LinkName,
    WrittenLink,
    bulk_resolver,
)

# Links resolved together: a million of them at once would take half a gigabyte
LINK_BATCH = 20_000
# Link aliases that count for one note, the most frequent first: a hub is not about every word that
# links to it
MOST_ANCHORS = 40
LONGEST_ANCHOR = 200
_DIGITS = "0123456789"

ValueTable = Literal["listed", "changed", "pending_notes", "pending", "wanted", "targets"]


class LinkChanges(NamedTuple):
    """What the resolution of links has changed: their numbers, and the files that links point to
    now or did before.
    """

    links: int
    broken_links: int
    targets: set[str | None]


class ChangedAnchors(NamedTuple):
    """A note with other link aliases than before: its names without them, and both."""

    note_id: int
    names: tuple[str, ...]
    old: str
    new: str


class _LinkToResolve(NamedTuple):
    rowid: int
    target: str | None
    status: str | None
    source: str
    key: str
    kind: LinkKind
    text: str


def stage(database: IndexDatabase, table: ValueTable, values: Iterable[tuple[object, ...]]) -> None:
    """Put values into a temporary table for a join: there may be more than SQL allows as
    parameters.
    """
    connection = database.connection
    connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (value PRIMARY KEY) WITHOUT ROWID")
    connection.execute(f"DELETE FROM {table}")
    connection.executemany(f"INSERT INTO {table} VALUES (?)", values)


def stage_each(database: IndexDatabase, table: ValueTable, values: Iterable[object]) -> None:
    """`stage` for single values."""
    stage(database, table, ((value,) for value in values))


def resolve_links(
    database: IndexDatabase, changed_keys: Collection[str], notes: Collection[int]
) -> LinkChanges:
    """Resolve the links of these notes, and those with the key of a name that was added or
    removed.
    """
    stage_each(database, "changed", changed_keys)
    stage_each(database, "pending_notes", notes)
    sql = """
        SELECT rowid FROM links
        WHERE note_id IN (SELECT value FROM pending_notes) OR key IN (SELECT value FROM changed)
    """
    rowids = database.rows(sql)
    links = 0
    broken_links = 0
    targets: set[str | None] = set()
    for first in range(0, len(rowids), LINK_BATCH):
        stage(database, "pending", rowids[first : first + LINK_BATCH])
        changes = _resolve_pending(database)
        links += changes.links
        broken_links += changes.broken_links
        targets |= changes.targets
    return LinkChanges(links, broken_links, targets)


def _resolve_pending(database: IndexDatabase) -> LinkChanges:
    """Resolve the links that are staged in `pending`."""
    sql = """
        SELECT links.rowid, links.target, links.status, notes.path,
            links.key, links.kind, links.text
        FROM pending
        CROSS JOIN links ON links.rowid = pending.value
        CROSS JOIN notes ON notes.id = links.note_id
    """
    stored = [_LinkToResolve(*row) for row in database.rows(sql)]
    names = _names_by_key(database, {link.key for link in stored})
    resolve = bulk_resolver(names.__getitem__)
    resolved: list[tuple[str | None, str | None, int]] = []
    links = 0
    broken_links = 0
    targets: set[str | None] = set()
    for link in stored:
        answer = resolve(WrittenLink("", link.kind, link.text), link.source)
        if (answer.target, answer.status) == (link.target, link.status):
            continue
        resolved.append((answer.target, answer.status, link.rowid))
        links += (answer.status is not None) - (link.status is not None)
        broken_links += (answer.status == "broken") - (link.status == "broken")
        targets.add(link.target)
        targets.add(answer.target)
    update = "UPDATE links SET target = ?, status = ? WHERE rowid = ?"
    database.connection.executemany(update, resolved)
    return LinkChanges(links, broken_links, targets)


def _names_by_key(database: IndexDatabase, keys: Collection[str]) -> dict[str, list[LinkName]]:
    """The names with each of these keys."""
    stage_each(database, "wanted", keys)
    # CROSS JOIN: otherwise SQLite, which does not know the sizes, scans all names
    sql = """
        SELECT key, path, kind, spelled FROM wanted CROSS JOIN names ON names.key = wanted.value
    """
    names: dict[str, list[LinkName]] = defaultdict(list)
    for key, path, kind, spelled in database.rows(sql):
        names[key].append(LinkName(path, kind, spelled))
    return names


def update_anchors(
    database: IndexDatabase, targets: Collection[str | None]
) -> list[ChangedAnchors]:
    """Write the link aliases of the notes at these paths; those that are others than before."""
    stage_each(database, "targets", [path for path in targets if path])
    anchors = _count_anchors(database)
    sql = """
        SELECT id, path, title, aliases, tags, anchors FROM notes
        WHERE path IN (SELECT value FROM targets)
    """
    changed: list[ChangedAnchors] = []
    for note_id, path, title, aliases, tags, old in database.rows(sql):
        new = "\n".join(_most_frequent(anchors[path]))
        if new != old:
            changed.append(ChangedAnchors(note_id, (title, aliases, tags), old, new))
    update = "UPDATE notes SET anchors = ? WHERE id = ?"
    database.connection.executemany(update, [(each.new, each.note_id) for each in changed])
    return changed


def _count_anchors(database: IndexDatabase) -> dict[str, Counter[str]]:
    """How often links to each of the staged `targets` use which alias."""
    sql = """
        SELECT links.target, links.alias, links.embed
        FROM links JOIN notes ON notes.id = links.note_id
        WHERE links.target IN (SELECT value FROM targets)
            AND links.alias != '' AND notes.path != links.target
    """
    anchors: dict[str, Counter[str]] = defaultdict(Counter)
    for target, alias, embed in database.rows(sql):
        is_width_of_picture = embed and alias[0] in _DIGITS
        if not is_width_of_picture:
            anchors[target][" ".join(alias.split())[:LONGEST_ANCHOR]] += 1
    return anchors


def _most_frequent(anchors: Counter[str]) -> list[str]:
    return sorted(anchors, key=lambda anchor: (-anchors[anchor], anchor))[:MOST_ANCHORS]
