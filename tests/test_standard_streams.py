"""How the program behaves among others: closed and full streams, endless input, a wrong name, a
question that is answered with no.
"""

import subprocess
import sys
from io import StringIO

import pytest
from conftest import Program, write_notes

from zkchat_cli.cli import app
from zkchat_cli.cli import command as cli_command
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views.text import StyledLine, StyledSpan


@pytest.mark.parametrize(("closed", "left"), [(">&-", "err"), ("2>&-", "out")])
def test_a_closed_stream_takes_nothing_and_breaks_nothing(
    zkchat: Program, closed: str, left: str
) -> None:
    shell = [
        "sh",
        "-c",
        f'"$0" -m zkchat_cli vault status --vault nowhere --json {closed}',
        sys.executable,
    ]
    done = subprocess.run(
        shell, capture_output=True, text=True, env=zkchat.environment, cwd=zkchat.vault, check=False
    )
    assert done.returncode == 3
    assert "there is no folder" in (done.stderr if left == "err" else done.stdout)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("contxt", "no such command 'contxt'. Did you mean 'context'?"),
        ("index", "no such command 'index'. Did you mean 'vault index'?"),
        (
            "search",
            "no such command 'search'. Did you mean 'sessions search' or 'vault search' or "
            "'memory search'?",
        ),
        ("sesion list", "no such command 'sesion'. Did you mean 'sessions'?"),
        ("what is a task", "no such command 'what'"),
        ("doctor all", "too many arguments"),
        ("--modle gpt-5", "no such option --modle. Did you mean --model or --demo?"),
        ("--vers", "no such option --vers. Did you mean --version or --verbose?"),
        ("--max-context=x", "invalid value for '--max-context': it must be a whole number"),
        ("agent show -- --resume", "there is no agent '--resume'"),
    ],
)
def test_a_wrong_command_or_option_names_what_may_have_been_meant(
    zkchat: Program, said: str, told: str
) -> None:
    done = zkchat(*said.split())
    assert (done.exit_status, done.err.partition("\n")[0]) == (2, f"zkchat: {told}")


def test_a_group_alone_shows_its_commands(zkchat: Program) -> None:
    done = zkchat("vault")
    assert (done.exit_status, done.out, "backlinks" in done.err) == (2, "", True)


class Typed(StringIO):
    """Standard input at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        ("n\n", cli_command.DECLINED, ":Nothing was changed.\n"),
        ("y\n", 0, "]:"),
        ("", app.INTERRUPTED, "]:\n"),
    ],
)
def test_only_a_yes_changes_something_and_ends_as_success(
    zkchat: Program,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    said: str,
    code: int,
    told: str,
) -> None:
    monkeypatch.setenv("ZKCHAT_HOME", str(zkchat.home))
    assert app.run_command(["agent", "create", "helper"]) == 0
    monkeypatch.setattr(sys, "stdin", Typed(said))
    assert app.run_command(["agent", "delete", "helper"]) == code
    assert capsys.readouterr().err.endswith(told)
    assert (zkchat.home / "config/agents/helper.toml").exists() == (code != 0)


def test_messages_about_a_result_go_to_stderr(zkchat: Program) -> None:
    write_notes(zkchat.vault, {"Alone.md": "No links."})
    about_notes = (
        "vault links Alone",
        "vault backlinks Alone",
        "vault search zeppelin",
        "vault resolve none",
    )
    for command in (*about_notes, "sessions list", "sessions search zeppelin", "memory list"):
        done = zkchat(*command.split())
        assert (done.exit_status, done.out, done.err.count("\n")) == (0, "", 1), command


def test_a_list_in_columns_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Typed()
    monkeypatch.setenv("COLUMNS", "40")
    Screen(shown, shown, color=False, err_is_terminal=False).with_width().show(
        [
            StyledLine(
                (StyledSpan("67a035daf51a  A rather long title"),),
                (StyledSpan("2026-11-21 21:13, 4 messages"),),
            )
        ]
    )
    assert shown.getvalue().splitlines() == [
        "67a035daf51a  A rather long title",
        "    2026-11-21 21:13, 4 messages",
    ]
