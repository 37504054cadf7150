"""Stamps notes as verified, and takes a stamp back to the byte.

What a note's front matter was before its last stamp is kept in a file beside the index. The text
may have been edited since then: only the front matter must still be as the stamp left it.
"""

import codecs
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import atomic_write, make_private_folder, read_file
from zkchat_cli.vault.edit.note_editor import NoteEditor
from zkchat_cli.vault.edit.stamp_writer import write_stamp
from zkchat_cli.vault.edit.transaction import Change, FileChange, resolve_path
from zkchat_cli.vault.filesystem import LARGEST_NOTE, printable
from zkchat_cli.vault.front_matter import MAX_CHARACTERS
from zkchat_cli.vault.knowledge_format import Stamp, StampedSource, text_digest
from zkchat_cli.vault.note_reader import NoteReader
from zkchat_cli.vault.text_decoder import decode

# Stamps that can be taken back
MOST_RECORDS = 200
# A character takes up to six bytes in JSON
MAX_BYTES = 12 * MOST_RECORDS * MAX_CHARACTERS


class NotesOfVault(Protocol):
    """What of a vault is needed to stamp its notes."""

    index_file: Path
    reader: NoteReader

    @property
    def editor(self) -> NoteEditor:
        """Makes the changes."""
        ...


class _StampRecord(NamedTuple):
    """How a file began before and after a stamp; what follows is the same."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NoteStamps:
    """The stamps of one vault. `file` has the records of the last ones."""

    editor: NoteEditor
    reader: NoteReader
    file: Path

    @classmethod
    def of(cls, vault: NotesOfVault) -> "NoteStamps":
        """Those of a vault with an up-to-date index."""
        return cls(vault.editor, vault.reader, vault.index_file.with_suffix(".stamps.json"))

    def stamp(
        self, path: str, raw: bytes, quotations: int, sources: Iterable[str], at: str
    ) -> Stamp:
        """Write into the note with these bytes that so many quotations were verified at that time
        in the notes `sources`. The stamp replaces the last one. Raises VaultError, and then the
        note is as it was.
        """
        try:
            text = raw.decode()
        except UnicodeDecodeError as e:
            raise VaultError(
                f"{printable(path)} is not stamped: it is not UTF-8",
                "Save it as UTF-8 in your editor; nothing was changed.",
            ) from e
        stamp = Stamp(at, quotations, text_digest(decode(raw).text), self._digests(sources))
        mark = codecs.BOM_UTF8.decode() if raw.startswith(codecs.BOM_UTF8) else ""
        stamped = mark + write_stamp(path, text.removeprefix(mark), stamp)
        self._remember(path, text, stamped)
        self._replace(f"stamp {path}", path, raw, stamped.encode())
        return stamp

    def stamped_text(
        self, path: str, text: str, quotations: int, sources: Iterable[str], at: str
    ) -> str:
        """The text of a new note with such a stamp."""
        stamp = Stamp(at, quotations, text_digest(text), self._digests(sources))
        return write_stamp(path, text, stamp)

    def _digests(self, sources: Iterable[str]) -> tuple[StampedSource, ...]:
        paths = dict.fromkeys(sources)
        return tuple(StampedSource(path, text_digest(self.reader.read(path))) for path in paths)

    def undo(self, path: str) -> None:
        """Give the note's front matter the bytes that it had before its last stamp. Raises
        VaultError if that is not known, or if the front matter has changed since.
        """
        records = self._records()
        own = [record for record in records if record.path == path]
        if not own:
            raise VaultError(
                f"no stamp of {printable(path)} is known that could be taken back",
                "One made elsewhere can be deleted by hand: `process:zkchat` under `verified`.",
            )
        file = resolve_path(self.editor.root, path)
        try:
            raw = read_file(file, LARGEST_NOTE)
        except OSError as e:
            raise VaultError(
                f"{printable(path)} cannot be read: {reason(e)}", "Correct that first."
            ) from e
        last = own[-1]
        after = last.after.encode()
        if not raw.startswith(after):
            raise VaultError(
                f"the front matter of {printable(path)} has changed since it was stamped",
                "Delete the entry `process:zkchat` under `verified` by hand.",
            )
        self._replace(f"unstamp {path}", path, raw, last.before.encode() + raw[len(after) :])
        records.remove(last)
        self._store(records)

    def _replace(self, summary: str, path: str, before: bytes, after: bytes) -> None:
        self.editor.apply(Change(summary, (FileChange(path, path, before, after),)))

    def _remember(self, path: str, before: str, after: str) -> None:
        """Keep how the note begins, before it is changed: a stamp can then be taken back even if
        this process ends right after it.
        """
        common = 0
        shortest = min(len(before), len(after))
        while common < shortest and before[-1 - common] == after[-1 - common]:
            common += 1
        old_head = before[: len(before) - common]
        new_head = after[: len(after) - common]
        self._store([*self._records(), _StampRecord(path, old_head, new_head)])

    def _records(self) -> list[_StampRecord]:
        """The records of this vault's stamps, the oldest first; none if they cannot be read."""
        with suppress(OSError, ValueError, TypeError):
            stored = json.loads(read_file(self.file, MAX_BYTES))
            return [_StampRecord(*map(str, record)) for record in stored]
        return []

    def _store(self, records: Sequence[_StampRecord]) -> None:
        kept = records[-MOST_RECORDS:]
        try:
            make_private_folder(self.file.parent)
            atomic_write(self.file, json.dumps(kept), private=True)
        except OSError as e:
            raise VaultError(
                f"the stamp cannot be made undoable: {self.file}: {reason(e)}",
                "Check the permissions and the disk; nothing was changed.",
            ) from e
