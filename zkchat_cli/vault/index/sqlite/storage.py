"""The file that keeps the index of one vault."""

import os
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli.vault.index.sqlite import checksum
from zkchat_cli.vault.index.sqlite.connection import damage_error, delete_database
from zkchat_cli.vault.index.sqlite.note_index import SqliteNoteIndex

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex

_OPEN_COUNTS = Counter[Path]()
_OPEN_LOCK = threading.Lock()
"""A file is read for its checksum only while nobody in this process has it open: when a process
closes any descriptor of a file, POSIX drops all its locks on it, SQLite's too.
"""


class SqliteIndexStorage:
    """An `IndexStorage` in an SQLite file with a checksum beside it."""

    def __init__(self, file: Path, formats: str = "") -> None:
        """`formats` are those of the names of daily notes: with other ones it is built anew."""
        self.file = file
        self._formats = formats

    def exists(self) -> bool:
        # Faster than Path.exists, and called at every start
        return os.path.exists(self.file)  # noqa: PTH110

    def open_index(self) -> SqliteNoteIndex:
        with _OPEN_LOCK:
            if not _OPEN_COUNTS[self.file] and not checksum.is_intact(self.file):
                raise damage_error(self.file, "it is not as it was written")
            index = SqliteNoteIndex(self.file, formats=self._formats)
            _OPEN_COUNTS[self.file] += 1
        return index

    def open_in_memory(self) -> SqliteNoteIndex:
        return SqliteNoteIndex(self.file, in_memory=True, formats=self._formats)

    def close(self, index: "NoteIndex") -> None:
        assert isinstance(index, SqliteNoteIndex)
        with _OPEN_LOCK:
            index.close()
            if not index.database.in_memory:
                _OPEN_COUNTS[self.file] -= 1

    def delete(self) -> None:
        delete_database(self.file)

    def write_checksum(self) -> None:
        """Nothing is written while others in this process have the file open."""
        with _OPEN_LOCK:
            if not _OPEN_COUNTS[self.file]:
                checksum.write_checksum(self.file)
