"""Stored conversations: list, read, search, rename and delete them; what their answers rest on, drawn."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import command
from zkchat_cli.errors import UsageError
from zkchat_cli.terminal.external_programs import paged
from zkchat_cli.text.sanitize import sanitize

if TYPE_CHECKING:
    from zkchat_cli.models import ConversationSummary, FoundMessage
    from zkchat_cli.store.chat_session_store import ChatSessionStore

COMMAND = command.app("Stored conversations.")

FORMATS = ("dot", "mermaid", "json")
FOUND = 20
TOOLS = 4
"""How many times as many messages are looked at, because most may be results of tools."""
MOST_SOURCES = 10
MOST_NAMED = 20
"""Conversations that are named one by one before they are deleted; of more their number says more."""

AllOption = Annotated[bool, typer.Option("--all", "-a", help="With all notes, not only this vault's.")]
AgeOption = Annotated[
    str | None, typer.Option("--older-than", metavar="AGE", help="Those untouched so long (90d, 12w, 1y), or since a date (2025-05-08).")
]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Conversation id or a unique prefix.")]


@contextmanager
def _store(call: command.CommandContext, *, anywhere: bool = True) -> "Iterator[tuple[ChatSessionStore, str | None]]":
    """The store, and the vault that the conversations are to be with. Where no vault is chosen and `anywhere` will do, of all: None."""
    from zkchat_cli.app import factory
    from zkchat_cli.store.retention import Retention

    root = factory.vault_root(call.loaded, Path.cwd())
    if root is None and not anywhere:
        raise factory.no_vault_error(Path.cwd())
    store = factory.open_store(call.loaded)
    try:
        old = Retention(store, call.loaded.values, factory.now())
        old.run()
        if old.notice is not None:
            call.screen.warn(*old.notice)
        yield store, root
    finally:
        store.close()


@command.command(COMMAND, *command.NOTES, name="list")
def list_(
    call: command.CommandContext,
    everywhere: AllOption = False,
    limit: Annotated[int | None, typer.Option("-n", "--limit", metavar="N", min=1, help="The newest N.")] = None,
) -> None:
    """The conversations, the newest first."""
    from zkchat_cli.views import conversation_list

    with _store(call, anywhere=everywhere) as (store, root):
        known = store.overviews(None if everywhere else root, limit)
    if call.as_json:
        call.screen.json([each.model_dump(mode="json") for each in known])
        return
    with paged(call.screen.with_width()) as pager:
        pager.show(conversation_list.listed(known, mark=False))
    if not known:
        none = "There is no conversation yet." if everywhere else conversation_list.NONE
        call.screen.remark(f'{none} Start one: zkchat ask "…"')


@command.command(COMMAND, *command.NOTES)
def show(call: command.CommandContext, id_: command.ConversationArgument = None) -> None:
    """Read a conversation: who said what, and the sources of each answer."""
    from zkchat_cli.views import conversation_list

    with _store(call) as (store, root):
        overview = store.overview(store.find(id_, root).id)
        history = store.history(overview.id)
    if call.as_json:
        call.screen.json({**overview.model_dump(mode="json"), "history": [message.model_dump(mode="json") for message in history]})
        return
    with paged(call.screen) as pager:
        pager.show(conversation_list.told(overview, history, MOST_SOURCES))


@command.command(COMMAND, *command.NOTES, epilog=command.examples('zkchat sessions search "heat pump"'))
def search(
    call: command.CommandContext,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Words that were said.")],
    everywhere: AllOption = False,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="At most so many messages.")] = FOUND,
) -> None:
    """Search everything that was ever said, the best matches first."""
    from zkchat_cli.views import conversation_list

    with _store(call, anywhere=everywhere) as (store, root):
        with call.screen.progress_bar("Making what was said searchable") as progress:
            for done, total in store.indexing():
                progress(done, total)
        said = conversation_list.spoken(store.search(None if everywhere else root, text, limit=TOOLS * limit), limit)
    if call.as_json:
        call.screen.json([_hit(each, text) for each in said])
        return
    with paged(call.screen.with_width()) as pager:
        pager.show(conversation_list.found(said, text))
    if not said:
        more = "" if everywhere or root is None else " --all looks into those with other notes, too."
        call.screen.remark(f"Nothing was said with these words.{more}")


def _hit(said: "FoundMessage", text: str) -> dict[str, object]:
    from zkchat_cli.views import conversation_list

    snippet = conversation_list.excerpt(said.message.content, text)
    return {
        "conversation_id": said.conversation_id,
        "title": said.title,
        "message_id": said.message.id,
        "role": said.message.role,
        "timestamp": said.message.timestamp,
        "snippet": snippet,
        "found": conversation_list.words_found(snippet, text),
        "score": said.score,
    }


@command.command(COMMAND, *command.NOTES, epilog=command.examples('zkchat sessions rename 3f2a "The roof"'))
def rename(
    call: command.CommandContext,
    id_: IdArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is called from then on.")],
) -> None:
    """Give a conversation another title."""
    from zkchat_cli.text.words import encodable

    title = " ".join(encodable(title).split())
    if not title:
        raise UsageError("a title needs a word", 'zkchat sessions rename ID "A title"')
    with _store(call) as (store, root):
        conversation = store.find(id_, root)
        store.rename(conversation.id, title)
    if call.as_json:
        call.screen.json({**conversation.model_dump(mode="json"), "title": title})
    else:
        call.screen.print(f"{conversation.id} is called “{title}” from now on.")


@command.command(
    COMMAND, *command.NOTES, epilog=command.examples("zkchat sessions delete 3f2a 91bc", "zkchat sessions delete --older-than 90d")
)
def delete(
    call: command.CommandContext,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Conversation ids or unique prefixes.")] = None,
    age: AgeOption = None,
    everywhere: Annotated[bool, typer.Option("--all", "-a", help="With --older-than: with all notes, not only this vault's.")] = False,
    yes: command.SureOption = False,
) -> None:
    """Delete conversations for good: every branch of them, and every word in the store."""
    from zkchat_cli.app import factory
    from zkchat_cli.views import conversation_list

    if bool(ids) == (age is not None):
        raise UsageError(
            "either ids or --older-than says which conversations to delete", "zkchat sessions list shows them; --older-than 90d"
        )
    with _store(call, anywhere=age is None or everywhere) as (store, root):
        if age is not None:
            old = {*store.untouched_since(conversation_list.ago(age, factory.now()).isoformat())}
            doomed = [each for each in store.overviews(None if everywhere else root) if each.id in old]
        else:
            doomed = list({found.id: store.overview(found.id) for found in (store.find(id_, root) for id_ in ids or ())}.values())
        if doomed:
            command.agreed(sanitize(f"{_named(doomed)}Delete for good? Nothing brings it back."), "sessions delete", yes=yes)
            store.delete(*(each.id for each in doomed))
    if call.as_json:
        call.screen.json({"deleted": [each.id for each in doomed]})
        return
    for each in doomed:
        call.screen.print(f"{each.id} is deleted: {conversation_list.name(each)}")
    if not doomed:
        call.screen.remark("No conversation is that old.")


def _named(doomed: "list[ConversationSummary]") -> str:
    """What is to be deleted, a line each."""
    from zkchat_cli.views import conversation_list

    lines = [f"  {each.id}  {conversation_list.name(each)} ({conversation_list.facts(each)})" for each in doomed[:MOST_NAMED]]
    more = [f"  and {len(doomed) - MOST_NAMED} more, {len(doomed)} in all"] if len(doomed) > MOST_NAMED else []
    return "".join(f"{line}\n" for line in (*lines, *more))


def _formats(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


@command.command(COMMAND, *command.NOTES, epilog=command.examples("zkchat sessions graph --format dot | dot -Tsvg > talk.svg"))
def graph(
    call: command.CommandContext,
    id_: command.ConversationArgument = None,
    format_: Annotated[str, typer.Option("--format", metavar="F", help="dot, mermaid or json.", autocompletion=_formats)] = "mermaid",
) -> None:
    """Draw which notes the questions named, and which the answers found and cited."""
    from zkchat_cli.references.relations import as_document, as_dot, as_mermaid, relations

    if format_ not in FORMATS:
        raise UsageError(f"{format_!r} is not a format of a graph", f"Use one of: {', '.join(FORMATS)}")
    with call.opened() as bench:
        conversation = bench.find(id_)
        drawn = relations(bench.store.history(conversation.id))
    if call.as_json or format_ == "json":
        call.screen.json({"conversation_id": conversation.id, "title": conversation.title, **as_document(drawn)})
    else:
        call.screen.write(as_dot(drawn) if format_ == "dot" else as_mermaid(drawn))
