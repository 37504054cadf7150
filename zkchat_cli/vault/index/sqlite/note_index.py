"""The index of a vault in SQLite: a file with its notes, chunks, links and words."""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.text.dates import Period
from zkchat_cli.vault.filesystem import Stamp, VaultFiles
from zkchat_cli.vault.index.sqlite import schema
from zkchat_cli.vault.index.sqlite.chunks import SqliteChunkIndex
from zkchat_cli.vault.index.sqlite.connection import damage_error
from zkchat_cli.vault.index.sqlite.database import IndexDatabase
from zkchat_cli.vault.index.sqlite.filters import AllowedNotes, filter_condition
from zkchat_cli.vault.index.sqlite.links import SqliteLinkIndex
from zkchat_cli.vault.index.sqlite.names import SqliteNameIndex
from zkchat_cli.vault.index.sqlite.vocabulary import SqliteVocabulary
from zkchat_cli.vault.index.sqlite.words import SqliteWordIndex
from zkchat_cli.vault.index.values import DatedSection, IndexSizes, NoteEntry, NoteFilter

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import IndexUpdate


class SqliteNoteIndex:
    """A `NoteIndex` in an SQLite file, or in memory."""

    def __init__(self, file: Path, *, in_memory: bool = False, formats: str = "") -> None:
        """`formats` are those of the names of daily notes. Raises IndexDamaged if the file is no
        database, IndexUnwritable, VaultError.
        """
        self.database = IndexDatabase(file, in_memory=in_memory)
        self._formats = formats
        allowed = AllowedNotes(self.database)
        self.names = SqliteNameIndex(self.database)
        self.chunks = SqliteChunkIndex(self.database, allowed)
        self.links = SqliteLinkIndex(self.database, self.chunks)
        self.words = SqliteWordIndex(self.database, allowed)
        self.vocabulary = SqliteVocabulary(self.database)

    @property
    def is_usable(self) -> bool:
        return schema.is_usable(self.database, self._formats)

    @property
    def is_new(self) -> bool:
        return schema.stored_version(self.database) == 0

    def snapshot(self) -> AbstractContextManager[None]:
        return self.database.snapshot()

    @contextmanager
    def update(self, files: VaultFiles, *, anew: bool = False) -> Iterator["IndexUpdate"]:
        # Parses notes: 6 ms, and the budget bar comes first
        from zkchat_cli.vault.index.sqlite.update import SqliteIndexUpdate

        with self.database.transaction():
            if anew:
                schema.create_tables(self.database, self._formats)
            update = SqliteIndexUpdate(self.database, files)
            yield update
            update.settle()
            if anew:
                schema.optimize_words(self.database)
            update.count_words()
        if anew:
            self.database.rows("PRAGMA wal_checkpoint (TRUNCATE)")

    def stamp(self) -> object:
        return self.database.stamp()

    def files(self) -> VaultFiles:
        stamps: dict[str, Stamp] = {}
        sql = "SELECT path, mtime_ns, ctime_ns, size FROM notes WHERE hash IS NOT NULL"
        for path, mtime, ctime, size in self.database.rows(sql):
            stamps[path] = (mtime, ctime, size)
        attachments = self.database.rows("SELECT path FROM names WHERE kind = 'file'")
        problems = self.database.rows("SELECT path, text FROM problems WHERE from_scan")
        return VaultFiles(stamps, {path for (path,) in attachments}, dict(problems))

    def sizes(self) -> IndexSizes:
        """The stored counts: counting a million rows takes longer than a search."""
        found = dict(self.database.rows("SELECT key, value FROM meta"))
        return IndexSizes(*(int(found[name]) for name in IndexSizes._fields))

    def problems(self) -> list[str]:
        sql = "SELECT path || ': ' || text FROM problems ORDER BY path"
        return [problem for (problem,) in self.database.rows(sql)]

    def note_paths(self) -> list[str]:
        return [path for (path,) in self.database.rows("SELECT path FROM notes ORDER BY path")]

    def newest_notes(self, chunks: int) -> list[str]:
        sql = """
            SELECT path FROM (
                SELECT note_id, max(id) AS last
                FROM (SELECT note_id, id FROM chunks ORDER BY id DESC LIMIT ?)
                GROUP BY note_id
            )
            JOIN notes ON notes.id = note_id ORDER BY last DESC
        """
        return [path for (path,) in self.database.rows(sql, chunks)]

    def list_notes(self, wanted: NoteFilter) -> list[NoteEntry]:
        values: list[object] = []
        period = wanted.period or Period()
        in_period = "note_id = notes.id AND first <= ? AND last >= ?"
        values += [period.last.isoformat(), period.first.isoformat()]
        condition = filter_condition(wanted, values)
        sql = f"""
            SELECT id, path, title, tags,
                (SELECT MAX(last) FROM current_dates WHERE {in_period}), mtime_ns
            FROM notes WHERE {condition} ORDER BY path
        """
        sections = self._dated_sections(wanted.period)
        found: list[NoteEntry] = []
        for id_, path, title, tags, day, changed in self.database.rows(sql, *values):
            day = day or datetime.fromtimestamp(changed / 10**9).date().isoformat()
            names = tuple(tags.split("\n")) if tags else ()
            found.append(NoteEntry(path, title, names, day, changed, tuple(sections.get(id_, ()))))
        return found

    def _dated_sections(self, period: Period | None) -> dict[int, list[DatedSection]]:
        """The sections of a time, the newest first, by the numbers of their notes; none for all
        times.
        """
        found: dict[int, list[DatedSection]] = {}
        if period is None:
            return found
        sql = """
            SELECT dated.note_id, MIN(start_line), MAX(last)
            FROM current_dates AS dated JOIN chunks ON chunks.id = chunk_id
            WHERE first <= ? AND last >= ?
            GROUP BY dated.note_id, first, last ORDER BY last DESC, start_line
        """
        days = (period.last.isoformat(), period.first.isoformat())
        for note_id, line, day in self.database.rows(sql, *days):
            found.setdefault(note_id, []).append(DatedSection(line, day))
        return found

    def tag_counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for (tags,) in self.database.rows("SELECT tags FROM notes WHERE tags != ''"):
            counts.update(tags.split("\n"))
        return counts

    def check_integrity(self) -> None:
        [[result]] = self.database.rows("PRAGMA integrity_check(1)")
        if result != "ok":
            raise damage_error(self.database.file, result)

    def close(self) -> None:
        """Close the file."""
        self.database.close()
