"""`config`: who set what, and editing the file without ever losing what was written or breaking
what was there.
"""

from pathlib import Path

from conftest import Program


def file_of(zkchat: Program) -> Path:
    return zkchat.home / "config" / "config.toml"


def test_addresses_are_shown_without_credentials(zkchat: Program) -> None:
    zkchat("config", "set", "openai.base_url", "http://ann:secret@127.0.0.1:9/v1?key=secret")
    for arguments in (("show",), ("show", "--json")):
        out = zkchat("config", *arguments).out
        assert "http://127.0.0.1:9/v1?…" in out
        assert "secret" not in out
    assert (
        zkchat("config", "get", "openai.base_url").out
        == "http://ann:secret@127.0.0.1:9/v1?key=secret\n"
    )


def test_the_file_is_its_owners_alone(zkchat: Program) -> None:
    assert zkchat("config", "set", "llm.max_tool_rounds", "3", "--json").json["file"] == str(
        file_of(zkchat)
    )
    assert file_of(zkchat).stat().st_mode & 0o777 == 0o600
    assert zkchat("config", "unset", "llm.max_tool_rounds", "--json").json == {
        "key": "llm.max_tool_rounds",
        "value": 10,
        "file": None,
    }
    assert "max_tool_rounds" not in file_of(zkchat).read_text()


def test_a_relative_path_is_saved_as_the_folder_that_it_names_here(zkchat: Program) -> None:
    for written, stored in (
        ("Queries", str(zkchat.vault / "Queries")),
        ("~/notes", "~/notes"),
        ("", ""),
    ):
        assert zkchat("config", "set", "vault.path", written, "--json").json["value"] == stored


def test_unsetting_where_nothing_is_set_writes_nothing(zkchat: Program) -> None:
    assert zkchat("config", "unset", "model").out == 'model = "offline"   # default\n'
    assert not file_of(zkchat).exists()


def test_a_file_with_a_byte_order_mark_sets_the_screen_too_and_gets_no_empty_table(
    zkchat: Program,
) -> None:
    zkchat("config", "set", "model", "offline")
    file_of(zkchat).write_bytes(b"\xef\xbb\xbf[terminal]\r\naccessible = true\r\n")
    assert "problem: vault" in zkchat("doctor", "--vault", "nowhere").out
    assert zkchat("config", "unset", "context.strategy").exit_status == 0
    assert (
        zkchat("config", "get", "terminal.accessible").out,
        "context" in file_of(zkchat).read_text(),
    ) == ("true\n", False)
