"""From settings to a working session: the only place that constructs things, and that knows which flag means which setting."""

import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from zkchat_cli import config, keys, settling, tools
from zkchat_cli.agents import loading as agents
from zkchat_cli.agents.profile import Agent
from zkchat_cli.changing import UNASKED, Approve, Policy
from zkchat_cli.config import Config, Loaded, Places
from zkchat_cli.context import strategies
from zkchat_cli.context.instructions import INSTRUCTIONS
from zkchat_cli.errors import ConfigError, StoreUnwritable, VaultError, ZkchatError, reason
from zkchat_cli.keys import Key
from zkchat_cli.llm import Model, Provider, Reach, Setup, Window, embedders, providers
from zkchat_cli.llm.endpoint import is_local, shown
from zkchat_cli.models import Conversation
from zkchat_cli.parts import Offered, Parts, Using
from zkchat_cli.session import ZkChatSession
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.vault import Vault
from zkchat_cli.vault.scratch import Kept, kept
from zkchat_cli.vault.vectors import Embedder

MARKDOWN = ("*.md", "*.markdown", "*/*.md")
NO_EMBEDDER = "none"


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line chose; what is None is left to the other layers."""

    vault: Path | None = None
    model: str | None = None
    config_file: Path | None = None
    strategy: str | None = None
    max_context: int | None = None
    store: bool = True
    agent: str | None = None
    settled: Mapping[str, object] = field(default_factory=dict)
    """Settings that were changed in the chat, by their keys."""
    unsafe: bool = False
    """Whether the model may propose changes of notes."""
    store_later: bool = False
    """Whether a store that may not be written is no reason to stop: conversations are in memory then."""

    @property
    def flags(self) -> dict[str, object]:
        named = {
            "vault.path": str(self.vault) if self.vault is not None else None,
            "model": self.model,
            "context.strategy": self.strategy,
            "context.max_tokens": self.max_context,
        }
        return {**{key: value for key, value in named.items() if value is not None}, **self.settled}


@dataclass(frozen=True, slots=True)
class Bench:
    """The opened things a session is made of; `session` makes one. Close it when done."""

    loaded: Loaded
    vault: Vault
    store: ChatSessionStore
    env: Mapping[str, str]
    using: Using
    choices: Choices = field(default_factory=Choices)
    cwd: Path = field(default_factory=Path.cwd)
    unstored: StoreUnwritable | None = None
    """Why nothing is stored, where something should be."""
    counter: TokenCounter = field(default_factory=TokenCounter)
    approve: Approve | None = None
    """Who says whether a change of notes is made; None: nobody, and it is not."""
    cache: Kept | None = None
    """Where the index is kept."""

    @property
    def model(self) -> Model:
        return self.using.model

    def find(self, id_: str | None) -> Conversation:
        """The stored conversation of that id or unique beginning of it; for None the vault's latest. Raises StoreError."""
        return self.store.find(id_, str(self.vault.root))

    def session(self, conversation: Conversation | None = None) -> ZkChatSession:
        """A session on a stored conversation, which goes on with its agent, or a new one; with the agent that was chosen, if one was."""
        session = ZkChatSession(self._parts(self.loaded, self.using), conversation)
        if self.choices.agent is not None:
            session.become(self.choices.agent)
        return session

    def _parts(self, loaded: Loaded, using: Using, agent: Agent | None = None) -> Parts:
        settings = loaded.values
        return Parts(
            vault=self.vault,
            store=self.store,
            model=using.model,
            strategy=strategies.strategy(settings.context.strategy),
            tools=using.tools,
            settings=settings,
            max_context=settings.context.max_tokens,
            window=_window_set(loaded),
            options=settling.options(settings),
            use=lambda name: open_model(check(loaded.with_model(name)), self.env, agent, unsafe=self.choices.unsafe),
            changing=Policy(self.approve or (lambda _: UNASKED), settings.vault.git),
            offers=lambda: offers(loaded, self.env),
            describes=_is_language_model,
            summarizes=_summarizes,
            counter=self.counter,
            now=now,
            clock=time.monotonic,
            new_id=new_id,
            folder=_current_folder(),
            instructions=f"{INSTRUCTIONS}\n\n{agent.prompt}" if agent is not None and agent.prompt else INSTRUCTIONS,
            agent=agent,
            become=self._led_by,
            agents=lambda: agents.names(agents.folder(loaded.places.config_file)),
        )

    def _led_by(self, name: str | None, settled: Mapping[str, object]) -> Parts:
        """The parts of a conversation that this agent leads (None: none does), with what the user has changed in the chat."""
        agent = open_agent(name, self.loaded.places) if name is not None else None
        loaded = settings(replace(self.choices, settled=settled), self.env, self.cwd, agent)
        return self._parts(loaded, open_model(loaded, self.env, agent, unsafe=self.choices.unsafe), agent)

    def close(self) -> None:
        self.store.close()
        self.vault.close()
        if self.cache is not None:
            self.cache.close()


def _current_folder() -> Path | None:
    """None for one that was deleted under the program."""
    try:
        return Path.cwd()
    except OSError:
        return None


def now() -> str:
    """The present, ISO 8601 with zone."""
    return datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")


def new_id() -> str:
    return secrets.token_hex(6)


@cache
def schema() -> type[Config]:
    """All settings: zkchat's own and the tables that providers declare."""
    return config.with_tables({name: providers.provider(name).settings for name in providers.names()})


def open_agent(name: str, where: Places) -> Agent:
    """The user's agent of that name, or the built-in one, checked down to the names of tools and strategies."""
    return check_agent(agents.load(agents.folder(where.config_file), name))


def check_agent(agent: Agent) -> Agent:
    return agents.check(agent, tools=[tool.name for tool in tools.tools(unsafe=True)], strategies=strategies.names())


def settings(choices: Choices, env: Mapping[str, str], cwd: Path, agent: Agent | None = None) -> Loaded:
    """All layers, the vault's own and the agent's included, checked down to the names of strategies and providers."""
    told = agent.settings if agent is not None else ()
    where = config.places(env, choices.config_file)
    if choices.config_file is not None and not choices.config_file.is_file():
        raise ConfigError(f"there is no settings file {choices.config_file}", "--config names an existing TOML file.")
    loaded = config.load(choices.flags, env, where, schema=schema(), agent=told)
    folder = vault_folder(loaded, cwd)
    if folder is not None:
        loaded = config.load(choices.flags, env, where, folder, schema(), told)
    return check(loaded)


def check(loaded: Loaded) -> Loaded:
    """Refuse names that no drawer holds: a strategy, a provider, an embedder. They are checked here because config knows no drawers."""
    strategy = loaded.values.context.strategy
    if strategy not in strategies.names():
        raise loaded.problem("context.strategy", strategy, " or ".join(strategies.names()))
    name = loaded.values.model.partition("/")[0]
    if name not in providers.names():
        valid = f"PROVIDER or PROVIDER/NAME with a provider of: {', '.join(providers.names())}"
        raise loaded.problem("model", loaded.values.model, valid, "zkchat doctor says what each provider is.")
    _refuse_to_send(loaded)
    embedder = loaded.values.semantic.provider
    if embedder not in (NO_EMBEDDER, *embedders.names()):
        raise loaded.problem("semantic.provider", embedder, " or ".join((NO_EMBEDDER, *embedders.names())))
    return loaded


def _refuse_to_send(loaded: Loaded) -> None:
    """Whoever shares a vault must not decide where another person's notes and questions are sent: its own file names no server."""
    sent_by = [name for name in providers.names() if providers.provider(name).reach is not None]
    chosen = loaded.values.model.partition("/")[0]
    wrong = [key for key in loaded.origins if loaded.is_vaults_own(key) and (key.partition(".")[0] in sent_by)]
    wrong += ["model"] if loaded.is_vaults_own("model") and chosen in sent_by else []
    if wrong:
        hint = f"Take {wrong[0]} out of it; your own file may have it: zkchat config set {wrong[0]} …"
        raise ConfigError(f"{loaded.origins[wrong[0]]}: a vault's own file cannot say where notes are sent ({wrong[0]})", hint)


def _window_set(loaded: Loaded) -> Window | None:
    """The context window that somebody set, with who did."""
    origin = loaded.origins.get("context.max_tokens")
    return Window(loaded.values.context.max_tokens, f"context.max_tokens, {origin}") if origin else None


def vault_folder(loaded: Loaded, cwd: Path) -> Path | None:
    """The folder of notes that the settings name, else the current one if it holds notes; None when nothing says which."""
    if loaded.values.vault.path:
        return Path(loaded.values.vault.path).expanduser()
    return cwd if any(next(cwd.glob(pattern), None) for pattern in MARKDOWN) else None


def vault_root(loaded: Loaded, cwd: Path) -> str | None:
    """The real path of the vault's folder, as conversations have it; None when none is named."""
    folder = vault_folder(loaded, cwd)
    return None if folder is None else str(folder.resolve())


def no_vault(cwd: Path) -> VaultError:
    """None is named, and where we are is none."""
    return VaultError(
        f"no vault: {cwd} holds no Markdown files, and none is named",
        "Name one by --vault DIR, ZKCHAT_VAULT, or `zkchat config set vault.path DIR`; or start in a folder with .md files. "
        "`zkchat chat --demo` brings its own.",
    )


def open_vault(loaded: Loaded, env: Mapping[str, str], cwd: Path, cache_dir: Path | None = None) -> Vault:
    """The vault the settings name, not scanned yet; its index in `cache_dir`, else where it always is. Raises VaultError where there is
    none."""
    folder = vault_folder(loaded, cwd)
    if folder is None:
        raise no_vault(cwd)
    return Vault.open(folder, cache_dir or loaded.places.cache_dir, ignore=loaded.values.vault.ignore, embedder=open_embedder(loaded, env))


def open_embedder(loaded: Loaded, env: Mapping[str, str]) -> Embedder | None:
    """What computes vectors, if the settings name something; nothing is contacted or loaded until the first text."""
    wanted = loaded.values.semantic
    if wanted.provider == NO_EMBEDDER:
        return None
    kept = keys.find("openai", "OPENAI_API_KEY", env, loaded.places) if wanted.provider == "openai" else Key()
    return embedders.embedder(wanted.provider).open(embedders.Wanted(wanted.model, wanted.path, env, kept))


def open_model(loaded: Loaded, env: Mapping[str, str], agent: Agent | None = None, *, unsafe: bool = False) -> Using:
    """The model the settings name, and the tools that it can, and the agent may, call: those that change notes only with `unsafe`.

    Nothing is contacted or loaded yet.
    """
    name, _, model = loaded.values.model.partition("/")
    provider = providers.provider(name)
    known = [tool for tool in tools.tools(unsafe=unsafe) if tool.of != "memory" or loaded.values.context.memory_integration]
    known = [tool for tool in known if agent is None or agent.tools is None or tool.name in agent.tools]
    callable_ = tuple(tool for tool in known if provider.tools is None or tool.name in provider.tools)
    return Using(provider.open(setup(provider, loaded, env, model)), callable_)


def offers(loaded: Loaded, env: Mapping[str, str], seconds: float | None = None) -> tuple[Offered, ...]:
    """The models of each server that the user has chosen, or that may run on this machine; all are asked at once.

    One that takes longer than so many `seconds` is not waited for, not even by the program's end.
    """
    reached = {name: reach for name in providers.names() if (reach := reach_of(name, loaded, env)) is not None}
    asked = {name: reach for name, reach in reached.items() if reach.chosen or is_local(reach.address)}
    answers: dict[str, Offered] = {}

    def ask(name: str, reach: Reach) -> None:
        answers[name] = _offered(name, reach)

    asking = [threading.Thread(target=ask, args=each, daemon=True) for each in asked.items()]
    until = None if seconds is None else time.monotonic() + seconds
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))
    return (Offered("offline", ("offline",)), *(answers.get(name) or _late(name, reach) for name, reach in asked.items()))


def _late(name: str, reach: Reach) -> Offered:
    return Offered(name, problem=f"{shown(reach.address)} did not answer in time" if reach.chosen else "")


def _offered(name: str, reach: Reach) -> Offered:
    try:
        return Offered(name, tuple(f"{name}/{listed.name}" for listed in reach.models()))
    except ZkchatError as e:
        return Offered(name, problem=e.message if reach.chosen else "")


def _is_language_model(name: str) -> bool:
    """Whether a model is behind a server: the offline provider quotes as the notes' own summaries do, a script has no words for it."""
    return providers.provider(name.partition("/")[0]).reach is not None


def _summarizes(name: str) -> bool:
    return providers.provider(name.partition("/")[0]).summarizes


def reach_of(name: str, loaded: Loaded, env: Mapping[str, str]) -> Reach | None:
    """How a provider's server is reached; None for one without a server."""
    provider = providers.provider(name)
    return provider.reach(setup(provider, loaded, env)) if provider.reach is not None else None


def setup(provider: Provider, loaded: Loaded, env: Mapping[str, str], model: str = "") -> Setup:
    """What a provider gets of the settings: its own table."""
    own = getattr(loaded.values, provider.name, provider.settings())
    variable = getattr(own, "key_variable", "")
    return Setup(model, own, env, keys.find(provider.name, variable, env, loaded.places) if variable else Key())


def key_variables(env: Mapping[str, str]) -> dict[str, str]:
    """The providers that take a key, each with the environment variable that holds it; where settings are wrong, the usual one."""
    tables = {name: table for name in providers.names() if "key_variable" in (table := providers.provider(name).settings).model_fields}
    try:
        values = config.load({}, env, config.places(env), schema=schema()).values
    except ConfigError:
        values = schema()()
    return {name: getattr(values, name).key_variable for name in tables}


def open_store(loaded: Loaded, *, keep: bool = True) -> ChatSessionStore:
    """The user's conversations, if only to read them where they may not be written; with `keep` false, a store in memory that leaves no
    trace on disk."""
    return ChatSessionStore.open_to_read(loaded.places.store_file) if keep else ChatSessionStore.open(None)


def _conversations(loaded: Loaded, choices: Choices) -> tuple[ChatSessionStore, StoreUnwritable | None]:
    """The store of a bench, and why it is only in memory where it should not be."""
    if not choices.store or not choices.store_later:
        return open_store(loaded, keep=choices.store), None
    try:
        return ChatSessionStore.open(loaded.places.store_file), None
    except StoreUnwritable as e:
        return open_store(loaded, keep=False), e


def open_bench(choices: Choices, env: Mapping[str, str], cwd: Path) -> Bench:
    """Everything a session needs. Raises the ZkchatError of whatever cannot be opened, with nothing left open.

    The model is the agent's where one was chosen: the settings' own need not be there then.
    """
    name = choices.agent
    agent = open_agent(name, config.places(env, choices.config_file)) if name is not None and name != agents.NONE else None
    loaded = settings(choices, env, cwd, agent)
    using = open_model(loaded, env, agent, unsafe=choices.unsafe)
    with ExitStack() as opened:
        cache = kept(loaded.places.cache_dir)
        opened.callback(cache.close)
        vault = open_vault(loaded, env, cwd, cache.place)
        opened.callback(vault.close)
        store, unstored = _conversations(loaded, choices)
        opened.pop_all()
    return Bench(loaded, vault, store, env, using, choices, cwd, unstored, cache=cache)


def demo_folder(where: Places) -> Path:
    """Where the copy of the built-in notes is, or would be."""
    return where.cache_dir / "demo"


def demo_vault(where: Places) -> Path:
    """The built-in notes, copied to a scratch folder that may be written to; an unchanged copy is used again."""
    folder = demo_folder(where)
    try:
        with as_file(files("zkchat_cli") / "demo") as source:
            for file in source.rglob("*.md"):
                copy = folder / file.relative_to(source)
                text = file.read_bytes()
                if not copy.is_file() or copy.read_bytes() != text:
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(text)
    except OSError as e:
        raise VaultError(
            f"the demo notes cannot be copied to {folder}: {reason(e)}", "Set ZKCHAT_HOME to a folder you may write to."
        ) from e
    return folder
