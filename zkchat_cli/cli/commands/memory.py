"""What outlasts a conversation: facts to remember, and what of memory a prompt would hold."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import command
from zkchat_cli.errors import UsageError

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.memory.fact_ranking import RelevantFacts
    from zkchat_cli.memory.memory import FactUpdate
    from zkchat_cli.models import Fact

COMMAND = command.app("What outlasts a conversation: facts to remember, and what of memory a prompt would hold.")
MOST_IMPORTED = 500

TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The fact, or - to read it from standard input.")]


@contextmanager
def _remembering(call: command.CommandContext) -> "Iterator[ZkChatSession]":
    """A session on no conversation, for its memory."""
    with call.opened() as bench:
        yield bench.session()


@command.command(COMMAND, *command.NOTES, name="list")
def list_(call: command.CommandContext) -> None:
    """Every fact that is remembered, the newest first."""
    from zkchat_cli.views.memory import fact_lines

    with _remembering(call) as session:
        remembered = session.keeper.facts()
    if call.as_json:
        call.screen.json([_fact(fact) for fact in remembered])
        return
    call.screen.show([*fact_lines(remembered)])
    if not remembered:
        call.screen.remark('Nothing is remembered yet: zkchat memory add "…"')


@command.command(COMMAND, *command.NOTES, epilog=command.examples('zkchat memory add "the rent is 950 euros" --key rent'))
def add(
    call: command.CommandContext,
    text: TextArgument,
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="What it is about; a fact of the same key is replaced.")] = "",
) -> None:
    """Remember a fact; a newer one of the same key replaces the older."""
    from zkchat_cli.memory.fact_ranking import LONGEST_FACT

    fact = command.piped().buffer.read(8 * LONGEST_FACT).decode("utf-8", "replace") if text == "-" else text
    with _remembering(call) as session:
        kept = session.keeper.remember(fact, key=key)
    if call.as_json:
        call.screen.json({**_fact(kept.fact), "replaced": _fact(kept.replaced) if kept.replaced else None})
    else:
        _tell(call, kept)


def _tell(call: command.CommandContext, kept: "FactUpdate") -> None:
    call.screen.print(f"Remembered as {kept.fact.key}: {kept.fact.content}")
    if kept.replaced is not None and kept.replaced.content != kept.fact.content:
        call.screen.print(f"  it replaces, of {kept.replaced.created_at[:10]}: {kept.replaced.content}", "dim")


@command.command(COMMAND, *command.NOTES, name="import", epilog=command.examples("zkchat memory import @facts.md"))
def import_(
    call: command.CommandContext,
    path: Annotated[str, typer.Argument(metavar="@PATH", help="A text file from the vault or from under the current folder.")],
) -> None:
    """Remember each list item and each paragraph of a file."""
    from zkchat_cli.memory.fact_ranking import LONGEST_FACT, facts_in
    from zkchat_cli.references.file_imports import ImportRoots, imports_in, read

    written = path if path.startswith("@") else f"@{path}"
    wanted = imports_in(f'@"{written[1:]}"' if '"' not in written and not written.startswith("@<") else written)
    if not wanted:
        raise UsageError(f"{path} is not a path of a file", "Name one, as zkchat memory import @facts.md")
    with _remembering(call) as session:
        parts = session.parts
        places = ImportRoots(parts.vault, parts.folder, 1024 * parts.settings.references.import_max_kilobytes)
        file = read(wanted[0], places)
        every = facts_in("\n\n".join(chunk.text for chunk in file.chunks))
        taken = [fact for fact in every if len(fact) <= LONGEST_FACT][:MOST_IMPORTED]
        if not taken:
            raise UsageError(f"{file.relative_path} has no facts", "Each list item and each paragraph of it would be one.")
        kept = [session.keeper.remember(fact, source=file.relative_path) for fact in taken]
    if left := len(every) - len(taken):
        call.screen.warn(f"{left} were left out", f"At most {MOST_IMPORTED} at once, each of {LONGEST_FACT} characters at most.")
    if call.as_json:
        call.screen.json({"imported": [_fact(each.fact) for each in kept], "skipped": left})
        return
    for each in kept:
        _tell(call, each)


@command.command(COMMAND, *command.NOTES)
def search(call: command.CommandContext, text: Annotated[str, typer.Argument(metavar="TEXT", help="Words to search for.")]) -> None:
    """Search facts, notes that are often cited, and memory files; the best first."""
    with _remembering(call) as session:
        ranked = session.keeper.search(text, session.budget.messages, session.parts.counter)
    _show(call, ranked, [_found(relevant) for relevant in ranked])


@command.command(COMMAND, *command.NOTES)
def relevance(
    call: command.CommandContext,
    id_: command.ConversationArgument = None,
    next_: Annotated[str, typer.Option("--next", metavar="TEXT", help="For this message instead of the last one.")] = "",
) -> None:
    """How far each thing that is remembered bears on a conversation's last message, and what goes into the prompt."""
    with call.opened() as bench:
        if next_:
            bench.vault.refresh()
        session = bench.session(bench.find(id_) if id_ or not next_ else None)
        question = next_ or next((m.content for m in reversed(session.history) if m.role == "user"), "")
        ranked = session.keeper.relevant(question)
        sent = {(item.kind, item.key) for item in session.memory_for(next_)}
    documents = [{**_found(each), "reason": each.reason, "included": (each.item.kind, each.item.key) in sent} for each in ranked]
    _show(call, ranked, documents)


def _show(call: command.CommandContext, ranked: "Iterable[RelevantFacts]", documents: list[dict[str, Any]]) -> None:
    from zkchat_cli.views.memory import memory_search_lines

    if call.as_json:
        call.screen.json(documents)
        return
    for relevant, document in zip(ranked, documents, strict=True):
        call.screen.show([*memory_search_lines([relevant])])
        if document.get("included") is False:
            call.screen.print("  too far from the message to go into the prompt", "dim")
    if not documents:
        call.screen.remark("Nothing is remembered about that.")


@command.command(COMMAND, *command.NOTES)
def forget(
    call: command.CommandContext, key: Annotated[str, typer.Argument(metavar="KEY", help="A fact's key, or a unique beginning of it.")]
) -> None:
    """Delete a fact, with what it replaced."""
    with _remembering(call) as session:
        fact = session.keeper.forget(key)
    if call.as_json:
        call.screen.json(_fact(fact))
    else:
        call.screen.print(f"Forgotten: {fact.content} ({fact.key})")


def _fact(fact: "Fact") -> dict[str, Any]:
    values = fact.model_dump(mode="json", exclude={"ended_at", "title"})
    return {**values, "kind": "fact", "relative_path": None}


def _found(relevant: "RelevantFacts") -> dict[str, Any]:
    item = relevant.item
    return {
        "key": item.key,
        "content": item.content,
        "kind": item.kind,
        "score": round(relevant.score, 4),
        "relative_path": item.relative_path,
        "last_accessed": item.last_accessed,
    }
