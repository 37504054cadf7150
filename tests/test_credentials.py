"""Keys that zkchat keeps: where they are, who may read them, which one counts, and that nothing ever says them."""

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Program
from model_server import ModelServer, Reply, openai_text, running_server

from zkchat_cli import credentials, logging_setup, paths
from zkchat_cli.app import factory, startup_options
from zkchat_cli.errors import ConfigError
from zkchat_cli.llm import embedders
from zkchat_cli.llm.base import Request
from zkchat_cli.llm.embedders import base
from zkchat_cli.models import PromptMessage

KEY = "sk-secret-0123456789-abcd"
OTHER = "sk-other-9876543210-wxyz"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "")


@pytest.fixture
def where(tmp_path: Path) -> paths.AppPaths:
    return paths.app_paths({"ZKCHAT_HOME": str(tmp_path / "home")})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_server() as made:
        made.gets["/v1/models"] = {"data": [{"id": "tiny"}]}
        made.says(Reply(openai_text("yes")))
        yield made


KEYRING = """
import json, pathlib
FILE = pathlib.Path({file!r})
class Backend: priority = {priority}
def get_keyring(): return Backend()
def _all(): return json.loads(FILE.read_text()) if FILE.exists() else {{}}
def set_password(service, name, value):
    if {broken}: raise RuntimeError("locked " + value)
    FILE.write_text(json.dumps({{**_all(), service + "/" + name: value}}))
def get_password(service, name): return _all().get(service + "/" + name)
def delete_password(service, name): FILE.write_text(json.dumps({{k: v for k, v in _all().items() if k != service + "/" + name}}))
"""


def a_keyring(folder: Path, monkeypatch: pytest.MonkeyPatch, *, priority: float = 5, broken: bool = False) -> Path:
    """A package `keyring` that keeps its passwords in a file."""
    (folder / "packages").mkdir()
    (folder / "packages/keyring.py").write_text(KEYRING.format(file=str(folder / "ring.json"), priority=priority, broken=broken))
    monkeypatch.syspath_prepend(str(folder / "packages"))
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    return folder / "ring.json"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    sys.modules.pop("keyring", None)


def test_a_stored_key_is_private_and_used(where: paths.AppPaths, server: ModelServer, vault: Path) -> None:
    assert credentials.store_key("openai", KEY, where) == "file"
    assert where.keys_file.stat().st_mode & 0o777 == 0o600
    assert where.keys_file.parent.stat().st_mode & 0o777 == 0o700
    env = {"ZKCHAT_HOME": str(where.data_dir.parent), "OPENAI_BASE_URL": f"{server.address}/v1"}
    loaded = factory.settings(startup_options.StartupOptions(vault, "openai/tiny"), env, vault)
    model = factory.open_model(loaded, env).model
    deltas = list(model.stream(Request((PromptMessage(role="user", content="Hello", tokens=1, kind="conversation"),))))
    assert server.asked[0][2]["authorization"] == f"Bearer {KEY}"
    reach = factory.server_info("openai", loaded, env)
    assert reach is not None
    assert (reach.key, reach.configured_by) == ("the key in zkchat's file is set", "the key in zkchat's file, OPENAI_BASE_URL")
    assert KEY not in repr([deltas, model, loaded, factory.model_config(factory.providers.provider("openai"), loaded, env)])
    wanted = base.EmbedderConfig("m", "", env, credentials.find_key("openai", "OPENAI_API_KEY", env, where))
    assert embedders.embedder("openai").open(wanted).server.key == KEY  # type: ignore[attr-defined]
    assert KEY not in repr(wanted)


def test_the_environment_wins(where: paths.AppPaths) -> None:
    credentials.store_key("anthropic", KEY, where)
    assert credentials.find_key("anthropic", "ANTHROPIC_API_KEY", {}, where) == credentials.ApiKey(KEY, "file", "ANTHROPIC_API_KEY")
    found = credentials.find_key("anthropic", "ANTHROPIC_API_KEY", {"ANTHROPIC_API_KEY": f" {OTHER}\n"}, where)
    assert (found.value, found.description, found.last_four) == (OTHER, "ANTHROPIC_API_KEY", "wxyz")
    assert credentials.find_key("anthropic", "OTHER", {"OTHER": "short"}, where).last_four == ""


def test_the_key_file_does_not_follow_the_config_option(tmp_path: Path) -> None:
    named = paths.app_paths({"ZKCHAT_HOME": str(tmp_path)}, tmp_path / "elsewhere" / "team.toml")
    assert named.keys_file == tmp_path / "config" / "keys.toml" == paths.app_paths({"ZKCHAT_HOME": str(tmp_path)}).keys_file


@pytest.mark.parametrize("wrong", ["", "two words", "ключ", "a\tb", "x" * 5000, f'"{KEY}'])
def test_an_invalid_key_is_refused(where: paths.AppPaths, wrong: str) -> None:
    with pytest.raises(ConfigError) as e:
        credentials.store_key("openai", wrong, where)
    assert not wrong or wrong not in f"{e.value.message} {e.value.hint}"
    assert not where.keys_file.exists()


@pytest.mark.parametrize(
    "text", [f"{KEY}\r\n", f"\ufeff{KEY}\n", f"OPENAI_API_KEY={KEY}\n", f'export OPENAI_API_KEY="{KEY}"\n', f" '{KEY}' "]
)
def test_a_key_may_be_pasted_from_an_env_file(text: str) -> None:
    assert credentials.parse_pasted_key(text, "OPENAI_API_KEY") == KEY
    assert credentials.parse_pasted_key(f"{KEY}==", "OPENAI_API_KEY") == f"{KEY}=="


def test_a_damaged_key_file_is_not_overwritten(where: paths.AppPaths) -> None:
    where.keys_file.parent.mkdir(parents=True)
    where.keys_file.write_text(f"openai = {KEY}")
    assert credentials.find_key("openai", "OPENAI_API_KEY", {}, where).value == ""
    for change in (lambda: credentials.store_key("openai", OTHER, where), lambda: credentials.remove_key("openai", where)):
        with pytest.raises(ConfigError) as e:
            change()
        assert e.value.__cause__ is None
        assert KEY not in e.value.message
    assert where.keys_file.read_text() == f"openai = {KEY}"
    assert credentials.stored_key_values(where) == []


def test_a_link_to_the_file_stays_one_and_its_target_is_the_owners_alone(where: paths.AppPaths, tmp_path: Path) -> None:
    dotfile = tmp_path / "dotfiles" / "keys.toml"
    where.keys_file.parent.mkdir(parents=True)
    where.keys_file.symlink_to(dotfile)
    credentials.store_key("openai", KEY, where)
    credentials.store_key("anthropic", KEY, where)
    assert credentials.remove_key("openai", where)
    assert where.keys_file.is_symlink()
    assert (credentials.stored_key_values(where), dotfile.stat().st_mode & 0o777) == ([KEY], 0o600)
    assert [file.name for file in dotfile.parent.iterdir()] == ["keys.toml"]


def test_an_available_keyring_is_used(where: paths.AppPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = a_keyring(tmp_path, monkeypatch)
    assert credentials.store_key("openai", KEY, where) == "keyring"
    assert json.loads(ring.read_text()) == {"zkchat/openai": KEY}
    assert KEY not in where.keys_file.read_text()
    assert credentials.find_key("openai", "OPENAI_API_KEY", {}, where) == credentials.ApiKey(KEY, "keyring", "OPENAI_API_KEY")
    assert credentials.store_key("openai", OTHER, where, in_file=True) == "file"
    assert json.loads(ring.read_text()) == {}
    credentials.store_key("openai", KEY, where)
    assert credentials.remove_key("openai", where)
    assert json.loads(ring.read_text()) == {}
    assert not credentials.remove_key("openai", where)


@pytest.mark.parametrize("fault", [{"priority": 0}, {"broken": True}])
def test_a_broken_keyring_falls_back_to_the_file(
    where: paths.AppPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: dict[str, float]
) -> None:
    a_keyring(tmp_path, monkeypatch, **fault)  # type: ignore[arg-type]
    assert credentials.store_key("openai", KEY, where) == "file"
    assert credentials.find_key("openai", "OPENAI_API_KEY", {}, where).value == KEY


def test_the_log_never_contains_a_stored_key(where: paths.AppPaths) -> None:
    odd = "mykey0123456789"
    credentials.store_key("openai", odd, where)
    root, before = logging.getLogger(), logging.getLogger().handlers[:]
    file = logging_setup.start_logging({"ZKCHAT_HOME": str(where.data_dir.parent)})
    logging.getLogger("zkchat_cli").warning("sent %s", odd)
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        handler.close()
    assert "sent …" in file.read_text()


def test_the_commands_show_source_and_last_characters(zkchat: Program) -> None:
    kept = zkchat("keys", "set", "openai", "--json", stdin=f"{KEY}\n")
    assert kept.json == {"provider": "openai", "source": "file", "overridden": False}
    rows = {row["provider"]: row for row in zkchat("keys", "list", "--json").json}
    assert rows["openai"] == {
        "provider": "openai",
        "source": "file",
        "variable": "OPENAI_API_KEY",
        "ends_with": "abcd",
        "overrides": None,
    }
    assert rows["anthropic"]["source"] is None
    zkchat.env["OPENAI_API_KEY"] = OTHER
    listed = zkchat("keys", "list").out
    assert "openai     …wxyz    OPENAI_API_KEY, which overrides the one in" in listed
    assert "anthropic  no key   set ANTHROPIC_API_KEY, or zkchat keys set anthropic" in listed
    removed = zkchat("keys", "remove", "openai")
    assert (removed.out, "OPENAI_API_KEY is set and still used" in removed.err) == ("Deleted the key for openai.\n", True)
    assert zkchat("keys", "remove", "openai", "--json").json == {"provider": "openai", "removed": False}


def test_a_damaged_key_file_is_reported(zkchat: Program) -> None:
    file = zkchat.home / "config" / "keys.toml"
    file.parent.mkdir(parents=True)
    file.write_text("openai = ")
    done = zkchat("keys", "list", "--json")
    assert (done.exit_status, "cannot be read" in done.err, len(done.json)) == (0, True, 2)


def test_a_key_is_never_an_argument_or_printed(zkchat: Program) -> None:
    for done in (
        zkchat("keys", "set", "openai", KEY, "--verbose"),
        zkchat("keys", "set", KEY, "--verbose", stdin="x"),
        zkchat("keys", "set", "openai", "--verbose", "--json", stdin=f"{KEY} and more\n"),
    ):
        assert (done.exit_status, KEY in done.out + done.err) == (2, False)
    zkchat("keys", "set", "openai", stdin=KEY)
    file = next(zkchat.home.rglob("keys.toml"))
    assert [path for path in zkchat.home.rglob("*") if path.is_file() and path != file and KEY.encode() in path.read_bytes()] == []
