"""Exports the conversation to a file."""

from contextlib import suppress
from pathlib import Path

from zkchat_cli import exporters
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import StoreError, UsageError, reason
from zkchat_cli.exporters.base import Exporter
from zkchat_cli.fileio import make_private_folder, write_new_file
from zkchat_cli.slash.base import Topic, declare_command, split_first_word

DEFAULT_FORMAT = "md"


def export(session: ZkChatSession, argument: str) -> str:
    """Export the conversation to a file.

    The default file is named after the conversation. It is in the current folder, or below zkchat's
    data folder if the current folder is in a vault. Existing files are never overwritten.
    """
    format_, name = split_first_word(argument)
    format_ = format_ or DEFAULT_FORMAT
    exporter = exporters.exporter(format_)
    if name:
        file = Path(name)
    else:
        file = _default_folder(session) / f"zkchat-{session.conversation.id}{exporter.suffix}"
    text = _exported_text(session, exporter)
    try:
        file = file.expanduser()
        if not name and file.is_absolute():
            make_private_folder(file.parent)
        write_new_file(file, text)
    except FileExistsError as e:
        raise UsageError(
            f"{file} already exists",
            f"Give another name: /export {format_} other{exporter.suffix}",
        ) from e
    # ValueError: a name with a NUL; RuntimeError: `~nobody/…`
    except (OSError, ValueError, RuntimeError) as e:
        raise StoreError(
            f"{file} cannot be written: {reason(e)}", f"Give another path: /export {format_} PATH"
        ) from e
    return f"Exported to {file}"


def _default_folder(session: ZkChatSession) -> Path:
    """The current folder, unless it is in a vault: search would find an export there as a note that
    nobody wanted.
    """
    documents = session.services.documents_folder or Path()
    # The current folder may have been deleted
    with suppress(FileNotFoundError):
        here = Path.cwd()
        if not any(_is_vault(session, folder) for folder in (here, *here.parents)):
            return Path()
    return documents


def _is_vault(session: ZkChatSession, folder: Path) -> bool:
    return folder == session.vault.root or (folder / ".obsidian").is_dir()


def _exported_text(session: ZkChatSession, exporter: Exporter) -> str:
    if exporter.of == "call":
        return exporter.export(session.request())
    archive = session.archive(prompts=exporter.prompts)
    if not archive.messages:
        raise UsageError("there is nothing to export yet", "Ask something first.")
    text = exporter.export(archive)
    messages = list(archive.messages)
    del archive
    # Freed one by one: Python frees 40,000 at once without a pause, and `zkchat gui` stands still
    # for 0.1 s
    while messages:
        messages.pop()
    return text


def _formats(_session: ZkChatSession) -> list[str]:
    return exporters.names()


COMMAND = declare_command(
    export,
    Topic.CONVERSATION,
    order=100,
    argument="[md|okf|html|json|context] [file]",
    values=_formats,
)
