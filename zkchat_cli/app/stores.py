"""Opens the store of conversations. Only this module chooses an implementation of its ports: the
one in an SQLite file, or the one on a PostgreSQL server that `store.url` names.
"""

import hashlib
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.app.settings import vault_folder
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.config.store_settings import StoreSettings
from zkchat_cli.config.store_url import SCHEMES, hide_password
from zkchat_cli.errors import ConfigError, StoreUnwritable, UsageError
from zkchat_cli.store.port import SessionStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.vault_names import VaultNames

# Hexadecimal digits of the name of an outbox's folder
_NAME_LENGTH = 16

if TYPE_CHECKING:
    from zkchat_cli.store.postgres.server_address import ServerAddress


def open_store(file: Path | None) -> SessionStore:
    """The store at `file`, created if it is missing; None: a store in memory. Raises StoreError."""
    return ChatSessionStore.open(file)


def open_store_to_read(file: Path) -> SessionStore:
    """The store at `file`. If it cannot be written, the result can only be read; its `write_error`
    says why. Raises StoreError.
    """
    return ChatSessionStore.open_to_read(file)


def open_configured(
    loaded: LoadedConfig, *, to_read: bool = False, without_server: bool = False
) -> SessionStore:
    """The store that the settings name. With `to_read`, a file that cannot be written is opened,
    too; with `without_server`, a server that is away is replaced by the outbox on this machine.
    Raises StoreError and ConfigError.
    """
    if loaded.values.store.url:
        return _open_with_outbox(loaded, without_server=without_server)
    file = loaded.paths.store_file
    return open_store_to_read(file) if to_read else open_store(file)


class OpenedStore(NamedTuple):
    """The store of a chat, and why it is in memory although it should not be."""

    store: SessionStore
    problem: StoreUnwritable | None = None


def open_chat_store(loaded: LoadedConfig, *, stored: bool, later: bool) -> OpenedStore:
    """The store of a session; in memory if nothing is `stored`, or if that is impossible and the
    chat may go on nevertheless (`later`). Raises StoreError and ConfigError.
    """
    if not stored:
        return OpenedStore(open_store(None))
    if not later:
        return OpenedStore(open_configured(loaded, to_read=True, without_server=True))
    try:
        return OpenedStore(open_configured(loaded, without_server=True))
    except StoreUnwritable as e:
        return OpenedStore(open_store(None), e)


def _open_with_outbox(loaded: LoadedConfig, *, without_server: bool) -> SessionStore:
    """The store on the server, which gets first what was kept while it was away."""
    settings = loaded.values.store
    folder = loaded.paths.data_dir
    address = server_address(settings.url, settings)
    from zkchat_cli.store.outbox import Outbox
    from zkchat_cli.store.outbox_store import open_outbox_store
    from zkchat_cli.store.postgres.postgres_store import PostgresStore

    # One server's turns are not for another
    name = hashlib.sha256(f"{address.shown} {settings.user}".encode()).hexdigest()
    outbox = Outbox(folder / "outbox" / name[:_NAME_LENGTH], open_store)
    return open_outbox_store(
        partial(PostgresStore.open, address, folder, vault_names(loaded)),
        outbox,
        without_server=without_server,
    )


def describe_configured(loaded: LoadedConfig) -> str:
    """The file or the server that the settings name, without a password."""
    url = loaded.values.store.url
    return hide_password(url) if url else str(loaded.paths.store_file)


def vault_names(loaded: LoadedConfig) -> VaultNames:
    """What a store on a server calls the vault in use: by the user's list, or by its own file."""
    folder = vault_folder(loaded)
    if folder is None:
        return VaultNames()
    root = str(folder.resolve())
    for entry in loaded.values.vault.ids:
        name, _, path = entry.partition("=")
        if str(Path(path).expanduser().resolve()) == root:
            return VaultNames(root, name)
    return VaultNames(root, loaded.values.vault.id)


def server_address(url: str, settings: StoreSettings) -> "ServerAddress":
    """The address of a server. Raises ConfigError, also if the package that reaches it is not
    installed.
    """
    try:
        from zkchat_cli.store.postgres.server_address import read_address
    except ImportError as e:
        raise ConfigError(
            f"store.url = {hide_password(url)} needs a package that is not installed",
            "pip install 'zkchat[postgres]'",
        ) from e
    return read_address(url, settings.user, allow_insecure=settings.allow_insecure)


class ServerLayouts(NamedTuple):
    """The layout of a server's store before it was set up, 0 for none, and the one that it has."""

    before: int
    now: int


def set_up_server(loaded: LoadedConfig) -> ServerLayouts:
    """Create the tables on the server that the settings name, or upgrade them. Raises StoreError
    and ConfigError.
    """
    settings = loaded.values.store
    address = server_address(settings.url, settings)
    from zkchat_cli.store.postgres.migrations import MIGRATIONS, upgrade
    from zkchat_cli.store.postgres.postgres_connection import PostgresConnection

    with closing(PostgresConnection(address)) as connection:
        return ServerLayouts(upgrade(connection), len(MIGRATIONS))


def server_status(loaded: LoadedConfig) -> dict[str, Any]:
    """What is known about the server that the settings name. Raises StoreError and ConfigError."""
    settings = loaded.values.store
    address = server_address(settings.url, settings)
    from zkchat_cli.store.postgres.server_status import read_status

    return read_status(address)


def open_named(name: str, loaded: LoadedConfig, *, must_exist: bool = False) -> SessionStore:
    """The store at an address: postgresql://…, sqlite:///FILE or the path of a file.

    Raises UsageError for a file that is not there, if it `must_exist`; otherwise it is created.
    """
    if name.startswith(SCHEMES):
        address = server_address(name, loaded.values.store)
        from zkchat_cli.store.postgres.postgres_store import PostgresStore

        return PostgresStore.open(address, names=vault_names(loaded))
    path = name.removeprefix("sqlite://").removeprefix("sqlite:")
    file = Path(path).expanduser() if path else loaded.paths.store_file
    if must_exist and not file.is_file():
        hint = f"Without another setting, conversations are in {loaded.paths.store_file}."
        raise UsageError(f"there is no store {file}", hint)
    return open_store(file)
