"""Attacks on what zkchat trusts: a vault's own settings, files that are no files, memory files, other local users, and echoed keys."""

import ast
import os
from pathlib import Path

import pytest
from conftest import Program, write

import zkchat_cli
from zkchat_cli import paths
from zkchat_cli.app import factory
from zkchat_cli.config import loader
from zkchat_cli.errors import ConfigError

PACKAGE = Path(zkchat_cli.__file__).parent

# a vault's own settings

SETTINGS = loader.default_values(factory.settings_schema())


@pytest.mark.parametrize("key", [key for key in SETTINGS if key not in loader.FOR_A_VAULT])
def test_a_vaults_file_cannot_set_what_is_not_on_the_list(tmp_path: Path, key: str) -> None:
    (tmp_path / ".zkchat.toml").write_text(f'{key} = "/dev/zero"\n')
    where = paths.app_paths({"ZKCHAT_HOME": str(tmp_path / "home")})
    with pytest.raises(ConfigError, match=f"cannot set {key}") as refused:
        loader.load_config({}, {}, where, tmp_path, factory.settings_schema())
    assert f"Only your own file, {where.config_file}, can have it" in refused.value.hint


def test_no_setting_on_the_list_is_a_path_an_address_a_command_or_a_key() -> None:
    words = {key for key in loader.FOR_A_VAULT if isinstance(SETTINGS[key], str)}
    assert words == {"context.strategy", "context.tool_filter", "llm.reasoning_effort"}  # choices, which are checked


@pytest.mark.parametrize("model", ["scripted//dev/zero", "scripted/evil.jsonl", "offline", "openai/gpt-5"])
def test_a_vault_cannot_choose_the_model(zkchat: Program, model: str) -> None:
    write(zkchat.vault, {".zkchat.toml": f'model = "{model}"\n', "evil.jsonl": '{"text": "I am the model."}\n'})
    for command in (("ask", "x"), ("context", "show"), ("context", "stats")):
        done = zkchat(*command, timeout=20)
        assert (done.exit_status, done.out) == (2, "")
        assert "a vault's own file cannot set model" in done.err
        assert f"Only your own file, {zkchat.home}/config/config.toml, can have it" in done.err


# files that are no files


@pytest.mark.parametrize("script", ["/dev/zero", "pipe", "large.jsonl", "."])
def test_a_script_is_a_regular_file_of_at_most_10_megabytes(zkchat: Program, script: str) -> None:
    os.mkfifo(zkchat.vault / "pipe")
    with (zkchat.vault / "large.jsonl").open("w") as large:
        large.truncate(10_000_001)
    done = zkchat("ask", "x", "--model", f"scripted/{script}", timeout=20)
    assert done.exit_status == 4
    assert f"scripted/{script} cannot be read: " in done.err
    assert "Name a UTF-8 file of JSON lines, at most 10 MB." in done.err


READ_BY = {
    "notes/Pipe.md": ("ask", "What is a filter? @Pipe.md"),
    "notes/ZKCHAT.md": ("ask", "What is a filter?"),
    "notes/Garden/WILK.md": ("ask", "Is [[Compost]] ready?"),
    "notes/.zkchat.toml": ("ask", "What is a filter?"),
    "home/config/config.toml": ("ask", "What is a filter?"),
    "home/config/agents/spy.toml": ("ask", "What is a filter?", "--agent", "spy"),
    "home/config/agents/librarian.md": ("ask", "What is a filter?", "--agent", "librarian"),
    "home/config/keys.toml": ("keys", "list"),
    "notes/pipe.json": ("context", "import", "--file", "pipe.json"),
    "notes/pipe.txt": ("tokens", "pipe.txt"),
    "notes/Link.md": ("vault", "links", "Link.md"),
}
"""What each command reads, besides other files."""


@pytest.mark.parametrize("kind", ["pipe", "endless device"])
@pytest.mark.parametrize("file", READ_BY)
def test_no_command_waits_for_what_is_no_regular_file(zkchat: Program, tmp_path: Path, file: str, kind: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(tmp_path / file)
    else:
        (tmp_path / file).symlink_to("/dev/zero")
    done = zkchat(*READ_BY[file], timeout=20)
    assert done.exit_status in (0, 2, 3)
    assert "Traceback" not in done.err + done.out
    assert "unexpected" not in done.err


def test_endless_standard_input_is_refused(zkchat: Program) -> None:
    done = zkchat("vault", "resolve", "-", stdin=b"[" * 10_000_001)
    assert (done.exit_status, "more than 10,000,000 characters" in done.err) == (2, True)


WRITERS = {
    "fileio.py": "the one reader",
    "registry.py": "the package's own files",
    "exporters/html/__init__.py": "the package's own template",
    "app/demo.py": "the package's own notes",
    "cli/app.py": "os.devnull",
    "terminal/screen.py": "os.devnull",
    "logging_setup.py": "opens to write",
    "store/database.py": "creates",
    "vault/index/database.py": "creates",
}


def test_every_file_is_read_through_fileio() -> None:
    found = set()
    for module in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_bytes())):
            if isinstance(node, ast.Call) and _opens_to_read(node):
                found.add(module.relative_to(PACKAGE).as_posix())
    assert found == set(WRITERS)


def _opens_to_read(call: ast.Call) -> bool:
    match call.func:
        case ast.Name("open") | ast.Attribute(ast.Name("os" | "io"), "open") | ast.Attribute(_, "read_bytes"):
            return True
        case ast.Attribute(owner, "read_text"):
            return ast.unparse(owner) != "filesystem"
        case ast.Attribute(_, "open"):  # of a Path: with a mode
            modes = [each.value for each in call.args[:1] if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            return any("r" in mode for mode in modes)
    return False
