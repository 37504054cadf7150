"""From the user's words to the documents they name: `[[wikilinks]]` and `@paths` become DocumentReferences, each once, in order.

`[[link]]>1` names a note with those it links to, `>2` with those they link to in turn.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from zkchat_cli.errors import VaultError
from zkchat_cli.models import ContentChunk, DocumentReference, LinkResolution
from zkchat_cli.references import file_imports
from zkchat_cli.references.file_imports import FileImport, ImportRoots
from zkchat_cli.vault.vault import Vault

_DEPTH = re.compile(r">([1-9])(?![0-9])")
FARTHEST = 3
"""Links from the named note; farther than that most vaults are reached whole."""
MOST_LINKED = 100
"""Notes that one `>N` brings in at most."""

Summary = Callable[[str], str | None]
Key = tuple[str, str | None]


@dataclass
class MentionedDocuments:
    """What a message names: `references` in its order, the chunks of what it names itself by `reference_key`, and warnings (problem and
    hint). The notes that `>N` adds are not read yet and have no summary: there may be many, and few fit the prompt."""

    references: list[DocumentReference] = field(default_factory=list)
    texts: dict[Key, tuple[ContentChunk, ...]] = field(default_factory=dict)
    unreadable: set[Key] = field(default_factory=set)
    """Of these, what the model cannot read by itself."""
    warnings: list[tuple[str, str]] = field(default_factory=list)


def reference_key(reference: DocumentReference) -> Key:
    """What makes two references the same: a document, or one section of it."""
    return reference.relative_path or reference.wikilink, reference.heading


def find_mentioned_documents(text: str, places: ImportRoots, summary: Summary, typed: str | None = None) -> MentionedDocuments:
    """The documents, or parts of them, that `text` names; files are imported only for what the user `typed` of it (default: all).

    What does not resolve is a reference with status `broken` and the nearest names, and a warning, never an error.
    """
    named = MentionedDocuments()
    wanted: list[tuple[int, LinkResolution | FileImport]] = [
        (each.start, each) for each in file_imports.find_imports(text if typed is None else typed)
    ]
    shift = 0 if typed is None else max(0, text.rfind(typed))
    wanted = [(start + shift, each) for start, each in wanted]
    wanted += [(link.end, link) for link in places.vault.resolve_links(text) if link.kind == "wikilink"]
    seen: set[Key] = set()
    for end, each in sorted(wanted, key=lambda item: item[0]):
        if isinstance(each, FileImport):
            found = _imported(each, places, summary, named)
        else:
            found = _linked(each, end, text, places.vault, summary, named)
        for reference in found:
            if reference_key(reference) not in seen:
                seen.add(reference_key(reference))
                named.references.append(reference)
                named.warnings += [told] if (told := link_warning(reference)) else []
    return named


def linked_notes(text: str, vault: Vault, summary: Summary) -> tuple[DocumentReference, ...]:
    """The notes that `text` links to, each once, without their texts: for what was said in another program."""
    found = (_named(link, summary) for link in vault.resolve_links(text) if link.kind == "wikilink")
    return tuple({reference_key(reference): reference for reference in found}.values())


def _named(link: LinkResolution, summary: Summary) -> DocumentReference:
    return DocumentReference(
        wikilink=link.raw,
        relative_path=link.target,
        reference_type="direct",
        summary=summary(link.target) if link.target else None,
        status=link.status,
        heading=link.heading,
        candidates=tuple(PurePosixPath(path).stem for path in link.candidates) if link.status == "broken" else link.candidates,
    )


def _linked(
    link: LinkResolution, end: int, text: str, vault: Vault, summary: Summary, named: MentionedDocuments
) -> Iterator[DocumentReference]:
    first = _named(link, summary)
    yield first
    if link.target is None:
        return
    _take_text(first, vault, named)
    depth = _DEPTH.match(text, end)
    if depth:
        steps = min(int(depth[1]), FARTHEST)
        neighbours = vault.neighbours(link.target, steps, "out", MOST_LINKED + 1)
        if len(neighbours) > MOST_LINKED:
            named.warnings.append((f"{link.raw}>{steps} leads to more than {MOST_LINKED} notes", f"the first {MOST_LINKED} are taken"))
        for neighbour in neighbours[:MOST_LINKED]:
            name = f"[[{PurePosixPath(neighbour.path).stem}]]"
            yield DocumentReference(wikilink=name, relative_path=neighbour.path, reference_type="link")


def _take_text(reference: DocumentReference, vault: Vault, named: MentionedDocuments) -> None:
    """The chunks of the note or of the section that is named; a section that is not there is warned of, and the note is taken whole."""
    path = reference.relative_path
    assert path is not None
    try:
        lines: tuple[int, int | None] = (1, None)
        if reference.heading:
            try:
                lines = vault.section(path, reference.heading)
            except VaultError as e:
                named.warnings.append((e.message, e.hint))
        named.texts[reference_key(reference)] = tuple(vault.chunks(path, *lines))
    except VaultError as e:
        named.warnings.append((e.message, e.hint))


def _imported(wanted: FileImport, places: ImportRoots, summary: Summary, named: MentionedDocuments) -> Iterator[DocumentReference]:
    """The file; a warning and the nearest names for one that is missing, unless the word may well be a name and no file is called so."""
    try:
        found = file_imports.read_import(wanted, places)
    except VaultError as e:
        candidates = () if e.hint else file_imports.similar_paths(wanted, places)
        if wanted.is_path or candidates or e.hint:
            files = ", ".join(f"@{name}" for name in candidates)
            named.warnings.append((e.message, e.hint or (f"nearest: {files}" if files else "no file has a similar name")))
            yield DocumentReference(wikilink=wanted.written, reference_type="import", status="broken", candidates=candidates)
        return
    about = summary(found.relative_path) if found.readable else None
    reference = DocumentReference(wikilink=wanted.written, relative_path=found.relative_path, reference_type="import", summary=about)
    named.texts[reference_key(reference)] = found.chunks
    if not found.readable:
        named.unreadable.add(reference_key(reference))
    yield reference


def link_warning(reference: DocumentReference) -> tuple[str, str] | None:
    """What to tell the user about a link that did not resolve to one note: the problem, and the way out. None when it did."""
    names = ", ".join(f"[[{name}]]" for name in reference.candidates)
    if reference.status == "broken" and reference.reference_type != "import":
        return f"{reference.wikilink} not found", f"nearest: {names}" if names else "no note has a similar name"
    if reference.status == "ambiguous":
        others = ", ".join(reference.candidates)
        return f"{reference.wikilink} could be several notes; taken: {reference.relative_path}", f"others: {others}"
    return None
