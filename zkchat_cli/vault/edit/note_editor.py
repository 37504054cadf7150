"""The changes that can be made in a vault. Each method proposes a `Change`, which describes
everything it would do; only `apply` does it.

A proposal is made from the files as they are now, and `apply` refuses it when one of them has
changed since.

A renamed note changes only the links that would point elsewhere, and those in their author's
manner: a bare name stays one if that is enough, a relative path stays relative; `.md`, headings and
aliases stay. Every spelling is tried with the resolver.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.markdown.block_scanner import LIST_MARKER
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import normalize_line_ends, replace_surrogates
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.transaction import (
    TRASH,
    Change,
    FileChange,
    apply_files,
    decode_note,
    encode_like,
    path_taken,
    resolve_path,
)
from zkchat_cli.vault.filesystem import LARGEST_NOTE, printable, resolve_inside
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.index.values import LinkRow
from zkchat_cli.vault.links.wikilinks import (
    NOTE_SUFFIXES,
    LinkName,
    Lookup,
    Resolver,
    WrittenLink,
    bulk_resolver,
    link_key,
    strip_suffix,
)
from zkchat_cli.vault.markup import Heading
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.sections import matching_headings, missing_section

# Characters that a link cannot have in a note's name
UNLINKABLE = "#^[]|\\"
# A list item or table row: the next one follows without a blank line
_ROW = re.compile(rf"[ \t]*(?:{LIST_MARKER}[ \t]|\|)")


@dataclass(frozen=True, slots=True)
class NoteEditor:
    """Proposes and applies changes of one vault, whose index must be up to date."""

    root: Path
    index: IndexManager
    refresh: Callable[..., IndexReport]
    # Where a change is recorded while it is made
    journal: Path

    def apply(self, change: Change) -> IndexReport | None:
        """Make a change, all of it or nothing if it raises; what the index took in of it, None if
        it could not yet.
        """
        apply_files(self.root, change.files, self.journal)
        try:
            return self.refresh(only=change.paths)
        except (VaultError, KeyboardInterrupt):
            # The change is made: it must be recorded, and the next scan of the vault takes it in
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
            first = section.line + section.underlined
            end = next(
                (h.line - 1 for h in note.markup.headings if h.line > section.line), len(lines)
            )
        last = end - _count_blank(lines[first:end][::-1])
        above = lines[last - 1] if last else ""
        is_adjacent = (
            not above.strip()
            or not new
            or (last > first and _ROW.match(above) and _ROW.match(new[0]))
        )
        changed = [
            *lines[:last],
            *([] if is_adjacent else [""]),
            *new,
            *([] if last < end else [""]),
            *lines[last:],
        ]
        return _propose_edit(
            f"append to {path}{f' › {heading}' if heading else ''}", note, raw, changed
        )

    def edit_section(self, path: str, heading: str, text: str) -> Change:
        """Another body of a section, in place of its subsections, too; blank lines around it
        stay.
        """
        raw, note = self._read_note(path)
        section = _require_heading(note, heading)
        lines = note.text.split("\n")
        first = section.line + section.underlined
        below = (
            h.line - 1
            for h in note.markup.headings
            if h.line > section.line and h.level <= section.level
        )
        end = next(below, len(lines))
        body = lines[first:end]
        beginning, _, rest = text.lstrip("\n").partition("\n")
        # Models repeat the heading
        new = _split_lines(rest if beginning.strip() == lines[section.line - 1].strip() else text)
        leading = _count_blank(body)
        trailing = _count_blank(body[::-1])
        if leading == len(body):
            before = body[:1] or [""]
            after = body[1:] or [""]
            emptied = body
        else:
            before = body[:leading]
            after = body[len(body) - trailing :]
            emptied = after or before
        changed = [*before, *new, *after] if new else emptied
        return _propose_edit(
            f"edit {path} › {heading}", note, raw, [*lines[:first], *changed, *lines[end:]]
        )

    def rename(self, path: str, new_path: str) -> Change:
        """A note at another path, or with `Folder/` in another folder; all links of the vault keep
        their targets.
        """
        self.refresh()
        path = posixpath.normpath(path)
        _, note = self._read_note(path, to_move=True)
        move = Move(path, self._new_path(new_path, old=path))
        keys = [link_key(path), link_key(move.new), *map(link_key, note.aliases)]
        linking = self.index.ask(lambda index: index.links.notes_linking(path, keys))
        rewriter = LinkRewriter(self._names, move)
        files = list[FileChange]()
        numbers = list[int]()
        for source in dict.fromkeys((path, *linking)):
            raw, note = self._read_note(source)
            text, changed = rewriter.rewrite(note)
            if changed or source == path:
                files.append(
                    FileChange(
                        source, move.apply(source), raw, encode_like(raw, text) if changed else raw
                    )
                )
            numbers.append(changed)
        and_links = (
            (
                f", {plural(sum(numbers), 'link')} in "
                f"{plural(sum(map(bool, numbers)), 'note')} rewritten"
            )
            if any(numbers)
            else ""
        )
        return Change(f"rename {path} to {move.new}{and_links}", tuple(files))

    def trash(self, path: str) -> Change:
        """A note in the vault's trash folder, under its own name or the next free one."""
        raw, _ = self._read_note(path, to_move=True)
        name = PurePosixPath(path)
        numbered = (f"{TRASH}/{name.stem}{f' {i}' if i else ''}{name.suffix}" for i in count())
        new_path = next(
            new for new in numbered if not os.path.lexists(resolve_path(self.root, new))
        )
        rows = self.index.ask(lambda index: index.links.links_to(path))
        sources = len({row.source for row in rows})
        note = (
            f"{plural(len(rows), 'link')} in {plural(sources, 'note')} will be broken."
            if rows
            else ""
        )
        return Change(f"move {path} to {new_path}", (FileChange(path, new_path, raw, raw),), note)

    def fix_links(self, fixes: Sequence[LinkRow]) -> Change:
        """Broken links with the targets they shall get; those that are gone, or that no spelling
        can fix, are left alone.
        """
        resolver = bulk_resolver(self._names)
        files = list[FileChange]()
        links = 0
        for source in dict.fromkeys(fix.source for fix in fixes):
            raw, note = self._read_note(source)
            targets = {
                (fix.line, fix.raw): fix.target
                for fix in fixes
                if fix.source == source and fix.target
            }
            broken = [
                (link, targets[link.line, link.raw])
                for link in note.markup.links
                if (link.line, link.raw) in targets
            ]
            edits = [
                edit
                for link, target in broken
                if (edit := relink(resolver, link, note, "", Move("", target)))
            ]
            if edits:
                links += len(edits)
                files.append(
                    FileChange(
                        source, source, raw, encode_like(raw, _apply_edits(note.text, edits))
                    )
                )
        return Change(f"fix {plural(links, 'link')} in {plural(len(files), 'note')}", tuple(files))

    def _names(self, key: str) -> list[LinkName]:
        return self.index.ask(lambda index: index.names.with_key(key))

    def _new_path(self, path: str, old: str | None = None) -> str:
        """The normalized path of a new note: in the vault, not hidden, free, and linkable."""
        path = replace_surrogates(path)
        if old is not None and path.endswith("/"):
            path += posixpath.basename(old)
        if not path.lower().endswith(NOTE_SUFFIXES):
            path += ".md" if old is None else PurePosixPath(old).suffix
        file = resolve_inside(self.root, path)
        path = file.relative_to(self.root).as_posix()
        if any(c in UNLINKABLE or not c.isprintable() for c in path) or any(
            part != part.strip() for part in strip_suffix(path).split("/")
        ):
            raise VaultError(
                f"no link could name {printable(path)}",
                f"Leave out {' '.join(UNLINKABLE)} and spaces at an end.",
            )
        if os.path.lexists(file) and (
            old is None or path == old or not os.path.samefile(file, self.root / old)  # noqa: PTH121, RUF100
        ):
            raise path_taken(path)
        return path

    def _read_note(self, path: str, *, to_move: bool = False) -> tuple[bytes, ParsedNote]:
        """A note's bytes and the parsed note. Raises VaultError if it cannot be edited, or moved: a
        symbolic link is only a name of one.
        """
        file = resolve_path(self.root, path)
        if to_move and (self.root / path).is_symlink():
            raise VaultError(f"{printable(path)} is a link to another file", "Name that one.")
        if not path.lower().endswith(NOTE_SUFFIXES):
            raise VaultError(f"{printable(path)} is not a note", "Only notes can be changed.")
        try:
            raw = read_file(file, LARGEST_NOTE)
            return raw, note_parser.parse_note(path, decode_note(raw))
        except (OSError, UnicodeDecodeError) as e:
            cause = reason(e) if isinstance(e, OSError) else "it is not UTF-8"
            raise VaultError(
                f"{printable(path)} cannot be read: {cause}", "Correct that, or edit it by hand."
            ) from e


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
    heading = heading.lstrip("# ") if heading.startswith("#") else heading
    found = (
        [*matching_headings(heading, note.markup)] if "^" not in heading.rpartition("#")[2] else []
    )
    if len(found) > 1:
        lines_found = ", ".join(str(h.line) for h in found)
        several = (
            f"{note.relative_path} has several headings {truncate(heading, 80)}: lines "
            f"{lines_found}"
        )
        raise VaultError(several, "Name the one above it, too: Above#Heading.")
    if not found:
        raise missing_section(note.relative_path, "heading", heading, note.markup)
    return found[0]


def _split_lines(text: str) -> list[str]:
    text = normalize_line_ends(replace_surrogates(text)).strip("\n")
    return text.split("\n") if text.strip() else []


def _count_blank(lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines) if line.strip()), len(lines))


# Start and end in the old text, and the new text
Edit = tuple[int, int, str]


class Move(NamedTuple):
    old: str
    new: str

    def apply(self, path: str) -> str:
        return self.new if path == self.old else path


class LinkRewriter:
    """Rewrites links for a move, in a vault with the names of `lookup`."""

    def __init__(self, lookup: Lookup, move: Move) -> None:
        def names_after(key: str) -> list[LinkName]:
            """Aliases and titles go with the file, whose own name is another."""
            names = (
                name
                for name in lookup(key)
                if name.path != move.old or name.kind in ("alias", "title")
            )
            new = (
                [LinkName(move.new, "note", PurePosixPath(move.new).stem)]
                if key == link_key(move.new)
                else []
            )
            return [*(name._replace(path=move.apply(name.path)) for name in names), *new]

        self._move = move
        self._before = bulk_resolver(lookup)
        self._after = bulk_resolver(names_after)

    def rewrite(self, note: ParsedNote) -> tuple[str, int]:
        """The new text of a note as it was before the move, and how many links were changed to keep
        their targets.
        """
        edits: list[Edit] = []
        source = note.relative_path
        place = self._move.apply(note.relative_path)
        for link in note.markup.links:
            target = self._before(link, source).target
            if target is not None and self._after(link, place).target != self._move.apply(target):
                edit = relink(self._after, link, note, target, self._move)
                if edit is None:
                    raise VaultError(
                        f"{truncate(link.raw, 80)} in {source} could not keep its target",
                        "Choose another name.",
                    )
                edits.append(edit)
        text = _apply_edits(note.text, edits)
        if edits and read_front_matter(text).lines != note.front_matter.lines:
            raise VaultError(
                f"a name with quotation marks would make the front matter of {source} invalid",
                "Choose another name.",
            )
        return text, len(edits)


def _apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def relink(
    resolver: Resolver, link: WrittenLink, note: ParsedNote, old: str, move: Move
) -> Edit | None:
    """The edit by which a link that pointed to `old` names its file after the move. An unambiguous
    spelling wins; None if nothing works.
    """
    source = note.relative_path
    place = move.apply(note.relative_path)
    target = move.apply(old)
    meanings = {
        spelling: resolver(link._replace(text=spelling), place)
        for spelling in _spellings(link, source, old, place, target)
    }
    possible = [spelling for spelling, meaning in meanings.items() if meaning.target == target]
    if not possible:
        return None
    unambiguous = (spelling for spelling in possible if meanings[spelling].status == "found")
    return _edit_target(link, note.text, next(unambiguous, possible[0]))


def _edit_target(link: WrittenLink, text: str, spelling: str) -> Edit:
    """The edit that spells the target of a link so, encoded as its kind needs it."""
    begin, end = link.place
    written = text[begin:end]
    if link.kind == "wikilink":
        written, bar, _ = written.partition("|")
        written = written.removesuffix("\\") if bar else written
    else:
        allowed = "/!$&'*+,;=@~-_." + (" ()" if text[begin - 1 : begin] == "<" else "")
        spelling = "".join(
            c if not c.isascii() or c.isalnum() or c in allowed else quote(c, safe="")
            for c in spelling
        )
    written = written.partition("#")[0]
    begin += len(written) - len(written.lstrip())
    return begin, begin + len(written.strip()), spelling


def _spellings(link: WrittenLink, source: str, old: str, place: str, target: str) -> Iterator[str]:
    """The ways to name `target`, those most like the author's first."""
    written = link.text
    whole = target if written.lower().endswith(NOTE_SUFFIXES) else strip_suffix(target)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), written))
    if written.startswith(("./", "../")) or (
        link.kind == "markdown" and old and path in (old, strip_suffix(old))
    ):
        relative = posixpath.relpath(whole, posixpath.dirname(place) or ".")
        yield (
            f"./{relative}"
            if written.startswith("./") and not relative.startswith("../")
            else relative
        )
    if written.startswith("/"):
        yield f"/{whole}"
    folders = whole.split("/")
    written_folders = len(
        [folder for folder in written.split("/") if folder not in ("", ".", "..")]
    )
    for length in range(max(1, min(written_folders, len(folders))), len(folders) + 1):
        yield "/".join(folders[-length:])
    if "/" in whole:
        yield f"/{whole}"
