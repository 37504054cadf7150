"""What a renamed note does to the links of a vault: which of them would point elsewhere, and what to write instead. Pure.

A link that stays right is not touched. Any other is rewritten in its author's manner: a bare name stays one if that is enough, a partial
path grows only as far as needed, a relative path stays relative; `.md`, headings and aliases stay. Every spelling is tried
with the resolver before it is taken; nothing is guessed.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli.errors import VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.file_text import Edit, apply_edits
from zkchat_cli.vault.links.resolver import BulkLinkResolver, LinkName
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, WrittenLink, link_key, note_name, strip_suffix
from zkchat_cli.vault.note_parser import ParsedNote

Names = Mapping[str, Sequence[LinkName]]


class Move(NamedTuple):
    """A file that gets another path."""

    old: str
    new: str

    def apply(self, path: str) -> str:
        """Where the file at `path` is afterwards."""
        return self.new if path == self.old else path


class LinkRewriter:
    """Rewrites links for a move. `names` must have the keys of the old path, the new path, the note's aliases, and all links read here."""

    def __init__(self, names: Names, move: Move) -> None:
        self._move = move
        self._before = BulkLinkResolver(names)
        self._after = BulkLinkResolver(_move_names(names, move))

    def rewrite(self, source: str, note: ParsedNote) -> tuple[str, int]:
        """The new text of the note at `source` (its path before the move), in which each link keeps its target, and how many were changed.

        Raises VaultError if that cannot be.
        """
        spellings: dict[tuple[str, str], str | None] = {}
        edits: set[Edit] = set()
        links = 0
        for link in note.markup.links:
            same = link.kind, link.text
            if same not in spellings:  # a note may have the same link ten thousand times
                spellings[same] = self._respell(link, source)
            if (spelling := spellings[same]) is not None:
                edits.add(_edit_target(link, note.text, spelling))
                links += 1
        text = apply_edits(note.text, edits)
        if edits and not self._keeps_targets(source, note, text):
            raise VaultError(f"the links in {source} could not keep their targets", "Choose another name.")
        return text, links

    def _keeps_targets(self, source: str, note: ParsedNote, text: str) -> bool:
        """Whether each link in the note's new `text`, parsed again, has the target it had; broken ones may have got one."""
        new = note_parser.parse_note(source, text)
        if new.front_matter.lines != note.front_matter.lines or len(new.markup.links) != len(note.markup.links):
            return False
        pairs = {((a.kind, a.text), (b.kind, b.text)): (a, b) for a, b in zip(note.markup.links, new.markup.links, strict=True)}
        targets = ((self._before.resolve(old, source).target, link) for old, link in pairs.values())
        place = self._move.apply(source)
        return all(target is None or self._after.resolve(link, place).target == self._move.apply(target) for target, link in targets)

    def _respell(self, link: WrittenLink, source: str) -> str | None:
        """The spelling of a link after the move; None to keep it."""
        target, place = self._before.resolve(link, source).target, self._move.apply(source)
        if target is None or self._after.resolve(link, place).target == self._move.apply(target):
            return None
        spelling = _find_spelling(self._after, link, source, target, place, self._move.apply(target))
        if spelling is None:
            raise VaultError(f"{truncate(link.raw, 80)} in {source} could not keep its target", "Choose another name.")
        return spelling


def relink(link: WrittenLink, text: str, source: str, target: str, names: Names) -> Edit | None:
    """The edit that makes a link of a note point to another file, by name if that is enough; None if nothing does."""
    spelling = _find_spelling(BulkLinkResolver(names), link, source, "", source, target)
    return _edit_target(link, text, spelling) if spelling is not None else None


def _move_names(names: Names, move: Move) -> dict[str, Sequence[LinkName]]:
    after: dict[str, list[LinkName]] = {folded: [] for folded in names}
    for folded, found in names.items():
        for name in found:
            if name.path != move.old:
                after[folded].append(name)
            elif name.kind in ("alias", "title"):
                after[folded].append(name._replace(path=move.new))
    after.setdefault(link_key(move.new), []).append(LinkName(move.new, "note", note_name(move.new)))
    return {folded: tuple(found) for folded, found in after.items()}


def _find_spelling(resolver: BulkLinkResolver, link: WrittenLink, source: str, old: str, place: str, target: str) -> str | None:
    """How a link in `source` that pointed to `old` names `target` from `place`. An unambiguous spelling wins; None if nothing works."""

    def status(spelling: str) -> str | None:
        found = resolver.resolve(link._replace(text=spelling), place)
        return found.status if found.target == target else None

    *usual, first, second, third = _spellings(link, source, old, place, target)
    found = next((s for s in usual if status(s) == "found"), None) or next((s for s in usual if status(s)), None)
    return found or next((s for s in (first, second, third) if status(s)), None)


def _spellings(link: WrittenLink, source: str, old: str, place: str, target: str) -> Iterator[str]:
    """All ways to name `target`, those most like the author's first; the last three are those that nobody writes."""
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
    written_parts = min(len([part for part in written.split("/") if part not in ("", ".", "..")]) or 1, len(parts))
    for count in (*range(written_parts, len(parts) + 1), *range(written_parts - 1, 0, -1)):
        yield "/".join(parts[-count:])
    yield from (f"/{whole}", target, f"/{target}")


def _edit_target(link: WrittenLink, text: str, spelling: str) -> Edit:
    """The edit that writes `spelling` as the target of a link in `text`."""
    if link.kind == "markdown":
        begin, end = link.place
        written = text[begin:end].partition("#")[0]
        allowed = "/!$&'*+,;=@~-_." + (" ()" if text[begin - 1 : begin] == "<" else "")
        encoded = "".join(c if not c.isascii() or c.isalnum() or c in allowed else quote(c, safe="") for c in spelling)
        return Edit(begin, begin + len(written), encoded)
    inner = text[link.end - len(link.raw) + link.raw.index("[[") + 2 : link.end - 2]
    target, bar, _ = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    target = target.partition("#")[0]
    begin = link.end - 2 - len(inner) + len(target) - len(target.lstrip())
    return Edit(begin, begin + len(target.strip()), spelling)
