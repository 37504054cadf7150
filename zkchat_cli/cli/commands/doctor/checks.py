"""The checks of `zkchat doctor`. Each runs by itself, so that a failure does not stop the others."""

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
from zkchat_cli.config.loader import LoadedConfig, environment, load_config
from zkchat_cli.errors import ConfigError, ProviderError, StoreUnwritable, ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import Model, Options, Request, ServerInfo, StreamFailed
from zkchat_cli.llm.http_errors import mask_address
from zkchat_cli.models import PromptMessage
from zkchat_cli.paths import app_paths
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import plural
from zkchat_cli.vault.search import vector_store

UNCHECKED = "not checked: there is no vault"
SAMPLE = "zkchat counts tokens"
OUTPUT_LIMIT_REACHED = "output limit was reached"
"""OpenAI's reasoning models report this when they use up the one requested token before a word: they do answer."""


def checks(choices: StartupOptions, *, ask_model: bool) -> list[dict[str, Any]]:
    """All checks as `{"name", "ok", "detail", "next_step", "code"}`; `code` is the error code of a failed one."""
    env = environment()
    loaded, problem = _load_settings(choices)
    root = factory.vault_root(loaded, Path.cwd())
    folder = Path(root) if root is not None and Path(root).is_dir() else None
    vault = _check("vault", lambda: _vault(loaded))
    return [
        _check("settings", lambda: _settings(loaded, problem)),
        vault,
        _check("index", lambda: _index(loaded)) if vault["ok"] else {**vault, "name": "index", "detail": UNCHECKED, "next_step": None},
        _check("store", lambda: _store(loaded)),
        _check("vocabulary", _vocabulary),
        _check("provider", lambda: _provider(loaded, ask=ask_model)),
        _check("providers", _providers),
        *_servers(loaded),
        _check("semantic", lambda: _semantic(loaded)),
        _check("keys", lambda: environment_checks.api_keys(factory.key_variables(env), env, loaded.places)),
        _check("agents", lambda: _agents(loaded)),
        _check("permissions", lambda: environment_checks.permissions(loaded.places)),
        _check("disk", lambda: environment_checks.disk(loaded.places, folder)),
        _check("git", lambda: environment_checks.repository(folder, wanted=loaded.values.vault.git)),
        _check("editor", lambda: environment_checks.editor(env)),
        _check("clipboard", lambda: environment_checks.clipboard(env)),
        _check("terminal", lambda: environment_checks.terminal(env)),
    ]


def _load_settings(choices: StartupOptions) -> tuple[LoadedConfig, ZkchatError | None]:
    """The settings; or, if they are invalid, the defaults with the vault from the command line or ZKCHAT_VAULT, and the error."""
    try:
        return factory.settings(choices, environment(), Path.cwd()), None
    except ZkchatError as e:
        where = app_paths(environment(), choices.config_file)
        vault = choices.vault or environment().get("ZKCHAT_VAULT")
        flags = {"vault.path": str(vault)} if vault else {}
        nothing = replace(where, config_file=where.config_file / "none")
        return replace(load_config(flags, {}, nothing, schema=factory.settings_schema()), places=where), e


def _check(name: str, run: Callable[[], str | EnvironmentCheck]) -> dict[str, Any]:
    """Run one check. A result that is `ok` and has a next step works but could be better."""
    try:
        found = run()
        detail, step = (found, None) if isinstance(found, str) else found
        return {"name": name, "ok": True, "detail": detail, "next_step": step, "code": None}
    except ZkchatError as e:
        return {"name": name, "ok": False, "detail": e.message, "next_step": e.hint or None, "code": e.code}


def _settings(loaded: LoadedConfig, problem: ZkchatError | None) -> str:
    if problem is not None:
        raise ConfigError(f"{problem.message}; the other checks use the defaults", problem.hint)
    file = loaded.places.config_file
    return f"{file}" if file.is_file() else f"defaults; {file} does not exist"


def _agents(loaded: LoadedConfig) -> EnvironmentCheck:
    """All agents' files, including the models they name. Raises ConfigError for invalid ones."""
    folder = agents.agents_folder(loaded.places.config_file)
    no_file = replace(loaded.places, config_file=loaded.places.config_file / "none")  # the settings have a check of their own
    invalid: list[ConfigError] = []
    names = agents.list_names(folder)
    for name in names:
        try:
            agent = factory.open_agent(name, loaded.places)
            factory.check(load_config({}, {}, no_file, schema=factory.settings_schema(), agent=agent.settings_layer))
        except ConfigError as e:
            invalid.append(e)
    if invalid:
        raise ConfigError("; ".join(e.message for e in invalid), invalid[0].hint)
    misnamed = ", ".join(agents.find_invalid_file_names(folder))
    own = [name for name in names if not agents.is_built_in(name) or agents.agent_file(folder, name).exists()]
    detail = f"{', '.join(names)}; {len(own) or 'none'} of them yours"
    return EnvironmentCheck(detail, f"Rename {misnamed}: letters, digits, - and _, in lower case." if misnamed else None)


def _vault(loaded: LoadedConfig) -> EnvironmentCheck:
    vault = factory.open_vault(loaded, environment(), Path.cwd())
    vault.close()
    detail = str(vault.root)
    return (
        EnvironmentCheck(detail)
        if os.access(vault.root, os.W_OK)
        else EnvironmentCheck(f"{detail}, read-only: /save and --unsafe cannot write")
    )


def _index(loaded: LoadedConfig) -> str:
    vault = factory.open_vault(loaded, environment(), Path.cwd())
    try:
        report = vault.refresh()
    finally:
        vault.close()
    remarks = f"; {len(report.problems)} with problems: zkchat vault status" if report.problems else ""
    remarks += f"; it was rebuilt: {report.rebuilt}" if report.rebuilt else ""
    links = plural(report.links, "link") + (f" ({report.broken_links} broken)" if report.links else "")
    return f"{plural(report.notes, 'note')}, {plural(report.chunks, 'chunk')}, {links}{remarks}"


def _store(loaded: LoadedConfig) -> str:
    store = factory.open_store(loaded)
    try:
        found = f"{loaded.places.store_file}, {plural(len(store.conversations()), 'conversation')}"
        if (why := store.write_error) is not None:
            raise StoreUnwritable(f"{found}: read-only, nothing new is stored: {why.message.partition(': ')[2]}", why.hint)
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
    """The model in use: it opens, its window is known, and with `ask` it answers."""
    model = factory.open_model(loaded, environment()).model
    model.prepare()
    window = f"; window {model.window.tokens} tokens ({model.window.source})" if model.window else ""
    answered = f"; {_test_call(model)}" if ask else ""
    return f"{model.name} is ready{window}{answered}"


def _providers() -> str:
    return "; ".join(f"{name}: {providers.provider(name).help}" for name in providers.names())


def _test_call(model: Model) -> str:
    """Request one token. Raises the ProviderError of a failed call."""
    message = PromptMessage(role="user", content="Say yes.", tokens=3, kind="conversation")
    request = Request((message,), options=Options(max_output_tokens=1), window=model.window.tokens if model.window else None)
    start = time.monotonic()
    for delta in model.stream(request):
        if isinstance(delta, StreamFailed) and OUTPUT_LIMIT_REACHED not in delta.error.message:
            raise delta.error
    return f"it answered in {time.monotonic() - start:.1f} s"


def _servers(loaded: LoadedConfig) -> list[dict[str, Any]]:
    """A check for each server that the user configured or whose model is in use."""
    chosen, _, model = loaded.values.model.partition("/")
    checks = []
    for name in providers.names():
        server = factory.server_info(name, loaded, environment())
        if server is not None and (server.configured_by or name == chosen):
            checks.append(_check(name, partial(_server, server, model if name == chosen else "")))
    return checks


def _server(server: ServerInfo, model: str) -> str:
    """The server's address and key, and whether it has the model in use."""
    names = [listed.name for listed in server.list_models()]
    if model and names and model not in names and f"{model}:latest" not in names:
        near = ", ".join(get_close_matches(model, names, n=3, cutoff=0.3) or names[:3])
        problem = f"{mask_address(server.address)} has no model {model}"
        raise ProviderError("unknown_model", problem, f"Nearest: {near}. zkchat config set model …")
    includes = f", including {model}" if model else ""
    return f"{mask_address(server.address)} answers; {server.key}; {len(names)} models{includes}"


def _semantic(loaded: LoadedConfig) -> str:
    """One call to the embedder, and the number of chunks with a vector."""
    embedder = factory.open_embedder(loaded, environment())
    if embedder is None:
        return f"off: search by words only; semantic.provider can be {', '.join(embedders.names())}"
    try:
        dimensions = vector_store.compute_vectors(embedder, [SAMPLE], "query").shape[1]
    finally:
        embedder.close()
    vault = factory.open_vault(loaded, environment(), Path.cwd())
    try:
        report = vault.status()
    finally:
        vault.close()
    rest = "" if report.semantic else ": zkchat vault index computes the rest"
    return f"{embedder.id}, {dimensions} dimensions; {report.vectors} of {report.chunks} chunks have a vector{rest}"
