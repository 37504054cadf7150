"""Links that keep their targets when a note moves.

Only links that would point elsewhere change, and they keep their author's style: a bare name stays
bare if that is enough, a relative path stays relative; `.md`, headings and aliases stay. Every
spelling is tried with the resolver.
"""

import posixpath
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli.errors import VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.links.wikilinks import (
    NOTE_SUFFIXES,
    OTHER_NAMES,
    LinkName,
    Lookup,
    Resolver,
    WrittenLink,
    bulk_resolver,
    link_key,
    note_id,
    note_name,
    strip_suffix,
)
from zkchat_cli.vault.note_parser import ParsedNote

# Characters besides letters and digits that need no encoding in an address
_ALLOWED_IN_ADDRESS = "/!$&'*+,;=@~-_."


class TextEdit(NamedTuple):
    """A replacement: the text from `start` to `end` becomes `new`."""

    start: int
    end: int
    new: str


class Move(NamedTuple):
    """A file's path before and after a move."""

    old: str
    new: str

    def apply(self, path: str) -> str:
        """The new path of the file at this path."""
        return self.new if path == self.old else path


class RewrittenNote(NamedTuple):
    """The new text of a note, and how many of its links were changed."""

    text: str
    links: int


class LinkRewriter:
    """Rewrites links for a move, in a vault with the names of `lookup`."""

    def __init__(self, lookup: Lookup, move: Move) -> None:
        self._lookup = lookup
        self._move = move
        self._before = bulk_resolver(lookup)
        self._after = bulk_resolver(self._names_after)

    def _names_after(self, key: str) -> list[LinkName]:
        """The names with this key after the move. Aliases, titles and ids in front matter go with
        the file, which gets another name of its own.
        """
        move = self._move
        old_id = note_id(note_name(move.old)) or ""
        new_id = note_id(note_name(move.new)) or ""
        names = [
            name._replace(path=move.apply(name.path))
            for name in self._lookup(key)
            if name.path != move.old
            or (name.kind in OTHER_NAMES and (name.kind, key) != ("id", link_key(old_id)))
        ]
        if new_id and key == link_key(new_id):
            names.append(LinkName(move.new, "id", new_id))
        if key == link_key(move.new):
            names.append(LinkName(move.new, "note", PurePosixPath(move.new).stem))
        return names

    def rewrite(self, note: ParsedNote) -> RewrittenNote:
        """The new text of a note as it was before the move. Raises VaultError if a link could not
        keep its target.
        """
        edits: list[TextEdit] = []
        source = note.relative_path
        new_source = self._move.apply(source)
        for link in note.markup.links:
            target = self._before(link, source).target
            if target is None:
                continue
            if self._after(link, new_source).target == self._move.apply(target):
                continue
            edit = relink(self._after, link, note, target, self._move)
            if edit is None:
                raise VaultError(
                    f"{truncate(link.raw, 80)} in {source} could not keep its target",
                    "Choose another name.",
                )
            edits.append(edit)
        text = apply_edits(note.text, edits)
        if edits and read_front_matter(text).lines != note.front_matter.lines:
            raise VaultError(
                f"a name with quotation marks would make the front matter of {source} invalid",
                "Choose another name.",
            )
        return RewrittenNote(text, len(edits))


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after edits that do not overlap."""
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def relink(
    resolver: Resolver, link: WrittenLink, note: ParsedNote, old: str, move: Move
) -> TextEdit | None:
    """The edit that makes a link, which pointed to `old`, name its file after the move. It uses an
    unambiguous spelling if there is one; None if no spelling works.
    """
    source = note.relative_path
    new_source = move.apply(source)
    target = move.apply(old)
    possible: list[str] = []
    unambiguous: list[str] = []
    for spelling in _spellings(link, source, old, new_source, target):
        meaning = resolver(link._replace(text=spelling), new_source)
        if meaning.target == target:
            possible.append(spelling)
            if meaning.status == "found":
                unambiguous.append(spelling)
    best = next(iter(unambiguous or possible), None)
    return None if best is None else _edit_target(link, note.text, best)


def _edit_target(link: WrittenLink, text: str, spelling: str) -> TextEdit:
    """The edit that spells the target of a link so, encoded as its kind needs it."""
    begin, end = link.place
    written = text[begin:end]
    if link.kind == "wikilink":
        written, bar, _ = written.partition("|")
        if bar:
            written = written.removesuffix("\\")
    else:
        allowed = _ALLOWED_IN_ADDRESS
        is_bracketed = text[begin - 1 : begin] == "<"
        if is_bracketed:
            allowed += " ()"
        spelling = "".join(_encode(character, allowed) for character in spelling)
    written, _, _ = written.partition("#")
    begin += len(written) - len(written.lstrip())
    return TextEdit(begin, begin + len(written.strip()), spelling)


def _encode(character: str, allowed: str) -> str:
    if not character.isascii() or character.isalnum() or character in allowed:
        return character
    return quote(character, safe="")


def _spellings(
    link: WrittenLink, source: str, old: str, new_source: str, target: str
) -> Iterator[str]:
    """The ways to name `target`, those most like the author's first."""
    written = link.text
    whole = target if written.lower().endswith(NOTE_SUFFIXES) else strip_suffix(target)
    if _is_relative(link, source, old):
        relative = posixpath.relpath(whole, posixpath.dirname(new_source) or ".")
        if written.startswith("./") and not relative.startswith("../"):
            relative = f"./{relative}"
        yield relative
    if written.startswith("/"):
        yield f"/{whole}"
    parts = whole.split("/")
    shortest = max(1, min(_count_names(written), len(parts)))
    for length in range(shortest, len(parts) + 1):
        yield "/".join(parts[-length:])
    if "/" in whole:
        yield f"/{whole}"


def _count_names(path: str) -> int:
    """The number of folders and files that a path names."""
    return sum(part not in ("", ".", "..") for part in path.split("/"))


def _is_relative(link: WrittenLink, source: str, old: str) -> bool:
    """Whether a link is written relative to its own note."""
    if link.text.startswith(("./", "../")):
        return True
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.text))
    return link.kind == "markdown" and bool(old) and path in (old, strip_suffix(old))
