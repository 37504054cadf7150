"""The composition root: opens the vault, the store, the models and the servers that the settings
name, and makes sessions of them.
"""

import secrets
import time
from collections.abc import Callable, Container, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat_cli import tools
from zkchat_cli.agents import loader as agents
from zkchat_cli.app.allowed_tools import AllowedTools
from zkchat_cli.app.embedder_choice import Embedders, open_embedders
from zkchat_cli.app.model_servers import available_models, model_config
from zkchat_cli.app.settings import (
    NO_EMBEDDER,
    StartupOptions,
    check_settings,
    load_settings,
    open_agent,
    required_vault_folder,
)
from zkchat_cli.app.stores import open_chat_store
from zkchat_cli.chat.cost_guard import CostGuard
from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.chat.message_vectors import MessageEmbedder
from zkchat_cli.chat.runtime import (
    OpenedModel,
    Runtime,
    SessionServices,
    model_options,
)
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.chat.turn_recorder import waiting_notices
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.context import strategies
from zkchat_cli.context.instructions import INSTRUCTIONS
from zkchat_cli.errors import ConfigError, StoreUnwritable, ZkchatError
from zkchat_cli.events import Notice
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import Window
from zkchat_cli.llm.model_reports import ModelReports
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.notes import Similarities
from zkchat_cli.paths import app_paths
from zkchat_cli.references.summary_cache import SummaryCache
from zkchat_cli.store.port import SessionStore
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import Tool
from zkchat_cli.vault.edit.approval import (
    ALLOWED,
    LONGEST_CALL,
    UNASKED,
    UNASKED_CALL,
    UNSHOWN_CALL,
    Approve,
    Decision,
)
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.vault import Vault
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

if TYPE_CHECKING:
    from zkchat_cli.mcp_client.servers import McpServers


@dataclass(frozen=True, slots=True)
class App:
    """The opened vault, store and model; `session` makes a session of them. Close it when done."""

    loaded: LoadedConfig
    vault: Vault
    store: SessionStore
    opened_model: OpenedModel
    options: StartupOptions = field(default_factory=StartupOptions)
    # Why conversations are kept in memory although they should be stored
    store_problem: StoreUnwritable | None = None
    counter: TokenCounter = field(default_factory=TokenCounter)
    # Approves changes of notes; without it none is made
    approve: Approve | None = None
    approve_call: Callable[[ToolCall], Decision] | None = None
    # Asks before a turn that costs more than `chat.max_cost`
    approve_cost: Callable[[str], bool] | None = None
    """Approves calls of other programs' tools; without it none is made, except those that the user
    always allows.
    """
    external: "McpServers | None" = None
    # Tools that are called without asking; None if there are no servers
    allowed_tools: AllowedTools | None = None

    def find(self, id_: str | None) -> Conversation:
        """The stored conversation with that id or unique prefix; for None the vault's latest.
        Raises StoreError.
        """
        return self.store.find(id_, str(self.vault.root))

    @property
    def has_conversations(self) -> bool:
        """Whether a conversation about the notes of this vault is stored. Raises StoreError."""
        return bool(self.store.conversations(str(self.vault.root), 1))

    def session(self, conversation: Conversation | None = None) -> ZkChatSession:
        """A session on a stored conversation, with the agent of that, or on a new one. The agent
        that --agent names counts more.
        """
        folder = self.loaded.paths.agents_folder
        services = SessionServices(
            vault=self.vault,
            store=self.store,
            now=now,
            clock=time.monotonic,
            new_id=new_id,
            approve=self.approve or (lambda _: UNASKED),
            approve_call=self._approve_call,
            external=self.external,
            working_folder=self.loaded.cwd,
            agent_names=lambda: agents.list_names(folder),
            agents_folder=folder,
            semantic=self._message_semantic,
            documents_folder=self.loaded.paths.data_dir / "documents",
            summary_cache=self._summary_cache(),
            faults=FaultGuard(self._start_log),
            costs=CostGuard(self.approve_cost),
        )
        session = ZkChatSession(
            services, self._runtime(self.loaded, self.opened_model), conversation
        )
        if self.options.agent is not None:
            session.runtimes.use_agent(self.options.agent)
        return session

    def _summary_cache(self) -> SummaryCache:
        """The summaries of notes that a model has written, in memory if nothing may be stored."""
        return SummaryCache(self.vault.summaries_file if self.options.store else None)

    def _start_log(self) -> Path | None:
        """Begin the log file, unless nothing may be stored or written."""
        if not self.options.store:
            return None
        # Only a fault needs it; it takes some milliseconds
        from zkchat_cli.logging_setup import start_logging

        with suppress(ZkchatError):
            return start_logging(self.loaded.env, only_errors=True)
        return None

    def _approve_call(self, call: ToolCall) -> Decision:
        """Ask whether to call a tool, unless the settings always allow it. The answer "always" is
        saved in the settings.
        """
        server, _, tool = call.name.partition(".")
        if self.external is None or self.allowed_tools is None:
            return ALLOWED
        if self.allowed_tools.includes(server, tool):
            return ALLOWED
        if self.approve_call is None:
            return UNASKED_CALL
        if len(call.arguments_text) > LONGEST_CALL:
            return UNSHOWN_CALL
        decision = self.approve_call(call)
        if decision.always:
            try:
                self.allowed_tools.add(server, tool)
            except ConfigError as e:
                self.external.add_problem(
                    server, f"the answer “always” holds for this chat only: {e.message}"
                )
        return decision

    def warnings(self, session: ZkChatSession) -> list[Notice]:
        """Ways in which a session differs from what its user expects."""
        found: list[Notice] = []
        if self.options.unsafe and not any(tool.writes for tool in session.runtime.tools):
            useless = (
                f"--unsafe has no effect: {session.runtime.speaker_label} has no tools that write"
            )
            found.append(Notice(useless, "choose another model or agent"))
        if self.store_problem is not None:
            problem = f"this chat is not stored: {self.store_problem.message}"
            found.append(Notice(problem, self.store_problem.hint))
        found += waiting_notices(self.store)
        tokenizer = self.counter.problem
        if tokenizer is not None:
            found.append(Notice(tokenizer.warning, tokenizer.hint))
        vault = session.conversation.vault
        if replace_surrogates(vault) != replace_surrogates(str(self.vault.root)):
            back = f"zkchat chat --vault {vault!r} --resume {session.conversation.id}"
            found.append(
                Notice(
                    f"this conversation began with other notes, {vault}",
                    f"Answers come from {self.vault.root}. If that is wrong: {back}",
                )
            )
        return found

    @property
    def _message_semantic(self) -> SemanticSearch | None:
        """The search by meaning, if its model runs on this machine and so may get conversations. A
        server gets only notes: its user has named it for those.
        """
        name = self.loaded.values.semantic.provider
        if name == NO_EMBEDDER or not embedders.embedder(name).is_on_this_machine:
            return None
        return self.vault.main_semantic

    def message_embedder(self) -> MessageEmbedder | None:
        """The worker that computes missing vectors of this vault's stored messages; None without a
        model on this machine.
        """
        semantic = self._message_semantic
        return MessageEmbedder(self.store, str(self.vault.root), semantic) if semantic else None

    def _runtime(
        self, loaded: LoadedConfig, opened: OpenedModel, agent: agents.Agent | None = None
    ) -> Runtime:
        values = loaded.values
        instructions = INSTRUCTIONS
        if agent is not None and agent.prompt:
            instructions = f"{INSTRUCTIONS}\n\n{agent.prompt}"
        summarizer = None
        if values.context.summary_model:
            named = loaded.with_model(values.context.summary_model)
            summarizer = self._open_model(named, agent).model
        return Runtime(
            model=opened.model,
            tools=opened.tools,
            strategy=strategies.strategy(values.context.strategy),
            settings=values,
            counter=self.counter,
            options=model_options(values),
            instructions=instructions,
            agent=agent,
            summarizer=summarizer,
            configured_window=_configured_window(loaded),
            open_model=lambda name: self._open_model(
                check_settings(loaded.with_model(name)), agent
            ),
            open_agent=self._open_agent_runtime,
            list_models=lambda: available_models(loaded),
        )

    def _open_agent_runtime(self, name: str | None, overrides: Mapping[str, object]) -> Runtime:
        """The runtime of an agent (None: without one), with the settings that the user has changed
        in the chat.
        """
        agent = open_agent(name, self.loaded.paths) if name is not None else None
        loaded = load_settings(
            self.options._replace(overrides=overrides), self.loaded.env, self.loaded.cwd, agent
        )
        return self._runtime(loaded, self._open_model(loaded, agent), agent)

    def _open_model(self, loaded: LoadedConfig, agent: agents.Agent | None) -> OpenedModel:
        return open_model(
            loaded,
            agent,
            unsafe=self.options.unsafe,
            similarities=self.vault.similarities,
            reports=_model_reports(loaded, self.options),
        )

    def close(self) -> None:
        """Stop the servers of tools, and close the store and the vault."""
        if self.external is not None:
            self.external.close()
        self.store.close()
        self.vault.close()


def _configured_window(loaded: LoadedConfig) -> Window | None:
    """The size of the model's window, if a setting says it."""
    origin = loaded.origins.get("context.max_tokens")
    if not origin:
        return None
    return Window(loaded.values.context.max_tokens, f"context.max_tokens, {origin}")


def _model_reports(loaded: LoadedConfig, options: StartupOptions) -> ModelReports:
    """What servers said about their models; with --no-store nothing new is kept."""
    return ModelReports(loaded.paths.model_reports_file, read_only=not options.store)


def now() -> str:
    """The time, ISO 8601 with zone."""
    return datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")


def new_id() -> str:
    """A new id for a conversation or a message: 12 hexadecimal digits."""
    return secrets.token_hex(6)


def open_vault(
    loaded: LoadedConfig, view: VaultView = WHOLE_VAULT, shared: Embedders | None = None
) -> Vault:
    """The vault that the settings name, or the part of it in a `view`, not scanned yet; with
    embedders of its own, or with those that it shares with other vaults. Raises VaultError.
    """
    settings = loaded.values.vault
    opened = shared or open_embedders(loaded)
    return Vault.open(
        required_vault_folder(loaded),
        loaded.paths.cache_dir,
        ignore=settings.ignore,
        daily_format=settings.daily_format,
        embedder=opened.main,
        languages_embedder=opened.languages,
        view=view,
    )


def open_app(options: StartupOptions, env: Mapping[str, str], cwd: Path) -> App:
    """Open everything a session needs. Raises the ZkchatError of whatever cannot be opened, and
    leaves nothing open. With an agent, the model is the agent's, and the settings' own need not
    exist.
    """
    agent = None
    if options.agent not in (None, agents.NO_AGENT):
        agent = open_agent(options.agent, app_paths(env, options.config_file))
    loaded = load_settings(options, env, cwd, agent)
    with ExitStack() as resources:
        vault = open_vault(loaded)
        resources.callback(vault.close)
        model = open_model(
            loaded,
            agent,
            unsafe=options.unsafe,
            similarities=vault.similarities,
            reports=_model_reports(loaded, options),
        )
        store, store_problem = open_chat_store(
            loaded, stored=options.store, later=options.store_later
        )
        resources.pop_all()
    return App(
        loaded,
        vault,
        store,
        model,
        options,
        store_problem,
        external=open_servers(loaded),
        allowed_tools=AllowedTools(loaded),
    )


def open_servers(loaded: LoadedConfig) -> "McpServers | None":
    """The MCP servers in the settings, not started yet; None if there are none."""
    if not loaded.values.mcp.servers:
        return None
    from zkchat_cli.mcp_client.servers import McpServers

    return McpServers(loaded.values.mcp.servers)


def open_model(
    loaded: LoadedConfig,
    agent: agents.Agent | None = None,
    *,
    unsafe: bool = False,
    similarities: Similarities | None = None,
    reports: ModelReports | None = None,
) -> OpenedModel:
    """The model that the settings name, with the tools that it can call and the agent may call;
    tools that write only with `unsafe`.

    `similarities` compares texts by meaning, for a model that can use it; `reports` are what
    servers said about their models. Nothing is contacted or loaded yet.
    """
    name, _, model = loaded.values.model.partition("/")
    provider = providers.provider(name)
    config = model_config(provider, loaded, model)._replace(
        similarities=similarities, reports=reports or ModelReports()
    )
    opened = provider.open(config)
    known = tools.load_tools(unsafe=unsafe)
    if not loaded.values.context.memory_integration:
        known = [tool for tool in known if tool.scope != "memory"]
    if agent is not None:
        known = _only_named(known, agent.tools)
    return OpenedModel(opened, tuple(_only_named(known, opened.only_tools)))


def _only_named(known: list[Tool], names: Container[str] | None) -> list[Tool]:
    """The tools with these names; all if there are no names."""
    if names is None:
        return known
    return [tool for tool in known if tool.name in names]
