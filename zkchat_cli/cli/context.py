"""See, shrink, export and import what the model sees."""

import shutil
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from zkchat_cli import cli, exporters, wiring
from zkchat_cli.context import figures, past, showing
from zkchat_cli.context.compaction import covered
from zkchat_cli.context.past import Past
from zkchat_cli.errors import StoreError, UsageError
from zkchat_cli.events import CompactionStarted, Event, Waiting
from zkchat_cli.ladder import Wish, summarizes
from zkchat_cli.memory.listing import NONE, included
from zkchat_cli.models import Compaction, ConversationArchive
from zkchat_cli.session import ZkChatSession
from zkchat_cli.store.imports import read_archive
from zkchat_cli.terminal.screen import Screen
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


@COMMAND.command()
def show(
    id_: cli.ConversationArgument = None,
    next_: Annotated[str | None, typer.Option("--next", metavar="TEXT", help="Show the prompt for this message.")] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Show what was sent then, for your N-th message.")] = None,
    call: Annotated[int | None, typer.Option("--call", metavar="K", help="Of that turn, its K-th call alone.")] = None,
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
    with _session(Choices(vault, model, config, strategy, max_context), id_, indexed=next_ is not None) as session:
        prompt = session.prompt(next_)
    if as_json:
        screen.json(prompt)
    else:
        _print(screen, showing.prompt(prompt))


def _print(screen: Screen, blocks: Iterable[showing.Block]) -> None:
    for text, style in blocks:
        screen.print(text, *style.split())


def _show_past(screen: Screen, choices: Choices, id_: str | None, turn: int, call: int | None, *, as_json: bool) -> None:
    conversation, [one] = _pasts(choices, id_, turn)
    calls = one.calls if call is None else (one.call(call),)
    if as_json:
        document = [{name: value for name, value in sent.model_dump(mode="json").items() if name not in _OUTSIDE} for sent in calls]
        screen.json({"conversation_id": conversation, "turn": turn, "question_id": one.calls[0].question_id, "calls": document})
    else:
        _print(screen, showing.past(one, call))


_OUTSIDE = ("question_id", "summarised_through")


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
        _print(screen, showing.changed(before, after, found))
        return
    screen.json(
        {
            "conversation_id": conversation,
            "a": {"turn": a, "tokens": before.tokens},
            "b": {"turn": b, "tokens": after.tokens},
            "added": [message.model_dump(mode="json") for message in found.added],
            "lost": [{**message.model_dump(mode="json"), "reason": why or None} for message, why in found.lost],
            "tools_added": found.tools_added,
            "tools_lost": found.tools_lost,
        }
    )


@COMMAND.command()
def stats(
    id_: cli.ConversationArgument = None,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Tokens per component against budgets, and what to do about the largest."""
    screen = Screen.of()
    with _session(Choices(vault, model, config, strategy, max_context), id_) as session:
        prompt = session.prompt()
        pinned = figures.pinned(session.history)
    if as_json:
        screen.json(prompt.usage)
    else:
        screen.print(figures.table(prompt, shutil.get_terminal_size((figures.WIDTH, 24)).columns, pinned))


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
        screen.print("No summary: every turn is sent as it is.")
    else:
        screen.print(figures.standing(compaction, covers), "bold")
        screen.print(compaction.summary or "")


@COMMAND.command()
def memory(
    id_: cli.ConversationArgument = None,
    next_: Annotated[str, typer.Option("--next", metavar="TEXT", help="For this message.")] = "",
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """The memory that would be included, and why."""
    screen = Screen.of()
    with cli.opened(Choices(vault, config_file=config)) as bench:
        if next_:
            bench.vault.refresh()
        session = bench.session(bench.store.find(id_, str(bench.vault.root)) if id_ else None)
        items = session.memory_for(next_)
        for message, hint in session.keeper.take_notices():
            screen.warn(message, hint)
    if as_json:
        values = ({f: getattr(item, f) for f in item.__dataclass_fields__} for item in items)
        screen.json([{**value, "relative_path": value["relative_path"] or None} for value in values])
        return
    screen.show([*included(items)])
    if not items:
        screen.print(NONE)


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
            text = figures.describe(done) + (f"\n\n{done.summary}" if preview and done.summary else "")
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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Start the conversation's context afresh; the log stays."""
    with cli.opened(Choices(vault, config_file=config)) as bench:
        conversation = bench.store.find(id_, str(bench.vault.root))
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("context clear asks before it acts", "Say --yes where nobody can answer.")
            typer.confirm(f"Start {conversation.id} afresh? The log stays.", abort=True, err=True)
        bench.store.move_head(conversation.id, None)
    screen = Screen.of()
    if as_json:
        screen.json({"conversation_id": conversation.id, "cleared": True})
    else:
        screen.print(f"{conversation.id} starts afresh; its log is kept.")


@COMMAND.command()
def export(
    id_: cli.ConversationArgument = None,
    format_: Annotated[str, typer.Option("--format", metavar="F", help="md, html or json; json is lossless.")] = "md",
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead of stdout.")] = None,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Write a conversation out, as Markdown, a page of HTML or lossless JSON."""
    exporter = exporters.exporter(format_)
    with cli.opened(Choices(vault, config_file=config)) as bench:
        text = exporter.export(bench.store.archive(bench.store.find(id_, str(bench.vault.root)).id))
    if output is None:
        screen = Screen.of()
        screen.write(text) if screen.colour else screen.out.write(text)  # a pipe gets the bytes as they are, a terminal harmless ones
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as e:
        raise StoreError(f"{output} cannot be written: {e}", "Name another place with -o.") from e


@COMMAND.command(name="import")
def import_(
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="An export, a list of messages, or chat_sessions.json.")],
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Bring a conversation in; all of it or, with a clear error, nothing."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"{file} cannot be read: {e}", "--file names a UTF-8 JSON file.") from e
    with cli.opened(Choices(vault, config_file=config)) as bench:
        root = str(bench.vault.root)
        archives = [_at_home(a, root) for a in read_archive(text, vault=root, new_id=wiring.new_id, now=wiring.now())]
        stored = bench.store.restore_all(archives, wiring.new_id)
    screen = Screen.of()
    document = [{"conversation_id": c.id, "title": c.title, "messages": len(a.messages)} for c, a in zip(stored, archives, strict=True)]
    if as_json:
        screen.json({**document[-1], "conversations": document})
    else:
        for entry in document:
            screen.print(f"{entry['conversation_id']}  {entry['messages']} messages  {entry['title'] or ''}")


def _at_home(archive: ConversationArchive, vault: str) -> ConversationArchive:
    """An export names the vault it came from; where that folder does not exist (another machine), it belongs to the vault at hand."""
    if Path(archive.conversation.vault).is_dir():
        return archive
    return archive.model_copy(update={"conversation": archive.conversation.model_copy(update={"vault": vault})})
