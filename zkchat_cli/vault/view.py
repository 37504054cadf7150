"""Which notes of a vault somebody may see.

A view is asked in two places: the scan, so that an index knows no other note, and `resolve_inside`,
so that no other file is opened. An index belongs to one view. So search, its statistics, links,
names, counts and suggestions have nothing to hide: they never had it.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from zkchat_cli.text.case_folder import fold


@dataclass(frozen=True, slots=True)
class VaultView:
    """The notes in or below `folders`, without those in or below `excluded`; both may also name
    single notes. Paths are relative to the vault with `/`; an empty one is the whole vault.

    What is allowed must have the same letters; what is excluded is excluded in every spelling,
    because a file system may take `Private`, `PRIVATE` and `prívate` for one folder.
    """

    folders: tuple[str, ...] = ("",)
    excluded: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole vault."""
        return "" in self.folders and not self.excluded

    def allows(self, path: str) -> bool:
        """Whether a note or another file may be seen."""
        if self.is_whole:
            return True
        return _is_below(_composed(path), map(_composed, self.folders)) and not self._excludes(path)

    def leads_to(self, path: str) -> bool:
        """Whether a folder may be seen, or has one in it that may be."""
        if self.allows(path):
            return True
        above = f"{_composed(path)}/"
        is_above = any(_composed(folder).startswith(above) for folder in self.folders)
        return is_above and not self._excludes(path)

    def _excludes(self, path: str) -> bool:
        return bool(self.excluded) and _is_below(_bare(path), map(_bare, self.excluded))


WHOLE_VAULT = VaultView()


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(not each or path == each or path.startswith(f"{each}/") for each in folders)


def _composed(path: str) -> str:
    """The path in the form in which its letters are whole: macOS writes `é` as two characters."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def _bare(path: str) -> str:
    """The path without case, accents and invisible characters."""
    if path.isascii():
        return path.lower()
    visible = [each for each in path if unicodedata.category(each) != "Cf"]
    return fold("".join(visible))
