"""Agents: what their files may say, which there are, how files are written and changed, and who is
called by `@name`.
"""

import tomllib
from pathlib import Path

import pytest
from conftest import Program

from zkchat_cli.agents import loader as agent_loader
from zkchat_cli.agents.loader import Agent
from zkchat_cli.app.settings import check_agent
from zkchat_cli.chat.user_input import parse_agent_mention
from zkchat_cli.config import loader
from zkchat_cli.errors import ConfigError
from zkchat_cli.paths import AppPaths


@pytest.fixture
def where(tmp_path: Path) -> Path:
    folder = tmp_path / "agents"
    folder.mkdir()
    return folder


def written(where: Path, text: str, name: str = "critic") -> Agent:
    (where / f"{name}.toml").write_text(text, encoding="utf-8")
    return check_agent(agent_loader.load_agent(where, name))


# what a file may say


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        ('modell = "x"', "modell", "Nearest: model"),
        ("contxt.max_tokens = 9", "contxt.max_tokens", "context.max_tokens"),
        (
            'strategy = "discard"\ncontext.strategy = "hybrid"',
            "strategy and context.strategy",
            "Keep one of them",
        ),
        ('tools = ["find_excerpt"]', 'tools = "find_excerpt"', "find_excerpts"),
        ("tools = [1]", "tools = [1]", "it must be text"),
        ('strategy = "hybird"', 'strategy = "hybird"', "one of discard, hybrid, summarize"),
        ("temperature = 9", "temperature = 9", "less than or equal to 2"),
        ("context.max_tokens = 3", "context.max_tokens = 3", "greater than or equal to 512"),
        ("context.message_budget_ratio = 0.9", "context", "more than 1"),
        ("model = [", "", "not valid TOML"),
    ],
)
def test_an_invalid_file_is_an_error_with_key_value_and_valid_values(
    where: Path, text: str, key: str, told: str
) -> None:
    with pytest.raises(ConfigError) as e:
        written(where, text)
    error = e.value
    assert error.message.startswith(str(where / "critic.toml"))
    assert key in error.message
    assert told in f"{error.message} {error.hint}"
    assert "\n" not in error.message


# which there are


def test_a_file_replaces_a_built_in_agent_and_what_it_leaves_empty_is_the_settings(
    where: Path,
) -> None:
    mine = written(where, 'description = "mine"\nmodel = ""\ntools = []', "editor")
    assert (mine.description, mine.settings_layer, mine.tools) == ("mine", (), ())
    assert agent_loader.list_names(where).count("editor") == 1


@pytest.mark.parametrize(
    "name", ["", "none", "Critic", "a b", "../x", "a.b", "-a", "_a", "a" * 49, "a/b", "a\n"]
)
def test_invalid_names_are_refused(where: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be called"):
        agent_loader.agent_file(where, name)


# what an agent counts for


def test_agent_settings_rank_between_files_and_environment(where: Path, vault: Path) -> None:
    agent = written(
        where,
        'model = "ollama/a"\ntemperature = 0.5\n[context]\nmax_tokens = 4096\nsummary_ratio = 0.5',
    )
    places = AppPaths(where.parent / "config.toml", where, where)
    places.config_file.write_text("context.max_tokens = 1000\ncontext.injection_ratio = 0.3")
    (vault / ".zkchat.toml").write_text("context.max_tokens = 2000")
    env = {"ZKCHAT_MODEL": "ollama/b"}
    loaded = loader.load_config(
        {"context.summary_ratio": 0.1}, env, places, vault, agent=agent.settings_layer
    )
    values = loaded.values
    assert (values.model, values.llm.temperature, values.context.max_tokens) == (
        "ollama/b",
        0.5,
        4096,
    )
    assert (values.context.summary_ratio, values.context.injection_ratio) == (0.1, 0.3)
    assert loaded.origins["context.max_tokens"] == str(where / "critic.toml")


def test_a_vault_brings_no_agents(zkchat: Program) -> None:
    (zkchat.vault / "agents").mkdir()
    (zkchat.vault / "agents" / "spy.toml").write_text('model = "openai/x"')
    assert "no agent 'spy'" in zkchat("ask", "hello", "--agent", "spy").err
    for line in ("agent = 'spy'", "[agents.spy]\nmodel = 'openai/x'"):
        (zkchat.vault / ".zkchat.toml").write_text(line)
        done = zkchat("ask", "hello")
        assert done.exit_status == 2
        assert "is not a setting" in done.err


# writing


def test_what_is_written_is_read_again(where: Path) -> None:
    texts = {
        "description": 'a\n"""\\',
        "model": 'a\n"',
        "system_prompt": "\n  Grüße 🌱\\\n",
        "tools": ['"""', "\t", ""],
    }
    given = {**texts, "temperature": -0.1, "memory": False, "context.max_tokens": 10**9}
    file = where / "x.toml"
    agent_loader.write_agent_file(file, given)
    assert dict(loader.flatten_tables(tomllib.loads(file.read_text(encoding="utf-8")))) == given


def test_invalid_toml_is_not_changed(where: Path) -> None:
    file = where / "critic.toml"
    file.write_bytes(b"model = [")
    with pytest.raises(ConfigError, match="cannot be changed: Unexpected end"):
        agent_loader.write_agent_file(file, {"model": "b"})
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be changed"):
        agent_loader.write_agent_file(file, {"model": "b"})
    assert file.read_bytes() == b"\xff"


# who is called


@pytest.mark.parametrize(
    ("text", "name", "question"),
    [
        ("@critic is it sound?", "critic", "is it sound?"),
        ("  @Critic: is it?\nReally?", "critic", "is it?\nReally?"),
        ("@critic, is it?", "critic", "is it?"),
        ("@critic\nis it?", "critic", "is it?"),
        ("@critic", "critic", ""),
        ("@批评 好吗", "批评", "好吗"),
    ],
)
def test_a_mention_at_the_start_calls_an_agent(text: str, name: str, question: str) -> None:
    called = parse_agent_mention(text)
    assert called is not None
    assert called[1:].lower() == name
    assert text.partition(called)[2].lstrip(" \t\n,:") == question


@pytest.mark.parametrize(
    "text",
    [
        "is it, @critic?",
        "@critic.md is",
        "@notes/plan x",
        "@",
        "@ critic",
        "a@critic x",
        "@critic's x",
        "@a" + "b" * 60,
        "",
    ],
)
def test_other_text_is_not_a_mention(text: str) -> None:
    assert parse_agent_mention(text) is None
