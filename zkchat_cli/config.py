"""Settings in layers: defaults < user file < `.zkchat.toml` in the vault < the agent in use < environment < flags.

Each layer is flattened to dotted keys before it is merged, so that every value still knows where it came from: an error can name the
file, the key, the wrong value and the valid ones, and `config show` can say who set what.

A drawer's things may have tables of their own, declared in their files: who knows the drawers passes the whole as `schema`.
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, create_model, field_validator, model_validator

from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.places import Places as Places
from zkchat_cli.places import places as places

PROJECT_FILE = ".zkchat.toml"
NOT_FOR_A_VAULT = {
    "vault.path": "which vault to use",
    "vault.git": "whether git runs",
    "semantic.provider": "who reads the notes",
    "semantic.model": "who reads the notes",
    "semantic.path": "which file is run",
    "store.keep_days": "which conversations are deleted",
    "terminal.open_command": "which program is run",
}
"""Settings that a vault's own file cannot make: whoever shares a vault must not decide where another person's notes are sent, or what that
costs (a model's name alone can do it, as some of Ollama's run elsewhere), nor what is deleted of theirs."""

LARGEST_FILE = 500_000
"""Bytes of a settings file: a vault brings one, and may be anybody's."""
_DEEP_KEY = re.compile(r"""(?:^|[\[{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){20}""", re.MULTILINE)
"""More parts than any key has. The parser's time and room grow with their square: 100 000 of them take the whole machine."""

Entry = tuple[str, str, object]
"""Who sets what to which value: origin, dotted key, value."""


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: object, info: ValidationInfo) -> object:
        """Python takes true for 1; in a settings file it is a slip."""
        if isinstance(value, bool) and cls.model_fields[info.field_name or ""].annotation in (int, float):
            raise ValueError("true and false are not numbers")
        return value


S = TypeVar("S", bound=Section)


class VaultSettings(Section):
    path: str = Field("", description="folder of notes to chat with; empty: --vault, ZKCHAT_VAULT or the current folder")
    ignore: tuple[str, ...] = Field((), description="globs of notes that are not indexed, as ['Templates/*']")

    git: bool = Field(False, description="commit each change that a model makes with --unsafe, where the vault is in a git repository")

    @field_validator("ignore", mode="before")
    @classmethod
    def _comma_separated(cls, value: object) -> object:
        """An environment variable is one string: `Templates/*,Archive/*`."""
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class LlmSettings(Section):
    max_tool_rounds: int = Field(10, ge=1, le=100, description="tool calls the model may make in a row before it must answer")
    max_output_tokens: int = Field(0, ge=0, le=10_000_000, description="longest answer in tokens; 0: as long as the model will")
    temperature: float = Field(-1, ge=-1, le=2, description="how freely the model chooses its words; below 0: its own default")
    reasoning_effort: str = Field(
        "",
        pattern="^(|low|medium|high)$",
        description="how long a model that reasons may do so: low, medium or high; empty: its own default",
    )


class ContextSettings(Section):
    strategy: str = Field("hybrid", description="what is sent when the window fills: hybrid, summarize or discard")
    max_tokens: int = Field(
        32768, ge=512, le=1_000_000_000, description="context window in tokens; a known model's own window when not set"
    )
    message_budget_ratio: float = Field(0.6, gt=0, le=1, description="share of the window for messages")
    tool_budget_ratio: float = Field(0.3, ge=0, le=1, description="share of the window for tool descriptions")
    system_budget_ratio: float = Field(0.1, ge=0, le=1, description="share of the window for instructions")
    auto_summarize: bool = Field(True, description="summarise older turns when the window fills")
    summarization_threshold: float = Field(
        0.8,
        gt=0,
        le=1,
        description="share of the limit at which older turns are summarised, if messages have not outgrown their share before",
    )
    recent_messages_to_keep: int = Field(10, ge=0, description="newest messages that a summary leaves word for word")
    summary_ratio: float = Field(0.3, gt=0, le=1, description="largest share of the limit a summary may take")
    injection_ratio: float = Field(0.2, ge=0, le=1, description="largest share of the room left that one document may take whole")
    memory_integration: bool = Field(True, description="send memory with messages, and look through earlier conversations")
    tool_filter: str = Field(
        "auto", pattern="^(auto|off)$", description="leave out tools that a message does not need: auto (where room is scarce) or off"
    )
    show_token_count: bool = Field(True, description="show the budget bar in the toolbar, and below each answer what it took")

    @model_validator(mode="after")
    def _shares_add_up(self) -> "ContextSettings":
        total = self.message_budget_ratio + self.tool_budget_ratio + self.system_budget_ratio
        if total > 1.0001:
            raise ValueError(f"the three budget ratios add up to {total:.2f}; together they may take at most 1")
        return self


class ChatSettings(Section):
    show_reasoning: bool = Field(True, description="show a model's reasoning, dimmed, before its answer")
    model_titles: bool = Field(True, description="let the model name a new conversation, in the background")


class TerminalSettings(Section):
    open_command: str = Field("", description="what /open runs, with {path} and {line}; empty: $VISUAL, $EDITOR or a pager")
    editing_mode: str = Field("emacs", pattern="^(emacs|vi)$", description="keys that edit the line being typed: emacs or vi")
    theme: str = Field(
        "auto",
        pattern="^(auto|dark|light|plain)$",
        description="background that colours are chosen for: auto, dark or light; plain: no colours",
    )
    ascii: bool = Field(False, description="draw bars, lines and marks in ASCII")


class ReferenceSettings(Section):
    max_displayed: int = Field(10, ge=1, description="sources listed after an answer")
    link_style: str = Field(
        "file", pattern="^(file|obsidian|none)$", description="what opens the path of a source: file (the system), obsidian or none"
    )
    model_summaries: bool = Field(False, description="let the model describe notes that say nothing about themselves, in the background")
    import_max_kilobytes: int = Field(512, ge=1, le=1_000_000, description="largest file that @path takes into a message")


class MemorySettings(Section):
    project_file: str = Field(
        "ZKCHAT.md", description="memory file: the vault's is sent with every message, a folder's along with its notes; WILK.md likewise"
    )


class StoreSettings(Section):
    keep_days: int = Field(0, ge=0, le=100_000, description="days after which an untouched conversation is deleted; 0: never")


class SemanticSettings(Section):
    provider: str = Field("none", description="who computes vectors for search by meaning: none, ollama, openai or onnx")
    model: str = Field("", description="embedding model; empty: nomic-embed-text (ollama), text-embedding-3-small (openai)")
    path: str = Field("", description="the model's .onnx file, for onnx; its tokenizer.json lies beside it")


class Config(Section):
    """All settings, validated. Keys and defaults are the ones of the README's table."""

    model: str = Field("offline", description="who answers: PROVIDER or PROVIDER/NAME")
    vault: VaultSettings = VaultSettings()
    llm: LlmSettings = LlmSettings()
    chat: ChatSettings = ChatSettings()
    terminal: TerminalSettings = TerminalSettings()
    context: ContextSettings = ContextSettings()
    references: ReferenceSettings = ReferenceSettings()
    memory: MemorySettings = MemorySettings()
    store: StoreSettings = StoreSettings()
    semantic: SemanticSettings = SemanticSettings()


def with_tables(tables: Mapping[str, type[Section]]) -> type[Config]:
    """The settings with further tables, each by its name; a table without a setting is left out."""
    fields: dict[str, Any] = {name: (table, table()) for name, table in tables.items() if table.model_fields}
    return create_model("Config", __base__=Config, __doc__=Config.__doc__, **fields)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The merged settings and, for each key somebody set, who did (`origins`: dotted key -> file, variable or flag)."""

    values: Config
    origins: dict[str, str]
    places: Places
    vault_file: Path | None = None
    """The vault's own settings file, if one was looked for."""

    def is_set(self, key: str) -> bool:
        return key in self.origins

    def with_model(self, name: str) -> "Loaded":
        """The same settings with another model, chosen by the user."""
        return replace(self, values=self.values.model_copy(update={"model": name}), origins={**self.origins, "model": "in this chat"})

    def is_vaults_own(self, key: str) -> bool:
        """Whether the value comes from the vault's own file."""
        return self.vault_file is not None and self.origins.get(key) == str(self.vault_file)

    def problem(self, key: str, wrong: object, valid: str, hint: str = "") -> ConfigError:
        """An error about a value that only its user can judge (a strategy's or a provider's name), with the setting's origin."""
        return wrong_value(self.origins.get(key, "defaults"), key, wrong, valid, hint or _default(key, type(self.values)))


def load(
    flags: Mapping[str, object],
    env: Mapping[str, str],
    where: Places,
    vault: Path | None = None,
    schema: type[Config] = Config,
    agent: Sequence[Entry] = (),
) -> Loaded:
    """Merge all layers and validate them. `flags` holds dotted keys; `vault`, once known, brings in its `.zkchat.toml`; `agent` is what the
    agent in use sets, which counts for more than the files and for less than the environment.

    Raises ConfigError that names the origin, the key, the value and what would be valid.
    """
    layers = [read_toml(where.config_file)]
    if vault is not None:
        layers.append(read_toml(vault / PROJECT_FILE))
        for origin, key, _ in layers[-1]:
            if key in NOT_FOR_A_VAULT:
                hint = f"Take {key} out of it; your own file may have it: zkchat config set {key} …"
                raise ConfigError(f"{origin}: a vault's own file cannot say {NOT_FOR_A_VAULT[key]}", hint)
    layers += [list(agent), list(_from_environment(env)), [("command line", key, value) for key, value in flags.items()]]
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for origin, key, value in layer:
            require(key, origin, schema)
            merged[key], origins[key] = value, origin
    return Loaded(validated(merged, origins, schema), origins, where, vault / PROJECT_FILE if vault is not None else None)


def keys(schema: type[Section] = Config) -> dict[str, Any]:
    """Every setting's dotted key with its default, in the order of the settings file."""
    return flat(schema())


def flat(values: Section) -> dict[str, Any]:
    """Settings as dotted keys with JSON values."""
    return dict(_flatten(values.model_dump(mode="json")))


def describe(key: str, schema: type[Section] = Config) -> str:
    """What a setting is for, in a few words."""
    section: type[BaseModel] = schema
    *path, name = key.split(".")
    for part in path:
        section = type(getattr(schema(), part))
    return section.model_fields[name].description or ""


def checked(key: str, value: object, origin: str, schema: type[Config] = Config) -> Any:
    """`value` as the setting's own type, for `config set`. Raises ConfigError as `load` does."""
    require(key, origin, schema)
    valid = validated({key: value}, {key: origin}, schema)
    return flat(valid)[key]


def changed(values: Config, key: str, value: object, origin: str) -> Config:
    """The same settings with another value for `key`, checked together with the others. Raises ConfigError as `load` does."""
    schema = type(values)
    require(key, origin, schema)
    defaults = keys(schema)
    merged = {k: v for k, v in flat(values).items() if v != defaults[k]} | {key: value}
    return validated(merged, dict.fromkeys(merged, origin), schema)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def read_toml(file: Path) -> list[Entry]:
    """What a settings file says; nothing if there is none. Raises ConfigError for one that cannot be read, or is no TOML."""
    try:
        if file.is_fifo():  # it could be waited for without end
            raise ConfigError(f"{file} cannot be read: it is no file", "It must be a UTF-8 file that you may read.")
        with file.open("rb") as opened:
            raw = opened.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise ConfigError(f"{file} is larger than {LARGEST_FILE // 1000} kB", "No settings file is that long: move it away.")
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        if _DEEP_KEY.search(text):
            raise ConfigError(f"{file} has a key of more than 20 parts", "No setting has so many: take it out.")
        table = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except tomllib.TOMLDecodeError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct that line, or move the file away to start from the defaults.") from e
    except (OSError, ValueError, RecursionError) as e:
        raise ConfigError(f"{file} cannot be read: {reason(e)}", "It must be a UTF-8 file that you may read.") from e
    if isinstance(table.get("vault"), str):
        table["vault"] = {"path": table["vault"]}
    return [(str(file), key, value) for key, value in _flatten(table)]


def _from_environment(env: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    """`ZKCHAT_CONTEXT__MAX_TOKENS` is `context.max_tokens`. Names that could not be a setting (`ZKCHAT_HOME`) are someone else's."""
    for name, value in env.items():
        if name in ("ZKCHAT_VAULT", "ZKCHAT_MODEL"):
            if value:  # an empty variable is one that is not set
                yield name, "vault.path" if name == "ZKCHAT_VAULT" else "model", value
        elif name.startswith("ZKCHAT_") and "__" in name:
            yield name, name.removeprefix("ZKCHAT_").lower().replace("__", "."), value


def require(key: str, origin: str, schema: type[Config] = Config) -> None:
    """Refuse a key that is no setting, naming the nearest ones."""
    known = keys(schema)
    if key not in known:
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.5) or list(known)
        raise ConfigError(f"{origin}: {_short(key)} is not a setting", f"Nearest: {', '.join(near)}. All of them: zkchat config show")


def validated(merged: Mapping[str, Any], origins: Mapping[str, str], schema: type[S]) -> S:
    """Values by their dotted keys as a `schema`. Raises ConfigError that names the origin, the key, the value and what would be valid."""
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
        key = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
        if key in merged:
            raise wrong_value(origins[key], key, merged[key], _valid_values(key, schema), _default(key, schema)) from e
        culprits = [k for k in merged if k.startswith(key + ".")]
        raise ConfigError(
            f"{', '.join(dict.fromkeys(origins[k] for k in culprits))}: {key}: {first['msg'].removeprefix('Value error, ')}",
            _short(f"Set here: {', '.join(f'{k} = {merged[k]}' for k in culprits)}"),
        ) from e


def _valid_values(key: str, schema: type[Section]) -> str:
    section: Any = schema.model_json_schema()
    definitions = section["$defs"]
    for part in key.split("."):
        section = section["properties"][part]
        if "$ref" in section:
            section = definitions[section["$ref"].rsplit("/", 1)[1]]
    if "pattern" in section:
        return " or ".join(choice or "empty" for choice in section["pattern"].strip("^$()").split("|"))
    kind = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list of texts", "string": "a text"}
    bounds = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to", "exclusiveMaximum": "below"}
    limits = [f"{word} {section[name]:.12g}" for name, word in bounds.items() if name in section]
    limits += [f"of at most {section['maxLength']} characters"] if "maxLength" in section else []
    return " ".join([kind.get(section.get("type", ""), "another value"), *limits])


def wrong_value(origin: str, key: str, wrong: object, valid: str, hint: str) -> ConfigError:
    """The error about a value, as all settings tell it."""
    shown = _short(json.dumps(wrong, ensure_ascii=False, default=str))
    return ConfigError(f"{origin}: {key} = {shown} is not valid; it must be {valid}", hint)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"


def _default(key: str, schema: type[Section]) -> str:
    return f"Default: {json.dumps(keys(schema)[key])}"


def environment() -> Mapping[str, str]:
    """The process's environment; the one place that reads it."""
    return os.environ
