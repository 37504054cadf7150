"""Which names a new note may have: links must be able to name it, and it must differ from others by more than upper and lower case."""

import os
from pathlib import Path

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.vault.filesystem import printable
from zkchat_cli.vault.links.wikilinks import fold_name, split_target, stem

UNLINKABLE = "#^[]|\\"
"""Characters that a link cannot have in a note's name."""
FOREIGN = '<>:"|?*'
"""Characters that Windows and phones do not allow in file names."""
DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(1, 10))}
"""Names that Windows takes for devices, whatever their suffix."""


def require_free(root: Path, path: str, old: str | None = None) -> None:
    """Raises VaultError for a normalized path inside the vault that a new note cannot have; it may be another spelling of `old`."""
    if wrong := unlinkable_characters(path):
        raise VaultError(
            f"no link could name {printable(path)}: it has {wrong!r}", f"Leave out {' '.join(UNLINKABLE)} and spaces at an end."
        )
    file = root / path
    if os.path.lexists(file) and (old is None or path == old or not os.path.samefile(file, root / old)):  # noqa: PTH121
        raise VaultError(f"{printable(path)} exists already", "Name another; nothing is ever overwritten.")
    folder = root
    for name in path.split("/"):
        if not os.path.lexists(folder / name):
            _require_distinct(root, path, folder, name, old)
            return
        folder /= name


def _require_distinct(root: Path, path: str, folder: Path, missing: str, old: str | None) -> None:
    if not folder.is_dir():
        raise VaultError(f"{printable(str(folder.relative_to(root)))} is a file, and nothing can be put into it", "Name another folder.")
    try:
        names = os.listdir(folder)  # noqa: PTH208 - only the names are needed
    except OSError as e:
        raise VaultError(f"the folder of {printable(path)} cannot be read: {reason(e)}", "Check its permissions.") from e
    same = next((name for name in names if fold_name(name) == fold_name(missing)), None)
    if same is not None and (old is None or folder / same != root / old):
        existing = printable(str((folder / same).relative_to(root)))
        raise VaultError(f"{printable(path)}: there is {existing} already", "Use that spelling: on a Mac, the two would be one file.")


def portability_warning(path: str) -> str:
    """A warning about a name that some systems do not allow; empty for others."""
    found = "".join(dict.fromkeys(c for c in path if c in FOREIGN))
    if found or any(part.partition(".")[0].lower() in DEVICES or part.endswith(".") for part in path.split("/")):
        return f"Windows and phones cannot have this name{f': {chr(32).join(found)}' if found else ''}."
    return ""


def unlinkable_characters(path: str) -> str:
    """The characters of a path that no link can have, each once; a space at an end cannot be linked either."""
    name = stem(path)
    found = "".join(dict.fromkeys(c for c in path if c in UNLINKABLE or not c.isprintable()))
    spaced = any(part != part.strip() for part in (name, *path.split("/")))
    return found or (" " if spaced or split_target(name)[0] != name else "")
