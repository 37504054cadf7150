"""What a renamed note does to the links of a vault: which of them would no longer lead where they lead, and what to write instead. Pure.

A link is left as it is wherever it stays right. Where it does not, it is rewritten as its author writes links: a bare name stays one if
that is enough, a path from a folder on grows only as far as it must, a relative path stays relative, `.md`, headings, shown texts and
percent signs stay. Every spelling is tried by the rules of resolving before it is taken, so nothing is rewritten by guess.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli.vault import note_parser
from zkchat_cli.vault.edit.byte_preserving import Edit
from zkchat_cli.vault.links.bulk_resolver import BulkLinkResolver
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, Name, WrittenLink, key, split_target, stem
from zkchat_cli.vault.note_parser import ParsedNote

Names = Mapping[str, Sequence[Name]]
UNLINKABLE = "#^[]|\\"
"""Characters that no link can say in a note's name."""
_SAFE = "/!$&'*+,;=@~"
_SPACED = re.compile(r"[ \t\n]")


class Move(NamedTuple):
    """A file that gets another path."""

    old: str
    new: str

    def __call__(self, path: str) -> str:
        """Where the file at `path` is afterwards."""
        return self.new if path == self.old else path


class RewrittenText(NamedTuple):
    """What to change in one note, and how many links that are. `lost` are links that nothing can make lead where they led."""

    edits: tuple[Edit, ...] = ()
    links: int = 0
    lost: tuple[str, ...] = ()


def moved_names(names: Names, move: Move) -> dict[str, Sequence[Name]]:
    """The table of names when the file has moved; `names` must have the keys of its old path, its new one and its aliases."""
    after: dict[str, list[Name]] = {folded: [] for folded in names}
    for folded, found in names.items():
        for name in found:
            if name.path != move.old:
                after[folded].append(name)
            elif name.kind == "alias":
                after[folded].append(name._replace(path=move.new))
    after.setdefault(key(move.new), []).append(Name(move.new, "note", stem(move.new)))
    return {folded: tuple(found) for folded, found in after.items()}


def rewritten(source: str, note: ParsedNote, before: BulkLinkResolver, after: BulkLinkResolver, move: Move) -> RewrittenText:
    """What has to change in the note at `source` (its path before the move) so that each of its links leads where it led."""
    respelled: dict[tuple[str, str], str | None] = {}
    edits: dict[tuple[int, int], str] = {}
    lost: list[str] = []
    links = 0
    for link in note.markup.links:
        said = link.kind, link.text
        if said not in respelled:  # a note may say the same ten thousand times
            respelled[said] = _respelled(link, source, before, after, move)
        spelled = respelled[said]
        if spelled == "":
            lost.append(link.raw)
        elif spelled is not None:
            span, new = _target_in(link, note.text, spelled)
            edits[span] = new
            links += 1
    return RewrittenText(tuple(Edit(*span, new) for span, new in sorted(edits.items())), links, tuple(lost))


def _respelled(link: WrittenLink, source: str, before: BulkLinkResolver, after: BulkLinkResolver, move: Move) -> str | None:
    """How a link must be spelled after the move; None: as it is; empty: no spelling does."""
    target, place = before.resolve(link, source).target, move(source)
    leads_to = after.resolve(link, place).target
    if target is None:
        may_stay = source == place or not link.text.startswith(("./", "../")) or leads_to in (None, place)
        return None if may_stay else _nowhere(link.text, posixpath.dirname(source), posixpath.dirname(place))
    if leads_to == move(target):
        return None

    def leads(spelled: str) -> str | None:
        """How surely the link leads to its target when it is spelled so: its status; None if it does not."""
        found = after.resolve(link._replace(text=spelled), place)
        return found.status if found.target == move(target) else None

    return _spelled(link, source, target, place, move(target), leads) or ""


def _nowhere(text: str, folder: str, new_folder: str) -> str:
    """A relative link that leads nowhere, in a note that moves, would come to lead somewhere else: how it means the same missing file."""
    meant = posixpath.normpath(posixpath.join(folder, text))
    if meant.startswith("../"):  # it climbs out of the vault
        return "../" * (new_folder.count("/") + 1 if new_folder else 0) + meant
    spelled = posixpath.relpath(meant, new_folder or ".")
    return spelled if spelled.startswith("../") else f"./{spelled}"


def relinked(link: WrittenLink, text: str, source: str, target: str, names: Names) -> Edit | None:
    """What makes a link of a note lead to another file: a name if that is enough; None if nothing can."""
    resolve = BulkLinkResolver(names).resolve

    def leads(spelled: str) -> str | None:
        found = resolve(link._replace(text=spelled), source)
        return found.status if found.target == target else None

    spelled = _spelled(link, source, "", source, target, leads)
    if spelled is None:
        return None
    span, new = _target_in(link, text, spelled)
    return Edit(*span, new)


def _spelled(link: WrittenLink, source: str, old: str, place: str, target: str, leads: Callable[[str], str | None]) -> str | None:
    """How a link that stood in `source` and led to `old` says `target` from `place`; None if nothing does.

    What means it alone goes before what means it best among several.
    """
    *usual, first, second, third = _spellings(link, source, old, place, target)
    found = next((s for s in usual if leads(s) == "found"), None) or next((s for s in usual if leads(s)), None)
    return found or next((s for s in (first, second, third) if leads(s)), None)


def _spellings(link: WrittenLink, source: str, old: str, place: str, target: str) -> Iterator[str]:
    """All ways to say `target`, those most like the author's own first, and at last three that nobody would write if he could help it."""
    written = link.text
    suffixed = written.lower().endswith(NOTE_SUFFIXES)
    whole = target if suffixed else posixpath.join(posixpath.dirname(target), stem(target))
    folder = posixpath.dirname(place)
    relative = posixpath.relpath(whole, folder or ".")
    is_relative = written.startswith(("./", "../"))
    as_file = link.kind == "markdown" and old and _same_file(posixpath.join(posixpath.dirname(source), written), old)
    if is_relative or as_file:
        dotted = relative if relative.startswith("../") else f"./{relative}"
        yield from (dotted, relative) if written.startswith("./") else (relative, dotted)
    if written.startswith("/"):
        yield f"/{whole}"
    parts = whole.split("/")
    said = min(len([part for part in written.split("/") if part not in ("", ".", "..")]) or 1, len(parts))
    for count in (*range(said, len(parts) + 1), *range(said - 1, 0, -1)):
        yield "/".join(parts[-count:])
    yield from (f"/{whole}", target, f"/{target}")


def _same_file(written: str, path: str) -> bool:
    return posixpath.normpath(written) in (path, posixpath.join(posixpath.dirname(path), stem(path)))


def _target_in(link: WrittenLink, text: str, spelled: str) -> tuple[tuple[int, int], str]:
    """Where in `text` the target of a link stands, and how it is written there."""
    if link.kind == "markdown":
        begin, end = link.place
        written = text[begin:end].partition("#")[0]
        quoted = text[begin - 1 : begin] == "<"
        return (begin, begin + len(written)), _as_destination(spelled, written, quoted=quoted)
    inner = text[link.end - len(link.raw) + link.raw.index("[[") + 2 : link.end - 2]
    target, bar, _ = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    target = target.partition("#")[0]
    begin = link.end - 2 - len(inner) + len(target) - len(target.lstrip())
    return (begin, begin + len(target.strip())), spelled


def _as_destination(spelled: str, written: str, *, quoted: bool) -> str:
    """A path as a Markdown link's destination: percent signs for what could end it, and for other letters if the author wrote them so."""
    encodes = re.search(r"%[89A-Fa-f][0-9A-Fa-f]", written) is not None
    if encodes:
        return quote(spelled, safe=_SAFE + (" ()" if quoted and _SPACED.search(written) else ""))
    keeps = " ()" if quoted else ""
    return "".join(c if not c.isascii() or c.isalnum() or c in keeps or c in f"{_SAFE}-_." else quote(c, safe="") for c in spelled)


def holds(source: str, note: ParsedNote, text: str, before: BulkLinkResolver, after: BulkLinkResolver, move: Move) -> bool:
    """Whether in a note's new `text` each link leads where it led, read anew as the index will read it; dead ones may have come alive."""
    new = note_parser.parse_note(source, text)
    if new.front_matter.lines != note.front_matter.lines or len(new.markup.links) != len(note.markup.links):
        return False
    pairs = {((was.kind, was.text), (now.kind, now.text)): (was, now) for was, now in zip(note.markup.links, new.markup.links, strict=True)}
    led = ((before.resolve(was, source).target, now) for was, now in pairs.values())
    return all(target is None or after.resolve(now, move(source)).target == move(target) for target, now in led)


def unlinkable(path: str) -> str:
    """The characters of a path that no link could say, each once; a name that begins or ends with a space cannot be said either."""
    name = stem(path)
    found = "".join(dict.fromkeys(c for c in path if c in UNLINKABLE or not c.isprintable()))
    spaced = any(part != part.strip() for part in (name, *path.split("/")))
    return found or (" " if spaced or split_target(name)[0] != name else "")
