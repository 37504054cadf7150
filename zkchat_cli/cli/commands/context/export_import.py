"""`zkchat context export`, `import`: conversations out to a file, and in again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import command
from zkchat_cli.errors import UsageError, reason
from zkchat_cli.terminal import output_file

if TYPE_CHECKING:
    from zkchat_cli.exporters.base import Exporter
    from zkchat_cli.models import ConversationArchive, ZkChatMessage
    from zkchat_cli.vault.vault import Vault

ROOM = command.app()


def _formats(incomplete: str) -> list[str]:
    from zkchat_cli import exporters

    return [name for name in exporters.names() if name.startswith(incomplete)]


@command.command(
    ROOM,
    "strategy",
    "max_context",
    "vault",
    "model",
    "config_file",
    epilog=command.examples("zkchat context export --format html -o talk.html"),
)
def export(
    call: command.CommandContext,
    id_: command.ConversationArgument = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="F", help="md, html, json (lossless) or context (the next call).", autocompletion=_formats)
    ] = "md",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of --format json instead.")] = False,
    next_: Annotated[str | None, typer.Option("--next", metavar="TEXT", help="With --format context: the call for this message.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file instead, whole or not at all.")
    ] = None,
) -> None:
    """Write a conversation out: as Markdown, a page of HTML, lossless JSON, or as the request of the next model call."""
    from zkchat_cli import exporters

    exporter = exporters.exporter(format_)
    if next_ is not None and exporter.of != "call":
        raise UsageError("--next asks for the call of a message", "Say --format context with it.")
    if output is not None:
        output_file.check(output)
    from zkchat_cli.exporters.base import schema as json_schema

    text = json.dumps(json_schema(), indent=2) + "\n" if schema else _exported(call, id_, exporter, next_)
    if output is not None:
        output_file.save(output, text)
        call.screen.progress(f"Written to {output}")
    elif call.screen.out.isatty():
        call.screen.write(text)
    else:
        call.screen.out.write(text)  # a pipe gets the bytes as they are, a terminal harmless ones


def _exported(call: command.CommandContext, id_: str | None, exporter: "Exporter", next_: str | None) -> str:
    if exporter.of == "call":
        with call.session(id_, indexed=next_ is not None) as session:
            return exporter.export(session.request(next_))
    from zkchat_cli.app import factory

    root = factory.vault_root(call.loaded, Path.cwd())
    if root is None and id_ is None:
        raise factory.no_vault_error(Path.cwd())
    store = factory.open_store(call.loaded)  # the notes may be gone: what was said of them is not
    try:
        return exporter.export(store.archive(store.find(id_, root).id, prompts=exporter.prompts))
    finally:
        store.close()


@command.command(
    ROOM,
    *command.NOTES,
    name="import",
    epilog=command.examples("zkchat context import --file talk.json", "llm logs --json -n 0 | zkchat context import --file -"),
)
def import_(
    call: command.CommandContext,
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="An export of zkchat or llm, or a list of messages; - for a pipe.")],
) -> None:
    """Bring conversations in; all of the file or, with a clear error, nothing."""
    from zkchat_cli.app import factory
    from zkchat_cli.importers.conversation_file import LARGEST_FILE, read_conversations

    data = _bytes(file, LARGEST_FILE + 1)
    with call.opened() as bench:
        root = str(bench.vault.root)
        imported = read_conversations(data, vault=root, new_id=factory.new_id, now=factory.now())
        archives = [_at_home(a, root) if imported.is_own else _referring(a, bench.vault) for a in imported.archives]
        stored = bench.store.restore_all(archives, factory.new_id)
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
    if call.as_json:
        call.screen.json({**document[-1], "format": imported.kind, "conversations": document})
        return
    for entry in document:
        copy = "  (a copy: it is there already)" if entry["copy"] else ""
        call.screen.print(
            f"{entry['conversation_id']}  {entry['messages']} message{'s' * (entry['messages'] != 1)}  {entry['title'] or ''}{copy}"
        )


def _bytes(file: Path, most: int) -> bytes:
    """What the file holds, or what is piped in, up to a byte more than an import may have."""
    try:
        if str(file) == "-":
            return command.piped().buffer.read(most)
        with file.open("rb") as opened:
            return opened.read(most)
    except (OSError, ValueError) as e:
        raise UsageError(f"{file} cannot be read: {reason(e)}", "--file names a JSON file, or - for a pipe.") from e


def _referring(archive: "ConversationArchive", vault: "Vault") -> "ConversationArchive":
    """Questions that link to notes, and that another program kept without references, get them from the vault at hand."""
    from zkchat_cli.references.document_summaries import DocumentSummaryService
    from zkchat_cli.references.mentions import linked

    if not any(_refers(message) for message in archive.messages):
        return archive
    vault.refresh()
    summary = DocumentSummaryService(vault).summary
    messages = (m.model_copy(update={"references": linked(m.content, vault, summary)}) if _refers(m) else m for m in archive.messages)
    return archive.model_copy(update={"messages": tuple(messages)})


def _refers(message: "ZkChatMessage") -> bool:
    return message.role == "user" and not message.references and "[[" in message.content


def _at_home(archive: "ConversationArchive", vault: str) -> "ConversationArchive":
    """An export names the vault it came from; where that folder does not exist (another machine), it belongs to the vault at hand."""
    if Path(archive.conversation.vault).is_dir():
        return archive
    return archive.model_copy(update={"conversation": archive.conversation.model_copy(update={"vault": vault})})
