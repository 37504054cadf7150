"""Keys that zkchat keeps: where they are, who may read them, which one counts, and that nothing
ever says them.
"""

from pathlib import Path

import pytest
from conftest import Program
from model_server import ModelServer, Reply, openai_text

from zkchat_cli import paths
from zkchat_cli.app.factory import open_model
from zkchat_cli.app.model_servers import model_config, open_remote
from zkchat_cli.app.settings import StartupOptions, load_settings
from zkchat_cli.config import credentials
from zkchat_cli.errors import ConfigError
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Request
from zkchat_cli.models.prompts import PromptMessage

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
def server(server: ModelServer) -> ModelServer:
    server.gets["/v1/models"] = {"data": [{"id": "tiny"}]}
    server.says(Reply(openai_text("yes")))
    return server


def store(where: paths.AppPaths, **keys: str) -> None:
    credentials.write_keys({**credentials.read_keys(where), **keys}, where)


def test_a_stored_key_is_private_and_used(
    where: paths.AppPaths, server: ModelServer, vault: Path
) -> None:
    store(where, **{credentials.stored_name("openai", f"{server.address}/v1"): KEY})
    assert where.keys_file.stat().st_mode & 0o777 == 0o600
    assert where.keys_file.parent.stat().st_mode & 0o777 == 0o700
    env = {"ZKCHAT_HOME": str(where.data_dir.parent), "OPENAI_BASE_URL": f"{server.address}/v1"}
    loaded = load_settings(StartupOptions(vault, "openai/tiny"), env, vault)
    model = open_model(loaded).model
    deltas = list(
        model.stream(
            Request((PromptMessage(role="user", content="Hello", tokens=1, kind="conversation"),))
        )
    )
    assert server.asked[0][2]["authorization"] == f"Bearer {KEY}"
    reach = open_remote("openai", loaded)
    assert reach is not None
    assert (reach.server.key_status, reach.server.is_configured) == (
        "the key in zkchat's file is set",
        True,
    )
    assert KEY not in repr(
        [deltas, model, loaded, model_config(providers.provider("openai"), loaded)]
    )


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_stored_key_goes_to_no_other_address_than_its_own(
    where: paths.AppPaths, server: ModelServer, vault: Path, provider: str
) -> None:
    env = {
        "ZKCHAT_HOME": str(where.data_dir.parent),
        f"{provider.upper()}_BASE_URL": f"{server.address}/v1",
    }
    store(
        where,
        **{provider: KEY, credentials.stored_name(provider, "https://elsewhere.example"): OTHER},
    )
    loaded = load_settings(StartupOptions(vault, f"{provider}/tiny"), env, vault)
    model = open_model(loaded).model
    [
        *model.stream(
            Request((PromptMessage(role="user", content="Hello", tokens=1, kind="conversation"),))
        )
    ]
    assert server.asked
    assert not any(secret in str(asked) for asked in server.asked for secret in (KEY, OTHER))
    reach = open_remote(provider, loaded)
    assert reach is not None
    assert reach.server.key_status.endswith(
        f"for another address (zkchat keys set {provider} stores one for this)"
    )
    key = credentials.find_key(provider, "X", {}, where)
    assert (
        key.value,
        key.for_address("https://elsewhere.example").value,
        key.for_address("https://elsewhere").value,
    ) == (KEY, OTHER, "")


def test_a_key_is_set_listed_and_removed_for_the_server_that_is_configured(zkchat: Program) -> None:
    def listed() -> str | None:
        return {row["provider"]: row["ends_with"] for row in zkchat("keys", "list", "--json").json}[
            "openai"
        ]

    zkchat("keys", "set", "openai", stdin=KEY)
    zkchat.env["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1/chat/completions/"
    assert listed() is None
    assert (
        "for openai at http://127.0.0.1:9/v1 in" in zkchat("keys", "set", "openai", stdin=OTHER).out
    )
    assert listed() == OTHER[-4:]
    assert "Deleted" in zkchat("keys", "remove", "openai").out
    del zkchat.env["OPENAI_BASE_URL"]
    assert listed() == KEY[-4:]
    zkchat.env["OPENAI_API_KEY"] = OTHER
    assert (
        "OPENAI_API_KEY is set and overrides it"
        in zkchat("keys", "set", "openai", stdin=f"{KEY}\n").err
    )


def test_the_environment_wins(where: paths.AppPaths) -> None:
    store(where, anthropic=KEY)
    assert credentials.find_key("anthropic", "ANTHROPIC_API_KEY", {}, where) == credentials.ApiKey(
        KEY, "file", "ANTHROPIC_API_KEY"
    )
    found = credentials.find_key(
        "anthropic", "ANTHROPIC_API_KEY", {"ANTHROPIC_API_KEY": f" {OTHER}\n"}, where
    )
    assert (found.value, found.variable, found.last_four) == (OTHER, "ANTHROPIC_API_KEY", "wxyz")
    assert credentials.find_key("anthropic", "OTHER", {"OTHER": "short"}, where).last_four == ""


def test_the_key_file_does_not_follow_the_config_option(tmp_path: Path) -> None:
    named = paths.app_paths({"ZKCHAT_HOME": str(tmp_path)}, tmp_path / "elsewhere" / "team.toml")
    assert (
        named.keys_file
        == tmp_path / "config" / "keys.toml"
        == paths.app_paths({"ZKCHAT_HOME": str(tmp_path)}).keys_file
    )


@pytest.mark.parametrize("wrong", ["", "two words", "ключ", "a\tb", "x" * 5000, f'"{KEY}'])
def test_an_invalid_key_is_refused(where: paths.AppPaths, wrong: str) -> None:
    with pytest.raises(ConfigError) as e:
        store(where, openai=wrong)
    assert not wrong or wrong not in f"{e.value.message} {e.value.hint}"
    assert not where.keys_file.exists()


def test_a_damaged_key_file_is_not_overwritten(where: paths.AppPaths) -> None:
    where.keys_file.parent.mkdir(parents=True)
    where.keys_file.write_text(f"openai = {KEY}")
    assert credentials.find_key("openai", "OPENAI_API_KEY", {}, where).value == ""
    with pytest.raises(ConfigError) as e:
        store(where, openai=OTHER)
    assert (e.value.__cause__, KEY in e.value.message) == (None, False)
    assert where.keys_file.read_text() == f"openai = {KEY}"


def test_a_key_is_never_an_argument_or_printed(zkchat: Program) -> None:
    for done in (
        zkchat("keys", "set", "openai", KEY, "--verbose"),
        zkchat("keys", "set", KEY, "--verbose", stdin="x"),
        zkchat("keys", "set", "openai", "--verbose", stdin=f"{KEY} and more\n"),
    ):
        assert (done.exit_status, KEY in done.out + done.err) == (2, False)
    zkchat("keys", "set", "openai", stdin=KEY)
    file = next(zkchat.home.rglob("keys.toml"))
    assert [
        path
        for path in zkchat.home.rglob("*")
        if path.is_file() and path != file and KEY.encode() in path.read_bytes()
    ] == []
