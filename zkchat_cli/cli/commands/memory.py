"""What outlasts a conversation: facts to remember, and what of memory a prompt would hold."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, examples, standard_input
from zkchat_cli.errors import UsageError

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.memory.fact_ranking import RankedMemory
    from zkchat_cli.memory.memory import FactUpdate
    from zkchat_cli.models import Fact

COMMAND = command_group("What outlasts a conversation: facts to remember, and what of memory a prompt would hold.")
MOST_IMPORTED = 500

TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The fact, or - to read it from standard input.")]


@contextmanager
def _remembering(ctx: CommandContext) -> "Iterator[ZkChatSession]":
    """A session on no conversation, for its memory."""
    with ctx.open_app() as app:
        yield app.session()


@command(COMMAND, *options.NOTES, name="list")
def list_(ctx: CommandContext) -> None:
    """Every fact that is remembered, the newest first."""
    from zkchat_cli.views.memory import facts

    with _remembering(ctx) as session:
        remembered = session.memory.facts()
    if ctx.as_json:
        ctx.screen.json([_fact(fact) for fact in remembered])
        return
    ctx.screen.show([*facts(remembered)])
    if not remembered:
        ctx.screen.remark('Nothing is remembered yet: zkchat memory add "…"')


@command(COMMAND, *options.NOTES, epilog=examples('zkchat memory add "the rent is 950 euros" --key rent'))
def add(
    ctx: CommandContext,
    text: TextArgument,
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="What it is about; a fact of the same key is replaced.")] = "",
) -> None:
    """Remember a fact; a newer one of the same key replaces the older."""
    from zkchat_cli.memory.fact_ranking import MAX_FACT

    fact = standard_input().buffer.read(8 * MAX_FACT).decode("utf-8", "replace") if text == "-" else text
    with _remembering(ctx) as session:
        kept = session.memory.remember(fact, key=key)
    if ctx.as_json:
        ctx.screen.json({**_fact(kept.fact), "replaced": _fact(kept.replaced) if kept.replaced else None})
    else:
        _tell(ctx, kept)


def _tell(ctx: CommandContext, kept: "FactUpdate") -> None:
    ctx.screen.print(f"Remembered as {kept.fact.key}: {kept.fact.content}")
    if kept.replaced is not None and kept.replaced.content != kept.fact.content:
        ctx.screen.print(f"  it replaces, of {kept.replaced.created_at[:10]}: {kept.replaced.content}", "dim")


@command(COMMAND, *options.NOTES, name="import", epilog=examples("zkchat memory import @facts.md"))
def import_(
    ctx: CommandContext,
    path: Annotated[str, typer.Argument(metavar="@PATH", help="A text file from the vault or from under the current folder.")],
) -> None:
    """Remember each list item and each paragraph of a file."""
    from zkchat_cli.memory.fact_ranking import MAX_FACT, parse_facts
    from zkchat_cli.references.file_imports import imports_in, read

    written = path if path.startswith("@") else f"@{path}"
    wanted = imports_in(f'@"{written[1:]}"' if '"' not in written and not written.startswith("@<") else written)
    if not wanted:
        raise UsageError(f"{path} is not a path of a file", "Name one, as zkchat memory import @facts.md")
    with _remembering(ctx) as session:
        file = read(wanted[0], session.import_roots)
        every = parse_facts("\n\n".join(chunk.text for chunk in file.chunks))
        taken = [fact for fact in every if len(fact) <= MAX_FACT][:MOST_IMPORTED]
        if not taken:
            raise UsageError(f"{file.relative_path} has no facts", "Each list item and each paragraph of it would be one.")
        kept = [session.memory.remember(fact, source=file.relative_path) for fact in taken]
    if left := len(every) - len(taken):
        ctx.screen.warn(f"{left} were left out", f"At most {MOST_IMPORTED} at once, each of {MAX_FACT} characters at most.")
    if ctx.as_json:
        ctx.screen.json({"imported": [_fact(each.fact) for each in kept], "skipped": left})
        return
    for each in kept:
        _tell(ctx, each)


@command(COMMAND, *options.NOTES)
def search(ctx: CommandContext, text: Annotated[str, typer.Argument(metavar="TEXT", help="Words to search for.")]) -> None:
    """Search facts, notes that are often cited, and memory files; the best first."""
    with _remembering(ctx) as session:
        ranked = session.memory.search(text, session.budget.messages, session.counter)
    _show(ctx, ranked, [_found(relevant) for relevant in ranked])


@command(COMMAND, *options.NOTES)
def relevance(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    next_: Annotated[str, typer.Option("--next", metavar="TEXT", help="For this message instead of the last one.")] = "",
) -> None:
    """How far each thing that is remembered bears on a conversation's last message, and what goes into the prompt."""
    with ctx.open_app() as app:
        if next_:
            app.vault.refresh()
        session = app.session(app.find(id_) if id_ or not next_ else None)
        question = next_ or next((m.content for m in reversed(session.history) if m.role == "user"), "")
        ranked = session.memory.rank(question)
        sent = {(item.kind, item.key) for item in session.memory_items(next_)}
    documents = [{**_found(each), "reason": each.reason, "included": (each.item.kind, each.item.key) in sent} for each in ranked]
    _show(ctx, ranked, documents)


def _show(ctx: CommandContext, ranked: "Iterable[RankedMemory]", documents: list[dict[str, Any]]) -> None:
    from zkchat_cli.views.memory import found

    if ctx.as_json:
        ctx.screen.json(documents)
        return
    for relevant, document in zip(ranked, documents, strict=True):
        ctx.screen.show([*found([relevant])])
        if document.get("included") is False:
            ctx.screen.print("  too far from the message to go into the prompt", "dim")
    if not documents:
        ctx.screen.remark("Nothing is remembered about that.")


@command(COMMAND, *options.NOTES)
def forget(
    ctx: CommandContext, key: Annotated[str, typer.Argument(metavar="KEY", help="A fact's key, or a unique beginning of it.")]
) -> None:
    """Delete a fact, with what it replaced."""
    with _remembering(ctx) as session:
        fact = session.memory.forget(key)
    if ctx.as_json:
        ctx.screen.json(_fact(fact))
    else:
        ctx.screen.print(f"Forgotten: {fact.content} ({fact.key})")


def _fact(fact: "Fact") -> dict[str, Any]:
    values = fact.model_dump(mode="json", exclude={"ended_at", "title"})
    return {**values, "kind": "fact", "relative_path": None}


def _found(relevant: "RankedMemory") -> dict[str, Any]:
    item = relevant.item
    return {
        "key": item.key,
        "content": item.content,
        "kind": item.kind,
        "score": round(relevant.score, 4),
        "relative_path": item.relative_path,
        "last_accessed": item.last_accessed,
    }
