"""`@path` in a message: a text file that goes into it, from the vault or from under the current folder, and from nowhere else.

An `@` is one only where a word begins, so that an e-mail address, a decorator in code or `user@host` imports nothing.
"""

import difflib
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from zkchat_cli.citations import marks
from zkchat_cli.errors import VaultError
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.vault import Vault

_IMPORT = re.compile(
    r"""(?<![^\s(\[{"'“‘，。、：；（「])@(?:"([^"\n]{1,1000})"|<([^<>\n]{1,1000})>|((?:\\[ ()]|[^\s\\"'<>|*?;,(){}\[\]`@“”‘’]){1,1000}))"""
)
_ENDS = ".,;:!?…。，；：！？"
_ESCAPED = re.compile(r"\\([ ()])")
MOST_IMPORTS = 50
MOST_NAMES = 5_000
"""Files of a folder tree that are looked through for a name like the one that is missing."""
_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class FileImport:
    """An `@path` as it is written, and where in the text it stands."""

    written: str
    path: str
    start: int

    @property
    def is_path(self) -> bool:
        """Whether it can only be meant as a file: `@notes/plan` and `@plan.md` are, `@anna` may be a name."""
        return "/" in self.path or "." in self.path.strip(".") or self.written.startswith(('@"', "@<"))


@dataclass(frozen=True, slots=True)
class ImportRoots:
    """Where files may be imported from: the vault and, where there is one, the current folder. `limit` is in bytes."""

    vault: Vault
    folder: Path | None
    limit: int


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file's chunks. `readable`: it is a note, which the model can read by itself."""

    relative_path: str
    title: str
    chunks: tuple[ContentChunk, ...]
    readable: bool


def find_imports(text: str) -> tuple[FileImport, ...]:
    """The `@paths` of a text, in its order; none in code. What ends a sentence does not belong to a path."""
    if "@" not in text:
        return ()
    found: list[FileImport] = []
    code = marks.read_marks(text).code
    for match in _IMPORT.finditer(text):
        before = bisect_right(code, (match.start(), len(text)))
        if before and match.start() < code[before - 1][1]:
            continue
        quoted = match[1] or match[2]
        path = quoted or _ESCAPED.sub(r"\1", match[3].rstrip(_ENDS))
        written = match[0] if quoted else match[0].rstrip(_ENDS)
        if path.strip("./~"):
            found.append(FileImport(written, path, match.start()))
    return tuple(found[:MOST_IMPORTS])


def read_import(wanted: FileImport, places: ImportRoots) -> ImportedFile:
    """The file, from the current folder or else from the vault. Raises VaultError for what is not there, may not be read, or is no text."""
    for base in _roots(places):
        if (inside := _inside(wanted.path, base)) is not None and (file := _file(base, inside)) is not None:
            return _read(file, base, places)
    raise _missing(wanted)


def _roots(places: ImportRoots) -> list[Path]:
    """Where a file is looked for, in this order. A current folder that was deleted under the program is none."""
    roots = [places.vault.root]
    if places.folder:
        with suppress(VaultError):
            roots.insert(0, filesystem.resolve_root(places.folder))
    return roots


def _inside(path: str, base: Path) -> str | None:
    """The path from `base`; None for one that leads elsewhere."""
    if "\0" in path:
        return None
    path = os.path.expanduser(path) if path.startswith("~/") else path  # noqa: PTH111 - Path raises where there is no home
    relative = os.path.relpath(os.path.realpath(path), base) if os.path.isabs(path) else os.path.normpath(path)  # noqa: PTH117
    return None if relative.startswith("..") else relative


def _file(base: Path, path: str) -> Path | None:
    """The file's real path, with `.md` where that is left out; None when there is none. Raises VaultError for one that may not be read."""
    for name in (path, *(path + suffix for suffix in _SUFFIXES)):
        if os.path.lexists(base / name):
            real = filesystem.resolve_inside(base, name)
            if real.is_dir():
                raise VaultError(f"@{filesystem.printable(path)} is a folder", "Name a file in it.")
            return real
    return None


def _read(file: Path, base: Path, places: ImportRoots) -> ImportedFile:
    vault = places.vault
    shown = filesystem.printable(os.path.relpath(file, base))
    try:
        size = file.stat().st_size
    except OSError as e:
        raise VaultError(f"@{shown} cannot be read: {(e.strerror or str(e)).lower()}", "Check its permissions.") from e
    if size > places.limit:
        hint = "Put the part you need into a file of its own, or raise references.import_max_kilobytes."
        raise VaultError(f"@{shown} is too large to import: {size // 1024} kB of at most {places.limit // 1024}", hint)
    path = vault.find_file(os.path.relpath(file, vault.root)) if file.is_relative_to(vault.root) else None
    if path is not None and path.lower().endswith(_SUFFIXES):
        chunks = vault.chunks(path)
        return ImportedFile(path, chunks[0].title if chunks else file.stem, tuple(chunks), readable=True)
    relative = replace_surrogates(os.path.relpath(file, vault.root).replace(os.sep, "/"))
    text = filesystem.read_text(base, os.path.relpath(file, base))
    return ImportedFile(relative, filesystem.printable(file.name), tuple(vault.chunk_text(relative, file.name, text)), readable=False)


def _missing(wanted: FileImport) -> VaultError:
    path = filesystem.printable(wanted.path)
    if ".." in Path(wanted.path).parts or wanted.path.startswith(("/", "~")):
        return VaultError(f"@{path} is neither in the vault nor under the current folder", "Only files from there can be imported.")
    return VaultError(f"@{path} not found", "")


def similar_paths(wanted: FileImport, places: ImportRoots, limit: int = 3) -> tuple[str, ...]:
    """The paths that a missing one may have meant, from the current folder and the vault, the nearest first."""
    suffix = PurePosixPath(wanted.path).suffix.casefold()  # that two names end alike does not make them near
    names: dict[str, str] = {}
    for base in filter(None, (places.folder, places.vault.root)):
        for path in list_files(base):
            whole = path.casefold().removesuffix(suffix)
            names.setdefault(whole, path)
            names.setdefault(whole.rpartition("/")[2], path)
    name = wanted.path.casefold().removeprefix("./").removesuffix(suffix)
    close = difflib.get_close_matches(name[:200], names, limit, 0.6)
    close += difflib.get_close_matches(name.rpartition("/")[2][:200], names, limit, 0.7)
    return tuple(dict.fromkeys(names[near] for near in close))[:limit]


def list_files(base: Path) -> Iterator[str]:
    """The files below a folder, by path, hidden ones left out; so many that looking through them is quick."""
    count = 0
    for folder, folders, files in os.walk(base):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("node_modules", "__pycache__"))
        for name in sorted(files):
            if not name.startswith("."):
                yield replace_surrogates(os.path.relpath(os.path.join(folder, name), base).replace(os.sep, "/"))  # noqa: PTH118
                count += 1
        if count > MOST_NAMES:
            return
