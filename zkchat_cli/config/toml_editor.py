"""Changing keys of a TOML file; its comments and everything else stay as written."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
import tomlkit.exceptions

from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.paths import MAX_SETTINGS_BYTES


def edit_toml(file: Path, values: Mapping[str, object], template: str = "") -> None:
    """Set dotted keys, and remove those that are None. A new file begins with `template`.

    The file is replaced in one step and readable only by its owner. Raises ConfigError without changing it.
    """
    try:
        document: Any = tomlkit.parse(read_file(file, MAX_SETTINGS_BYTES).decode("utf-8-sig") if file.exists() else template)
        for key, value in values.items():
            *tables, name = key.split(".")
            parent = document
            for table in tables:
                parent = parent.get(table, {}) if value is None else parent.setdefault(table, tomlkit.table())
            if value is None:
                parent.pop(name, None)
            elif isinstance(value, str) and "\n" in value:
                parent[name] = tomlkit.string(value.replace("\r\n", "\n"), multiline=True)
            else:
                parent[name] = value
        text = tomlkit.dumps(document)
        tomllib.loads(text)
        atomic_write(file, text, private=True)
    except tomlkit.exceptions.TOMLKitError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct it in an editor first; nothing was changed.") from e
    except (OSError, ValueError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", "Nothing was changed.") from e
