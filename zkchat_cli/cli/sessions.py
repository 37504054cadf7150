"""Stored conversations: list, read, search, rename and delete them; what their answers rest on, drawn."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from zkchat_cli import cli, conversations, wiring
from zkchat_cli.errors import UsageError
from zkchat_cli.models import Said
from zkchat_cli.references.relations import as_document, as_dot, as_mermaid, relations
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.store.retention import Retention
from zkchat_cli.terminal.programs import paged
from zkchat_cli.terminal.safe import neutralise
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.wiring import Choices
from zkchat_cli.words import encodable

COMMAND = cli.app("Stored conversations.")

FORMATS = ("dot", "mermaid", "json")
FOUND = 20
TOOLS = 4
"""How many times as many messages are looked at, because most may be results of tools."""
MOST_SOURCES = 10

AllOption = Annotated[bool, typer.Option("--all", "-a", help="With all notes, not only this vault's.")]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Conversation id or a unique prefix.")]


@contextmanager
def _store(vault: Path | None, config: Path | None, *, anywhere: bool = True) -> Iterator[tuple[ChatSessionStore, str | None]]:
    """The store, and the vault that the conversations are to be with. Where no vault is chosen and `anywhere` will do, of all: None."""
    loaded = wiring.settings(Choices(vault, config_file=config), os.environ, Path.cwd())
    root = wiring.vault_root(loaded, Path.cwd())
    if root is None and not anywhere:
        raise wiring.no_vault(Path.cwd())
    store = wiring.open_store(loaded)
    try:
        old = Retention(store, loaded.values, wiring.now())
        old.run()
        if old.notice is not None:
            Screen.of().warn(*old.notice)
        yield store, root
    finally:
        store.close()


@COMMAND.command(name="list")
def list_(
    everywhere: AllOption = False,
    limit: Annotated[int | None, typer.Option("-n", "--limit", metavar="N", min=1, help="The newest N.")] = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The conversations, the newest first."""
    screen = Screen.of()
    with _store(vault, config, anywhere=everywhere) as (store, root):
        known = store.overviews(None if everywhere else root, limit)
    if as_json:
        screen.json([each.model_dump(mode="json") for each in known])
        return
    with paged(screen.fitted()) as pager:
        pager.show(conversations.listed(known, mark=False))
    if not known:
        none = "There is no conversation yet." if everywhere else conversations.NONE
        screen.remark(f'{none} Start one: zkchat ask "…"')


@COMMAND.command()
def show(
    id_: cli.ConversationArgument = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Read a conversation: who said what, and the sources of each answer."""
    screen = Screen.of()
    with _store(vault, config) as (store, root):
        overview = store.overview(store.find(id_, root).id)
        history = store.history(overview.id)
    if as_json:
        screen.json({**overview.model_dump(mode="json"), "history": [message.model_dump(mode="json") for message in history]})
        return
    with paged(screen) as pager:
        pager.show(conversations.told(overview, history, MOST_SOURCES))


@COMMAND.command()
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Words that were said.")],
    everywhere: AllOption = False,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="At most so many messages.")] = FOUND,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Search everything that was ever said, the best matches first."""
    screen = Screen.of()
    with _store(vault, config, anywhere=everywhere) as (store, root):
        with screen.progress_bar("Making what was said searchable") as show:
            for done, total in store.indexing():
                show(done, total)
        said = conversations.spoken(store.search(None if everywhere else root, text, limit=TOOLS * limit), limit)
    if as_json:
        screen.json([_hit(each, text) for each in said])
        return
    with paged(screen.fitted()) as pager:
        pager.show(conversations.found(said, text))
    if not said:
        more = "" if everywhere or root is None else " --all looks into those with other notes, too."
        screen.remark(f"Nothing was said with these words.{more}")


def _hit(said: Said, text: str) -> dict[str, object]:
    snippet = conversations.excerpt(said.message.content, text)
    return {
        "conversation_id": said.conversation_id,
        "title": said.title,
        "message_id": said.message.id,
        "role": said.message.role,
        "timestamp": said.message.timestamp,
        "snippet": snippet,
        "found": conversations.words_found(snippet, text),
        "score": said.score,
    }


@COMMAND.command()
def rename(
    id_: IdArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is called from then on.")],
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Give a conversation another title."""
    title = " ".join(encodable(title).split())
    if not title:
        raise UsageError("a title needs a word", 'zkchat sessions rename ID "A title"')
    with _store(vault, config) as (store, root):
        conversation = store.find(id_, root)
        store.rename(conversation.id, title)
    screen = Screen.of()
    if as_json:
        screen.json({**conversation.model_dump(mode="json"), "title": title})
    else:
        screen.print(f"{conversation.id} is called “{title}” from now on.")


@COMMAND.command()
def delete(
    ids: Annotated[list[str], typer.Argument(metavar="ID …", help="Conversation ids or unique prefixes.")],
    yes: cli.SureOption = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Delete conversations for good: every branch of them, and every word in the store."""
    with _store(vault, config) as (store, root):
        doomed = list({found.id: store.overview(found.id) for found in (store.find(id_, root) for id_ in ids)}.values())
        named = "".join(f"  {each.id}  {conversations.name(each)} ({conversations.facts(each)})\n" for each in doomed)
        cli.agreed(neutralise(f"{named}Delete for good? Nothing brings it back."), "sessions delete", yes=yes)
        store.delete(*(each.id for each in doomed))
    screen = Screen.of()
    if as_json:
        screen.json({"deleted": [each.id for each in doomed]})
    else:
        for each in doomed:
            screen.print(f"{each.id} is deleted: {conversations.name(each)}")


def _formats(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


@COMMAND.command()
def graph(
    id_: cli.ConversationArgument = None,
    format_: Annotated[str, typer.Option("--format", metavar="F", help="dot, mermaid or json.", autocompletion=_formats)] = "mermaid",
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Draw which notes the questions named, and which the answers found and cited."""
    if format_ not in FORMATS:
        raise UsageError(f"{format_!r} is not a format of a graph", f"Use one of: {', '.join(FORMATS)}")
    with cli.opened(Choices(vault, config_file=config)) as bench:
        conversation = bench.store.find(id_, str(bench.vault.root))
        drawn = relations(bench.store.history(conversation.id))
    screen = Screen.of()
    if as_json or format_ == "json":
        screen.json({"conversation_id": conversation.id, "title": conversation.title, **as_document(drawn)})
    else:
        screen.write(as_dot(drawn) if format_ == "dot" else as_mermaid(drawn))
