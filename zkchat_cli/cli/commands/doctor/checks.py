"""What `zkchat doctor` looks at, each by itself: one that fails keeps no other from being looked at."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from zkchat_cli.agents import loader as agents
from zkchat_cli.app import factory
from zkchat_cli.app.startup_options import StartupOptions
from zkchat_cli.cli.commands.doctor import environment_checks
from zkchat_cli.cli.commands.doctor.environment_checks import EnvironmentCheck
from zkchat_cli.config.loader import LoadedConfig, environment, load
from zkchat_cli.errors import ConfigError, ProviderError, StoreUnwritable, VaultError, ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import Model, Options, Request, ServerInfo, StreamFailed
from zkchat_cli.llm.http_errors import shown
from zkchat_cli.models import PromptMessage
from zkchat_cli.paths import app_paths as config_places
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import plural
from zkchat_cli.vault.index.cache_dir import open_cache_dir
from zkchat_cli.vault.search import vector_store

UNCHECKED = "not checked, as there is no vault"
SAMPLE = "zkchat counts tokens"
ONE_IS_TOO_FEW = "output limit was reached"
"""OpenAI's models that reason say so when the one token they were asked for is gone before a word: they are there, and answer."""


def checks(choices: StartupOptions, *, ask_model: bool) -> list[dict[str, Any]]:
    """`{"name", "ok", "detail", "next_step", "code"}` of everything that zkchat needs; `code` is the error's, of what is not `ok`."""
    env = environment()
    loaded, wrong = _loaded(choices)
    root = factory.vault_root(loaded, Path.cwd())
    folder = Path(root) if root is not None and Path(root).is_dir() else None
    notes = _check("vault", lambda: _vault(loaded))
    return [
        _check("settings", lambda: _settings(loaded, wrong)),
        notes,
        _check("index", lambda: _index(loaded)) if notes["ok"] else {**notes, "name": "index", "detail": UNCHECKED, "next_step": None},
        _check("store", lambda: _store(loaded)),
        _check("vocabulary", _vocabulary),
        _check("provider", lambda: _provider(loaded, ask=ask_model)),
        _check("providers", _providers),
        *_servers(loaded),
        _check("semantic", lambda: _semantic(loaded)),
        _check("keys", lambda: environment_checks.kept_keys(factory.key_variables(env), env, loaded.places)),
        _check("agents", lambda: _agents(loaded)),
        _check("permissions", lambda: environment_checks.permissions(loaded.places)),
        _check("disk", lambda: environment_checks.disk(loaded.places, folder)),
        _check("git", lambda: environment_checks.repository(folder, wanted=loaded.values.vault.git)),
        _check("editor", lambda: environment_checks.editor(env)),
        _check("clipboard", lambda: environment_checks.clipboard(env)),
        _check("terminal", lambda: environment_checks.terminal(env)),
    ]


def _loaded(choices: StartupOptions) -> tuple[LoadedConfig, ZkchatError | None]:
    """The settings; where they are wrong, the defaults with what the command line and ZKCHAT_VAULT say, and the error."""
    try:
        return factory.settings(choices, environment(), Path.cwd()), None
    except ZkchatError as e:
        where = config_places(environment(), choices.config_file)
        vault = choices.vault or environment().get("ZKCHAT_VAULT")
        flags = {"vault.path": str(vault)} if vault else {}
        nothing = replace(where, config_file=where.config_file / "none")
        return replace(load(flags, {}, nothing, schema=factory.settings_schema()), places=where), e


def _check(name: str, look: Callable[[], str | EnvironmentCheck]) -> dict[str, Any]:
    """`ok` with a next step: it works, and could be better."""
    try:
        found = look()
        detail, step = (found, None) if isinstance(found, str) else found
        return {"name": name, "ok": True, "detail": detail, "next_step": step, "code": None}
    except ZkchatError as e:
        return {"name": name, "ok": False, "detail": e.message, "next_step": e.hint or None, "code": e.code}


def _settings(loaded: LoadedConfig, wrong: ZkchatError | None) -> str:
    if wrong is not None:
        raise ConfigError(f"{wrong.message}; the defaults are checked instead", wrong.hint)
    file = loaded.places.config_file
    return f"{file}" if file.is_file() else f"defaults; {file} does not exist"


def _agents(loaded: LoadedConfig) -> EnvironmentCheck:
    """Every agent's file, down to the model it names. Raises ConfigError for those nobody can use."""
    where = agents.folder(loaded.places.config_file)
    alone = replace(loaded.places, config_file=loaded.places.config_file / "none")  # what is wrong with the settings is told already
    wrong: list[ConfigError] = []
    names = agents.names(where)
    for name in names:
        try:
            agent = factory.open_agent(name, loaded.places)
            factory.check(load({}, {}, alone, schema=factory.settings_schema(), agent=agent.settings))
        except ConfigError as e:
            wrong.append(e)
    if wrong:
        raise ConfigError("; ".join(e.message for e in wrong), wrong[0].hint)
    lost = ", ".join(agents.misnamed(where))
    own = [name for name in names if not agents.is_built_in(name) or agents.file_of(where, name).exists()]
    detail = f"{', '.join(names)}; {len(own) or 'none'} of them yours"
    return EnvironmentCheck(detail, f"Nobody could call {lost} by its name: letters, digits, - and _, in lower case." if lost else None)


def _vault(loaded: LoadedConfig) -> EnvironmentCheck:
    vault = factory.open_vault(loaded, environment(), Path.cwd())
    vault.close()
    detail = str(vault.root)
    return (
        EnvironmentCheck(detail)
        if os.access(vault.root, os.W_OK)
        else EnvironmentCheck(f"{detail}, which can only be read: /save and --unsafe cannot write")
    )


def _index(loaded: LoadedConfig) -> str:
    cache = open_cache_dir(loaded.places.cache_dir)
    cache.close()
    if cache.notice is not None:
        what = f"{cache.folder} cannot be written ({cache.why}): chat and ask index the notes anew for each run, vault commands cannot"
        raise VaultError(what, "Make the folder writable and see that there is room, or set ZKCHAT_HOME to another folder.")
    vault = factory.open_vault(loaded, environment(), Path.cwd())
    try:
        report = vault.refresh()
    finally:
        vault.close()
    trouble = f"; {len(report.problems)} with problems: zkchat vault status" if report.problems else ""
    trouble += f"; it was rebuilt: {report.rebuilt}" if report.rebuilt else ""
    links = plural(report.links, "link") + (f" ({report.broken_links} broken)" if report.links else "")
    return f"{plural(report.notes, 'note')}, {plural(report.chunks, 'chunk')}, {links}{trouble}"


def _store(loaded: LoadedConfig) -> str:
    store = factory.open_store(loaded)
    try:
        found = f"{loaded.places.store_file}, {plural(len(store.conversations()), 'conversation')}"
        if (why := store.write_error) is not None:
            raise StoreUnwritable(f"{found}: they can be read, but nothing new is kept: {why.message.partition(': ')[2]}", why.hint)
    finally:
        store.close()
    return found


def _vocabulary() -> str:
    counter = TokenCounter()
    count = counter.count(SAMPLE)
    if counter.estimated:
        raise ZkchatError(f"token counts are estimates: {counter.problem}", "Install zkchat again, and unset TIKTOKEN_CACHE_DIR.")
    return f"{counter.encoding}, offline ({os.environ['TIKTOKEN_CACHE_DIR']}); “{SAMPLE}” is {count} tokens"


def _provider(loaded: LoadedConfig, *, ask: bool) -> str:
    """The model in use: that it can be opened, its window, and with `ask` that it answers."""
    model = factory.open_model(loaded, environment()).model
    model.prepare()
    window = f"; a window of {model.window.tokens} tokens ({model.window.source})" if model.window else ""
    answered = f"; {_called(model)}" if ask else ""
    return f"{model.name} is ready{window}{answered}"


def _providers() -> str:
    return "; ".join(f"{name}: {providers.provider(name).help}" for name in providers.names())


def _called(model: Model) -> str:
    """What came of a call for one token. Raises the ProviderError it failed with."""
    message = PromptMessage(role="user", content="Say yes.", tokens=3, kind="conversation")
    request = Request((message,), options=Options(max_output_tokens=1), window=model.window.tokens if model.window else None)
    began = time.monotonic()
    for delta in model.stream(request):
        if isinstance(delta, StreamFailed) and ONE_IS_TOO_FEW not in delta.error.message:
            raise delta.error
    return f"it answered a call in {time.monotonic() - began:.1f} s"


def _servers(loaded: LoadedConfig) -> list[dict[str, Any]]:
    """A check for each server that the user has chosen, or whose model is in use."""
    chosen, _, model = loaded.values.model.partition("/")
    checks = []
    for name in providers.names():
        reach = factory.server_info(name, loaded, environment())
        if reach is not None and (reach.chosen or name == chosen):
            checks.append(_check(name, partial(_server, reach, model if name == chosen else "")))
    return checks


def _server(reach: ServerInfo, model: str) -> str:
    """Address, key, and whether the model in use is there."""
    names = [listed.name for listed in reach.models()]
    if model and names and model not in names and f"{model}:latest" not in names:
        near = ", ".join(get_close_matches(model, names, n=3, cutoff=0.3) or names[:3])
        raise ProviderError("unknown_model", f"{shown(reach.address)} has no model {model}", f"Nearest: {near}. zkchat config set model …")
    there = f", {model} among them" if model else ""
    return f"{shown(reach.address)} answers; {reach.key}; {len(names)} models{there}"


def _semantic(loaded: LoadedConfig) -> str:
    """One call to the embedder, and how many chunks have a vector."""
    embedder = factory.open_embedder(loaded, environment())
    if embedder is None:
        return f"off, search goes by words; semantic.provider can be {', '.join(embedders.names())}"
    try:
        found = vector_store.vectors(embedder, [SAMPLE], "query").shape[1]
    finally:
        embedder.close()
    vault = factory.open_vault(loaded, environment(), Path.cwd())
    try:
        report = vault.status()
    finally:
        vault.close()
    rest = "" if report.semantic else ": zkchat vault index computes the others"
    return f"{embedder.id}, {found} numbers a text; {report.vectors} of {report.chunks} chunks have a vector{rest}"
