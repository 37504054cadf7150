"""The documents that a message mentions: `[[wikilinks]]` and `@paths` become DocumentReferences, each once, in order."""

from collections.abc import Callable
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.events import Notice
from zkchat_cli.models import ContentChunk, DocumentReference, LinkResolution
from zkchat_cli.references import file_imports
from zkchat_cli.references.file_imports import FileImport, ImportRoots
from zkchat_cli.references.provenance import SNIPPET_LENGTH
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.vault import Vault

Summary = Callable[[str], str | None]
MOST_COMPARED = 5
"""Names that may be people's and are compared with those of files. With 5,000 files each takes 20 ms, and a pasted text may have many."""


class MentionedDocument(NamedTuple):
    """A document that a message names, its chunks, and the problems with it. `readable`: the model can read it with a tool."""

    reference: DocumentReference
    chunks: tuple[ContentChunk, ...] = ()
    warnings: tuple[Notice, ...] = ()
    readable: bool = True


class Mentions(NamedTuple):
    """The documents that a message names, and each `@name` that is no file: it may be a person's."""

    documents: tuple[MentionedDocument, ...]
    unknown_names: tuple[str, ...]


def find_mentions(
    text: str, roots: ImportRoots, summary: Summary, typed: str | None = None, *, with_links: bool = True, compare: bool = True
) -> Mentions:
    """The documents, or their sections, that `text` names. Files are imported only from the part that the user `typed` (default: all).

    A mention that does not resolve is a reference with status `broken` and the nearest names, and a warning, never an error. Without
    `compare` the nearest names of files are not looked for, which takes 50 ms for 5,000 files.
    """
    offset = 0 if typed is None else max(0, text.rfind(typed))
    written: list[tuple[int, LinkResolution | FileImport]] = [
        (each.start + offset + 1, each) for each in file_imports.find_imports(text if typed is None else typed)
    ]
    if with_links:
        written += [(link.end, link) for link in roots.vault.resolve_links(text) if link.kind == "wikilink"]
    found: dict[tuple[str, str | None], MentionedDocument] = {}
    unknown: dict[str, None] = {}
    for position, each in sorted(written, key=lambda item: item[0]):
        if not isinstance(each, FileImport):
            mention = _read_link(each, roots.vault, summary)
        else:
            imported = _import_file(each, roots, summary, compare=compare and (each.is_path or len(unknown) < MOST_COMPARED))
            if imported is None:
                unknown[each.written] = None
                continue
            mention = imported
        if (key := _document_or_section(mention.reference)) not in found:
            reference = mention.reference.model_copy(update={"context_snippet": _words_around(text, position)})
            found[key] = mention._replace(reference=reference)
    return Mentions(tuple(found.values()), tuple(unknown))


def _words_around(text: str, position: int) -> str:
    """The line of the text with the mention that begins or ends there, shortened on both sides."""
    begin = text.rfind("\n", 0, position) + 1
    return truncate_around(text[begin:].partition("\n")[0].strip(), position - begin, SNIPPET_LENGTH)


def _document_or_section(reference: DocumentReference) -> tuple[str, str | None]:
    return reference.relative_path or reference.wikilink, reference.heading


def linked_notes(text: str, vault: Vault, summary: Summary) -> tuple[DocumentReference, ...]:
    """The notes that `text` links to, each once, without their texts: for conversations of other programs."""
    found = (
        _reference(link, summary).model_copy(update={"context_snippet": _words_around(text, link.end)})
        for link in vault.resolve_links(text)
        if link.kind == "wikilink"
    )
    return tuple({_document_or_section(reference): reference for reference in found}.values())


def _reference(link: LinkResolution, summary: Summary) -> DocumentReference:
    return DocumentReference(
        wikilink=link.raw,
        relative_path=link.target,
        reference_type="direct",
        summary=summary(link.target) if link.target else None,
        status=link.status,
        heading=link.heading,
        candidates=tuple(note_name(path) for path in link.candidates) if link.status == "broken" else link.candidates,
    )


def _read_link(link: LinkResolution, vault: Vault, summary: Summary) -> MentionedDocument:
    """The named note or section; if the section does not exist, the whole note."""
    reference = _reference(link, summary)
    warnings: list[Notice | None] = [link_warning(reference)]
    chunks: tuple[ContentChunk, ...] = ()
    if link.target is not None:
        lines: tuple[int, int | None] = (1, None)
        if link.heading:
            try:
                lines = vault.section(link.target, link.heading)
            except VaultError as e:
                warnings.append(Notice(e.message, e.hint))
        try:
            chunks = tuple(vault.chunks(link.target, *lines))
        except VaultError as e:
            warnings.append(Notice(e.message, e.hint))
    return MentionedDocument(reference, chunks, tuple(filter(None, warnings)))


def _import_file(wanted: FileImport, roots: ImportRoots, summary: Summary, *, compare: bool) -> MentionedDocument | None:
    """The file. A missing one gives a warning with the nearest names; a word that may be a person's name is no document. Without `compare`
    it may be one also if it is similar to the name of a file."""
    try:
        file = file_imports.read_import(wanted, roots)
    except VaultError as e:
        candidates = file_imports.similar_paths(wanted, roots) if not e.hint and compare else ()
        if not (wanted.is_path or candidates or e.hint):
            return None
        paths = ", ".join(f"@{path}" for path in candidates)
        missing = DocumentReference(wikilink=wanted.written, reference_type="import", status="broken", candidates=candidates)
        return MentionedDocument(
            missing, (), (Notice(e.message, e.hint or (f"nearest: {paths}" if paths else "no file has a similar name")),)
        )
    about = summary(file.relative_path) if file.is_note else None
    reference = DocumentReference(wikilink=wanted.written, relative_path=file.relative_path, reference_type="import", summary=about)
    return MentionedDocument(reference, file.chunks, readable=file.is_note)


def link_warning(reference: DocumentReference) -> Notice | None:
    """The problem with a link that is broken or ambiguous; None for others."""
    if reference.status == "broken":
        names = reference.candidate_links
        return Notice(f"{reference.wikilink} not found", f"nearest: {names}" if names else "no note has a similar name")
    if reference.status == "ambiguous":
        others = ", ".join(reference.candidates)
        return Notice(f"{reference.wikilink} matches several notes; using {reference.relative_path}", f"others: {others}")
    return None
