"""API keys: in the environment, or in a file that only its owner can read.

The environment wins. A stored key belongs to one address: that of its provider, or the server that
was configured when it was set. It is sent to no other. A key is never logged, exported, stored with
a conversation or shown in a message.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.paths import AppPaths

# Most characters of a key
MAX_KEY = 4096
# Most bytes of the file with keys
MAX_FILE = 100_000


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and its source. Empty if there is none for this address."""

    value: str = field(default="", repr=False)
    source: Literal["environment", "file"] | None = None
    variable: str = ""
    stored: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """All stored keys of the provider by address; the empty address is the provider's own."""

    def for_address(self, address: str) -> "ApiKey":
        """The key for a server; an empty address is the provider's own. A key from the environment
        is for every address.
        """
        if self.source == "environment":
            return self
        value = self.stored.get(address, "")
        return replace(self, value=value, source="file" if value else None)

    @property
    def last_four(self) -> str:
        """The end of the key, which may be shown; empty for a short key."""
        return self.value[12:][-4:]


def find_key(provider: str, variable: str, env: Mapping[str, str], where: AppPaths) -> ApiKey:
    """The key of a provider for its own address: from the environment, otherwise from the file.
    Empty if there is none.
    """
    value = env.get(variable, "").strip()
    if value:
        return ApiKey(value, "environment", variable)
    try:
        stored = read_keys(where)
    except ConfigError:
        # The commands `doctor` and `keys` report the damaged file
        stored = {}
    by_address = {}
    for name, key in stored.items():
        owner, _, address = name.partition(" ")
        if owner == provider:
            by_address[address.strip()] = key
    return ApiKey(variable=variable, stored=by_address).for_address("")


def stored_name(provider: str, address: str) -> str:
    """The name of a key in the file, for a server; an empty address is the provider's own."""
    return f"{provider} {address}".strip()


def read_keys(where: AppPaths) -> dict[str, str]:
    """The stored keys by provider and address (see `stored_name`). Raises ConfigError for a damaged
    file.
    """
    file = where.keys_file
    try:
        table = tomllib.loads(read_file(file, MAX_FILE).decode())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):
        # Without the cause: its text may quote a key
        raise ConfigError(
            f"the key file {file} cannot be read",
            "Correct it, or delete it and set the keys again.",
        ) from None
    return {provider: key for provider, key in table.items() if isinstance(key, str)}


def write_keys(keys: Mapping[str, str], where: AppPaths) -> None:
    """Replace the file with the keys; others can never read it, not even for a moment. Raises
    ConfigError if a text cannot be a key, or if the file cannot be written.
    """
    if not all(map(_may_be_key, keys.values())):
        raise ConfigError(
            "that is not a valid key: it is empty, or has characters that are not valid in one",
            "Copy only the key.",
        )
    lines = [
        f"{json.dumps(provider)} = {json.dumps(key)}\n" for provider, key in sorted(keys.items())
    ]
    try:
        atomic_write(
            where.keys_file,
            "# Keys of zkchat's providers. `zkchat keys` changes them.\n" + "".join(lines),
            private=True,
        )
    except OSError as e:
        raise ConfigError(
            f"the key file {where.keys_file} cannot be written: {reason(e)}",
            "Check its folder and the disk.",
        ) from None


def _may_be_key(text: str) -> bool:
    has_valid_characters = text.isascii() and text.isprintable() and not set(text) & set(" \"'")
    return 0 < len(text) <= MAX_KEY and has_valid_characters
