"""Files that a text imports with `@path`: text files from the vault or below the current folder,
and from nowhere else. The `@` must begin a word.
"""

import difflib
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.models.images import Image
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.image_files import is_picture, read_image
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.spans import is_inside
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.vault import Vault

_BEFORE_IMPORT = r"""(?<![^\s(\[{"'“‘，。、：；（「])"""
_QUOTED_PATH = r'"([^"\n]{1,1000})"'
_BRACKETED_PATH = r"<([^<>\n]{1,1000})>"
_BARE_PATH = r"""((?:\\[ ()]|[^\s\\"'<>|*?;,(){}\[\]`@“”‘’]){1,1000})"""
_IMPORT = lazy_pattern(f"{_BEFORE_IMPORT}@(?:{_QUOTED_PATH}|{_BRACKETED_PATH}|{_BARE_PATH})")
_PUNCTUATION = ".,;:!?…。，；：！？"
_ESCAPED = lazy_pattern(r"\\([ ()])")
# Imports of one text
MAX_IMPORTS = 50
# Bytes of a file
MAX_IMPORTED = 512 * 1024
# Files of a folder tree that are compared with a missing name
MAX_FILES = 5_000
# Similar names that are suggested
MOST_SIMILAR = 3
# Characters of a missing name that are compared
MAX_COMPARED = 200
# Similarity, from 0 to 1, from which on a path is suggested
SIMILAR_PATH = 0.6
# The same for a file's name: higher, because short names are similar by chance
SIMILAR_NAME = 0.7
_SKIPPED_FOLDERS = ("node_modules", "__pycache__")


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
        is_in_folder = "/" in self.path
        has_suffix = "." in self.path.strip(".")
        return is_in_folder or has_suffix or self.written.startswith(('@"', "@<"))


class ImportRoots(NamedTuple):
    """The folders that files may be imported from."""

    vault: Vault
    folder: Path | None


class ImportedFile(NamedTuple):
    """A file's chunks, or a picture, or why a picture cannot be sent. The model can read a note
    with a tool, other files not.
    """

    relative_path: str
    chunks: tuple[ContentChunk, ...]
    is_note: bool
    image: Image | None = None
    problem: VaultError | None = None


def find_imports(text: str) -> tuple[FileImport, ...]:
    """The `@paths` of a text outside of code. Punctuation at the end of a sentence does not belong
    to a path.
    """
    if "@" not in text:
        return ()
    # 20 ms, which a text without an @ does not need
    from zkchat_cli.citations.marks import read_marks

    code = read_marks(text).code
    outside_code = (each for each in _written_imports(text) if not is_inside(each.start, code))
    return tuple(islice(outside_code, MAX_IMPORTS))


def find_written_paths(text: str) -> set[str]:
    """The paths of everything in a text that looks like an import, also in code, without a limit:
    any part of the text can import no more than these.
    """
    return {each.path for each in _written_imports(text)}


def _written_imports(text: str) -> Iterator[FileImport]:
    for match in _IMPORT.finditer(text):
        quoted = match[1] or match[2]
        if quoted:
            written = match[0]
            path = quoted
        else:
            written = match[0].rstrip(_PUNCTUATION)
            path = _ESCAPED.sub(r"\1", match[3].rstrip(_PUNCTUATION))
        if path.strip("./~"):
            yield FileImport(written, path, match.start())


def read_import(wanted: FileImport, roots: ImportRoots) -> ImportedFile:
    """The file, from the current folder or else the vault; `.md` is optional. Raises VaultError if
    it is missing, outside, a folder, unreadable, or neither text nor a picture.
    """
    folders = [roots.vault.root]
    if roots.folder:
        # The folder may be deleted
        with suppress(VaultError):
            folders.insert(0, filesystem.resolve_root(roots.folder))
    in_folder = False
    current = folders[0]
    for base in folders:
        relative = _relative_to(wanted.path, base, current)
        if relative is None:
            continue
        in_folder = True
        for suffix in ("", *NOTE_SUFFIXES):
            name = relative + suffix
            if os.path.lexists(base / name):
                return read_file(filesystem.resolve_inside(base, name), base, roots.vault)
    path = filesystem.printable(wanted.path)
    if not in_folder:
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
    path = os.path.expanduser(path)  # noqa: PTH111
    relative = os.path.normpath(path)
    if not (os.path.isabs(path) or relative.startswith("..")):  # noqa: PTH117
        return relative
    for start in (base, folder):
        relative = os.path.relpath(os.path.realpath(start / path), base)
        if not relative.startswith(".."):
            return relative
    return None


def read_picture(file: Path, relative_path: str) -> ImportedFile:
    """The picture in a file, or the problem with it."""
    try:
        image = read_image(file, relative_path)
    except VaultError as e:
        return ImportedFile(relative_path, (), is_note=False, problem=e)
    return ImportedFile(relative_path, (), is_note=False, image=image)


def read_file(file: Path, base: Path, vault: Vault) -> ImportedFile:
    """A file below `base`. Raises VaultError if it is a folder, unreadable, too large, or neither
    text nor a picture.
    """
    if file.is_file() and is_picture(file.name):
        relative_path = os.path.relpath(file, vault.root).replace(os.sep, "/")
        return read_picture(file, replace_surrogates(relative_path))
    size = file.stat().st_size if file.is_file() else 0
    if size > MAX_IMPORTED:
        name = filesystem.printable(os.path.relpath(file, base))
        raise VaultError(
            f"@{name} is too large to import: {size // 1024} kB of at most {MAX_IMPORTED // 1024}",
            "Put the part you need into a file of its own.",
        )
    relative = os.path.relpath(file, vault.root)
    note: str | None = None
    if file.is_relative_to(vault.root):
        note = vault.find_file(relative)
    if note is not None and note.lower().endswith(NOTE_SUFFIXES):
        return ImportedFile(note, tuple(vault.reader.chunks(note)), is_note=True)
    shown = replace_surrogates(relative.replace(os.sep, "/"))
    text = filesystem.read_text(base, os.path.relpath(file, base))
    chunks = vault.reader.chunk_text(shown, file.name, text)
    return ImportedFile(shown, tuple(chunks), is_note=False)


def find_similar_paths(wanted: FileImport, roots: ImportRoots) -> tuple[str, ...]:
    """Paths similar to a missing one, from the current folder and the vault, the nearest first. It
    takes 50 ms for 5,000 files.
    """
    # A common suffix does not make names similar
    suffix = PurePosixPath(wanted.path).suffix.casefold()
    paths: dict[str, str] = {}
    for base in filter(None, (roots.folder, roots.vault.root)):
        for path in list_files(base):
            folded = path.casefold().removesuffix(suffix)
            paths.setdefault(folded, path)
            paths.setdefault(_last_part(folded), path)
    name = wanted.path.casefold().removeprefix("./").removesuffix(suffix)
    close = _close_matches(name, paths, SIMILAR_PATH)
    close += _close_matches(_last_part(name), paths, SIMILAR_NAME)
    nearest = dict.fromkeys(paths[near] for near in close)
    return tuple(nearest)[:MOST_SIMILAR]


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]


def _close_matches(name: str, names: dict[str, str], similarity: float) -> list[str]:
    return difflib.get_close_matches(name[:MAX_COMPARED], names, MOST_SIMILAR, similarity)


def list_files(base: Path) -> Iterator[str]:
    """The first files below a folder, sorted, without hidden ones."""
    count = 0
    for folder, folders, files in os.walk(base):
        folders[:] = sorted(filter(_is_listed_folder, folders))
        for name in sorted(files):
            if not name.startswith("."):
                path = os.path.join(folder, name)  # noqa: PTH118
                yield replace_surrogates(os.path.relpath(path, base).replace(os.sep, "/"))
                count += 1
        # Counted by folder, so that a list never ends in the middle of one
        if count > MAX_FILES:
            return


def _is_listed_folder(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED_FOLDERS
