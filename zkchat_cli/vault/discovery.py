"""Folders that may be the user's notes, for the first start: the vaults that Obsidian lists, and a few usual places."""

import json
from contextlib import suppress
from pathlib import Path

from zkchat_cli.fileio import read_file

MAX_FOUND = 7
MAX_LIST = 1_000_000
_USUAL_FOLDERS = "Notes notes Documents/Notes Documents/Obsidian Obsidian Vault vault Zettelkasten zettelkasten zk".split()
_OBSIDIAN_LISTS = (
    ".config/obsidian/obsidian.json",
    ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json",
    "Library/Application Support/obsidian/obsidian.json",
    "AppData/Roaming/obsidian/obsidian.json",
)


def holds_notes(folder: Path) -> bool:
    """Whether Markdown files are in a folder or one level down, hidden folders not counted, so that it can be the vault."""
    try:
        return any(next(folder.glob(pattern), None) for pattern in ("[!.]*.md", "[!.]*.markdown", "[!.]*/[!.]*.md"))
    except (OSError, ValueError):  # no folder has such a name
        return False


def find_vaults(home: Path) -> list[Path]:
    """The folders with notes in these places, Obsidian's vaults first."""
    found: list[Path] = []
    listed: list[Path] = []
    for name in _OBSIDIAN_LISTS:
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):  # no such list, or an unknown format
            listed = listed or [Path(vault["path"]) for vault in json.loads(read_file(home / name, MAX_LIST))["vaults"].values()]
    for folder in (*listed, *(home / name for name in _USUAL_FOLDERS)):
        with suppress(OSError):  # not readable
            if holds_notes(folder) and not any(folder.samefile(other) for other in found):  # `Notes` may be `notes`
                found.append(folder)
    return found[:MAX_FOUND]
