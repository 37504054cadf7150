"""The documents that a message mentions: `[[wikilinks]]` and `@paths` become DocumentReferences, each once, in order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from zkchat_cli.errors import VaultError
from zkchat_cli.models import ContentChunk, DocumentReference, LinkResolution
from zkchat_cli.references import file_imports
from zkchat_cli.references.file_imports import FileImport, ImportRoots
from zkchat_cli.vault.vault import Vault

Summary = Callable[[str], str | None]
Key = tuple[str, str | None]


@dataclass
class MentionedDocuments:
    """`references` in the message's order, their chunks by `reference_key`, and warnings (problem, hint)."""

    references: list[DocumentReference] = field(default_factory=list)
    chunks: dict[Key, tuple[ContentChunk, ...]] = field(default_factory=dict)
    unreadable: set[Key] = field(default_factory=set)
    """Documents that the model cannot read with a tool."""
    warnings: list[tuple[str, str]] = field(default_factory=list)


def reference_key(reference: DocumentReference) -> Key:
    """The identity of a reference: a document, or one section of it."""
    return reference.relative_path or reference.wikilink, reference.heading


def find_mentioned_documents(text: str, roots: ImportRoots, summary: Summary, typed: str | None = None) -> MentionedDocuments:
    """The documents, or their sections, that `text` names. Files are imported only from the part that the user `typed` (default: all).

    A mention that does not resolve is a reference with status `broken` and the nearest names, and a warning, never an error.
    """
    mentioned = MentionedDocuments()
    offset = 0 if typed is None else max(0, text.rfind(typed))
    mentions: list[tuple[int, LinkResolution | FileImport]] = [
        (each.start + offset, each) for each in file_imports.find_imports(text if typed is None else typed)
    ]
    mentions += [(link.end, link) for link in roots.vault.resolve_links(text) if link.kind == "wikilink"]
    seen: set[Key] = set()
    for _, mention in sorted(mentions, key=lambda item: item[0]):
        if isinstance(mention, FileImport):
            reference = _import_file(mention, roots, summary, mentioned)
        else:
            reference = _reference(mention, summary)
            _read_chunks(reference, roots.vault, mentioned)
        if reference is not None and reference_key(reference) not in seen:
            seen.add(reference_key(reference))
            mentioned.references.append(reference)
            mentioned.warnings += [warning] if (warning := link_warning(reference)) else []
    return mentioned


def linked_notes(text: str, vault: Vault, summary: Summary) -> tuple[DocumentReference, ...]:
    """The notes that `text` links to, each once, without their texts: for conversations of other programs."""
    found = (_reference(link, summary) for link in vault.resolve_links(text) if link.kind == "wikilink")
    return tuple({reference_key(reference): reference for reference in found}.values())


def _reference(link: LinkResolution, summary: Summary) -> DocumentReference:
    return DocumentReference(
        wikilink=link.raw,
        relative_path=link.target,
        reference_type="direct",
        summary=summary(link.target) if link.target else None,
        status=link.status,
        heading=link.heading,
        candidates=tuple(PurePosixPath(path).stem for path in link.candidates) if link.status == "broken" else link.candidates,
    )


def _read_chunks(reference: DocumentReference, vault: Vault, mentioned: MentionedDocuments) -> None:
    """Read the named note or section; if the section does not exist, warn and read the whole note."""
    path = reference.relative_path
    if path is None:
        return
    lines: tuple[int, int | None] = (1, None)
    if reference.heading:
        try:
            lines = vault.section(path, reference.heading)
        except VaultError as e:
            mentioned.warnings.append((e.message, e.hint))
    try:
        mentioned.chunks[reference_key(reference)] = tuple(vault.chunks(path, *lines))
    except VaultError as e:
        mentioned.warnings.append((e.message, e.hint))


def _import_file(wanted: FileImport, roots: ImportRoots, summary: Summary, mentioned: MentionedDocuments) -> DocumentReference | None:
    """The file. A missing one gives a warning with the nearest names, unless the word may be a person's name and no file is similar."""
    try:
        file = file_imports.read_import(wanted, roots)
    except VaultError as e:
        candidates = () if e.hint else file_imports.similar_paths(wanted, roots)
        if wanted.is_path or candidates or e.hint:
            paths = ", ".join(f"@{path}" for path in candidates)
            mentioned.warnings.append((e.message, e.hint or (f"nearest: {paths}" if paths else "no file has a similar name")))
            return DocumentReference(wikilink=wanted.written, reference_type="import", status="broken", candidates=candidates)
        return None
    about = summary(file.relative_path) if file.is_note else None
    reference = DocumentReference(wikilink=wanted.written, relative_path=file.relative_path, reference_type="import", summary=about)
    mentioned.chunks[reference_key(reference)] = file.chunks
    if not file.is_note:
        mentioned.unreadable.add(reference_key(reference))
    return reference


def link_warning(reference: DocumentReference) -> tuple[str, str] | None:
    """The problem and the hint for a link that is broken or ambiguous; None for others."""
    if reference.status == "broken" and reference.reference_type != "import":
        names = ", ".join(f"[[{name}]]" for name in reference.candidates)
        return f"{reference.wikilink} not found", f"nearest: {names}" if names else "no note has a similar name"
    if reference.status == "ambiguous":
        others = ", ".join(reference.candidates)
        return f"{reference.wikilink} matches several notes; using {reference.relative_path}", f"others: {others}"
    return None
