"""What can be changed in a vault. Each method proposes a Change, which says all that it would do; only `make` does it.

A proposal is made of the files as they are now, and is refused when one of them is not so any more when it is made.
"""

import json
import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath

from zkchat_cli.errors import VaultError
from zkchat_cli.models import IndexReport
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault import note_parser, sections
from zkchat_cli.vault.edit import file_names, link_rewrite, section_edit, transaction
from zkchat_cli.vault.edit.byte_preserving import BytePreservingText, Edit
from zkchat_cli.vault.edit.link_rewrite import Move
from zkchat_cli.vault.edit.transaction import TRASH, Change, FileChange
from zkchat_cli.vault.filesystem import LARGEST_NOTE, printable, replace_surrogates
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.links.bulk_resolver import BulkLinkResolver
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, Name, key
from zkchat_cli.vault.note_parser import ParsedNote

__all__ = ["TRASH", "Change", "FileChange", "LinkFix", "NoteEditor"]

MOST_SAID = 5


@dataclass(frozen=True, slots=True)
class LinkFix:
    """A link of a note, by its line and as it is written, and the file that it is to lead to."""

    source: str
    line: int
    raw: str
    target: str


@dataclass(slots=True)
class NoteEditor:
    """Proposals for one vault, whose index must be up to date, and what makes them."""

    root: Path
    upkeep: IndexManager
    journal: Path
    refresh: Callable[..., IndexReport]
    _told: list[VaultError] = field(default_factory=list)

    def recover(self) -> None:
        """Put back what a change that was broken off had done; `take_warnings` tells of it."""
        try:
            problem = transaction.recover(self.root, self.journal)
        except OSError as e:
            told = f"a change of the notes was broken off and cannot be put back: {e}"
            problem = VaultError(told, f"What they were stands in {self.journal}")
        if problem is not None:
            self._told.append(problem)

    def take_warnings(self) -> list[VaultError]:
        told, self._told = self._told, []
        return told

    def apply(self, change: Change) -> None:
        """Make a change, all of it or nothing. Raises VaultError, and then nothing has changed.

        An index that cannot take it in at once does so later, which `take_warnings` tells: the change is made all the same.
        """
        try:
            transaction.apply(self.root, change, self.journal)
        except OSError as e:  # of the journal, or of putting back
            hint = "What was changed already, if anything, is put back when zkchat next looks at the vault."
            raise VaultError(f"the change cannot be made: {(e.strerror or str(e)).lower()}", hint) from e
        try:
            self.refresh(only=change.paths)
        except VaultError as e:
            self._told.append(VaultError(f"the change is made, but a search does not find it yet: {e.message}", e.hint))

    def is_applied(self, change: Change) -> bool:
        """Whether the files are as `make`, which Ctrl-C has stopped, was to leave them; otherwise they are as they were."""
        return transaction.is_applied(self.root, change, self.journal)

    # proposals; each raises VaultError for what cannot be done

    def create(self, path: str, text: str) -> Change:
        """A new note; `.md` is added to its name."""
        path = self._new_path(path)
        text = replace_surrogates(text).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
        others = [name.path for name in self._names([key(path)])[key(path)] if name.kind == "note"]
        notes = [f"There is {others[0]} of the same name: links need the path."] if others else []
        return Change(f"create {path}", (FileChange(None, path, b"", text.encode()),), self._told_of(path, notes))

    def append(self, path: str, text: str, heading: str | None = None) -> Change:
        """Text at the end of a note, or at the end of what stands under a heading."""
        raw, note, verbatim = self._read(path)
        place = self._section(path, note, heading) if heading else None
        edit = section_edit.appended(note, place, replace_surrogates(text))
        change = self._edited(f"append to {path}{f' › {heading}' if heading else ''}", path, raw, verbatim, [edit])
        return _keeping(change, note, place.own) if place else change

    def edit_section(self, path: str, heading: str, text: str) -> Change:
        """Another text under a heading; the heading stays."""
        raw, note, verbatim = self._read(path)
        place = self._section(path, note, heading)
        edit = section_edit.replaced(note, place, replace_surrogates(text))
        change = self._edited(f"edit {path} › {heading}", path, raw, verbatim, [edit])
        change = _keeping(change, note, place.after)
        return replace(change, replaced_text="\n".join(note.text.split("\n")[place.first - 1 : place.after - 1]).strip())

    def rename(self, path: str, new_path: str) -> Change:
        """A note at another path, or with `Folder/` in another folder, and every link of the vault made to lead where it led."""
        self.refresh()
        path = posixpath.normpath(path)
        self._require_own(path)
        move = Move(path, self._new_path(new_path, old=path))
        rewritten, links = self._relinked(move)
        raw = rewritten.pop(path)
        others = (FileChange(p, p, *texts) for p, texts in rewritten.items())
        notes = len(rewritten) + (raw[0] != raw[1])
        said = f", {_count(links, 'link')} in {_count(notes, 'note')} rewritten" if links else ""
        return Change(f"rename {path} to {move.new}{said}", (FileChange(path, move.new, *raw), *others), self._told_of(move.new))

    def trash(self, path: str) -> Change:
        """A note in the vault's trash folder, under its own name or the next free one."""
        self._require_own(path)
        raw, _, _ = self._read(path)
        name = PurePosixPath(path)
        free = (f"{TRASH}/{name.stem}{f' {i}' if i else ''}{name.suffix}" for i in count())
        new_path = next(new for new in free if not os.path.lexists(transaction.place(self.root, new)))
        rows = self.upkeep.ask(lambda index: index.links_to(path))
        sources = len({row.source for row in rows})
        note = f"{_count(len(rows), 'link')} in {_count(sources, 'note')} will lead nowhere." if rows else ""
        return Change(f"move {path} to {new_path}", (FileChange(path, new_path, raw, raw),), note)

    def fix_links(self, fixes: Sequence[LinkFix]) -> Change:
        """Links of notes made to lead to other files; one that is not there any more, or that nothing can say so, is left alone."""
        files: list[FileChange] = []
        links = 0
        names = self._names([key(fix.target) for fix in fixes])
        for source in dict.fromkeys(fix.source for fix in fixes):
            raw, note, verbatim = self._read(source)
            wanted = {(fix.line, fix.raw): fix.target for fix in fixes if fix.source == source}
            edits: dict[tuple[int, int], Edit] = {}
            for link in note.markup.links:
                target = wanted.get((link.line, link.raw))
                edit = link_rewrite.relinked(link, note.text, source, target, names) if target is not None else None
                if edit is not None:
                    edits[edit.start, edit.end] = edit
                    links += 1
            if edits:
                files.append(FileChange(source, source, raw, verbatim.edited(edits.values())))
        return Change(f"mend {_count(links, 'link')} in {_count(len(files), 'note')}", tuple(files))

    def _relinked(self, move: Move) -> tuple[dict[str, tuple[bytes, bytes]], int]:
        """The notes that a move changes, itself first, each as it is and as it is to be, and how many links are rewritten."""
        own, note, _ = self._read(move.old)
        affected = list(dict.fromkeys((key(move.old), key(move.new), *map(key, note.aliases))))
        links = note.markup.links
        names = self._names([*affected, *(key(link.text) for link in links)])
        names |= self._names(key(name.path) for found in tuple(names.values()) for name in found)
        before, after = BulkLinkResolver(names), BulkLinkResolver(link_rewrite.moved_names(names, move))
        files, rewritten = {move.old: (own, own)}, 0
        for source in dict.fromkeys((move.old, *self._linking(move.old, affected))):
            raw, note, verbatim = self._read(source)
            found = link_rewrite.rewritten(source, note, before, after, move)
            new = verbatim.edited(found.edits) if found.edits else raw
            if found.lost or (found.edits and not link_rewrite.holds(source, note, BytePreservingText.of(new).text, before, after, move)):
                shown = ", ".join(truncate(raw, 80) for raw in found.lost[:MOST_SAID]) or "the links"
                raise VaultError(f"{shown} in {source} could not be made to lead where they lead now", "Choose another name.")
            if found.edits:
                files[source], rewritten = (raw, new), rewritten + found.links
        return files, rewritten

    def _linking(self, path: str, keys: Sequence[str]) -> list[str]:
        """The notes with a link to `path`, or with one that is looked up by these keys."""
        sql = """SELECT DISTINCT notes.path FROM links JOIN notes ON notes.id = links.note_id
                 WHERE links.target = ? OR links.key IN (SELECT value FROM json_each(?)) ORDER BY notes.path"""
        return [source for (source,) in self.upkeep.ask(lambda index: index.rows(sql, path, json.dumps(keys)))]

    def _names(self, keys: Iterable[str]) -> dict[str, list[Name]]:
        wanted = dict.fromkeys(keys)
        return self.upkeep.ask(lambda index: {folded: index.names(folded) for folded in wanted})

    def _new_path(self, path: str, old: str | None = None) -> str:
        """Where a note is to be: in the vault, not hidden, free, and to be reached by links."""
        path = replace_surrogates(path)
        if old is not None and path.endswith("/"):
            path += posixpath.basename(old)
        if not path.lower().endswith(NOTE_SUFFIXES):
            path += ".md" if old is None else PurePosixPath(old).suffix
        transaction.place(self.root, path)
        path = posixpath.normpath(path)
        if path.startswith(f"{TRASH}/"):
            raise VaultError(f"{printable(path)} is no place for a note", "Give a path as `Folder/Note.md`.")
        if folder := posixpath.dirname(path):  # a link to another folder of the vault: the index, and so every link, knows that one
            folder = transaction.place(self.root, folder).relative_to(self.root).as_posix()
            path = posixpath.normpath(posixpath.join(folder, posixpath.basename(path)))
        file_names.require_free(self.root, path, old)
        return path

    def _told_of(self, path: str, notes: Sequence[str] = ()) -> str:
        """What to know of a new path."""
        left_out = ["vault.ignore leaves this place out: no search or link will find the note."] if self.upkeep.is_ignored(path) else []
        return " ".join([*notes, *left_out, *filter(None, [file_names.caution(path)])])

    def _require_own(self, path: str) -> None:
        """A link to a file is not moved instead of it."""
        if (self.root / path).is_symlink():
            raise VaultError(f"{printable(path)} is a link to another file", "Name that one.")

    def _read(self, path: str) -> tuple[bytes, ParsedNote, BytePreservingText]:
        """A note's bytes, and what they say. Raises VaultError for what cannot be edited."""
        file = transaction.place(self.root, path)
        try:
            if not path.lower().endswith(NOTE_SUFFIXES) or not file.is_file():
                raise VaultError(f"{printable(path)} is not a note", "Only notes can be changed.")
            raw = file.read_bytes()
            if len(raw) > LARGEST_NOTE:
                raise VaultError(f"{printable(path)} is larger than {LARGEST_NOTE // 1_000_000} MB", "Edit it by hand.")
            verbatim = BytePreservingText.of(raw)
        except OSError as e:
            raise VaultError(f"{printable(path)} cannot be read: {(e.strerror or str(e)).lower()}", "Check its permissions.") from e
        except ValueError as e:
            raise VaultError(f"{printable(path)} is damaged: it begins as UTF-16 and is none", "Save it as UTF-8 first.") from e
        return raw, note_parser.parse_note(path, verbatim.text), verbatim

    def _section(self, path: str, note: ParsedNote, heading: str) -> section_edit.NoteSection:
        heading = heading.lstrip("# ") if heading.startswith("#") else heading
        try:
            found = section_edit.section(note, heading)
        except ValueError as e:
            raise VaultError(
                f"{path} has several headings {truncate(heading, 80)}: {e}", "Say which: Heading (line 7), or Above#Heading."
            ) from e
        if found is None:
            near = ", ".join(truncate(each, 80) for each in sections.similar_headings(heading, note.markup))
            raise VaultError(f"{path} has no heading {truncate(heading, 80)}", f"Nearest: {near}" if near else "Read the note.")
        return found

    def _edited(self, summary: str, path: str, raw: bytes, verbatim: BytePreservingText, edits: Iterable[Edit]) -> Change:
        after = verbatim.edited(edits)
        if after == raw:
            raise VaultError(f"{path} says just that already", "Nothing needs to be changed.")
        return Change(summary, (FileChange(path, path, raw, after),))


def _keeping(change: Change, note: ParsedNote, line: int) -> Change:
    """The change, if what stands from `line` on is in the new text as it was in the old. Raises VaultError."""
    if not section_edit.keeps_below(
        note, line, note_parser.parse_note(note.relative_path, BytePreservingText.of(change.files[0].after).text)
    ):
        raise VaultError("what stands below would become part of the new text", "Is a block of code or a comment in it not closed?")
    return change


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
