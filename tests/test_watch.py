"""`context stats --watch`: the figures, shown again whenever they change, until Ctrl-C."""

import json
import signal
import subprocess
import sys
from io import StringIO

import pytest
from conftest import Program

from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.watch import watch


class Over(Exception):
    """The end of a test's time."""


def watched(*looks: tuple[int, str], colour: bool) -> str:
    """What is written for these versions and texts."""
    out, at = StringIO(), [0]

    def wait(seconds: float) -> None:
        at[0] += 1
        if at[0] == len(looks):
            raise Over

    with pytest.raises(Over):
        screen = Screen(out, out, colour=colour, err_is_terminal=False)
        watch(lambda: looks[at[0]][0], lambda: looks[at[0]][1], screen.print, screen, wait)
    return out.getvalue()


def test_what_did_not_change_is_not_shown_again() -> None:
    looks = (1, "a"), (1, "never looked at"), (2, "a"), (3, "b")
    assert watched(*looks, colour=False) == "a\nb\n"
    assert watched(*looks, colour=True) == "\x1b[H\x1b[2J\x1b[3Ja\n\x1b[H\x1b[2J\x1b[3Jb\n"


def test_each_change_is_one_line_of_json_until_it_is_interrupted(zkchat: Program) -> None:
    zkchat("ask", "How are filters joined?")
    command = [sys.executable, "-m", "zkchat_cli", "context", "stats", "--watch", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=zkchat.environment, cwd=zkchat.vault) as running:
        assert running.stdout is not None
        try:
            before = json.loads(running.stdout.readline())
            zkchat("ask", "-c", "And nested?")
            after = json.loads(running.stdout.readline())
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30)
        finally:
            running.kill()  # else a failure would wait for its end for ever
    assert before["message_tokens"] < after["message_tokens"]
    assert (running.returncode, out, err) == (130, b"", b"")
