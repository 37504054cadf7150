"""Transcripts played: what is typed, what is seen. A transcript is a file that reads like documentation, and a test.

    What it shows, in a line or more.
    vault: notes                    the tests' few notes, or `demo`, the built-in ones (default: notes)
    file: Ideas.md | # Ideas        another file of the vault; \\n is a line's end
    reply: {"text": "So it is."}    what the model answers, a call each, as scripted/FILE has it; without any the offline provider answers
    set: context.max_tokens = 4000  a setting of the session
    columns: 72                     as on a terminal that is so wide; without it as in a pipe
    ---
    › /help undo                    what is typed; `… ` goes on on another line
    /undo [N]                       what is seen, up to what is typed next
    $ zkchat sessions list          a command of the shell, in the vault, with the same conversations
    ⋮                               any lines

Ids count from c0ffee000001, and the clock goes on a minute whenever somebody looks at it; what is another process's own is not told.
"""

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

from building import NOON, Room, a_room
from conftest import NOTES, Program, write

from zkchat_cli import settling, tools, wiring
from zkchat_cli.errors import ZkchatError
from zkchat_cli.llm import Setup, providers
from zkchat_cli.session import ZkChatSession
from zkchat_cli.terminal.outcomes import run_piped
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turns import Aside, show_error, to_stderr

DEMO = Path(wiring.__file__).with_name("demo")
TYPED, MORE, SHELL, ANY = "› ", "… ", "$ ", "⋮"
KEYS = ("vault", "file", "reply", "set", "columns")


@dataclass(frozen=True)
class Transcript:
    """The header's lines as they are, its values by name, and what is typed with what is to be seen of it."""

    head: str
    values: dict[str, list[str]]
    steps: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, text: str) -> "Transcript":
        head, _, body = text.partition("---\n")
        values: dict[str, list[str]] = {}
        for line in head.splitlines():
            key, colon, value = line.partition(":")
            if colon and key in KEYS:
                values.setdefault(key, []).append(value.strip())
        steps: list[tuple[list[str], list[str]]] = []
        for line in body.splitlines():
            if line.startswith((TYPED, SHELL)):
                steps.append(([line], []))
            elif line.startswith(MORE) and steps and not steps[-1][1]:
                steps[-1][0].append(line)
            else:
                assert steps, f"{line!r} stands before anything is typed"
                steps[-1][1].append(line)
        return cls(head, values, tuple(("\n".join(typed), "\n".join(seen).strip("\n")) for typed, seen in steps))

    def value(self, key: str, default: str) -> str:
        return self.values.get(key, [default])[-1]


def played(text: str, folder: Path) -> str:
    """The transcript with what is seen when it is played; the same text where that is as it should be."""
    transcript = Transcript.read(text)
    stage = Stage(transcript, folder)
    try:
        parts = []
        for typed, expected in transcript.steps:
            seen = stage.play(typed)
            parts.append("\n".join(filter(None, (typed, expected if agrees(expected, seen) else seen))))
    finally:
        stage.close()
    return f"{transcript.head}---\n" + "\n\n".join(parts) + "\n"


def agrees(expected: str, seen: str) -> bool:
    """Whether what is seen is what is expected, in which a line ⋮ stands for any lines."""
    *parts, last = expected.split(f"{ANY}\n") if not expected.endswith(ANY) else [*f"{expected}\n".split(f"{ANY}\n")]
    rest = f"{seen}\n"
    last = f"{last}\n" if last else ""
    for number, part in enumerate(parts):
        at = rest.find(part)
        if at < 0 or (number == 0 and at):
            return False
        rest = rest[at + len(part) :]
    return rest.endswith(last) if parts else rest == last


class Stage:
    """A vault, a session and a screen, for one transcript."""

    def __init__(self, transcript: Transcript, folder: Path) -> None:
        vault = folder / "notes"
        if transcript.value("vault", "notes") == "demo":
            shutil.copytree(DEMO, vault)
        else:
            write(vault, NOTES)
        for file in transcript.values.get("file", ()):
            name, _, content = file.partition("|")
            write(vault, {name.strip(): content.strip().replace("\\n", "\n") + "\n"})
        home = folder / "home"
        (home / "data").mkdir(parents=True)
        self._vault, self._home = vault, home
        self._room: Room = a_room(vault, home / "cache", home / "data" / "conversations.db", new_id=_ids())
        model = _scripted(folder, transcript.values["reply"]) if "reply" in transcript.values else None
        self._session: ZkChatSession | None = self._room.session(model, now=_clock(), tools=tuple(tools.tools()))
        for setting in transcript.values.get("set", ()):
            key, _, value = setting.partition("=")
            settling.change(self._session, key.strip(), value.strip())
        self._columns = int(transcript.value("columns", "0"))

    def play(self, typed: str) -> str:
        if typed.startswith(SHELL):
            return self._run(typed.removeprefix(SHELL))
        assert self._session is not None, "the chat has ended"
        line = typed.removeprefix(TYPED).replace(f"\n{MORE}", "\n")
        out = StringIO()
        width = self._columns
        screen = Screen(out, out, colour=False, err_is_terminal=False, columns=(lambda: width) if width else None)
        aside: Aside = screen.print if width else to_stderr(screen)
        try:
            self._session = run_piped(line, self._session, screen, aside, max_sources=10)
        except ZkchatError as e:
            show_error(e, aside)
        return self._told(out.getvalue())

    def _run(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        assert program == "zkchat", f"{command} is not a command of zkchat"
        done = Program(self._vault, self._home, measured=False)(*arguments)
        return self._told(done.out + done.err + (f"(exit code {done.exit_status})\n" if done.exit_status else ""))

    def _told(self, text: str) -> str:
        text = text.replace(str(self._vault), "VAULT").replace(str(self._home), "HOME")
        text = re.sub(r"\b(?!c0ffee)[0-9a-f]{12}\b", "ID", text)
        text = re.sub(r"\b202[6-9]-\d\d-\d\d[T ]\d\d:\d\d(?::[\d.]+[+-]\d\d:\d\d)?", "TIME", text)
        return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")

    def close(self) -> None:
        self._room.store.close()
        self._room.vault.close()


def _scripted(folder: Path, replies: list[str]) -> Any:
    file = folder / "replies.jsonl"
    file.write_text("".join(json.dumps(json.loads(reply)) + "\n" for reply in replies), encoding="utf-8")
    provider = providers.provider("scripted")
    model = provider.open(Setup(str(file), provider.settings(), {}))
    model.name = "scripted"
    return model


def _ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"c0ffee{next(numbers):06x}"


def _clock() -> Callable[[], str]:
    minutes: Iterator[int] = count()
    start = datetime.fromisoformat(NOON)
    return lambda: (start + timedelta(minutes=next(minutes))).isoformat()
