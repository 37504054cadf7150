"""Which model answers, where it is, and who may say so: settings, `doctor`, completion, the log."""

import logging
from pathlib import Path

import pytest
from conftest import Program, fork_server_folder
from model_server import ModelServer, Reply, openai_text
from test_doctor import checks

from zkchat_cli import logging_setup
from zkchat_cli.app.settings import StartupOptions, load_settings
from zkchat_cli.config.credentials import write_keys
from zkchat_cli.errors import ConfigError
from zkchat_cli.paths import app_paths


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.gets["/v1/models"] = {"data": [{"id": "tiny"}, {"id": "large"}]}
    server.gets["/api/tags"] = {"models": [{"name": "qwen3:latest"}]}
    server.gets["/api/show"] = {"model_info": {"qwen3.context_length": 8192}}
    server.says(Reply(openai_text("yes")))
    return server


def test_reasoning_effort_is_one_of_those_that_models_accept(zkchat: Program) -> None:
    assert (
        "'minimal', 'low', 'medium', 'high', 'xhigh' or 'max'"
        in zkchat("config", "set", "llm.reasoning_effort", "much").err
    )


def test_doctor_asks_each_server_that_was_chosen_and_no_other(
    zkchat: Program, server: ModelServer
) -> None:
    assert not set(checks(zkchat)[1]) & {"openai", "ollama", "anthropic"}
    zkchat.env |= {"OPENAI_BASE_URL": f"{server.address}/v1", "OLLAMA_HOST": server.address}
    _, found = checks(zkchat, "--model", "openai/tiny")
    assert found["openai"]["ok"] is True
    assert "2 models, including tiny" in str(found["openai"]["detail"])
    assert "OPENAI_API_KEY is not set" in str(found["openai"]["detail"])
    assert "1 model" in str(found["ollama"]["detail"])
    assert server.asked == []
    _, found = checks(zkchat, "--model", "ollama/qwen3")  # without its tag
    assert found["ollama"]["ok"] is True
    assert "ollama/qwen3; window 8,192 tokens (Ollama: model_info.qwen3.context_length)" in str(
        found["provider"]["detail"]
    )


# quiet, and the log


def test_the_libraries_print_nothing_when_they_are_loaded() -> None:
    assert (fork_server_folder() / "printed").read_text() == ""


def test_verbose_writes_a_private_log_and_says_where(zkchat: Program) -> None:
    done = zkchat("ask", "What is a filter?", "--verbose")
    file = zkchat.home / "data" / logging_setup.LOG_NAME
    assert (done.exit_status, f"zkchat: the log is {file}\n") == (0, done.err)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "zkchat_cli.chat.model_call: asking offline" in file.read_text()


def test_without_verbose_or_a_store_no_log_is_written(zkchat: Program) -> None:
    zkchat("ask", "What is a filter?")
    done = zkchat("ask", "What is a filter?", "--verbose", "--no-store")
    assert (done.exit_status, done.err) == (0, "")
    assert not (zkchat.home / "data" / logging_setup.LOG_NAME).exists()


def test_secrets_are_taken_out_of_every_line(tmp_path: Path) -> None:
    env = {
        "ZKCHAT_HOME": str(tmp_path),
        "MY_SERVICE_TOKEN": "abcdef-4711",
        "OPENAI_API_KEY": "sk-proj-12345678",
        "SHORT_KEY": "abc",
    }
    write_keys({"openai": "mykey0123456789"}, app_paths(env))
    root = logging.getLogger()
    before = list(root.handlers)
    level = root.level
    try:
        file = logging_setup.start_logging(env)
        log = logging.getLogger("zkchat_cli.test")
        log.info("with abcdef-4711, mykey0123456789 and %s", "sk-proj-12345678")
        log.info(
            "{'Authorization': 'Bearer other-secret-thing', 'x-api-key': 'another-one'} "
            "abc sk-ant-999999999"
        )
        try:
            raise ValueError("abcdef-4711")
        except ValueError:
            log.exception("failed")
    finally:
        for handler in [h for h in root.handlers if h not in before]:
            root.removeHandler(handler)
            handler.close()
        root.setLevel(level)
        logging.captureWarnings(False)
    text = file.read_text()
    assert not [
        s
        for s in ("abcdef-4711", "mykey", "12345678", "other-secret", "another-one", "999999999")
        if s in text
    ]
    assert "abc" in text
    assert "ValueError" in text


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-5", "openai/gpt-5"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("qwen3:8b", "ollama/qwen3:8b"),
        ("gpt-oss", "ollama/gpt-oss"),
    ],
)
def test_a_model_named_without_its_provider_gets_the_only_one_that_has_it(
    tmp_path: Path, name: str, meant: str
) -> None:
    env = {"ZKCHAT_HOME": str(tmp_path)}
    assert load_settings(StartupOptions(model=name), env, tmp_path).values.model == meant


def test_where_two_providers_may_have_a_model_both_names_are_suggested(tmp_path: Path) -> None:
    env = {"ZKCHAT_HOME": str(tmp_path), "OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}
    with pytest.raises(ConfigError) as e:
        load_settings(StartupOptions(model="qwen3"), env, tmp_path)
    assert e.value.hint.startswith("Did you mean ollama/qwen3 or openai/qwen3?")
