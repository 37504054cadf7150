"""The cache folder, or a temporary one where nothing can be written to it: a full disk, a read-only home."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

PROBE_BYTES = 64 * 1024
"""What an existing database needs beside it."""


@dataclass(frozen=True, slots=True)
class CacheDir:
    """The cache `folder`; if nothing can be written to it, for the `reason`, a `temporary` one until `close`."""

    folder: Path
    temporary: tempfile.TemporaryDirectory[str] | None = None
    reason: str = ""

    @property
    def notice(self) -> tuple[str, str] | None:
        """A warning with its hint; None when nothing is wrong."""
        if self.temporary is None:
            return None
        message = f"{self.folder.name} of {self.folder.parent} cannot be written ({self.reason}): the notes are indexed for this run alone"
        return message, "Free some space or make the folder writable, so that the next start is quick again."

    @property
    def path(self) -> Path:
        return Path(self.temporary.name) if self.temporary is not None else self.folder

    def close(self) -> None:
        if self.temporary is not None:
            self.temporary.cleanup()


def open_cache_dir(folder: Path) -> CacheDir:
    """`folder`, created if missing, or else a temporary one."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
    except OSError as e:
        try:
            return CacheDir(folder, tempfile.TemporaryDirectory(prefix="zkchat-", ignore_cleanup_errors=True), e.strerror or str(e))
        except OSError:
            return CacheDir(folder)  # whoever opens a file there reports the error
    return CacheDir(folder)
