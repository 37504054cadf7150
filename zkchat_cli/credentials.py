"""API keys: in the environment, in a file that only its owner can read, or in the system's keyring.

The environment wins. A key is read only before a request to its provider; it is never logged, exported, stored with a conversation or shown
in a message.
"""

import importlib
import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Literal

from zkchat_cli.errors import ConfigError
from zkchat_cli.fileio import atomic_write
from zkchat_cli.paths import AppPaths

SERVICE = "zkchat"
MAX_KEY = 4096
MIN_KEY_WITH_ENDING = 12
"""Characters of a key whose last four may be shown."""
Source = Literal["environment", "file", "keyring"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and its source. Empty if there is none."""

    value: str = field(default="", repr=False)
    source: Source | None = None
    variable: str = ""

    @property
    def last_four(self) -> str:
        """The part of the key that may be shown."""
        return self.value[-4:] if len(self.value) >= MIN_KEY_WITH_ENDING else ""

    @property
    def description(self) -> str:
        """How messages call the key: by its variable or by its storage."""
        return f"the key in zkchat's {self.source}" if self.source in ("file", "keyring") else self.variable if self.source else ""


def find_key(provider: str, variable: str, env: Mapping[str, str], where: AppPaths) -> ApiKey:
    """The key of a provider from the environment, else from storage, else an empty one."""
    if value := env.get(variable, "").strip():
        return ApiKey(value, "environment", variable)
    return read_stored_key(provider, variable, where)


def read_stored_key(provider: str, variable: str, where: AppPaths) -> ApiKey:
    """The stored key, whatever the environment says."""
    try:
        entry = _read(where.keys_file).get(provider)
    except ConfigError:
        entry = None
    if isinstance(entry, str) and entry:
        return ApiKey(entry, "file", variable)
    if entry is True:
        return ApiKey(_from_keyring(provider), "keyring", variable)
    return ApiKey(variable=variable)


def store_key(provider: str, value: str, where: AppPaths, *, in_file: bool = False) -> Source:
    """Store a key in the system's keyring if there is one, else (or if `in_file`) in the file. Returns where. Raises ConfigError."""
    if not value or len(value) > MAX_KEY or not (value.isascii() and value.isprintable()) or any(c in value for c in " \"'"):
        raise ConfigError("that is not a valid key: it is empty, or has characters that no key has", "Copy only the key.")
    entries = _read(where.keys_file)
    place: Source = "file"
    keyring = None if in_file else _load_keyring()
    if keyring is not None:
        try:
            keyring.set_password(SERVICE, provider, value)
            place = "keyring"
        except Exception:  # noqa: BLE001  each keyring raises its own errors; the file serves too
            place = "file"
    if place == "file" and entries.get(provider) is True:
        _delete_from_keyring(provider)
    _write(where.keys_file, {**entries, provider: True if place == "keyring" else value})
    return place


def parse_pasted_key(text: str, variable: str) -> str:
    """A key from pasted or piped text, which may be a line of an `.env` file or quoted."""
    text = text.strip().removeprefix("\ufeff").removeprefix("export ").strip().removeprefix(f"{variable}=")
    return text[1:-1] if text[:1] in ("'", '"') and text[1:].endswith(text[:1]) else text


def remove_key(provider: str, where: AppPaths) -> bool:
    """Delete a stored key. Returns whether there was one. Raises ConfigError."""
    entries = _read(where.keys_file)
    entry = entries.pop(provider, None)
    if entry is True:
        _delete_from_keyring(provider)
    if entry is not None:
        _write(where.keys_file, entries)
    return entry is not None


def check_readable(where: AppPaths) -> None:
    """Raises ConfigError if the key file exists but cannot be read."""
    _read(where.keys_file)


def stored_key_values(where: AppPaths) -> list[str]:
    """All keys in the file, to redact them from a text."""
    with suppress(ConfigError):
        return [entry for entry in _read(where.keys_file).values() if isinstance(entry, str) and entry]
    return []


def _read(file: Path) -> dict[str, str | bool]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):  # no `from`: its text may quote a key
        raise ConfigError(f"the key file {file} cannot be read", "Correct it, or delete it and set the keys again.") from None
    return {name: entry for name, entry in table.items() if isinstance(entry, str | bool)}


def _write(file: Path, entries: Mapping[str, str | bool]) -> None:
    """Replace the file; it is never readable by others, not even for a moment."""
    text = "# Keys of zkchat's providers; true: in the system's keyring. `zkchat keys` changes them.\n"
    text += "".join(f"{json.dumps(name)} = {json.dumps(entry)}\n" for name, entry in sorted(entries.items()))
    try:
        atomic_write(file, text, private=True)
    except OSError as e:
        cause = (e.strerror or "it is not known why").lower()
        raise ConfigError(f"the key file {file} cannot be written: {cause}", "Check its folder's permissions and space.") from None


def _load_keyring() -> ModuleType | None:
    """The system's keyring, if the package is installed and has a usable backend."""
    try:
        ring = importlib.import_module("keyring")  # optional, and slow to load
        usable = float(getattr(ring.get_keyring(), "priority", 0)) > 0
    except Exception:  # noqa: BLE001 - not installed, or broken in one of many ways
        return None
    return ring if usable else None


def _from_keyring(provider: str) -> str:
    keyring = _load_keyring()
    with suppress(Exception):  # it may be locked
        return str(keyring.get_password(SERVICE, provider) or "") if keyring is not None else ""
    return ""


def _delete_from_keyring(provider: str) -> None:
    keyring = _load_keyring()
    with suppress(Exception):  # it may be deleted already
        if keyring is not None:
            keyring.delete_password(SERVICE, provider)
