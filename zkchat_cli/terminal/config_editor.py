"""Edit a settings file in the user's editor. The text is checked first; a rejected one is kept in a file beside the settings."""

import os
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.errors import ConfigError, ZkchatError, reason
from zkchat_cli.terminal.editor import Editor
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import show_error


@dataclass(frozen=True, slots=True)
class SettingsDraft:
    """A TOML file, and the initial text if there is no such file yet. `check` raises ZkchatError for an invalid file."""

    file: Path
    initial_text: str
    check: Callable[[Path], object]
    write: Callable[[Path, str], None]


def edit_settings(draft: SettingsDraft, screen: Screen) -> bool:
    """Whether the file was changed. Raises ConfigError for an invalid text, or when the file was changed meanwhile: the file is unchanged
    then, and the hint says where the new text is."""
    file, editor = draft.file, Editor.find(os.environ)
    before = read_settings(file)
    initial = draft.initial_text if before is None else before
    text = editor.edit(initial, ".toml")
    while (problem := _find_problem(draft, text)) is not None and _ask_edit_again(problem, screen):
        text = editor.edit(text, ".toml")
    if text == initial:
        return False
    if problem is None and read_settings(file) != before:
        problem = ConfigError(f"{file} was changed by someone else meanwhile", "")
    if problem is not None:
        rejected = file.with_name(f"{file.stem}.rejected-{secrets.token_hex(3)}.toml")
        draft.write(rejected, text)
        raise ConfigError(problem.message, f"{file} is unchanged; your text is in {rejected}. {problem.hint}".rstrip()) from problem
    draft.write(file, text)
    return True


def read_settings(file: Path) -> str | None:
    """The text of the file; None if there is no such file. Raises ConfigError."""
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file} cannot be edited: {reason(e)}", "Nothing was changed.") from e


def _find_problem(draft: SettingsDraft, text: str) -> ZkchatError | None:
    """What is wrong with the text. It is checked as a file in the same folder, because it may refer to other files there."""
    candidate = draft.file.with_name(f".{draft.file.stem}.{secrets.token_hex(4)}.draft")
    try:
        draft.write(candidate, text)
        draft.check(candidate)
    except ZkchatError as e:
        return ConfigError(e.message.replace(str(candidate), str(draft.file)), e.hint)
    finally:
        candidate.unlink(missing_ok=True)
    return None


def _ask_edit_again(problem: ZkchatError, screen: Screen) -> bool:
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from zkchat_cli.terminal.confirm import Confirmation  # imports prompt_toolkit, which only this needs

    show_error(problem, screen.print)
    return Confirmation(colour=screen.colour).ask("Edit it again?")
