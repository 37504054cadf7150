"""A file of settings in the user's own editor: it is checked before it counts, and what does not do is kept beside it."""

import os
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.errors import ConfigError, ZkchatError, reason
from zkchat_cli.terminal.external_editor import Editor
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import show_error


@dataclass(frozen=True, slots=True)
class SettingsDraft:
    """A TOML file, and the text to begin with where it is not there. `check` raises the ZkchatError of a file that says something wrong,
    `write` puts a text into a file."""

    file: Path
    text: str
    check: Callable[[Path], object]
    write: Callable[[Path, str], None]


def edit(draft: SettingsDraft, screen: Screen) -> bool:
    """Whether the file was changed. Raises ConfigError for a text that is wrong, or where somebody else has changed the file meanwhile; the
    file is as it was then, and the message says where the text is."""
    file, before, editor = draft.file, read(draft.file), Editor.of(os.environ)
    first = draft.text if before is None else before
    text = editor.edit(first, ".toml")
    while (problem := _problem(draft, text)) is not None and _again(problem, screen):
        text = editor.edit(text, ".toml")
    if text == first:
        return False
    if problem is None and read(file) != before:
        problem = ConfigError(f"{file} was changed by somebody else meanwhile", "")
    if problem is not None:
        kept = file.with_name(f"{file.stem}.rejected-{secrets.token_hex(3)}.toml")
        draft.write(kept, text)
        raise ConfigError(problem.message, f"{file} is as it was; what you wrote is {kept}. {problem.hint}".rstrip()) from problem
    draft.write(file, text)
    return True


def read(file: Path) -> str | None:
    """None where there is no such file. Raises ConfigError."""
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", "Nothing was changed.") from e


def _problem(draft: SettingsDraft, text: str) -> ZkchatError | None:
    """What is wrong with a text as this file; it is tried under another name in the same folder, as it may name its neighbours."""
    tried = draft.file.with_name(f".{draft.file.stem}.{secrets.token_hex(4)}.draft")
    try:
        draft.write(tried, text)
        draft.check(tried)
    except ZkchatError as e:
        return ConfigError(e.message.replace(str(tried), str(draft.file)), e.hint)
    finally:
        tried.unlink(missing_ok=True)
    return None


def _again(problem: ZkchatError, screen: Screen) -> bool:
    """Whether the user, who is told what is wrong, wants to mend it now."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from zkchat_cli.terminal.confirm import Confirmation  # prompt_toolkit, which only this needs

    show_error(problem, screen.print)
    return Confirmation(colour=screen.colour).ask("Edit it again?")
