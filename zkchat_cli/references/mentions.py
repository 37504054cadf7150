"""The documents that a message mentions: `[[wikilinks]]` and `@paths` become DocumentReferences,
each once, in order.

`@path` imports a text file, from the vault or below the current folder and from nowhere else. The
`@` must begin a word.
"""

import difflib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.events import Notice
from zkchat_cli.models.notes import ContentChunk, DocumentReference, LinkResolution
from zkchat_cli.references.provenance import SNIPPET_LENGTH
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, note_name
from zkchat_cli.vault.vault import Vault

Summary = Callable[[str], str | None]
_IMPORT = lazy_pattern(
    r"""(?<![^\s(\[{"'“‘，。、：；（「])@(?:"([^"\n]{1,1000})"|<([^<>\n]{1,1000})>|((?:\\[ ()]|[^\s\\"'<>|*?;,(){}\[\]`@“”‘’]){1,1000}))"""
)
_PUNCTUATION = ".,;:!?…。，；：！？"
_ESCAPED = lazy_pattern(r"\\([ ()])")
MAX_IMPORTS = 50
MAX_IMPORTED = 512 * 1024  # bytes of a file
# Files of a folder tree that are compared with a missing name
MAX_FILES = 5_000
MOST_SIMILAR = 3


class FileImport(NamedTuple):
    """An `@path` as it is written, and where it begins in the text."""

    written: str
    path: str
    start: int

    @property
    def is_path(self) -> bool:
        """Whether it must be a file, such as `@notes/plan` and `@plan.md`; `@anna` may be a
        person.
        """
        return (
            "/" in self.path or "." in self.path.strip(".") or self.written.startswith(('@"', "@<"))
        )


class ImportRoots(NamedTuple):
    """The folders that files may be imported from."""

    vault: Vault
    folder: Path | None


class ImportedFile(NamedTuple):
    """A file's chunks. The model can read a note with a tool, other files not."""

    relative_path: str
    chunks: tuple[ContentChunk, ...]
    is_note: bool


class MentionedDocument(NamedTuple):
    """A document that a message names, its chunks, and the problems with it. `readable`: the model
    can read it with a tool.
    """

    reference: DocumentReference
    chunks: tuple[ContentChunk, ...] = ()
    warnings: tuple[Notice, ...] = ()
    readable: bool = True


def find_imports(text: str) -> tuple[FileImport, ...]:
    """The `@paths` of a text outside of code. Punctuation at the end of a sentence does not belong
    to a path.
    """
    if "@" not in text:
        return ()
    # 20 ms, which a text without an @ does not need
    from zkchat_cli.citations import marks

    code = marks.read_marks(text).code
    return tuple(
        islice(
            (each for each in _written_imports(text) if not marks.is_inside(each.start, code)),
            MAX_IMPORTS,
        )
    )


def find_written_paths(text: str) -> set[str]:
    """The paths of all imports in a text, of any number, and of what looks like one in code: what
    any part of it may import.
    """
    return {each.path for each in _written_imports(text)}


def _written_imports(text: str) -> Iterator[FileImport]:
    for match in _IMPORT.finditer(text):
        quoted = match[1] or match[2]
        path = quoted or _ESCAPED.sub(r"\1", match[3].rstrip(_PUNCTUATION))
        written = match[0] if quoted else match[0].rstrip(_PUNCTUATION)
        if path.strip("./~"):
            yield FileImport(written, path, match.start())


def read_import(wanted: FileImport, roots: ImportRoots) -> ImportedFile:
    """The file, from the current folder or else the vault; `.md` is optional. Raises VaultError if
    it is missing, outside, a folder, unreadable or not text.
    """
    folders = [roots.vault.root]
    if roots.folder:
        with suppress(VaultError):  # it was deleted
            folders.insert(0, filesystem.resolve_root(roots.folder))
    path = filesystem.printable(wanted.path)
    inside = [
        (base, relative)
        for base in folders
        if (relative := _relative_to(wanted.path, base, folders[0])) is not None
    ]
    for base, relative in inside:
        for name in (relative, *(relative + suffix for suffix in NOTE_SUFFIXES)):
            if os.path.lexists(base / name):
                return _read_file(filesystem.resolve_inside(base, name), base, roots.vault)
    if not inside:
        raise VaultError(
            f"@{path} is neither in the vault nor under the current folder",
            "Only files from there can be imported.",
        )
    raise VaultError(f"@{path} not found", "")


def _relative_to(path: str, base: Path, folder: Path) -> str | None:
    """The path relative to `base`; None if it leads out of it. `../x` is one of `base` or of the
    current `folder`.
    """
    if "\0" in path:
        return None
    path = os.path.expanduser(path)  # noqa: PTH111, RUF100
    relative = os.path.normpath(path)
    if not (os.path.isabs(path) or relative.startswith("..")):  # noqa: PTH117, RUF100
        return relative
    found = (os.path.relpath(os.path.realpath(start / path), base) for start in (base, folder))
    return next((relative for relative in found if not relative.startswith("..")), None)


def _read_file(file: Path, base: Path, vault: Vault) -> ImportedFile:
    if file.is_file() and (size := file.stat().st_size) > MAX_IMPORTED:
        name = filesystem.printable(os.path.relpath(file, base))
        hint = "Put the part you need into a file of its own."
        raise VaultError(
            f"@{name} is too large to import: {size // 1024} kB of at most {MAX_IMPORTED // 1024}",
            hint,
        )
    path = (
        vault.find_file(os.path.relpath(file, vault.root))
        if file.is_relative_to(vault.root)
        else None
    )
    if path is not None and path.lower().endswith(NOTE_SUFFIXES):
        return ImportedFile(path, tuple(vault.reader.chunks(path)), is_note=True)
    relative = replace_surrogates(os.path.relpath(file, vault.root).replace(os.sep, "/"))
    text = filesystem.read_text(base, os.path.relpath(file, base))
    return ImportedFile(
        relative, tuple(vault.reader.chunk_text(relative, file.name, text)), is_note=False
    )


def _similar_paths(wanted: FileImport, roots: ImportRoots) -> tuple[str, ...]:
    """Paths similar to a missing one, from the current folder and the vault, the nearest first."""
    # A common suffix does not make names similar
    suffix = PurePosixPath(wanted.path).suffix.casefold()
    names: dict[str, str] = {}
    for base in (roots.folder, roots.vault.root):
        for path in list_files(base) if base else ():
            folded = path.casefold().removesuffix(suffix)
            names.setdefault(folded, path)
            names.setdefault(folded.rpartition("/")[2], path)
    name = wanted.path.casefold().removeprefix("./").removesuffix(suffix)
    close = difflib.get_close_matches(name[:200], names, MOST_SIMILAR, 0.6)
    close += difflib.get_close_matches(name.rpartition("/")[2][:200], names, MOST_SIMILAR, 0.7)
    return tuple(dict.fromkeys(names[near] for near in close))[:MOST_SIMILAR]


def list_files(base: Path) -> Iterator[str]:
    """The first files below a folder, sorted, without hidden ones."""
    count = 0
    for folder, folders, files in os.walk(base):
        folders[:] = sorted(
            f for f in folders if not f.startswith(".") and f not in ("node_modules", "__pycache__")
        )
        for name in sorted(files):
            if not name.startswith("."):
                yield replace_surrogates(
                    os.path.relpath(os.path.join(folder, name), base).replace(os.sep, "/")  # noqa: PTH118, RUF100
                )
                count += 1
        if count > MAX_FILES:
            return


def find_mentions(
    text: str,
    roots: ImportRoots,
    summary: Summary,
    typed: str | None = None,
    *,
    with_links: bool = True,
    compare: bool = True,
) -> tuple[tuple[MentionedDocument, ...], tuple[str, ...]]:
    """The documents, or their sections, that `text` names, and each `@name` that is no file: it may
    be a person's. Files are imported only from the part that the user `typed` (default: all). A
    mention that does not resolve is a reference with status `broken` and the nearest names, and a
    warning, never an error. Without `compare` the nearest names of files are not looked for, which
    takes 50 ms for 5,000 files.
    """
    offset = 0 if typed is None else max(0, text.rfind(typed))
    written: list[tuple[int, LinkResolution | FileImport]] = [
        (each.start + offset + 1, each) for each in find_imports(text if typed is None else typed)
    ]
    if with_links:
        written += [
            (link.end, link) for link in roots.vault.resolve_links(text) if link.kind == "wikilink"
        ]
    found: dict[tuple[str, str | None], MentionedDocument] = {}
    unknown: dict[str, None] = {}
    for position, each in sorted(written, key=lambda item: item[0]):
        if isinstance(each, LinkResolution):
            mention = _read_link(each, roots.vault, summary)
        elif (imported := _import_file(each, roots, summary, compare=compare)) is not None:
            mention = imported
        else:
            unknown[each.written] = None
            continue
        reference = mention.reference
        if (key := (reference.relative_path or reference.wikilink, reference.heading)) not in found:
            # Of the line with the mention that begins or ends here
            begin = text.rfind("\n", 0, position) + 1
            snippet = truncate_around(
                text[begin:].partition("\n")[0].strip(), position - begin, SNIPPET_LENGTH
            )
            found[key] = mention._replace(
                reference=reference.model_copy(update={"context_snippet": snippet})
            )
    return tuple(found.values()), tuple(unknown)


def _read_link(link: LinkResolution, vault: Vault, summary: Summary) -> MentionedDocument:
    """The named note or section; if the section does not exist, the whole note."""
    reference = DocumentReference(
        wikilink=link.raw,
        relative_path=link.target,
        reference_type="direct",
        summary=summary(link.target) if link.target else None,
        status=link.status,
        heading=link.heading,
        candidates=tuple(note_name(path) for path in link.candidates)
        if link.status == "broken"
        else link.candidates,
    )
    warnings: list[Notice] = []
    if link.status == "broken":
        names = reference.candidate_links
        warnings.append(
            Notice(
                f"{link.raw} not found",
                f"nearest: {names}" if names else "no note has a similar name",
            )
        )
    elif link.status == "ambiguous":
        warnings.append(
            Notice(
                f"{link.raw} matches several notes; using {link.target}",
                f"others: {', '.join(link.candidates)}",
            )
        )
    chunks: tuple[ContentChunk, ...] = ()
    if link.target is not None:
        lines: tuple[int, int | None] = (1, None)
        try:
            lines = vault.reader.section(link.target, link.heading) if link.heading else lines
        except VaultError as e:
            warnings.append(Notice(e.message, e.hint))
        try:
            chunks = tuple(vault.reader.chunks(link.target, *lines))
        except VaultError as e:
            warnings.append(Notice(e.message, e.hint))
    return MentionedDocument(reference, chunks, tuple(warnings))


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
        candidates = _similar_paths(wanted, roots) if not e.hint and compare else ()
        nearest = (
            f"nearest: {', '.join(f'@{path}' for path in candidates)}"
            if candidates
            else "no file has a similar name"
        )
        missing = DocumentReference(
            wikilink=wanted.written, reference_type="import", status="broken", candidates=candidates
        )
        return MentionedDocument(missing, (), (Notice(e.message, e.hint or nearest),))
    about = summary(file.relative_path) if file.is_note else None
    reference = DocumentReference(
        wikilink=wanted.written,
        relative_path=file.relative_path,
        reference_type="import",
        summary=about,
    )
    return MentionedDocument(reference, file.chunks, readable=file.is_note)
