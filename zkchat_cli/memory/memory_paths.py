"""Which files instruct later conversations: memory files, all they import, and the memory of agents.

A model's change of one of them needs an approval of its own.

Files are compared by their real paths, so that no link hides one. A path that is imported but missing counts too, because a note created
there would be read. That is why the files before a change are enough to judge it: nothing becomes memory but by a change of such a path.
"""

import os
import posixpath
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.memory.project import MAX_IMPORT_DEPTH, MemoryFiles, import_paths
from zkchat_cli.references.mentions import find_written_paths

USER_FILE = "ZKCHAT.md"
"""The user's memory file for all vaults, in the configuration folder."""
MAX_PATHS = 5_000
"""If memory imports more paths than that, every file counts as memory."""


class MemoryPaths(NamedTuple):
    """`names` are those of memory files; `agents_folder` has the agents' memory."""

    root: Path
    names: tuple[str, ...]
    agents_folder: Path | None = None

    def first_among(self, paths: Iterable[str]) -> str | None:
        """The first of these paths of the vault that is or would be memory, with the reason if it is not its name; None if none is."""
        reasons = self._reasons()
        for path in paths:
            if any(_fold(f"/{path}").endswith(_fold(f"/{name}")) for name in self.names):
                return path
            real = Path(_comparable(self.root / path))
            if len(reasons) > MAX_PATHS:
                return f"{path} (one of over {MAX_PATHS:,} files that memory may import)"
            if self.agents_folder is not None and real.suffix == ".md" and str(real.parent) == _comparable(self.agents_folder):
                return f"{path} (memory of the agent {real.stem})"
            if str(real) in reasons:
                return f"{path} ({reasons[str(real)]})"
        return None

    def _reasons(self) -> dict[str, str]:
        """Why a file is memory, by its real path; an import may mean several paths."""
        reasons: dict[str, str] = {}
        files = MemoryFiles(self.root, lambda *_: None)
        found = {path: f"the same file as {path}" for path in self._memory_files()}
        seen: set[str] = set()
        for _ in range(MAX_IMPORT_DEPTH + 1):
            level, found = found, {}
            for path, reason in level.items():
                if path in seen or "\0" in path or len(reasons) > MAX_PATHS:
                    continue
                seen.add(path)
                reasons.setdefault(_comparable(self.root / path), reason)
                for written in find_written_paths(files.read(path) or ""):
                    found |= dict.fromkeys(import_paths(written, posixpath.dirname(path)), f"imported by {path}")
        if self.agents_folder is not None:
            reasons[_comparable(self.agents_folder.parent / USER_FILE)] = "your own memory file"
            reasons |= {_comparable(file): f"memory of the agent {file.stem}" for file in self.agents_folder.glob("*.md")}
        return reasons

    def _memory_files(self) -> Iterator[str]:
        """The memory files of all folders, broken links included."""
        for folder, folders, _ in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in self.names:
                if os.path.lexists(f"{folder}/{name}"):
                    yield posixpath.normpath(posixpath.join(os.path.relpath(folder, self.root).replace(os.sep, "/"), name))


def _comparable(file: Path) -> str:
    return _fold(os.path.realpath(file))


def _fold(path: str) -> str:
    """Equal for all spellings that one file may have: some file systems ignore case and normalization."""
    return unicodedata.normalize("NFC", path).casefold()
