"""Variables of the system with values that a library reads late: they are told, and end nothing."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from conftest import Program

from zkchat_cli.cli.environment import environment_warnings
from zkchat_cli.text.dates import parse_period


@pytest.mark.parametrize(
    "zone", ["UTC", "Europe/Berlin", ":Europe/Berlin", "CET-1CEST", "JST-9", "UTC0", "<+03>-3", ""]
)
def test_these_are_time_zones(zone: str) -> None:
    assert list(environment_warnings({"TZ": zone})) == []
    assert list(environment_warnings({"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"})) == []


@pytest.mark.parametrize(
    "zone", ["Foo/Bar", '"Europe/Berlin"', "../../etc/passwd", "Europe", "+2", "GMT+"]
)
def test_these_are_not(zone: str) -> None:
    [warning] = environment_warnings({"TZ": zone})
    assert warning.startswith(f"TZ={zone} is no time zone, so times are in UTC.")


def test_a_variable_cannot_clear_the_screen() -> None:
    [warning] = environment_warnings({"TZ": "\x1b[2J"})
    assert warning.startswith("TZ=␛[2J is no time zone")


@pytest.mark.parametrize("zone", ["CET-1CEST", "JST-9", "Foo/Bar", "Europe", '"Europe/Berlin"'])
def test_a_time_zone_ends_no_question(zkchat: Program, zone: str) -> None:
    """dateparser fails for zones that are no names of files."""
    zkchat.env["TZ"] = zone
    done = zkchat("ask", "--no-store", "what did I do yesterday?")
    assert done.exit_status == 0
    assert ("is no time zone" in done.err) == (zone not in ("CET-1CEST", "JST-9"))


def test_days_do_not_depend_on_the_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "JST-9")
    yesterday = parse_period("yesterday", date(2026, 3, 1))
    assert yesterday is not None
    assert yesterday.first == yesterday.last == date(2026, 2, 28)


def test_a_relative_folder_is_told() -> None:
    assert list(environment_warnings({"XDG_DATA_HOME": "notes"})) == [
        "XDG_DATA_HOME=notes is ignored: it must be an absolute path."
    ]
    assert list(environment_warnings({"XDG_DATA_HOME": "notes", "ZKCHAT_HOME": "/srv/z"})) == []


def test_a_home_that_may_not_be_written_ends_no_question(zkchat: Program) -> None:
    zkchat.env["ZKCHAT_HOME"] = f"{os.devnull}/zkchat"
    done = zkchat("ask", "what is a filter?")
    assert (done.exit_status, bool(done.out)) == (0, True)
    assert done.err.count("this chat is not stored: ") == 1
    assert zkchat("ask", "--json", "what is a filter?").json["answer"]
    assert zkchat("ask", "--continue", "what is a filter?").exit_status == 3


def test_a_lock_of_another_program_ends_no_question(zkchat: Program) -> None:
    zkchat("ask", "what is a filter?")
    file = Path(zkchat.home) / "data" / "conversations.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "what is a filter?" in zkchat("sessions", "list").out
        done = zkchat("ask", "--json", "what is a query?")
    assert done.exit_status == 0
    assert done.json["answer"]
    assert done.err.count("is not stored for now: ") == 1
    assert "another program keeps it locked" in done.err
    assert "what is a query?" not in zkchat("sessions", "list").out


def test_a_pipe_that_does_not_end_is_named(zkchat: Program) -> None:
    asking = subprocess.Popen(
        [sys.executable, "-m", "zkchat_cli", "ask", "--no-store", "what is a filter?"],
        cwd=zkchat.vault,
        env=zkchat.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert asking.stderr is not None
    assert asking.stderr.readline().startswith("zkchat: waiting for the end of standard input.")
    answer, _ = asking.communicate("")
    assert asking.returncode == 0
    assert answer


ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    "no home": {"HOME": None, "ZKCHAT_HOME": ""},
    "an empty home": {"HOME": "", "ZKCHAT_HOME": ""},
    "a relative home": {"HOME": "home", "ZKCHAT_HOME": ""},
    "a home that is missing": {"HOME": "/nowhere/home", "ZKCHAT_HOME": ""},
    "a home that is a file": {"HOME": os.devnull, "ZKCHAT_HOME": ""},
    "relative XDG folders": {
        "XDG_CONFIG_HOME": "config",
        "XDG_DATA_HOME": "data",
        "XDG_CACHE_HOME": "../cache",
        "ZKCHAT_HOME": "",
    },
    "an unknown time zone": {"TZ": "Foo/Bar"},
    "a time zone that is a path": {"TZ": ":../../etc/passwd"},
    "a time zone by rules": {"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"},
    "an unknown locale, so ASCII": {
        "LANG": "xx_YY.nonsense",
        "LC_ALL": "nonsense",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
    "a proxy without an address": {"HTTP_PROXY": "::::", "https_proxy": "http://"},
    "a proxy of an unknown kind": {"ALL_PROXY": "gopher://localhost"},
    "networks without a proxy": {"NO_PROXY": "localhost,127.0.0.0/8,::1/128,*,,"},
    "certificates that are missing": {"SSL_CERT_FILE": "/nowhere/ca.pem", "SSL_CERT_DIR": "/no"},
    "a dumb terminal without columns, and an editor with half a quotation": {
        "TERM": "dumb",
        "COLUMNS": "0",
        "LINES": "-1",
        "EDITOR": 'vi "',
        "VISUAL": "'",
        "PAGER": '"less',
    },
    "no terminal, a screen of words, and programs that are missing": {
        "TERM": None,
        "COLORTERM": None,
        "COLUMNS": "many",
        "LINES": "1e9",
        "EDITOR": "/nowhere/vi",
        "PAGER": "/nowhere/less",
    },
    "an unknown terminal, and colors that contradict": {
        "TERM": "\x1b[31m",
        "COLORTERM": "maybe",
        "NO_COLOR": "",
        "FORCE_COLOR": "perhaps",
        "CLICOLOR": "x",
    },
    "no folder for temporary files, no name, and servers without an address": {
        "TMPDIR": "/nowhere/tmp",
        "TEMP": "",
        "TMP": "relative",
        "USER": None,
        "LOGNAME": None,
        "SHELL": None,
        "OLLAMA_HOST": "http://[::",
        "OPENAI_BASE_URL": ":",
    },
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_no_environment_ends_a_question_a_chat_a_check_or_a_server(
    zkchat: Program, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable, value in ENVIRONMENTS[name].items():
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            zkchat.env[variable] = value
    runs = {
        "ask": zkchat("ask", "what is a filter?"),
        "chat": zkchat("chat", stdin="what is a filter?\n"),
        "mcp": zkchat("mcp"),
        "doctor": zkchat("doctor"),
    }
    for command, done in runs.items():
        assert "Traceback" not in done.err, command
        assert "unexpected" not in done.err, command
        assert done.exit_status == 0 or command == "doctor"
    for command in ("ask", "chat"):
        assert "A filter is a line" in runs[command].out
    assert "vocabulary" in runs["doctor"].out
