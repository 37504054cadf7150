"""The settings of a start: all layers, checked down to the names in the registries, which `config` does not know."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from zkchat_cli import tools
from zkchat_cli.agents import loader as agents
from zkchat_cli.agents.profile import Agent
from zkchat_cli.config import loader
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.config.schema import Config
from zkchat_cli.context import strategies
from zkchat_cli.errors import ConfigError, VaultError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.providers import settings_schema
from zkchat_cli.paths import AppPaths, app_paths
from zkchat_cli.vault.discovery import holds_notes

NO_EMBEDDER = "none"
MODEL_FAMILIES = {
    **dict.fromkeys(("gpt-oss", "qwen", "llama", "mistral", "mixtral", "gemma", "phi", "deepseek", "codellama", "granite"), "ollama"),
    **dict.fromkeys(("gpt-", "chatgpt-", "o1", "o3", "o4"), "openai"),
    "claude": "anthropic",
}
"""How names of well-known models begin, and the provider that has them: the first that fits counts."""


class StartupOptions(NamedTuple):
    """Options of the command line that decide how a session starts. None leaves a setting to the other layers."""

    vault: Path | None = None
    model: str | None = None
    config_file: Path | None = None
    strategy: str | None = None
    max_context: int | None = None
    store: bool = True
    agent: str | None = None
    overrides: Mapping[str, object] = MappingProxyType({})
    """Settings changed in the chat, by key."""
    unsafe: bool = False
    """Whether the model may propose changes of notes."""
    store_later: bool = False
    """Whether to keep conversations in memory when the store cannot be written, instead of stopping."""

    @property
    def flags(self) -> dict[str, object]:
        named = {
            "vault.path": str(self.vault) if self.vault is not None else None,
            "model": self.model,
            "context.strategy": self.strategy,
            "context.max_tokens": self.max_context,
        }
        return {**{key: value for key, value in named.items() if value is not None}, **self.overrides}


def open_agent(name: str, where: AppPaths) -> Agent:
    """The user's agent of that name, or the built-in one, checked down to the names of tools and strategies."""
    return check_agent(agents.load_agent(where.agents_folder, name))


def check_agent(agent: Agent) -> Agent:
    return agents.check_names(agent, tools=[tool.name for tool in tools.load_tools(unsafe=True)], strategies=strategies.names())


def load_settings(options: StartupOptions, env: Mapping[str, str], cwd: Path, agent: Agent | None = None) -> LoadedConfig:
    """All layers, the vault's own and the agent's included, checked down to the names of strategies and providers."""
    agent_layer = agent.settings_layer if agent is not None else ()
    where = app_paths(env, options.config_file)
    if options.config_file is not None and not options.config_file.is_file():
        raise ConfigError(f"there is no settings file {options.config_file}", "--config names an existing TOML file.")

    def load(vault: Path | None = None) -> LoadedConfig:
        try:
            loaded = loader.load_config(options.flags, env, where, vault, Config, agent_layer)
        except ConfigError:  # a provider's table is set, or a key is wrong: the error then names the nearest of all settings
            loaded = loader.load_config(options.flags, env, where, vault, settings_schema(), agent_layer)
        return replace(loaded, cwd=cwd)

    loaded = load()
    folder = vault_folder(loaded)
    return check_settings(load(folder) if folder is not None else loaded)


def save_setting(key: str, value: str, where: AppPaths) -> object:
    """Set a key in the user's settings file; returns the value as it is stored. Raises ConfigError without changing the file."""
    from zkchat_cli.config.toml_editor import edit_toml  # imports tomlkit: 15 ms that only a change needs

    stored = loader.flatten(check_settings(loader.load_config({key: value}, {}, where, schema=settings_schema())).values)[key]
    edit_toml(where.config_file, {key: stored})
    return stored


def check_settings(loaded: LoadedConfig) -> LoadedConfig:
    """The settings with the provider of a model named without one. Raises ConfigError for unknown strategies, providers and embedders:
    they are checked here because config does not know the registries."""
    strategy = loaded.values.context.strategy
    if strategy not in strategies.names():
        raise loaded.invalid_value("context.strategy", strategy, " or ".join(strategies.names()))
    model = _full_model_name(loaded, "model", loaded.values.model)
    summary_model = loaded.values.context.summary_model
    if summary_model:
        summary_model = _full_model_name(loaded, "context.summary_model", summary_model)
    if (model, summary_model) != (loaded.values.model, loaded.values.context.summary_model):
        context = loaded.values.context.model_copy(update={"summary_model": summary_model})
        loaded = replace(loaded, values=loaded.values.model_copy(update={"model": model, "context": context}))
    embedder = loaded.values.semantic.provider
    if embedder not in (NO_EMBEDDER, *embedders.names()):
        raise loaded.invalid_value("semantic.provider", embedder, " or ".join((NO_EMBEDDER, *embedders.names())))
    return loaded


def _full_model_name(loaded: LoadedConfig, key: str, model: str) -> str:
    """The name of a model, the value of a setting, with its provider. Raises ConfigError if more than one may have it, or none."""
    if model.partition("/")[0] in providers.names():
        return model
    candidates = _complete_model_name(loaded, model)
    if len(candidates) != 1:
        raise _unknown_model(loaded.origins.get(key, "defaults"), model, candidates)
    return candidates[0]


def _complete_model_name(loaded: LoadedConfig, model: str) -> list[str]:
    """The full names that a model without its provider may mean: Ollama has open models, and so may a compatible server."""
    family = next((provider for prefix, provider in MODEL_FAMILIES.items() if model.lower().startswith(prefix)), None)
    if family is None or "/" in model:
        return []
    has_server = family == "ollama" and (loaded.env.get("OPENAI_BASE_URL") or "openai.base_url" in loaded.origins)
    return [f"{provider}/{model}" for provider in (family, *(("openai",) if has_server else ()))]


def _unknown_model(origin: str, model: str, candidates: Sequence[str]) -> ConfigError:
    """An error that suggests these names, or the provider with the nearest name."""
    provider, _, name = model.partition("/")
    near = difflib.get_close_matches(provider, providers.names(), 1)
    suggestion = " or ".join(candidates) or ("/".join(filter(None, (near[0], name))) if near else _similar_model(model))
    hint = f"Did you mean {suggestion}? " if suggestion else ""
    return ConfigError(
        f"{origin}: unknown model {model[:100]!r}",
        f"{hint}Models are named PROVIDER or PROVIDER/NAME; the providers are {', '.join(providers.suggested_names())}.",
    )


def _similar_model(model: str) -> str:
    """A well-known model whose name is similar, with its provider; else empty."""
    from zkchat_cli.llm.known_models import OPENAI_INPUT

    known = {**dict.fromkeys(OPENAI_INPUT, "openai"), **dict.fromkeys(("claude-opus", "claude-sonnet", "claude-haiku"), "anthropic")}
    near = difflib.get_close_matches(model.lower(), known, 1) or [name for name in known if len(model) > 3 and model.lower() in name]
    return f"{known[near[0]]}/{near[0]}" if near else ""


def vault_folder(loaded: LoadedConfig) -> Path | None:
    """The folder of notes that the settings name, else the current one if it holds notes; None when nothing says which."""
    if loaded.values.vault.path:
        return Path(loaded.values.vault.path).expanduser()
    return loaded.cwd if holds_notes(loaded.cwd) else None


def required_vault_folder(loaded: LoadedConfig) -> Path:
    """The same folder. Raises VaultError when nothing says which."""
    folder = vault_folder(loaded)
    if folder is None:
        raise VaultError(
            f"no vault: {loaded.cwd} has no Markdown files, and no vault is set",
            "Use --vault DIR, ZKCHAT_VAULT, a folder of .md files, `config set vault.path DIR`, or `chat --demo`.",
        )
    return folder
