"""Opening notes with the other programs of the desktop."""

from PySide6.QtCore import QProcess
from PySide6.QtGui import QDesktopServices

from zkchat_cli.app.editor import open_note_command
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import NoteToOpen


def open_note(note: NoteToOpen, session: ZkChatSession) -> None:
    """Open a note with the editor from the settings, or else with the desktop's program for it.

    Raises ZkchatError if nothing opens it.
    """
    command = open_note_command(
        note.file,
        note.line,
        session.runtime.settings.terminal.open_command,
        session.vault.root,
        in_terminal=False,
    )
    if command:
        program, *arguments = command
        is_opened, _ = QProcess.startDetached(program, arguments)
    else:
        is_opened = QDesktopServices.openUrl(note.file.as_uri())
    if not is_opened:
        raise UsageError(
            f"nothing opens {note.file.name}",
            "Set terminal.open_command, for example: code -g {path}:{line}",
        )
