"""Plays transcripts: what is typed, and what is shown. A transcript is a file that reads like
documentation, and a test.

    What it shows, in a line or more.
    vault: notes                    the tests' few notes, or `demo`, the built-in ones
    file: Ideas.md | # Ideas        another file of the vault; \\n is a line's end
    reply: {"text": "So it is."}    what the model answers, a call each, as scripted/FILE has it;
                                    without any the offline provider answers
    set: context.max_tokens = 4000  a setting of the session
    env: OLLAMA_HOST=127.0.0.1:1    something in the environment
    columns: 72                     as on a terminal that is so wide; without it as in a pipe
    ---
    › /help undo                    what is typed; `… ` continues it on another line
    /undo [N]                       what is seen, up to what is typed next
    $ zkchat sessions list          a command of the shell, in the vault, with the same
                                    conversations and settings
    $ echo hi | zkchat tokens       with something in its standard input
    $ EDITOR=true zkchat …          with something in its environment
    ⋮                               any lines

Ids count from c0ffee000001, and the clock advances a minute with each call; ids and times that a
command of the shell makes are shown as ID, TIME and DAY. Commands run in this process, as
`main.run` runs them: a process for each would take most of the time.
"""

import gc
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import BytesIO, StringIO, TextIOWrapper
from itertools import count
from pathlib import Path
from types import MappingProxyType

from conftest import NOTES, write_notes
from factories import NOON, TickingClock

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.cli import app
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.command_runner import run_piped
from zkchat_cli.terminal.plain_turn_view import RemarkPrinter
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import remark_printer, show_error

DEMO = Path(factory.__file__).parent.with_name("demo")
TYPED = "› "
MORE = "… "
SHELL = "$ "
ANY = "⋮"
KEYS = ("vault", "file", "reply", "set", "env", "columns")


@dataclass(frozen=True)
class Transcript:
    """The header's lines as they are, its values by name, and what is typed with what is to be seen
    of it.
    """

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
        return cls(
            head,
            values,
            tuple(("\n".join(typed), "\n".join(seen).strip("\n")) for typed, seen in steps),
        )

    def value(self, key: str, default: str) -> str:
        return self.values.get(key, [default])[-1]


def play_transcript(text: str, folder: Path, env: Mapping[str, str] = MappingProxyType({})) -> str:
    """The transcript with its actual output; the same text where that matches. `env` adds to its
    environment.
    """
    transcript = Transcript.read(text)
    stage = TranscriptSession(transcript, folder, env)
    try:
        parts = []
        for typed, expected in transcript.steps:
            seen = stage.play(typed)
            parts.append(
                "\n".join(
                    filter(None, (typed, expected if matches_expected(expected, seen) else seen))
                )
            )
    finally:
        stage.close()
    return f"{transcript.head}---\n" + "\n\n".join(parts) + "\n"


def matches_expected(expected: str, seen: str) -> bool:
    """Whether the output is as expected, where a line ⋮ matches any lines."""
    lines = (
        r"(?:.*\n)*" if line == ANY else re.escape(line) + r"\n" for line in expected.split("\n")
    )
    return re.fullmatch("".join(lines), f"{seen}\n") is not None


class TranscriptSession:
    """A vault, a session and a screen, for one transcript."""

    def __init__(self, transcript: Transcript, folder: Path, env: Mapping[str, str]) -> None:
        self._vault = folder / "notes"
        self._home = folder / "home"
        if transcript.value("vault", "notes") == "demo":
            shutil.copytree(DEMO, self._vault)
        else:
            write_notes(self._vault, NOTES)
        for file in transcript.values.get("file", ()):
            name, _, content = file.partition("|")
            write_notes(self._vault, {name.strip(): content.strip().replace("\\n", "\n") + "\n"})
        model = (
            _scripted(folder, transcript.values["reply"])
            if "reply" in transcript.values
            else "offline"
        )
        given = dict(each.split("=", 1) for each in transcript.values.get("env", ()))
        own = {"ZKCHAT_HOME": str(self._home), "ZKCHAT_SEMANTIC__PROVIDER": "none"}
        self._env = {**own, **env, **given}
        self._bench = factory.open_app(
            StartupOptions(vault=self._vault, model=model), self._env, self._vault
        )
        self._bench.vault.refresh()
        with chdir(self._vault):
            opened = self._bench.session()
        opened.runtime.model.name = opened.runtime.model.name.partition("/")[0]
        services = replace(opened.services, now=_clock(), clock=TickingClock(), new_id=_ids())
        self._session: ZkChatSession | None = ZkChatSession(services, opened.runtime)
        for setting in transcript.values.get("set", ()):
            key, _, value = setting.partition("=")
            self._session.runtimes.override_setting(key.strip(), value.strip())
        self._columns = int(transcript.value("columns", "0"))

    def play(self, typed: str) -> str:
        with chdir(self._vault):
            return self._told(
                self._run(typed.removeprefix(SHELL))
                if typed.startswith(SHELL)
                else self._say(typed)
            )

    def _say(self, typed: str) -> str:
        assert self._session is not None, "the chat has ended"
        line = typed.removeprefix(TYPED).replace(f"\n{MORE}", "\n")
        out = StringIO()
        width = self._columns
        screen = Screen(
            out, out, color=False, err_is_terminal=False, columns=(lambda: width) if width else None
        )
        show: RemarkPrinter = screen.print if width else remark_printer(screen, self._shows_details)
        try:
            self._session = run_piped(line, self._session, screen, show, max_sources=10)
        except ZkchatError as e:
            show_error(e, show)
        return out.getvalue()

    def _shows_details(self) -> bool:
        return self._session is not None and self._session.runtime.settings.chat.show_details

    def _run(self, command: str) -> str:
        words = shlex.split(command)
        piped = ""
        if words[0] == "echo":
            bar = words.index("|")
            piped = " ".join(words[1:bar]) + "\n"
            words = words[bar + 1 :]
        env = dict(self._env)
        while "=" in words[0]:
            name, _, env[name] = words.pop(0).partition("=")
        assert words[0] == "zkchat", f"{command} is not a command of zkchat"
        return run_here(words, env, piped)

    def _told(self, text: str) -> str:
        text = (
            text.replace(str(self._vault), "VAULT")
            .replace(str(self._home), "HOME")
            .replace(f"{self._home.parent}/", "")
        )
        text = re.sub(r"\b(?!c0ffee)[0-9a-f]{12}\b", "ID", text)
        text = re.sub(r"\b202[6-9]-\d\d-\d\d[T ]\d\d:\d\d(?::[\d.]+[+-]\d\d:\d\d)?", "TIME", text)
        text = re.sub(r"\b202[6-9]-\d\d-\d\d\b", "DAY", text)
        # A busy machine also shows progress
        text = re.sub(r"^(?:Indexing|Embedding)  [\d,]+/[\d,]+.*\n", "", text, flags=re.MULTILINE)
        return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")

    def close(self) -> None:
        self._bench.close()


def run_here(words: list[str], env: Mapping[str, str], piped: str) -> str:
    """The program's output, then its errors, and the exit code if it is not 0."""
    out = _file()
    err = _file()
    with _as_a_program(words, env, piped), redirect_stdout(out), redirect_stderr(err):
        try:
            app.run()
        except SystemExit as e:
            code = e.code
    return _content(out) + _content(err) + (f"(exit code {code})\n" if code else "")


@contextmanager
def _as_a_program(words: list[str], env: Mapping[str, str], piped: str) -> Iterator[None]:
    """Arguments, environment and standard input of a process, restored afterwards with what
    `main.run` changes for good.
    """
    before = sys.argv, sys.stdin, dict(os.environ), gc.get_threshold()
    sys.argv = words
    sys.stdin = _file(piped)
    for name in [
        name
        for name in os.environ
        if name.startswith(
            ("ZKCHAT", "OPENAI", "ANTHROPIC", "OLLAMA", "VISUAL", "EDITOR", "COLUMNS")
        )
    ]:
        del os.environ[name]
    os.environ.update(env)
    try:
        yield
    finally:
        sys.argv, sys.stdin = before[:2]
        os.environ.clear()
        os.environ.update(before[2])
        gc.set_threshold(*before[3])
        gc.unfreeze()


def _file(text: str = "") -> TextIOWrapper:
    """A stream like a file or pipe: it has an encoding, and is not a terminal."""
    return TextIOWrapper(BytesIO(text.encode()), encoding="utf-8")


def _content(file: TextIOWrapper) -> str:
    file.flush()
    file.seek(0)
    return file.read()


def _scripted(folder: Path, replies: list[str]) -> str:
    file = folder / "replies.jsonl"
    file.write_text(
        "".join(json.dumps(json.loads(reply)) + "\n" for reply in replies), encoding="utf-8"
    )
    return f"scripted/{file}"


def _ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"c0ffee{next(numbers):06x}"


def _clock() -> Callable[[], str]:
    minutes: Iterator[int] = count()
    start = datetime.fromisoformat(NOON)
    return lambda: (start + timedelta(minutes=next(minutes))).isoformat()
