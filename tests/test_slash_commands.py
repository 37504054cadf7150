"""Slash commands: what they answer, and what they do to the session."""

import json
from pathlib import Path

import pytest
from factories import (
    AppFixture,
    DeltaModel,
    exchanges,
    find_call,
    reply,
    report_of,
    resume,
    tool_reply,
)
from slash_results import slash_error, slash_output

from zkchat_cli import slash
from zkchat_cli.chat.runtime import AvailableModels, OpenedModel
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ProviderError


@pytest.fixture
def app(app: AppFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppFixture:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    return app


@pytest.fixture
def session(app: AppFixture) -> ZkChatSession:
    """A conversation of one turn that found a note."""
    one = app.session(
        DeltaModel([tool_reply(find_call("compost heap")), reply("It needs air [1].")])
    )
    report_of(one.send("What does [[Compst]] need, and [[Filters]]?"))
    return one


# which line is a command


COMMANDS = [
    "/help",
    "  /help",
    "/help me",
    "/",
    "/HELP",
    "/compact\nkeep all",
    "/new\t",
    "/unknown",
]
MESSAGES = ["", " ", "help", "/etc/hosts is a file", "/2024", "//", "/a-b", "see /help"]


def test_a_slash_and_a_word_are_a_command_and_anything_else_is_a_message() -> None:
    assert [slash.is_command(line) for line in COMMANDS] == [True] * len(COMMANDS)
    assert [slash.is_command(line) for line in MESSAGES] == [False] * len(MESSAGES)


@pytest.mark.parametrize("line", ["/h", "/hel", "/help", "/HELP", "  /help  "])
def test_a_unique_beginning_will_do(session: ZkChatSession, line: str) -> None:
    assert "/compact" in slash_output(line, session)


# export


def test_after_clear_the_lossless_export_has_the_log(session: ZkChatSession) -> None:
    asked = len(session.history)
    slash_output("/clear", session)
    assert "json has the whole log" in slash_error("/export", session).hint
    slash_output("/export json log.json", session)
    assert len(json.loads(Path("log.json").read_text())["messages"]) == asked


def test_an_export_without_a_path_is_kept_out_of_the_vault(
    app: AppFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = resume(
        app, exchanges(("What does compost need?", "Air.")), documents_folder=tmp_path / "documents"
    )
    (app.vault.root / "Garden").mkdir(exist_ok=True)
    monkeypatch.chdir(app.vault.root / "Garden")
    file = tmp_path / "documents" / f"zkchat-{session.conversation.id}.html"
    assert slash_output("/export html", session) == f"Exported to {file}"
    assert file.exists()
    slash_output("/export md Talk.md", session)
    assert Path("Talk.md").exists()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert slash_output("/export json", session) == f"Exported to {file.with_suffix('.json')}"


@pytest.mark.parametrize(
    "name", ["no/such/folder/x.md", "~nobody-of-this-name/x.md", "a\0b", "x" * 5000]
)
def test_export_to_where_nothing_can_be_written_is_refused(
    session: ZkChatSession, name: str
) -> None:
    assert "cannot be written" in slash_error(f"/export md {name}", session).message


def test_before_the_first_message_there_is_nothing_to_copy_or_export(app: AppFixture) -> None:
    assert slash_error("/copy all", app.session()).message == "there are no messages yet"
    assert slash_error("/export json", app.session()).message == "there is nothing to export yet"


# models


def offering(app: AppFixture, *offers: AvailableModels) -> ZkChatSession:
    """A session that can use any model that these offer."""

    def use(name: str) -> OpenedModel:
        if name not in [n for offer in offers for n in offer.names]:
            raise ProviderError("unknown_model", f"there is no {name}", "Choose another.")
        return OpenedModel(DeltaModel([reply(f"I am {name}.")], name=name), ())

    return app.session(DeltaModel([reply("Hello.")]), open_model=use, list_models=lambda: offers)


def test_a_model_may_be_named_without_its_provider_if_that_is_enough(app: AppFixture) -> None:
    session = offering(app, AvailableModels("a", ("a/x", "a/y")), AvailableModels("b", ("b/y",)))
    assert slash_output("/model x", session).startswith("Switched to a/x")
    assert slash_error("/model y", session).message == "there is no y"
    assert session.runtime.model.name == "a/x"


def test_commands_read_the_number_of_a_turn_alike(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("One."), reply("Two.")]))
    for question in ("First?", "Second?"):
        report_of(session.send(question))
    assert slash.run("/show last", session).text == slash.run("/show 2", session).text
    assert (
        slash.run("/edit last", session).input_text
        == slash.run("/edit", session).input_text
        == "/edit 2 Second?"
    )
    for command in ("/show 3", "/edit 3"):
        assert slash_error(command, session).message == "there is no turn 3"
