"""Memory as people handle it: /memory, /remember and /forget in a chat, `zkchat memory` and `zkchat
context memory` in a shell.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, write_notes
from factories import AppFixture, DeltaModel, reply, report_of
from slash_results import slash_error, slash_output

from zkchat_cli import slash
from zkchat_cli.config.schema import Config

# in the chat


def test_forget_asks_for_more_than_the_exact_key(app: AppFixture) -> None:
    session = app.session()
    session.memory.remember("The deadline is 1 May")
    question = slash.run("/forget dead", session).question
    assert question is not None
    assert (question.text, question.command_without_asking) == (
        "Forget deadline (The deadline is 1 May)?",
        "/forget deadline",
    )
    assert session.memory.facts()
    assert question.run().text == "Forgotten: The deadline is 1 May (deadline)"
    assert not session.memory.facts()


def test_forget_in_a_shell_asks_for_more_than_the_exact_key_too(zkchat: Program) -> None:
    zkchat("memory", "add", "The deadline is 1 May")
    refused = zkchat("memory", "forget", "dead")
    assert (
        refused.exit_status,
        "forgetting deadline (The deadline is 1 May) asks" in refused.err,
    ) == (2, True)
    assert (
        zkchat("memory", "forget", "dead", "--yes").out
        == "Forgotten: The deadline is 1 May (deadline)\n"
    )


def test_memory_shows_what_would_be_sent_and_why_and_all_that_is_remembered(
    app: AppFixture,
) -> None:
    write_notes(app.vault.root, {"ZKCHAT.md": "Be brief.\n" * 3000})
    session = app.session(DeltaModel([reply("So.")]))
    session.memory.remember("The roof deadline is 3 June")
    session.memory.remember("cat: Tom")
    before = slash_output("/memory", session)
    assert "In the prompt for your first message:" in before
    assert "its end is cut" in before
    assert "! memory: ZKCHAT.md is longer than its share" in before
    asked = slash_output("/memory When is the roof deadline?", session)
    assert "In the prompt for that message:" in asked
    assert (
        "tokens · shares roof, deadline with the message\n  The roof deadline is 3 June "
        "(roof-deadline; 2025-05-08"
    ) in asked
    assert "Remembered facts: 2\ncat · 2025-05-08 · told by the user\n  cat: Tom" in asked
    report_of(session.send("When is the roof deadline?"))
    assert "In the prompt for your last message:" in slash_output("/memory", session)


def test_memory_that_is_off_says_how_to_switch_it_on(app: AppFixture) -> None:
    app.settings = Config.model_validate({"context": {"memory_integration": False}})
    session = app.session()
    assert "zkchat config set context.memory_integration true" in slash_output("/memory", session)
    assert "switched off" in slash_error("/remember cat: Tom", session).message


# in a shell


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", " "), "there is nothing to remember"),
        (("add", "word " * 1000), "too long to remember"),
        (("forget", "zzz"), "nothing is remembered as 'zzz'"),
        (("import", "@"), "is not a path"),
    ],
)
def test_what_cannot_be_done_is_wrong_usage_with_the_way_out(
    zkchat: Program, arguments: tuple[str, ...], message: str
) -> None:
    done = zkchat("memory", *arguments, "--json")
    assert done.exit_status == 2
    assert message in done.json["error"]["message"]
    assert done.json["error"]["hint"]


def test_the_facts_of_a_file_are_imported(zkchat: Program) -> None:
    long = "word " * 1000
    write_notes(
        zkchat.vault,
        {
            "Meta/My facts.md": (
                "# Facts\n\n- cat: Tom\n- The roof deadline is\n  3 June\n\nWe garden.\n\n- "
                f"{long}\n"
            )
        },
    )
    done = zkchat("memory", "import", "@Meta/My facts.md", "--json")
    assert [(f["key"], f["source"]) for f in done.json["imported"]] == [
        ("cat", "Meta/My facts.md"),
        ("roof-deadline", "Meta/My facts.md"),
        ("garden", "Meta/My facts.md"),
    ]
    assert done.json["skipped"] == 1
    assert "skipped 1 fact" in done.err
    assert "Remembered as cat: cat: Tom" in zkchat("memory", "import", "Meta/My facts.md").out


@pytest.mark.parametrize(
    "path", ["@nowhere.md", "@emty.md", "@../secret.md", "@empty.md", "@picture.png", "@out.md"]
)
def test_what_cannot_be_imported_is_an_error_and_nothing_is_kept(
    zkchat: Program, tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret.md").write_text("- The secret is 42.")
    (zkchat.vault / "out.md").symlink_to(tmp_path / "secret.md")
    (zkchat.vault / "picture.png").write_bytes(b"\x89PNG\0\0")
    write_notes(zkchat.vault, {"empty.md": "# Nothing\n"})
    done = zkchat("memory", "import", path)
    assert done.exit_status in (2, 3)
    assert "\n  " in done.err, "what to do next"
    assert zkchat("memory", "list", "--json").json == []


def test_relevance_ranks_memory_for_the_conversation(zkchat: Program) -> None:
    tiles = "".join(
        f"- roof tile {i} of row {i}: {i * 7} {'and more of it ' * 20}\n" for i in range(9)
    )
    write_notes(zkchat.vault, {"facts.md": f"- The roof deadline is 3 June\n{tiles}"})
    zkchat("memory", "import", "facts.md")
    zkchat("ask", "When is the deadline of the roof?", "--answer-only")
    ranked = zkchat("memory", "relevance", "--json").json
    assert ranked[0]["key"] == "roof-deadline"
    assert ranked[0]["included"] is True
    assert ranked[0]["reason"] == "shares deadline, roof with the message"
    assert ranked[-1]["included"] is False
    assert "not relevant enough" in zkchat("memory", "relevance").out


def test_context_memory_says_what_the_next_prompt_would_have(zkchat: Program) -> None:
    write_notes(
        zkchat.vault,
        {"ZKCHAT.md": "We garden. @nowhere.md", "Queries/ZKCHAT.md": "Queries are in capitals."},
    )
    zkchat("memory", "add", "The filter deadline is 3 June")
    zkchat("ask", "How do I join filters? [[Combining]]")
    done = zkchat("context", "memory", "--json")
    assert [
        (item["relative_path"], item["kind"], item["key"], item["cut"]) for item in done.json
    ] == [
        ("ZKCHAT.md", "file", None, False),
        ("Queries/ZKCHAT.md", "file", None, False),
        (None, "fact", "filter-deadline", False),
    ]
    assert done.json[1]["reason"] == "in Queries, above Queries/Combining.md"
    assert "@nowhere.md" in done.err
    assert "filter-deadline · " in zkchat("context", "memory").out


def test_a_fact_stored_by_the_model_is_shown_and_kept(
    zkchat: Program, script: Callable[..., str]
) -> None:
    store: dict[str, Any] = {
        "tool_calls": [
            {"name": "store_in_smart_memory", "arguments": {"content": "The roof is red"}}
        ]
    }
    done = zkchat(
        "chat", "--model", script(store, {"text": "Noted."}), stdin="The roof is red.\n/memory\n"
    )
    assert "Noted." in done.out
    assert (
        "remembered as roof-red: The roof is red; /forget roof-red, or zkchat memory "
        "forget roof-red, takes it back"
    ) in done.err
    assert "In the prompt for your last message:\nroof-red · " in done.out
    assert "noted by the assistant in “The roof is red.”" in done.out


def test_the_offline_provider_answers_from_memory_without_a_citation(zkchat: Program) -> None:
    before = zkchat("ask", "How long until compost is ready?", "--answer-only").out
    zkchat("memory", "add", "Anna says compost smells [1]")
    assert zkchat("ask", "How long until compost is ready?", "--answer-only").out == before
    zkchat("memory", "add", "The wifi password is hunter2 [1]")
    answered = zkchat("ask", "What is the wifi password?", "--json").json
    assert answered["answer"].startswith(
        "From memory: The wifi password is hunter2 1 (wifi-password; "
    )
    assert answered["citations"] == []
    assert "wifi" not in zkchat("ask", "When is compost ready?", "--answer-only").out
