"""The documents that a message mentions: `[[wikilinks]]` and `@paths` become DocumentReferences,
each once, in order.
"""

from collections.abc import Callable
from typing import NamedTuple

from zkchat_cli.errors import VaultError, nearest_names
from zkchat_cli.events import Notice
from zkchat_cli.models.images import Image
from zkchat_cli.models.notes import ContentChunk, DocumentReference, LinkResolution
from zkchat_cli.references.documents import SNIPPET_LENGTH, document_key
from zkchat_cli.references.file_imports import (
    FileImport,
    ImportedFile,
    ImportRoots,
    find_imports,
    find_similar_paths,
    read_import,
    read_picture,
)
from zkchat_cli.references.image_files import is_picture
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.embeds import with_embedded
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.vault import Vault

Summary = Callable[[str], str | None]


class MentionedDocument(NamedTuple):
    """A document that a message names, its chunks, and the problems with it. `readable`: the model
    can read it with a tool. `problem`: why it is a picture that cannot be sent.
    """

    reference: DocumentReference
    chunks: tuple[ContentChunk, ...] = ()
    warnings: tuple[Notice, ...] = ()
    readable: bool = True
    problem: VaultError | None = None

    @property
    def image(self) -> Image | None:
        """The picture, if it is one that can be sent."""
        return self.reference.image


class Mentions(NamedTuple):
    """The documents that a message names, and each `@name` in it that is no file: it may be a
    person's.
    """

    documents: tuple[MentionedDocument, ...]
    unknown_names: tuple[str, ...]


class _WrittenMention(NamedTuple):
    """A link or an import, and a position of its line in the message."""

    position: int
    target: LinkResolution | FileImport


class _SectionKey(NamedTuple):
    """The document or section that a mention means; each is listed once."""

    document: str
    heading: str | None


def find_mentions(
    text: str,
    roots: ImportRoots,
    summary: Summary,
    typed: str | None = None,
    *,
    with_links: bool = True,
    compare: bool = True,
) -> Mentions:
    """The documents, or their sections, that `text` names.

    Files are imported only from the part that the user `typed` (default: all). A mention that does
    not resolve is a reference with status `broken` and the nearest names, and a warning, never an
    error. Without `compare` the nearest names of files are not looked for, which takes 50 ms for
    5,000 files.
    """
    written = _written_imports(text, typed)
    if with_links:
        written += _written_links(text, roots.vault)
    found: dict[_SectionKey, MentionedDocument] = {}
    unknown: dict[str, None] = {}
    for position, target in sorted(written, key=lambda mention: mention.position):
        if isinstance(target, LinkResolution):
            mention = _read_link(target, roots.vault, summary)
        else:
            imported = _import_file(target, roots, summary, compare=compare)
            if imported is None:
                unknown[target.written] = None
                continue
            mention = imported
        reference = mention.reference
        key = _SectionKey(document_key(reference), reference.heading)
        if key not in found:
            update = {"context_snippet": _line_around(text, position)}
            found[key] = mention._replace(reference=reference.model_copy(update=update))
    return Mentions(tuple(found.values()), tuple(unknown))


def _written_imports(text: str, typed: str | None) -> list[_WrittenMention]:
    """The imports of the part that was `typed`, with their positions in the whole `text`."""
    if typed is None:
        return [_WrittenMention(each.start + 1, each) for each in find_imports(text)]
    offset = max(0, text.rfind(typed))
    return [_WrittenMention(each.start + offset + 1, each) for each in find_imports(typed)]


def _written_links(text: str, vault: Vault) -> list[_WrittenMention]:
    links = vault.resolve_links(text)
    return [_WrittenMention(link.end, link) for link in links if link.kind == "wikilink"]


def _line_around(text: str, position: int) -> str:
    """The line of a text with this position, truncated around it."""
    begin = text.rfind("\n", 0, position) + 1
    line = text[begin:].partition("\n")[0]
    return truncate_around(line.strip(), position - begin, SNIPPET_LENGTH)


def _read_link(link: LinkResolution, vault: Vault, summary: Summary) -> MentionedDocument:
    """The named note or section; if the section does not exist, the whole note. An embedded picture
    is one to send.
    """
    if link.target is not None and link.embed and is_picture(link.target):
        return _read_embedded_picture(link.raw, link.target, vault)
    candidates = link.candidates
    if link.status == "broken":
        candidates = tuple(note_name(path) for path in candidates)
    reference = DocumentReference(
        wikilink=link.raw,
        relative_path=link.target,
        reference_type="direct",
        summary=summary(link.target) if link.target else None,
        status=link.status,
        heading=link.heading,
        candidates=candidates,
    )
    warnings = _link_warnings(reference)
    if link.target is None:
        return MentionedDocument(reference, warnings=tuple(warnings))
    first = 1
    last: int | None = None
    if link.heading:
        try:
            first, last = vault.reader.section(link.target, link.heading)
        except VaultError as e:
            warnings.append(Notice(e.message, e.hint))
    chunks: tuple[ContentChunk, ...] = ()
    try:
        chunks = tuple(with_embedded(vault, vault.reader.chunks(link.target, first, last)))
    except VaultError as e:
        warnings.append(Notice(e.message, e.hint))
    return MentionedDocument(reference, chunks, tuple(warnings))


def _read_embedded_picture(raw: str, target: str, vault: Vault) -> MentionedDocument:
    try:
        file = filesystem.resolve_inside(vault.root, target)
    except VaultError as e:
        return _mention_picture(raw, ImportedFile(target, (), is_note=False, problem=e))
    return _mention_picture(raw, read_picture(file, target))


def _mention_picture(written: str, file: ImportedFile) -> MentionedDocument:
    reference = DocumentReference(
        wikilink=written,
        relative_path=file.relative_path,
        reference_type="import",
        image=file.image,
    )
    warnings: tuple[Notice, ...] = ()
    if file.problem is not None:
        message = f"{written} was not sent: {file.problem.message}"
        warnings = (Notice(message, file.problem.hint),)
    return MentionedDocument(reference, warnings=warnings, readable=False, problem=file.problem)


def _link_warnings(reference: DocumentReference) -> list[Notice]:
    name = reference.wikilink
    if reference.status == "broken":
        nearest = nearest_names(reference.candidate_links, "no note has a similar name")
        return [Notice(f"{name} not found", nearest)]
    if reference.relative_path is not None and is_picture(reference.relative_path):
        return [Notice(f"{name} is a picture, and only named", f"To send it, write !{name}.")]
    if reference.status == "ambiguous":
        others = f"others: {', '.join(reference.candidates)}"
        return [Notice(f"{name} matches several notes; using {reference.relative_path}", others)]
    return []


def _import_file(
    wanted: FileImport, roots: ImportRoots, summary: Summary, *, compare: bool
) -> MentionedDocument | None:
    """The file. A missing one gives a warning with the nearest names; a word that may be a person's
    name is no document.
    """
    try:
        file = read_import(wanted, roots)
    except VaultError as e:
        if not (wanted.is_path or e.hint):
            return None
        candidates: tuple[str, ...] = ()
        if compare and not e.hint:
            candidates = find_similar_paths(wanted, roots)
        return _missing_file(wanted, e, candidates)
    if file.image is not None or file.problem is not None:
        return _mention_picture(wanted.written, file)
    reference = DocumentReference(
        wikilink=wanted.written,
        relative_path=file.relative_path,
        reference_type="import",
        summary=summary(file.relative_path) if file.is_note else None,
    )
    return MentionedDocument(reference, file.chunks, readable=file.is_note)


def _missing_file(
    wanted: FileImport, error: VaultError, candidates: tuple[str, ...]
) -> MentionedDocument:
    imports = [f"@{path}" for path in candidates]
    nearest = nearest_names(imports, "no file has a similar name")
    missing = DocumentReference(
        wikilink=wanted.written, reference_type="import", status="broken", candidates=candidates
    )
    return MentionedDocument(missing, warnings=(Notice(error.message, error.hint or nearest),))
