"""Settings in layers: which one counts, where it came from, and errors that say what to write
instead.
"""

from pathlib import Path
from typing import Any

import pytest

from zkchat_cli import paths
from zkchat_cli.config.loader import LoadedConfig, load_config
from zkchat_cli.errors import ConfigError
from zkchat_cli.paths import AppPaths


@pytest.fixture
def where(tmp_path: Path) -> AppPaths:
    (tmp_path / "vault").mkdir()
    return AppPaths(tmp_path / "config.toml", tmp_path / "data", tmp_path / "cache")


def loaded(
    where: AppPaths,
    user: str = "",
    project: str = "",
    env: dict[str, str] | None = None,
    **flags: object,
) -> LoadedConfig:
    """Settings from the texts of the user's and the vault's files, an environment and flags (`__`
    for a dot).
    """
    where.config_file.write_text(user, encoding="utf-8")
    vault = where.config_file.parent / "vault"
    (vault / ".zkchat.toml").write_text(project, encoding="utf-8")
    return load_config(
        {key.replace("__", "."): value for key, value in flags.items()}, env or {}, where, vault
    )


def refused(where: AppPaths, *args: Any, **kwargs: Any) -> ConfigError:
    with pytest.raises(ConfigError) as e:
        loaded(where, *args, **kwargs)
    assert e.value.hint
    return e.value


def test_each_layer_counts_over_the_one_before(where: AppPaths) -> None:
    user = (
        'model = "offline"\n[context]\nmax_tokens = 1000\nstrategy = "discard"\nsummary_ratio '
        '= 0.1\ntool_filter = "off"'
    )
    project = '[context]\nmax_tokens = 2000\nstrategy = "summarize"\nsummary_ratio = 0.2'
    env = {"ZKCHAT_CONTEXT__MAX_TOKENS": "3000", "ZKCHAT_CONTEXT__STRATEGY": "hybrid"}
    settings = loaded(where, user, project, env, context__max_tokens=4000)
    context = settings.values.context
    assert (context.max_tokens, context.strategy, context.summary_ratio, context.tool_filter) == (
        4000,
        "hybrid",
        0.2,
        "off",
    )


def test_every_value_knows_where_it_came_from(where: AppPaths) -> None:
    settings = loaded(
        where,
        "[context]\nmax_tokens = 1000",
        "[llm]\nmax_tool_rounds = 3",
        {"ZKCHAT_MODEL": "offline"},
        vault__path="x",
    )
    assert settings.origins == {
        "context.max_tokens": str(where.config_file),
        "llm.max_tool_rounds": str(where.config_file.parent / "vault" / ".zkchat.toml"),
        "model": "ZKCHAT_MODEL",
        "vault.path": "command line",
    }
    # The vault's own file is read once the vault is known
    assert load_config({}, {}, where).values.llm.max_tool_rounds == 10


def test_a_list_may_come_from_one_variable(where: AppPaths) -> None:
    assert loaded(
        where, env={"ZKCHAT_VAULT__IGNORE": "Templates/*, Archive/* ,"}
    ).values.vault.ignore == ("Templates/*", "Archive/*")


def test_an_empty_variable_is_one_that_is_not_set(where: AppPaths) -> None:
    settings = loaded(where, 'vault.path = "notes"', env={"ZKCHAT_VAULT": "", "ZKCHAT_MODEL": ""})
    assert (settings.values.vault.path, settings.values.model) == ("notes", "offline")


def test_other_programs_variables_are_left_alone(where: AppPaths) -> None:
    assert (
        loaded(
            where, env={"ZKCHAT_HOME": "x", "ZKCHATTER__X": "y", "PATH": "z", "ZKCHAT": "q"}
        ).origins
        == {}
    )


@pytest.mark.parametrize(
    ("toml", "key", "shown", "valid"),
    [
        ('[context]\nmax_tokens = "many"', "context.max_tokens", '"many"', "a whole number"),
        (
            "[context]\nsummary_ratio = inf",
            "context.summary_ratio",
            "Infinity",
            "less than or equal to 1",
        ),
        ('[context]\ntool_filter = "on"', "context.tool_filter", '"on"', "'auto' or 'off'"),
        ("[vault]\nignore = [1, 2]", "vault.ignore", "[1, 2]", "text"),
        ("model = 2024-01-01", "model", '"2024-01-01"', "text"),
    ],
)
def test_a_wrong_value_is_refused_with_file_key_value_and_what_is_valid(
    where: AppPaths, toml: str, key: str, shown: str, valid: str
) -> None:
    error = refused(where, toml)
    assert error.message.startswith(f"{where.config_file}: {key} = ")
    assert shown in error.message
    assert f"it must be {valid}" in error.message
    assert "Default" in error.hint


def test_a_wrong_variable_is_named(where: AppPaths) -> None:
    assert refused(where, env={"ZKCHAT_CONTEXT__MAX_TOKENS": "lots"}).message.startswith(
        "ZKCHAT_CONTEXT__MAX_TOKENS: context.max_tokens"
    )


@pytest.mark.parametrize(
    ("toml", "near"),
    [
        ("[context]\nmax_token = 1000", "context.max_tokens"),
        ("[contxt]\nstrategy = 'hybrid'", "context.strategy"),
        ("[[context]]\nstrategy = 'hybrid'", "context.strategy"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_ones(
    where: AppPaths, toml: str, near: str
) -> None:
    error = refused(where, toml)
    assert "is not a setting" in error.message
    assert near in error.hint


@pytest.mark.parametrize("broken", ["[context", "a = ", "a = 1\na = 2", "\u0000"])
def test_broken_toml_is_refused_with_its_line(where: AppPaths, broken: str) -> None:
    error = refused(where, broken + "\n\n")
    assert str(where.config_file) in error.message
    assert "line 1" in error.message or "line 2" in error.message


def test_a_file_that_is_not_utf_8_is_refused(where: AppPaths) -> None:
    where.config_file.write_bytes(b"model = \xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config({}, {}, where)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * 600_000, "larger than 32 kB"),
        ("llm.temperature = '" + "x" * 30_000 + "'", "llm.temperature = "),
        ("x" * 30_000 + " = 1", "is not a setting"),
    ],
    ids=["large", "value", "key"],
)
def test_what_a_hostile_vault_brings_takes_neither_the_machine_nor_the_screen(
    where: AppPaths, text: str, told: str
) -> None:
    message = refused(where, project=text).message
    assert told in message
    assert len(message) < 600


def test_an_invalid_vault_path_is_refused(where: AppPaths) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config({}, {}, where, Path("a\0b"))


def test_one_home_moves_config_data_and_cache() -> None:
    moved = paths.app_paths({"ZKCHAT_HOME": "/srv/zk"})
    assert moved == AppPaths(
        Path("/srv/zk/config/config.toml"), Path("/srv/zk/data"), Path("/srv/zk/cache")
    )
    assert moved.store_file == Path("/srv/zk/data/conversations.db")


def test_a_home_of_nobody_is_refused() -> None:
    with pytest.raises(ConfigError, match="ZKCHAT_HOME=~nobody-of-this-name"):
        paths.app_paths({"ZKCHAT_HOME": "~nobody-of-this-name/x"})


def test_without_a_home_the_platforms_folders_are_used() -> None:
    assert {
        "zkchat" in str(path)
        for path in (paths.app_paths({}).config_file, paths.app_paths({}).data_dir)
    } == {True}
    assert paths.app_paths({}, Path("my.toml")).config_file == Path("my.toml")
