"""The manual page: where it is after an installation, and where `man` looks for it."""

from collections.abc import Mapping
from pathlib import Path

from zkchat_cli.errors import ZkchatError, reason
from zkchat_cli.fileio import atomic_write, read_file

NAME = "zkchat.1"
# In a clone, an editable installation has no files outside the package
_OF_CLONE = Path(__file__).parents[2] / "docs" / NAME
MAX_BYTES = 1_000_000


def find_manual(prefix: Path) -> Path:
    """The manual page of this installation below `prefix`, or of the clone. Raises ZkchatError."""
    # `pip install --target` puts shared files beside the package
    beside = Path(__file__).parents[2] / "share" / "man" / "man1" / NAME
    for page in (prefix / "share" / "man" / "man1" / NAME, beside, _OF_CLONE):
        if page.is_file():
            return page
    raise ZkchatError("the manual page was not installed", "`zkchat --help` says the same.")


def install_manual(page: Path, home: Path, env: Mapping[str, str]) -> Path:
    """Copy the page to the manual pages of the user's account; returns where it is. Raises
    ZkchatError.
    """
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    target = data / "man" / "man1" / NAME
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(target, read_file(page, MAX_BYTES).decode("utf-8"))
    except OSError as e:
        raise ZkchatError(
            f"{target} cannot be written: {reason(e)}", "`zkchat man` prints the page."
        ) from e
    return target
