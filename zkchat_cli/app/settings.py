"""The settings of a start: all layers, checked down to the names in the registries, which `config`
does not know.
"""

import difflib
from collections.abc import Mapping
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
    known = sorted(tool.name for tool in tools.load_tools(unsafe=True))
    checks = [("tools", name, known) for name in agent.tools or ()]
    checks += [
        (key, agent.values[key], strategies.names())
        for key in ("strategy", "context.strategy")
        if agent.values.get(key)
    ]
    for key, value, valid in checks:
        if value not in valid:
            raise loader.invalid_value_error(
                agent.origin, key, value, f"it must be {' or '.join(valid)}"
            )
    return agent


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

    vault_path = str(options.vault) if options.vault is not None else None
    keys = "vault.path", "model", "context.strategy", "context.max_tokens"
    named = zip(
        keys, (vault_path, options.model, options.strategy, options.max_context), strict=True
    )
    flags = {**{key: value for key, value in named if value is not None}, **options.overrides}

    def load(vault: Path | None) -> LoadedConfig:
        return replace(
            loader.load_config(
                flags, env, where, vault, agent.settings_layer if agent is not None else ()
            ),
            cwd=cwd,
        )

    loaded = load(None)
    folder = vault_folder(loaded)
    return check_settings(load(folder) if folder is not None else loaded)


def save_setting(key: str, value: str, where: AppPaths) -> object:
    """Set a key in the user's settings file; returns the value as it is stored. Raises ConfigError
    without changing the file.
    """
    stored = loader.flatten(check_settings(loader.load_config({key: value}, {}, where)).values)[key]
    loader.edit_toml(where.config_file, {key: stored})
    return stored


def check_settings(loaded: LoadedConfig) -> LoadedConfig:
    """The settings with the provider of a model named without one. Raises ConfigError for unknown
    strategies, providers and embedders.
    """
    values = loaded.values
    for key, value, valid in (
        ("context.strategy", values.context.strategy, strategies.names()),
        ("semantic.provider", values.semantic.provider, [NO_EMBEDDER, *embedders.names()]),
    ):
        if value not in valid:
            problem = f"it must be {' or '.join(valid)}"
            raise loader.invalid_value_error(
                loaded.origins.get(key, "defaults"),
                key,
                value,
                problem,
                "All settings: zkchat config show",
            )
    summary_model = values.context.summary_model and _full_model_name(
        loaded, "context.summary_model", values.context.summary_model
    )
    context = values.context.model_copy(update={"summary_model": summary_model})
    model = _full_model_name(loaded, "model", values.model)
    return replace(loaded, values=values.model_copy(update={"model": model, "context": context}))


def _full_model_name(loaded: LoadedConfig, key: str, model: str) -> str:
    """The name of a model, the value of a setting, with its provider. Raises ConfigError if more
    than one may have it, or none.
    """
    provider, _, name = model.partition("/")
    if provider in providers.names():
        return model
    family = None if name else providers.provider_of_family(model)
    candidates = [f"{family}/{model}"] if family else []
    if family == "ollama" and (
        loaded.env.get("OPENAI_BASE_URL") or "openai.base_url" in loaded.origins
    ):
        # A compatible server has open models, too
        candidates.append(f"openai/{model}")
    if len(candidates) == 1:
        return candidates[0]
    near = [
        "/".join(filter(None, (known, name)))
        for known in difflib.get_close_matches(provider, providers.names(), 1)
    ]
    suggestion = f"Did you mean {' or '.join(candidates or near)}? " if candidates or near else ""
    raise ConfigError(
        f"{loaded.origins.get(key, 'defaults')}: unknown model {model[:100]!r}",
        f"{suggestion}Models are named PROVIDER or PROVIDER/NAME; the providers are "
        f"{', '.join(providers.suggested_names())}.",
    )


def vault_folder(loaded: LoadedConfig) -> Path | None:
    """The folder of notes that the settings name, else the current one if it holds notes; None when
    nothing says which.
    """
    if loaded.values.vault.path:
        return Path(loaded.values.vault.path).expanduser()
    return loaded.cwd if holds_notes(loaded.cwd) else None


def required_vault_folder(loaded: LoadedConfig) -> Path:
    """The same folder. Raises VaultError when nothing says which."""
    folder = vault_folder(loaded)
    if folder is None:
        raise VaultError(
            f"no vault: {loaded.cwd} has no Markdown files, and no vault is set",
            "Use --vault DIR, ZKCHAT_VAULT, a folder of .md files, `config set vault.path "
            "DIR`, or `chat --demo`.",
        )
    return folder


def demo_folder(where: AppPaths) -> Path:
    return where.cache_dir / "demo"


def demo_vault(where: AppPaths) -> Path:
    """The built-in notes, copied to a scratch folder that may be written to; an unchanged copy is
    used again.
    """
    from importlib.resources import as_file, files  # only the demo needs it

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
