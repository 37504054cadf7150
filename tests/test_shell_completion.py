"""What a shell offers after `zkchat …`, with the scripts that `--show-completion` prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Program
from factories import NOON

from zkchat_cli.models import Conversation
from zkchat_cli.store.chat_session_store import ChatSessionStore

HOSTILE_TITLE = "what is $(touch pwned) `touch pwned` 'x' \"y\" ); touch pwned; #"


@pytest.fixture
def zkchat_with_conversations(zkchat: Program) -> Program:
    store = ChatSessionStore.open(Path(zkchat.environment["ZKCHAT_HOME"]) / "data" / "conversations.db")
    for id_, title, day in (("aa11", "On compost", "2026-01-02"), ("ab22", HOSTILE_TITLE, "2026-01-03")):
        store.start(Conversation(id=id_, vault="/notes", title=title, created_at=NOON, updated_at=f"{day}T00:00:00Z"))
    store.close()
    return zkchat


def suggestions(program: Program, line: str) -> list[str]:
    """The values that fish would offer at the end of a command line."""
    environment = {
        **program.environment,
        "_ZKCHAT_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run([sys.executable, "-m", "zkchat_cli"], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return [suggestion.partition("\t")[0] for suggestion in done.stdout.splitlines() if suggestion]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("zkchat co", ["config", "context"]),
        ("zkchat context s", ["show", "stats", "summary"]),
        ("zkchat context show a", ["aa11", "ab22"]),
        ("zkchat ask --cid aa", ["aa11"]),
        ("zkchat ask --agent e", ["editor"]),
        ("zkchat config get references.ma", ["references.max_displayed"]),
        ("zkchat nonsense ", []),
    ],
)
def test_a_tab_offers_what_can_come_next(zkchat_with_conversations: Program, line: str, expected: list[str]) -> None:
    assert sorted(suggestions(zkchat_with_conversations, line)) == expected


def test_a_damaged_store_offers_nothing_and_prints_no_error(zkchat: Program) -> None:
    data = Path(zkchat.environment["ZKCHAT_HOME"]) / "data"
    data.mkdir(parents=True, exist_ok=True)
    (data / "conversations.db").write_text("no database")
    assert suggestions(zkchat, "zkchat context show ") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_and_runs_nothing_from_a_title(zkchat_with_conversations: Program, shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "bin" / "zkchat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m zkchat_cli "$@"\n')
    program.chmod(0o755)
    script = tmp_path / f"completion.{shell}"
    script.write_text(zkchat_with_conversations("--show-completion", shell).out)
    press_tab = {
        "bash": f"source {script}; COMP_WORDS=(zkchat context show a); COMP_CWORD=3; _zkchat_completion zkchat; echo ${{COMPREPLY[@]}}",
        "fish": f"source {script}; complete -C 'zkchat context show a'",
        "zsh": f"compdef() {{ }}; _arguments() {{ print -l $@ }}; source {script}; words=(zkchat context show a); _zkchat_completion",
    }[shell]
    environment = {
        **zkchat_with_conversations.environment,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }
    done = subprocess.run([shell, "-c", press_tab], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60, check=True)
    assert "aa11" in done.stdout and "ab22" in done.stdout
    assert not (tmp_path / "pwned").exists()
