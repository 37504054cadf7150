"""`zkchat context export` and `import`: conversations to and from files."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, examples, read_input
from zkchat_cli.errors import StoreError, StoreUnwritable, UsageError, reason
from zkchat_cli.fileio import atomic_write
from zkchat_cli.text.numbers import plural

if TYPE_CHECKING:
    from zkchat_cli.models import Conversation, ConversationArchive
    from zkchat_cli.vault.vault import Vault

COMMANDS = command_group()
MAX_IMPORT = 500_000_000
"""Bytes; an export of 10,000 turns with their prompts is smaller."""


@command(COMMANDS, *options.EXPORT, epilog=examples("zkchat context export --format html -o talk.html"))
def export(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    format_: Annotated[str, typer.Option("--format", metavar="F", help="md, html, json or context (the next call).")] = "md",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file, completely or not at all.")
    ] = None,
) -> None:
    """Export a conversation as Markdown, HTML or JSON (lossless), or export the request of the next model call."""
    from zkchat_cli import exporters

    exporter = exporters.exporter(format_)
    if exporter.of == "call":
        with ctx.open_session(id_) as session:
            text = exporter.export(session.request())
    else:
        with ctx.open_store(anywhere=id_ is not None) as (store, root):  # works even if the vault is gone
            text = exporter.export(store.archive(store.find(id_, root).id, prompts=exporter.prompts))
    if output is not None:
        _write_output(output, text)
        ctx.screen.progress(f"Wrote {output}")
    elif ctx.screen.out.isatty():
        ctx.screen.write(text)
    else:
        ctx.screen.out.write(text)  # a pipe gets the text as it is, a terminal sanitized text


def _write_output(file: Path, text: str) -> None:
    """Replace the file's content; a pipe or a device is written to. Raises StoreError; the file is unchanged then."""
    try:
        target = file.expanduser().resolve()
        write = target.write_bytes if target.exists() and not target.is_file() else partial(atomic_write, target)
        write(text.encode("utf-8", "backslashreplace"))
    except (OSError, RuntimeError, ValueError) as e:
        raise StoreError(f"{file} cannot be written: {reason(e)}", "Name another place with -o.") from e


@command(
    COMMANDS,
    *options.NOTES,
    name="import",
    epilog=examples("zkchat context import --file talk.json", "zkchat context import --from claude-code ~/.claude/projects"),
)
def import_(
    ctx: CommandContext,
    path: Annotated[
        Path | None, typer.Argument(metavar="[PATH]", help="With --from: a session's file, or a folder of them.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="An export of zkchat, or a list of messages; - for a pipe.")
    ] = None,
    program: Annotated[
        str | None, typer.Option("--from", metavar="PROGRAM", help="claude-code or codex: sessions of that program.")
    ] = None,
) -> None:
    """Import conversations: a whole file or, on an error, nothing of it. Sessions of other programs are imported once."""
    if program is not None and path is not None and file is None:
        _import_sessions(ctx, program, path)
    elif file is not None and program is None and path is None:
        _import_file(ctx, file)
    else:
        raise UsageError("context import needs a file", "Give --file FILE, or --from claude-code|codex and a PATH.")


def _import_file(ctx: CommandContext, file: Path) -> None:
    from zkchat_cli.app import factory
    from zkchat_cli.importers.conversation_file import read_conversations

    data = read_input(str(file), MAX_IMPORT, "a JSON file")
    with ctx.open_app() as app:
        root = str(app.vault.root)
        imported = read_conversations(data, vault=root, new_id=factory.new_id, now=factory.now())
        archives = [_with_existing_vault(a, root) if imported.is_own else _with_references(a, app.vault) for a in imported.archives]
        stored = app.store.restore_all(archives, factory.new_id)
    documents = [
        _import_document(conversation, len(archive.messages), copy=imported.is_own and conversation.id != archive.conversation.id)
        for archive, conversation in zip(archives, stored, strict=True)
    ]
    _print_imported(ctx, documents, imported.kind)


def _import_sessions(ctx: CommandContext, program: str, path: Path) -> None:
    """Import the sessions in a file, or in all `.jsonl` files of a folder; a file of the folder that cannot be read is left out."""
    from zkchat_cli.app import factory
    from zkchat_cli.importers import claude_code, codex

    readers = {"claude-code": claude_code.read_session, "codex": codex.read_session}
    if program not in readers:
        raise UsageError(f"--from {program}: zkchat reads sessions of {' and '.join(readers)}", "Correct the name.")
    path = path.expanduser()
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    documents = []
    with ctx.open_app() as app:
        for file in files:
            data = read_input(str(file), MAX_IMPORT, "a session's file")
            try:
                archive = readers[program](data, file.name, vault=str(app.vault.root), now=factory.now())
                documents.append(_import_document(archive.conversation, app.store.merge(_with_references(archive, app.vault))))
            except StoreUnwritable:
                raise
            except (StoreError, UsageError) as e:
                e.message = f"{file}: {e.message}"
                if len(files) == 1:
                    raise
                ctx.screen.warn(f"left out: {e.message}")
    if not documents:
        raise UsageError(
            f"{path} has no .jsonl file that can be read", "Name a session's file, or the folder where the program keeps them."
        )
    _print_imported(ctx, documents, program)


def _import_document(conversation: "Conversation", new: int, *, copy: bool = False) -> dict[str, Any]:
    """What was imported; `new` is the number of messages that were stored."""
    values = conversation.model_dump(mode="json", include={"title", "vault"})
    return {"conversation_id": conversation.id, **values, "messages": new, "copy": copy}


def _print_imported(ctx: CommandContext, documents: list[dict[str, Any]], kind: str) -> None:
    lines = []
    for each in documents:
        if each["messages"]:
            copy = "  (imported as a copy: the id already exists)" if each["copy"] else ""
            lines.append(f"{each['conversation_id']}  {plural(each['messages'], 'message')}  {each['title'] or ''}{copy}")
    text = "\n".join(lines) or "Nothing new: all of it was imported before."
    ctx.print_result({**documents[-1], "format": kind, "conversations": documents}, text)


def _with_references(archive: "ConversationArchive", vault: "Vault") -> "ConversationArchive":
    """Add references to questions that link to notes but were stored without references by another program."""
    from zkchat_cli.references.document_summaries import DocumentSummaryService
    from zkchat_cli.references.mentions import linked_notes

    without = {m.id for m in archive.messages if m.role == "user" and not m.references and "[[" in m.content}
    if not without:
        return archive
    vault.refresh()
    summary = DocumentSummaryService(vault).summary
    messages = (
        m.model_copy(update={"references": linked_notes(m.content, vault, summary)}) if m.id in without else m for m in archive.messages
    )
    return archive.model_copy(update={"messages": tuple(messages)})


def _with_existing_vault(archive: "ConversationArchive", vault: str) -> "ConversationArchive":
    """Assign the conversation to this vault if the one it names does not exist (an export from another machine)."""
    if Path(archive.conversation.vault).is_dir():
        return archive
    return archive.model_copy(update={"conversation": archive.conversation.model_copy(update={"vault": vault})})
