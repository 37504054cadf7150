"""`doctor` with wrong settings, a damaged index, a read-only home, and files that others may read."""

from pathlib import Path
from typing import Any

from conftest import Program


def checks(zkchat: Program, *arguments: object) -> tuple[int, dict[str, dict[str, Any]]]:
    done = zkchat("doctor", "--json", *arguments)
    return done.exit_status, {check["name"]: check for check in done.json["checks"]}


def test_wrong_settings_are_one_check_of_many(zkchat: Program) -> None:
    zkchat("config", "set", "llm.max_tool_rounds", "3")
    file = zkchat.home / "config" / "config.toml"
    file.write_text("model = 'oracle/x'\n")
    status, found = checks(zkchat)
    assert (status, found["settings"]["ok"], found["settings"]["code"]) == (2, False, "config")
    assert "oracle" in found["settings"]["detail"] and str(file) in found["settings"]["detail"]
    file.write_text("model =\n")
    _, found = checks(zkchat, "--vault", zkchat.vault)
    assert [name for name, check in found.items() if not check["ok"]] == ["settings"]
    assert found["vault"]["detail"] == str(zkchat.vault)
    zkchat.env["ZKCHAT_VAULT"] = str(zkchat.vault / "Queries")
    assert checks(zkchat)[1]["vault"]["detail"] == str(zkchat.vault / "Queries")


def test_a_failed_check_is_shown_like_any_error(zkchat: Program, tmp_path: Path) -> None:
    zkchat.env["ZKCHAT_SEMANTIC__PROVIDER"] = "builtin"
    done = zkchat("doctor", "--vault", tmp_path / "none", "--json")
    assert (done.exit_status, done.json["error"]["code"]) == (3, "vault")
    assert done.err == "zkchat: 2 of 9 checks failed: vault, index\n"
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
