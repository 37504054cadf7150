"""The checks of `zkchat doctor`. Each runs by itself, so that a failure does not stop the
others.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from zkchat_cli.app import factory, model_servers
from zkchat_cli.app.embedder_choice import open_embedder
from zkchat_cli.app.stores import describe_configured, open_configured
from zkchat_cli.chat.retrieval import choose_retrieval
from zkchat_cli.chat.runtime import ExternalServer
from zkchat_cli.cli.command import CommandContext
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ProviderError, StoreUnwritable, VaultError, ZkchatError
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import ListsModels, Model
from zkchat_cli.llm.http_client import mask_address
from zkchat_cli.llm.known_models import GUESS, MIN_WINDOW_OF_CLAUDE, known_models
from zkchat_cli.llm.prices import find_price
from zkchat_cli.store.sqlite.repair import check_store
from zkchat_cli.text.numbers import plural
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tokens.encodings import ENCODINGS, load_vocabulary
from zkchat_cli.tokens.table_encoder import CHECKSUMS, TableEncoder
from zkchat_cli.vault.edit.journal import unfinished_error
from zkchat_cli.vault.search import embedder as embedding
from zkchat_cli.views.money import price_text
from zkchat_cli.views.text import COMPUTE_THE_REST, describe_semantic_share

SAMPLE = "zkchat counts tokens"
# Where the figure of a window is no more than a guess
GUESSES = (GUESS, MIN_WINDOW_OF_CLAUDE)


class Advice(NamedTuple):
    """What a check found that is no problem, but could be better after the next step."""

    detail: str
    next_step: str


# The name of a check, and a function that returns what it found or raises the problem
Check = tuple[str, Callable[[], str | Advice]]


def run_checks(ctx: CommandContext) -> list[dict[str, Any]]:
    """All checks as `{"name", "ok", "detail", "next_step", "code"}`; `code` is the error code of a
    failed one. One that is ok may have a next step, too. Without settings there is nothing else to
    check.
    """
    settings = _run_check("settings", partial(_check_settings, ctx))
    if not settings["ok"]:
        return [settings]
    return [settings, *(_run_check(name, check) for name, check in _checks(ctx))]


def _run_check(name: str, check: Callable[[], str | Advice]) -> dict[str, Any]:
    try:
        found = check()
        advice = found if isinstance(found, Advice) else Advice(found, "")
        return {
            "name": name,
            "ok": True,
            "detail": advice.detail,
            "next_step": advice.next_step or None,
            "code": None,
        }
    except ZkchatError as e:
        return {
            "name": name,
            "ok": False,
            "detail": e.message,
            "next_step": e.hint or None,
            "code": e.code,
        }


def _checks(ctx: CommandContext) -> list[Check]:
    """The checks after the settings', with one for each server of models that is configured or in
    use, and for each server of tools.
    """
    loaded = ctx.config
    checks: list[Check] = [
        ("vault", partial(_check_vault, ctx)),
        ("index", partial(_check_index, ctx)),
        ("store", partial(_check_store, loaded)),
        ("vocabulary", _check_vocabulary),
        ("provider", partial(_check_provider, loaded)),
    ]
    chosen, _, model = loaded.values.model.partition("/")
    for name in providers.names():
        own = model if name == chosen else ""
        remote = model_servers.open_remote(name, loaded, own)
        if remote is not None and (remote.server.is_configured or name == chosen):
            checks.append((name, partial(_check_server, remote, own)))
    servers = factory.open_servers(loaded)
    if servers is not None:
        with closing(servers):
            servers.tools()
            checks += [(each.name, partial(_check_tool_server, each)) for each in servers.status()]
    return [*checks, ("semantic", partial(_check_semantic, ctx))]


def _check_settings(ctx: CommandContext) -> str:
    file = ctx.config.paths.config_file
    return f"{file}" if file.is_file() else f"defaults; {file} does not exist"


def _check_vault(ctx: CommandContext) -> str:
    with ctx.open_vault() as vault:
        unfinished = vault.journal.unfinished()
        if unfinished is not None:
            raise unfinished_error(unfinished)
        return f"{vault.root}"


def _check_index(ctx: CommandContext) -> str:
    with ctx.open_vault() as vault:
        report = vault.check_index()
    text = f"{plural(report.notes, 'note')}, {plural(report.chunks, 'chunk')}, "
    text += plural(report.links, "link")
    if report.links:
        text += f" ({report.broken_links:,} broken)"
    if report.problems:
        text += f"; {len(report.problems)} with problems: zkchat vault status"
    if report.rebuilt:
        text += f"; it was rebuilt: {report.rebuilt}"
    return text


def _check_store(loaded: LoadedConfig) -> str:
    file = loaded.paths.store_file
    if not loaded.values.store.url and file.exists():
        # This problem is reported below
        with suppress(StoreUnwritable):
            check_store(file)
    with closing(open_configured(loaded, to_read=True)) as store:
        found = (
            f"{describe_configured(loaded)}, {plural(len(store.conversations()), 'conversation')}"
        )
        why = store.write_error
        if why is not None:
            raise StoreUnwritable(
                f"{found}: read-only, nothing new is stored: {why.message.partition(': ')[2]}",
                why.hint,
            )
    return found


def _check_vocabulary() -> str:
    """All files of the tokenizer, which must be as they were published."""
    for encoding in ENCODINGS:
        load_vocabulary(encoding)
    for encoding in CHECKSUMS:
        TableEncoder(encoding)
    counter = TokenCounter()
    return f"{counter.encoding}, offline; “{SAMPLE}” is {counter.count(SAMPLE)} tokens"


def _check_provider(loaded: LoadedConfig) -> str | Advice:
    """The model in use, which must open. Whether its server answers is a check of its own."""
    opened = factory.open_model(loaded)
    values = loaded.values
    model = opened.model
    model.prepare()
    tokens = values.context.max_tokens
    window = ""
    if model.window:
        window = f"; window {model.window.tokens:,} tokens ({model.window.source})"
        if "context.max_tokens" not in loaded.origins:
            tokens = model.window.tokens
    retrieval = choose_retrieval(values.retrieval.mode, model, opened.tools, tokens)
    price = find_price(values.llm.prices, model)
    cost = f"; {price_text(price)}" if model.has_server else ""
    detail = f"{model.name}{window}{cost}; retrieval: {retrieval.mode} ({retrieval.reason})"
    is_set = "context.max_tokens" in loaded.origins
    next_step = advise_on_figures(
        model,
        window="" if is_set else guessed_window(model),
        today=date.fromisoformat(factory.now()[:10]),
    )
    return Advice(detail, next_step) if next_step else detail


def guessed_window(model: Model) -> str:
    """What the model's window is guessed by; empty if its server or zkchat's table names it."""
    if model.window is None:
        return "the default, because its server does not say it"
    source = model.window.source
    return source.removeprefix(f"{GUESS}: ") if source.startswith(GUESSES) else ""


def advise_on_figures(model: Model, *, window: str, today: date) -> str:
    """What to do about an old table of models, and about figures of this model that are guesses;
    empty if there is nothing to do.
    """
    if not model.has_server:
        return ""
    advice = []
    table = known_models()
    if model.name.partition("/")[0] in table.families and table.is_old(today):
        advice.append(
            f"zkchat's table of models was checked on {table.checked}, more than six months ago: "
            "update zkchat."
        )
    if window:
        advice.append(f"The window is a guess ({window}): set context.max_tokens if you know it.")
    return " ".join(advice)


def _check_server(remote: ListsModels, model: str) -> str:
    listed = remote.list_models()
    error = remote.check() if model else None
    if error:
        raise error
    includes = ""
    for info in listed:
        if model in (info.name, info.name.removesuffix(":latest")):
            includes = f", including {model}"
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


def _check_semantic(ctx: CommandContext) -> str | Advice:
    """Test one call to the embedder, and count the vectors."""
    embedder = open_embedder(ctx.config)
    if embedder is None:
        return f"off: search by words only; semantic.provider can be {', '.join(embedders.names())}"
    dimensions = len(embedding.compute_vectors(embedder, [SAMPLE], "query")[0])
    state = embedder.id
    found = None
    # Without a vault there are no vectors
    with suppress(VaultError), ctx.open_vault() as vault:
        found = vault.status().semantic
        if found:
            state = describe_semantic_share(found)
    detail = f"{state}; {dimensions} dimensions"
    if found is None or found.complete:
        return detail
    return Advice(detail, f"{COMPUTE_THE_REST}; so does an open chat, in the background.")
