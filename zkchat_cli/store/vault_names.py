"""The name of a vault in a store of several machines: its folder differs on each of them."""

from typing import NamedTuple


class VaultNames(NamedTuple):
    """A vault's folder on this machine, and its name in the store. Other vaults have the name of
    their folder.
    """

    folder: str = ""
    name: str = ""

    def stored(self, vault: str) -> str:
        """What the store calls the vault in this folder."""
        return self.name if self.name and vault == self.folder else vault

    def local(self, stored: str) -> str:
        """The folder of the vault that the store calls so; its name if it is not here."""
        return self.folder if self.name and stored == self.name else stored


SAME_NAMES = VaultNames()
"""Every vault has the name of its folder."""
