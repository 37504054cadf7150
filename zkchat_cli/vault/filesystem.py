"""The vault's files: scanning them, and reading them without ever leaving the vault.

Every path from outside (a user, a model, a link) goes through `resolve_inside`. The scan skips
hidden folders (`.obsidian`, `.trash`), what the ignore globs match, and links out of the vault.
Files it cannot index are problems that `vault status` lists.
"""

import errno
import json
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import translate
from itertools import accumulate
from pathlib import Path, PurePath

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.text_decoder import decode, has_mark
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# Bytes of a note: a larger one would take a minute to index
LARGEST_NOTE = 10_000_000
# Bytes of the name of a file or folder
LONGEST_NAME = 255
# Characters of a path in a message
MAX_SHOWN_PATH = 80
# The hint of an error about a missing note
HOW_TO_SEARCH = "`zkchat vault search` finds notes by their words."

_NOTHING = re.compile("(?!)")
"""A pattern that matches nothing."""
Stamp = tuple[int, int, int]


def stamp(stat: os.stat_result) -> Stamp:
    """A value that changes with a file. Programs that restore files set its first time (mtime), but
    no program can set the second (ctime).
    """
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size


@dataclass(frozen=True, slots=True)
class VaultFiles:
    """The files that a scan found, by path: a stamp per note, the attachments, and what cannot be
    indexed. `only` are the scanned paths, if that was not the whole vault.
    """

    stamps: dict[str, Stamp] = field(default_factory=dict)
    attachments: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    only: frozenset[str] | None = None


def resolve_root(folder: Path) -> Path:
    """The real path of a vault's folder. Raises VaultError when there is no such folder, or it
    cannot be read.
    """
    try:
        root = folder.expanduser().resolve(strict=True)
        os.scandir(root).close()
    except (OSError, RuntimeError, ValueError) as e:
        raise _unreadable_folder(folder, e) from e
    return root


def _unreadable_folder(folder: Path, error: Exception) -> VaultError:
    problem = f"the folder {folder} cannot be read: {reason(error)}"
    if isinstance(error, FileNotFoundError):
        problem = f"there is no folder {folder}"
    return VaultError(problem, "Check the path in --vault, ZKCHAT_VAULT or vault.path.")


def scan(root: Path, ignore: Sequence[str] = (), view: VaultView = WHOLE_VAULT) -> VaultFiles:
    """Every note and attachment below `root` that is in the `view`. Raises VaultError when `root`
    cannot be read: its disk may not be mounted.
    """
    files = VaultFiles()
    ignored = _ignore_pattern(ignore)
    folders = [("", str(root))]
    while folders:
        prefix, folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    is_left_out = (
                        entry.name.startswith(".") or ignored.match(path) or not view.leads_to(path)
                    )
                    if not is_left_out and _add_entry(entry, path, root, files, view):
                        folders.append((path + "/", entry.path))
        except OSError as e:
            if not prefix:
                raise _unreadable_folder(root, e) from e
            files.problems[printable(prefix)] = f"not read: {reason(e)}"
    return files


def scan_paths(
    root: Path,
    paths: Iterable[str],
    ignore: Sequence[str] = (),
    view: VaultView = WHOLE_VAULT,
) -> VaultFiles | None:
    """The part of a scan with these notes; None if that takes a full scan: another kind of path is
    among them, or the vault is away.
    """
    if not root.is_dir():
        return None
    files = VaultFiles(only=frozenset(paths))
    ignored = _ignore_pattern(ignore)
    for path in files.only or ():
        file = f"{root}/{path}"
        is_note = replace_surrogates(path) == path and path.lower().endswith(NOTE_SUFFIXES)
        if not is_note or os.path.realpath(file) != file:
            return None
        is_hidden = _has_hidden_part(path.split("/")) or not view.allows(path)
        if os.path.isfile(file) and not is_hidden and not ignored.match(path):  # noqa: PTH113
            files.stamps[path] = stamp(os.stat(file))  # noqa: PTH116
    return files


def _has_hidden_part(parts: Iterable[str]) -> bool:
    return any(part.startswith(".") for part in parts)


def _add_entry(
    entry: "os.DirEntry[str]", path: str, root: Path, files: VaultFiles, view: VaultView
) -> bool:
    """Add a note, an attachment or a problem to `files`. Returns whether the entry is a folder to
    scan.
    """
    if replace_surrogates(path) != path:
        files.problems[printable(path)] = "not indexed: its name is not UTF-8"
        return False
    try:
        if entry.is_symlink() and not _is_followed(entry, path, root, files, view):
            return False
        if entry.is_dir():
            return True
        if not view.allows(path):
            return False
        if entry.is_file() and path.lower().endswith(NOTE_SUFFIXES):
            files.stamps[path] = stamp(entry.stat())
        elif entry.is_file():
            files.attachments.add(path)
    except FileNotFoundError:
        # It was deleted meanwhile, or it is a broken link
        pass
    except (OSError, RuntimeError) as e:
        # RuntimeError: a circle of links, before Python 3.13
        files.problems[printable(path)] = f"not read: {reason(e)}"
    return False


def _is_followed(
    entry: "os.DirEntry[str]", path: str, root: Path, files: VaultFiles, view: VaultView
) -> bool:
    """Whether a symbolic link is one more name of a visible file in the vault; one that leaves it
    is a problem.
    """
    target = Path(entry.path).resolve(strict=True)
    if not target.is_relative_to(root):
        files.problems[printable(path)] = "not followed: a link that leaves the vault"
        return False
    # The notes of a folder are listed elsewhere
    if target.is_dir():
        return False
    inside = target.relative_to(root)
    return not _has_hidden_part(inside.parts) and view.allows(inside.as_posix())


def _ignore_pattern(globs: Sequence[str]) -> re.Pattern[str]:
    """One pattern for all globs. `Templates`, `Templates/` and `Templates/*` mean the folder;
    without `/` a glob matches at any depth.
    """
    alternatives: list[str] = []
    for glob in globs:
        bare = glob.strip("/").removesuffix("/**").removesuffix("/*")
        if not bare:
            continue
        names = (bare,) if "/" in glob else (bare, f"*/{bare}")
        for name in names:
            alternatives += [translate(name), translate(f"{name}/*")]
    if not alternatives:
        return _NOTHING
    return re.compile("|".join(alternatives))


def resolve_inside(root: Path, relative_path: str, view: VaultView = WHOLE_VAULT) -> Path:
    """The real path of `relative_path`, which need not exist. Raises VaultError for anything
    outside of the vault or hidden, and FileNotFoundError for what is not in the `view`, whether or
    not it exists.
    """
    name = short_path(relative_path)
    hint = "Give a path in the vault, such as `Folder/Note.md`."
    path = PurePath(relative_path)
    if path.anchor or ".." in path.parts or path.parts[:1] == ("~",):
        raise VaultError(f"{name} leads out of the vault", hint)
    _require_visible(path, view)
    try:
        if any(len(os.fsencode(part)) > LONGEST_NAME for part in path.parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        real = _resolve(root, path)
    # No file can have this name
    except (OSError, RuntimeError, ValueError) as e:
        raise VaultError(f"{name} cannot be read: {reason(e)}", hint) from e
    if not real.is_relative_to(root):
        raise VaultError(
            f"{name} leads out of the vault", "A link that leaves the vault is not followed."
        )
    if _has_hidden_part((*path.parts, *real.relative_to(root).parts)):
        raise VaultError(
            f"{name} is hidden, and hidden files are not read",
            "Notes are in folders without a leading dot.",
        )
    _require_visible(real.relative_to(root), view)
    return real


def _require_visible(path: PurePath, view: VaultView) -> None:
    if not view.allows(path.as_posix()):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def is_file_inside(root: Path, relative_path: str, view: VaultView = WHOLE_VAULT) -> bool:
    """Whether there is a file at this path that is in the `view`. Raises VaultError for anything
    outside of the vault or hidden.
    """
    try:
        return os.path.isfile(resolve_inside(root, relative_path, view))  # noqa: PTH113
    except FileNotFoundError:
        return False


def _resolve(root: Path, path: PurePath) -> Path:
    """The real path. Resolving takes 0.1 ms, and memory asks for each cited note, so it is done
    only if a part is a link.
    """
    names = accumulate(path.parts, "{}/{}".format, initial=str(root))
    has_links = os.name != "posix" or any(map(os.path.islink, names))
    return (root / path).resolve() if has_links else root / path


def read_text(root: Path, relative_path: str, view: VaultView = WHOLE_VAULT) -> str:
    """The whole text of a text file in the vault, which may contain NUL if it is a note. Raises
    VaultError.
    """
    try:
        raw = read_file(resolve_inside(root, relative_path, view), LARGEST_NOTE)
    except (OSError, ValueError) as e:
        # The vault may be on a disk that is not mounted
        resolve_root(root)
        raise VaultError(
            f"{short_path(relative_path)} in the vault {root} cannot be read: {reason(e)}",
            HOW_TO_SEARCH,
        ) from e
    if b"\0" in raw and not has_mark(raw) and not relative_path.lower().endswith(NOTE_SUFFIXES):
        raise VaultError(
            f"{short_path(relative_path)} is not a text file", "Only text can be read."
        )
    return decode(raw).text


def read_note(root: Path, relative_path: str) -> tuple[bytes, str | None]:
    """A listed note's bytes, or no bytes and the problem with reading them."""
    try:
        return read_file(f"{root}/{relative_path}", LARGEST_NOTE), None
    except OSError as e:
        return b"", f"not read: {reason(e)}"


def short_path(path: str) -> str:
    """A path for a message, as `printable` shows it, but at most 80 characters."""
    return truncate(printable(path), MAX_SHOWN_PATH)


def printable(path: str) -> str:
    """A path for a message: on one line, and valid Unicode."""
    return replace_surrogates(path).replace("\n", "\\n").replace("\r", "\\r")


# Vaults that are suggested
MAX_FOUND = 7
# Bytes of Obsidian's list of vaults
MAX_LIST = 1_000_000
_USUAL_FOLDERS = (
    "Notes notes Documents/Notes Documents/Obsidian Obsidian Vault vault Zettelkasten "
    "zettelkasten zk"
).split()
_NOTE_PATTERNS = ("[!.]*.md", "[!.]*.markdown", "[!.]*/[!.]*.md")
_CONFIG_FOLDERS = (
    ".config",
    ".var/app/md.obsidian.Obsidian/config",
    "Library/Application Support",
    "AppData/Roaming",
)


def holds_notes(folder: Path) -> bool:
    """Whether a folder can be the vault: it has Markdown files, or a folder in it that is not
    hidden has some.
    """
    try:
        return any(next(folder.glob(pattern), None) for pattern in _NOTE_PATTERNS)
    # A path that no folder can have
    except (OSError, ValueError):
        return False


def find_vaults(home: Path) -> list[Path]:
    """The folders in a user's home that can be vaults: those that Obsidian lists, then those with
    usual names.
    """
    found: list[Path] = []
    listed: list[Path] = []
    for config in _CONFIG_FOLDERS:
        # There may be no such list, or its format is unknown
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            raw = read_file(home / config / "obsidian/obsidian.json", MAX_LIST)
            vaults = json.loads(raw)["vaults"].values()
            listed = listed or [Path(vault["path"]) for vault in vaults]
    usual = [home / name for name in _USUAL_FOLDERS]
    for folder in (*listed, *usual):
        # A folder may not be readable
        with suppress(OSError):
            # Where case does not count, `Notes` and `notes` are the same folder
            if holds_notes(folder) and not any(map(folder.samefile, found)):
                found.append(folder)
    return found[:MAX_FOUND]
