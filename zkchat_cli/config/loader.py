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
from typing import Any

from pydantic import ValidationError

from zkchat_cli.config.schema import Config, S, Section
from zkchat_cli.errors import ConfigError, reason, value_problem
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.paths import MAX_SETTINGS_BYTES, AppPaths

PROJECT_FILE = ".zkchat.toml"
# The origin of a value that an option sets
COMMAND_LINE = "command line"

VAULT_KEYS = (
    *("chat.show_reasoning", "references.max_displayed", "vault.ignore"),
    *("llm.max_tool_rounds", "llm.max_output_tokens", "llm.temperature", "llm.reasoning_effort"),
    *(
        "context.strategy",
        "context.max_tokens",
        "context.auto_summarize",
        "context.summarization_threshold",
    ),
    *(
        "context.message_budget_ratio",
        "context.tool_budget_ratio",
        "context.system_budget_ratio",
        "context.summary_ratio",
    ),
    *("context.injection_ratio", "context.recent_messages_to_keep", "context.memory_integration"),
    *("context.tool_filter", "context.show_token_count"),
)
"""All keys that a vault's own file may set. Someone who shares a vault must not decide where other
people's notes are sent, which file is read or which program is run, so no key with a path, an
address, a command or a model is among them.
"""

# The setting whose keys the user chooses: one value, a table
USER_TABLE = "mcp.servers"
_TABLE_HINT = (
    "Edit the settings file, which `zkchat config path` names: a table [mcp.servers.NAME] with "
    "command or url."
)

Entry = tuple[str, str, object]  # origin, dotted key, value


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The merged settings, and where each key was set (`origins`: dotted key -> file, variable or
    flag).

    `env` and `cwd` are the environment and the folder of the start, for whatever is opened by these
    settings.
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
    """Merge all layers and validate them. `flags` holds dotted keys; `vault`, once known, brings in
    its `.zkchat.toml`; `agent` is what the agent in use sets. Raises ConfigError that names the
    origin, the key, the value and what would be valid.
    """
    entries = read_toml(where.config_file)
    vault_file = ""
    # Else opening the vault will say what is wrong
    if vault is not None and ("\0" in str(vault) or os.access(vault, os.X_OK)):
        vault_file = str(vault / PROJECT_FILE)
        entries += read_toml(vault / PROJECT_FILE)
    entries += agent
    for name, text in env.items():
        # An empty variable is one that is not set
        if name in ("ZKCHAT_VAULT", "ZKCHAT_MODEL") and text:
            entries.append((name, "vault.path" if name == "ZKCHAT_VAULT" else "model", text))
        elif name.startswith("ZKCHAT_") and "__" in name:
            # ZKCHAT_CONTEXT__MAX_TOKENS is context.max_tokens
            entries.append((name, name.removeprefix("ZKCHAT_").lower().replace("__", "."), text))
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, key, value in (
        *entries,
        *((COMMAND_LINE, key, value) for key, value in flags.items()),
    ):
        require_known_key(key, origin)
        if origin == vault_file and key not in VAULT_KEYS:
            hint = (
                f"Remove it, and set it in your own file {where.config_file}: zkchat config "
                f"set {key} …"
            )
            raise ConfigError(f"{origin}: a vault's own file cannot set {key}", hint)
        merged[key], origins[key] = value, origin
    return LoadedConfig(validate(merged, origins, Config), origins, where, env)


def default_values(schema: type[Section] = Config) -> dict[str, Any]:
    """Every setting's dotted key with its default, in the order of the settings file."""
    return flatten(schema())


def flatten(values: Section) -> dict[str, Any]:
    return dict(_flatten_tables(values.model_dump(mode="json")))


def describe_setting(key: str) -> str:
    table, _, name = key.rpartition(".")
    section = type(getattr(Config(), table)) if table else Config
    return section.model_fields[name].description or ""


def with_value(values: Config, key: str, value: object, origin: str) -> Config:
    """The same settings with another value for `key`, checked together with the others. Raises
    ConfigError as `load_config` does.
    """
    require_known_key(key, origin)
    defaults = default_values()
    merged = {k: v for k, v in flatten(values).items() if v != defaults[k]} | {key: value}
    return validate(merged, dict.fromkeys(merged, origin), Config)


def _flatten_tables(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and f"{prefix}{key}" != USER_TABLE:
            yield from _flatten_tables(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def as_toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def read_toml(file: Path) -> list[Entry]:
    """What a settings file says; nothing if there is none. Raises ConfigError for one that cannot
    be read, or is no TOML.
    """
    try:
        table = dict(
            _flatten_tables(tomllib.loads(read_file(file, MAX_SETTINGS_BYTES).decode("utf-8-sig")))
        )
    except (FileNotFoundError, NotADirectoryError):
        return []
    except tomllib.TOMLDecodeError as e:
        raise ConfigError(
            f"{file} is not valid TOML: {e}",
            "Correct that line, or move the file away to start from the defaults.",
        ) from e
    except (OSError, ValueError, RecursionError) as e:
        hint = (
            f"It must be a UTF-8 file of at most {MAX_SETTINGS_BYTES // 1000} kB that you may read."
        )
        raise ConfigError(f"{file} cannot be read: {reason(e)}", hint) from e
    return [(str(file), key, value) for key, value in table.items()]


def edit_toml(file: Path, values: Mapping[str, object], template: str = "") -> None:
    """Set dotted keys, and remove those that are None. A new file begins with `template`.

    Comments and everything else stay as written. The file is replaced in one step and readable only
    by its owner. Raises ConfigError without changing it.
    """
    # 15 ms that only a change needs
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(
            read_file(file, MAX_SETTINGS_BYTES).decode("utf-8-sig") if file.exists() else template
        )
        for key, value in values.items():
            *tables, name = key.split(".")
            parent = document
            for table in tables:
                parent = (
                    parent.get(table, {})
                    if value is None
                    else parent.setdefault(table, tomlkit.table())
                )
            if value is None:
                parent.pop(name, None)
            elif isinstance(value, str) and "\n" in value:
                parent[name] = tomlkit.string(value.replace("\r\n", "\n"), multiline=True)
            else:
                parent[name] = value
        text = tomlkit.dumps(document)
        tomllib.loads(text)
        atomic_write(file, text, private=True)
    except (OSError, ValueError, TOMLKitError) as e:
        raise ConfigError(
            f"{file} cannot be changed: {reason(e)}",
            "Nothing was changed. Correct it in an editor.",
        ) from e


def require_known_key(
    key: str, origin: str, schema: type[Section] = Config, problem: str = "is not a setting"
) -> None:
    """Refuse a key that the schema does not have, naming the nearest ones."""
    known = default_values(schema)
    if key not in known:
        if key.startswith(f"{USER_TABLE}."):
            raise ConfigError(f"{origin}: {_short(key)} cannot be set by itself", _TABLE_HINT)
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
        nearest = f"Nearest: {', '.join(near)}. " if near else ""
        every = (
            "All settings: zkchat config show"
            if issubclass(schema, Config)
            else f"All keys: {', '.join(schema.model_fields)}"
        )
        raise ConfigError(f"{origin}: {_short(key)} {problem}", nearest + every)


def validate(merged: Mapping[str, Any], origins: Mapping[str, str], schema: type[S]) -> S:
    """Values by their dotted keys as a `schema`. Raises ConfigError that names the origin, the key,
    the value and what would be valid.
    """
    tree: dict[str, Any] = {}
    for key, value in merged.items():
        *path, name = key.split(".")
        table = tree
        for part in path:
            table = table.setdefault(part, {})
        table[name] = value
    try:
        return schema.model_validate(tree)
    except ValidationError as e:
        first = e.errors()[0]
        key = ".".join(
            str(part) for part in first["loc"] if not isinstance(part, int)
        ).removesuffix(".[key]")
        problem = value_problem(first)
        if key in merged:
            hint = (
                _TABLE_HINT
                if key == USER_TABLE
                else f"Default: {as_toml(default_values(schema)[key])}"
            )
            raise invalid_value_error(origins[key], key, merged[key], problem, hint) from e
        culprits = [k for k in merged if k.startswith(key + ".")] or [USER_TABLE]
        written = _short(", ".join(f"{k} = {merged[k]}" for k in culprits))
        hint = _TABLE_HINT if culprits == [USER_TABLE] else f"Set here: {written}"
        raise ConfigError(
            f"{', '.join(dict.fromkeys(origins[k] for k in culprits))}: {_short(key)}: {problem}",
            hint,
        ) from e


def invalid_value_error(
    origin: str, key: str, wrong: object, problem: str, hint: str = ""
) -> ConfigError:
    return ConfigError(f"{origin}: {key} = {_short(as_toml(wrong))} is not valid; {problem}", hint)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
