"""`@path` in a message imports a text file, from the vault or below the current folder and from nowhere else.

The `@` must begin a word, so that an e-mail address, a decorator in code or `user@host` imports nothing.
"""

import difflib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.vault import Vault

_IMPORT = lazy_pattern(
    r"""(?<![^\s(\[{"'“‘，。、：；（「])@(?:"([^"\n]{1,1000})"|<([^<>\n]{1,1000})>|((?:\\[ ()]|[^\s\\"'<>|*?;,(){}\[\]`@“”‘’]){1,1000}))"""
)
_PUNCTUATION = ".,;:!?…。，；：！？"
_ESCAPED = lazy_pattern(r"\\([ ()])")
MAX_IMPORTS = 50
MAX_IMPORTED = 512 * 1024
"""Bytes of a file."""
MAX_FILES = 5_000
"""Files of a folder tree that are compared with a missing name."""
MOST_SIMILAR = 3


class FileImport(NamedTuple):
    """An `@path` as it is written, and where it begins in the text."""

    written: str
    path: str
    start: int

    @property
    def is_path(self) -> bool:
        """Whether it must be a file, such as `@notes/plan` and `@plan.md`; `@anna` may be a person."""
        return "/" in self.path or "." in self.path.strip(".") or self.written.startswith(('@"', "@<"))


@dataclass(frozen=True)
class ImportRoots:
    """The folders that files may be imported from."""

    vault: Vault
    folder: Path | None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files in the current folder and the vault. Reading 5,000 names takes 20 ms, so they are read once for a message."""
        return tuple(path for base in (self.folder, self.vault.root) if base is not None for path in list_files(base))


class ImportedFile(NamedTuple):
    """A file's chunks. The model can read a note with a tool, other files not."""

    relative_path: str
    chunks: tuple[ContentChunk, ...]
    is_note: bool


def find_imports(text: str) -> tuple[FileImport, ...]:
    """The `@paths` of a text outside of code. Punctuation at the end of a sentence does not belong to a path."""
    if "@" not in text:
        return ()
    from zkchat_cli.citations import marks  # 20 ms, which a text without an @ does not need

    code = marks.read_marks(text).code
    return tuple(islice((each for each in _written_imports(text) if not marks.is_inside(each.start, code)), MAX_IMPORTS))


def find_written_paths(text: str) -> set[str]:
    """The paths of all imports in a text, of any number, and of what looks like one in code: what any part of it may import."""
    return {each.path for each in _written_imports(text)}


def _written_imports(text: str) -> Iterator[FileImport]:
    for match in _IMPORT.finditer(text):
        quoted = match[1] or match[2]
        path = quoted or _ESCAPED.sub(r"\1", match[3].rstrip(_PUNCTUATION))
        written = match[0] if quoted else match[0].rstrip(_PUNCTUATION)
        if path.strip("./~"):
            yield FileImport(written, path, match.start())


def read_import(wanted: FileImport, roots: ImportRoots) -> ImportedFile:
    """The file, from the current folder or else the vault. Raises VaultError if it is missing, outside, unreadable or not text."""
    folders = _folders(roots)
    for base in folders:
        if (inside := _relative_to(wanted.path, base, folders[0])) is not None and (file := _resolve_file(base, inside)) is not None:
            return _read_file(file, base, roots)
    raise _missing_file(wanted)


def _folders(roots: ImportRoots) -> list[Path]:
    """The folders to search, in order; without a current folder that was deleted."""
    folders = [roots.vault.root]
    if roots.folder:
        with suppress(VaultError):
            folders.insert(0, filesystem.resolve_root(roots.folder))
    return folders


def _relative_to(path: str, base: Path, folder: Path) -> str | None:
    """The path relative to `base`; None if it leads out of it. `../x` is one of `base` or of the current `folder`."""
    if "\0" in path:
        return None
    path = os.path.expanduser(path) if path.startswith("~/") else path  # noqa: PTH111 - Path raises where there is no home
    relative = os.path.normpath(path)
    if os.path.isabs(path) or relative.startswith(".."):  # `../here/note.md` may lead back into the folder  # noqa: PTH117
        found = (os.path.relpath(os.path.realpath(start / path), base) for start in (base, folder))
        return next((relative for relative in found if not relative.startswith("..")), None)
    return relative


def _resolve_file(base: Path, path: str) -> Path | None:
    """The file's real path, `.md` being optional; None if it does not exist. Raises VaultError for a folder or a link out of `base`."""
    for name in (path, *(path + suffix for suffix in NOTE_SUFFIXES)):
        if os.path.lexists(base / name):
            real = filesystem.resolve_inside(base, name)
            if real.is_dir():
                raise VaultError(f"@{filesystem.printable(path)} is a folder", "Name a file in it.")
            return real
    return None


def _read_file(file: Path, base: Path, roots: ImportRoots) -> ImportedFile:
    vault = roots.vault
    name = filesystem.printable(os.path.relpath(file, base))
    try:
        size = file.stat().st_size
    except OSError as e:
        raise VaultError(f"@{name} cannot be read: {(e.strerror or str(e)).lower()}", "Check its permissions.") from e
    if size > MAX_IMPORTED:
        hint = "Put the part you need into a file of its own."
        raise VaultError(f"@{name} is too large to import: {size // 1024} kB of at most {MAX_IMPORTED // 1024}", hint)
    path = vault.find_file(os.path.relpath(file, vault.root)) if file.is_relative_to(vault.root) else None
    if path is not None and path.lower().endswith(NOTE_SUFFIXES):
        return ImportedFile(path, tuple(vault.chunks(path)), is_note=True)
    relative = replace_surrogates(os.path.relpath(file, vault.root).replace(os.sep, "/"))
    text = filesystem.read_text(base, os.path.relpath(file, base))
    return ImportedFile(relative, tuple(vault.chunk_text(relative, file.name, text)), is_note=False)


def _missing_file(wanted: FileImport) -> VaultError:
    path = filesystem.printable(wanted.path)
    if ".." in Path(wanted.path).parts or wanted.path.startswith(("/", "~")):
        return VaultError(f"@{path} is neither in the vault nor under the current folder", "Only files from there can be imported.")
    return VaultError(f"@{path} not found", "")


def similar_paths(wanted: FileImport, roots: ImportRoots) -> tuple[str, ...]:
    """Paths similar to a missing one, from the current folder and the vault, the nearest first."""
    suffix = PurePosixPath(wanted.path).suffix.casefold()  # a common suffix does not make names similar
    names: dict[str, str] = {}
    for path in roots.paths:
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
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("node_modules", "__pycache__"))
        for name in sorted(files):
            if not name.startswith("."):
                yield replace_surrogates(os.path.relpath(os.path.join(folder, name), base).replace(os.sep, "/"))  # noqa: PTH118
                count += 1
        if count > MAX_FILES:
            return
