"""Opens the store of conversations. Only this module chooses an implementation of its ports: the
one in an SQLite file, or the one on a PostgreSQL server that `store.url` names.
"""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.config.store_settings import StoreSettings
from zkchat_cli.config.store_url import SCHEMES, hide_password
from zkchat_cli.errors import ConfigError
from zkchat_cli.store.port import SessionStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

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


def open_configured(loaded: LoadedConfig, *, to_read: bool = False) -> SessionStore:
    """The store that the settings name. With `to_read`, a file that cannot be written is opened,
    too. Raises StoreError and ConfigError.
    """
    settings = loaded.values.store
    if settings.url:
        return open_server(settings.url, settings, loaded.paths.data_dir)
    file = loaded.paths.store_file
    return open_store_to_read(file) if to_read else open_store(file)


def describe_configured(loaded: LoadedConfig) -> str:
    """The file or the server that the settings name, without a password."""
    url = loaded.values.store.url
    return hide_password(url) if url else str(loaded.paths.store_file)


def open_server(url: str, settings: StoreSettings, folder: Path | None = None) -> SessionStore:
    """The store on a server; `folder` is the store's on this machine. Raises StoreError, and
    ConfigError for an address that cannot be used.
    """
    address = server_address(url, settings)
    from zkchat_cli.store.postgres.postgres_store import PostgresStore

    return PostgresStore.open(address, folder)


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


def open_named(name: str, loaded: LoadedConfig) -> SessionStore:
    """The store at an address: postgresql://…, sqlite:///FILE or the path of a file."""
    if name.startswith(SCHEMES):
        return open_server(name, loaded.values.store)
    path = name.removeprefix("sqlite://").removeprefix("sqlite:")
    return open_store(Path(path).expanduser() if path else loaded.paths.store_file)
