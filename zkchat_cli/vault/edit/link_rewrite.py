"""What a renamed note does to the links of a vault: which of them would point elsewhere, and what to write instead. Pure.

A link that stays right is not touched. Any other is rewritten in its author's manner: a bare name stays one if that is enough, a partial
path grows only as far as needed, a relative path stays relative; `.md`, headings, aliases and percent signs stay. Every spelling is tried
with the resolver before it is taken; nothing is guessed.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.byte_preserving import Edit
from zkchat_cli.vault.links.resolver import BulkLinkResolver, Name
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, WrittenLink, key, stem, strip_suffix
from zkchat_cli.vault.note_parser import ParsedNote

Names = Mapping[str, Sequence[Name]]
_SAFE = "/!$&'*+,;=@~"
_SPACED = re.compile(r"[ \t\n]")


class Move(NamedTuple):
    """A file that gets another path."""

    old: str
    new: str

    def apply(self, path: str) -> str:
        """Where the file at `path` is afterwards."""
        return self.new if path == self.old else path


class RewrittenText(NamedTuple):
    """The edits of one note, the number of links they change, and the links that no spelling can keep on their target."""

    edits: tuple[Edit, ...] = ()
    links: int = 0
    lost: tuple[str, ...] = ()


class LinkRewriter:
    """Rewrites links for a move. `names` must have the keys of the old path, the new path, the note's aliases, and all links read here."""

    def __init__(self, names: Names, move: Move) -> None:
        self._move = move
        self._before = BulkLinkResolver(names)
        self._after = BulkLinkResolver(_move_names(names, move))

    def rewrite(self, source: str, note: ParsedNote) -> RewrittenText:
        """What to change in the note at `source` (its path before the move) so that each link keeps its target."""
        spellings: dict[tuple[str, str], str | None] = {}
        edits: dict[tuple[int, int], str] = {}
        lost: list[str] = []
        links = 0
        for link in note.markup.links:
            same = link.kind, link.text
            if same not in spellings:  # a note may have the same link ten thousand times
                spellings[same] = self._respell(link, source)
            spelling = spellings[same]
            if spelling == "":
                lost.append(link.raw)
            elif spelling is not None:
                span, new = _edit_target(link, note.text, spelling)
                edits[span] = new
                links += 1
        return RewrittenText(tuple(Edit(*span, new) for span, new in sorted(edits.items())), links, tuple(lost))

    def keeps_targets(self, source: str, note: ParsedNote, text: str) -> bool:
        """Whether each link in the note's new `text`, parsed again, has the target it had; broken ones may have got one."""
        new = note_parser.parse_note(source, text)
        if new.front_matter.lines != note.front_matter.lines or len(new.markup.links) != len(note.markup.links):
            return False
        pairs = {((a.kind, a.text), (b.kind, b.text)): (a, b) for a, b in zip(note.markup.links, new.markup.links, strict=True)}
        targets = ((self._before.resolve(old, source).target, link) for old, link in pairs.values())
        place = self._move.apply(source)
        return all(target is None or self._after.resolve(link, place).target == self._move.apply(target) for target, link in targets)

    def _respell(self, link: WrittenLink, source: str) -> str | None:
        """The spelling of a link after the move; None to keep it, empty if none works."""
        target, place = self._before.resolve(link, source).target, self._move.apply(source)
        new_target = self._after.resolve(link, place).target
        if target is None:
            may_stay = source == place or not link.text.startswith(("./", "../")) or new_target in (None, place)
            return None if may_stay else _respell_broken(link.text, posixpath.dirname(source), posixpath.dirname(place))
        if new_target == self._move.apply(target):
            return None
        status = _status_by_spelling(self._after, link, place, self._move.apply(target))
        return _find_spelling(link, source, target, place, self._move.apply(target), status) or ""


def relink(link: WrittenLink, text: str, source: str, target: str, names: Names) -> Edit | None:
    """The edit that makes a link of a note point to another file, by name if that is enough; None if nothing does."""
    spelling = _find_spelling(link, source, "", source, target, _status_by_spelling(BulkLinkResolver(names), link, source, target))
    if spelling is None:
        return None
    span, new = _edit_target(link, text, spelling)
    return Edit(*span, new)


def _move_names(names: Names, move: Move) -> dict[str, Sequence[Name]]:
    after: dict[str, list[Name]] = {folded: [] for folded in names}
    for folded, found in names.items():
        for name in found:
            if name.path != move.old:
                after[folded].append(name)
            elif name.kind == "alias":
                after[folded].append(name._replace(path=move.new))
    after.setdefault(key(move.new), []).append(Name(move.new, "note", stem(move.new)))
    return {folded: tuple(found) for folded, found in after.items()}


def _status_by_spelling(resolver: BulkLinkResolver, link: WrittenLink, source: str, target: str) -> Callable[[str], str | None]:
    """A function from a spelling to the status the link has with it; None if it misses the target."""

    def status(spelling: str) -> str | None:
        found = resolver.resolve(link._replace(text=spelling), source)
        return found.status if found.target == target else None

    return status


def _respell_broken(text: str, folder: str, new_folder: str) -> str:
    """A broken relative link in a moved note could come to mean another file: the relative path of the same missing file."""
    missing = posixpath.normpath(posixpath.join(folder, text))
    if missing.startswith("../"):  # out of the vault
        return "../" * (new_folder.count("/") + 1 if new_folder else 0) + missing
    spelling = posixpath.relpath(missing, new_folder or ".")
    return spelling if spelling.startswith("../") else f"./{spelling}"


def _find_spelling(link: WrittenLink, source: str, old: str, place: str, target: str, status: Callable[[str], str | None]) -> str | None:
    """How a link in `source` that pointed to `old` names `target` from `place`. An unambiguous spelling wins; None if nothing works."""
    *usual, first, second, third = _spellings(link, source, old, place, target)
    found = next((s for s in usual if status(s) == "found"), None) or next((s for s in usual if status(s)), None)
    return found or next((s for s in (first, second, third) if status(s)), None)


def _spellings(link: WrittenLink, source: str, old: str, place: str, target: str) -> Iterator[str]:
    """All ways to name `target`, those most like the author's first; the last three are those that nobody writes."""
    written = link.text
    whole = target if written.lower().endswith(NOTE_SUFFIXES) else strip_suffix(target)
    relative = posixpath.relpath(whole, posixpath.dirname(place) or ".")
    as_file = link.kind == "markdown" and old and _is_path_of(posixpath.join(posixpath.dirname(source), written), old)
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


def _is_path_of(written: str, path: str) -> bool:
    return posixpath.normpath(written) in (path, strip_suffix(path))


def _edit_target(link: WrittenLink, text: str, spelling: str) -> tuple[tuple[int, int], str]:
    """Where in `text` the target of a link is, and how `spelling` is written there."""
    if link.kind == "markdown":
        begin, end = link.place
        written = text[begin:end].partition("#")[0]
        quoted = text[begin - 1 : begin] == "<"
        return (begin, begin + len(written)), _as_destination(spelling, written, quoted=quoted)
    inner = text[link.end - len(link.raw) + link.raw.index("[[") + 2 : link.end - 2]
    target, bar, _ = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    target = target.partition("#")[0]
    begin = link.end - 2 - len(inner) + len(target) - len(target.lstrip())
    return (begin, begin + len(target.strip())), spelling


def _as_destination(spelling: str, written: str, *, quoted: bool) -> str:
    """A path as a Markdown destination: percent signs where needed, and for non-ASCII letters if the author wrote them so."""
    if re.search(r"%[89A-Fa-f][0-9A-Fa-f]", written):
        return quote(spelling, safe=_SAFE + (" ()" if quoted and _SPACED.search(written) else ""))
    allowed = f"{_SAFE}-_.{' ()' if quoted else ''}"
    return "".join(c if not c.isascii() or c.isalnum() or c in allowed else quote(c, safe="") for c in spelling)
