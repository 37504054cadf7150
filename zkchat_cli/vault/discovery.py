"""Folders that may be somebody's notes, for the first start: where Obsidian says its vaults are, and in a few likely places.

Never a walk through the disk: each place is looked at by itself and one level down. What has not answered in time (a drive that sleeps, a
server that is gone) is left out.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

IN_TIME = 0.3
"""Seconds for the whole search."""
MOST = 7
_MOST_ENTRIES = 300
"""Of one folder that are looked at."""
_MOST_COUNTED = 1000
_SIGNS = (".obsidian", ".foam", ".zk", ".zkchat.toml", ".logseq")
_LIKELY = (
    *("Documents", "Notes", "notes", "Obsidian", "obsidian", "Vault", "vault", "Zettelkasten", "zettelkasten", "zk", "wiki", "Dropbox"),
    *("OneDrive", "Nextcloud", "Sync", "Desktop", "Library/Mobile Documents/iCloud~md~obsidian/Documents"),
)
_OBSIDIAN = (
    *(".config/obsidian", ".var/app/md.obsidian.Obsidian/config/obsidian", "snap/obsidian/current/.config/obsidian"),
    *("Library/Application Support/obsidian", "AppData/Roaming/obsidian"),
)


@dataclass(frozen=True, slots=True)
class VaultCandidate:
    """A folder with notes: so many, or at least so many where `more`. `why` says in a word how it was found; empty for a likely place."""

    path: Path
    notes: int
    more: bool = False
    why: str = ""


def candidates(home: Path, here: Path, env: Mapping[str, str], seconds: float = IN_TIME) -> list[VaultCandidate]:
    """The folders, likeliest first, each once: those that were found within so many seconds."""
    found: list[VaultCandidate] = []
    until = time.monotonic() + seconds

    def search() -> None:
        seen: set[Path] = set()
        for folder, why in _places(home, here, env):
            if time.monotonic() > until or len(found) == MOST:
                return
            with suppress(OSError, ValueError, RuntimeError):  # not ours to read, a link in a circle
                real = folder.resolve()
                if real not in seen and real.is_dir():
                    seen.add(real)
                    notes, more = _count(real, lambda: time.monotonic() > until)
                    if notes:
                        found.append(VaultCandidate(real, notes, more, why))

    thread = threading.Thread(target=search, daemon=True)  # of a folder that does not answer nobody waits for the end
    thread.start()
    thread.join(seconds)
    return list(found)


def _places(home: Path, here: Path, env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if _has_sign(here) and here != home:
        yield here, "the current folder"
    for folder in _vaults_of_obsidian(home, env):
        yield folder, "Obsidian"
    if here != home and any(_notes_in(here, 1)):
        yield here, "the current folder"
    for name in ("", *_LIKELY):
        place = home / name
        if name and _has_sign(place):
            yield place, ""
        for child in _folders(place):
            if _has_sign(child):
                yield child, ""
    for name in _LIKELY:
        if name.casefold() not in ("documents", "dropbox", "onedrive", "nextcloud", "sync", "desktop"):
            yield home / name, ""


def _vaults_of_obsidian(home: Path, env: Mapping[str, str]) -> list[Path]:
    """The vaults that Obsidian's own list names, the one that is open and the last used first."""
    folders = [Path(env[name]) / "obsidian" for name in ("XDG_CONFIG_HOME", "APPDATA") if env.get(name)]
    vaults: dict[str, tuple[bool, float]] = {}
    for folder in (*folders, *(home / name for name in _OBSIDIAN)):
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # none there, or none we know
            for vault in json.loads((folder / "obsidian.json").read_bytes())["vaults"].values():
                vaults.setdefault(str(vault["path"]), (bool(vault.get("open")), float(vault.get("ts") or 0)))
    return [Path(path) for path in sorted(vaults, key=lambda path: vaults[path], reverse=True)]


def _has_sign(folder: Path) -> bool:
    return any(os.path.lexists(folder / sign) for sign in _SIGNS)


def _folders(place: Path) -> list[Path]:
    with suppress(OSError), os.scandir(place) as entries:
        return [Path(entry.path) for entry in islice(entries, _MOST_ENTRIES) if not entry.name.startswith(".") and entry.is_dir()]
    return []


def _count(folder: Path, over: Callable[[], bool]) -> tuple[int, bool]:
    """How many notes are in a folder, and whether it was not looked through to its end."""
    number = 0
    for number, _ in enumerate(_notes_in(folder, 8, over), 1):
        if number == _MOST_COUNTED:
            return number, True
    return number, over()


def _notes_in(folder: Path, deep: int, over: Callable[[], bool] = lambda: False) -> Iterator[str]:
    waiting = [(str(folder), 0)]
    while waiting and not over():
        at, level = waiting.pop(0)
        with suppress(OSError), os.scandir(at) as entries:
            for entry in entries:
                if entry.name.startswith(".") or over():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if level < deep:
                        waiting.append((entry.path, level + 1))
                elif entry.name.casefold().endswith((".md", ".markdown")):
                    yield entry.path


def home_of(path: Path, home: Path) -> str:
    """A path as people write it, with `~` for their home."""
    with suppress(ValueError):
        return str(Path("~") / path.relative_to(home)) if sys.platform != "win32" else str(path)
    return str(path)
