"""Memory: facts that outlast a conversation, and which of them go into the prompt."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.views.text import StyledLine, styled_line

if TYPE_CHECKING:
    from zkchat_cli.memory.facts import StoredMemory
    from zkchat_cli.models.facts import Fact
    from zkchat_cli.references.file_imports import FileImport, ImportedFile
    from zkchat_cli.vault.vault import Vault

NO_MATCH = "No memory matches."
ORDER = 80
COMMAND = command_group(
    "Memory: facts that outlast a conversation, and which of them go into the prompt."
)


@command(COMMAND, *options.NOTES)
def list_(ctx: CommandContext) -> None:
    """All remembered facts, newest first."""
    from zkchat_cli.views.stored_items import fact_lines

    with ctx.open_app() as app:
        remembered = app.session().memory.facts()
    ctx.print_result(
        [_fact_document(fact) for fact in remembered],
        fact_lines(remembered),
        'No facts yet. Add one: zkchat memory add "…"',
    )


@command(COMMAND, *options.NOTES, examples=['zkchat memory add "the rent is 950 euros" --key rent'])
def add(
    ctx: CommandContext,
    text: Annotated[
        str, Argument(metavar="TEXT", help="The fact, or - to read it from standard input.")
    ],
    key: Annotated[
        str,
        Option(
            "--key",
            metavar="KEY",
            help="The fact's subject; an older fact with the same key is replaced.",
        ),
    ] = "",
    shared: Annotated[
        bool, Option("--shared", help="Everybody who uses the store on the server sees it.")
    ] = False,
) -> None:
    """Remember a fact. It replaces an older one with the same key."""
    from zkchat_cli.memory.facts import MAX_FACT
    from zkchat_cli.views.stored_items import fact_update_text

    fact = text
    if text == "-":
        # Longer than any fact, so that one which is too long is refused
        fact = sys.stdin.buffer.read(8 * MAX_FACT).decode("utf-8", "replace")
    with ctx.open_app() as app:
        sharing = app.store.sharing
        if shared and sharing is None:
            raise UsageError(
                "a fact in a file cannot be shared", "Set store.url to a PostgreSQL server."
            )
        stored, replaced = app.session().memory.remember(fact, key=key)
        if shared and sharing is not None:
            sharing.share_fact(str(app.vault.root), stored.key, shared=True)
    document = {
        **_fact_document(stored),
        "replaced": _fact_document(replaced) if replaced else None,
    }
    ctx.print_result(document, fact_update_text(stored, replaced))


@command(COMMAND, *options.NOTES, examples=["zkchat memory import @facts.md"])
def import_(
    ctx: CommandContext,
    path: Annotated[
        str, Argument(metavar="@PATH", help="A text file in the vault or below the current folder.")
    ],
) -> None:
    """Remember each list item and each paragraph of a file."""
    from zkchat_cli.memory.facts import MAX_FACT, parse_facts
    from zkchat_cli.views.stored_items import fact_update_text

    wanted = _find_import(path)
    with ctx.open_app() as app:
        file = _read_file(app.vault, wanted)
        facts = parse_facts("\n\n".join(chunk.text for chunk in file.chunks))
        short_facts = [fact for fact in facts if len(fact) <= MAX_FACT]
        if not short_facts:
            raise UsageError(
                f"{file.relative_path} has no facts",
                "Each list item and each paragraph is read as one fact.",
            )
        memory = app.session().memory
        updates = [memory.remember(fact, source=file.relative_path) for fact in short_facts]
    skipped = len(facts) - len(short_facts)
    if skipped:
        ctx.screen.warn(
            f"skipped {plural(skipped, 'fact')}", f"A fact has at most {MAX_FACT} characters."
        )
    document = {"imported": [_fact_document(stored) for stored, _ in updates], "skipped": skipped}
    ctx.print_result(document, "\n".join(fact_update_text(*update) for update in updates))


def _find_import(path: str) -> "FileImport":
    """The file that `@PATH` names. Raises UsageError for what is not a path."""
    from zkchat_cli.references.file_imports import find_imports

    imports = find_imports(f'@"{path.removeprefix("@")}"')
    if not imports:
        raise UsageError(f"{path} is not a path", "For example: zkchat memory import @facts.md")
    return imports[0]


def _read_file(vault: "Vault", wanted: "FileImport") -> "ImportedFile":
    """The file with its text. Raises VaultError for one that cannot be read."""
    from zkchat_cli.references.file_imports import ImportRoots, read_import

    try:
        return read_import(wanted, ImportRoots(vault, Path.cwd()))
    except VaultError as e:
        e.hint = e.hint or "Name a file of your notes or of the current folder."
        raise


@command(COMMAND, *options.NOTES)
def search(
    ctx: CommandContext, text: Annotated[str, Argument(metavar="TEXT", help="Words to search for.")]
) -> None:
    """Search facts and often cited notes; best first."""
    from zkchat_cli.views.stored_items import memory_search_lines

    with ctx.open_app() as app:
        ranked = app.session().memory.rank(text, compute=True, all_agents=True)
    ctx.print_result(
        [_ranked_document(each) for each in ranked], memory_search_lines(ranked), NO_MATCH
    )


@command(COMMAND, *options.NOTES)
def relevance(ctx: CommandContext, id_: options.ConversationArgument = None) -> None:
    """How relevant each memory is to a conversation's last message, and which go into the
    prompt.
    """
    from zkchat_cli.views.stored_items import memory_search_lines

    with ctx.open_app() as app:
        session = app.session(app.find(id_))
        questions = [message.content for message in session.history if message.role == "user"]
        ranked = session.memory.rank(questions[-1] if questions else "")
        sent = {(item.kind, item.key) for item in session.memory_items()}
    documents: list[dict[str, Any]] = []
    lines: list[StyledLine] = []
    for each in ranked:
        is_sent = (each.kind, each.key) in sent
        document = _ranked_document(each)
        documents.append({**document, "reason": each.reason, "included": is_sent})
        lines += memory_search_lines([each])
        if not is_sent:
            lines.append(styled_line("  not relevant enough for the prompt", "dim"))
    ctx.print_result(documents, lines, NO_MATCH)


@command(COMMAND, *options.NOTES)
def forget(
    ctx: CommandContext,
    key: Annotated[
        str,
        Argument(
            metavar="KEY", help="A fact's key; for a unique beginning of it, zkchat asks first."
        ),
    ],
    yes: options.ConfirmOption = False,
) -> None:
    """Delete a fact and the older ones it replaced."""
    from zkchat_cli.memory.fact_keys import slugify

    with ctx.open_app() as app:
        memory = app.session().memory
        fact = memory.find_fact(key)
        named = sanitize(f"{fact.key} ({fact.content})")
        is_named_in_full = fact.key in (key, slugify(key))
        confirm(f"Forget {named}?", f"forgetting {named}", yes=yes or is_named_in_full)
        memory.forget(fact.key)
    ctx.print_result(_fact_document(fact), f"Forgotten: {fact.content} ({fact.key})")


def _fact_document(fact: "Fact") -> dict[str, Any]:
    return {
        **fact.model_dump(mode="json", exclude={"ended_at", "title"}),
        "kind": "fact",
        "relative_path": None,
    }


def _ranked_document(item: "StoredMemory") -> dict[str, Any]:
    names = ("key", "content", "kind", "relative_path", "last_accessed", "agent")
    return {**{name: getattr(item, name) for name in names}, "score": round(item.score, 4)}
