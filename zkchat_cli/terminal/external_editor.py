"""The user's own editor, on a text that nobody else may read, and that is never lost."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.errors import UsageError, ZkchatError, reason

USUAL = ("sensible-editor", "nano", "vi")


@dataclass(frozen=True, slots=True)
class Editor:
    """A command that edits a file. `variable` is what named it, if anything did."""

    command: Sequence[str]
    variable: str = ""

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Editor":
        """What $VISUAL or $EDITOR names, else one that most systems have. Raises UsageError when there is none."""
        for variable in ("VISUAL", "EDITOR"):
            if named := env.get(variable, "").strip():
                try:
                    command = shlex.split(named)
                except ValueError as e:
                    raise UsageError(f"${variable} is no command: {e}", "Set it to an editor, as `nano`.") from e
                if shutil.which(command[0], path=env.get("PATH")) is None:
                    raise UsageError(f"${variable} names {command[0]}, which is not there", "Set it to an editor that is installed.")
                return cls(command, variable)
        for name in USUAL:
            if found := shutil.which(name, path=env.get("PATH")):
                return cls((found,))
        raise UsageError("there is no editor", "Set $VISUAL or $EDITOR to one.")

    def edit(self, text: str, suffix: str) -> str:
        """The text as it is when the editor ends. Raises ZkchatError when that fails, which says where the text is if it was changed."""
        folder = Path(tempfile.mkdtemp(prefix="zkchat-"))
        file = folder / f"edit{suffix}"
        try:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
            code = subprocess.run([*self.command, str(file)], check=False).returncode
            edited = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as e:
            raise ZkchatError(f"{self.command[0]} did not edit the text: {reason(e)}", f"What there is of it stands in {file}.") from e
        if code and edited != text:
            raise ZkchatError(f"{self.command[0]} ended with {code}", f"Nothing was changed; what you wrote stands in {file}.")
        shutil.rmtree(folder, ignore_errors=True)
        if code:
            raise ZkchatError(f"{self.command[0]} ended with {code}", "Nothing was changed.")
        return edited
