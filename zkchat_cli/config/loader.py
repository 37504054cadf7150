"""Settings in layers: defaults < user file < `.zkchat.toml` in the vault < the agent in use <
environment < flags.

Each layer is flattened to dotted keys before merging, so that the origin of every value is known:
an error names the file, the key, the invalid value and the valid ones, and `config show` prints
where each value was set.
"""

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from zkchat_cli.config.provider_tables import config_schema, is_provider_setting
from zkchat_cli.config.schema import Config, S, Section
from zkchat_cli.config.store_url import hide_password
from zkchat_cli.errors import ConfigError, nearest_names, reason, value_problem
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.paths import MAX_SETTINGS_BYTES, AppPaths

PROJECT_FILE = ".zkchat.toml"
# Characters of a key or a value in an error
MAX_SHOWN = 200
# The origin of a value from an option
COMMAND_LINE = "command line"

VAULT_KEYS = (
    "chat.show_reasoning",
    "references.max_displayed",
    "vault.ignore",
    "vault.id",
    "vault.daily_format",
    "llm.max_tool_rounds",
    "llm.max_output_tokens",
    "llm.temperature",
    "llm.reasoning_effort",
    "context.strategy",
    "context.max_tokens",
    "context.auto_summarize",
    "context.summarization_threshold",
    "context.message_budget_ratio",
    "context.tool_budget_ratio",
    "context.system_budget_ratio",
    "context.summary_ratio",
    "context.injection_ratio",
    "context.recent_messages_to_keep",
    "context.memory_integration",
    "context.tool_filter",
    "context.show_token_count",
)
"""All keys that a vault's own file may set. Someone who shares a vault must not decide where other
people's notes are sent, which file is read or which program is run. So no key with a path, an
address, a command or a model is among them.
"""
# Environment variables with names of their own
_VARIABLES = {"ZKCHAT_VAULT": "vault.path", "ZKCHAT_MODEL": "model"}
_VARIABLE_PREFIX = "ZKCHAT_"

# The setting that is a table with keys of the user's choice; it is one value
USER_TABLE = "mcp.servers"
_TABLE_HINT = (
    "Edit the settings file, which `zkchat config path` names: a table [mcp.servers.NAME] with "
    "command or url."
)


class Entry(NamedTuple):
    """A value that one layer sets: a file, an environment variable or an option."""

    origin: str
    # With dots, such as context.max_tokens
    key: str
    value: object


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The merged settings, and where each key was set (`origins`: dotted key -> file, variable or
    flag).

    `env` and `cwd` are the environment and the working folder that zkchat was started with.
    """

    values: Config
    origins: dict[str, str]
    paths: AppPaths
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path = Path()

    def with_model(self, name: str) -> "LoadedConfig":
        """The same settings with another model, chosen by the user."""
        return replace(
            self,
            values=self.values.model_copy(update={"model": name}),
            origins={**self.origins, "model": "in this chat"},
        )


def load_config(
    flags: Mapping[str, object],
    env: Mapping[str, str],
    where: AppPaths,
    vault: Path | None = None,
    agent: Sequence[Entry] = (),
) -> LoadedConfig:
    """Merge all layers and validate them.

    `flags` has values by dotted keys. `vault`, once known, brings in its `.zkchat.toml`. `agent`
    has what the agent in use sets. Raises ConfigError that names the origin, the key, the value and
    the valid values.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for entry in (
        *read_toml(where.config_file),
        *_vault_entries(vault),
        *agent,
        *_environment_entries(env),
        *(Entry(COMMAND_LINE, key, value) for key, value in flags.items()),
    ):
        require_known_key(entry.key, entry.origin)
        if vault is not None and entry.origin == _vault_file(vault):
            _require_vault_key(entry, where)
        merged[entry.key] = entry.value
        origins[entry.key] = entry.origin
    values = validate(merged, origins, config_schema(map(_table_of, merged)))
    return LoadedConfig(values, origins, where, env)


def _vault_file(vault: Path) -> str:
    return str(vault / PROJECT_FILE)


def _vault_entries(vault: Path | None) -> list[Entry]:
    """The settings in the vault's own file."""
    if vault is None:
        return []
    # A folder that cannot be entered is reported when the vault is opened; a NUL is reported here
    if "\0" not in str(vault) and not os.access(vault, os.X_OK):
        return []
    return read_toml(vault / PROJECT_FILE)


def _require_vault_key(entry: Entry, where: AppPaths) -> None:
    """Raises ConfigError for a key that a vault may not set."""
    if entry.key not in VAULT_KEYS:
        hint = (
            f"Remove it, and set it in your own file {where.config_file}: zkchat config "
            f"set {entry.key} …"
        )
        raise ConfigError(f"{entry.origin}: a vault's own file cannot set {entry.key}", hint)


def _environment_entries(env: Mapping[str, str]) -> list[Entry]:
    """The settings in the environment: ZKCHAT_CONTEXT__MAX_TOKENS is context.max_tokens."""
    entries = []
    for name, text in env.items():
        if name in _VARIABLES:
            # An empty variable counts as not set
            if text:
                entries.append(Entry(name, _VARIABLES[name], text))
        elif name.startswith(_VARIABLE_PREFIX) and "__" in name:
            key = name.removeprefix(_VARIABLE_PREFIX).lower().replace("__", ".")
            entries.append(Entry(name, key, text))
    return entries


def default_values(schema: type[Section] = Config) -> dict[str, Any]:
    """Every setting's dotted key with its default, in the order of the settings file; for `Config`
    with the tables of all providers.
    """
    return _flat_values((config_schema() if schema is Config else schema)())


def flatten(values: Section) -> dict[str, Any]:
    """Values by their dotted keys. For `Config`, the tables of providers that are not used have
    their defaults.
    """
    if isinstance(values, Config):
        return default_values() | _flat_values(values)
    return _flat_values(values)


def _flat_values(values: Section) -> dict[str, Any]:
    return dict(flatten_tables(values.model_dump(mode="json")))


def with_value(values: Config, key: str, value: object, origin: str) -> Config:
    """The same settings with another value for `key`, checked together with the others. Raises
    ConfigError as `load_config` does.
    """
    require_known_key(key, origin)
    defaults = default_values()
    merged = {k: v for k, v in flatten(values).items() if v != defaults[k]}
    merged[key] = value
    schema = config_schema(map(_table_of, merged))
    return validate(merged, dict.fromkeys(merged, origin), schema)


def _table_of(key: str) -> str:
    """The name of the table that has a key; a key outside tables is itself the name."""
    return key.partition(".")[0]


def flatten_tables(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a TOML document by their dotted keys. A table that users fill is one value."""
    for key, value in table.items():
        if isinstance(value, Mapping) and f"{prefix}{key}" != USER_TABLE:
            yield from flatten_tables(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def as_toml(value: object) -> str:
    """A value as it is written in a settings file."""
    return json.dumps(value, ensure_ascii=False, default=str)


def read_toml(file: Path) -> list[Entry]:
    """What a settings file sets; empty without a file. Raises ConfigError if it is unreadable."""
    try:
        text = read_file(file, MAX_SETTINGS_BYTES).decode("utf-8-sig")
        values = dict(flatten_tables(tomllib.loads(text)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except tomllib.TOMLDecodeError as e:
        raise ConfigError(
            f"{file} is not valid TOML: {e}",
            "Correct that line, or move the file away to start from the defaults.",
        ) from e
    except (OSError, ValueError, RecursionError) as e:
        most = MAX_SETTINGS_BYTES // 1000
        hint = f"It must be a UTF-8 file of at most {most} kB that you may read."
        raise ConfigError(f"{file} cannot be read: {reason(e)}", hint) from e
    return [Entry(str(file), key, value) for key, value in values.items()]


def edit_toml(file: Path, values: Mapping[str, object], template: str = "") -> None:
    """Set dotted keys, and remove those that are None. A new file begins with `template`.

    Comments and everything else stay as written. The file is replaced in one step and readable only
    by its owner. Raises ConfigError without changing it.
    """
    # Deferred: it takes 15 ms, which only a change should pay
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = template
        if file.exists():
            text = read_file(file, MAX_SETTINGS_BYTES).decode("utf-8-sig")
        document: Any = tomlkit.parse(text)
        for key, value in values.items():
            if value is None:
                _remove_key(document, key)
            else:
                _set_key(document, key, value)
        text = tomlkit.dumps(document)
        tomllib.loads(text)
        atomic_write(file, text, private=True)
    except (OSError, ValueError, TOMLKitError) as e:
        raise ConfigError(
            f"{file} cannot be changed: {reason(e)}",
            "Nothing was changed. Correct it in an editor.",
        ) from e


def _remove_key(document: Any, key: str) -> None:
    """Remove a dotted key from a tomlkit document, if it is there."""
    *tables, name = key.split(".")
    for table in tables:
        document = document.get(table, {})
    document.pop(name, None)


def _set_key(document: Any, key: str, value: object) -> None:
    """Set a dotted key in a tomlkit document; a text of several lines stays readable."""
    # Deferred: see edit_toml
    import tomlkit

    *tables, name = key.split(".")
    for table in tables:
        document = document.setdefault(table, tomlkit.table())
    if isinstance(value, str) and "\n" in value:
        value = tomlkit.string(value.replace("\r\n", "\n"), multiline=True)
    document[name] = value


def require_known_key(
    key: str, origin: str, schema: type[Section] = Config, problem: str = "is not a setting"
) -> None:
    """Raises ConfigError for a key that the schema does not have, with the nearest ones."""
    if key in _flat_values(schema()) or (schema is Config and is_provider_setting(key)):
        return
    if key.startswith(f"{USER_TABLE}."):
        raise ConfigError(f"{origin}: {_short(key)} cannot be set by itself", _TABLE_HINT)
    near = difflib.get_close_matches(key, default_values(schema), n=3, cutoff=0.5)
    nearest = nearest_names(near, label="Nearest")
    if issubclass(schema, Config):
        every = "All settings: zkchat config show"
    else:
        every = f"All keys: {', '.join(schema.model_fields)}"
    hint = f"{nearest}. {every}" if nearest else every
    raise ConfigError(f"{origin}: {_short(key)} {problem}", hint)


def validate(merged: Mapping[str, Any], origins: Mapping[str, str], schema: type[S]) -> S:
    """Values by their dotted keys as a `schema`. Raises ConfigError that names the origin, the key,
    the value and the valid values.
    """
    try:
        return schema.model_validate(_as_tree(merged))
    except ValidationError as e:
        raise _validation_error(e, merged, origins, schema) from e


def _as_tree(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted keys as tables within tables."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *path, name = key.split(".")
        table = tree
        for part in path:
            table = table.setdefault(part, {})
        table[name] = value
    return tree


def _validation_error(
    error: ValidationError,
    merged: Mapping[str, Any],
    origins: Mapping[str, str],
    schema: type[Section],
) -> ConfigError:
    """The error for the first problem that pydantic found, in one value or in several that do not
    fit together.
    """
    first = error.errors()[0]
    names = [str(part) for part in first["loc"] if not isinstance(part, int)]
    key = ".".join(names).removesuffix(".[key]")
    problem = value_problem(first)
    if key in merged:
        hint = _TABLE_HINT
        if key != USER_TABLE:
            hint = f"Default: {as_toml(default_values(schema)[key])}"
        return invalid_value_error(origins[key], key, merged[key], problem, hint)
    return _combination_error(key, problem, merged, origins)


def _combination_error(
    key: str, problem: str, merged: Mapping[str, Any], origins: Mapping[str, str]
) -> ConfigError:
    """The error for values of a table that do not fit together."""
    culprits = [each for each in merged if each.startswith(f"{key}.")] or [USER_TABLE]
    hint = _TABLE_HINT
    if culprits != [USER_TABLE]:
        written = ", ".join(f"{each} = {merged[each]}" for each in culprits)
        hint = f"Set here: {_short(written)}"
    where = ", ".join(dict.fromkeys(origins[each] for each in culprits))
    return ConfigError(f"{where}: {_short(key)}: {problem}", hint)


def invalid_value_error(
    origin: str, key: str, wrong: object, problem: str, hint: str = ""
) -> ConfigError:
    """The error for a value that a setting cannot have."""
    return ConfigError(f"{origin}: {key} = {_short(as_toml(wrong))} is not valid; {problem}", hint)


def _short(text: str) -> str:
    shown = hide_password(text)
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 1]}…"
