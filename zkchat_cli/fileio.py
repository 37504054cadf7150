"""Where zkchat keeps things. Apart from the settings, which take pydantic: a chat looks for a settings file before its prompt is there."""

import os
import secrets
from pathlib import Path


def atomic_write(file: Path, text: str) -> None:
    """The whole file anew, in one step, never readable by others, not even for a moment; a link to it (as dotfiles have
    them) stays one. Raises OSError and UnicodeError, and then the file is as it was.
    """
    file = Path(os.path.realpath(file))
    aside = file.with_name(f".{file.name}.{secrets.token_hex(4)}.new")
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)
