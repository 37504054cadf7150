"""The checks of `zkchat doctor`. Each runs by itself, so that a failure does not stop the
others.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from zkchat_cli.app import factory
from zkchat_cli.chat.retrieval import choose_retrieval
from zkchat_cli.chat.runtime import ExternalServer
from zkchat_cli.cli.command import CommandContext
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ProviderError, StoreUnwritable, VaultError, ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import ListsModels
from zkchat_cli.llm.http_client import mask_address
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.repair import check_store
from zkchat_cli.text.numbers import plural
from zkchat_cli.tokens.counter import TokenCounter, load_vocabulary
from zkchat_cli.vault.search import embedder as embedding
from zkchat_cli.views.text import describe_semantic_status

SAMPLE = "zkchat counts tokens"
# Its name, and a function that returns what it found or raises the problem
Check = tuple[str, Callable[[], str]]


def run_checks(ctx: CommandContext) -> list[dict[str, Any]]:
    """All checks as `{"name", "ok", "detail", "next_step", "code"}`; `code` is the error code of a
    failed one. Without settings there is nothing else to check.
    """
    settings = _run_check("settings", partial(_check_settings, ctx))
    return (
        [settings, *(_run_check(*check) for check in _checks(ctx))]
        if settings["ok"]
        else [settings]
    )


def _run_check(name: str, check: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"name": name, "ok": True, "detail": check(), "next_step": None, "code": None}
    except ZkchatError as e:
        return {
            "name": name,
            "ok": False,
            "detail": e.message,
            "next_step": e.hint or None,
            "code": e.code,
        }


def _checks(ctx: CommandContext) -> list[Check]:
    """Also a check for each server that the user configured or whose model is in use, and for each
    server of tools.
    """
    loaded = ctx.config
    checks: list[Check] = [
        ("vault", partial(_check_vault, ctx)),
        ("index", partial(_check_index, ctx)),
        ("store", partial(_check_store, loaded.paths.store_file)),
        ("vocabulary", _check_vocabulary),
        ("provider", partial(_check_provider, loaded)),
    ]
    chosen, _, model = loaded.values.model.partition("/")
    for name in providers.names():
        own = model if name == chosen else ""
        remote = factory.open_remote(name, loaded, own)
        if remote is not None and (remote.server.is_configured or name == chosen):
            checks.append((name, partial(_check_server, remote, own)))
    if (servers := factory.open_servers(loaded)) is not None:
        with closing(servers):
            servers.tools()
            checks += [
                (server.name, partial(_check_tool_server, server)) for server in servers.status()
            ]
    return [*checks, ("semantic", partial(_check_semantic, ctx))]


def _check_settings(ctx: CommandContext) -> str:
    file = ctx.config.paths.config_file
    return f"{file}" if file.is_file() else f"defaults; {file} does not exist"


def _check_vault(ctx: CommandContext) -> str:
    with ctx.open_vault() as vault:
        return f"{vault.root}"


def _check_index(ctx: CommandContext) -> str:
    with ctx.open_vault() as vault:
        report = vault.check_index()
    remarks = (
        f"; {len(report.problems)} with problems: zkchat vault status" if report.problems else ""
    )
    remarks += f"; it was rebuilt: {report.rebuilt}" if report.rebuilt else ""
    links = plural(report.links, "link") + (
        f" ({report.broken_links:,} broken)" if report.links else ""
    )
    return f"{plural(report.notes, 'note')}, {plural(report.chunks, 'chunk')}, {links}{remarks}"


def _check_store(file: Path) -> str:
    if file.exists():
        with suppress(StoreUnwritable):  # reported below
            check_store(file)
    with closing(ChatSessionStore.open_to_read(file)) as store:
        found = f"{file}, {plural(len(store.conversations()), 'conversation')}"
        if (why := store.write_error) is not None:
            raise StoreUnwritable(
                f"{found}: read-only, nothing new is stored: {why.message.partition(': ')[2]}",
                why.hint,
            )
    return found


def _check_vocabulary() -> str:
    counter = TokenCounter(load=load_vocabulary)
    return f"{counter.encoding}, offline; “{SAMPLE}” is {counter.count(SAMPLE)} tokens"


def _check_provider(loaded: LoadedConfig) -> str:
    """The model in use, which opens; whether its server answers is a check of its own."""
    opened = factory.open_model(loaded)
    values = loaded.values
    model = opened.model
    model.prepare()
    window = (
        f"; window {model.window.tokens:,} tokens ({model.window.source})" if model.window else ""
    )
    known = None if "context.max_tokens" in loaded.origins else model.window
    used = known.tokens if known else values.context.max_tokens
    retrieval = choose_retrieval(values.retrieval.mode, model, opened.tools, used)
    return f"{model.name}{window}; retrieval: {retrieval.mode} ({retrieval.reason})"


def _check_server(remote: ListsModels, model: str) -> str:
    listed = remote.list_models()
    if model and (error := remote.check()):
        raise error
    includes = (
        f", including {model}"
        if any(model in (info.name, info.name.removesuffix(":latest")) for info in listed)
        else ""
    )
    return (
        f"{mask_address(remote.server.address)} answers; {remote.server.key_status}; "
        f"{plural(len(listed), 'model')}{includes}"
    )


def _check_tool_server(server: ExternalServer) -> str:
    if server.state != "ready":
        problem = server.problem or "it has not answered in time"
        raise ProviderError(
            "connection",
            f"{server.address}: {problem}",
            "Correct its table [mcp.servers.NAME] in your settings file.",
        )
    return f"{server.address}: {plural(len(server.tools), 'tool')}"


def _check_semantic(ctx: CommandContext) -> str:
    """One call to the embedder, and how many vectors are there."""
    embedder = factory.open_embedder(ctx.config)
    if embedder is None:
        return f"off: search by words only; semantic.provider can be {', '.join(embedders.names())}"
    dimensions = len(embedding.compute_vectors(embedder, [SAMPLE], "query")[0])
    state = embedder.id
    # Without a vault, there are no vectors
    with suppress(VaultError), ctx.open_vault() as vault:
        if found := vault.status().semantic:
            state = describe_semantic_status(found)
    return f"{state}; {dimensions} dimensions"
