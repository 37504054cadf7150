"""The command that opens a note at a line: the user's editor, or Obsidian for its own vaults."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from zkchat_cli.errors import ConfigError, UsageError

_IN_TERMINAL = ("vi", "vim", "nvim", "nano", "kak", "micro", "joe", "mcedit", "pico", "hx", "helix")
# Editors that a system has without its user having chosen one
_FALLBACKS = ("vi", "nano")
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_IN_TERMINAL, "gvim", "emacs", "emacsclient"), ("+{line}", "{path}")),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), ("{path}:{line}",)),
    **dict.fromkeys(("code", "codium", "cursor"), ("-g", "{path}:{line}")),
}
"""Arguments with which editors open a file at a line, by the name of the program."""


def open_note_command(
    path: Path,
    line: int,
    configured: str,
    vault: Path,
    env: Mapping[str, str] = os.environ,
    *,
    in_terminal: bool = True,
) -> list[str] | None:
    """The command that opens a file at a line: `configured` (terminal.open_command, with {path} and
    {line}), else $VISUAL or $EDITOR, else Obsidian for a vault of Obsidian; None if there is none.

    Without a terminal, an editor in $VISUAL or $EDITOR that needs one is not used. Raises
    ConfigError if `configured` is not a command.
    """
    if configured:
        words = _configured_words(configured)
    else:
        words = _editor_words(env, in_terminal=in_terminal)
    if not words:
        return _obsidian_command(path, vault, env)
    return [word.replace("{line}", str(line)).replace("{path}", str(path)) for word in words]


def text_editor_command(env: Mapping[str, str] = os.environ) -> list[str]:
    """The editor for a text, which waits until the user has closed it: $VISUAL or $EDITOR, else the
    first of a few that is installed. Raises UsageError if there is none.
    """
    words = split_command(env.get("VISUAL") or env.get("EDITOR") or "")
    if words:
        return words
    for program in _FALLBACKS:
        if shutil.which(program, path=env.get("PATH")):
            return [program]
    raise UsageError("there is no editor", "Set $EDITOR to yours.")


def _configured_words(configured: str) -> list[str]:
    """The words of the user's own command, with {path} at the end if it is not in them."""
    words = split_command(configured)
    if not words:
        raise ConfigError(
            f"terminal.open_command = {configured!r} is not a command",
            "For example: code -g {path}:{line}",
        )
    if not any("{path}" in word for word in words):
        words.append("{path}")
    return words


def _editor_words(env: Mapping[str, str], *, in_terminal: bool) -> list[str]:
    """The words of the command for $VISUAL or $EDITOR; empty if there is none that can be used."""
    words = split_command(env.get("VISUAL") or env.get("EDITOR") or "")
    if not words:
        return []
    program = Path(words[0]).name.removesuffix(".exe")
    if program in _IN_TERMINAL and not in_terminal:
        return []
    return [*words, *_ARGUMENTS.get(program, ("{path}",))]


def _obsidian_command(path: Path, vault: Path, env: Mapping[str, str]) -> list[str] | None:
    """The command that opens a file in Obsidian; None for other vaults and without a desktop."""
    is_mac = sys.platform == "darwin"
    has_desktop = is_mac or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    opener = shutil.which("open" if is_mac else "xdg-open", path=env.get("PATH"))
    if opener is None or not has_desktop or not (vault / ".obsidian").is_dir():
        return None
    return [opener, f"obsidian://open?path={quote(str(path), safe='')}"]


def split_command(command: str) -> list[str]:
    """The words of a command line; empty for one that is not valid."""
    try:
        return shlex.split(command)
    except ValueError:
        # It has an open quotation mark
        return []
