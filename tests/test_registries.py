"""A new command, slash command or tool is one file: each of these tests adds one to the program and
changes nothing else.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program
from mcp_client import connected_by_pipe

RUN_WITH_FILE = """
import importlib, sys
package = importlib.import_module(sys.argv.pop(1))
package.__path__.append(sys.argv.pop(1))
from zkchat_cli.cli.app import run
run()
"""
RunWithFile = Callable[..., str]


@pytest.fixture
def run_with_file(zkchat: Program, tmp_path: Path) -> RunWithFile:
    """Runs zkchat with one more file in a package: returns what it prints."""

    def run(package: str, file: str, code: str, *arguments: str, stdin: str = "") -> str:
        folder = tmp_path / "added"
        folder.mkdir()
        (folder / file).write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", RUN_WITH_FILE, package, str(folder), *arguments],
            env=zkchat.environment,
            cwd=zkchat.vault,
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    return run


SHOUT = '''"""Repeats loudly."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Topic, declare_command


def shout(session: ZkChatSession, argument: str) -> str:
    """Repeat a text in capitals."""
    return argument.upper()


COMMAND = declare_command(shout, Topic.MEMORY, order=15, argument="TEXT")
'''


def test_a_file_is_a_new_slash_command_which_help_lists_where_it_says(
    run_with_file: RunWithFile,
) -> None:
    shown = run_with_file(
        "zkchat_cli.slash.builtin", "shout.py", SHOUT, "chat", stdin="/shout hello\n/help\n"
    )
    assert "HELLO" in shown
    memory, shout, remember = (shown.index(each) for each in ("/memory", "/shout", "/remember"))
    assert memory < shout < remember


CLOCK = '''"""Tells the time."""

from zkchat_cli.tools.base import ToolOutput, declare_tool
from zkchat_cli.vault.vault import Vault


def tell_time(vault: Vault) -> ToolOutput:
    """What time it is."""
    return ToolOutput(data={"time": "noon"})


TOOL = declare_tool(tell_time, verb="looked at the clock")
'''


def test_a_file_is_a_new_tool_which_the_model_is_offered(
    run_with_file: RunWithFile, script: Callable[..., str]
) -> None:
    shown = run_with_file(
        "zkchat_cli.tools.builtin",
        "tell_time.py",
        CLOCK,
        *("chat", "--model", script({"text": "Hi"})),
        stdin="/agent\n",
    )
    assert ", tell_time" in shown


COUNT = '''"""Counts the notes."""

from typing import TypedDict

from zkchat_cli.tools.served_tool import ServedVault, declare_served_tool


class NoteCount(TypedDict):
    notes: int


def count_notes(served: ServedVault) -> NoteCount:
    """Count the notes."""
    return {"notes": len(served.vault.note_paths())}


TOOL = declare_served_tool(count_notes, order=15)
'''


def test_a_file_is_a_new_tool_for_other_programs(zkchat: Program, tmp_path: Path) -> None:
    (tmp_path / "added").mkdir()
    (tmp_path / "added" / "count_notes.py").write_text(COUNT, encoding="utf-8")
    command = [sys.executable, "-c", RUN_WITH_FILE, "zkchat_cli.tools.served"]
    command += [str(tmp_path / "added"), "mcp", "--vault", str(zkchat.vault)]
    with (
        (tmp_path / "log").open("w") as log,
        connected_by_pipe(command, zkchat.environment, log) as client,
    ):
        names = [tool.name for tool in client.run("list_tools").tools]
        assert names[:3] == ["search_notes", "count_notes", "read_note"]
        assert client.call("count_notes")["notes"] == len(list(zkchat.vault.rglob("*.md")))


GREET = '''"""Greet somebody."""

from zkchat_cli.cli.command import CommandContext, command, command_group

ORDER = 15
COMMAND = command_group()


@command(COMMAND)
def greet(ctx: CommandContext) -> None:
    """Greet somebody."""
    ctx.screen.print("Good morning.")
'''


def test_a_file_is_a_new_command_which_the_help_lists_where_it_says(
    run_with_file: RunWithFile,
) -> None:
    shown = run_with_file("zkchat_cli.cli.commands", "greet.py", GREET, "--help")
    commands = [line.split()[0] for line in shown.partition("Commands:")[2].splitlines() if line]
    assert commands[:3] == ["chat", "greet", "ask"]
