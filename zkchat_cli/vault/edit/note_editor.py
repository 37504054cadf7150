"""The changes that can be made in a vault. Each method proposes a `Change`, which describes
everything it would do; only `apply` does it.

A proposal is made from the files as they are now, and `apply` refuses it when one of them has
changed since.
"""

import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.unified_diff import DiffHunk
from zkchat_cli.text.words import normalize_line_ends, replace_surrogates
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.change_history import ChangeHistory, Undo
from zkchat_cli.vault.edit.change_record import ChangeRecord
from zkchat_cli.vault.edit.journal import ChangeJournal
from zkchat_cli.vault.edit.link_rewriter import (
    LinkRewriter,
    Move,
    TextEdit,
    apply_edits,
    relink,
)
from zkchat_cli.vault.edit.patch import HunkNotFound, apply_hunks
from zkchat_cli.vault.edit.remainder import propose_reversal
from zkchat_cli.vault.edit.section_text import (
    MAX_SHOWN_HEADING,
    count_blank,
    needs_blank_line,
    next_heading,
    replace_body,
    require_heading,
    split_text,
)
from zkchat_cli.vault.edit.transaction import (
    Change,
    FileChange,
    decode_note,
    encode_like,
    free_trash_path,
    path_taken,
    resolve_path,
)
from zkchat_cli.vault.filesystem import (
    HOW_TO_SEARCH,
    LARGEST_NOTE,
    printable,
    resolve_inside,
)
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.values import LinkRow
from zkchat_cli.vault.links.wikilinks import (
    NOTE_SUFFIXES,
    LinkName,
    Resolver,
    bulk_resolver,
    link_key,
    strip_suffix,
)
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.text_decoder import other_encoding
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# The line that begins front matter
FRONT_MATTER = "---"
# Characters that a link cannot have in a note's name
UNLINKABLE = "#^[]|\\"


class _LinkPlace(NamedTuple):
    """What identifies a link in a note: its line and its text."""

    line: int
    raw: str


@dataclass(frozen=True, slots=True)
class NoteEditor:
    """Proposes and applies changes of one vault, of the notes in the `view` only. Its index must be
    up to date.
    """

    root: Path
    index: IndexManager
    refresh: Callable[..., IndexReport]
    # Records a change while it is made
    journal: ChangeJournal
    view: VaultView = WHOLE_VAULT

    @property
    def _history(self) -> ChangeHistory:
        """Keeps what is needed to take changes back, beside the index."""
        return ChangeHistory(self.root, self.journal.own_file.with_suffix(".changed"))

    def apply(self, change: Change, turn: str = "") -> IndexReport | None:
        """Make a change; if it raises, nothing of it is made. Changes with the same `turn` are
        taken back together.

        Returns the report of the index, which takes the change in; None if it could not yet.
        """
        record = self._history.add(change, turn)
        try:
            self.journal.apply(change)
        except BaseException:
            if record is not None:
                record.unlink(missing_ok=True)
            raise
        return self._refresh_after(change)

    def propose_undo(self) -> Undo:
        """What takes back the last change, and the others of its turn. Raises VaultError if there
        is none, or if all of its notes were edited since.
        """
        undo = self._history.propose_undo()
        if not undo.change.files:
            raise VaultError(
                f"nothing of “{undo.change.summary}” can be taken back. {undo.change.note}".strip(),
                "Nothing was changed.",
            )
        return undo

    def undo(self, undo: Undo) -> IndexReport | None:
        """Make what `propose_undo` returned. Raises VaultError, and then nothing is changed."""
        self.journal.apply(undo.change)
        for record in undo.records:
            record.unlink(missing_ok=True)
        return self._refresh_after(undo.change)

    def recover(self, record: ChangeRecord, change: Change) -> IndexReport | None:
        """`apply` for a proposal about the change in the vault's record, which is then removed."""
        self.journal.recover(record, change)
        return self._refresh_after(change)

    def reverse(self, change: Change) -> Change:
        """A proposal that takes a change back which was made. A created note goes to the trash, and
        what somebody has edited since stays; the note says so. Raises VaultError if nothing is
        left of it.
        """
        made = ChangeRecord("", change.summary, True, change.files)
        reversal = propose_reversal(self.root, made, self.view)
        if not reversal.files:
            raise VaultError(f"{change.summary}: nothing of it is left to take back", reversal.note)
        return reversal

    def _refresh_after(self, change: Change) -> IndexReport | None:
        try:
            return self.refresh(only=change.paths)
        except (VaultError, KeyboardInterrupt):
            # The change is made and must be recorded; the next scan of the vault indexes it
            return None

    # proposals; each raises VaultError for what cannot be done

    def create(self, path: str, text: str) -> Change:
        """A new note; `.md` is added to its name."""
        path = self._new_path(path)
        text = normalize_line_ends(replace_surrogates(text)).rstrip("\n") + "\n"
        return Change(f"create {path}", (FileChange(None, path, b"", text.encode()),))

    def append(self, path: str, text: str, heading: str | None = None) -> Change:
        """Text at the end of a note, or of a section before its subsections."""
        raw, note = self._read_note(path)
        lines = note.text.split("\n")
        new = split_text(text)
        first = note.front_matter.lines
        end = len(lines)
        if heading:
            section = require_heading(note, heading)
            first = section.line + section.more_lines
            end = next_heading(note, section, end, with_subsections=True)
        last = end - count_blank(lines[first:end][::-1])
        changed = lines[:last]
        if new and needs_blank_line(lines[:last], first, new):
            changed.append("")
        changed += new
        if last == end:
            changed.append("")
        changed += lines[last:]
        place = f"{path} › {heading}" if heading else path
        return _propose_edit(f"append to {place}", note, raw, changed)

    def edit_section(self, path: str, heading: str, text: str) -> Change:
        """Another text of a section, which also replaces its subsections; blank lines around it
        stay.
        """
        raw, note = self._read_note(path)
        section = require_heading(note, heading)
        lines = note.text.split("\n")
        first = section.line + section.more_lines
        end = next_heading(note, section, len(lines), with_subsections=False)
        body = lines[first:end]
        beginning, _, rest = text.lstrip("\n").partition("\n")
        # Models often repeat the heading in the new text
        repeats_heading = beginning.strip() == lines[section.line - 1].strip()
        new = split_text(rest if repeats_heading else text)
        changed = [*lines[:first], *replace_body(body, new), *lines[end:]]
        return _propose_edit(f"edit {path} › {heading}", note, raw, changed)

    def replace_text(self, path: str, text: str) -> Change:
        """Another text of a note. Its front matter stays unless the text has its own, and so do
        blank lines at its ends.
        """
        raw, note = self._read_note(path)
        lines = note.text.split("\n")
        new = split_text(text)
        front = [] if new[:1] == [FRONT_MATTER] else lines[: note.front_matter.lines]
        changed = [*front, *replace_body(lines[len(front) :], new)]
        return _propose_edit(f"change {path}", note, raw, changed)

    def apply_hunks(self, path: str, hunks: Sequence[DiffHunk]) -> Change:
        """A note with the hunks of a diff, wherever their lines are by now."""
        raw, note = self._read_note(path)
        try:
            text = apply_hunks(note.text, hunks)
        except HunkNotFound as e:
            line = next((line for line in e.hunk.old if line.strip()), "")
            raise VaultError(
                f"the change does not fit {path}: it has no line "
                f"“{truncate(line.strip(), MAX_SHOWN_HEADING)}” with what follows it there",
                "Nothing was changed. Show the note to the model and ask again.",
            ) from e
        return _propose_edit(f"change {path}", note, raw, text.split("\n"))

    def rename(self, path: str, new_path: str) -> Change:
        """A note at another path, or in another folder if the path ends with `/`; all links of the
        view keep their targets.
        """
        self.refresh()
        path = posixpath.normpath(path)
        _, note = self._read_note(path, to_move=True)
        move = Move(path, self._new_path(new_path, old=path))
        rewriter = LinkRewriter(self._names, move)
        files: list[FileChange] = []
        links: list[int] = []
        for source in dict.fromkeys((path, *self._linking_notes(note, move))):
            raw, source_note = self._read_note(source)
            rewritten = rewriter.rewrite(source_note)
            links.append(rewritten.links)
            if rewritten.links:
                after = encode_like(raw, rewritten.text)
                files.append(FileChange(source, move.apply(source), raw, after))
            elif source == path:
                files.append(FileChange(source, move.new, raw, raw))
        summary = f"rename {path} to {move.new}"
        if any(links):
            notes = plural(sum(map(bool, links)), "note")
            summary += f", {plural(sum(links), 'link')} in {notes} rewritten"
        return Change(summary, tuple(files))

    def _linking_notes(self, note: ParsedNote, move: Move) -> list[str]:
        """The notes with links to this one, and with links that its new name could catch."""
        keys = [link_key(move.old), link_key(move.new), *map(link_key, note.aliases)]
        return self.index.ask(lambda index: index.links.notes_linking(move.old, keys))

    def trash(self, path: str) -> Change:
        """A note in the vault's trash folder, under its own name or the next free one."""
        raw, _ = self._read_note(path, to_move=True)
        new_path = free_trash_path(self.root, path, self.view)
        rows = self.index.ask(lambda index: index.links.links_to(path))
        note = ""
        if rows:
            sources = len({row.source for row in rows})
            note = f"{plural(len(rows), 'link')} in {plural(sources, 'note')} will be broken."
        return Change(f"move {path} to {new_path}", (FileChange(path, new_path, raw, raw),), note)

    def fix_links(self, fixes: Sequence[LinkRow]) -> Change:
        """Broken links with the targets they shall get. Links that are gone, or that no spelling
        can fix, are left alone.
        """
        resolver = bulk_resolver(self._names)
        files: list[FileChange] = []
        links = 0
        for source in dict.fromkeys(fix.source for fix in fixes):
            raw, note = self._read_note(source)
            own = [fix for fix in fixes if fix.source == source]
            edits = _fix_edits(resolver, note, own)
            if edits:
                links += len(edits)
                after = encode_like(raw, apply_edits(note.text, edits))
                files.append(FileChange(source, source, raw, after))
        summary = f"fix {plural(links, 'link')} in {plural(len(files), 'note')}"
        return Change(summary, tuple(files))

    def _names(self, key: str) -> list[LinkName]:
        return self.index.ask(lambda index: index.names.with_key(key))

    def _new_path(self, path: str, old: str | None = None) -> str:
        """The normalized path of a new note: in the vault, not hidden, free, and linkable."""
        path = replace_surrogates(path)
        if old is not None and path.endswith("/"):
            path += posixpath.basename(old)
        if not path.lower().endswith(NOTE_SUFFIXES):
            path += ".md" if old is None else PurePosixPath(old).suffix
        try:
            file = resolve_inside(self.root, path, self.view)
        except FileNotFoundError as e:
            raise VaultError(
                f"{printable(path)} is not in a folder where you may write",
                f"You may write in {', '.join(self.view.folders)}.",
            ) from e
        path = file.relative_to(self.root).as_posix()
        if not _is_linkable(path):
            raise VaultError(
                f"no link could name {printable(path)}",
                f"Leave out {' '.join(UNLINKABLE)} and spaces at an end.",
            )
        if os.path.lexists(file):
            # Another spelling of the old name can be the same file
            is_same = False
            if old is not None and path != old:
                is_same = file.samefile(self.root / old)
            if not is_same:
                raise path_taken(path)
        return path

    def _read_note(self, path: str, *, to_move: bool = False) -> tuple[bytes, ParsedNote]:
        """A note's bytes and the parsed note. Raises VaultError if it cannot be edited, or moved: a
        symbolic link is only a name of one.
        """
        if not self.view.allows(path):
            raise VaultError(f"there is no note {printable(path)}", HOW_TO_SEARCH)
        file = resolve_path(self.root, path)
        if to_move and (self.root / path).is_symlink():
            raise VaultError(f"{printable(path)} is a link to another file", "Name that one.")
        if not path.lower().endswith(NOTE_SUFFIXES):
            raise VaultError(f"{printable(path)} is not a note", "Only notes can be changed.")
        try:
            raw = read_file(file, LARGEST_NOTE)
            return raw, note_parser.parse_note(path, decode_note(raw))
        except OSError as e:
            raise VaultError(
                f"{printable(path)} cannot be read: {reason(e)}",
                "Correct that, or edit it by hand.",
            ) from e
        except UnicodeDecodeError as e:
            encoding = other_encoding(raw)
            cause = f"it is {encoding}, not UTF-8" if encoding else "it is not UTF-8"
            raise VaultError(
                f"{printable(path)} is not changed: {cause}",
                "Save it as UTF-8 in your editor, or edit it by hand.",
            ) from e


def _is_linkable(path: str) -> bool:
    """Whether a link can name a note at this path."""
    if not path.isprintable() or any(character in path for character in UNLINKABLE):
        return False
    return all(part == part.strip() for part in strip_suffix(path).split("/"))


def _fix_edits(resolver: Resolver, note: ParsedNote, fixes: Iterable[LinkRow]) -> list[TextEdit]:
    """The edits that give links of a note the targets of their fixes."""
    targets = {_LinkPlace(fix.line, fix.raw): fix.target for fix in fixes if fix.target}
    edits = []
    for link in note.markup.links:
        target = targets.get(_LinkPlace(link.line, link.raw))
        if target is not None:
            edit = relink(resolver, link, note, "", Move("", target))
            if edit:
                edits.append(edit)
    return edits


def _propose_edit(summary: str, note: ParsedNote, raw: bytes, lines: Sequence[str]) -> Change:
    path = note.relative_path
    text = "\n".join(lines)
    if text == note.text:
        raise VaultError(f"{path} has exactly this text already", "Nothing needs to be changed.")
    return Change(summary, (FileChange(path, path, raw, encode_like(raw, text)),))
