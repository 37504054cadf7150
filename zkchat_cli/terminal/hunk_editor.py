"""Opens a hunk of a change in the user's editor, as `git add -p` does."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from zkchat_cli.app.editor import text_editor_command
from zkchat_cli.errors import UsageError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.terminal.job_control import run_in_foreground
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.vault.edit.hunk_review import HunkQuestion
from zkchat_cli.vault.edit.hunks import editable_text
from zkchat_cli.vault.filesystem import LARGEST_NOTE

# Editors know from the name how to color it
FILE_NAME = "change.diff"
UNCHANGED = "The hunk was not edited, so you are asked again."


def edit_hunk(
    question: HunkQuestion, text: str | None = None, env: Mapping[str, str] = os.environ
) -> str:
    """The hunk as the user has edited it; `text` is an earlier edit that did not fit the note.
    Raises UsageError if there is no editor, or if it fails.
    """
    command = text_editor_command(env)
    if text is None:
        text = editable_text(question.hunk, sanitize_name(question.file.new_path))
    with tempfile.TemporaryDirectory(prefix="zkchat-") as folder:
        file = Path(folder) / FILE_NAME
        file.write_text(text, encoding="utf-8", newline="")
        try:
            code = run_in_foreground([*command, str(file)])
            if code:
                raise UsageError(f"{command[0]} ended with exit code {code}", UNCHANGED)
            return read_file(file, LARGEST_NOTE).decode("utf-8", "replace")
        except (OSError, ValueError) as e:
            raise UsageError(
                f"{command[0]} cannot edit the hunk: {reason(e)}", "Set $EDITOR to your editor."
            ) from e
