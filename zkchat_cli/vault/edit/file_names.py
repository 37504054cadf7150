"""What a new note may be called: so that links can name it, that it is no other's name where case does not count, and that every system to
which the notes may be carried can have it.
"""

import os
import unicodedata
from pathlib import Path

from zkchat_cli.errors import VaultError
from zkchat_cli.vault.edit import link_rewrite
from zkchat_cli.vault.filesystem import printable

FOREIGN = '<>:"|?*'
"""Characters that Windows and phones have in no name."""
DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(1, 10))}
"""What Windows opens instead of a file, whatever its suffix."""


def require_free(root: Path, path: str, old: str | None = None) -> None:
    """Raises VaultError for a path (tidied, and inside the vault) that no new note can have. It may be `old` in another spelling."""
    if wrong := link_rewrite.unlinkable(path):
        hint = f"Leave out {' '.join(link_rewrite.UNLINKABLE)} and spaces at an end."
        raise VaultError(f"no link could name {printable(path)}: it has {wrong!r}", hint)
    file = root / path
    if os.path.lexists(file) and (old is None or path == old or not os.path.samefile(file, root / old)):  # noqa: PTH121
        raise VaultError(f"{printable(path)} exists already", "Name another; nothing is ever overwritten.")
    there, missing = _as_far_as_it_is_there(root, path)
    if missing is None:
        return
    if not there.is_dir():
        raise VaultError(f"{printable(str(there.relative_to(root)))} is a file, and nothing can be put into it", "Name another folder.")
    try:
        names = os.listdir(there)  # noqa: PTH208 - names alone
    except OSError as e:
        raise VaultError(
            f"the folder of {printable(path)} cannot be read: {(e.strerror or str(e)).lower()}", "Check its permissions."
        ) from e
    same = next((name for name in names if _folded(name) == _folded(missing)), None)
    if same is not None and (old is None or there / same != root / old):
        spelled = printable(str((there / same).relative_to(root)))
        hint = "Write it so: where case does not count, as on a Mac, the two would be one."
        raise VaultError(f"{printable(path)}: there is {spelled} already", hint)


def caution(path: str) -> str:
    """What to know of a name that not every system can have; empty for one that all can."""
    parts = path.split("/")
    found = "".join(dict.fromkeys(c for c in path if c in FOREIGN))
    if found or any(part.partition(".")[0].lower() in DEVICES or part.endswith(".") for part in parts):
        return f"Windows and phones cannot have this name{f': {chr(32).join(found)}' if found else ''}."
    return ""


def _as_far_as_it_is_there(root: Path, path: str) -> tuple[Path, str | None]:
    """The last place on the way to a path that is there, and the name that is missing in it."""
    place = root
    for name in path.split("/"):
        if not os.path.lexists(place / name):
            return place, name
        place /= name
    return place, None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
