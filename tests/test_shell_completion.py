"""What a shell offers after `zkchat …`, with the scripts that `--show-completion` prints."""

import os
import shutil
import sys
from pathlib import Path

import pexpect
import pytest
from conftest import Program
from factories import NOON

from zkchat_cli.models.conversations import Conversation
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

HOSTILE_TITLE = "what is $(touch pwned) `touch pwned` 'x' \"y\" ); touch pwned; #"


@pytest.fixture
def zkchat_with_conversations(zkchat: Program) -> Program:
    store = ChatSessionStore.open(
        Path(zkchat.environment["ZKCHAT_HOME"]) / "data" / "conversations.db"
    )
    for id_, title, day in (
        ("aa11", "On compost", "2026-01-02"),
        ("ab22", HOSTILE_TITLE, "2026-01-03"),
    ):
        store.start(
            Conversation(
                id=id_, vault="/notes", title=title, created_at=NOON, updated_at=f"{day}T00:00:00Z"
            )
        )
    store.close()
    return zkchat


def suggestions(program: Program, line: str) -> list[str]:
    """The values that fish would offer at the end of a command line."""
    program.env |= {
        "_ZKCHAT_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = program()
    assert done.err == ""
    return [suggestion.partition("\t")[0] for suggestion in done.out.splitlines() if suggestion]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("zkchat co", ["config", "context"]),
        ("zkchat context s", ["show", "stats", "summary"]),
        ("zkchat context show a", ["aa11", "ab22"]),
        ("zkchat ask --cid aa", ["aa11"]),
        ("zkchat ask --agent e", ["editor"]),
        ("zkchat ask @res", ["@researcher"]),
        ("zkchat chat --model an", ["anthropic/"]),
        ("zkchat ask --model s", []),  # not scripted/, which is for tests
        ("zkchat config get references.ma", ["references.max_displayed"]),
        ("zkchat nonsense ", []),
    ],
)
def test_a_tab_offers_what_can_come_next(
    zkchat_with_conversations: Program, line: str, expected: list[str]
) -> None:
    assert sorted(suggestions(zkchat_with_conversations, line)) == expected


def test_a_damaged_store_offers_nothing_and_prints_no_error(zkchat: Program) -> None:
    data = Path(zkchat.environment["ZKCHAT_HOME"]) / "data"
    data.mkdir(parents=True, exist_ok=True)
    (data / "conversations.db").write_text("no database")
    assert suggestions(zkchat, "zkchat context show ") == []


@pytest.mark.parametrize(
    ("shell", "arguments", "setup"),
    [
        ("bash", ["--norc", "-i"], "source {script}"),
        ("zsh", ["-f", "-i"], "autoload -Uz compinit; compinit -u; source {script}"),
        ("fish", ["--no-config", "-i"], "source {script}"),
    ],
)
def test_tab_in_a_real_shell_completes_and_runs_nothing_from_a_title(
    zkchat_with_conversations: Program, shell: str, arguments: list[str], setup: str, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "bin" / "zkchat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m zkchat_cli "$@"\n')
    program.chmod(0o755)
    script = tmp_path / f"completion.{shell}"
    zkchat_with_conversations.env["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    script.write_text(zkchat_with_conversations("--show-completion", shell).out)
    environment = {
        **zkchat_with_conversations.environment,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "xterm",
    }
    child = pexpect.spawn(
        shell,
        arguments,
        env=environment,
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 200),
    )
    try:
        child.sendline(f"{setup.format(script=script)}; echo rea''dy")
        child.expect("ready")
        child.send("zkchat context show a\t\t")
        for id_ in ("aa11", "ab22"):
            child.expect(id_)
    finally:
        child.close(force=True)
    assert not (tmp_path / "pwned").exists()
