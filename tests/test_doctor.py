"""`doctor` looks at what surrounds zkchat, too: who may read its files, disk, keys, editor, clipboard and terminal."""

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

from zkchat_cli import paths
from zkchat_cli.cli.commands.doctor import environment_checks
from zkchat_cli.errors import StoreError


def checks(zkchat: Program, *arguments: object) -> tuple[int, dict[str, dict[str, Any]]]:
    done = zkchat("doctor", "--json", *arguments)
    return done.exit_status, {check["name"]: check for check in done.json["checks"]}


@pytest.fixture
def where(tmp_path: Path) -> paths.AppPaths:
    return paths.app_paths({"ZKCHAT_HOME": str(tmp_path / "home")})


def test_wrong_settings_are_one_check_of_many(zkchat: Program) -> None:
    zkchat("config", "set", "llm.max_tool_rounds", "3")
    file = zkchat.home / "config" / "config.toml"
    file.write_text("model = 'oracle/x'\n")
    status, found = checks(zkchat)
    assert (status, found["settings"]["ok"], found["settings"]["code"]) == (2, False, "config")
    assert "oracle" in found["settings"]["detail"]
    assert (found["vault"]["ok"], found["index"]["ok"], found["provider"]["ok"]) == (True, True, True)
    assert str(file) in found["settings"]["detail"]
    file.write_text("model =\n")
    assert checks(zkchat, "--vault", zkchat.vault)[1]["vault"]["detail"] == str(zkchat.vault)
    zkchat.env["ZKCHAT_VAULT"] = str(zkchat.vault / "Queries")
    assert checks(zkchat)[1]["vault"]["detail"] == str(zkchat.vault / "Queries")


def test_a_damaged_index_is_reported(zkchat: Program) -> None:
    zkchat("vault", "index")
    [file] = zkchat.home.glob("cache/index/*.db")
    file.write_bytes(b"no index at all" * 1000)
    status, found = checks(zkchat)
    assert (status, found["index"]["ok"]) == (0, True)
    assert "it was rebuilt: the index" in found["index"]["detail"]


def test_a_read_only_home_is_reported_with_what_still_works(zkchat: Program) -> None:
    zkchat.home.mkdir(exist_ok=True)
    (zkchat.home / "cache").write_text("a file where the folder should be")
    status, found = checks(zkchat)
    assert (status, found["index"]["ok"]) == (3, False)
    assert "is not writable" in found["index"]["detail"] and "ask index the notes at each start" in found["index"]["detail"]
    assert "ZKCHAT_HOME" in found["index"]["next_step"]


def test_a_failed_check_is_shown_like_any_error(zkchat: Program, tmp_path: Path) -> None:
    done = zkchat("doctor", "--vault", tmp_path / "none", "--json")
    assert (done.exit_status, done.json["error"]["code"]) == (3, "vault")
    assert done.err == "zkchat: 2 of 15 checks failed: vault, index\n"
    assert zkchat("doctor", "--json").json["error"] is None


def test_a_file_that_others_may_read_is_wrong(zkchat: Program) -> None:
    zkchat.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
    zkchat("keys", "set", "openai", stdin="sk-secret-0123456789")
    assert checks(zkchat)[1]["permissions"]["ok"]
    file = zkchat.home / "config" / "keys.toml"
    file.chmod(0o644)
    _, found = checks(zkchat)
    assert (found["permissions"]["code"], found["permissions"]["next_step"]) == ("config", f"chmod 600 {file}")
    assert found["keys"]["detail"] == "openai: the key in zkchat's file"
    file.write_text("openai")
    file.chmod(0o600)
    assert "cannot be read" in checks(zkchat)[1]["keys"]["detail"]


def test_folders_that_others_may_list_could_be_better(where: paths.AppPaths) -> None:
    where.data_dir.mkdir(parents=True)
    where.data_dir.chmod(0o755)
    assert environment_checks.permissions(where).next_step == f"chmod 700 {where.data_dir}"
    where.store_file.touch(0o644)
    with pytest.raises(StoreError):
        environment_checks.permissions(where)


@pytest.mark.parametrize(("free", "told"), [(10_000_000, None), (100_000_000, "Free some disk space soon."), (10**12, "")])
def test_a_nearly_full_disk_is_reported(where: paths.AppPaths, monkeypatch: pytest.MonkeyPatch, free: int, told: str | None) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(environment_checks.shutil, "disk_usage", lambda _: usage)
    if told is None:
        with pytest.raises(StoreError, match=r"0\.0 GB free"):
            environment_checks.disk(where, None)
    else:
        assert (environment_checks.disk(where, Path()).next_step or "") == told


def test_editor_and_clipboard(tmp_path: Path) -> None:
    for name in ("ed", "xclip"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": str(tmp_path), "EDITOR": "ed -s"}
    assert environment_checks.editor(env).detail == "ed -s ($EDITOR)"
    assert environment_checks.editor({"PATH": str(tmp_path)}).next_step == "Set $VISUAL or $EDITOR."
    assert environment_checks.clipboard({**env, "DISPLAY": ":0"}).detail == "xclip"
    assert "OSC 52" in environment_checks.clipboard(env).detail


def test_the_terminal_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment_checks.sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(environment_checks.shutil, "get_terminal_size", lambda: os.terminal_size((50, 24)))
    good = environment_checks.terminal({"TERM": "xterm-256color", "LANG": "de_DE.UTF-8", "COLORTERM": "truecolor"})
    assert good.detail == "xterm-256color, 50 × 24, colors: 16 million, UTF-8"
    assert good.next_step == "widen it: lines wrap at 50 columns"
    bad = environment_checks.terminal({"TERM": "dumb", "LC_ALL": "POSIX", "LANG": "C.utf8"})
    assert "colors: none, not UTF-8 (POSIX)" in bad.detail
    assert "set LANG=C.UTF-8" in (bad.next_step or "")
    assert "off by NO_COLOR" in environment_checks.terminal({"TERM": "xterm", "NO_COLOR": "1"}).detail
    assert "colors: 256" in environment_checks.terminal({"TERM": "screen-256color"}).detail


def test_agents_that_nobody_could_use_are_wrong(zkchat: Program) -> None:
    folder = zkchat.home / "config" / "agents"
    assert checks(zkchat)[1]["agents"]["detail"] == "editor, researcher; none of them yours"
    folder.mkdir(parents=True)
    (folder / "critic.toml").write_text("model = 'offline'\n")
    found = checks(zkchat)[1]["agents"]
    assert (found["ok"], found["detail"]) == (True, "critic, editor, researcher; 1 of them yours")
    (folder / "critic.toml").write_text("model = 'oracle/x'\n")
    (folder / "editor.toml").write_text("memori = true\n")
    status, all_ = checks(zkchat)
    assert (status, all_["agents"]["code"]) == (2, "config")
    assert "oracle" in all_["agents"]["detail"]
    assert "memori" in all_["agents"]["detail"]
