"""What outlasts a conversation: facts to remember, and what of memory a prompt would hold."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from zkchat_cli import cli
from zkchat_cli.errors import UsageError
from zkchat_cli.memory.keeper import Kept
from zkchat_cli.memory.listing import facts, found
from zkchat_cli.memory.smart import LONGEST_FACT, Relevant, facts_in
from zkchat_cli.models import Fact
from zkchat_cli.references.imports import Places, imports_in, read
from zkchat_cli.session import ZkChatSession
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.wiring import Choices

COMMAND = cli.app("What outlasts a conversation: facts to remember, and what of memory a prompt would hold.")
MOST_IMPORTED = 500

TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The fact, or - to read it from standard input.")]


@contextmanager
def _session(choices: Choices, id_: str | None = None) -> Iterator[ZkChatSession]:
    """A session on a stored conversation, or on none, for its memory."""
    with cli.opened(choices) as bench:
        yield bench.session(bench.store.find(id_, str(bench.vault.root)) if id_ else None)


@COMMAND.command(name="list")
def list_(as_json: cli.JsonOption = False, vault: cli.VaultOption = None, config: cli.ConfigOption = None) -> None:
    """Every fact that is remembered, the newest first."""
    screen = Screen.of()
    with _session(Choices(vault, config_file=config)) as session:
        remembered = session.keeper.facts()
    if as_json:
        screen.json([_fact(fact) for fact in remembered])
    else:
        screen.show([*facts(remembered)])
        if not remembered:
            screen.remark('Nothing is remembered yet: zkchat memory add "…"')


@COMMAND.command(epilog=cli.examples('zkchat memory add "the rent is 950 euros" --key rent'))
def add(
    text: TextArgument,
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="What it is about; a fact of the same key is replaced.")] = "",
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Remember a fact; a newer one of the same key replaces the older."""
    screen = Screen.of()
    fact = cli.piped().buffer.read(8 * LONGEST_FACT).decode("utf-8", "replace") if text == "-" else text
    with _session(Choices(vault, config_file=config)) as session:
        kept = session.keeper.remember(fact, key=key)
    if as_json:
        screen.json({**_fact(kept.fact), "replaced": _fact(kept.replaced) if kept.replaced else None})
    else:
        _tell(screen, kept)


def _tell(screen: Screen, kept: Kept) -> None:
    screen.print(f"Remembered as {kept.fact.key}: {kept.fact.content}")
    if kept.replaced is not None and kept.replaced.content != kept.fact.content:
        screen.print(f"  it replaces, of {kept.replaced.created_at[:10]}: {kept.replaced.content}", "dim")


@COMMAND.command(name="import")
def import_(
    path: Annotated[str, typer.Argument(metavar="@PATH", help="A text file from the vault or from under the current folder.")],
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Remember each list item and each paragraph of a file."""
    screen = Screen.of()
    written = path if path.startswith("@") else f"@{path}"
    wanted = imports_in(f'@"{written[1:]}"' if '"' not in written and not written.startswith("@<") else written)
    if not wanted:
        raise UsageError(f"{path} is not a path of a file", "Name one, as zkchat memory import @facts.md")
    with _session(Choices(vault, config_file=config)) as session:
        parts = session.parts
        places = Places(parts.vault, parts.folder, 1024 * parts.settings.references.import_max_kilobytes)
        file = read(wanted[0], places)
        every = facts_in("\n\n".join(chunk.text for chunk in file.chunks))
        taken = [fact for fact in every if len(fact) <= LONGEST_FACT][:MOST_IMPORTED]
        if not taken:
            raise UsageError(f"{file.relative_path} has no facts", "Each list item and each paragraph of it would be one.")
        kept = [session.keeper.remember(fact, source=file.relative_path) for fact in taken]
    if len(taken) < len(every):
        screen.warn(
            f"{len(every) - len(taken)} were left out", f"At most {MOST_IMPORTED} at once, each of {LONGEST_FACT} characters at most."
        )
    if as_json:
        screen.json({"imported": [_fact(each.fact) for each in kept], "skipped": len(every) - len(taken)})
    else:
        for each in kept:
            _tell(screen, each)


@COMMAND.command()
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Words to search for.")],
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Search facts, notes that are often cited, and memory files; the best first."""
    screen = Screen.of()
    with _session(Choices(vault, config_file=config)) as session:
        ranked = session.keeper.search(text, session.budget.messages, session.parts.counter)
    _show(screen, ranked, [_found(relevant) for relevant in ranked], as_json=as_json)


@COMMAND.command()
def relevance(
    id_: cli.ConversationArgument = None,
    next_: Annotated[str, typer.Option("--next", metavar="TEXT", help="For this message instead of the last one.")] = "",
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """How far each thing that is remembered bears on a conversation's last message, and what goes into the prompt."""
    screen = Screen.of()
    with cli.opened(Choices(vault, config_file=config)) as bench:
        if next_:
            bench.vault.refresh()
        session = bench.session(bench.store.find(id_, str(bench.vault.root)) if id_ or not next_ else None)
        question = next_ or next((m.content for m in reversed(session.history) if m.role == "user"), "")
        ranked = session.keeper.relevant(question)
        sent = {(item.kind, item.key) for item in session.memory_for(next_)}
    included = [(relevant.item.kind, relevant.item.key) in sent for relevant in ranked]
    documents = [{**_found(each), "reason": each.reason, "included": there} for each, there in zip(ranked, included, strict=True)]
    _show(screen, ranked, documents, as_json=as_json)


def _show(screen: Screen, ranked: tuple[Relevant, ...], documents: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        screen.json(documents)
        return
    for relevant, document in zip(ranked, documents, strict=True):
        screen.show([*found([relevant])])
        if document.get("included") is False:
            screen.print("  too far from the message to go into the prompt", "dim")
    if not ranked:
        screen.remark("Nothing is remembered about that.")


@COMMAND.command()
def forget(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A fact's key, or a unique beginning of it.")],
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Delete a fact, with what it replaced."""
    screen = Screen.of()
    with _session(Choices(vault, config_file=config)) as session:
        fact = session.keeper.forget(key)
    if as_json:
        screen.json(_fact(fact))
    else:
        screen.print(f"Forgotten: {fact.content} ({fact.key})")


def _fact(fact: Fact) -> dict[str, Any]:
    values = fact.model_dump(mode="json", exclude={"ended_at", "title"})
    return {**values, "kind": "fact", "relative_path": None}


def _found(relevant: Relevant) -> dict[str, Any]:
    item = relevant.item
    return {
        "key": item.key,
        "content": item.content,
        "kind": item.kind,
        "score": round(relevant.score, 4),
        "relative_path": item.relative_path,
        "last_accessed": item.last_accessed,
    }
