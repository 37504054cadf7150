"""Keys of providers, as far as zkchat keeps them: in a file that nobody else may read, or in the system's keyring.

The environment wins, as who sets a variable means it. A key is read where a server is about to be asked and nowhere else; none is ever
logged, exported, stored with a conversation, or said in a message.
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
LONGEST = 4096
SHORTEST_SHOWN = 12
"""Characters of a key whose last four tell nobody the rest."""
Source = Literal["environment", "file", "keyring"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and where it comes from: the name of its variable, or the place in which zkchat keeps it. Empty: there is none."""

    value: str = field(default="", repr=False)
    source: Source | None = None
    variable: str = ""

    @property
    def last_four(self) -> str:
        """What may be shown of it."""
        return self.value[-4:] if len(self.value) >= SHORTEST_SHOWN else ""

    @property
    def description(self) -> str:
        """What it is called in a message: by its variable, or by where zkchat keeps it."""
        return f"the key in zkchat's {self.source}" if self.source in ("file", "keyring") else self.variable if self.source else ""


def find_key(provider: str, variable: str, env: Mapping[str, str], where: AppPaths) -> ApiKey:
    """The key of a provider: the environment's, else the one that was kept, else none. Raises nothing: who needs one says what is wrong."""
    if value := env.get(variable, "").strip():
        return ApiKey(value, "environment", variable)
    return read_stored_key(provider, variable, where)


def read_stored_key(provider: str, variable: str, where: AppPaths) -> ApiKey:
    """The key that zkchat keeps, whatever the environment says."""
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
    """Keep a key, in the system's keyring if there is one, else (or if `in_file`) in the file; where it is now. Raises ConfigError."""
    if not value or len(value) > LONGEST or not (value.isascii() and value.isprintable()) or any(c in value for c in " \"'"):
        raise ConfigError("that is no key: it is empty, or holds characters that no key has", "Was more copied than the key?")
    entries = _read(where.keys_file)
    place: Source = "file"
    ring = None if in_file else _keyring()
    if ring is not None:
        try:
            ring.set_password(SERVICE, provider, value)
            place = "keyring"
        except Exception:  # noqa: BLE001 - each keyring fails in its own ways; the file does as well
            place = "file"
    if place == "file" and entries.get(provider) is True:
        _out_of_keyring(provider)
    _write(where.keys_file, {**entries, provider: True if place == "keyring" else value})
    return place


def parse_pasted_key(text: str, variable: str) -> str:
    """A key as it was pasted or piped in: also as the line of an `.env` file that sets its variable, and between quotation marks."""
    text = text.strip().removeprefix("\ufeff").removeprefix("export ").strip().removeprefix(f"{variable}=")
    return text[1:-1] if text[:1] in ("'", '"') and text[1:].endswith(text[:1]) else text


def remove_key(provider: str, where: AppPaths) -> bool:
    """Keep a provider's key no longer; whether there was one. Raises ConfigError."""
    entries = _read(where.keys_file)
    entry = entries.pop(provider, None)
    if entry is True:
        _out_of_keyring(provider)
    if entry is not None:
        _write(where.keys_file, entries)
    return entry is not None


def check_readable(where: AppPaths) -> None:
    """Raises ConfigError where the file of keys is there and says nothing."""
    _read(where.keys_file)


def stored_key_values(where: AppPaths) -> list[str]:
    """All keys that the file has, for who must take them out of a text."""
    with suppress(ConfigError):
        return [entry for entry in _read(where.keys_file).values() if isinstance(entry, str) and entry]
    return []


def _read(file: Path) -> dict[str, str | bool]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):  # no `from`: what it says may quote a key
        raise ConfigError(f"the file of keys {file} cannot be read", "Correct it, or delete it and set the keys again.") from None
    return {name: entry for name, entry in table.items() if isinstance(entry, str | bool)}


def _write(file: Path, entries: Mapping[str, str | bool]) -> None:
    """The whole file anew, never readable by others, not even for a moment."""
    text = "# Keys of zkchat's providers; true: in the system's keyring. `zkchat keys` changes them.\n"
    text += "".join(f"{json.dumps(name)} = {json.dumps(entry)}\n" for name, entry in sorted(entries.items()))
    try:
        atomic_write(file, text, private=True)
    except OSError as e:
        cause = (e.strerror or "it is not known why").lower()
        raise ConfigError(f"the file of keys {file} cannot be written: {cause}", "Check its folder's permissions and space.") from None


def _keyring() -> ModuleType | None:
    """The system's keyring, where the package is installed and has somewhere to keep things."""
    try:
        ring = importlib.import_module("keyring")  # optional, and slow to load
        usable = float(getattr(ring.get_keyring(), "priority", 0)) > 0
    except Exception:  # noqa: BLE001 - not installed, or broken in one of many ways
        return None
    return ring if usable else None


def _from_keyring(provider: str) -> str:
    ring = _keyring()
    with suppress(Exception):  # locked, say: then there is no key
        return str(ring.get_password(SERVICE, provider) or "") if ring is not None else ""
    return ""


def _out_of_keyring(provider: str) -> None:
    ring = _keyring()
    with suppress(Exception):  # it is not there any more
        if ring is not None:
            ring.delete_password(SERVICE, provider)
