"""The changes that can be made in a vault. Each method proposes a `Change`, which describes
everything it would do; only `apply` does it.

A proposal is made from the files as they are now, and `apply` refuses it when one of them has
changed since.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import normalize_line_ends, replace_surrogates
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.change_record import ChangeRecord
from zkchat_cli.vault.edit.journal import ChangeJournal
from zkchat_cli.vault.edit.link_rewriter import (
    LinkRewriter,
    Move,
    TextEdit,
    apply_edits,
    relink,
)
from zkchat_cli.vault.edit.remainder import propose_reversal
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
from zkchat_cli.vault.markup import Heading
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.sections import matching_headings, missing_section
from zkchat_cli.vault.text_decoder import other_encoding
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# Characters of a heading in an error
MAX_SHOWN_HEADING = 80
# Characters that a link cannot have in a note's name
UNLINKABLE = "#^[]|\\"
# A list item or table row: the next one follows without a blank line
_ROW = re.compile(rf"[ \t]*(?:{LIST_MARKER}[ \t]|\|)")


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

    def apply(self, change: Change) -> IndexReport | None:
        """Make a change; if it raises, nothing of it is made.

        Returns the report of the index, which takes the change in; None if it could not yet.
        """
        self.journal.apply(change)
        return self._refresh_after(change)

    def recover(self, record: ChangeRecord, change: Change) -> IndexReport | None:
        """`apply` for a proposal about the change in the vault's record, which is then removed."""
        self.journal.recover(record, change)
        return self._refresh_after(change)

    def reverse(self, change: Change) -> Change:
        """A proposal that takes a change back which was made. A created note goes to the trash, and
        what somebody has edited since stays; the note says so. Raises VaultError if nothing is
        left of it.
        """
        reversal = propose_reversal(self.root, ChangeRecord("", change.summary, True, change.files))
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
        new = _split_lines(text)
        first = note.front_matter.lines
        end = len(lines)
        if heading:
            section = _require_heading(note, heading)
            first = section.line + section.more_lines
            end = _next_heading(note, section, end, with_subsections=True)
        last = end - _count_blank(lines[first:end][::-1])
        changed = lines[:last]
        if new and _needs_blank_line(lines[:last], first, new):
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
        section = _require_heading(note, heading)
        lines = note.text.split("\n")
        first = section.line + section.more_lines
        end = _next_heading(note, section, len(lines), with_subsections=False)
        body = lines[first:end]
        beginning, _, rest = text.lstrip("\n").partition("\n")
        # Models often repeat the heading in the new text
        repeats_heading = beginning.strip() == lines[section.line - 1].strip()
        new = _split_lines(rest if repeats_heading else text)
        changed = [*lines[:first], *_replace_body(body, new), *lines[end:]]
        return _propose_edit(f"edit {path} › {heading}", note, raw, changed)

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


def _needs_blank_line(lines: list[str], first: int, new: list[str]) -> bool:
    """Whether a blank line must separate the `lines` of a note from the new ones: not after a blank
    line, and not within a list or table. `first` is the index at which the section begins.
    """
    above = lines[-1] if lines else ""
    if not above.strip():
        return False
    continues_list = len(lines) > first and _ROW.match(above) and _ROW.match(new[0])
    return not continues_list


def _replace_body(body: list[str], new: list[str]) -> list[str]:
    """The lines of a section with other text between the blank lines at its ends."""
    leading = _count_blank(body)
    if leading == len(body):
        if not new:
            return body
        first_blank = body[:1] or [""]
        other_blanks = body[1:] or [""]
        return [*first_blank, *new, *other_blanks]
    before = body[:leading]
    after = body[len(body) - _count_blank(body[::-1]) :]
    if not new:
        return after or before
    return [*before, *new, *after]


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


def _next_heading(
    note: ParsedNote, section: Heading, default: int, *, with_subsections: bool
) -> int:
    """The index of the line with the next heading after a section, or `default` if there is none.
    The headings of its subsections count only if `with_subsections` is set.
    """
    for heading in note.markup.headings:
        if heading.line > section.line and (with_subsections or heading.level <= section.level):
            return heading.line - 1
    return default


def _propose_edit(summary: str, note: ParsedNote, raw: bytes, lines: Sequence[str]) -> Change:
    path = note.relative_path
    text = "\n".join(lines)
    if text == note.text:
        raise VaultError(f"{path} has exactly this text already", "Nothing needs to be changed.")
    return Change(summary, (FileChange(path, path, raw, encode_like(raw, text)),))


def _require_heading(note: ParsedNote, heading: str) -> Heading:
    """The heading that `Heading`, `# Heading` or `Heading#Subheading` names. Raises VaultError if
    there is none, or several.
    """
    if heading.startswith("#"):
        heading = heading.lstrip("# ")
    _, _, last_name = heading.rpartition("#")
    found: list[Heading] = []
    # A name with ^ is that of a block
    if "^" not in last_name:
        found += matching_headings(heading, note.markup)
    if len(found) > 1:
        lines = ", ".join(str(each.line) for each in found)
        name = truncate(heading, MAX_SHOWN_HEADING)
        raise VaultError(
            f"{note.relative_path} has several headings {name}: lines {lines}",
            "Name the one above it, too: Above#Heading.",
        )
    if not found:
        raise missing_section(note.relative_path, "heading", heading, note.markup)
    return found[0]


def _split_lines(text: str) -> list[str]:
    text = normalize_line_ends(replace_surrogates(text)).strip("\n")
    return text.split("\n") if text.strip() else []


def _count_blank(lines: list[str]) -> int:
    """The number of blank lines at the beginning."""
    for number, line in enumerate(lines):
        if line.strip():
            return number
    return len(lines)
