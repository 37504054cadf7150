"""Each transcript is what the program says today; see transcript_player.py for how one is written.

`python test_transcripts.py [NAME …]` writes them anew as far as they have changed, for reading them
again.
"""

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from transcript_player import MORE, SHELL, TYPED, Transcript, play_transcript

from zkchat_cli import slash
from zkchat_cli.cli import app

TRANSCRIPTS = Path(__file__).with_name("transcripts")
ELSEWHERE = ("citations",)
"""What another test plays in its own way."""


def transcripts() -> list[Path]:
    return sorted(file for file in TRANSCRIPTS.glob("*.txt") if file.stem not in ELSEWHERE)


@pytest.mark.parametrize("file", transcripts(), ids=lambda file: file.stem)
def test_the_transcript_is_reproduced(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert play_transcript(text, tmp_path) == text


def typed() -> list[str]:
    """Everything that is typed in any transcript, with its sign."""
    return [
        what
        for file in transcripts()
        for what, _ in Transcript.read(file.read_text(encoding="utf-8")).steps
    ]


def of_the_shell(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each command that does something, by the words that call it."""
    if not hasattr(command, "list_commands"):
        yield path
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        yield from of_the_shell(command.get_command(context, name), (*path, name))


def test_every_command_of_the_shell_is_in_a_transcript() -> None:
    calls = [
        re.sub(r"^.*?\bzkchat ", "", line.removeprefix(SHELL))
        for line in typed()
        if line.startswith(SHELL)
    ]
    shown = {tuple(shlex.split(call)[:length]) for call in calls for length in (1, 2)}
    assert sorted(set(of_the_shell(typer.main.get_command(app.app))) - shown) == []


def test_every_command_of_the_chat_is_in_a_transcript() -> None:
    lines = [
        line.removeprefix(TYPED).removeprefix(MORE)
        for line in typed()
        if not line.startswith(SHELL)
    ]
    assert [
        name
        for name in (command.name for command in slash.commands())
        if not any(re.match(rf"/{name}\b", line) for line in lines)
    ] == []


if __name__ == "__main__":
    for file in transcripts():
        if not sys.argv[1:] or file.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                before = file.read_text(encoding="utf-8")
                after = play_transcript(before, Path(folder))
            if after != before:
                file.write_text(after, encoding="utf-8")
                sys.stdout.write(f"written: {file.name}; read it\n")
