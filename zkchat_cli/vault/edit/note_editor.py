"""The changes that can be made in a vault. Each method proposes a `Change`, which describes everything it would do; only `apply` does it.

A proposal is made from the files as they are now, and `apply` refuses it when one of them has changed since.
"""

import json
import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.models import IndexReport
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import note_parser, sections
from zkchat_cli.vault.edit import file_names, link_rewrite, section_edit
from zkchat_cli.vault.edit.byte_preserving import BytePreservingText, Edit
from zkchat_cli.vault.edit.link_rewrite import LinkRewriter, Move
from zkchat_cli.vault.edit.transaction import TRASH, Change, FileChange, FileTransaction, resolve_path
from zkchat_cli.vault.filesystem import LARGEST_NOTE, printable
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.links.resolver import Name
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, key
from zkchat_cli.vault.note_parser import ParsedNote

MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class LinkFix:
    """A link of a note, by its line and its text, and the file it shall point to."""

    source: str
    line: int
    raw: str
    target: str


@dataclass(slots=True)
class NoteEditor:
    """Proposes and applies changes of one vault, whose index must be up to date."""

    root: Path
    index: IndexManager
    journal: Path
    refresh: Callable[..., IndexReport]
    _warnings: list[VaultError] = field(default_factory=list)

    def recover(self) -> None:
        """Undo a change that was interrupted; `take_warnings` reports it."""
        try:
            problem = FileTransaction(self.root, self.journal).recover()
        except OSError as e:
            problem = VaultError(f"a change of the notes was interrupted and cannot be undone: {e}", f"The old texts are in {self.journal}")
        if problem is not None:
            self._warnings.append(problem)

    def take_warnings(self) -> list[VaultError]:
        warnings, self._warnings = self._warnings, []
        return warnings

    def apply(self, change: Change) -> IndexReport | None:
        """Make a change, all of it or nothing. Raises VaultError, and then nothing has changed.

        Returns what the index took in; None if it cannot yet, which `take_warnings` reports.
        """
        try:
            FileTransaction(self.root, self.journal).apply(change)
        except OSError as e:  # of the journal, or while restoring
            hint = "What was changed already, if anything, is restored when zkchat next opens the vault."
            raise VaultError(f"the change cannot be made: {reason(e)}", hint) from e
        try:
            return self.refresh(only=change.paths)
        except VaultError as e:
            self._warnings.append(VaultError(f"the change is made, but a search does not find it yet: {e.message}", e.hint))
            return None

    def is_applied(self, change: Change) -> bool:
        """After Ctrl-C in `apply`: whether the change was made; otherwise nothing has changed."""
        return FileTransaction(self.root, self.journal).is_applied(change)

    # proposals; each raises VaultError for what cannot be done

    def create(self, path: str, text: str) -> Change:
        """A new note; `.md` is added to its name."""
        path = self._new_path(path)
        text = replace_surrogates(text).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
        same = [name.path for name in self._names([key(path)])[key(path)] if name.kind == "note"]
        notes = [f"There is {same[0]} of the same name: links need the path."] if same else []
        return Change(f"create {path}", (FileChange(None, path, b"", text.encode()),), self._path_notes(path, notes))

    def append(self, path: str, text: str, heading: str | None = None) -> Change:
        """Text at the end of a note, or of a section before its subsections."""
        original, note = self._read(path)
        section = self._section(path, note, heading) if heading else None
        edit = section_edit.append(note, section, replace_surrogates(text))
        change = self._edit(f"append to {path}{f' › {heading}' if heading else ''}", path, original, edit)
        return _require_headings_below(change, note, section.subsections) if section else change

    def edit_section(self, path: str, heading: str, text: str) -> Change:
        """Another text under a heading; the heading stays."""
        original, note = self._read(path)
        section = self._section(path, note, heading)
        edit = section_edit.replace_section(note, section, replace_surrogates(text))
        change = _require_headings_below(self._edit(f"edit {path} › {heading}", path, original, edit), note, section.after)
        return replace(change, replaced_text="\n".join(note.text.split("\n")[section.first - 1 : section.after - 1]).strip())

    def rename(self, path: str, new_path: str) -> Change:
        """A note at another path, or with `Folder/` in another folder; all links of the vault keep their targets."""
        self.refresh()
        path = posixpath.normpath(path)
        self._require_no_link(path)
        move = Move(path, self._new_path(new_path, old=path))
        contents, links = self._rewrite_links(move)
        own = contents.pop(path)
        others = (FileChange(p, p, *texts) for p, texts in contents.items())
        notes = len(contents) + (own[0] != own[1])
        rewritten = f", {_count(links, 'link')} in {_count(notes, 'note')} rewritten" if links else ""
        summary = f"rename {path} to {move.new}{rewritten}"
        return Change(summary, (FileChange(path, move.new, *own), *others), self._path_notes(move.new))

    def trash(self, path: str) -> Change:
        """A note in the vault's trash folder, under its own name or the next free one."""
        self._require_no_link(path)
        original, _ = self._read(path)
        name = PurePosixPath(path)
        numbered = (f"{TRASH}/{name.stem}{f' {i}' if i else ''}{name.suffix}" for i in count())
        new_path = next(new for new in numbered if not os.path.lexists(resolve_path(self.root, new)))
        rows = self.index.ask(lambda index: index.links_to(path))
        sources = len({row.source for row in rows})
        note = f"{_count(len(rows), 'link')} in {_count(sources, 'note')} will be broken." if rows else ""
        return Change(f"move {path} to {new_path}", (FileChange(path, new_path, original, original),), note)

    def fix_links(self, fixes: Sequence[LinkFix]) -> Change:
        """Links that shall point to other files; those that are gone, or that no spelling can fix, are left alone."""
        files: list[FileChange] = []
        links = 0
        names = self._names([key(fix.target) for fix in fixes])
        for source in dict.fromkeys(fix.source for fix in fixes):
            original, note = self._read(source)
            targets = {(fix.line, fix.raw): fix.target for fix in fixes if fix.source == source}
            edits: dict[tuple[int, int], Edit] = {}
            for link in note.markup.links:
                target = targets.get((link.line, link.raw))
                edit = link_rewrite.relink(link, note.text, source, target, names) if target is not None else None
                if edit is not None:
                    edits[edit.start, edit.end] = edit
                    links += 1
            if edits:
                files.append(FileChange(source, source, original, BytePreservingText.of(original).apply(edits.values())))
        return Change(f"fix {_count(links, 'link')} in {_count(len(files), 'note')}", tuple(files))

    def _rewrite_links(self, move: Move) -> tuple[dict[str, tuple[bytes, bytes]], int]:
        """The old and new contents of the notes that a move changes, itself first, and the number of rewritten links."""
        original, note = self._read(move.old)
        keys = list(dict.fromkeys((key(move.old), key(move.new), *map(key, note.aliases))))
        names = self._names([*keys, *(key(link.text) for link in note.markup.links)])
        names |= self._names(key(name.path) for found in tuple(names.values()) for name in found)
        rewriter = LinkRewriter(names, move)
        contents, links = {move.old: (original, original)}, 0
        for source in dict.fromkeys((move.old, *self._sources(move.old, keys))):
            original, note = self._read(source)
            found = rewriter.rewrite(source, note)
            new = BytePreservingText.of(original).apply(found.edits)
            if found.lost or (found.edits and not rewriter.keeps_targets(source, note, BytePreservingText.of(new).text)):
                listed = ", ".join(truncate(raw, 80) for raw in found.lost[:MOST_LISTED]) or "the links"
                raise VaultError(f"{listed} in {source} could not keep their targets", "Choose another name.")
            if found.edits:
                contents[source] = (original, new)
                links += found.links
        return contents, links

    def _sources(self, path: str, keys: Sequence[str]) -> list[str]:
        """The notes with a link to `path`, or with one that is looked up by these keys."""
        sql = """SELECT DISTINCT notes.path FROM links JOIN notes ON notes.id = links.note_id
                 WHERE links.target = ? OR links.key IN (SELECT value FROM json_each(?)) ORDER BY notes.path"""
        return [source for (source,) in self.index.ask(lambda index: index.rows(sql, path, json.dumps(keys)))]

    def _names(self, keys: Iterable[str]) -> dict[str, list[Name]]:
        wanted = dict.fromkeys(keys)
        return self.index.ask(lambda index: {folded: index.names(folded) for folded in wanted})

    def _new_path(self, path: str, old: str | None = None) -> str:
        """The normalized path of a new note: in the vault, not hidden, free, and linkable."""
        path = replace_surrogates(path)
        if old is not None and path.endswith("/"):
            path += posixpath.basename(old)
        if not path.lower().endswith(NOTE_SUFFIXES):
            path += ".md" if old is None else PurePosixPath(old).suffix
        resolve_path(self.root, path)
        path = posixpath.normpath(path)
        if path.startswith(f"{TRASH}/"):
            raise VaultError(f"{printable(path)} is no place for a note", "Give a path such as `Folder/Note.md`.")
        if folder := posixpath.dirname(path):  # a symbolic link to another folder of the vault: the index knows that one
            folder = resolve_path(self.root, folder).relative_to(self.root).as_posix()
            path = posixpath.normpath(posixpath.join(folder, posixpath.basename(path)))
        file_names.require_free(self.root, path, old)
        return path

    def _path_notes(self, path: str, notes: Sequence[str] = ()) -> str:
        """What the user should know about a new path."""
        ignored = ["vault.ignore leaves this place out: no search or link will find the note."] if self.index.is_ignored(path) else []
        return " ".join([*notes, *ignored, *filter(None, [file_names.portability_warning(path)])])

    def _require_no_link(self, path: str) -> None:
        """Moving a symbolic link would leave the note where it is."""
        if (self.root / path).is_symlink():
            raise VaultError(f"{printable(path)} is a link to another file", "Name that one.")

    def _read(self, path: str) -> tuple[bytes, ParsedNote]:
        """A note's bytes and the parsed note. Raises VaultError if it cannot be edited."""
        file = resolve_path(self.root, path)
        try:
            if not path.lower().endswith(NOTE_SUFFIXES) or not file.is_file():
                raise VaultError(f"{printable(path)} is not a note", "Only notes can be changed.")
            raw = file.read_bytes()
            if len(raw) > LARGEST_NOTE:
                raise VaultError(f"{printable(path)} is larger than {LARGEST_NOTE // 1_000_000} MB", "Edit it by hand.")
            text = BytePreservingText.of(raw).text
        except OSError as e:
            raise VaultError(f"{printable(path)} cannot be read: {reason(e)}", "Check its permissions.") from e
        except ValueError as e:
            raise VaultError(f"{printable(path)} is damaged: it begins like UTF-16 and is not", "Save it as UTF-8 first.") from e
        return raw, note_parser.parse_note(path, text)

    def _section(self, path: str, note: ParsedNote, heading: str) -> section_edit.NoteSection:
        heading = heading.lstrip("# ") if heading.startswith("#") else heading
        name = truncate(heading, 80)
        try:
            found = section_edit.find_section(note, heading)
        except ValueError as e:
            raise VaultError(f"{path} has several headings {name}: {e}", "Say which: Heading (line 7), or Above#Heading.") from e
        if found is None:
            near = ", ".join(truncate(each, 80) for each in sections.similar_headings(heading, note.markup))
            raise VaultError(f"{path} has no heading {name}", f"Nearest: {near}" if near else "Read the note.")
        return found

    def _edit(self, summary: str, path: str, original: bytes, edit: Edit) -> Change:
        after = BytePreservingText.of(original).apply([edit])
        if after == original:
            raise VaultError(f"{path} has exactly this text already", "Nothing needs to be changed.")
        return Change(summary, (FileChange(path, path, original, after),))


def _require_headings_below(change: Change, note: ParsedNote, line: int) -> Change:
    """The change, if the headings from `line` on are still headings in the new text. Raises VaultError."""
    edited = note_parser.parse_note(note.relative_path, BytePreservingText.of(change.files[0].after).text)
    if not section_edit.keeps_headings_below(note, line, edited):
        raise VaultError("the text below would become part of the new text", "Does it have a code block or a comment that is not closed?")
    return change


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
