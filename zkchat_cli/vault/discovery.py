"""Folders that may be the user's notes, for the first start: the vaults that Obsidian lists, and a few likely places.

Never a walk through the disk: each place is checked itself and one level down. What does not answer in time (a sleeping drive, a server
that is gone) is left out.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

SECONDS = 0.3
MOST_FOUND = 7
MOST_COUNTED = 1000
_MOST_ENTRIES = 300
_MARKERS = (".obsidian", ".foam", ".zk", ".zkchat.toml", ".logseq")
_NOTE_FOLDERS = ("Notes", "notes", "Obsidian", "obsidian", "Vault", "vault", "Zettelkasten", "zettelkasten", "zk", "wiki")
_PARENTS = ("Documents", "Dropbox", "OneDrive", "Nextcloud", "Sync", "Desktop", "Library/Mobile Documents/iCloud~md~obsidian/Documents")
_OBSIDIAN_CONFIGS = (
    *(".config/obsidian", ".var/app/md.obsidian.Obsidian/config/obsidian", "snap/obsidian/current/.config/obsidian"),
    *("Library/Application Support/obsidian", "AppData/Roaming/obsidian"),
)


@dataclass(frozen=True, slots=True)
class VaultCandidate:
    """A folder and its number of notes, or of at least so many (`more`). `why` is how it was found; empty for a likely place."""

    path: Path
    notes: int
    more: bool = False
    why: str = ""


def holds_notes(folder: Path) -> bool:
    """Whether Markdown files are in a folder or one level down, so that it can be the vault where no other is named."""
    return any(next(folder.glob(pattern), None) for pattern in ("*.md", "*.markdown", "*/*.md"))


def find_vaults(home: Path, here: Path, env: Mapping[str, str], seconds: float = SECONDS) -> list[VaultCandidate]:
    """The folders found within so many seconds, likeliest first."""
    found: list[VaultCandidate] = []
    until = time.monotonic() + seconds

    def search() -> None:
        seen: set[Path] = set()
        for folder, why in _places(home, here, env):
            if time.monotonic() > until or len(found) == MOST_FOUND:
                return
            with suppress(OSError, ValueError, RuntimeError):  # not readable, a circle of links
                real = folder.resolve()
                if real not in seen and real.is_dir():
                    seen.add(real)
                    notes = sum(1 for _ in islice(_notes_in(real, lambda: time.monotonic() > until), MOST_COUNTED))
                    if notes:
                        found.append(VaultCandidate(real, notes, notes == MOST_COUNTED or time.monotonic() > until, why))

    thread = threading.Thread(target=search, daemon=True)  # nobody waits for a drive that does not answer
    thread.start()
    thread.join(seconds)
    return list(found)


def _places(home: Path, here: Path, env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if here != home and _has_marker(here):
        yield here, "the current folder"
    for vault in _obsidian_vaults(home, env):
        yield vault, "Obsidian"
    if here != home and any(entry.name.lower().endswith(".md") for entry in _entries(here)):
        yield here, "the current folder"
    for place in (home, *(home / name for name in (*_PARENTS, *_NOTE_FOLDERS))):
        folders = (Path(entry.path) for entry in _entries(place) if entry.is_dir())
        yield from ((folder, "") for folder in (place, *folders) if folder != home and _has_marker(folder))
    for name in _NOTE_FOLDERS:
        yield home / name, ""


def _obsidian_vaults(home: Path, env: Mapping[str, str]) -> list[Path]:
    """The vaults in Obsidian's own list, the open one and the last used first."""
    folders = [Path(env[name]) / "obsidian" for name in ("XDG_CONFIG_HOME", "APPDATA") if env.get(name)]
    vaults: dict[str, tuple[bool, float]] = {}
    for folder in (*folders, *(home / name for name in _OBSIDIAN_CONFIGS)):
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # no such list, or an unknown format
            for vault in json.loads((folder / "obsidian.json").read_bytes())["vaults"].values():
                vaults.setdefault(str(vault["path"]), (bool(vault.get("open")), float(vault.get("ts") or 0)))
    return [Path(path) for path in sorted(vaults, key=lambda path: vaults[path], reverse=True)]


def _has_marker(folder: Path) -> bool:
    return any(os.path.lexists(folder / marker) for marker in _MARKERS)


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    with suppress(OSError), os.scandir(folder) as entries:
        return [entry for entry in islice(entries, _MOST_ENTRIES) if not entry.name.startswith(".")]
    return []


def _notes_in(folder: Path, is_late: Callable[[], bool]) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = [] if is_late() else [name for name in folders if not name.startswith(".")]
        yield from (f"{place}/{name}" for name in files if name.lower().endswith((".md", ".markdown")) and not name.startswith("."))


def abbreviate_home(path: Path, home: Path) -> str:
    """A path with `~` for the home folder."""
    with suppress(ValueError):
        return str(Path("~") / path.relative_to(home)) if os.name != "nt" else str(path)
    return str(path)
