"""The settings of a start: all layers, checked down to the names in the registries, which `config`
does not know.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from zkchat_cli import tools
from zkchat_cli.agents import loader as agents
from zkchat_cli.config import loader
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.context import strategies
from zkchat_cli.errors import ConfigError, VaultError, reason
from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.llm import embedders, providers
from zkchat_cli.paths import AppPaths, app_paths
from zkchat_cli.vault.filesystem import LARGEST_NOTE, holds_notes

NO_EMBEDDER = "none"


class StartupOptions(NamedTuple):
    """Options of the command line that decide how a session starts. None leaves a setting to the
    other layers.
    """

    vault: Path | None = None
    model: str | None = None
    config_file: Path | None = None
    strategy: str | None = None
    max_context: int | None = None
    store: bool = True
    agent: str | None = None
    # Settings changed in the chat, by key
    overrides: Mapping[str, object] = MappingProxyType({})
    # Whether the model may propose changes of notes
    unsafe: bool = False
    # Whether to keep conversations in memory when the store cannot be written, instead of stopping
    store_later: bool = False


def open_agent(name: str, where: AppPaths) -> agents.Agent:
    """The user's agent of that name, or the built-in one, checked down to the names of tools and
    strategies.
    """
    return check_agent(agents.load_agent(where.agents_folder, name))


def check_agent(agent: agents.Agent) -> agents.Agent:
    """The agent itself. Raises ConfigError if a tool or a strategy that it names does not exist."""
    known = [tool.name for tool in tools.load_tools(unsafe=True)]
    for name in agent.tools or ():
        _check_value_of_agent(agent, "tools", name, known)
    for key in ("strategy", "context.strategy"):
        strategy = agent.values.get(key)
        if strategy:
            _check_value_of_agent(agent, key, strategy, strategies.names())
    return agent


def _check_value_of_agent(
    agent: agents.Agent, key: str, value: object, valid: Sequence[str]
) -> None:
    if value not in valid:
        raise loader.invalid_value_error(
            agent.origin, key, value, f"it must be one of {', '.join(valid)}"
        )


def load_settings(
    options: StartupOptions, env: Mapping[str, str], cwd: Path, agent: agents.Agent | None = None
) -> LoadedConfig:
    """All layers, the vault's own and the agent's included, checked down to the names of strategies
    and providers.
    """
    where = app_paths(env, options.config_file)
    if options.config_file is not None and not options.config_file.is_file():
        raise ConfigError(
            f"there is no settings file {options.config_file}",
            "--config names an existing TOML file.",
        )

    flags = {**_flags(options), **options.overrides}
    agent_layer = agent.settings_layer if agent is not None else ()

    def load(vault: Path | None) -> LoadedConfig:
        return replace(loader.load_config(flags, env, where, vault, agent_layer), cwd=cwd)

    loaded = load(None)
    folder = vault_folder(loaded)
    if folder is not None:
        # Load them once more, with the vault's own settings
        loaded = load(folder)
    return check_settings(loaded)


def _flags(options: StartupOptions) -> dict[str, object]:
    """The settings that options of the command line give, by their keys."""
    given = {
        "vault.path": str(options.vault) if options.vault is not None else None,
        "model": options.model,
        "context.strategy": options.strategy,
        "context.max_tokens": options.max_context,
    }
    return {key: value for key, value in given.items() if value is not None}


def save_setting(key: str, value: str, where: AppPaths) -> object:
    """Set a key in the user's settings file; returns the value as it is stored. Raises ConfigError
    without changing the file.
    """
    changed = check_settings(loader.load_config({key: value}, {}, where))
    stored = loader.flatten(changed.values)[key]
    loader.edit_toml(where.config_file, {key: stored})
    return stored


def check_settings(loaded: LoadedConfig) -> LoadedConfig:
    """The same settings, in which each model is named with its provider. Raises ConfigError for
    unknown strategies, providers and embedders.
    """
    values = loaded.values
    _check_name(loaded, "context.strategy", values.context.strategy, strategies.names())
    embedder_names = [NO_EMBEDDER, *embedders.names()]
    _check_name(loaded, "semantic.provider", values.semantic.provider, embedder_names)
    summary_model = values.context.summary_model
    if summary_model:
        summary_model = _full_model_name(loaded, "context.summary_model", summary_model)
    context = values.context.model_copy(update={"summary_model": summary_model})
    model = _full_model_name(loaded, "model", values.model)
    return replace(loaded, values=values.model_copy(update={"model": model, "context": context}))


def _check_name(loaded: LoadedConfig, key: str, value: str, valid: Sequence[str]) -> None:
    """Raises ConfigError if the value of a setting is not among the valid names."""
    if value not in valid:
        raise loader.invalid_value_error(
            loaded.origins.get(key, "defaults"),
            key,
            value,
            f"it must be one of {', '.join(valid)}",
            "All settings: zkchat config show",
        )


def _full_model_name(loaded: LoadedConfig, key: str, model: str) -> str:
    """The model that a setting names, with its provider. Raises ConfigError if no provider has it,
    or if several may have it.
    """
    provider, _, name = model.partition("/")
    if provider in providers.names():
        return model
    candidates = [] if name else _providers_with_model(loaded, model)
    if len(candidates) == 1:
        return candidates[0]
    near = candidates
    if not near:
        similar = difflib.get_close_matches(provider, providers.names(), n=1)
        near = [f"{known}/{name}" if name else known for known in similar]
    suggestion = f"Did you mean {' or '.join(near)}? " if near else ""
    raise ConfigError(
        f"{loaded.origins.get(key, 'defaults')}: unknown model {model[:100]!r}",
        f"{suggestion}Models are named PROVIDER or PROVIDER/NAME; the providers are "
        f"{', '.join(providers.suggested_names())}.",
    )


def _providers_with_model(loaded: LoadedConfig, model: str) -> list[str]:
    """The full names that a well-known model may have."""
    family = providers.provider_of_family(model)
    if family is None:
        return []
    found = [f"{family}/{model}"]
    has_compatible_server = loaded.env.get("OPENAI_BASE_URL") or "openai.base_url" in loaded.origins
    if family == "ollama" and has_compatible_server:
        # A server that is compatible with OpenAI's may have open models, too
        found.append(f"openai/{model}")
    return found


def vault_folder(loaded: LoadedConfig) -> Path | None:
    """The folder of notes that the settings name, else the current one if it holds notes, else
    None.
    """
    if loaded.values.vault.path:
        return Path(loaded.values.vault.path).expanduser()
    return loaded.cwd if holds_notes(loaded.cwd) else None


def required_vault_folder(loaded: LoadedConfig) -> Path:
    """The folder that `vault_folder` finds. Raises VaultError if there is none."""
    folder = vault_folder(loaded)
    if folder is None:
        raise VaultError(
            f"no vault: {loaded.cwd} has no Markdown files, and no vault is set",
            "Use --vault DIR, ZKCHAT_VAULT, a folder of .md files, `config set vault.path "
            "DIR`, or `chat --demo`.",
        )
    return folder


def demo_folder(where: AppPaths) -> Path:
    """The folder to which the built-in notes are copied."""
    return where.cache_dir / "demo"


def demo_vault(where: AppPaths) -> Path:
    """The built-in notes, copied to a scratch folder that may be written to; an unchanged copy is
    used again.
    """
    # Deferred: only the demo needs it
    from importlib.resources import as_file, files

    folder = demo_folder(where)
    try:
        with as_file(files("zkchat_cli") / "demo") as source:
            for file in source.rglob("*.md"):
                copy = folder / file.relative_to(source)
                text = file.read_bytes()
                if not copy.exists() or read_file(copy, LARGEST_NOTE) != text:
                    atomic_write(copy, text, private=True)
    except OSError as e:
        hint = "Set ZKCHAT_HOME to a folder you may write to."
        raise VaultError(f"the demo notes cannot be copied to {folder}: {reason(e)}", hint) from e
    return folder
