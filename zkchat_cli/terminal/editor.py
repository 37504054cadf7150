"""The user's own editor: for a text that comes back, and for a note at a line."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.errors import ConfigError, UsageError, ZkchatError, reason
from zkchat_cli.terminal.foreground import run_in_foreground

DEFAULTS = ("sensible-editor", "nano", "vi")
LINE_FIRST = ("vi", "vim", "nvim", "view", "gvim", "nano", "emacs", "emacsclient", "kak", "micro", "ne", "jed", "joe", "mcedit", "pico")
LINE_AFTER_PATH = ("hx", "helix", "subl", "zed")
GOTO_OPTION = ("code", "codium", "cursor")
"""How editors take the line: `+12 file`, `file:12`, `-g file:12`."""


@dataclass(frozen=True, slots=True)
class Editor:
    """A command that edits a file, and the variable that named it, if any."""

    command: Sequence[str]
    variable: str = ""

    @classmethod
    def find(cls, env: Mapping[str, str]) -> "Editor":
        """$VISUAL or $EDITOR, else an editor that most systems have. Raises UsageError when there is none."""
        for variable in ("VISUAL", "EDITOR"):
            if value := env.get(variable, "").strip():
                try:
                    command = shlex.split(value)
                except ValueError as e:
                    raise UsageError(f"${variable} is not a command: {e}", "Set it to an editor, such as `nano`.") from e
                if shutil.which(command[0], path=env.get("PATH")) is None:
                    raise UsageError(f"${variable} names {command[0]}, which is not installed", "Set it to an installed editor.")
                return cls(command, variable)
        for name in DEFAULTS:
            if found := shutil.which(name, path=env.get("PATH")):
                return cls((found,))
        raise UsageError("no editor was found", "Set $VISUAL or $EDITOR.")

    def edit(self, text: str, suffix: str) -> str:
        """Let the user edit a text that no other user can read. Raises ZkchatError on failure, naming the file with a changed text."""
        folder = Path(tempfile.mkdtemp(prefix="zkchat-"))
        file = folder / f"edit{suffix}"
        try:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
            code = run_in_foreground([*self.command, str(file)])
            edited = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as e:
            raise ZkchatError(f"{self.command[0]} could not edit the text: {reason(e)}", f"The text is in {file}.") from e
        if code and edited != text:
            raise ZkchatError(f"{self.command[0]} failed with exit code {code}", f"Nothing was changed; your text is in {file}.")
        shutil.rmtree(folder, ignore_errors=True)
        if code:
            raise ZkchatError(f"{self.command[0]} failed with exit code {code}", "Nothing was changed.")
        return edited


def open_note_command(path: Path, line: int, configured: str, env: Mapping[str, str] = os.environ) -> list[str] | None:
    """The command that opens a file at a line: `configured` (terminal.open_command, with {path} and {line}), else $VISUAL or $EDITOR;
    None if there is none. Raises ConfigError if `configured` is not a command."""
    if configured:
        words = _split(configured)
        if not words:
            raise ConfigError(f"terminal.open_command = {configured!r} is not a command", "For example: code -g {path}:{line}")
        if not any("{path}" in word for word in words):
            words.append("{path}")
        return [word.replace("{line}", str(line)).replace("{path}", str(path)) for word in words]
    words = _split(env.get("VISUAL") or env.get("EDITOR") or "")
    if not words:
        return None
    name = Path(words[0]).name.removesuffix(".exe")
    if name in LINE_FIRST:
        return [*words, f"+{line}", str(path)]
    if name in LINE_AFTER_PATH:
        return [*words, f"{path}:{line}"]
    if name in GOTO_OPTION:
        return [*words, "-g", f"{path}:{line}"]
    return [*words, str(path)]


def open_note(command: Sequence[str]) -> None:
    """Run the command of `open_note_command`. Raises UsageError when it cannot be started."""
    try:
        run_in_foreground(command)
    except (OSError, ValueError) as e:
        hint = "Set $VISUAL, $EDITOR or terminal.open_command to your editor."
        raise UsageError(f"{command[0]} cannot be started: {reason(e)}", hint) from e


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an open quotation mark
        return []
