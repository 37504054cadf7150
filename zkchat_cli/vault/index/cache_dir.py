"""A folder for what can be made anew, where the one it is usually kept in takes nothing: a full disk, a home that may not be written."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOM = 64 * 1024
"""Bytes that a database which is there already needs beside it."""


@dataclass(frozen=True, slots=True)
class CacheDir:
    """`folder` is where to keep it; with `scratch`, only until that is closed, for the reason `why`."""

    folder: Path
    scratch: tempfile.TemporaryDirectory[str] | None = None
    why: str = ""

    @property
    def notice(self) -> tuple[str, str] | None:
        """What to tell of it, and the way out; None when nothing is wrong."""
        if self.scratch is None:
            return None
        what = f"{self.folder.name} of {self.folder.parent} cannot be written ({self.why}): the notes are indexed for this run alone"
        return what, "Free some space or make the folder writable, and the next start is quick again."

    @property
    def place(self) -> Path:
        return Path(self.scratch.name) if self.scratch is not None else self.folder

    def close(self) -> None:
        if self.scratch is not None:
            self.scratch.cleanup()


def open_cache_dir(folder: Path) -> CacheDir:
    """`folder`, made if missing, where something can be written to it; else one that is gone when the program ends, if there is any."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(ROOM))
            probe.flush()
    except OSError as e:
        try:
            return CacheDir(folder, tempfile.TemporaryDirectory(prefix="zkchat-", ignore_cleanup_errors=True), e.strerror or str(e))
        except OSError:
            return CacheDir(folder)  # whoever opens something there says what is wrong
    return CacheDir(folder)
