"""`zkchat agent`: profiles listed, shown, written, changed and deleted; and `--agent` on the
command line.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program, ProgramResult


@pytest.fixture
def folder(zkchat: Program) -> Path:
    return zkchat.home / "config" / "agents"


def created(zkchat: Program, *arguments: str, stdin: str = "") -> ProgramResult:
    done = zkchat("agent", "create", "critic", *arguments, stdin=stdin)
    assert done.exit_status == 0, done.err
    return done


def test_a_created_agent_is_a_file_that_can_be_used_at_once(zkchat: Program, folder: Path) -> None:
    done = created(zkchat, "--prompt", "Find faults.\nAll.")
    zkchat("agent", "config", "critic", "tools", "find_excerpts, read_zk_document")
    file = folder / "critic.toml"
    assert done.out == f"{file}\nTry it: zkchat chat --agent critic\n"
    assert file.read_text().startswith("# The agent critic: zkchat chat --agent critic")
    shown = zkchat("agent", "show", "critic", "--json").json
    assert shown["system_prompt"] == "Find faults.\nAll."
    assert shown["tools"] == ["find_excerpts", "read_zk_document"]
    assert (shown["file"], shown["built_in"], shown["model"], shown["memory_file"]) == (
        str(file),
        False,
        None,
        str(folder / "critic.md"),
    )
    context = zkchat("ask", "How are filters joined?", "--agent", "critic", "--show-context")
    assert context.exit_status == 0
    assert "  - instructions (" in context.err
    assert "Find faults.\nAll." in zkchat("context", "show").out
    assert "Find faults." not in zkchat("context", "show", "--agent", "none").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["create", "Bad Name"], "cannot be called"),
        (["create", "critic"], "the agent critic already exists"),
        (["config", "critic", "tools", "find"], "it must be one of append_to_note, create_note"),
        (["config", "critic", "model", "x/y"], "unknown model"),
        (["config", "critic", "temperature", "9"], "less than or equal to 2"),
        (["delete", "editor", "--yes"], "editor is built in and cannot be deleted"),
    ],
)
def test_an_invalid_agent_command_is_an_error_and_changes_nothing(
    zkchat: Program, folder: Path, arguments: list[str], told: str
) -> None:
    created(zkchat)
    before = (folder / "critic.toml").read_text()
    done = zkchat("agent", *arguments)
    assert done.exit_status == 2
    assert told in done.err
    assert done.out == ""
    assert [file.name for file in folder.iterdir()] == ["critic.toml"]
    assert (folder / "critic.toml").read_text() == before


def test_keys_are_changed_and_comments_kept(zkchat: Program, folder: Path) -> None:
    file = folder / "critic.toml"
    created(zkchat, "--prompt", "Find faults.")
    with file.open("a") as opened:
        opened.write("# mine\n")
    assert (
        zkchat("agent", "config", "critic", "context.max_tokens", "16384").out
        == "context.max_tokens = 16384\n"
    )
    assert zkchat(
        "agent", "config", "critic", "tools", "find_excerpts,read_zk_document", "--json"
    ).json["value"] == [
        "find_excerpts",
        "read_zk_document",
    ]
    assert "# mine" in file.read_text()


def test_a_built_in_agent_is_overridden_and_comes_back(zkchat: Program, folder: Path) -> None:
    changed = zkchat("agent", "config", "editor", "model", "offline")
    assert "editor is built in" in changed.err
    mine = zkchat("agent", "show", "editor", "--json").json
    assert (mine["model"], mine["built_in"]) == ("offline", False)
    assert mine["system_prompt"].startswith("You are an editor.")
    (folder / "editor.md").write_text("The user writes British English.")
    deleted = zkchat("agent", "delete", "editor", "--yes")
    assert (
        deleted.out.startswith(f"Deleted {folder / 'editor.toml'}.")
        and (folder / "editor.md").exists()
    )
    assert zkchat("agent", "show", "editor", "--json").json["built_in"] is True
    zkchat("agent", "create", "editor")
    assert zkchat("agent", "delete", "editor", "--yes", "--json").json == {
        "name": "editor",
        "deleted": str(folder / "editor.toml"),
    }


def test_the_list_has_every_agent_and_the_error_of_an_invalid_one(
    zkchat: Program, folder: Path
) -> None:
    created(zkchat, "--prompt", "Find faults.", "--model", "offline")
    (folder / "broken.toml").write_text("modell = 1")
    listed = zkchat("agent", "list")
    assert listed.out.splitlines() == [
        f"broken      ✗ {folder / 'broken.toml'}: modell is not a key of an agent",
        "critic      yours    · offline  Find faults.",
        "editor      built in  works on one note at a time: reads it whole, proposes "
        "changes, leaves the others alone",
        "researcher  built in  searches first, in several ways, and cites every statement",
    ]
    documents = {each["name"]: each for each in zkchat("agent", "list", "--json").json}
    assert "modell" in documents["broken"]["problem"]
    assert documents["critic"]["problem"] is None
    assert documents["broken"].keys() == documents["critic"].keys()
    assert (documents["broken"]["built_in"], documents["broken"]["file"]) == (
        False,
        str(folder / "broken.toml"),
    )
    assert documents["researcher"]["temperature"] == 0.2


def test_context_takes_the_agent_into_account(
    zkchat: Program, folder: Path, script: Callable[..., str]
) -> None:
    created(zkchat, "--prompt", "Find faults.")
    zkchat("agent", "config", "critic", "context.max_tokens", "5000")
    (folder / "critic.md").write_text("Be kind.")
    zkchat("ask", "How are filters joined?")
    assert zkchat("context", "stats", "--json").json["max_context"] == 32768
    assert zkchat("context", "stats", "--agent", "critic", "--json").json["max_context"] == 5000
    (memory,) = zkchat("context", "memory", "--agent", "critic", "--json").json
    assert (memory["kind"], memory["key"], memory["relative_path"], memory["content"]) == (
        "agent",
        "critic",
        None,
        "Be kind.",
    )
    assert str(folder / "critic.md") in memory["reason"]
    shown = zkchat(
        "context",
        "show",
        "--next",
        "@critic is it sound?",
        "--model",
        script({"text": "x"}),
        "--json",
    ).json
    assert shown["messages"][0]["content"].endswith("Find faults.")
    assert "is it sound?" in [message["content"] for message in shown["messages"]]
