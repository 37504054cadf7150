"""`zkchat context import`: which files it reads, and how their conversations are stored."""

from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.app import factory
from zkchat_cli.app.factory import App
from zkchat_cli.citations.recheck import recheck_citations
from zkchat_cli.cli.command import CommandContext, read_input
from zkchat_cli.cli.stored_copy import find_stored_copy
from zkchat_cli.errors import StoreError, StoreUnwritable, UsageError
from zkchat_cli.importers import read_conversations, session_importers
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.port import SessionStore

# Most messages of an import that are embedded at once, in about half a minute
MOST_EMBEDDED = 2_000
# Most bytes of a file; an export of 10,000 turns with their prompts is smaller
MAX_IMPORT = 500_000_000
# Most characters of a message
LONGEST_MESSAGE = 20_000_000


def files_to_import(path: Path | None, file: Path | None, program: str | None) -> list[Path]:
    """The files that the options name. Raises UsageError for options that do not fit together."""
    if program is None and (file is None) != (path is None):
        return [each for each in (file, path) if each is not None]
    if file is not None or program is None or path is None:
        raise UsageError(
            "context import needs a file",
            "Give one file, or --from claude-code|codex and a PATH.",
        )
    programs = session_importers()
    if program not in programs:
        raise UsageError(
            f"--from {program}: zkchat reads sessions of {' and '.join(programs)}",
            "Correct the name.",
        )
    path = path.expanduser()
    return sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]


class ImportedConversation(NamedTuple):
    """A conversation of a file, and how many of its messages were new and are stored now."""

    conversation: Conversation
    messages: int


class Import(NamedTuple):
    """The format of the files that were imported, and the conversations in them."""

    kind: str
    conversations: list[ImportedConversation]


def import_files(
    ctx: CommandContext, app: App, files: Sequence[Path], program: str | None
) -> Import:
    """Store the conversations of the files.

    If one of several files is not valid, only that one is left out.
    """
    kind = program or ""
    now = factory.now()
    imported: list[ImportedConversation] = []
    expected = "a session's file" if program else "a JSON file"
    for file in files:
        data = read_input(str(file), MAX_IMPORT, expected)
        try:
            read = _read_archives(data, file, app, program, now)
            kind = read.kind
            imported += _store_new(app.store, read)
        except (StoreError, UsageError) as e:
            if program:
                e.message = f"{file}: {e.message}"
            if isinstance(e, StoreUnwritable) or len(files) == 1:
                raise
            ctx.screen.warn(f"left out: {e.message}")
    return Import(kind, imported)


class _ReadFile(NamedTuple):
    """The format of a file, its conversations, and the ids that were made for them."""

    kind: str
    archives: list[ConversationArchive]
    made_ids: set[str]


def _store_new(store: SessionStore, read: _ReadFile) -> list[ImportedConversation]:
    """Store what is new of the conversations of a file. One that is stored under another id is not
    stored again.
    """
    new: list[ConversationArchive] = []
    imported: list[ImportedConversation] = []
    for archive in read.archives:
        copy = None
        if archive.conversation.id in read.made_ids:
            copy = find_stored_copy(store, archive)
        if copy is not None:
            imported.append(ImportedConversation(copy, 0))
        else:
            new.append(archive)
    for archive, messages in zip(new, store.restore(new), strict=True):
        imported.append(ImportedConversation(archive.conversation, messages))
    return imported


def _read_archives(data: bytes, file: Path, app: App, program: str | None, now: str) -> _ReadFile:
    """What a file has.

    If their vault is not on this machine, they become conversations with this vault. Raises
    UsageError for a file that is not valid.
    """
    root = str(app.vault.root)
    made_ids: set[str] = set()

    def make_id() -> str:
        id_ = factory.new_id()
        made_ids.add(id_)
        return id_

    if program is not None:
        kind = program
        read_session = session_importers()[program].read
        archives = [read_session(data, file.name, vault=root, now=now)]
    else:
        kind, archives = read_conversations(data, vault=root, new_id=make_id, now=now)
    checked = [_check_archive(archive, app, root) for archive in archives]
    return _ReadFile(kind, checked, made_ids)


def _check_archive(archive: ConversationArchive, app: App, root: str) -> ConversationArchive:
    """The conversation with this vault, if its own is not on this machine, and with citations that
    were checked here. Raises UsageError for a message that is too long.
    """

    read_note = app.vault.reader.read_if_there
    # Whoever wrote the file shall not decide which files of this machine are sent to a model
    conversation = archive.conversation.model_copy(update={"documents": ()})
    if not Path(conversation.vault).is_dir():
        conversation = conversation.model_copy(update={"vault": root})
    is_this_vault = conversation.vault == root
    messages: list[ZkChatMessage] = []
    for message in archive.messages:
        if len(message.content) > LONGEST_MESSAGE:
            raise UsageError(
                f"a message has {len(message.content):,} characters, and zkchat reads messages "
                f"of at most {LONGEST_MESSAGE:,}",
                "Nothing of this file was imported.",
            )
        messages.append(recheck_citations(message, read_note if is_this_vault else lambda _: None))
    return archive.model_copy(update={"conversation": conversation, "messages": tuple(messages)})


def embed_messages(ctx: CommandContext, app: App, new: int) -> None:
    """Compute the vectors of new messages, for recall; a chat computes those of older ones."""
    embedder = app.message_embedder()
    if embedder is None:
        return
    most = min(new, MOST_EMBEDDED)
    with (
        closing(embedder),
        ctx.screen.progress_bar("Embedding") as progress,
        suppress(KeyboardInterrupt),
    ):
        embedder.compute_missing(lambda: False, lambda done: progress(min(done, most), most), most)
    ctx.print_warnings(app.vault)
