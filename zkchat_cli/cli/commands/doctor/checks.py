"""The checks of `zkchat doctor`. Each runs by itself, so that a failure does not stop the others."""

import os
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from zkchat_cli import credentials
from zkchat_cli.app import factory, model_access, settings
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.retrieval import choose_retrieval
from zkchat_cli.chat.runtime import ExternalServer
from zkchat_cli.config.loader import LoadedConfig, load_config
from zkchat_cli.errors import ConfigError, ProviderError, StoreError, StoreUnwritable, ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import ServerInfo
from zkchat_cli.llm.http_errors import mask_address
from zkchat_cli.llm.providers import settings_schema
from zkchat_cli.paths import AppPaths, app_paths
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.repair import check_store
from zkchat_cli.text.numbers import plural
from zkchat_cli.tokens.counter import TokenCounter, load_vocabulary, vocabulary_folder
from zkchat_cli.vault.search import vector_store
from zkchat_cli.views.semantic_status import describe_semantic_status

SAMPLE = "zkchat counts tokens"


def run_checks(options: StartupOptions) -> list[dict[str, Any]]:
    """All checks as `{"name", "ok", "detail", "next_step", "code"}`; `code` is the error code of a failed one."""
    loaded, problem = _load_settings(options)
    vault = _run_check("vault", lambda: _check_vault(loaded))
    unchecked = {**vault, "name": "index", "detail": "not checked: there is no vault", "next_step": None}
    index = _run_check("index", lambda: _check_index(loaded)) if vault["ok"] else unchecked
    return [
        _run_check("settings", lambda: _check_settings(loaded, problem)),
        vault,
        index,
        _run_check("store", lambda: _check_store(loaded)),
        _run_check("vocabulary", _check_vocabulary),
        _run_check("provider", lambda: _check_provider(loaded)),
        *_check_servers(loaded),
        *_check_tool_servers(loaded),
        _run_check("semantic", lambda: _check_semantic(loaded, has_index=index["ok"])),
        _run_check("keys", lambda: _check_keys(loaded)),
        _run_check("permissions", lambda: _check_permissions(loaded.paths)),
    ]


def _load_settings(options: StartupOptions) -> tuple[LoadedConfig, ZkchatError | None]:
    """The settings; or, if they are invalid, the defaults with the vault from the command line or ZKCHAT_VAULT, and the error."""
    try:
        return settings.load_settings(options, os.environ, Path.cwd()), None
    except ZkchatError as e:
        where = app_paths(os.environ, options.config_file)
        vault = options.vault or os.environ.get("ZKCHAT_VAULT")
        flags = {"vault.path": str(vault)} if vault else {}
        nothing = where._replace(config_file=where.config_file / "none")
        return replace(load_config(flags, {}, nothing, schema=settings_schema()), paths=where, env=os.environ, cwd=Path.cwd()), e


def _run_check(name: str, run: Callable[[], str]) -> dict[str, Any]:
    """Run one check, which returns what it found or raises the problem."""
    try:
        return {"name": name, "ok": True, "detail": run(), "next_step": None, "code": None}
    except ZkchatError as e:
        return {"name": name, "ok": False, "detail": e.message, "next_step": e.hint or None, "code": e.code}


def _check_settings(loaded: LoadedConfig, problem: ZkchatError | None) -> str:
    if problem is not None:
        raise ConfigError(f"{problem.message}; the other checks use the defaults", problem.hint)
    file = loaded.paths.config_file
    return f"{file}" if file.is_file() else f"defaults; {file} does not exist"


def _check_vault(loaded: LoadedConfig) -> str:
    vault = factory.open_vault(loaded)
    vault.close()
    return f"{vault.root}" + ("" if os.access(vault.root, os.W_OK) else ", read-only: /save and --unsafe cannot write")


def _check_index(loaded: LoadedConfig) -> str:
    with closing(factory.open_vault(loaded)) as vault:
        if vault.has_index:
            vault.check_index()
        report = vault.refresh()
        if vault.index_problem:
            raise vault.index_problem
    remarks = f"; {len(report.problems)} with problems: zkchat vault status" if report.problems else ""
    remarks += f"; it was rebuilt: {report.rebuilt}" if report.rebuilt else ""
    links = plural(report.links, "link") + (f" ({report.broken_links:,} broken)" if report.links else "")
    return f"{plural(report.notes, 'note')}, {plural(report.chunks, 'chunk')}, {links}{remarks}"


def _check_store(loaded: LoadedConfig) -> str:
    if loaded.paths.store_file.exists():
        with suppress(StoreUnwritable):  # reported below
            check_store(loaded.paths.store_file)
    with closing(ChatSessionStore.open_to_read(loaded.paths.store_file)) as store:
        found = f"{loaded.paths.store_file}, {plural(len(store.conversations()), 'conversation')}"
        if (why := store.write_error) is not None:
            raise StoreUnwritable(f"{found}: read-only, nothing new is stored: {why.message.partition(': ')[2]}", why.hint)
    return found


def _check_vocabulary() -> str:
    counter = TokenCounter(load=load_vocabulary)
    count = counter.count(SAMPLE)
    if counter.estimated:
        raise ZkchatError(f"token counts are estimates: {counter.problem}", "Install zkchat again, and unset TIKTOKEN_CACHE_DIR.")
    return f"{counter.encoding}, offline ({vocabulary_folder(counter.encoding)}); “{SAMPLE}” is {count} tokens"


def _check_provider(loaded: LoadedConfig) -> str:
    """The model in use, which opens; whether its server answers is a check of its own."""
    opened, values = model_access.open_model(loaded), loaded.values
    model = opened.model
    model.prepare()
    window = f"; window {model.window.tokens:,} tokens ({model.window.source})" if model.window else ""
    known = None if "context.max_tokens" in loaded.origins else model.window
    used = known.tokens if known else values.context.max_tokens
    retrieval = choose_retrieval(values.retrieval.mode, model, opened.tools, used)
    return f"{model.name}{window}; retrieval: {retrieval.mode} ({retrieval.reason})"


def _check_servers(loaded: LoadedConfig) -> list[dict[str, Any]]:
    """A check for each server that the user configured or whose model is in use."""
    chosen, _, model = loaded.values.model.partition("/")
    checks = []
    for name in providers.names():
        own = model if name == chosen else ""
        server = model_access.server_info(name, loaded, own)
        if server is not None and (server.configured_by or name == chosen):
            checks.append(_run_check(name, partial(_check_server, server, own)))
    return checks


def _check_server(server: ServerInfo, model: str) -> str:
    """The server's address and key, and whether it has the model in use."""
    listed = server.list_models()
    if model and (error := server.check()):
        raise error
    includes = f", including {model}" if any(model in (info.name, info.name.removesuffix(":latest")) for info in listed) else ""
    return f"{mask_address(server.address)} answers; {server.key}; {plural(len(listed), 'model')}{includes}"


def _check_tool_servers(loaded: LoadedConfig) -> list[dict[str, Any]]:
    """A check for each MCP server in the settings."""
    servers = factory.open_servers(loaded)
    if servers is None:
        return []
    with closing(servers):
        servers.tools()
        return [_run_check(server.name, partial(_check_tool_server, server)) for server in servers.status()]


def _check_tool_server(server: ExternalServer) -> str:
    if server.state != "ready":
        problem = server.problem or "it has not answered in time"
        raise ProviderError("connection", f"{server.address}: {problem}", "Correct its table [mcp.servers.NAME] in your settings file.")
    return f"{server.address}: {plural(len(server.tools), 'tool')}"


def _check_semantic(loaded: LoadedConfig, *, has_index: bool) -> str:
    """One call to the embedder, and how many vectors are there."""
    embedder = model_access.open_embedder(loaded)
    if embedder is None:
        return f"off: search by words only; semantic.provider can be {', '.join(embedders.names())}"
    with closing(embedder):
        dimensions = len(vector_store.compute_vectors(embedder, [SAMPLE], "query")[0])
    state = embedder.id
    if has_index:
        with closing(factory.open_vault(loaded)) as vault:
            state = describe_semantic_status(found) if (found := vault.status().semantic) else state
    return f"{state}; {dimensions} dimensions"


def _check_keys(loaded: LoadedConfig) -> str:
    """Where each provider's key comes from."""
    credentials.read_keys(loaded.paths)  # a damaged file is an error here
    found = {
        provider: credentials.find_key(provider, server.variable, loaded.env, loaded.paths).for_address(server.address)
        for provider, server in model_access.keyed_servers(loaded).items()
    }
    return "; ".join(f"{provider}: {key.description}" for provider, key in found.items() if key.value) or "none (offline needs none)"


def _check_permissions(where: AppPaths) -> str:
    """Whether other users can read conversations or keys."""
    files = [file for file in (where.keys_file, where.store_file, *where.data_dir.glob("*.log*")) if file.exists()]
    exposed = [file for file in files if os.name == "posix" and file.stat().st_mode & 0o077]
    if exposed:
        kind = ConfigError if where.keys_file in exposed else StoreError
        raise kind(f"other users can read {', '.join(map(str, exposed))}", f"chmod 600 {' '.join(map(str, exposed))}")
    return "keys and conversations are private"
