"""The user's own editor, for a note at a line."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from zkchat_cli.errors import ConfigError, UsageError, reason
from zkchat_cli.terminal.foreground import run_in_foreground

LINE_FIRST = ("vi", "vim", "nvim", "view", "gvim", "nano", "emacs", "emacsclient", "kak", "micro", "ne", "jed", "joe", "mcedit", "pico")
LINE_AFTER_PATH = ("hx", "helix", "subl", "zed")
GOTO_OPTION = ("code", "codium", "cursor")
"""How editors take the line: `+12 file`, `file:12`, `-g file:12`."""


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
