"""The files that instruct later conversations. A change that a model makes to one of them needs an
approval of its own.
"""

import os
import posixpath
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.memory.project import USER_FILE, import_paths, read_memory_file
from zkchat_cli.references.file_imports import find_written_paths

# Paths that memory may import; if it imports more, every file counts as memory
MAX_PATHS = 5_000


class MemoryPaths(NamedTuple):
    """The files that are memory: those called `names`, all that they import, and the memory in
    `agents_folder`.

    Files are compared by their real paths, so that no link hides one. A path that is imported but
    missing counts too: a note that is created there would be read.
    """

    root: Path
    names: tuple[str, ...]
    agents_folder: Path | None = None

    def first_among(self, paths: Iterable[str]) -> str | None:
        """The first of these paths of the vault that is memory, or would be if there were a file;
        with the reason, unless its name says so. None if no path is memory.
        """
        reasons = self._reasons()
        endings = tuple(_fold(f"/{name}") for name in self.names)
        for path in paths:
            if _fold(f"/{path}").endswith(endings):
                return path
            if len(reasons) > MAX_PATHS:
                return f"{path} (one of over {MAX_PATHS:,} files that memory may import)"
            real = Path(_comparable(self.root / path))
            if self._is_agents_memory(real):
                return f"{path} (memory of the agent {real.stem})"
            if str(real) in reasons:
                return f"{path} ({reasons[str(real)]})"
        return None

    def _is_agents_memory(self, real: Path) -> bool:
        if self.agents_folder is None or real.suffix != ".md":
            return False
        return str(real.parent) == _comparable(self.agents_folder)

    def _reasons(self) -> dict[str, str]:
        """The reason why a file is memory, by its real path; an import may mean several paths."""
        reasons: dict[str, str] = {}
        found: dict[str, str] = {}
        for path in self._named_files():
            found[path] = f"the same file as {path}"
        seen: set[str] = set()
        while found and len(reasons) <= MAX_PATHS:
            path, why = found.popitem()
            if path in seen or "\0" in path:
                continue
            seen.add(path)
            reasons.setdefault(_comparable(self.root / path), why)
            folder = posixpath.dirname(path)
            for written in find_written_paths(read_memory_file(self.root, path) or ""):
                found |= dict.fromkeys(import_paths(written, folder), f"imported by {path}")
        if self.agents_folder is not None:
            reasons[_comparable(self.agents_folder.parent / USER_FILE)] = "your own memory file"
            for file in self.agents_folder.glob("*.md"):
                reasons[_comparable(file)] = f"memory of the agent {file.stem}"
        return reasons

    def _named_files(self) -> Iterator[str]:
        """The paths in the vault of the files with one of the names, broken links included."""
        for folder, folders, _ in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            relative = os.path.relpath(folder, self.root).replace(os.sep, "/")
            for name in self.names:
                if os.path.lexists(f"{folder}/{name}"):
                    yield posixpath.normpath(posixpath.join(relative, name))


def _comparable(file: Path) -> str:
    return _fold(os.path.realpath(file))


def _fold(path: str) -> str:
    """Equal for all spellings that one file may have: some file systems ignore case and
    normalization.
    """
    return unicodedata.normalize("NFC", path).casefold()
