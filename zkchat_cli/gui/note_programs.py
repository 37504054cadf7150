"""Opens a note in the user's program, as `/open` does; an editor that needs a terminal is passed over for the desktop's program."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices

from zkchat_cli.app.editor import open_note_command
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.slash.base import NoteToOpen

if TYPE_CHECKING:
    from zkchat_cli.gui.window import ChatWindow

IN_A_TERMINAL = ("vi", "vim", "nvim", "view", "nano", "kak", "micro", "ne", "jed", "joe", "mcedit", "pico", "hx", "helix", "ed")


def open_note(note: NoteToOpen, window: "ChatWindow") -> None:
    session = window.session
    if session is None:
        return
    try:
        command = open_note_command(note.file, note.line, session.runtime.settings.terminal.open_command, session.vault.root)
        if command is not None and Path(command[0]).name not in IN_A_TERMINAL:
            if not QProcess.startDetached(command[0], command[1:])[0]:
                raise UsageError(f"{command[0]} cannot be started", "Set $VISUAL, $EDITOR or terminal.open_command to your editor.")
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(note.file))):
            raise UsageError(f"nothing opens {note.file.name}", "Set terminal.open_command, for example to: code -g {path}:{line}")
    except ZkchatError as e:
        window.result.show_error(e)
