"""What a renamed note does to the links of a vault: which of them would point elsewhere, and what to write instead. Pure.

A link that stays right is not touched. Any other is rewritten in its author's manner: a bare name stays one if that is enough, a partial
path grows only as far as needed, a relative path stays relative; `.md`, headings and aliases stay. Every spelling is tried
with the resolver before it is taken; nothing is guessed.
"""

import posixpath
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli.errors import VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.links.resolver import BulkLinkResolver, LinkName, Lookup
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, WrittenLink, link_key, note_name, strip_suffix
from zkchat_cli.vault.note_parser import ParsedNote


class Edit(NamedTuple):
    start: int
    end: int
    new: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits):
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])


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
            names = (name for name in lookup(key) if name.path != move.old or name.kind in ("alias", "title"))
            new = [LinkName(move.new, "note", note_name(move.new))] if key == link_key(move.new) else []
            return [*(name._replace(path=move.apply(name.path)) for name in names), *new]

        self._move = move
        self._before = BulkLinkResolver(lookup)
        self._after = BulkLinkResolver(names_after)

    def rewrite(self, source: str, note: ParsedNote) -> tuple[str, int]:
        """The new text of the note at `source` (its path before the move), in which each link keeps its target, and how many were changed.
        Raises VaultError if that cannot be."""
        edits = [edit for link in note.markup.links if (edit := self._edit(link, source, note.text))]
        text = apply_edits(note.text, edits)
        if edits:  # parsed again: broken links may have got a target
            new = note_parser.parse_note(source, text)
            is_same = new.front_matter.lines == note.front_matter.lines and len(new.markup.links) == len(note.markup.links)
            pairs = zip(note.markup.links, new.markup.links, strict=False)
            if not is_same or not all(self._is_kept(self._before.resolve(old, source).target, link, source) for old, link in pairs):
                raise VaultError(f"the links in {source} could not keep their targets", "Choose another name.")
        return text, len(edits)

    def _is_kept(self, target: str | None, link: WrittenLink, source: str) -> bool:
        return target is None or self._after.resolve(link, self._move.apply(source)).target == self._move.apply(target)

    def _edit(self, link: WrittenLink, source: str, text: str) -> Edit | None:
        target = self._before.resolve(link, source).target
        if target is None or self._is_kept(target, link, source):
            return None
        spelling = _find_spelling(self._after, link, source, target, self._move.apply(source), self._move.apply(target))
        if spelling is None:
            raise VaultError(f"{truncate(link.raw, 80)} in {source} could not keep its target", "Choose another name.")
        return _edit_target(link, text, spelling)


def relink(link: WrittenLink, text: str, source: str, target: str, lookup: Lookup) -> Edit | None:
    """The edit that makes a link of a note point to another file, by name if that is enough; None if nothing does."""
    spelling = _find_spelling(BulkLinkResolver(lookup), link, source, "", source, target)
    return _edit_target(link, text, spelling) if spelling is not None else None


def _find_spelling(resolver: BulkLinkResolver, link: WrittenLink, source: str, old: str, place: str, target: str) -> str | None:
    """How a link in `source` that pointed to `old` names `target` from `place`. An unambiguous spelling wins; None if nothing works."""
    possible: dict[str, str | None] = {}
    for spelling in _spellings(link, source, old, place, target):
        found = resolver.resolve(link._replace(text=spelling), place)
        if found.target == target:
            possible[spelling] = found.status
    return next((spelling for spelling, status in possible.items() if status == "found"), None) or next(iter(possible), None)


def _spellings(link: WrittenLink, source: str, old: str, place: str, target: str) -> Iterator[str]:
    """The ways to name `target`, those most like the author's first."""
    written = link.text
    whole = target if written.lower().endswith(NOTE_SUFFIXES) else strip_suffix(target)
    relative = posixpath.relpath(whole, posixpath.dirname(place) or ".")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), written))
    as_file = link.kind == "markdown" and old and path in (old, strip_suffix(old))
    if written.startswith(("./", "../")) or as_file:
        dotted = relative if relative.startswith("../") else f"./{relative}"
        yield from (dotted, relative) if written.startswith("./") else (relative, dotted)
    if written.startswith("/"):
        yield f"/{whole}"
    parts = whole.split("/")
    written_parts = len([part for part in written.split("/") if part not in ("", ".", "..")])
    for count in range(max(1, min(written_parts, len(parts))), len(parts) + 1):
        yield "/".join(parts[-count:])
    if "/" in whole:
        yield f"/{whole}"


def _edit_target(link: WrittenLink, text: str, spelling: str) -> Edit:
    begin, end = link.place
    written = text[begin:end]
    if link.kind == "wikilink":
        written, bar, _ = written.partition("|")
        written = written.removesuffix("\\") if bar else written
    else:
        allowed = "/!$&'*+,;=@~-_." + (" ()" if text[begin - 1 : begin] == "<" else "")
        spelling = "".join(c if not c.isascii() or c.isalnum() or c in allowed else quote(c, safe="") for c in spelling)
    written = written.partition("#")[0]
    begin += len(written) - len(written.lstrip())
    return Edit(begin, begin + len(written.strip()), spelling)
