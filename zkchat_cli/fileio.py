"""Reading files that others may have made, and writing files in one step and for their owner alone.

Every reader of zkchat uses `open_regular`, `read_beginning` or `read_file`, so that no named pipe
blocks it and no endless file fills the memory. Every writer that replaces a file uses
`atomic_write`.
"""

import errno
import os
from contextlib import suppress
from io import BufferedWriter, FileIO
from pathlib import Path
from stat import S_ISDIR, S_ISREG

# Windows does not have this module
with suppress(ImportError):
    import fcntl

# The beginning of the names of scratch files, which makes them hidden and recognizable
SCRATCH_PREFIX = ".zkchat-"
# Bytes of the first read: a larger buffer would be cleared for each of 100,000 notes
_FIRST_BYTES = 65_536
# Some platforms lack some of these flags
_READING_FLAGS = ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
_READING = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in _READING_FLAGS)
_MB = 1_000_000


def open_regular(file: Path | str) -> FileIO:
    """A regular file, opened to read. Raises OSError at once for a pipe, a device, a socket or a
    folder.
    """
    opened = os.open(file, _READING)
    try:
        _check_regular(os.fstat(opened), file)
        return FileIO(opened)
    except BaseException:
        os.close(opened)
        raise


def create_database(file: Path) -> None:
    """Create an empty file for its owner alone, if there is none. Raises OSError, also if the path
    is no regular file, since SQLite would open a pipe.

    An existing one is not opened: closing it would drop the locks of every SQLite connection that
    this process has to it.
    """
    try:
        _check_regular(file.stat(), file)
    except FileNotFoundError:
        # Another process may be faster
        with suppress(FileExistsError):
            os.close(os.open(os.path.realpath(file), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _check_regular(found: os.stat_result, file: Path | str) -> None:
    if S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(file))


def read_beginning(file: Path | str, size: int) -> bytes:
    """At most the first `size` bytes of a regular file. Raises OSError."""
    raw = b""
    with open_regular(file) as opened:
        while True:
            # Each read doubles what there is
            wanted = max(_FIRST_BYTES, len(raw))
            piece = opened.read(min(size - len(raw), wanted))
            if not piece:
                return raw
            raw += piece


def read_file(file: Path | str, limit: int) -> bytes:
    """The whole content of a regular file. Raises OSError, also for one of more than `limit`
    bytes.
    """
    raw = read_beginning(file, limit + 1)
    if len(raw) > limit:
        size = f"{limit // _MB} MB" if limit >= _MB else f"{limit // 1000} kB"
        raise OSError(errno.EFBIG, f"larger than {size}", str(file))
    return raw


def can_lock(folder: Path) -> bool:
    """Whether the file system of a folder locks files, which some network file systems refuse. True
    if this cannot be tried.
    """
    if os.name != "posix":
        return True
    scratch = scratch_file(folder / "lock")
    try:
        with scratch.open("xb") as out:
            fcntl.lockf(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        return e.errno not in (errno.ENOLCK, errno.EIO, errno.ENOSYS, errno.EOPNOTSUPP)
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
    return True


def lock_timeout(file: Path, seconds: float) -> float:
    """The seconds to wait for SQLite's locks on a file: these `seconds`, or 0 if its file system
    has no locks, because SQLite would wait in vain.
    """
    return seconds if can_lock(file.parent) else 0.0


class FileLock:
    """A lock on a file, held until it is released or the program ends."""

    def __init__(self, opened: BufferedWriter) -> None:
        self._opened = opened

    @classmethod
    def take(cls, file: Path) -> "FileLock | None":
        """The lock on `file`, which is created; None if another program has it. Raises OSError."""
        opened = file.open("ab")
        if os.name == "posix":
            # Windows does not have this module
            import fcntl

            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                opened.close()
                return None
        return cls(opened)

    def release(self) -> None:
        """Let another program take it."""
        self._opened.close()


def make_private_folder(folder: Path) -> None:
    """Create a folder and the missing ones above it, each with mode 0700: `mkdir(parents=True)`
    gives its mode to the last one only.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def scratch_file(file: Path) -> Path:
    """A new name in the folder of `file` for text that will replace it; short, because `file` may
    have the longest name allowed.
    """
    return file.with_name(f"{SCRATCH_PREFIX}{os.urandom(6).hex()}.tmp")


def atomic_write(file: Path, data: str | bytes, *, private: bool = False) -> None:
    """Replace the whole content of a file: it holds the old data or the new, never a part of it,
    even after a power cut.

    A link to a file is followed and stays a link. An existing file keeps its mode; a new one gets
    the usual one. A `private` file always gets mode 0600, and its missing folders 0700. Raises
    OSError and UnicodeError; the file is unchanged then.
    """
    raw = data if isinstance(data, bytes) else data.encode()
    file = Path(os.path.realpath(file))
    if private:
        make_private_folder(file.parent)
    mode: int | None = None
    if private:
        mode = 0o600
    elif file.exists():
        mode = file.stat().st_mode & 0o7777
    scratch = scratch_file(file)
    # A file that gets another mode later is readable by nobody else until then
    first_mode = 0o666 if mode is None else 0o600
    try:
        created = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, first_mode)
        with os.fdopen(created, "wb") as out:
            out.write(raw)
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            scratch.chmod(mode)
        scratch.replace(file)
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def write_new_file(file: Path, text: str) -> None:
    """Write a file that is not there yet. Raises FileExistsError, other OSErrors and UnicodeError;
    no part of the file is left then.
    """
    # Claims the name; a hard link to a finished file would do both at once, but FAT has none
    file.open("x").close()
    try:
        atomic_write(file, text)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def unused_name(file: Path) -> Path:
    """The file itself, or the first of `NAME-1`, `NAME-2`, … beside it that does not exist."""
    unused = file
    number = 0
    while unused.exists():
        number += 1
        unused = file.with_name(f"{file.name}-{number}")
    return unused
