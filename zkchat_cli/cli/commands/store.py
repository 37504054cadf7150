"""Where conversations are kept: in a file, or on a PostgreSQL server for several machines."""

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.config.store_url import hide_password
from zkchat_cli.errors import UsageError
from zkchat_cli.text.numbers import plural

if TYPE_CHECKING:
    from zkchat_cli.store.port import SessionStore
    from zkchat_cli.store.store_copy import CopiedConversation

ORDER = 75
COMMAND = command_group("The store of conversations: a file, or a server for several machines.")
_HOW = "postgresql://USER@HOST/DATABASE, or the path of a file"
_CONFLICT = 1


@command(COMMAND, *options.SETTINGS)
def status(ctx: CommandContext) -> None:
    """Where conversations are kept, and whether they can be read and stored."""
    from zkchat_cli.app.stores import describe_configured, open_configured, server_status

    loaded = ctx.config
    with closing(open_configured(loaded, to_read=True)) as store:
        document: dict[str, Any] = {
            "store": describe_configured(loaded),
            "kind": "postgresql" if loaded.values.store.url else "sqlite",
            "conversations": len(store.conversations()),
            "writable": store.write_error is None,
            "waiting_turns": store.waiting_turns,
            "refusal": store.refusal.message if store.refusal is not None else None,
            "server": None,
        }
        count = plural(document["conversations"], "conversation")
        where = "" if store.away is None else " kept on this machine"
        lines = [f"{document['store']}: {count}{where}"]
        if store.waiting_turns:
            lines.append(f"{plural(store.waiting_turns, 'turn')} not on the server yet")
        if store.refusal is not None:
            lines.append(f"{store.refusal.message}. {store.refusal.hint}")
        away = store.away
        if store.write_error is not None:
            lines.append(f"read-only: {store.write_error.message}")
    if away is not None:
        lines.append(f"{away.message}. {away.hint}")
    elif loaded.values.store.url:
        document["server"] = server_status(loaded)
        lines += _server_lines(document["server"])
    ctx.print_result(document, "\n".join(lines))


def _server_lines(server: dict[str, Any]) -> Iterable[str]:
    encrypted = "TLS" if server["tls"] else "no TLS"
    yield f"PostgreSQL {server['version']}, layout {server['layout']}, {encrypted}"
    yield f"you are {server['user']}"
    if server["sees_all"]:
        yield f"the role of {server['user']} sees the rows of all users: use one without that right"
    for waiting in server["waiting"]:
        yield f"waits for a lock: {waiting}"


@command(COMMAND, *options.SETTINGS)
def init(ctx: CommandContext) -> None:
    """Create the tables on the server that store.url names, or upgrade them."""
    from zkchat_cli.app.stores import describe_configured, open_configured, set_up_server

    loaded = ctx.config
    if not loaded.values.store.url:
        open_configured(loaded).close()
        file = loaded.paths.store_file
        ctx.print_result(
            {"store": str(file), "created": False},
            f"The store is the file {file}, and it is ready. For a server, set store.url first.",
        )
        return
    before, newest = set_up_server(loaded)
    shown = describe_configured(loaded)
    done = f"The store {shown} has layout {newest}"
    if before == newest:
        done += " already; nothing was changed."
    elif before:
        done += f", upgraded from layout {before}."
    else:
        done += ". Everybody who may connect to this database can keep conversations in it now."
    ctx.print_result({"store": shown, "created": before == 0, "layout": newest}, done)


@command(
    COMMAND,
    *options.SETTINGS,
    examples=["zkchat store copy --from ~/.local/share/zkchat/conversations.db --to $URL"],
)
def copy(
    ctx: CommandContext,
    source: Annotated[str, Option("--from", metavar="URL", help=f"The store to copy: {_HOW}.")],
    target: Annotated[str, Option("--to", metavar="URL", help="The store that gets the copy.")],
) -> None:
    """Copy all conversations and facts to another store, and compare them. Run it again if it was
    stopped.
    """
    from zkchat_cli.app.stores import open_named
    from zkchat_cli.store import store_copy

    if source == target:
        raise UsageError("--from and --to are the same store", f"Name two: {_HOW}.")
    with (
        closing(open_named(source, ctx.config, must_exist=True)) as first,
        closing(open_named(target, ctx.config)) as second,
    ):
        done = _report(ctx, store_copy.copy_conversations(first, second), "copied")
        facts = store_copy.copy_facts(first, second)
    added = sum(each.added for each in done)
    total = sum(each.messages for each in done)
    text = (
        f"Copied {plural(len(done), 'conversation')} to {hide_password(target)}: "
        f"{added:,} of {plural(total, 'message')} new, {plural(facts, 'fact')} new"
    )
    _finish(ctx, done, text, {"added": added, "facts_added": facts})


@command(COMMAND, *options.SETTINGS)
def verify(
    ctx: CommandContext,
    source: Annotated[
        str, Option("--from", metavar="URL", help="Another store; its messages must be here, too.")
    ] = "",
) -> None:
    """Read every message of the store, and compare it with its checksum or with another store."""
    from zkchat_cli.app.stores import open_configured, open_named
    from zkchat_cli.store import store_copy

    with closing(open_configured(ctx.config, to_read=True)) as store:
        if source:
            with closing(open_named(source, ctx.config, must_exist=True)) as other:
                done = _report(ctx, store_copy.compare(other, store), "different")
        else:
            done = _report(ctx, _damaged(store), "damaged")
    total = sum(each.messages for each in done)
    text = f"Read {plural(len(done), 'conversation')} with {plural(total, 'message')}"
    _finish(ctx, done, text, {})


def _damaged(store: "SessionStore") -> "Iterable[CopiedConversation]":
    from zkchat_cli.store.store_copy import CopiedConversation

    for conversation in store.conversations():
        log = store.log(conversation.id)
        damaged = tuple(message.id for message in log if message.status == "damaged")
        yield CopiedConversation(conversation, len(log), 0, damaged)


def _report(
    ctx: CommandContext, conversations: "Iterable[CopiedConversation]", done: str
) -> "list[CopiedConversation]":
    """All of them, with a line on stderr for each that is not as it should be."""
    every: list[CopiedConversation] = []
    for each in conversations:
        every.append(each)
        if each.differences:
            id_ = each.conversation.id
            ctx.screen.warn(f"{id_}: {plural(len(each.differences), 'message')} {done}, not equal")
    return every


def _finish(
    ctx: CommandContext, done: "list[CopiedConversation]", text: str, more: dict[str, Any]
) -> None:
    """Print the result; the exit code is 1 if anything is different."""
    different = {each.conversation.id: each.differences for each in done if each.differences}
    document = {
        "conversations": len(done),
        "messages": sum(each.messages for each in done),
        **more,
        "different": {id_: list(ids) for id_, ids in different.items()},
        "equal": not different,
    }
    ctx.print_result(document, f"{text}. {'Not all are equal.' if different else 'All are equal.'}")
    if different:
        raise typer.Exit(_CONFLICT)
