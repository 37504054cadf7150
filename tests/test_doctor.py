"""`doctor` with wrong settings."""

from pathlib import Path
from typing import Any

from conftest import Program


def checks(zkchat: Program, *arguments: object) -> tuple[int, dict[str, dict[str, Any]]]:
    done = zkchat("doctor", "--json", *arguments)
    return done.exit_status, {check["name"]: check for check in done.json["checks"]}


def test_wrong_settings_are_told_and_nothing_else_is_checked(zkchat: Program) -> None:
    zkchat("config", "set", "llm.max_tool_rounds", "3")
    file = zkchat.home / "config" / "config.toml"
    file.write_text("model = 'oracle/x'\n")
    status, found = checks(zkchat)
    assert (status, [*found], found["settings"]["ok"], found["settings"]["code"]) == (
        2,
        ["settings"],
        False,
        "config",
    )
    assert "oracle" in found["settings"]["detail"] and str(file) in found["settings"]["detail"]


def test_a_failed_check_is_shown_like_any_error(zkchat: Program, tmp_path: Path) -> None:
    zkchat.env["ZKCHAT_SEMANTIC__PROVIDER"] = "builtin"
    done = zkchat("doctor", "--vault", tmp_path / "none", "--json")
    assert (done.exit_status, done.json["error"]["code"]) == (3, "vault")
    assert done.err == "zkchat: 2 of 7 checks failed: vault, index\n"
    assert zkchat("doctor", "--json").json["error"] is None
