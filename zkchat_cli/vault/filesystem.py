"""The vault as files: what is in it, and reading it without ever leaving it.

Every path that comes from outside (a user, a model, a link) goes through `confined`: resolved, it must be inside the vault. The scan
skips hidden folders (`.obsidian`, `.trash`, `.git`) and what the ignore globs name, and does not follow links that leave the vault. What
it must skip it says, so that `vault status` can list it.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import translate
from functools import partial
from pathlib import Path

from zkchat_cli.errors import VaultError
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

LARGEST_NOTE = 10_000_000
READ_OF_LARGER = 2_000_000
"""Bytes of a note beyond LARGEST_NOTE that are read: its beginning, rather than a minute of indexing and nothing."""

_LONGEST_PATH = 4096
_USUAL_NOTE = 65_536


Stamp = tuple[int, int, int]


def stamp(stat: os.stat_result) -> Stamp:
    """What is another when a file has changed. Its times are two: programs that bring files back, or change them without saying so, set
    the first (mtime), nobody the second (ctime)."""
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size


@dataclass(frozen=True, slots=True)
class Listing:
    """What a scan found, by path relative to the vault with `/`. `stamps` of each note are another when it
    has changed, the time of the change first.

    `only`: the paths that were looked at, where that was not the whole vault.
    """

    stamps: dict[str, Stamp] = field(default_factory=dict)
    attachments: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class NoteBytes:
    """A note's bytes as read, and what was wrong with them."""

    raw: bytes
    problem: str | None = None


def resolve_root(folder: Path) -> Path:
    """The real path of a vault's folder. Raises VaultError when there is no such folder, or it cannot be read."""
    try:
        root = folder.expanduser().resolve(strict=True)
        if not root.is_dir():
            raise VaultError(f"{folder} is a file, not a folder of notes", f"Use the folder it is in: --vault {folder.parent}")
        with os.scandir(root):
            pass
    except (OSError, RuntimeError, ValueError) as e:
        raise _unreadable(folder, e) from e
    return root


def _unreadable(folder: Path, error: Exception) -> VaultError:
    if isinstance(error, FileNotFoundError):
        return VaultError(f"there is no folder {folder}", "Check the path given by --vault, ZKCHAT_VAULT or the configuration.")
    return VaultError(f"the folder {folder} cannot be read: {_cause(error)}", "Check its permissions, or choose another by --vault.")


def scan(root: Path, ignore: Sequence[str] = ()) -> Listing:
    """Every note and attachment below `root`; one `scandir` a folder and one `stat` a note.

    Raises VaultError when `root` itself cannot be read: a disk that is not mounted says nothing about the notes on it.
    """
    listing = Listing()
    ignored = _ignored(ignore)
    folders = [("", str(root))]
    while folders:
        prefix, folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.name.startswith("."):
                        _list(entry, prefix + entry.name, root, ignored, listing, folders)
        except OSError as e:
            if not prefix:
                raise _unreadable(root, e) from e
            listing.problems[printable(prefix)] = f"not read: {_cause(e)}"
    return listing


def list_folders(root: Path, ignore: Sequence[str] = ()) -> list[str]:
    """The full paths of the folders that `scan` looks into, the vault itself first."""
    ignored = _ignored(ignore)
    found = [("", str(root))]
    for prefix, folder in found:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                hidden = entry.name.startswith(".") or (ignored and ignored.match(path)) or not _is_text(path)
                if not hidden and entry.is_dir(follow_symlinks=False):
                    found.append((path + "/", entry.path))
    return [folder for _, folder in found]


def scan_paths(root: Path, paths: Iterable[str], ignore: Sequence[str] = ()) -> Listing | None:
    """What `scan` would say of these paths alone; None where that takes a scan: one of them is a folder, or stands where a scan does not
    go, or the vault is away.
    """
    if not root.is_dir():
        return None
    listing = Listing(only=frozenset(paths))
    ignored = _ignored(ignore)
    inside: list[tuple[str, str]] = []
    for path in sorted(listing.only or ()):
        full = os.path.join(root, path)  # noqa: PTH118 - as scandir gives it
        folder = os.path.dirname(full)  # noqa: PTH120
        plain = path and _is_text(path) and not posixpath.isabs(path) and posixpath.normpath(full) == full
        if not plain or os.path.realpath(folder) != folder:
            return None
        if not any(part.startswith(".") for part in path.split("/")):
            _list(_Entry(full), path, root, ignored, listing, inside)
    return None if inside else listing


class _Entry:
    """What `os.scandir` would give for one path."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_symlink = partial(os.path.islink, path)
        self.is_dir = partial(os.path.isdir, path)
        self.is_file = partial(os.path.isfile, path)
        self.stat = partial(os.stat, path)


def _list(
    entry: "os.DirEntry[str] | _Entry",
    path: str,
    root: Path,
    ignored: "re.Pattern[str] | None",
    listing: Listing,
    folders: list[tuple[str, str]],
) -> None:
    if ignored and ignored.match(path):
        return
    if not path.isascii() and not _is_text(path):
        listing.problems[printable(path)] = "not indexed: its name is not UTF-8"
        return
    try:
        if entry.is_symlink():
            target = Path(entry.path).resolve(strict=True)
            if not target.is_relative_to(root):
                listing.problems[printable(path)] = "not followed: a link that leaves the vault"
                return
            if target.is_dir() or any(part.startswith(".") for part in target.relative_to(root).parts):
                return  # its notes are listed where they are, or hidden
        if entry.is_dir():
            folders.append((path + "/", entry.path))
        elif path.lower().endswith(NOTE_SUFFIXES):
            if entry.is_file():
                listing.stamps[path] = stamp(entry.stat())
        elif entry.is_file():
            listing.attachments.add(path)
    except FileNotFoundError:
        return  # gone between listing and looking, or a link to nothing
    except (OSError, RuntimeError) as e:  # RuntimeError: links in a circle, before Python 3.13
        listing.problems[printable(path)] = f"not read: {_cause(e)}"


def _ignored(globs: Sequence[str]) -> "re.Pattern[str] | None":
    """One pattern for all globs. `Templates`, `Templates/` and `Templates/*` name the folder; without a `/` a glob counts at any depth."""
    alternatives: list[str] = []
    for glob in globs:
        bare = glob.strip("/").removesuffix("/**").removesuffix("/*")
        if bare:
            alternatives.append(("" if "/" in glob else r"(?:.*/)?") + translate(bare).removesuffix(r"\Z").removesuffix(r"\z") + "(?:/.*)?")
    return re.compile("(?:" + "|".join(alternatives) + r")\Z", re.DOTALL) if alternatives else None


def is_ignored(ignore: Sequence[str], path: str) -> bool:
    """Whether a scan with these globs passes a path over, because of itself or a folder above it."""
    ignored = _ignored(ignore)
    return ignored is not None and ignored.match(path) is not None


def resolve_inside(root: Path, relative_path: str) -> Path:
    """The real path of `relative_path`; VaultError for anything that is not inside the vault, or hidden in it. It need not exist."""
    wrong = (
        "it is empty"
        if not relative_path.strip()
        else "it contains a NUL character"
        if "\0" in relative_path
        else "it is too long"
        if len(relative_path) > _LONGEST_PATH or any(len(os.fsencode(part)) > 255 for part in printable(relative_path).split("/"))
        else None
    )
    if wrong:
        raise VaultError(
            f"{_short(relative_path)} is not a path in the vault: {wrong}", "Give a path relative to the vault, as `Folder/Note.md`."
        )
    parts = relative_path.replace("\\", "/").split("/") if os.sep == "\\" else relative_path.split("/")
    if relative_path.startswith(("/", "\\", "~")) or ".." in parts or Path(relative_path).drive:
        raise VaultError(f"{_short(relative_path)} leads out of the vault", "Give a path relative to the vault, as `Folder/Note.md`.")
    hidden = VaultError(f"{_short(relative_path)} is hidden, and hidden files are not read", "Notes are in folders without a leading dot.")
    if any(part.startswith(".") and part != "." for part in parts):
        raise hidden
    try:
        real = (root / relative_path).resolve()
    except (OSError, RuntimeError, ValueError) as e:
        raise VaultError(f"{_short(relative_path)} cannot be read: {_cause(e)}", "Check the path.") from e
    if not real.is_relative_to(root):
        raise VaultError(f"{_short(relative_path)} leads out of the vault", "A link that leaves the vault is not followed.")
    if any(part.startswith(".") for part in real.relative_to(root).parts):
        raise hidden
    return real


def read_text(root: Path, relative_path: str) -> str:
    """The whole text of a text file in the vault. VaultError says why not."""
    file = resolve_inside(root, relative_path)
    try:
        if not file.is_file():
            missing = "is a folder" if file.is_dir() else "does not exist"
            raise VaultError(f"{_short(relative_path)} {missing} in the vault {root}", "`zkchat vault resolve` names the nearest notes.")
        with file.open("rb") as opened:
            raw = opened.read(LARGEST_NOTE + 1)
    except OSError as e:
        raise VaultError(f"{_short(relative_path)} cannot be read: {_cause(e)}", "Check its permissions.") from e
    if len(raw) > LARGEST_NOTE:
        raise VaultError(
            f"{_short(relative_path)} is larger than {LARGEST_NOTE // 1_000_000} MB",
            "Split it; its beginning is indexed and can be searched.",
        )
    refuse_binary(relative_path, raw)
    return decode(NoteBytes(raw))[0]


def refuse_binary(relative_path: str, raw: bytes) -> None:
    """VaultError for a picture and the like; a note stays a note even with a NUL in it."""
    if b"\0" in raw and not _is_utf16(raw) and not relative_path.lower().endswith(NOTE_SUFFIXES):
        raise VaultError(f"{_short(relative_path)} is not a text file", "Only text can be read.")


def read_note(root: Path, relative_path: str) -> NoteBytes | None:
    """A listed note's bytes; None when it is gone, no bytes and a problem when it may not be read."""
    try:
        with open(f"{root}/{relative_path}", "rb", buffering=0) as file:  # noqa: PTH123 - as it is done for each of 100 000 notes
            raw = file.read(_USUAL_NOTE)  # asked for all that may come, it would clear 10 MB for each note
            while len(raw) >= _USUAL_NOTE and (more := file.read(LARGEST_NOTE + 1 - len(raw))):
                raw += more
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as e:
        return NoteBytes(b"", f"not read: {_cause(e)}")
    if len(raw) > LARGEST_NOTE:
        return NoteBytes(
            trim_to_whole_lines(raw[:READ_OF_LARGER]),
            f"larger than {LARGEST_NOTE // 1_000_000} MB, only its first {READ_OF_LARGER // 1_000_000} MB are read",
        )
    return NoteBytes(raw)


def trim_to_whole_lines(raw: bytes) -> bytes:
    """The beginning of a file without the line in which it was cut off, if it has another; cut within no character of UTF-16."""
    if not _is_utf16(raw):
        return raw[: raw.rfind(b"\n") + 1] or raw
    encoding = "utf-16-le" if raw[:1] == b"\xff" else "utf-16-be"
    text = raw[2 : len(raw) // 2 * 2].decode(encoding, "surrogatepass")
    return raw[:2] + (text[: text.rfind("\n") + 1] or text[:-1]).encode(encoding, "surrogatepass")


def decode(note: NoteBytes) -> tuple[str, str | None]:
    """The text, with `\\n` line ends and without a byte order mark, and what was wrong with it."""
    problems = [note.problem] if note.problem else []
    raw = note.raw
    try:
        if _is_utf16(raw):
            text = raw.decode("utf-16")
            problems.append("UTF-16, not UTF-8")
        else:
            text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("utf-8-sig", "replace")
        problems.append("not UTF-8, read with replacement characters")
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
        problems.append("contains NUL characters, replaced")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, "; ".join(problems) or None


def printable(path: str) -> str:
    """A path for a message: one line, and text even where the file's name is not."""
    return replace_surrogates(path).replace("\n", "\\n").replace("\r", "\\r")


def _is_utf16(raw: bytes) -> bool:
    return raw.startswith((b"\xff\xfe", b"\xfe\xff"))


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cause(error: Exception) -> str:
    if isinstance(error, RuntimeError):
        return "a link that leads to itself"
    return (getattr(error, "strerror", None) or str(error)).lower()


def _short(path: str) -> str:
    shown = printable(path)
    return shown if len(shown) <= 80 else shown[:79] + "…"
