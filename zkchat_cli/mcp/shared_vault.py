"""One vault that is served to several people: each sees their part of it, and nothing of what the
others or the owner said about it.
"""

from contextlib import ExitStack

from zkchat_cli.app.embedder_choice import open_embedders
from zkchat_cli.app.factory import open_vault
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.mcp.people import Person
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.mcp.write_tools import add_write_tools
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.memory.project import memory_file_names
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.view import VaultView


class SharedVault:
    """Opens the servers of people. Those who see the same notes share an index."""

    def __init__(self, loaded: LoadedConfig) -> None:
        self._loaded = loaded
        self._embedders = open_embedders(loaded)
        self._served: dict[VaultView, ServedVault] = {}
        self._resources = ExitStack()

    def __enter__(self) -> "SharedVault":
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def server_of(self, person: Person) -> NoteServer:
        """A new server with what a person may see and do. Raises VaultError."""
        served = self._served_view(person.view)
        server = NoteServer(served)
        if person.may_write:
            names = memory_file_names(self._loaded.values.memory)
            folder = self._loaded.paths.agents_folder
            add_write_tools(server, served.vault, MemoryPaths(served.vault.root, names, folder))
        return server

    def _served_view(self, view: VaultView) -> ServedVault:
        if view not in self._served:
            vault = open_vault(self._loaded, view, self._embedders)
            self._resources.callback(vault.close)
            self._served[view] = ServedVault(vault)
        return self._served[view]
