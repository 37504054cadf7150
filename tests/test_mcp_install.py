"""`zkchat mcp install`: what it writes into the configuration of other programs."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

FILES = {
    "claude-code": (".claude.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "zed": (".config/zed/settings.json", "context_servers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
}


@pytest.fixture
def user(zkchat: Program, tmp_path: Path) -> Program:
    """The program, run by a user with a home folder of its own."""
    zkchat.env |= {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "CODEX_HOME": ""}
    return zkchat


def read(file: Path) -> Any:
    text = file.read_text()
    return (
        tomllib.loads(text)
        if file.suffix == ".toml"
        else json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    )


@pytest.mark.parametrize("client", FILES)
def test_a_client_gets_the_server_beside_what_it_has(
    user: Program, tmp_path: Path, client: str
) -> None:
    name, table = FILES[client]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    old = (
        f'model = "x"\n\n[{table}.other]\ncommand = "other"\n'
        if client == "codex"
        else f'{{\n  "{table}": {{"other": {{"command": "other"}}}}\n}}\n'
    )
    file.write_text(old)
    assert "there is no folder" in user("mcp", "install", client, "--vault", "nowhere").err
    done = user("mcp", "install", client)
    servers = read(file)[table]
    assert servers["other"] == {"command": "other"}
    assert servers["zkchat"]["args"][-2:] == ["--vault", str(user.vault)]
    [backup] = file.parent.glob(f"{file.name}.*.bak")
    assert backup.read_text() == old and str(backup) in done.err
    assert "zkchat" in done.out
    assert "nothing was changed" in user("mcp", "install", client).err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"theme": "dark"}',
        '// mine\n{\n  "theme": "dark", // at night\n}\n',
        '{\n  "font": 12, /* "zkchat" */\n  "url": "http://x//y",\n}\n',
    ],
)
def test_comments_and_everything_else_in_settings_stay(
    user: Program, tmp_path: Path, text: str
) -> None:
    file = tmp_path / ".config" / "zed" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert user("mcp", "install", "zed").exit_status == 0
    new = file.read_text()
    plain = re.sub(
        r",(\s*})",
        r"\1",
        re.sub(r'(?<=[,\s])/\*.*?\*/|(?<!:)(?<!x)//[^\n"]*$', "", new, flags=re.MULTILINE),
    )
    assert "mcp" in json.loads(plain)["context_servers"]["zkchat"]["args"]
    for kept in ("// mine", "// at night", '"theme": "dark"', '"http://x//y"', '/* "zkchat" */'):
        assert (kept in new) == (kept in text)


def test_settings_that_are_not_understood_are_left_alone(user: Program, tmp_path: Path) -> None:
    texts = (
        ("cursor", "{"),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": 1}'),
        ("cursor", '{"mcpServers": {}} // mine'),
        ("codex", "[x"),
        ("codex", "mcp_servers = 1"),
    )
    for client, text in texts:
        file = tmp_path / FILES[client][0]
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        done = user("mcp", "install", client)
        assert (done.exit_status, "--print shows what to add" in done.err, file.read_text()) == (
            2,
            True,
            text,
        )


def test_print_changes_nothing_and_an_unknown_client_names_the_known_ones(
    user: Program, tmp_path: Path
) -> None:
    done = user("mcp", "install", "vscode", "--print")
    assert done.json["servers"]["zkchat"]["type"] == "stdio"
    assert not (tmp_path / ".config").exists()
    done = user("mcp", "install", "emacs")
    assert (
        done.exit_status,
        "The clients are claude-code, codex, cursor, zed, vscode." in done.err,
    ) == (2, True)


def test_the_skill_is_written_where_the_client_reads_it(user: Program, tmp_path: Path) -> None:
    user("mcp", "install", "claude-code", "--skill")
    _, header, text = (
        (tmp_path / ".claude" / "skills" / "zkchat" / "SKILL.md").read_text().split("---\n")
    )
    assert re.match(r"name: zkchat\ndescription: .{50,1024}\n", header)
    assert all(tool in text for tool in ("search_notes", "read_note", "verify_quotations"))
