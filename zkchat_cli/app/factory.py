"""The composition root: opens the vault, the store and the model that the settings name, and makes sessions of them."""

import difflib
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from zkchat_cli import credentials, paths, tools
from zkchat_cli.agents import loader as agents
from zkchat_cli.agents.profile import Agent
from zkchat_cli.chat.message_vectors import MessageEmbedder
from zkchat_cli.chat.runtime import AvailableModels, OpenedModel, Runtime, SessionServices, model_options
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader
from zkchat_cli.config import schema as config_schema
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.config.schema import Config
from zkchat_cli.context import strategies
from zkchat_cli.context.system_prompt import INSTRUCTIONS
from zkchat_cli.credentials import ApiKey
from zkchat_cli.errors import ConfigError, StoreUnwritable, VaultError, ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import ModelConfig, Provider, ServerInfo, Similarities, Window
from zkchat_cli.llm.embedders import base
from zkchat_cli.llm.http_errors import is_local, mask_address
from zkchat_cli.models import Conversation, ToolCall
from zkchat_cli.paths import AppPaths
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault.approval import ALLOWED, UNASKED, UNASKED_CALL, Approve, Decision
from zkchat_cli.vault.discovery import holds_notes
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.search.vector_store import Embedder
from zkchat_cli.vault.vault import Vault

if TYPE_CHECKING:
    from zkchat_cli.mcp_client.servers import McpServers

NO_EMBEDDER = "none"
EMBEDDERS_WITHOUT_SERVER = ("builtin", "onnx")
"""Those that also get conversations: notes are sent to a server because its user has named it for them."""
MODEL_FAMILIES = {
    **dict.fromkeys(("gpt-oss", "qwen", "llama", "mistral", "mixtral", "gemma", "phi", "deepseek", "codellama", "granite"), "ollama"),
    **dict.fromkeys(("gpt-", "chatgpt-", "o1", "o3", "o4"), "openai"),
    "claude": "anthropic",
}
"""How names of well-known models begin, and the provider that has them: the first that fits counts."""


@dataclass(frozen=True, slots=True)
class StartupOptions:
    """Options of the command line that decide how a session starts. None leaves a setting to the other layers."""

    vault: Path | None = None
    model: str | None = None
    config_file: Path | None = None
    strategy: str | None = None
    max_context: int | None = None
    store: bool = True
    agent: str | None = None
    overrides: Mapping[str, object] = field(default_factory=dict)
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


@dataclass(frozen=True, slots=True)
class App:
    """The opened vault, store and model; `session` makes a session of them. Close it when done."""

    loaded: LoadedConfig
    vault: Vault
    store: ChatSessionStore
    env: Mapping[str, str]
    using: OpenedModel
    choices: StartupOptions = field(default_factory=StartupOptions)
    cwd: Path = field(default_factory=Path.cwd)
    unstored: StoreUnwritable | None = None
    """Why conversations are only in memory, where they should be stored."""
    counter: TokenCounter = field(default_factory=TokenCounter)
    approve: Approve | None = None
    """Approves changes of notes; without it none is made."""
    approve_call: Callable[[ToolCall], Decision] | None = None
    """Approves calls of other programs' tools; without it none is made, except those that the user always allows."""
    external: "McpServers | None" = None

    def find(self, id_: str | None) -> Conversation:
        """The stored conversation with that id or unique prefix; for None the vault's latest. Raises StoreError."""
        return self.store.find(id_, str(self.vault.root))

    def session(self, conversation: Conversation | None = None) -> ZkChatSession:
        """A session on a stored conversation, which continues with its agent, or on a new one; with the agent that --agent names."""
        folder = agents.agents_folder(self.loaded.places.config_file)
        services = SessionServices(
            vault=self.vault,
            store=self.store,
            now=now,
            clock=time.monotonic,
            new_id=new_id,
            approve=self.approve or (lambda _: UNASKED),
            approve_call=self._approve_call,
            external=self.external,
            working_folder=self.cwd,
            agent_names=lambda: agents.list_names(folder),
            agents_folder=folder,
            semantic=self._message_semantic,
            documents_folder=self.loaded.places.data_dir / "documents",
        )
        session = ZkChatSession(services, self._runtime(self.loaded, self.using), conversation)
        if self.choices.agent is not None:
            session.use_agent(self.choices.agent)
        return session

    def _approve_call(self, call: ToolCall) -> Decision:
        """Ask, unless the settings have the tool as always allowed; an answer "always" is saved there."""
        if self.external is None or self.external.is_allowed(call.name):
            return ALLOWED
        decision = self.approve_call(call) if self.approve_call is not None else UNASKED_CALL
        if decision.always:
            from zkchat_cli.config.toml_editor import edit_toml  # imports tomlkit: 15 ms that only a change needs

            server, tools = self.external.allow(call.name)
            edit_toml(self.loaded.places.config_file, {f"mcp.servers.{server}.always": list(tools)})
        return decision

    @property
    def _message_semantic(self) -> SemanticSearch | None:
        return self.vault.semantic if self.loaded.values.semantic.provider in EMBEDDERS_WITHOUT_SERVER else None

    def message_embedder(self) -> MessageEmbedder | None:
        """What computes the missing vectors of stored messages about this vault; None without a model on this machine."""
        semantic = self._message_semantic
        return MessageEmbedder(self.store, str(self.vault.root), semantic) if semantic else None

    def _runtime(self, loaded: LoadedConfig, using: OpenedModel, agent: Agent | None = None) -> Runtime:
        values, window_origin = loaded.values, loaded.origins.get("context.max_tokens")
        return Runtime(
            model=using.model,
            tools=using.tools,
            strategy=strategies.load_strategy(values.context.strategy),
            settings=values,
            counter=self.counter,
            options=model_options(values),
            instructions=f"{INSTRUCTIONS}\n\n{agent.prompt}" if agent is not None and agent.prompt else INSTRUCTIONS,
            agent=agent,
            can_summarize=using.can_summarize,
            takes_external=using.takes_external and (agent is None or agent.tools is None),
            summarizer=self._open_model(loaded.with_model(values.context.summary_model), agent) if values.context.summary_model else None,
            configured_window=Window(values.context.max_tokens, f"context.max_tokens, {window_origin}") if window_origin else None,
            open_model=lambda name: self._open_model(check(loaded.with_model(name), self.env), agent),
            open_agent=self._open_agent_runtime,
            list_models=lambda: available_models(loaded, self.env),
        )

    def _open_agent_runtime(self, name: str | None, overrides: Mapping[str, object]) -> Runtime:
        """The runtime of an agent (None: without one), with the settings that the user has changed in the chat."""
        agent = open_agent(name, self.loaded.places) if name is not None else None
        loaded = settings(replace(self.choices, overrides=overrides), self.env, self.cwd, agent)
        return self._runtime(loaded, self._open_model(loaded, agent), agent)

    def _open_model(self, loaded: LoadedConfig, agent: Agent | None) -> OpenedModel:
        return open_model(loaded, self.env, agent, unsafe=self.choices.unsafe, similarities=self.vault.similarities)

    def close(self) -> None:
        if self.external is not None:
            self.external.close()
        self.store.close()
        self.vault.close()


def now() -> str:
    """The time, ISO 8601 with zone."""
    return datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")


def new_id() -> str:
    return secrets.token_hex(6)


@cache
def settings_schema() -> type[Config]:
    """The schema of all settings: zkchat's own and the tables of the providers."""
    return config_schema.with_tables({name: providers.provider(name).settings for name in providers.names()})


def open_agent(name: str, where: AppPaths) -> Agent:
    """The user's agent of that name, or the built-in one, checked down to the names of tools and strategies."""
    return check_agent(agents.load_agent(agents.agents_folder(where.config_file), name))


def check_agent(agent: Agent) -> Agent:
    return agents.check_names(agent, tools=[tool.name for tool in tools.load_tools(unsafe=True)], strategies=strategies.strategy_names())


def settings(choices: StartupOptions, env: Mapping[str, str], cwd: Path, agent: Agent | None = None) -> LoadedConfig:
    """All layers, the vault's own and the agent's included, checked down to the names of strategies and providers."""
    agent_layer = agent.settings_layer if agent is not None else ()
    app_paths = paths.app_paths(env, choices.config_file)
    if choices.config_file is not None and not choices.config_file.is_file():
        raise ConfigError(f"there is no settings file {choices.config_file}", "--config names an existing TOML file.")
    loaded = loader.load_config(choices.flags, env, app_paths, schema=settings_schema(), agent=agent_layer)
    folder = vault_folder(loaded, cwd)
    if folder is not None:
        loaded = loader.load_config(choices.flags, env, app_paths, folder, settings_schema(), agent_layer)
    return check(loaded, env)


def save_setting(key: str, value: str, where: AppPaths) -> object:
    """Set a key in the user's settings file; returns the value as it is stored. Raises ConfigError without changing the file."""
    from zkchat_cli.config.toml_editor import edit_toml  # imports tomlkit: 15 ms that only a change needs

    stored = loader.flatten(check(loader.load_config({key: value}, {}, where, schema=settings_schema())).values)[key]
    edit_toml(where.config_file, {key: stored})
    return stored


def check(loaded: LoadedConfig, env: Mapping[str, str] = MappingProxyType({})) -> LoadedConfig:
    """The settings with the provider of a model named without one. Raises ConfigError for unknown strategies, providers and embedders:
    they are checked here because config does not know the registries."""
    strategy = loaded.values.context.strategy
    if strategy not in strategies.strategy_names():
        raise loaded.invalid_value("context.strategy", strategy, " or ".join(strategies.strategy_names()))
    model = _full_model_name(loaded, "model", loaded.values.model, env)
    summary_model = loaded.values.context.summary_model
    if summary_model:
        summary_model = _full_model_name(loaded, "context.summary_model", summary_model, env)
    if (model, summary_model) != (loaded.values.model, loaded.values.context.summary_model):
        context = loaded.values.context.model_copy(update={"summary_model": summary_model})
        loaded = replace(loaded, values=loaded.values.model_copy(update={"model": model, "context": context}))
    embedder = loaded.values.semantic.provider
    if embedder not in (NO_EMBEDDER, *embedders.names()):
        raise loaded.invalid_value("semantic.provider", embedder, " or ".join((NO_EMBEDDER, *embedders.names())))
    return loaded


def _full_model_name(loaded: LoadedConfig, key: str, model: str, env: Mapping[str, str]) -> str:
    """The name of a model, the value of a setting, with its provider. Raises ConfigError if that cannot be told."""
    if model.partition("/")[0] in providers.names():
        return model
    candidates = _complete_model_name(loaded, model, env)
    if len(candidates) != 1:
        raise _unknown_model(loaded.origins.get(key, "defaults"), model, candidates)
    return candidates[0]


def _complete_model_name(loaded: LoadedConfig, model: str, env: Mapping[str, str]) -> list[str]:
    """The full names that a model without its provider may mean: Ollama has open models, and so may a compatible server."""
    family = next((provider for prefix, provider in MODEL_FAMILIES.items() if model.lower().startswith(prefix)), None)
    if family is None or "/" in model:
        return []
    has_server = family == "ollama" and (env.get("OPENAI_BASE_URL") or "openai.base_url" in loaded.origins)
    return [f"{provider}/{model}" for provider in (family, *(("openai",) if has_server else ()))]


def _unknown_model(origin: str, model: str, candidates: Sequence[str]) -> ConfigError:
    """An error that suggests these names, or the provider with the nearest name."""
    provider, _, name = model.partition("/")
    near = difflib.get_close_matches(provider, providers.names(), 1)
    suggestion = " or ".join(candidates) or ("/".join(filter(None, (near[0], name))) if near else "")
    hint = f"Did you mean {suggestion}? " if suggestion else ""
    return ConfigError(
        f"{origin}: unknown model {model[:100]!r}",
        f"{hint}Models are named PROVIDER or PROVIDER/NAME; the providers are {', '.join(providers.names())}.",
    )


def vault_folder(loaded: LoadedConfig, cwd: Path) -> Path | None:
    """The folder of notes that the settings name, else the current one if it holds notes; None when nothing says which."""
    if loaded.values.vault.path:
        return Path(loaded.values.vault.path).expanduser()
    return cwd if holds_notes(cwd) else None


def vault_root(loaded: LoadedConfig, cwd: Path) -> str | None:
    """The real path of the vault's folder, as conversations have it; None when none is named."""
    folder = vault_folder(loaded, cwd)
    return None if folder is None else str(folder.resolve())


def no_vault_error(cwd: Path) -> VaultError:
    return VaultError(
        f"no vault: {cwd} has no Markdown files, and no vault is set",
        "Use --vault DIR, ZKCHAT_VAULT, `zkchat config set vault.path DIR`, a folder of .md files, or --demo.",
    )


def open_vault(loaded: LoadedConfig, env: Mapping[str, str], cwd: Path) -> Vault:
    """The vault that the settings name, not scanned yet. Raises VaultError."""
    folder = vault_folder(loaded, cwd)
    if folder is None:
        raise no_vault_error(cwd)
    return Vault.open(folder, loaded.places.cache_dir, ignore=loaded.values.vault.ignore, embedder=open_embedder(loaded, env))


def open_embedder(loaded: LoadedConfig, env: Mapping[str, str]) -> Embedder | None:
    """The embedder that the settings name, if any; nothing is contacted or loaded until the first text."""
    wanted = loaded.values.semantic
    if wanted.provider == NO_EMBEDDER:
        return None
    key = credentials.find_key("openai", "OPENAI_API_KEY", env, loaded.places) if wanted.provider == "openai" else ApiKey()
    insecure = getattr(getattr(loaded.values, wanted.provider, None), "allow_insecure", False)
    places = loaded.places
    return embedders.embedder(wanted.provider).open(
        base.EmbedderConfig(wanted.model, wanted.path, places.models_dir, env, key, insecure, places.cache_dir)
    )


def open_model(
    loaded: LoadedConfig,
    env: Mapping[str, str],
    agent: Agent | None = None,
    *,
    unsafe: bool = False,
    similarities: Similarities | None = None,
) -> OpenedModel:
    """The model that the settings name, with the tools that it can call and the agent may call; tools that write only with `unsafe`.

    `similarities` compares texts by meaning, for a model that can use it. Nothing is contacted or loaded yet.
    """
    name, _, model = loaded.values.model.partition("/")
    provider = providers.provider(name)
    known = [tool for tool in tools.load_tools(unsafe=unsafe) if tool.scope != "memory" or loaded.values.context.memory_integration]
    known = [tool for tool in known if agent is None or agent.tools is None or tool.name in agent.tools]
    callable_ = tuple(tool for tool in known if provider.tools is None or tool.name in provider.tools)
    opened = provider.open(replace(model_config(provider, loaded, env, model), similarities=similarities))
    return OpenedModel(opened, callable_, provider.summarizes, takes_external=provider.tools is None)


def available_models(
    loaded: LoadedConfig, env: Mapping[str, str], seconds: float | None = None, also: Mapping[str, ServerInfo] | None = None
) -> tuple[AvailableModels, ...]:
    """The models of each server that the user has configured, or that may run on this machine; all are asked in parallel.

    `also` are further servers to ask. A server that takes longer than `seconds` is not waited for, not even when the program ends.
    """
    reached = {name: server for name in providers.names() if (server := server_info(name, loaded, env)) is not None}
    asked = {name: server for name, server in reached.items() if server.configured_by or is_local(server.address)}
    asked |= also or {}
    answers: dict[str, AvailableModels] = {}
    for name, server in asked.items():
        late = f"{mask_address(server.address)} did not answer in time" if server.configured_by else ""
        answers[name] = AvailableModels(name, problem=late)  # until it answers

    def ask(name: str, server: ServerInfo) -> None:
        try:
            answers[name] = AvailableModels(name, tuple(f"{name}/{listed.name}" for listed in server.list_models()))
        except ZkchatError as e:
            answers[name] = AvailableModels(name, problem=e.message if server.configured_by else "")

    asking = [threading.Thread(target=ask, args=each, daemon=True) for each in asked.items()]
    until = None if seconds is None else time.monotonic() + seconds
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))
    return (AvailableModels("offline", ("offline",)), *answers.values())


def llama_cpp_server(env: Mapping[str, str]) -> ServerInfo:
    """The llama.cpp server of this machine, where it listens by default or LLAMA_ARG_PORT says. It gets no key."""
    provider = providers.provider("openai")
    address = f"http://127.0.0.1:{env.get('LLAMA_ARG_PORT', '').strip() or 8080}/v1"
    config = ModelConfig(settings=provider.settings.model_validate({"base_url": address}))
    assert provider.server_info is not None
    return provider.server_info(config)


def server_info(name: str, loaded: LoadedConfig, env: Mapping[str, str]) -> ServerInfo | None:
    """Address and key of a provider's server; None for a provider without one."""
    provider = providers.provider(name)
    return provider.server_info(model_config(provider, loaded, env)) if provider.server_info is not None else None


def model_config(provider: Provider, loaded: LoadedConfig, env: Mapping[str, str], model: str = "") -> ModelConfig:
    """The part of the settings that a provider gets: its own table."""
    own = getattr(loaded.values, provider.name, provider.settings())
    variable = getattr(own, "key_variable", "")
    return ModelConfig(model, own, env, credentials.find_key(provider.name, variable, env, loaded.places) if variable else ApiKey())


def key_variables(env: Mapping[str, str]) -> dict[str, str]:
    """The environment variable of each provider's key."""
    tables = {name: table for name in providers.names() if "key_variable" in (table := providers.provider(name).settings).model_fields}
    values = loader.load_config({}, env, paths.app_paths(env), schema=settings_schema()).values
    return {name: getattr(values, name).key_variable for name in tables}


def other_address(name: str, env: Mapping[str, str]) -> str:
    """The address of a provider's server if the user has configured another than the provider's own; else empty."""
    loaded = loader.load_config({}, env, paths.app_paths(env), schema=settings_schema())
    provider = providers.provider(name)
    assert provider.server_info is not None
    found, own = provider.server_info(model_config(provider, loaded, env)), provider.server_info(ModelConfig())
    return found.address if found.address != own.address else ""


def _open_store(file: Path, choices: StartupOptions) -> tuple[ChatSessionStore, StoreUnwritable | None]:
    """The store of an App, and why it is only in memory where it should not be."""
    if not choices.store:
        return ChatSessionStore.open(None), None
    try:
        return ChatSessionStore.open(file) if choices.store_later else ChatSessionStore.open_to_read(file), None
    except StoreUnwritable as e:
        if not choices.store_later:
            raise
        return ChatSessionStore.open(None), e


def open_app(choices: StartupOptions, env: Mapping[str, str], cwd: Path) -> App:
    """Open everything a session needs. Raises the ZkchatError of whatever cannot be opened, and leaves nothing open.

    With an agent, the model is the agent's; the settings' own model need not exist then.
    """
    name = choices.agent
    agent = open_agent(name, paths.app_paths(env, choices.config_file)) if name is not None and name != agents.NO_AGENT else None
    loaded = settings(choices, env, cwd, agent)
    with ExitStack() as opened:
        vault = open_vault(loaded, env, cwd)
        opened.callback(vault.close)
        using = open_model(loaded, env, agent, unsafe=choices.unsafe, similarities=vault.similarities)
        store, unstored = _open_store(loaded.places.store_file, choices)
        opened.pop_all()
        external = open_servers(loaded)
    return App(loaded, vault, store, env, using, choices, cwd, unstored, external=external)


def open_servers(loaded: LoadedConfig) -> "McpServers | None":
    """The MCP servers in the settings, not started yet; None if there are none."""
    if not loaded.values.mcp.servers:
        return None
    from zkchat_cli.mcp_client.servers import McpServers

    return McpServers(loaded.values.mcp.servers)
