"""See, shrink, export and import what the model sees."""

import json
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from zkchat_cli import cli, exporters, wiring
from zkchat_cli.context import figures, past, showing
from zkchat_cli.context.compaction import covered
from zkchat_cli.context.past import Past
from zkchat_cli.errors import UsageError, reason
from zkchat_cli.events import CompactionStarted, Event, Waiting
from zkchat_cli.ladder import Wish, summarizes
from zkchat_cli.memory.listing import NONE, included
from zkchat_cli.models import Compaction, ConversationArchive, ZkChatMessage
from zkchat_cli.references.extraction import linked
from zkchat_cli.references.summaries import DocumentSummaryService
from zkchat_cli.session import ZkChatSession
from zkchat_cli.store.imports import LARGEST, read_file
from zkchat_cli.terminal import redrawing, saving
from zkchat_cli.terminal.programs import paged
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault import Vault
from zkchat_cli.wiring import Choices

COMMAND = cli.app("What the model sees: the exact prompt, its figures, its summaries; out to a file and in again.")

PreviewOption = Annotated[bool, typer.Option("--preview", help="Only say what would happen; the model may be asked for that.")]

FINDING_OUT = 10.0
"""Seconds for which it is waited for a server to say how large a model's window is."""


@contextmanager
def _session(choices: Choices, id_: str | None, *, indexed: bool = False) -> Iterator[ZkChatSession]:
    """A session on a stored conversation, to look at; `indexed` brings the index up to date first."""
    with cli.opened(choices) as bench:
        conversation = bench.store.find(id_, str(bench.vault.root))
        bench.counter.warm()
        if indexed:
            bench.vault.refresh()
        session = bench.session(conversation)
        if session.parts.window is None:
            session.prepare(FINDING_OUT)  # the window that the next call would have
        yield session


@COMMAND.command(epilog=cli.examples('zkchat context show --next "and how long?"', "zkchat context show --turn 3"))
def show(
    id_: cli.ConversationArgument = None,
    next_: Annotated[str | None, typer.Option("--next", metavar="TEXT", help="Show the prompt for this message.")] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Show what was sent then, for your N-th message.")] = None,
    call: Annotated[int | None, typer.Option("--call", metavar="K", help="Of that turn, its K-th call alone.")] = None,
    agent: cli.AgentOption = None,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The exact messages and tools the next call would send, or an earlier one has sent."""
    screen = Screen.of()
    if turn is not None and next_ is not None:
        raise UsageError("--turn shows the past, --next what is to come", "Leave out one of them.")
    if call is not None and turn is None:
        raise UsageError("--call needs a --turn", "Say which turn's call, as --turn 3 --call 1.")
    if turn is not None:
        _show_past(screen, Choices(vault, config_file=config), id_, turn, call, as_json=as_json)
        return
    with _session(Choices(vault, model, config, strategy, max_context, agent=agent), id_, indexed=next_ is not None) as session:
        prompt = session.prompt(next_)
    if as_json:
        screen.json(prompt)
    else:
        with paged(screen) as pager:
            pager.print(showing.text(prompt))


def _show_past(screen: Screen, choices: Choices, id_: str | None, turn: int, call: int | None, *, as_json: bool) -> None:
    conversation, [one] = _pasts(choices, id_, turn)
    if as_json:
        screen.json({"conversation_id": conversation, **one.document(call)})
    else:
        with paged(screen) as pager:
            pager.print(showing.past(one, call))


def _pasts(choices: Choices, id_: str | None, *turns: int) -> tuple[str, list[Past]]:
    """What was sent in some turns of a conversation, and its id."""
    with cli.opened(choices) as bench:
        conversation = bench.store.find(id_, str(bench.vault.root))
        history = bench.store.history(conversation.id)
        found = [past.past(history, turn, bench.store.prompts(past.asked(history, turn).id)) for turn in turns]
    return conversation.id, found


@COMMAND.command()
def diff(
    a: Annotated[int, typer.Argument(metavar="A", help="A turn, counted by your messages.")],
    b: Annotated[int, typer.Argument(metavar="B", help="Another one.")],
    id_: cli.ConversationArgument = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """What the last prompt of turn B had that the one of turn A had not, and what it had lost."""
    conversation, [before, after] = _pasts(Choices(vault, config_file=config), id_, a, b)
    found = past.changes(before.last, after.last)
    screen = Screen.of()
    if not as_json:
        with paged(screen) as pager:
            pager.print(showing.changed(before, after, found))
        return
    turns = {name: {"turn": one.number, "tokens": one.tokens} for name, one in (("a", before), ("b", after))}
    screen.json({"conversation_id": conversation, **turns, **found.document})


@COMMAND.command()
def stats(
    id_: cli.ConversationArgument = None,
    agent: cli.AgentOption = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show them again whenever they change, until Ctrl-C.")] = False,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Tokens per component against budgets, and what to do about the largest."""
    screen = Screen.of()

    def told(session: ZkChatSession) -> str:
        prompt = session.prompt()
        if as_json:
            return screen.as_json(prompt.usage)
        return figures.table(prompt, _columns(), figures.pinned(session.history))

    with _session(Choices(vault, model, config, strategy, max_context, agent=agent), id_) as session:
        if watch:
            _watch(session, id_, told, screen)
        else:
            screen.print(told(session))


def _watch(session: ZkChatSession, id_: str | None, told: Callable[[ZkChatSession], str], screen: Screen) -> None:
    """Of the conversation that is named, or of whichever is the vault's latest, until Ctrl-C."""
    parts = session.parts

    def look() -> str:
        conversation = parts.store.find(id_, str(parts.vault.root))
        return told(ZkChatSession(parts, conversation))

    redrawing.watch(lambda: (parts.store.facts_version(), _columns()), look, screen)


def _columns() -> int:
    return shutil.get_terminal_size((figures.WIDTH, 24)).columns


@COMMAND.command()
def summary(
    id_: cli.ConversationArgument = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The summary that stands for older turns, if there is one."""
    screen = Screen.of()
    with _session(Choices(vault, config_file=config), id_) as session:
        compaction = session.compaction
        covers = covered(compaction, session.turns) if compaction else None
    if as_json:
        screen.json([{**compaction.model_dump(mode="json"), "covers": asdict(covers)}] if compaction and covers else [])
    elif compaction is None or covers is None:
        screen.remark("No summary: every turn is sent as it is.")
    else:
        screen.print(figures.standing(compaction, covers), "bold")
        screen.print(compaction.summary or "")


@COMMAND.command()
def memory(
    id_: cli.ConversationArgument = None,
    next_: Annotated[str, typer.Option("--next", metavar="TEXT", help="For this message.")] = "",
    agent: cli.AgentOption = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The memory that would be included, and why; of the vault's latest conversation, or before there is any."""
    screen = Screen.of()
    with cli.opened(Choices(vault, config_file=config, agent=agent)) as bench:
        if next_:
            bench.vault.refresh()
        root = str(bench.vault.root)
        there = id_ is not None or bench.store.conversations(root, 1)  # project memory is there before anything was said
        session = bench.session(bench.store.find(id_, root) if there else None)
        items = session.memory_for(next_)
        for message, hint in session.keeper.take_notices():
            screen.warn(message, hint)
    if as_json:
        values = ({f: getattr(item, f) for f in item.__dataclass_fields__} for item in items)
        screen.json([{**value, "relative_path": value["relative_path"] or None} for value in values])
        return
    screen.show([*included(items)])
    if not items:
        screen.remark(NONE.format('zkchat memory add "…"'))


@COMMAND.command()
def compact(
    id_: cli.ConversationArgument = None,
    instructions: Annotated[str | None, typer.Option("--instructions", metavar="TEXT", help="What the summary should keep.")] = None,
    target: Annotated[int | None, typer.Option("--target", metavar="TOKENS", min=1, help="Largest size of the summary.")] = None,
    keep: Annotated[int | None, typer.Option("--keep", metavar="N", min=0, help="Newest messages to leave whole.")] = None,
    preview: PreviewOption = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last compaction back.")] = False,
    as_json: cli.JsonOption = False,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Summarise older turns now; nothing is deleted."""
    screen = Screen.of()
    with _session(Choices(vault, model, config, strategy, max_context), id_) as session:
        if undo:
            undone = session.undo_compaction()
            if undone is None:
                raise UsageError("there is no compaction to take back", "zkchat context summary shows the one that holds.")
            done, text = undone, "Taken back: the prompt is what it was before."
        else:
            wish = Wish(instructions=instructions, target=target, keep=keep, preview=preview)
            done = _told(session.compacting(wish), screen, session.parts.model.name if summarizes(session) else "")
            text = figures.describe(done, undo="zkchat context compact --undo") + (
                f"\n\n{done.summary}" if preview and done.summary else ""
            )
    if as_json:
        screen.json(done)
    else:
        screen.print(text)


def _told(climbing: Generator[Event, None, Compaction], screen: Screen, model: str) -> Compaction:
    """The compaction, and meanwhile, if a model is asked for it, a word on what takes its time."""
    while True:
        try:
            event = next(climbing)
        except StopIteration as end:
            done: Compaction = end.value
            return done
        if model and isinstance(event, CompactionStarted):
            screen.progress(f"{model} is asked for a summary …")
        elif isinstance(event, Waiting):
            screen.progress(f"waiting for {event.seconds:.0f} s: {event.reason}")


@COMMAND.command()
def clear(
    id_: cli.ConversationArgument = None,
    yes: cli.SureOption = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Start the conversation's context afresh; the log stays."""
    with cli.opened(Choices(vault, config_file=config)) as bench:
        conversation = bench.store.find(id_, str(bench.vault.root))
        cli.agreed(f"Start {conversation.id} afresh? The log stays.", "context clear", yes=yes)
        bench.store.move_head(conversation.id, None)
    screen = Screen.of()
    if as_json:
        screen.json({"conversation_id": conversation.id, "cleared": True})
    else:
        screen.print(f"{conversation.id} starts afresh; its log is kept.")


def _formats(incomplete: str) -> list[str]:
    return [name for name in exporters.names() if name.startswith(incomplete)]


@COMMAND.command(epilog=cli.examples("zkchat context export --format html -o talk.html"))
def export(
    id_: cli.ConversationArgument = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="F", help="md, html, json (lossless) or context (the next call).", autocompletion=_formats)
    ] = "md",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of --format json instead.")] = False,
    next_: Annotated[str | None, typer.Option("--next", metavar="TEXT", help="With --format context: the call for this message.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file instead, whole or not at all.")
    ] = None,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Write a conversation out: as Markdown, a page of HTML, lossless JSON, or as the request of the next model call."""
    exporter = exporters.exporter(format_)
    if next_ is not None and exporter.of != "call":
        raise UsageError("--next asks for the call of a message", "Say --format context with it.")
    if output is not None:
        saving.check(output)
    if schema:
        text = json.dumps(exporters.schema(), indent=2) + "\n"
    else:
        text = _exported(Choices(vault, model, config, strategy, max_context), id_, exporter, next_)
    if output is None:
        screen = Screen.of()
        screen.write(text) if screen.colour else screen.out.write(text)  # a pipe gets the bytes as they are, a terminal harmless ones
    else:
        saving.save(output, text)


def _exported(choices: Choices, id_: str | None, exporter: exporters.Exporter, next_: str | None) -> str:
    if exporter.of == "call":
        with _session(choices, id_, indexed=next_ is not None) as session:
            return exporter.export(session.request(next_))
    with cli.opened(choices) as bench:
        return exporter.export(bench.store.archive(bench.store.find(id_, str(bench.vault.root)).id, prompts=exporter.prompts))


@COMMAND.command(name="import")
def import_(
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="A file, or - for a pipe; see the README for what it may hold.")],
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Bring conversations in; all of the file or, with a clear error, nothing."""
    data = _bytes(file)
    with cli.opened(Choices(vault, config_file=config)) as bench:
        root = str(bench.vault.root)
        imported = read_file(data, vault=root, new_id=wiring.new_id, now=wiring.now())
        archives = [_at_home(a, root) if imported.is_own else _referring(a, bench.vault) for a in imported.archives]
        stored = bench.store.restore_all(archives, wiring.new_id)
    screen = Screen.of()
    document = [
        {
            "conversation_id": conversation.id,
            "title": conversation.title,
            "messages": len(archive.messages),
            "references": sum(len(message.references) for message in archive.messages),
            "compactions": sum(not compaction.undone for compaction in archive.compactions),
            "prompts": len(archive.prompts.calls) if archive.prompts else 0,
            "vault": conversation.vault,
            "copy": imported.is_own and conversation.id != archive.conversation.id,
        }
        for conversation, archive in zip(stored, archives, strict=True)
    ]
    if as_json:
        screen.json({**document[-1], "format": imported.kind, "conversations": document})
        return
    for entry in document:
        copy = "  (a copy: it is there already)" if entry["copy"] else ""
        screen.print(
            f"{entry['conversation_id']}  {entry['messages']} message{'s' * (entry['messages'] != 1)}  {entry['title'] or ''}{copy}"
        )


def _bytes(file: Path) -> bytes:
    """What the file holds, or what is piped in, up to a byte more than an import may have."""
    try:
        if str(file) == "-":
            return cli.piped().buffer.read(LARGEST + 1)
        with file.open("rb") as opened:
            return opened.read(LARGEST + 1)
    except (OSError, ValueError) as e:
        raise UsageError(f"{file} cannot be read: {reason(e)}", "--file names a JSON file, or - for a pipe.") from e


def _referring(archive: ConversationArchive, vault: Vault) -> ConversationArchive:
    """Questions that link to notes, and that another program kept without references, get them from the vault at hand."""
    if not any(_refers(message) for message in archive.messages):
        return archive
    vault.refresh()
    summary = DocumentSummaryService(vault).summary
    messages = (m.model_copy(update={"references": linked(m.content, vault, summary)}) if _refers(m) else m for m in archive.messages)
    return archive.model_copy(update={"messages": tuple(messages)})


def _refers(message: ZkChatMessage) -> bool:
    return message.role == "user" and not message.references and "[[" in message.content


def _at_home(archive: ConversationArchive, vault: str) -> ConversationArchive:
    """An export names the vault it came from; where that folder does not exist (another machine), it belongs to the vault at hand."""
    if Path(archive.conversation.vault).is_dir():
        return archive
    return archive.model_copy(update={"conversation": archive.conversation.model_copy(update={"vault": vault})})
