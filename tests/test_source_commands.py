"""/sources, /refs, /why and /save: the sources of an answer, in a chat."""

import re
from pathlib import Path
from typing import Any

import pytest
from factories import (
    AppFixture,
    DeltaModel,
    chunk,
    find_call,
    make_compaction,
    message,
    reply,
    report_of,
    resume,
    tool_reply,
)
from slash_results import slash_error, slash_output

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config.schema import Config, ContextSettings
from zkchat_cli.errors import VaultError, ZkchatError
from zkchat_cli.events import TextDelta
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import DocumentReference

ANSWER = (
    "“It is ready after nine months” [1], said the note, which “smells of roses” [1]. It needs "
    "air [1]."
)


@pytest.fixture
def app(app: AppFixture) -> AppFixture:
    app.settings = Config(context=ContextSettings(injection_ratio=0))  # what is cited was found
    return app


@pytest.fixture
def session(app: AppFixture) -> ZkChatSession:
    """A conversation of one turn, with a note that was found and cited, one that was named, and one
    that is not there.
    """
    one = app.session(DeltaModel([tool_reply(find_call("compost heap")), reply(ANSWER)]))
    report_of(one.send("What does [[Compst]] need, and [[Filters]]?"))
    return one


def a_log(app: AppFixture, *messages: ZkChatMessage, **changes: Any) -> ZkChatSession:
    """A conversation of these messages, one after the other."""
    before = (None, *(message.id for message in messages))
    return resume(
        app,
        [m.model_copy(update={"parent_id": id_}) for m, id_ in zip(messages, before, strict=False)],
        **changes,
    )


def compost(session: ZkChatSession) -> Path:
    return session.vault.root / "Garden/Compost.md"


def values(name: str, session: ZkChatSession) -> list[str]:
    known = next(command for command in slash.commands() if command.name == name).values
    assert known is not None
    return list(known(session))


def test_open_begins_at_the_line_that_the_answer_cites(app: AppFixture) -> None:
    lines = [f"Line {n} of the long note says {n * 7}." for n in range(1, 40)]
    (app.vault.root / "Long.md").write_text("\n\n".join(lines), encoding="utf-8")
    app.vault.refresh()
    one = app.session(
        DeltaModel(
            [
                tool_reply(find_call("long note says 77")),
                reply("“Line 11 of the long note says 77” [1]."),
            ]
        )
    )
    report_of(one.send("What does line 11 say?"))
    opened = slash.run("/open 1", one).open_note
    assert opened is not None
    assert (opened.file.name, opened.line) == ("Long.md", 21)


@pytest.mark.parametrize(
    ("argument", "name"),
    [("1", "Compost"), ("[1]", "Compost"), ("[[1]]", "1"), ("2024", "2024"), ("[[2024]]", "2024")],
)
def test_a_number_opens_a_source_and_a_link_the_note_of_that_name(
    session: ZkChatSession, argument: str, name: str
) -> None:
    for number in ("1", "2024"):
        (session.vault.root / f"{number}.md").write_text(
            "A note that is named by a number.\n", encoding="utf-8"
        )
    session.vault.refresh()
    opened = slash.run(f"/open {argument}", session).open_note
    assert opened is not None
    assert opened.file.stem == name


def test_of_a_vault_that_is_gone_the_vault_is_named_and_no_note_is_said_to_be_deleted(
    session: ZkChatSession,
) -> None:
    session.vault.root.rename(session.vault.root.with_name("away"))
    assert {slash_error(f"/open {name}", session).message for name in ("1", "Compost")} == {
        f"there is no folder {session.vault.root}"
    }
    assert "deleted" not in slash_output("/refs", session) + slash_output(
        "/why Compost", session
    ) + slash_output("/context", session)


# /sources


def test_sources_are_the_same_when_the_conversation_is_resumed(
    app: AppFixture, session: ZkChatSession
) -> None:
    assert slash_output("/sources", app.reopen(session)) == slash_output("/sources", session)
    assert slash_output("/sources 1", app.reopen(session)) == slash_output("/sources 1", session)


def test_all_excerpts_are_listed_by_the_call_that_found_them(
    app: AppFixture, session: ZkChatSession
) -> None:
    report_of(session.send("And [[Limiting]]?"))
    text = slash_output("/sources all", app.reopen(session))
    first, excerpt, *_ = text.splitlines()
    assert first == 'turn 1, find_excerpts "compost heap": 1 excerpt'
    assert excerpt == "  [1] [[Compost]]   Garden/Compost.md:1-3"
    assert text == slash_output("/sources all", session)
    app.settings = Config()
    other = app.session(DeltaModel([reply("Yes.")]))
    assert slash_output("/sources all", other) == "Nothing has been found yet."
    report_of(other.send("And [[Limiting]]?"))
    assert slash_output("/sources all", other) == (
        "turn 1, with the question: 1 excerpt\n  [1] [[Limiting]]   Queries/Limiting.md:1-3"
    )


def test_an_answer_without_citations_has_no_sources(app: AppFixture) -> None:
    one = app.session(DeltaModel([reply("Hello.")]))
    assert "no answer yet" in slash_error("/sources", one).message
    report_of(one.send("Hello?"))
    assert slash_output("/sources", one) == "The last answer has no sources."
    assert "Nothing has been found yet" in slash_error("/sources 1", one).hint


def test_a_number_shows_the_excerpt_in_its_note_with_the_quote_marked(
    session: ZkChatSession,
) -> None:
    text = slash_output("/sources 1", session)
    assert text.startswith("[1] [[Compost]]   Garden/Compost.md:1-3\n\n")
    assert (
        "> 3 │ A compost heap needs air, water and patience. »It is ready after nine months«."
        in text
    )
    assert (
        "✓ cited in turn 1, the quotation is in the note: “It is ready after nine months”" in text
    )
    assert "✗ cited in turn 1, the quotation is not in the note: “smells of roses”" in text
    assert "○ cited in turn 1, without a quotation" in text
    assert slash_output("/sources [1]", session) == text


def test_an_excerpt_that_has_moved_is_shown_where_it_is_now(session: ZkChatSession) -> None:
    compost(session).write_text("New lines.\n\n" + compost(session).read_text(), encoding="utf-8")
    text = slash_output("/sources 1", session)
    assert text.startswith("[1] [[Compost]]   Garden/Compost.md:3-5\n")
    assert "edited: the text was on lines 1-3 and is here now" in text
    assert "> 5 │ A compost heap" in text


@pytest.mark.parametrize(
    ("today", "told"),
    [
        ("# Compost\n\nIt is never ready.\n", "edited and no longer contains this text"),
        (None, "The note is deleted or cannot be read"),
    ],
)
def test_of_an_edited_or_deleted_note_what_the_model_saw_is_shown(
    session: ZkChatSession, today: str | None, told: str
) -> None:
    compost(session).unlink()
    if today:
        compost(session).write_text(today, encoding="utf-8")
    text = slash_output("/sources 1", session)
    assert f"{told}. This is what the model saw:" in text
    assert "»It is ready after nine months«" in text
    assert "never ready" not in text


@pytest.mark.parametrize("number", ["0", "2", "99999999999999999999", "one", "-1", "²", "1 2"])
def test_an_unknown_number_is_refused_with_the_valid_ones(
    session: ZkChatSession, number: str
) -> None:
    error = slash_error(f"/sources {number}", session)
    assert error.message == f"unknown source {number}"
    assert error.hint == "Valid numbers: 1"


def test_a_citation_of_a_number_outside_the_prompt_is_reported(app: AppFixture) -> None:
    found = message("tool", "{}", "t", tool_call_id="t", chunks=[chunk(1)])
    one = a_log(
        app,
        message("user", "What?", "u"),
        found,
        message("assistant", "So [1].", "a", citations=[Citation(number=1)]),
    )
    assert slash_output("/sources 1", one).endswith(
        "✗ cited in turn 1, but it was not in that prompt"
    )


def test_a_path_out_of_the_vault_in_an_imported_log_reads_nothing(app: AppFixture) -> None:
    (app.vault.root.parent / "secret.md").write_text("secret words")
    one = a_log(
        app,
        message(
            "tool",
            "{}",
            "t",
            tool_call_id="t",
            chunks=[chunk(1, "secret", relative_path="../secret.md")],
        ),
    )
    text = slash_output("/sources 1", one)
    assert "The note is deleted or cannot be read" in text
    assert "words" not in text


# /refs


def test_refs_counts_how_each_document_was_used(session: ZkChatSession) -> None:
    report_of(session.send("And [[Filters]]?"))
    assert slash_output("/refs", session).split("\n") == [
        "✗ [[Compst]] not found",
        "    named once; did you mean [[Compost]], [[Combining]]?",
        "[[Filters]]   Filters.md",
        "    direct · named twice",
        "    How to say which tasks you want to see.",
        "[[Compost]]   Garden/Compost.md",
        "    [1] · search · found once, cited 6 times",
        "    A compost heap needs air, water and patience. It is ready after nine months.",
    ]


def test_a_deleted_note_is_marked(session: ZkChatSession) -> None:
    compost(session).unlink()
    assert "[[Compost]]   Garden/Compost.md  deleted since" in slash_output("/refs", session)
    assert "deleted since; this is what the model got" in slash_output("/why Compost", session)
    (session.vault.root / "Filters.md").unlink()
    assert "Filters.md (deleted since): " in slash_output("/context", session)
    assert slash_output("/sources", session).endswith(
        "  deleted since: Garden/Compost.md, Filters.md"
    )


def test_why_tells_what_memory_said_of_a_document(app: AppFixture) -> None:
    one = app.session(DeltaModel([reply("Dry wood.")]))
    one.memory.remember("The shed is dry", source="Garden/Compost.md")
    report_of(one.send("What of the shed?"))
    assert "Garden/Compost.md\n  came from memory in turn 1: The shed is dry" in slash_output(
        "/why Compost", one
    )


def test_references_can_be_switched_off(app: AppFixture) -> None:
    one = app.session(DeltaModel([tool_reply(find_call("compost heap")), reply(ANSWER)]))
    one.runtimes.override_setting("references.enabled", "false")
    report = report_of(one.send("What does [[Compst]] need, and [[Filters]]?"))
    assert (report.references, one.history[0].chunks) == ((), ())
    assert report.citations


# /why


def test_why_of_a_link_that_leads_nowhere_names_the_nearest(session: ZkChatSession) -> None:
    assert "not found; did you mean [[Compost]]" in slash_output("/why Compst", session)


def named(kind: str, **more: object) -> DocumentReference:
    return DocumentReference.model_validate(
        {"wikilink": "[[Filters]]", "relative_path": "Filters.md", "reference_type": kind, **more}
    )


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        (
            named("direct", delivery="injected", delivery_reason="40 of 900 tokens"),
            "its full text was in the prompt: 40 of 900 tokens",
        ),
        (named("direct", delivery="partly"), "sections of it were in the prompt"),
        (named("direct", delivery="offered"), "the model got its summary, not its text"),
        (named("import"), "imported by [[Filters]] in turn 1"),
    ],
)
def test_why_tells_how_a_named_document_was_delivered(
    app: AppFixture, reference: DocumentReference, told: str
) -> None:
    numbered = reference.model_copy(update={"numbers": (4,)})
    one = a_log(
        app,
        message("user", "What?", "u", references=[numbered], chunks=[chunk(4)]),
        message("assistant", "So.", "a"),
    )
    text = slash_output("/why Filters", one)
    assert told in text and "[4] lines 5" in text and "\n      in the prompt now" in text
    one.store.compact(one.conversation.id, make_compaction("They spoke.", "a"))
    assert "not in the prompt now: in the summary" in slash_output("/why Filters", app.reopen(one))


def test_why_of_project_memory(app: AppFixture) -> None:
    (app.vault.root / "ZKCHAT.md").write_text("Answer briefly.")
    app.vault.refresh()
    one = app.session(DeltaModel([reply("Yes.")]))
    assert "project memory: included in every prompt" in slash_output("/why ZKCHAT.md", one)


def test_why_of_a_name_that_several_have_asks_for_a_path(app: AppFixture) -> None:
    chunks = [chunk(1, relative_path="a/Same.md"), chunk(2, relative_path="b/Same.md", id="c2")]
    one = a_log(app, message("tool", "{}", "t", tool_call_id="t", chunks=chunks))
    error = slash_error("/why same", one)
    assert "matches 2 documents" in error.message
    assert error.hint == "Give a path: a/Same.md, b/Same.md"


def test_documents_are_offered_while_typing(session: ZkChatSession) -> None:
    assert values("sources", session) == ["1", "all"]
    assert values("why", session) == ["[[Compst]]", "Filters.md", "Garden/Compost.md"]


# /save


def test_a_saved_answer_links_its_sources_and_is_found_by_the_next_question(
    session: ZkChatSession,
) -> None:
    question = slash.run("/save", session).question
    assert (
        question is not None
        and question.run().text == "Saved as What does Compst need and Filters.md"
    )
    text = (session.vault.root / "What does Compst need and Filters.md").read_text(encoding="utf-8")
    assert 'question: "What does [[Compst]] need, and [[Filters]]?"' in text
    assert f'conversation: "{session.conversation.id}"' in text
    assert "It needs air" in text and "]: [[Compost]] Garden/Compost.md:3" in text
    assert '"smells of roses" *(not verified: the quoted words are not there)*' in text
    assert any(
        "Compst" in hit.relative_path
        for hit in session.vault.search("said the note, which smells of roses")
    )
    assert "Garden/Compost.md" in {
        row.target for row in session.vault.graph.links("What does Compst need and Filters.md")
    }
    assert not list(session.vault.root.rglob(".zkchat*"))


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("--yes a b", "a b.md"),
        ("a b.MD --yes", "a b.MD"),
        ("--yes x/y/z.markdown", "x/y/z.markdown"),
        ("--yes v1.2", "v1.2.md"),
    ],
)
def test_a_path_gets_its_ending_and_its_folders(
    session: ZkChatSession, asked: str, path: str
) -> None:
    assert slash_output(f"/save {asked}", session) == f"Saved as {path}"
    assert (session.vault.root / path).is_file()
    assert path in session.vault.note_paths()


def test_a_note_that_came_while_the_user_was_asked_is_not_written_over(
    session: ZkChatSession,
) -> None:
    outcome = slash.run("/save new", session)
    (session.vault.root / "new.md").write_text("mine")
    assert outcome.question is not None
    with pytest.raises(VaultError, match="exists already"):
        outcome.question.run()
    assert (session.vault.root / "new.md").read_text() == "mine"


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/out", "~/out", "a/../../out", ".hidden/x", ".obsidian/x", "a\0b", "x" * 300],
)
def test_save_stays_in_the_vault_and_out_of_hidden_folders(
    session: ZkChatSession, path: str
) -> None:
    for line in (f"/save {path}", f"/save --yes {path}"):
        assert isinstance(slash_error(line, session), VaultError)


# /check


def check(session: ZkChatSession) -> str:
    outcome = slash.run("/check", session)
    return outcome.text or "".join(
        event.text for event in outcome.turn or () if isinstance(event, TextDelta)
    )


def test_check_asks_the_model_about_each_cited_sentence_and_says_what_it_cost(
    app: AppFixture,
) -> None:
    verdicts = reply("1: yes\n2. **No** — the heap takes nine months\n")
    said = (
        "It is ready after nine months [1]. It is ready after two weeks [1]. It needs air, "
        "water and </passages> [1]."
    )
    model = DeltaModel([tool_reply(find_call("compost heap")), reply(said), verdicts])
    one = app.session(model)
    report_of(one.send("What does compost need?"))
    assert re.fullmatch(
        r"- ✗ not supported: It is ready after two weeks\. \[1\]: the heap takes nine months\n\n"
        r"2 of 3 cited sentences checked: 1 not supported, 0 unclear\. deltas: ~\d+ tokens "
        r"in, ~\d+ out\.",
        check(one),
    )
    asked = model.requests[-1].messages[-1].content
    assert "A compost heap needs air, water and patience." in asked
    assert "3. It needs air, water and ‹/passages>. (cites [1])" in asked
    # The call is not part of the conversation
    assert len(one.history) == 4


def test_check_reports_a_model_that_gives_no_verdict(app: AppFixture) -> None:
    one = app.session(
        DeltaModel(
            [tool_reply(find_call("compost heap")), reply("It is ready after nine months [1].")]
        )
    )
    report_of(one.send("What does compost need?"))
    with pytest.raises(ZkchatError, match="the model gave no verdicts"):
        check(one)
