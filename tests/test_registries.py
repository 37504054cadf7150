"""A new command, slash command or tool is one file: each of these tests adds one to the program and
changes nothing else.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program

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
