"""/export: export the conversation to a file.

The default file is named after the conversation. It is in the current folder, or below zkchat's data folder if the current folder is in a
vault. Existing files are never overwritten.
"""

from contextlib import suppress
from pathlib import Path

from zkchat_cli import exporters
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import StoreError, UsageError, reason
from zkchat_cli.fileio import make_private_folder, write_new_file
from zkchat_cli.slash.base import slash_command


@slash_command("[md|html|json|context] [file]", lambda _: exporters.names())
def run(session: ZkChatSession, argument: str) -> str:
    format_, _, name = argument.partition(" ")
    exporter = exporters.exporter(format_ or "md")
    folder = session.services.documents_folder or Path()  # a note in a vault that nobody asked for is found by search
    with suppress(FileNotFoundError):  # the current folder was deleted
        here = Path.cwd()
        if not any(each == session.vault.root or (each / ".obsidian").is_dir() for each in (here, *here.parents)):
            folder = Path()
    file = Path(name.strip()) if name.strip() else folder / f"zkchat-{session.conversation.id}{exporter.suffix}"
    if exporter.of == "call":
        text = exporter.export(session.request())
    else:
        archive = session.archive(prompts=exporter.prompts)
        if not archive.messages:
            raise UsageError("there is nothing to export yet", "Ask something first.")
        text, messages = exporter.export(archive), list(archive.messages)
        del archive
        while messages:  # freed one by one: Python frees 40,000 at once without a pause, and `zkchat gui` stands still for 0.1 s
            messages.pop()
    try:
        file = file.expanduser()
        if not name.strip() and file.is_absolute():
            make_private_folder(file.parent)
        write_new_file(file, text)
    except FileExistsError as e:
        raise UsageError(f"{file} already exists", f"Give another name: /export {format_ or 'md'} other{exporter.suffix}") from e
    except (OSError, ValueError, RuntimeError) as e:  # a name with a NUL; `~nobody/…`
        raise StoreError(f"{file} cannot be written: {reason(e)}", f"Give another path: /export {format_ or 'md'} PATH") from e
    return f"Exported to {file}"
